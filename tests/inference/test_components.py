"""Variance components, against plain Python, the analysis of variance and simulations."""

import numpy as np
import pytest

from xsumstat.inference import components

EFFECTS = tuple(components.EFFECTS.values())
OF_RATINGS = tuple(components.EFFECTS_OF_RATINGS.values())


def twin(x, y):
    """Henderson's equations as Searle, Casella and McCulloch write them; one list of rows for each score."""
    cells = [(i, j) for i, row in enumerate(x) for j in range(len(row)) if x[i][j] == x[i][j] and y[i][j] == y[i][j]]
    n = len(cells)
    rows, columns = sorted({i for i, _ in cells}), sorted({j for _, j in cells})
    per_row = {i: [cell for cell in cells if cell[0] == i] for i in rows}
    per_column = {j: [cell for cell in cells if cell[1] == j] for j in columns}

    def product(group):
        return sum(x[i][j] for i, j in group) * sum(y[i][j] for i, j in group) / len(group)

    mean, total = product(cells), sum(x[i][j] * y[i][j] for i, j in cells)
    of_rows = sum(product(each) for each in per_row.values())
    of_columns = sum(product(each) for each in per_column.values())
    a = sum(len(each) ** 2 for each in per_row.values()) / n
    b = sum(len(each) ** 2 for each in per_column.values()) / n
    table = [
        [n - a, n - b, n - 1],
        [n - a, len(rows) - b, len(rows) - 1],
        [len(columns) - a, n - b, len(columns) - 1],
    ]
    return np.linalg.solve(table, [total - mean, of_rows - mean, of_columns - mean])


def crossed(rng, shape, sds=(1.0, 0.7, 0.9)):
    """Scores of a system's, an input's and a cell's effect."""
    return (
        sds[0] * rng.normal(size=(shape[0], 1))
        + sds[1] * rng.normal(size=(1, shape[1]))
        + sds[2] * rng.normal(size=shape)
    )


def with_gaps(rng, scores, share):
    return np.where(rng.random(scores.shape) < share, np.nan, scores)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_estimates_equal_the_equations_solved_plainly(share):
    rng = np.random.default_rng(1)
    x = crossed(rng, (7, 12))
    y = with_gaps(rng, x + rng.normal(size=x.shape), share)
    found, _ = components.estimates(np.array([x, y]), EFFECTS)
    for a, one in enumerate((x, y)):
        for b, two in enumerate((x, y)):
            np.testing.assert_allclose(found[:, a, b], twin(one.tolist(), two.tolist()), rtol=1e-9)


def test_with_all_cells_it_is_the_analysis_of_variance():
    rng = np.random.default_rng(2)
    x = crossed(rng, (6, 9))
    means, columns = x.mean(axis=1), x.mean(axis=0)
    rest = x - means[:, None] - columns + x.mean()
    cell = (rest**2).sum() / (5 * 8)
    found, _ = components.estimates(x[None], EFFECTS)
    want = [means.var(ddof=1) - cell / 9, columns.var(ddof=1) - cell / 6, cell]
    np.testing.assert_allclose(found[:, 0, 0], want, rtol=1e-9)


def test_with_all_ratings_it_is_the_analysis_of_variance():
    rng = np.random.default_rng(3)
    x = crossed(rng, (5, 6))[..., None] + rng.normal(size=3) + rng.normal(size=(5, 6, 3))
    cells, raters, mean = x.mean(axis=2), x.mean(axis=(0, 1)), x.mean()
    residual = ((x - cells[..., None] - raters + mean) ** 2).sum() / (29 * 2)
    rater = raters.var(ddof=1) - residual / 30
    rows, columns = cells.mean(axis=1), cells.mean(axis=0)
    rest = cells - rows[:, None] - columns + mean
    of_cells = (rest**2).sum() / (4 * 5)
    want = [
        rows.var(ddof=1) - of_cells / 6,
        columns.var(ddof=1) - of_cells / 5,
        of_cells - residual / 3,
        rater,
        residual,
    ]
    found, _ = components.estimates(x[None], OF_RATINGS)
    np.testing.assert_allclose(found[:, 0, 0], want, rtol=1e-9)


@pytest.mark.parametrize(("shape", "larger"), [((6, 9), "of systems"), ((12, 4), "of inputs")])
def test_errors_are_the_jackknife_without_each_label(shape, larger):
    rng = np.random.default_rng(4)
    x = crossed(rng, shape)
    y = with_gaps(rng, x + rng.normal(size=x.shape), 0.4)
    _, found = components.estimates(np.array([x, y]), EFFECTS)
    systems = [twin(np.delete(x, at, 0).tolist(), np.delete(y, at, 0).tolist()) for at in range(shape[0])]
    inputs = [twin(np.delete(x, at, 1).tolist(), np.delete(y, at, 1).tolist()) for at in range(shape[1])]
    one, two = (
        (len(each) - 1) / len(each) * np.square(each - np.mean(each, axis=0)).sum(axis=0)
        for each in map(np.array, (systems, inputs))
    )
    assert (one[2] > two[2]) == (larger == "of systems")
    want = np.sqrt([one[0], two[1], max(one[2], two[2])])
    np.testing.assert_allclose(found[:, 0, 1], want, rtol=1e-8)
    padded = np.pad(np.array([x, y]), ((0, 0), (0, 1), (1, 0)), constant_values=np.nan)  # labels without a score
    np.testing.assert_allclose(components.estimates(padded, EFFECTS)[1][:, 0, 1], want, rtol=1e-8)


def test_effects_that_cells_do_not_tell_apart_are_undefined():
    x = np.full((3, 6), np.nan)  # each input has one system
    for at in range(6):
        x[at % 3, at] = at**2
    found, error = components.estimates(x[None], EFFECTS)
    assert np.isnan(found).all() and np.isnan(error).all()
    assert np.isnan(components.estimates(np.full((1, 3, 4), np.nan), EFFECTS)[0]).all()


def test_repaired_covariances_are_covariances():
    rng = np.random.default_rng(5)
    r = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    sd = np.array([1.0, 10.0, 0.1])
    found = components.repaired(r * np.outer(sd, sd))
    np.testing.assert_allclose(np.diag(found), sd**2)
    fitting = found / np.outer(sd, sd)
    assert np.linalg.eigvalsh(fitting).min() > -1e-9
    assert np.abs(fitting).max() <= 1 and fitting[0, 1] > 0 > fitting[0, 2]
    half = rng.normal(size=(4, 6))
    np.testing.assert_allclose(components.repaired(half @ half.T), half @ half.T, rtol=1e-12)
    zero = components.repaired(np.array([[-1.0, 0.5], [0.5, 4.0]]))
    np.testing.assert_array_equal(zero, [[0.0, 0.0], [0.0, 4.0]])
    assert np.isnan(components.repaired(np.array([[1.0, np.nan], [np.nan, 1.0]]))[0, 1])


def unbiased(share, trials, shape, rng):
    """Mean estimates over trials, their standard errors, and the mean squared errors that were told."""
    found = []
    for _ in range(trials):
        x = crossed(rng, shape)
        y = with_gaps(rng, 0.8 * x + crossed(rng, shape, (0.5, 0.5, 0.5)), share)
        estimate, error = components.estimates(np.array([x, y]), EFFECTS)
        found.append([estimate[:, 1, 1], estimate[:, 0, 1], error[:, 1, 1]])
    values = np.array(found)
    values = values[np.isfinite(values).all(axis=(1, 2))]
    return values.mean(axis=0), values.std(axis=0, ddof=1), len(values)


TRUTH = np.array([[0.64 + 0.25, 0.64 * 0.49 + 0.25, 0.64 * 0.81 + 0.25], [0.8, 0.8 * 0.49, 0.8 * 0.81]])


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.8, 0.9])
def test_unbiased_with_gaps_and_errors_as_large_as_they_are(share):
    mean, sd, n = unbiased(share, 600, (10, 40), np.random.default_rng(7))
    assert (np.abs(mean[:2] - TRUTH) < 3.5 * sd[:2] / np.sqrt(n)).all()
    ratio = mean[2] / sd[0]
    assert (0.85 < ratio).all() and (ratio < 1.5).all()


def test_the_inputs_of_one_system_are_cells():
    x = np.random.default_rng(8).normal(size=(2, 1, 7))
    found = components.crossed(x)
    assert found.shape == (3, 2, 2) and not found[:2].any()
    np.testing.assert_allclose(found[2], np.cov(x[:, 0]), atol=1e-12)

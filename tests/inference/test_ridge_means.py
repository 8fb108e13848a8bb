"""`ridge_means`: no warning, whatever a metric's column holds, and the same numbers in any unit."""

import numpy as np
import pytest

from xsumstat.inference.ridge_means import _ridge, ridge_means


def scores(n_systems=4, n_inputs=60, n_rated=30):
    """Three metrics, and people's scores of some inputs."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3, n_systems, n_inputs))
    z = x[0] + rng.normal(size=(n_systems, n_inputs))
    z[:, n_rated:] = np.nan
    return x, z


def with_second(values):
    """The scores, the second metric's being these."""
    x, z = scores()
    x[1] = values
    return x, z


@pytest.mark.parametrize("value", [0.0, 1 / 3, -1e-200, 1e200])
def test_a_constant_metric_is_as_good_as_none(value):
    x, z = with_second(value)
    found, slopes = ridge_means(x, z, "these", 0.95)
    assert (slopes[1] == 0).all() and (slopes[[0, 2]] != 0).all()
    # The penalty counts the metrics, those that are constant too; so only what both say roughly is the same.
    without, _ = ridge_means(x[[0, 2]], z, "these", 0.95)
    np.testing.assert_allclose(found["mean"], without["mean"], atol=0.02)


@pytest.mark.parametrize("factor", [1e-250, 1e-160, 1e-60, 1e60, 1e160, 1e300])
def test_the_unit_of_one_metric_does_not_matter(factor):
    x, z = scores()
    found, slopes = ridge_means(x, z, "new", 0.95)
    again, other = ridge_means(x * np.array([1, factor, 1])[:, None, None], z, "new", 0.95)
    for name, values in found.items():
        np.testing.assert_allclose(again[name], values, rtol=1e-9)
    np.testing.assert_allclose(other[1] * factor, slopes[1], rtol=1e-9)


def test_without_ratings_there_is_no_mean_and_no_warning():
    x, z = scores()
    found, slopes = ridge_means(x, np.full_like(z, np.nan), "these", 0.95)
    assert np.isnan(found["mean"]).all() and (found["n_rated"] == 0).all() and (slopes == 0).all()
    found, slopes = ridge_means(np.full_like(x, np.nan), z, "these", 0.95)
    assert np.isnan(found["mean"]).all() and (found["n_inputs"] == 0).all() and (slopes == 0).all()


@pytest.mark.parametrize("target", ["these", "new"])
def test_the_variance_is_that_of_the_terms_and_of_the_slopes_left_out(target):
    """Of two systems, whose variances are not drawn together; slopes are those of the points, input by input."""
    x, z = scores(2, 50, 30)
    z[1, 25:] = np.nan
    found, _ = ridge_means(x, z, target, 0.95)
    places = range(30)
    spread = np.sqrt(((x - x.mean(axis=2, keepdims=True)) ** 2).sum(axis=(1, 2)) / (2 * 49))

    def slopes(without):
        rows, targets = [], []
        for s in range(2):
            kept = [j for j in places if j != without and not np.isnan(z[s, j])]
            each = x[:, s, kept] / spread[:, None]
            rows.append((each - each.mean(axis=1, keepdims=True)).T)
            targets.append(z[s, kept] - z[s, kept].mean())
        a, y = np.concatenate(rows), np.concatenate(targets)
        least = np.linalg.lstsq(a, y, rcond=None)[0]
        df = sum(len(each) - 1 for each in targets) - 3
        k = 3 * ((y - a @ least) ** 2).sum() / df / (least @ least)
        return np.linalg.solve(a.T @ a + k * np.eye(3), a.T @ y) / spread

    left_out = np.array([slopes(j) for j in places])
    for s, n in enumerate((30, 25)):
        terms = [z[s, j] + (x[:, s].mean(axis=1) - x[:, s, j]) @ left_out[j] for j in range(n)]
        gap = x[:, s].mean(axis=1) - x[:, s, :n].mean(axis=1)
        moved = left_out @ gap
        want = (1 / n - 1 / 50) * np.var(terms, ddof=1) + 29 / 30 * ((moved - moved.mean()) ** 2).sum()
        want += np.var(z[s, :n], ddof=1) / 50 * (target == "new")
        assert found["standard_error"][s] ** 2 == pytest.approx(want, rel=1e-9)
        assert found["mean"][s] == pytest.approx(np.mean(terms))


def test_ridge_needs_a_degree_of_freedom_more_than_there_are_metrics():
    inner, cross, square = np.diag([3.0, 2.0]), np.array([1.0, 0.5]), 4.0
    assert _ridge(inner, cross, square, 2.0).tolist() == [0, 0]
    least = cross / [3.0, 2.0]
    k = 2 * (square - least @ cross) / 1 / (least @ least)
    np.testing.assert_allclose(_ridge(inner, cross, square, 3.0), cross / ([3.0, 2.0] + k), rtol=1e-12)


@pytest.mark.parametrize(("n_metrics", "least"), [(3, 20), (10, 20), (14, 24)])
def test_slopes_are_used_from_the_least_number_of_ratings_on(n_metrics, least):
    """Of max(20, k + 10) ratings, by k metrics."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(n_metrics, 2, 60))
    z = x.sum(axis=0) + rng.normal(size=(2, 60))
    z[0, least:], z[1, least - 1 :] = np.nan, np.nan
    found, slopes = ridge_means(x, z, "these", 0.95)
    assert (slopes[:, 0] != 0).all() and (slopes[:, 1] == 0).all()
    moved = np.abs(found["mean"] - found["human_mean"])
    assert moved[0] > 1e-3 and moved[1] < 1e-12

"""Agreement on one scale: scikit-learn, pingouin, and what is special about each coefficient."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import dataset
from helpers import for_each, same

from xsumstat.coefficients import clusters, leave_one_out, table
from xsumstat.coefficients.record import Measure
from xsumstat.inference import jackknife

sklearn = pytest.importorskip("sklearn.metrics")


def judged(seed, shape=(3, 20), grades=2, noise=0.5, gaps=0.0):
    """Grades 0, 1, ... of people, and of two judges that err."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=shape) + 0.5 * rng.normal(size=(1, shape[1]))
    seen = np.stack([latent, *(latent + each * rng.normal(size=shape) for each in (noise, 2 * noise))])
    cuts = np.quantile(latent, np.arange(1, grades) / grades)
    values = np.searchsorted(cuts, seen).astype(float)
    values[1:][rng.random(values[1:].shape) < gaps] = np.nan
    return values


def measured(name, level="global", positive=(1.0,), **keywords):
    record = table.get(name)
    return Measure(replace(record, positive=positive if record.scale == "two" else ()), level, **keywords)


BY_SKLEARN = {
    "accuracy": sklearn.accuracy_score,
    "kappa": sklearn.cohen_kappa_score,
    "weighted_kappa": lambda z, x: sklearn.cohen_kappa_score(z, x, weights="quadratic", labels=np.arange(5)),
    "mcc": sklearn.matthews_corrcoef,
    "f1": sklearn.f1_score,
    "sensitivity": sklearn.recall_score,
    "specificity": lambda z, x: sklearn.recall_score(z, x, pos_label=0),
}


@for_each("grades", [2, 5])
@for_each("name", list(BY_SKLEARN))
def test_the_value_is_scikit_learns(name, grades):
    if grades > 2 and table.get(name).scale == "two":
        return
    for seed in range(5):
        z, x, _ = judged(seed, grades=grades)
        want = BY_SKLEARN[name](z.ravel().astype(int), x.ravel().astype(int))
        assert same(measured(name).estimator(x, z).value(), want, 1e-12)


def test_the_intraclass_correlation_is_pingouins():
    pingouin = pytest.importorskip("pingouin")
    for seed, grades in ((0, 5), (1, 2), (2, 9)):
        z, x, _ = judged(seed, grades=grades)
        rows = [
            (target, rater, value) for rater, each in (("z", z), ("x", x)) for target, value in enumerate(each.ravel())
        ]
        frame = pd.DataFrame(rows, columns=["target", "rater", "value"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pingouin.intraclass_corr(frame, targets="target", raters="rater", ratings="value")
        of_type = found.set_index("Type")["ICC"]
        want = of_type["ICC(A,1)"] if "ICC(A,1)" in of_type else of_type["ICC2"]
        assert measured("icc").estimator(x, z).value() == pytest.approx(float(want), abs=1e-9)


def test_weighted_kappa_goes_by_value_and_not_by_the_labels_that_occur():
    """It is Lin's concordance; a kappa of indices would take 1, 2 and 10 for 0, 1 and 2."""
    z, x = np.array([[1.0, 2.0, 10.0, 1.0, 2.0]]), np.array([[1.0, 10.0, 10.0, 2.0, 2.0]])
    lin = 2 * np.cov(x, z, ddof=0)[0, 1] / (x.var() + z.var() + (x.mean() - z.mean()) ** 2)
    assert measured("weighted_kappa").estimator(x, z).value() == pytest.approx(lin, abs=1e-12)
    by_index = sklearn.cohen_kappa_score(z[0].astype(int), x[0].astype(int), weights="quadratic")
    assert abs(by_index - lin) > 0.05
    assert table.get("ccc") is table.get("weighted_kappa")


@for_each("name", ["weighted_kappa", "icc"])
def test_scores_far_from_zero_lose_nothing(name):
    z, x, _ = judged(3, grades=5)
    near = measured(name).estimator(x, z).value()
    far = measured(name).estimator(1e6 + x / 10, 1e6 + z / 10).value()
    assert far == pytest.approx(near, abs=1e-9)


@pytest.mark.ignore_codes("rare_class")
def test_an_average_of_inputs_leaves_out_those_without_a_value():
    """Where all pass, by people and the judge, there is no kappa; where the judge alone is constant it is 0."""
    z, x = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    r, n = measured("kappa", "input").estimator(x, z).groups()
    np.testing.assert_array_equal(r, [np.nan, 0.0, 1.0])
    np.testing.assert_array_equal(n, [2, 2, 2])
    found = dataset(np.stack([x, z])).meta.corr("m1", level="input", coefficient="kappa")
    assert float(found.correlation[0]) == 0.5 and int(found.n_undefined[0]) == 1
    zero = dataset(np.stack([x, z])).meta.corr("m1", level="input", coefficient="kappa", undefined="zero")
    assert float(zero.correlation[0]) == pytest.approx(1 / 3)


@for_each("name", list(BY_SKLEARN) + ["icc"])
@for_each("level", ["global", "input", "within_system", "system"])
def test_parts_are_those_of_scores_without_each_label(name, level):
    """What the jackknife is made of, against scores from which a label is taken out."""
    if level not in table.get(name).levels:
        return
    z, x, _ = judged(4, (5, 8), grades=3 if table.get(name).scale != "two" else 2, gaps=0.1)
    made = measured(name, level)
    parts = leave_one_out.of(x, z, made)
    assert same(parts.value, made.estimator(x, z).value())
    for axis, dim in enumerate(("system", "input")):
        want = [made.estimator(*(np.delete(each, at, axis) for each in (x, z))).value() for at in range(x.shape[axis])]
        if isinstance(parts, leave_one_out.OfGroups):
            if parts.members == dim:
                groups = [
                    made.estimator(*(np.delete(each, at, axis) for each in (x, z))).groups()[0]
                    for at in range(x.shape[axis])
                ]
                assert same(np.where(parts.there, parts.without, np.nan), np.where(parts.there, groups, np.nan))
            continue
        assert same(getattr(parts, f"{dim}s"), want)
    if isinstance(parts, leave_one_out.OfCells):
        i, j = np.argwhere(~np.isnan(x))[7]
        gone = x.copy()
        gone[i, j] = np.nan
        mean = np.nanmean([parts.value - each for each in _without_cells(made, x, z)])
        want = (parts.n_cells - 1) * (parts.value - made.estimator(gone, z).value() - mean)
        assert parts.influence[i, j] == pytest.approx(want, abs=1e-9)


def _without_cells(made, x, z):
    for i, j in np.argwhere(~np.isnan(x)):
        gone = x.copy()
        gone[i, j] = np.nan
        yield made.estimator(gone, z).value()


def test_clusters_are_left_out_whole():
    z, x, _ = judged(5, (4, 12), grades=3)
    made, codes = measured("kappa"), np.arange(12) // 3
    parts = clusters.of(x, z, made, (np.arange(4), codes))
    want = [made.estimator(x[:, codes != at], z[:, codes != at]).value() for at in range(4)]
    assert same(parts.inputs, want)


def test_shares_of_a_rare_class_have_score_limits():
    """Four of 60 outputs are positive, on four inputs; the judge finds all, or three of them."""
    from statsmodels.stats.proportion import proportion_confint

    z = np.zeros((1, 60))
    z[0, [3, 17, 30, 44]] = 1.0
    x = z.copy()
    made = measured("sensitivity")

    def limits(x):
        parts = leave_one_out.of(x, z, made)
        return parts, jackknife.of_one(parts, made, ("input",))

    parts, whole = limits(x)
    assert (parts.share.n, parts.share.inputs, parts.share.rarer) == (4.0, 4, 4)
    low, high = whole.limits(1.959963984540054)
    assert (low, high) == pytest.approx(proportion_confint(4, 4, method="wilson"), abs=1e-12)
    assert whole.standard_error > 0
    x[0, 3] = 0.0
    parts, one = limits(x)
    spread = jackknife.variance(parts, ("input",))
    effective = min(4.0, 0.75 * 0.25 / spread)
    low, high = one.limits(1.959963984540054)
    assert (low, high) == pytest.approx(proportion_confint(0.75 * effective, effective, method="wilson"), abs=1e-9)


def test_a_share_of_some_outputs_knows_how_many_these_are():
    """People pass 6 of 40 outputs on 20 inputs, the judge 3 others: all of what people fail is specificity's."""
    z, x = np.zeros((2, 20)), np.zeros((2, 20))
    z[0, :6] = x[1, 17:] = 1.0
    z[1, 0] = x[1, 3] = np.nan
    n = int((~np.isnan(x + z)).sum())
    for name, cells in (("specificity", n - 6), ("sensitivity", 6), ("accuracy", n)):
        share = leave_one_out.of(x, z, measured(name)).share
        assert (share.n, share.rarer) == (cells, 6)
        there = ~np.isnan(x + z) & {"specificity": z == 0, "sensitivity": z == 1, "accuracy": True}[name]
        assert share.inputs == there.any(axis=0).sum()


def icc(x, z):
    """McGraw and Wong's ICC(A,1) by mean squares."""
    values = np.stack([x, z], axis=1)
    n, k = values.shape
    rows, columns, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    of_rows, of_columns = k * ((rows - mean) ** 2).sum() / (n - 1), n * ((columns - mean) ** 2).sum() / (k - 1)
    error = ((values - rows[:, None] - columns + mean) ** 2).sum() / (n - 1) / (k - 1)
    return (of_rows - error) / (of_rows + (k - 1) * error + k / n * (of_columns - error))


@pytest.mark.ignore_codes("few_systems")
def test_swapped_means_are_of_the_cells_that_all_three_have():
    rng = np.random.default_rng(8)
    z = rng.integers(0, 5, (3, 3)) + 2.0 * np.arange(3)[:, None]
    x, y = (np.round(z + rng.normal(size=z.shape)) for _ in range(2))
    x[0, 1] = y[2, 0] = np.nan
    there = ~np.isnan(x + y)
    how = {"metric": "m0", "other": "m1", "coefficient": "icc", "rng": 0}
    found = dataset(np.stack([x, y, z])).meta.perm_test("m2", **how)

    def means(values):
        return np.array([row[cells].mean() for row, cells in zip(values, there, strict=True)])

    swaps = [np.array(swap).reshape(3, 3) for swap in itertools.product([False, True], repeat=9)]
    gold = means(z)
    apart = np.array([icc(means(np.where(s, y, x)), gold) - icc(means(np.where(s, x, y)), gold) for s in swaps])
    assert float(found.difference.squeeze()) == pytest.approx(apart[0], abs=1e-12)
    assert float(found.pvalue.squeeze()) == pytest.approx(np.mean(np.abs(apart) >= abs(apart[0]) - 1e-12), abs=1e-12)


def test_swaps_trade_scores_as_they_are():
    """All ways to swap two judges, of whom one is higher by a grade throughout: standardised they would be one."""
    z, x, _ = judged(6, (2, 4), grades=4)
    y = np.clip(x + 1, 0, 3)
    ds = dataset(np.stack([x, y, z]))
    how = {"metric": "m0", "other": "m1", "level": "global", "coefficient": "kappa", "rng": 0}
    found = ds.meta.perm_test("m2", **how)

    def difference(swap):
        return np.subtract(
            *(sklearn.cohen_kappa_score(z.ravel(), np.where(swap, *each).ravel()) for each in ((y, x), (x, y)))
        )

    swaps = [np.array(swap).reshape(2, 4) for swap in itertools.product([False, True], repeat=8)]
    differences = np.array([difference(swap) for swap in swaps])
    assert float(found.difference.squeeze()) == pytest.approx(differences[0], abs=1e-12)
    want = np.mean(np.abs(differences) >= abs(differences[0]) - 1e-12)
    assert found.attrs["n_resamples"] == 256 and float(found.pvalue.squeeze()) == pytest.approx(want, abs=1e-12)


@for_each("level", ["input", "within_system"])
def test_draws_in_small_blocks_are_those_at_once(level, monkeypatch):
    """Of systems alone, of inputs alone, and of both: a dim that is not drawn has one row of counts for all blocks."""
    z, x, _ = judged(4, shape=(6, 9), grades=3, gaps=0.1)
    rng = np.random.default_rng(0)
    systems, inputs = (rng.multinomial(size, np.full(size, 1 / size), size=7) for size in x.shape)
    once = np.ones((1, 6), int), np.ones((1, 9), int)
    estimator = measured("weighted_kappa", level).estimator(x, z)
    for drawn in ((systems, once[1]), (once[0], inputs), (systems, inputs)):
        whole = estimator.bootstrap(*drawn)
        assert len(set(whole)) > 3
        with monkeypatch.context() as patch:
            patch.setattr("xsumstat.coefficients.values._AT_ONCE", 1)
            assert same(estimator.bootstrap(*drawn), whole, 0)

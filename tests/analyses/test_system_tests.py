"""Tests of two systems' scores, against SciPy, full enumeration and plain loops over the same draws."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from conftest import dataset

import xsumstat
from xsumstat.analyses import bootstrap_wins, system_tests
from xsumstat.analyses.system_tests import Test as Asked
from xsumstat.resampling import draws, jobs
from xsumstat.resampling.plans import SwapPlan

ALTERNATIVES = ("two-sided", "greater", "less")
BACK = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


def asked(method, alternative="two-sided", statistic="t", n_resamples=300, seed=5):
    return Asked(method, statistic, alternative, n_resamples, seed)


def compare(x, pairs, test):
    """The numbers of each pair of systems that all methods give, (names, pairs)."""
    return jobs.on_threads(system_tests.SystemTests(pairs, test), [(x,)])[0][: len(system_tests.NAMES)]


def cube(systems, inputs, *, points=None, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(1, inputs)) + rng.normal(size=(systems, inputs)) + 0.3 * rng.normal(size=(systems, 1))
    x = x if points is None else np.clip(np.round(x * points / 4), -points, points)
    return np.where(rng.random(x.shape) < missing, np.nan, x)


def every_pair(n):
    return np.array(list(itertools.combinations(range(n), 2)))


def shared(x, a, b):
    both = ~np.isnan(x[a]) & ~np.isnan(x[b])
    return x[a][both], x[b][both]


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("points", [None, 3])
@pytest.mark.parametrize("inputs", [6, 40, 90])
def test_formulas_equal_scipy(inputs, points, missing):
    x = cube(4, inputs, points=points, missing=missing, seed=inputs)
    pairs = every_pair(4)
    for alternative in ALTERNATIVES:
        for method in ("paired_t", "t", "wilcoxon"):
            difference, statistic, forward, backward, n = compare(x, pairs, asked(method, alternative))
            for at, (a, b) in enumerate(pairs):
                one, two = shared(x, a, b)
                assert n[at] == len(one)
                if len(one) < 2 or not np.any(one != two):
                    continue
                assert difference[at] == pytest.approx(one.mean() - two.mean(), abs=1e-12)
                for p, way in ((forward, alternative), (backward, BACK[alternative])):
                    if method == "wilcoxon":
                        want = scipy.stats.wilcoxon(one, two, alternative=way)
                        positive = scipy.stats.wilcoxon(one, two, alternative="greater").statistic
                        used = (one != two).sum()
                        assert statistic[at] == pytest.approx(2 * positive - used * (used + 1) / 2)
                    else:
                        function = scipy.stats.ttest_rel if method == "paired_t" else scipy.stats.ttest_ind
                        want = function(one, two, alternative=way)
                        assert statistic[at] == pytest.approx(want.statistic, rel=1e-9)
                    assert p[at] == pytest.approx(want.pvalue, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("inputs", [13, 14, 50, 51])
def test_where_the_signed_rank_test_stops_being_exact(inputs):
    """With ties SciPy lists all swaps of up to 13 inputs, without it has a formula for up to 50."""
    x = cube(2, inputs, points=2 if inputs < 20 else None, seed=1)
    got = compare(x, every_pair(2), asked("wilcoxon"))[2, 0]
    assert got == pytest.approx(scipy.stats.wilcoxon(x[0], x[1]).pvalue, rel=1e-10)


def test_differences_that_only_rounding_keeps_apart_are_tied():
    """0.3 − 0.1 and 0.5 − 0.3 are one difference; SciPy, given the raw scores, calls them two."""
    x = np.array([[0.3, 0.5, 0.1, 0.7, 0.2, 0.9, 0.3], [0.1, 0.3, 0.3, 0.4, 0.3, 0.4, 0.2]])
    got = compare(x, every_pair(2), asked("wilcoxon"))
    want = scipy.stats.wilcoxon(np.round(x[0] - x[1], 12))
    raw = scipy.stats.wilcoxon(x[0] - x[1])
    assert got[2, 0] == pytest.approx(want.pvalue, rel=1e-12) and want.pvalue != raw.pvalue


@pytest.mark.parametrize("method", system_tests.METHODS)
def test_a_system_against_its_double(method):
    x = cube(3, 12)
    x[1] = x[0]
    difference, statistic, forward, backward, _ = compare(x, every_pair(3), asked(method))
    assert (difference[0], statistic[0], forward[0], backward[0]) == (0, 0, 1, 1)
    assert 0 < forward[1] < 1 and forward[1] == forward[2]


def test_a_constant_difference_is_certain_for_t_and_scipy_alike():
    x = np.array([[0.3, 0.5, 0.1, 0.7], [0.1, 0.3, -0.1, 0.5]])
    _, statistic, forward, backward, _ = compare(x, every_pair(2), asked("paired_t", "greater"))
    assert statistic[0] == np.inf and forward[0] == 0 and backward[0] == 1


def test_one_input_and_none_in_common():
    x = np.array([[1.0, np.nan, np.nan], [0.0, 2.0, np.nan], [np.nan, np.nan, 3.0]])
    for method in system_tests.METHODS:
        found = compare(x, every_pair(3), asked(method))
        assert found[4].tolist() == [1, 0, 0] and np.isnan(found[1:4]).all() and found[0, 0] == 1
    assert np.isnan(jobs.on_threads(bootstrap_wins.Wins(every_pair(3), 50, 1), [(x, x)])[0][:4]).all()


@pytest.mark.parametrize("statistic", system_tests.STATISTICS)
@pytest.mark.parametrize("points", [None, 2])
def test_listed_swaps_equal_scipys_exact_permutation_test(statistic, points):
    x = cube(4, 8, points=points, seed=3)

    def of(d):
        if statistic == "wilcoxon":
            used = d[d != 0]
            return (np.sign(used) * scipy.stats.rankdata(np.abs(used))).sum()
        return d.sum()  # t is increasing in it, as Σd² never changes

    for alternative in ALTERNATIVES:
        found = compare(x, every_pair(4), asked("monte_carlo", alternative, statistic=statistic, n_resamples=999))
        for at, (a, b) in enumerate(every_pair(4)):
            d = x[a] - x[b]
            sums = np.array([of(d * signs) for signs in itertools.product((1, -1), repeat=8)])
            want = {
                "greater": np.mean(sums >= of(d) - 1e-9),
                "less": np.mean(sums <= of(d) + 1e-9),
                "two-sided": np.mean(np.abs(sums) >= abs(of(d)) - 1e-9),
            }
            assert found[2, at] == want[alternative] and found[3, at] == want[BACK[alternative]]
        if points is None and statistic == "t":
            test = scipy.stats.permutation_test(
                (x[0], x[1]), lambda u, v: np.mean(u - v), permutation_type="samples", alternative=alternative
            )
            assert found[2, 0] == pytest.approx(test.pvalue)


def student(d):
    if not np.ptp(d):
        return np.sign(d[0]) * np.inf if d[0] else 0.0
    return d.mean() / (d.std(ddof=1) / np.sqrt(len(d)))


def rank_sum(d):
    used = d[d != 0]
    return (np.sign(used) * scipy.stats.rankdata(np.abs(used))).sum() if len(used) else 0.0


def plain_resamples(d, method, n_resamples, seed):
    """Differences of each resample, drawn and swapped one by one."""
    n = len(d)
    for block in range(draws.n_blocks(n_resamples)):
        rows = draws.block_rows(n_resamples, block)
        counts = draws.counts(seed, "input", n, block, rows)
        if method == "monte_carlo":
            bits = SwapPlan.of((1, n), ("input",), False, n_resamples, seed).block(block)[:, 0]
            for row in bits:
                yield np.array([-d[i] if row[i // 8] >> (i % 8) & 1 else d[i] for i in range(n)])
        elif method == "bootstrap":
            for row in counts:
                yield np.repeat(d, row)
        else:
            words = draws.sign_bits(seed, "copy", 32 * n, block, rows).reshape(rows, n, 4)
            for row, word in zip(counts, words, strict=True):
                drawn = []
                for i in range(n):
                    sign_bits = int.from_bytes(bytes(word[i].tolist()), "little")
                    drawn += [-d[i] if sign_bits >> copy & 1 else d[i] for copy in range(row[i])]
                yield np.array(drawn)


@pytest.mark.parametrize("points", [None, 2])
@pytest.mark.parametrize(
    "method, statistic",
    [
        ("monte_carlo", "t"),
        ("monte_carlo", "wilcoxon"),
        ("hybrid", "t"),
        ("hybrid", "wilcoxon"),
        ("bootstrap", "t"),
    ],
)
def test_sampled_pvalues_equal_a_plain_loop_over_the_same_draws(method, statistic, points):
    x = cube(3, 11, points=points, seed=4)
    n_resamples, seed = 1100, 9
    of = {"t": student, "wilcoxon": rank_sum}[statistic] if method != "bootstrap" else np.mean
    resampled = []
    for a, b in every_pair(3):
        values = [of(each) for each in plain_resamples(x[a] - x[b], method, n_resamples, seed)]
        resampled.append(np.array(values) - (of(x[a] - x[b]) if method == "bootstrap" else 0.0))
    for alternative in ALTERNATIVES:
        found = compare(x, every_pair(3), asked(method, alternative, statistic, n_resamples, seed))
        for at, (a, b) in enumerate(every_pair(3)):
            observed, values = of(x[a] - x[b]), resampled[at]
            near = 1e-9 * max(1, abs(observed))
            count = {
                "greater": (values >= observed - near).sum(),
                "less": (values <= observed + near).sum(),
                "two-sided": (np.abs(values) >= abs(observed) - near).sum(),
            }
            assert found[2, at] == pytest.approx((1 + count[alternative]) / (1 + n_resamples), abs=1e-15)
            assert found[3, at] == pytest.approx((1 + count[BACK[alternative]]) / (1 + n_resamples), abs=1e-15)


@pytest.mark.parametrize("far", [1e3, -1e6, 1e8])
def test_swaps_that_tie_are_counted_however_far_from_0_grades_lie(far):
    """All 2⁹ swaps are listed; their t is that of whole numbers, of which equal sums are exactly equal."""
    x = np.random.default_rng(2).integers(0, 5, (2, 9)).astype(float)
    d = x[0] - x[1]
    sums = np.array(list(itertools.product((-1, 1), repeat=9))) @ d
    found = compare(far + x / 10, every_pair(2), asked("monte_carlo", "greater", "t", 512))
    assert found[2, 0] == (sums >= d.sum()).mean() and found[3, 0] == (sums <= d.sum()).mean()


@pytest.mark.parametrize("statistic", system_tests.STATISTICS)
def test_hybrid_draws_pairs_and_swaps_each_copy(statistic):
    """Against the paper's recipe with draws of another generator."""
    x = cube(2, 15, seed=8)
    d = x[0] - x[1]
    of = {"t": student, "wilcoxon": rank_sum}[statistic]
    rng = np.random.default_rng(0)
    drawn = np.array([of(rng.choice(d, 15) * rng.choice((-1, 1), 15)) for _ in range(3000)])
    want = np.mean(np.abs(drawn) >= abs(of(d)))
    got = compare(x, every_pair(2), asked("hybrid", statistic=statistic, n_resamples=20_000))[2, 0]
    assert got == pytest.approx(want, abs=4 * np.sqrt(want * (1 - want) / 3000) + 1e-3)


def test_an_input_drawn_more_than_32_times_is_no_trouble():
    counts, words = np.array([[40, 0]]), np.full((1, 2), 2**32 - 1, dtype=np.uint32)
    total, net = np.empty((2, 2, 1))
    system_tests.kernels.net_counts(counts, words, total, net)
    assert total[:, 0].tolist() == [40, 0] and net[:, 0].tolist() == [-40, 0]


def test_draws_do_not_depend_on_threads_or_on_other_pairs(monkeypatch):
    x = cube(5, 20, missing=0.2, seed=2)
    for method in system_tests.SAMPLED:
        whole = compare(x, every_pair(5), asked(method, n_resamples=3000))
        monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "1")
        monkeypatch.setattr(jobs, "BYTES_AT_ONCE", 2 * 16 * draws.BLOCK)  # two pairs
        again = compare(x, every_pair(5), asked(method, n_resamples=3000))
        np.testing.assert_array_equal(whole, again)
        one = compare(x, every_pair(5)[3:4], asked(method, n_resamples=3000))
        np.testing.assert_array_equal(whole[:, 3:4], one)
        monkeypatch.undo()


@pytest.mark.parametrize("at_once", [1, 2**30])
def test_win_shares_equal_a_plain_loop(at_once, monkeypatch, seed=3, n_resamples=1500):
    """By a metric and by gold, on the inputs that both systems have by both; the same draws for both."""
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", at_once)
    x, z = cube(5, 9, points=2, missing=0.2, seed=6), cube(5, 9, points=2, missing=0.1, seed=7)
    x[3], z[3] = x[1], z[1]
    pairs = every_pair(5)
    got = jobs.on_threads(bootstrap_wins.Wins(pairs, n_resamples, seed), [(x, z)])[0]
    for at, (a, b) in enumerate(pairs):
        both = ~np.isnan(x[[a, b]] + z[[a, b]]).any(axis=0)
        n = int(both.sum())
        assert got[4, at] == n
        wins = np.zeros(4)
        for block in range(draws.n_blocks(n_resamples)):
            for row in draws.counts(seed, "input", n, block, draws.block_rows(n_resamples, block)):
                for side, scores in enumerate((x, z)):
                    gap = (np.repeat(scores[a, both], row) - np.repeat(scores[b, both], row)).mean()
                    wins[2 * side : 2 * side + 2] += (gap > 1e-9, gap < -1e-9)
        np.testing.assert_allclose(got[:4, at], wins / n_resamples, atol=1e-15)
    assert got[:4, pairs.tolist().index([1, 3])].tolist() == [0, 0, 0, 0]


@pytest.mark.slow
def test_equal_systems_differ_at_the_nominal_rate_by_paired_tests_and_hardly_ever_by_the_unpaired_t():
    """Rankel et al. (2011), §2: inputs are harder or easier for all systems."""
    pairs = np.arange(40).reshape(20, 2)
    rejected = dict.fromkeys(system_tests.METHODS, 0)
    for trial in range(50):
        ds = xsumstat.simulate(
            40, 40, effects={"system": 0, "input": 1.5, "cell": 1}, agreement={"m": 0.5}, truth=False, rng=trial
        )
        x = ds.score.sel(metric="human").values
        for method in rejected:
            rejected[method] += (compare(x, pairs, asked(method, n_resamples=999))[2] <= 0.05).sum()
    band = 3.5 * np.sqrt(1000 * 0.05 * 0.95)
    for method in ("paired_t", "wilcoxon", "monte_carlo", "hybrid"):
        assert abs(rejected[method] - 50) < band, (method, rejected)
    assert rejected["t"] <= 5 and rejected["bootstrap"] < 50 + 2 * band


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_wilcoxon_with_a_difference_of_zero_is_normal_beyond_thirteen(alternative):
    d = np.array([0.0, *(1.37 ** np.arange(19) * np.where(np.arange(19) % 3, 1, -1))])
    ds = dataset(np.array([[d, np.zeros(20)]]))
    got = ds.meta.compare_systems(method="wilcoxon", alternative=alternative).pvalue.values[0, 0, 1]
    want = scipy.stats.wilcoxon(d[1:], alternative=alternative, method="asymptotic", correction=False).pvalue
    assert got == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize(("n_resamples", "exact"), [(32, True), (31, False)])
def test_it_is_said_where_all_swaps_of_five_inputs_are_listed(n_resamples, exact):
    said = system_tests.settings_of(asked("monte_carlo", n_resamples=n_resamples), 5)
    assert said.get("exact", False) == exact and said["n_resamples"] == n_resamples
    assert "exact" not in system_tests.settings_of(asked("hybrid", n_resamples=n_resamples), 5)


def _in_documents(sizes, systems=3, seed=0):
    """Scores of systems on documents of these sizes, whose inputs are alike."""
    rng = np.random.default_rng(seed)
    of_input = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(size=(systems, len(of_input))) + rng.normal(size=(systems, len(sizes)))[:, of_input]
    coords = {"metric": ["human"], "system": list("abcdef")[:systems], "document": ("input", of_input)}
    return xr.Dataset({"score": (("metric", "system", "input"), x[None])}, coords)


@pytest.mark.parametrize("sizes", [[3, 3, 3, 3, 3], [1, 2, 3, 5, 4, 2]])
def test_the_paired_t_leaves_out_documents(sizes):
    ds = _in_documents(sizes)
    found = ds.meta.compare_systems(cluster="document", alpha=0.1).isel(metric=0)
    x, document = ds.score.values[0], ds.document.values
    for a, b in itertools.permutations(range(3), 2):
        d, g = x[a] - x[b], len(sizes)
        without = np.array([d[document != each].mean() for each in range(g)])
        error = math.sqrt((g - 1) / g * ((without - d.mean()) ** 2).sum())
        one = found.isel(system=a, other_system=b)
        assert float(one.standard_error) == pytest.approx(error)
        assert float(one.pvalue) == pytest.approx(2 * scipy.stats.t.sf(abs(d.mean()) / error, g - 1))
        half = scipy.stats.t.ppf(0.95, g - 1) * error
        assert [float(one.ci_low), float(one.ci_high)] == pytest.approx([d.mean() - half, d.mean() + half])
        assert (int(one.df), int(one.n_clusters), int(one.n_inputs)) == (g - 1, g, sum(sizes))
    assert found.attrs["cluster"] == "document" and "clustered by document" in found.meta.conclusion()


@pytest.mark.parametrize("statistic", system_tests.STATISTICS)
def test_swaps_of_documents_equal_all_swaps(statistic):
    ds = _in_documents([1, 2, 3, 5, 4, 2])
    keywords = {"method": "monte_carlo", "statistic": statistic, "cluster": "document"}
    found = ds.meta.compare_systems(**keywords).isel(metric=0)
    x, document = ds.score.values[0], ds.document.values
    for a, b in ((0, 1), (0, 2), (2, 1)):
        d = x[a] - x[b]
        if statistic == "wilcoxon":
            d = np.sign(d) * scipy.stats.rankdata(np.abs(d))
        swapped = [abs((np.array(signs)[document] * d).sum()) for signs in itertools.product((-1, 1), repeat=6)]
        want = np.mean(np.array(swapped) >= abs(d.sum()) - 1e-9)
        assert float(found.pvalue[a, b]) == pytest.approx(want)
    assert found.attrs["exact"] and found.attrs["n_resamples"] == 64


@pytest.mark.ignore_codes("few_inputs")
@pytest.mark.parametrize("method", system_tests.CLUSTERED)
def test_documents_of_one_size_are_their_means(method):
    ds = _in_documents([4] * 15)
    ds = ds.assign_coords(document=ds.document + 100)  # labels are ordered as text
    keywords = {"method": method, "n_resamples": 300, "rng": 3}
    found = ds.meta.compare_systems(cluster="document", **keywords)
    means = ds.assign_coords(input=np.arange(60)).groupby("document").mean().rename(document="input")
    xr.testing.assert_allclose(found.pvalue, means.meta.compare_systems(**keywords).pvalue)
    alone = ds.assign_coords(document=("input", 100 + np.arange(60)))  # each document one input
    same, want = alone.meta.compare_systems(cluster="document", **keywords), alone.meta.compare_systems(**keywords)
    xr.testing.assert_allclose(same[list(want.data_vars)], want)


@pytest.mark.ignore_codes("few_inputs")
def test_drawn_documents_count_by_their_sizes():
    ds = _in_documents([1, 2, 3, 5, 4, 2, 8, 6], systems=2)
    found = ds.meta.compare_systems(method="bootstrap", cluster="document", n_resamples=20_000, rng=1)
    d, document = ds.score.values[0, 0] - ds.score.values[0, 1], ds.document.values
    sums, sizes = np.bincount(document, d), np.bincount(document)
    drawn = np.random.default_rng(5).integers(8, size=(20_000, 8))
    centred = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1) - d.mean()
    assert float(found.pvalue[0, 0, 1]) == pytest.approx(np.mean(np.abs(centred) >= abs(d.mean())), abs=0.015)


def test_few_and_unequal_documents_are_warned_of():
    few, unequal = _in_documents([4] * 5), _in_documents([1, 1, 1, 1, 2, 30])
    with pytest.warns(UserWarning, match="bootstrap tests of 5 clusters are liberal .* use method='paired_t'"):
        few.meta.compare_systems(method="bootstrap", cluster="document", n_resamples=50)
    with pytest.warns(UserWarning, match="unequal sizes: paired t-tests are liberal; use method='monte_carlo'"):
        unequal.meta.compare_systems(cluster="document")
    unequal.meta.compare_systems(method="monte_carlo", cluster="document")
    few.meta.compare_systems(cluster="document")


def test_documents_that_systems_do_not_share_and_methods_without_clusters():
    ds = _in_documents([3, 3, 3, 3])
    gaps = ds.score.where(~((ds.system == "a") & (ds.document > 0)))
    with pytest.warns(UserWarning, match="systems with only one document in common: 'a and b', 'a and c'"):
        found = ds.assign(score=gaps).meta.compare_systems(cluster="document").isel(metric=0)
    assert found.n_clusters.values[0].tolist() == [0, 1, 1] and found.n_inputs.values[0].tolist() == [0, 3, 3]
    np.testing.assert_allclose(found.difference[0, 1], (ds.score[0, 0, :3] - ds.score[0, 1, :3]).mean())
    assert np.isnan(found.pvalue[0, 1:]).all() and float(found.df[1, 2]) == 3
    for method in ("t", "wilcoxon", "hybrid", "ppi"):
        with pytest.raises(ValueError, match="cluster='document' is for the methods 'paired_t', 'monte_carlo', 'boot"):
            ds.meta.compare_systems(method=method, cluster="document")
    with pytest.warns(UserWarning, match="12 inputs come from 4 documents.*cluster='document' keeps"):
        ds.meta.compare_systems()
    with pytest.warns(UserWarning, match="12 inputs come from 4 documents.*method='paired_t' takes cluster"):
        ds.meta.compare_systems(method="wilcoxon")


@pytest.mark.slow
def test_documents_hold_their_size():
    """Nominal 5 %, 400 sets; 37 % if inputs are taken to be independent."""
    found = [
        float(_in_documents([8] * 12, 2, seed).meta.compare_systems(cluster="document").pvalue[0, 0, 1])
        for seed in range(400)
    ]
    assert 0.02 <= np.mean(np.array(found) <= 0.05) <= 0.085

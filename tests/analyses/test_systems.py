import re

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.multitest as multitest
import xarray as xr
from conftest import warns

import xsumstat  # noqa: F401
from xsumstat.analyses import system_tests


@pytest.mark.slow
def test_every_pair_of_every_metric_of_realsumm_equals_scipy(realsumm):
    ds = realsumm.sel(metric=["litepyramid_recall", "rouge_2_recall", "mover_score"])
    functions = {"paired_t": scipy.stats.ttest_rel, "t": scipy.stats.ttest_ind, "wilcoxon": scipy.stats.wilcoxon}
    for method, function in functions.items():
        test = ds.meta.compare_systems(method=method)
        assert test.pvalue.dims == ("metric", "system", "other_system")
        for name in ds.metric.values:
            x = ds.score.sel(metric=name).values
            p = test.pvalue.sel(metric=name).values
            for a in range(25):
                for b in range(a):
                    if (x[a] == x[b]).all():
                        assert p[a, b] == p[b, a] == 1
                        continue
                    # Scores are fractions, whose differences are tied but for rounding.
                    gaps = (np.round(x[a] - x[b], 10),) if method == "wilcoxon" else (x[a], x[b])
                    want = function(*gaps).pvalue
                    assert p[a, b] == pytest.approx(want, rel=1e-8, abs=1e-300) and p[b, a] == p[a, b]
            assert np.isnan(np.diag(p)).all()


def test_paired_tests_find_more_on_realsumm(realsumm):
    """Rankel et al. (2011), Table 1: the unpaired t finds fewer differences."""
    ds = realsumm.sel(system=realsumm.duplicate_of == "")
    found = {method: ds.meta.compare_systems(method=method).n_significant for method in ("t", "paired_t", "wilcoxon")}
    assert (found["paired_t"] > found["t"]).all() and (found["wilcoxon"] > found["t"]).all()


@pytest.mark.parametrize("method", system_tests.METHODS)
def test_the_table_turns_with_the_pair(small, method):
    keywords = {"method": method, "n_resamples": 200, "rng": 1}
    tests = {
        alternative: small.meta.compare_systems(alternative=alternative, **keywords)
        for alternative in ("two-sided", "greater", "less")
    }
    for alternative, other in (("two-sided", "two-sided"), ("greater", "less")):
        test, turned = tests[alternative], tests[other]
        for name in ("difference", "statistic"):
            values = test[name].values
            np.testing.assert_array_equal(values, -values.transpose(0, 2, 1))
        np.testing.assert_array_equal(test.pvalue.values, turned.pvalue.values.transpose(0, 2, 1))
        assert (test.n_inputs == 5).where(test.system != test.other_system, True).all()
        assert test.attrs["analysis"] == "compare_systems" and test.attrs["method"] == method


def test_only_the_pairs_asked_for(small):
    whole = small.meta.compare_systems()
    part = small.meta.compare_systems(system="s1", other=["s4", "s1", "s0"])
    assert part.pvalue.dims == ("metric", "system", "other_system") and part.pvalue.shape == (4, 1, 3)
    want = whole.pvalue.sel(system=["s1"], other_system=["s4", "s1", "s0"])
    np.testing.assert_array_equal(part.pvalue, want)
    assert (part.n_tests == 2).all()
    few = small.meta.compare_systems(system=["s5", "s2"])
    assert few.pvalue.shape == (4, 2, 2)
    chosen = small.assign_coords(kind2=("system", list("aabbab"))).meta
    by_condition = chosen.compare_systems(
        system=xr.DataArray(np.array(list("aabbab")) == "a", {"system": small.system})
    )
    assert by_condition.system.values.tolist() == ["s0", "s1", "s4"]


def test_systems_without_a_group_are_said_and_odd_groups_have_names(small):
    for kinds, names in ((["a", None, "b", "b", "b", "a"], ["a", "b"]), ([1.5, np.nan, 2, 2, 2, 1.5], ["1.5", "2.0"])):
        kinds = np.array(kinds, dtype=object if names[0] == "a" else float)
        ds = small.assign_coords(group=("system", kinds))
        with pytest.warns(UserWarning, match=r"1 system without group"):
            test = ds.meta.compare_systems(between="group")
        assert test.group.values.tolist() == names and test.n_tests[0].values.tolist() == [[1, 6], [6, 3]]
    pytest.importorskip("dask")
    lazy = small.assign_coords(type=("system", list("xxyyyz"))).chunk()
    want = small.assign_coords(type=("system", list("xxyyyz"))).meta.compare_systems(between="type")
    xr.testing.assert_equal(lazy.meta.compare_systems(between="type").compute(), want)
    part = small.assign_coords(type=("system", list("xxyyyz"))).meta
    assert part.compare_systems(system=["s0", "s2"], between="type").group.values.tolist() == ["x", "y"]


def test_listed_swaps_are_said_and_counts_do_not_go_stale(small):
    test = small.meta.compare_systems(method="monte_carlo", n_resamples=99)
    assert test.attrs["exact"] == 1 and test.attrs["n_resamples"] == 32
    assert set(np.unique(test.pvalue.values * 32 % 1)) <= {0.0} or np.isnan(test.pvalue.values).any()
    with warns("few_resamples", r" 0\.05\b.* 32 "):
        adjusted = test.meta.adjust("bonferroni")
    assert "n_significant" in test and "n_significant" not in adjusted and "n_tests" in adjusted
    drawn = small.meta.compare_systems(method="monte_carlo", n_resamples=31)
    assert "exact" not in drawn.attrs and drawn.attrs["n_resamples"] == 31


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_counts_by_group_equal_a_plain_loop(small, alternative):
    kinds = dict(zip(small.system.values, "xxyyyz", strict=True))
    ds = small.assign_coords(type=("system", list(kinds.values())))
    test = ds.meta.compare_systems(between="type", alpha=0.5, alternative=alternative)
    assert test.n_significant.dims == ("metric", "group", "other_group")
    assert test.group.values.tolist() == ["x", "y", "z"]
    for metric in ds.metric.values:
        for g in "xyz":
            for h in "xyz":
                tests = significant = 0
                for a in kinds:
                    for b in kinds:
                        once = a < b if g == h and alternative == "two-sided" else a != b
                        if kinds[a] == g and kinds[b] == h and once:
                            tests += 1
                            p = float(test.pvalue.sel(metric=metric, system=a, other_system=b))
                            significant += p <= 0.5
                cell = test.sel(metric=metric, group=g, other_group=h)
                assert (int(cell.n_tests), int(cell.n_significant)) == (tests, significant)
    whole = ds.meta.compare_systems(alpha=0.5, alternative=alternative)
    assert (whole.n_tests == (15 if alternative == "two-sided" else 30)).all()


def test_corrections_count_a_two_sided_pair_once(small):
    test = small.meta.compare_systems(adjust="holm", within=("system", "other_system"), alpha=0.3)
    upper = np.triu_indices(6, 1)
    for metric in small.metric.values:
        p, adjusted = (test[name].sel(metric=metric).values for name in ("pvalue", "pvalue_adjusted"))
        want = multitest.multipletests(p[upper], method="holm")[1]
        np.testing.assert_allclose(adjusted[upper], want)
        np.testing.assert_array_equal(adjusted, adjusted.T)
        assert int(test.n_significant.sel(metric=metric)) == (want <= 0.3).sum()
    again = small.meta.compare_systems().meta.adjust("holm", within=("system", "other_system"))
    xr.testing.assert_identical(again.pvalue_adjusted, test.pvalue_adjusted)
    assert test.meta.significant(alpha=0.3).sum() == 2 * test.n_significant.sum()


def test_a_lower_is_better_metric_is_turned_and_further_dims_stay(small):
    worse = small.assign_coords(higher_is_better=("metric", [True, False, True, True]))
    plain, turned = (each.meta.compare_systems(alternative="greater").pvalue for each in (small, worse))
    np.testing.assert_allclose(turned.sel(metric="m1"), plain.sel(metric="m1").values.T)
    both = xr.concat([small[["score"]], small[["score"]] ** 2], "language").assign_coords(language=["en", "de"])
    found = both.meta.compare_systems(between=None)
    assert found.pvalue.dims == ("metric", "system", "other_system", "language")
    np.testing.assert_array_equal(found.pvalue.sel(language="en"), small.meta.compare_systems().pvalue)


def test_lazy_scores_give_the_same(small):
    pytest.importorskip("dask")
    for method in ("paired_t", "hybrid"):
        eager = small.meta.compare_systems(method=method, n_resamples=99, rng=1)
        lazy = small.chunk(metric=1).meta.compare_systems(method=method, n_resamples=99, rng=1)
        assert lazy.pvalue.chunks is not None
        xr.testing.assert_equal(lazy.compute(), eager)


def test_it_saves_and_makes_a_table(small, tmp_path):
    test = small.assign_coords(type=("system", list("xxyyyz"))).meta.compare_systems(between="type", adjust="bh")
    test.to_netcdf(tmp_path / "test.nc")
    xr.testing.assert_identical(xr.load_dataset(tmp_path / "test.nc"), test)
    frame = test.meta.to_frame()
    assert not (frame.system == frame.other_system).any() and len(frame) == 4 * 30
    limits = ["ci_low", "ci_high", "pvalue_adjusted", "statistic", "n_inputs", "standard_error", "df"]
    assert list(frame.columns)[-9:] == ["pvalue", "difference", *limits]
    assert len(test[["n_significant"]].meta.to_frame()) == 4 * 9


def test_pairs_without_a_common_input_are_named(small):
    gaps = small.copy(deep=True)
    gaps.score[:, 0, :3] = np.nan
    gaps.score[:, 1, 3:] = np.nan
    gaps.score[:, 2, 1:] = np.nan
    with pytest.warns(UserWarning) as caught:
        test = gaps.meta.compare_systems()
    texts = " ".join(str(each.message) for each in caught)
    assert "no input in common" in texts and "'s0 and s1'" in texts and "only one input in common" in texts
    assert np.isnan(test.pvalue.sel(system="s0", other_system="s1")).all()
    assert (test.n_tests == 15 - 6).all()


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"method": "pared_t"}, "did you mean 'paired_t'"),
        ({"statistic": "wilcoxon"}, "statistic='wilcoxon' is for methods that swap"),
        ({"system": "s9"}, "unknown system 's9'"),
        ({"system": "s1", "other": "s1"}, "a comparison needs two systems"),
        ({"between": "kind"}, "between must be a coordinate that describes each system"),
        ({"adjust": "maxt"}, "adjust must be one of"),
        ({"within": "system"}, "needs adjust="),
        ({"alpha": 1}, "alpha must lie strictly between 0 and 1"),
        ({"n_resamples": 1}, "n_resamples must be at least 2"),
    ],
)
def test_bad_arguments(small, keywords, message):
    with pytest.raises(ValueError, match=message):
        small.meta.compare_systems(**keywords)


@pytest.mark.parametrize("method, function", [("paired_t", scipy.stats.ttest_rel), ("t", scipy.stats.ttest_ind)])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_limits_are_scipys_and_agree_with_p_values(small, method, function, alpha):
    gaps = small.score.where(~((small.system == "s2") & (small.input == "i1")))
    ds = small.assign(score=gaps).assign_coords(higher_is_better=("metric", [True, False, True, True]))
    test = ds.meta.compare_systems(method=method, alpha=alpha)
    assert test.attrs["confidence_level"] == 1 - alpha
    excluded = (test.ci_low > 0) | (test.ci_high < 0)
    np.testing.assert_array_equal(excluded, test.pvalue <= alpha)
    for name in ("difference", "ci_low", "ci_high"):
        turned = test[{"ci_low": "ci_high", "ci_high": "ci_low"}.get(name, name)].values.transpose(0, 2, 1)
        np.testing.assert_array_equal(test[name].values, -turned)
    for metric, sign in zip(ds.metric.values, (1, -1, 1, 1), strict=True):
        for a, b in (("s0", "s1"), ("s1", "s2"), ("s5", "s3")):
            x, z = (sign * ds.score.sel(metric=metric, system=each).values for each in (a, b))
            both = ~np.isnan(x) & ~np.isnan(z)
            want = function(x[both], z[both])
            low, high = want.confidence_interval(1 - alpha)
            cell = test.sel(metric=metric, system=a, other_system=b)
            assert float(cell.ci_low) == pytest.approx(low, rel=1e-9) and float(cell.ci_high) == pytest.approx(high)
            assert float(cell.df) == pytest.approx(want.df)
            assert float(cell.standard_error) * float(cell.statistic) == pytest.approx(float(cell.difference))
    large = ds.assign(score=ds.score * 1e300)
    np.testing.assert_allclose(large.meta.compare_systems(method=method, alpha=alpha).ci_low, 1e300 * test.ci_low)


def test_limits_where_differences_do_not_vary_and_of_other_methods():
    scores = np.array([[[1.0, 2, 3, 4], [1.0, 2, 3, 4], [0.5, 1.5, 2.5, 3.5]]])
    ds = xr.Dataset({"score": (("metric", "system", "input"), scores)}, {"metric": ["m"], "system": list("abc")})
    test = ds.meta.compare_systems().sel(metric="m", system="a")
    assert [float(test[end].sel(other_system="b")) for end in ("ci_low", "ci_high", "pvalue")] == [0, 0, 1]
    assert [float(test[end].sel(other_system="c")) for end in ("ci_low", "ci_high", "pvalue")] == [0.5, 0.5, 0]
    for method in ("wilcoxon", "monte_carlo", "hybrid", "bootstrap"):
        other = ds.meta.compare_systems(method=method, n_resamples=99, rng=1)
        assert "ci_low" not in other and "confidence_level" not in other.attrs


def means(*rows, noise=0.0):
    """Scores of systems a, b ... with these means, on 40 inputs."""
    rng = np.random.default_rng(1)
    values = np.array(rows)[:, None] + rng.normal(size=40) + noise * rng.normal(size=(len(rows), 40))
    names = list("abcdefgh"[: len(rows)])
    return xr.Dataset({"score": (("metric", "system", "input"), values[None])}, {"metric": ["human"], "system": names})


@pytest.mark.parametrize(
    "ds, want",
    [
        (
            means(0, 5, 0.01, noise=1),
            r"For these 3 systems on inputs like these, b is best by the human scores: "
            r"its scores are significantly higher than "
            r"those of every other system \(the closest is [ac], [\d.]+ \[[\d., ]+\] lower\)\. "
            r"There is no significant difference between a and c\. "
            r"2 of 3 pairs of systems differ significantly by the human scores \(paired t tests; Holm",
        ),
        (
            means(5, 5.01, 0, noise=1),
            r"[ab] has the highest mean by the human scores and is significantly better than c; "
            r"it does not differ significantly "
            r"from [ab] \(difference [\d.]+ \[-.*\]\)\. \d of 3 pairs",
        ),
        (
            means(0, 3, noise=1),
            r"b is best by the human scores: .* than those of a \(difference [\d.]+ \[[\d., ]+\]\)\. 1 of 1 pairs",
        ),
        (
            means(0, 0, noise=1),
            r"[ab] has the highest mean by the human scores; it does not differ significantly from [ab] \(",
        ),
        (
            means(1, 1),
            r"For these 2 systems on inputs like these, a and b share the highest mean by the human "
            r"scores\. 0 of 1 pairs",
        ),
        (
            means(0, 0, 0.0, noise=1),
            r"[abc] has the highest mean by the human scores; "
            r"it does not differ significantly from [abc] or [abc] \(the closest is [abc], .* lower\)"
            r"\. There is no significant difference between [abc] and [abc]\.",
        ),
    ],
)
def test_the_conclusion_says_who_is_best(ds, want):
    said = ds.meta.compare_systems(adjust="holm").meta.conclusion()
    assert re.search(want, said), said


def test_who_is_best_agrees_with_the_means_and_the_tests(small):
    """By a plain look at the frame, for every metric and method."""
    for method in ("paired_t", "wilcoxon"):
        for metric in small.metric.values:
            test = small.meta.compare_systems(metric=metric, method=method, alpha=0.3)
            frame = test.meta.to_frame()
            mean = small.score.sel(metric=metric).mean("input").to_series().sort_values()
            best = mean.index[-1]
            rows = frame[(frame.system == best)]
            beaten = set(rows.other_system[rows.pvalue <= 0.3])
            said = test.meta.conclusion()
            assert f"{best} {'is best' if len(beaten) == 5 else 'has the highest mean'} by {metric}" in said
            if 0 < len(beaten) < 5:
                told = re.search(r"significantly better than (.*?); it", said)[1]
                assert set(re.findall(r"s\d", told)) == beaten


def test_a_part_of_the_table_names_no_best(small):
    said = small.meta.compare_systems(metric="m1", system="s1", other=["s2", "s3"]).meta.conclusion()
    assert "best" not in said and "highest mean" not in said and "pairs of systems differ significantly" in said
    assert "best" not in small.meta.compare_systems().meta.conclusion()  # of four metrics


def test_the_statistic_is_the_difference_where_inputs_are_drawn_and_t_where_scores_are_swapped():
    ds = means(1.0, 1.3, noise=1.0)
    one, two = ds.score.values[0]
    student = scipy.stats.ttest_rel(one, two).statistic
    for method, want in (("bootstrap", (one - two).mean()), ("monte_carlo", student), ("hybrid", student)):
        test = ds.meta.compare_systems(method=method, n_resamples=99, rng=1)
        statistic = test.statistic.sel(metric="human", system="a", other_system="b")
        assert float(statistic) == pytest.approx(want, rel=1e-9), method

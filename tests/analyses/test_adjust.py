import re

import numpy as np
import pytest
import xarray as xr
from conftest import warns
from helpers import pairwise
from statsmodels.stats.multitest import multipletests

import xsumstat  # noqa: F401
from xsumstat.analyses import adjust as families
from xsumstat.inference import corrections
from xsumstat.resampling import jobs


@pytest.fixture
def table(small):
    return small.meta.perm_test("m0", level="input", alternative="greater", n_resamples=999, rng=1)


METHODS = {"bonferroni": "bonferroni", "holm": "holm", "bh": "fdr_bh", "by": "fdr_by"}


def test_adjust_within_each_row(table):
    for method, theirs in METHODS.items():
        got = table.meta.adjust(method, within="other_metric")
        for metric in table.metric.values:
            p = table.pvalue.sel(metric=metric).values
            tested = ~np.isnan(p)
            want = multipletests(p[tested], method=theirs)[1]
            np.testing.assert_allclose(
                got.pvalue_adjusted.sel(metric=metric).values[tested], want, err_msg=f"{method}, {metric}"
            )
        assert np.isnan(got.pvalue_adjusted.values[np.eye(3, dtype=bool)]).all()
        np.testing.assert_array_equal(got.pvalue, table.pvalue)
        assert got.attrs["adjust_method"] == method and got.attrs["adjust_within"] == "other_metric"
        assert "pvalue_adjusted" not in table


def test_adjust_within_the_table(table):
    off = ~np.eye(3, dtype=bool)
    for method, theirs in METHODS.items():
        want = multipletests(table.pvalue.values[off], method=theirs)[1]
        for within in (None, ("metric", "other_metric"), ("other_metric", "metric")):
            got = table.meta.adjust(method, within=within).pvalue_adjusted.values
            np.testing.assert_allclose(got[off], want, err_msg=f"{method}, {within}")


def test_a_correction_is_no_correction_of_scalars(table):
    """Six tests count as six, not as six times one."""
    got = table.meta.adjust("bonferroni").pvalue_adjusted
    np.testing.assert_allclose(got, np.minimum(1, 6 * table.pvalue))


def test_a_two_sided_table_holds_each_test_once(small):
    table = small.meta.perm_test("m0", level="input", n_resamples=999, rng=1)
    upper = np.triu_indices(3, 1)
    for method, theirs in METHODS.items():
        got = table.meta.adjust(method).pvalue_adjusted
        want = multipletests(table.pvalue.values[upper], method=theirs)[1]
        np.testing.assert_allclose(got.values[upper], want, err_msg=method)
        np.testing.assert_array_equal(got, got.T, err_msg=method)
        rows_only = table.meta.adjust(method, within="other_metric").pvalue_adjusted
        want = multipletests(table.pvalue.values[0, 1:], method=theirs)[1]
        np.testing.assert_allclose(rows_only[0, 1:], want, err_msg=method)


def test_a_two_sided_part_of_a_table(small):
    table = small.meta.perm_test(
        "m0", metric=["m1", "m2"], other=["m2", "m3", "m1"], level="input", n_resamples=999, rng=1
    )
    got = table.meta.adjust("bonferroni").pvalue_adjusted
    # (m1, m2) = (m2, m1), (m1, m3), (m2, m3): three tests.
    np.testing.assert_allclose(got, np.minimum(1, 3 * table.pvalue))


def test_families_of_further_dims(small):
    doubled = xr.concat([small, small + 0.3 * small**2], "language").assign_coords(language=["a", "b"])
    table = doubled.meta.perm_test("m0", level="input", alternative="greater", n_resamples=999, rng=1)
    by_language = table.meta.adjust("holm", within=("metric", "other_metric"))
    for label in ("a", "b"):
        one = table.sel(language=label).meta.adjust("holm")
        np.testing.assert_array_equal(by_language.pvalue_adjusted.sel(language=label), one.pvalue_adjusted)
    together = table.meta.adjust("bonferroni").pvalue_adjusted
    np.testing.assert_allclose(together, np.minimum(1, 12 * table.pvalue))


def test_a_correction_that_nothing_can_survive_is_said(small):
    few = small.meta.perm_test("m0", alternative="greater", n_resamples=99, rng=0)
    with pytest.warns(
        UserWarning, match=r"no test can be significant at 0\.05: with 99 resamples and 6 test.* at least 119"
    ):
        few.meta.adjust("holm")
    few.meta.adjust("holm", within="other_metric")
    few.meta.adjust("bh")
    exact = small.meta.perm_test("m0", alternative="greater", resample="system")
    with pytest.warns(UserWarning, match=r"no test can be significant at 0\.05: with all 64 swaps and 6 test") as told:
        exact.meta.adjust("bonferroni")
    assert "at least" not in str(told[0].message)


@pytest.mark.parametrize("method", ["bonferroni", "holm", "by"])
def test_so_many_resamples_would_do(small, method):
    """One less and all p-values as small as can be are corrected to more than .05; with so many to .05."""
    few = small.meta.perm_test("m0", alternative="greater", n_resamples=9, rng=0)
    with warns("few_resamples") as told:
        few.meta.adjust(method)
    text = str(told[0].message)
    assert "1.12" not in text and "0.6" not in text
    needed = int(re.search(r"n_resamples of at least (\d+)", text)[1])
    for n, significant in ((needed - 1, False), (needed, True)):
        smallest = np.full(6, 1 / (n + 1))
        corrected = multipletests(smallest, method=METHODS[method])[1]
        assert bool((corrected <= 0.05 + 1e-12).any()) == significant


def test_a_two_sided_exact_test_has_twice_the_smallest_p_value(small):
    """The swap of everything turns the difference round: of 2^5 swaps two are as extreme as the data, 1/16 at best."""
    five = small.isel(system=slice(5))
    with warns("few_resamples", r" 32 .* 0\.0625"):
        exact = five.meta.perm_test("m0", metric="m1", other="m2", resample="system")
    assert exact.attrs["exact"] == 1 and float(exact.pvalue.min()) >= 2 / 32
    with warns("few_resamples", r" 0\.05\b.* 32 .* 1 "):
        exact.meta.adjust("holm")


def test_bad_corrections(table, small):
    with pytest.raises(ValueError, match=r"method must be one of .* got 'bonferoni'; did you mean 'bonferroni'\?"):
        table.meta.adjust("bonferoni")
    with pytest.raises(ValueError, match=r"unknown dim in within 'othermetric'; did you mean 'other_metric'\?"):
        table.meta.adjust(within="othermetric")
    with pytest.raises(TypeError, match="within must name dims of pvalue .* got 3"):
        table.meta.adjust(within=3)
    with pytest.raises(ValueError, match="within repeats 'metric'"):
        table.meta.adjust(within=["metric", "metric"])
    with pytest.raises(ValueError, match="within must name at least one dim"):
        table.meta.adjust(within=())
    with pytest.raises(ValueError, match="needs a test's p-values, but this Dataset holds scores"):
        small.meta.adjust()


def test_significant_goes_by_the_adjusted_p_value(table):
    raw = table.meta.significant(alpha=0.3)
    np.testing.assert_array_equal(raw, table.pvalue <= 0.3)
    adjusted = table.meta.adjust("bonferroni")
    np.testing.assert_array_equal(adjusted.meta.significant(alpha=0.3), adjusted.pvalue_adjusted <= 0.3)
    assert not raw.values[np.eye(3, dtype=bool)].any()
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1, got 5"):
        table.meta.significant(alpha=5)


def test_the_least_number_of_resamples_is_enough(small):
    """6 tests and 119 resamples: 6/120 is .05, which is significant; with 118 it is not."""
    enough, few = (small.meta.perm_test("m0", alternative="greater", n_resamples=n, rng=0) for n in (119, 118))
    enough.meta.adjust("holm")
    with pytest.warns(UserWarning, match="118 resamples .* use n_resamples of at least 119"):
        few.meta.adjust("holm")


def test_a_p_value_of_alpha_is_significant(table):
    at = table.assign(pvalue=xr.full_like(table.pvalue, 0.05))
    assert bool(at.meta.significant(alpha=0.05).all()) and not bool(at.meta.significant(alpha=0.049).any())


@pytest.mark.parametrize(
    "method, theirs", [("bonferroni", "bonferroni"), ("holm", "holm"), ("bh", "fdr_bh"), ("by", "fdr_by")]
)
def test_a_two_sided_table_of_small_pvalues_holds_each_test_once(method, theirs):
    p = np.full((3, 3), np.nan)
    upper = np.triu_indices(3, 1)
    p[upper] = [0.001, 0.02, 0.03]
    p.T[upper] = p[upper]
    labels = ["a", "b", "c"]
    table = xr.Dataset(
        {"pvalue": (("metric", "other_metric"), p)},
        {"metric": labels, "other_metric": labels},
        {"analysis": "perm_test", "alternative": "two-sided"},
    )
    got = table.meta.adjust(method).pvalue_adjusted.values
    np.testing.assert_allclose(got[upper], multipletests(p[upper], method=theirs)[1])
    np.testing.assert_array_equal(got, got.T)


# --- lazy max-T ---


@pytest.fixture
def languages(small):
    """Two languages; in the second one m1 is far better than the others."""
    other = small.copy(deep=True)
    other.score[1] = other.score[0] + 0.1 * other.score[1]
    return xr.concat([small, other], "language").assign_coords(language=["a", "b"])


CHUNKS = [
    {"metric": 1, "other_metric": -1, "language": 1, "resample": 50},
    {"metric": 2, "other_metric": 1, "language": -1, "resample": -1},
    {"metric": -1, "other_metric": -1, "language": -1, "resample": -1},
]


@pairwise(
    {
        "test": ["perm_test", "boot_test"],
        "alternative": ["two-sided", "less"],
        "within": [None, "other_metric", ("metric", "other_metric"), ["language", "metric"]],
        "most": [2**26, 2000],
        "chunks": CHUNKS,
    }
)
def test_lazy_samples_step_down_to_the_same_bits(monkeypatch, languages, test, alternative, within, most, chunks):
    settings = {"level": "input", "coefficient": "kendall", "alternative": alternative, "n_resamples": 150, "rng": 2}
    table = getattr(languages.meta, test)("m0", keep_samples=True, **settings)
    want = table.meta.adjust("maxt", within=within)
    assert len(np.unique(want.pvalue_adjusted)) > 3
    monkeypatch.setattr(jobs, "BYTES_AT_ONCE", most)
    got = table.chunk(chunks).meta.adjust("maxt", within=within)
    assert got.pvalue_adjusted.chunks is not None
    xr.testing.assert_identical(got.compute(), want)
    assert list(got.pvalue_adjusted.dims) == list(want.pvalue_adjusted.dims)
    samples = table.assign(samples=table.samples.transpose().chunk(chunks)).meta.adjust("maxt", within=within)
    np.testing.assert_array_equal(samples.pvalue_adjusted, want.pvalue_adjusted)


def test_lazy_samples_of_a_part_of_a_table_and_of_all_swaps(small):
    part = {"metric": ["m1", "m2"], "other": ["m2", "m3", "m1"], "level": "input", "resample": "system"}
    table = small.meta.perm_test("m0", keep_samples=True, **part)
    assert table.attrs["exact"] == 1
    want, got = (each.meta.adjust("maxt") for each in (table, table.chunk(metric=1, resample=7)))
    assert int(want.pvalue_adjusted.notnull().sum()) == 4
    xr.testing.assert_identical(got.compute(), want)


def test_each_test_of_a_two_sided_table_is_counted_once(small):
    """Of 9 cells 3 are tests: the draws of the others are not made."""
    table = small.meta.perm_test("m0", level="input", n_resamples=99, rng=1, keep_samples=True)
    asked = []

    def seen(block, block_info=None):
        asked.append(tuple(block_info[0]["chunk-location"][:2]))
        return block

    samples = table.samples.chunk(metric=1, other_metric=1, resample=-1)
    samples = samples.copy(data=samples.data.map_blocks(seen, dtype=float, meta=np.empty((0, 0, 0))))
    got = table.assign(samples=samples).meta.adjust("maxt")
    assert not asked
    np.testing.assert_array_equal(got.pvalue_adjusted, table.meta.adjust("maxt").pvalue_adjusted)
    assert sorted(asked) == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("within", [None, "other_metric"])
def test_samples_by_pair_need_not_be_laid_out(languages, alternative, within):
    """The draws of each pair once, in chunks of two pairs; a test of them turned is a test of the pair turned."""
    table = languages.meta.perm_test("m0", n_resamples=99, rng=2, keep_samples=True, alternative=alternative)
    want = table.meta.adjust("maxt", within=within)
    pairs = [("m1", "m2"), ("m1", "m3"), ("m2", "m3")]
    once = xr.concat([table.sel(metric=a, other_metric=b, drop=True) for a, b in pairs], "_pair")
    place = xr.full_like(table.difference, np.nan).transpose("language", ...)
    for (label, at), (a, b) in zip(np.ndindex(2, 3), pairs * 2, strict=True):
        number = 1 + 3 * label + at
        place[label].loc[{"metric": a, "other_metric": b}] = number
        place[label].loc[{"metric": b, "other_metric": a}] = -number
    samples, difference = (once[name].transpose("language", "_pair", ...) for name in ("samples", "difference"))
    got = families.stepped_down_lazily(
        table,
        within,
        samples.chunk(_pair=2, language=1, resample=-1),
        difference,
        corrections.Pool(alternative, False, False),
        place,
    )
    xr.testing.assert_identical(got.compute(), want)


def test_significance_says_whether_p_values_are_corrected(demo):
    """Two-sided, six metrics have 15 tests; one-sided 30, of which at .1 three are significant by chance."""
    both, one = (demo.meta.corr_test("human", alternative=alternative) for alternative in ("two-sided", "greater"))
    assert families.n_tests(both) == 15 and families.n_tests(one) == 30
    assert "15 tests at .05 without a correction: if nothing differed, 0.75 of" in both.meta.significant().correction
    assert (
        "30 tests at .10 without a correction: if nothing differed, 3 of" in one.meta.significant(alpha=0.1).correction
    )
    assert one.meta.adjust("holm").meta.significant().correction == "Holm over all tests"
    rows = both.meta.adjust("bonferroni", within="other_metric").meta.significant()
    assert rows.correction == "Bonferroni over the tests of each metric"
    few = demo.meta.corr_test("human", metric=["judge", "bleu", "rouge"])
    assert few.meta.significant().correction == "p-values not corrected"


def test_an_overview_says_whether_p_values_are_corrected(demo):
    test = demo.meta.corr_test("human")
    assert "p-values     not corrected" in repr(test.meta) and "15 tests at .05 without" in " ".join(
        repr(test.meta).split()
    )
    assert "p-values     Holm over all tests" in repr(test.meta.adjust("holm").meta)
    ranks = {"n_resamples": 99, "rng": 0}
    plain, corrected = (demo.meta.rank("human", method="permutation", adjust=each, **ranks) for each in (None, "bh"))
    assert "30 p-values not corrected; alpha" in plain.meta.conclusion()
    assert "Benjamini-Hochberg over all tests; alpha .05" in corrected.meta.conclusion()
    assert "  p-values     not corrected" in repr(plain.meta)


@pytest.mark.parametrize("corrected", [False, True])
def test_a_p_value_of_alpha_itself_is_significant(corrected):
    """In results that say so themselves, by the corrected p-values where there are such, and in `significant`."""
    alpha = 0.05
    p = np.array([alpha, np.nextafter(alpha, 1.0), np.nextafter(alpha, 0.0), np.nan])
    data = {"pvalue": ("metric", p[::-1] if corrected else p)}
    data |= {"pvalue_adjusted": ("metric", p)} if corrected else {}
    result = xr.Dataset(data, {"metric": list("abcd")}, {"analysis": "normality", "alternative": "two-sided"})
    decided = families.decided(result, alpha, ["pvalue"])
    assert decided["significant"].values.tolist() == [True, False, True, False]
    assert result.meta.significant(alpha=alpha).values.tolist() == [True, False, True, False]

"""Whether agreement differs between groups of systems or inputs: `compare_groups`."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset
from helpers import as_lazy
from scipy import stats
from statsmodels.stats.multitest import multipletests

import xsumstat  # noqa: F401
from xsumstat.simulation.model import Model

EFFECTS = (0.6, 0.4, 1.0)


def scores(seed=0, shape=(3, 12, 30), weak=()):
    """Gold, and metrics that resemble it; less on the inputs at some places."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(1, shape[1], 1)) + rng.normal(size=(1, *shape[1:]))
    made = quality + (1 + np.arange(shape[0]))[:, None, None] * 0.5 * rng.normal(size=shape)
    made[1:] += 0.4 * rng.normal(size=(shape[0] - 1, shape[1], 1))
    for at in weak:
        made[1:, :, at] = rng.normal(size=(shape[0] - 1, shape[1]))
    domain = np.array(["news", "chat", "web"])[np.arange(shape[2]) % 3]
    kinds = np.array(["large", "small"])[np.arange(shape[1]) % 2]
    return dataset(made).assign_coords(domain=("input", domain), kind_of=("system", kinds))


def quiet(ds, **asked):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ds.meta.compare_groups("m0", **asked)


def told(ds, **asked):
    """The answer, and what was said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ds.meta.compare_groups("m0", **asked)
    return found, "\n".join(str(each.message) for each in caught)


@pytest.mark.parametrize(
    ("by", "level"), [("domain", "system"), ("domain", "input"), ("kind_of", "global"), ("kind_of", "within_system")]
)
def test_correlations_are_those_of_ci_by_group_and_differences_theirs(by, level):
    ds = scores()
    found = quiet(ds, by=by, level=level)
    want = ds.meta.ci("m0", by=by, level=level)
    groups = found[by].values.tolist()
    assert groups == sorted(groups) and found.difference.dims == ("metric", by, f"other_{by}")
    np.testing.assert_array_equal(found.correlation, want.correlation.sel({by: groups}))
    apart = want.correlation.sel({by: groups})
    apart = apart.values[:, :, None] - apart.values[:, None, :]
    apart[:, range(len(groups)), range(len(groups))] = np.nan
    np.testing.assert_array_equal(found.difference, apart)
    # Either order of two groups is the same test.
    for name, turned, sign in (
        ("difference", "difference", -1),
        ("ci_low", "ci_high", -1),
        ("standard_error", "standard_error", 1),
        ("df", "df", 1),
        ("bias", "bias", -1),
        ("pvalue", "pvalue", 1),
        ("pvalue_adjusted", "pvalue_adjusted", 1),
        ("significant", "significant", 1),
    ):
        np.testing.assert_array_equal(found[name], sign * np.swapaxes(found[turned].values, 1, 2), err_msg=name)
    assert not found.significant.values[:, range(len(groups)), range(len(groups))].any()
    assert (found.n_groups == len(groups)).all() and found.attrs["scope"] == "systems like these"


def test_p_is_at_most_alpha_where_the_interval_excludes_0():
    ds = scores(1, weak=range(0, 30, 3))
    for level in ("system", "input", "global"):
        found = quiet(ds, by="domain", level=level)
        apart = (found.ci_low > 0) | (found.ci_high < 0)
        assert ((found.pvalue <= 0.05) == apart).all()
        news = found.sel(domain="news", other_domain=["chat", "web"])
        assert level == "system" or bool((news.pvalue < 0.05).all())


def test_groups_by_any_other_names_have_the_same_answers():
    ds = scores(2)
    names = {"news": "z", "chat": "b", "web": "a"}
    renamed = ds.assign_coords(domain=("input", [names[each] for each in ds.domain.values]))
    one, two = (quiet(each, by="domain", level="input") for each in (ds, renamed))
    order = [names[each] for each in one.domain.values]
    two = two.sel(domain=order, other_domain=order)
    for name in one.data_vars:
        tolerance = 1e-9 if name.startswith(("hetero", "df_")) else 1e-12
        np.testing.assert_allclose(two[name].astype(float), one[name].astype(float), rtol=tolerance, atol=tolerance)
    shuffled = ds.isel(input=np.random.default_rng(0).permutation(30))
    three = quiet(shuffled, by="domain", level="input")
    np.testing.assert_allclose(three.pvalue, one.pvalue, rtol=1e-9)
    np.testing.assert_allclose(three.heterogeneity, one.heterogeneity, rtol=1e-9)


def test_corrections_are_those_of_statsmodels():
    ds = scores(3, weak=range(0, 30, 3))
    found = quiet(ds, by="domain", level="input", adjust="holm")
    above = np.triu_indices(3, 1)
    p = found.pvalue.values[:, above[0], above[1]]
    want = multipletests(p.ravel(), method="holm")[1].reshape(p.shape)
    np.testing.assert_allclose(found.pvalue_adjusted.values[:, above[0], above[1]], want)
    of_all = multipletests(found.heterogeneity_pvalue.values, method="holm")[1]
    np.testing.assert_allclose(found.heterogeneity_pvalue_adjusted, of_all)
    again = found.meta.adjust("bh", within=("domain", "other_domain"))
    want = [multipletests(row, method="fdr_bh")[1] for row in p]
    np.testing.assert_allclose(again.pvalue_adjusted.values[:, above[0], above[1]], want)
    np.testing.assert_array_equal(again.heterogeneity_pvalue_adjusted, found.heterogeneity_pvalue)
    again = found.meta.adjust("bh")
    want = multipletests(found.heterogeneity_pvalue.values, method="fdr_bh")[1]
    np.testing.assert_allclose(again.heterogeneity_pvalue_adjusted, want)
    plain = quiet(ds, by="domain", level="input", adjust=None)
    assert "pvalue_adjusted" not in plain and "heterogeneity_pvalue_adjusted" not in plain
    np.testing.assert_array_equal(plain.significant, plain.pvalue <= 0.05)
    f = plain.heterogeneity
    np.testing.assert_allclose(plain.heterogeneity_pvalue, stats.f.sf(f, plain.df_numerator, plain.df_denominator))


def test_over_inputs_alone_variances_add():
    ds = scores(4)
    found = quiet(ds, by="domain", level="global", resample="input", metric="m1").squeeze("metric")
    alone = ds.meta.ci("m0", by="domain", level="global", resample="input", metric="m1").squeeze("metric")
    errors = alone.standard_error.sel(domain=found.domain).values
    want = np.hypot(errors[:, None], errors[None, :])
    np.fill_diagonal(want, np.nan)
    np.testing.assert_allclose(found.standard_error, want, rtol=1e-12)
    assert found.attrs["scope"] == "these systems"


def test_lazy_scores_further_dims_and_files(tmp_path):
    pytest.importorskip("dask")
    ds = xr.concat([scores(5), scores(6)], "quality").assign_coords(quality=["a", "b"])
    ds["score"][dict(quality=0, metric=1, system=3)] = np.nan
    ds["score"][dict(quality=1, input=4)] = np.nan
    asked = {"by": "domain", "level": "input", "metric": ["m1", "m2"]}
    gold = ds.score.sel(metric="m0", drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = ds.meta.compare_groups(gold, **asked)
        lazy = ds.chunk().meta.compare_groups(gold.chunk(), **asked)
        assert lazy.difference.chunks is not None and lazy.heterogeneity_pvalue_adjusted.chunks is not None
        xr.testing.assert_identical(lazy.compute(), as_lazy(got))
    assert got.difference.dims == ("metric", "domain", "other_domain", "quality")
    part = quiet(ds.isel(quality=0, drop=True), **asked)
    for name in ("difference", "ci_low", "pvalue", "heterogeneity"):
        np.testing.assert_array_equal(part[name], got[name].isel(quality=0))
    got.to_netcdf(tmp_path / "groups.nc")
    xr.testing.assert_equal(xr.load_dataset(tmp_path / "groups.nc"), got)
    assert "quality a: For systems and inputs like these" in got.meta.conclusion()


def test_a_group_without_an_answer_is_nan_and_said():
    ds = scores(7)
    kinds = ds.kind_of.values.astype(object)
    kinds[0] = "human"
    one = ds.assign_coords(kind_of=("system", kinds))
    found, texts = told(one, by="kind_of", level="input", metric="m1")
    assert "a group of kind_of has only 1 system: the result is for these systems only" in texts
    assert "undefined" in texts and "m1/human" in texts
    assert np.isnan(found.correlation.sel(kind_of="human")).all() and int(found.n_groups.item()) == 2
    assert np.isnan(found.difference.sel(kind_of="human")).all() and found.attrs["scope"] == "these systems"
    assert not np.isnan(found.heterogeneity_pvalue).any()
    assert "Undefined" not in found.meta.conclusion()
    # All scores of one group are missing: it stays, without a number.
    gone = ds.copy(deep=True)
    gone["score"][dict(input=ds.domain.values == "web")] = np.nan
    found, texts = told(gone, by="domain", level="input")
    assert "m1/web" in texts
    assert found.domain.values.tolist() == ["chat", "news", "web"] and (found.n_groups == 2).all()
    lazy = quiet(gone.chunk(), by="domain", level="input")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xr.testing.assert_equal(lazy.compute(), found)
    # One input says nothing of others.
    single = ds.assign_coords(domain=("input", ["web", *["news"] * 14, *["chat"] * 15]))
    found, texts = told(single, by="domain", level="input", metric="m1")
    assert "no jackknife interval" in texts and "m1/web" in texts
    assert np.isnan(found.ci_low.sel(domain="web")).all() and not np.isnan(found.correlation).any()
    assert int(found.n_groups.item()) == 2


def test_what_cannot_be_tested_is_said():
    ds = scores(8, shape=(2, 4, 30))
    many = ds.assign_coords(topic=("input", np.arange(30) % 6))
    found, texts = told(many, by="topic", level="input", resample="system")
    assert "no test of all groups, as they are too many for so few systems" in texts
    assert np.isnan(found.heterogeneity_pvalue).all() and (found.n_groups == 6).all()
    assert "No test of all groups could be made for m1." in found.meta.conclusion()
    unequal = scores(9).assign_coords(domain=("input", ["a"] * 6 + ["b"] * 6 + ["c"] * 18))
    assert "domain has groups of 6 to 18 inputs: means of few inputs are noisier" in told(unequal, by="domain")[1]
    assert "noisier" not in told(unequal, by="domain", level="input")[1]
    ranked = told(scores(9), by="domain", coefficient="kendall", resample="input")[1]
    assert "ranked system means over inputs alone is liberal" in ranked


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"by": "nothing"}, "by must be a coordinate that describes each system or input, got 'nothing'"),
        ({"by": "one"}, "by='one' must have 2 groups or more, got 'a'"),
        ({"by": "df"}, "by='df' is a name that results need; rename the coordinate"),
        ({"by": "domain", "adjust": "maxt"}, "adjust must be one of .*'holm'.*, got 'maxt'"),
        ({"by": "domain", "adjust": None, "within": "domain"}, "needs adjust="),
        ({"by": "domain", "within": "kind"}, "unknown dim in within 'kind'"),
        ({"by": "domain", "resample": "cell", "level": "global"}, "compare_groups leaves out systems and inputs"),
        ({"by": "domain", "resample": "rater"}, "resample"),
        ({"by": "domain", "cluster": "kind_of", "missing": "available"}, "cluster='kind_of' does not go with missing"),
        ({"by": "domain", "confidence_level": 95}, "confidence_level must lie strictly between 0 and 1"),
    ],
)
def test_what_is_not_allowed_is_named(asked, error):
    ds = scores().assign_coords(one=("input", ["a"] * 30), df=("input", ["a", "b"] * 15))
    with pytest.raises(ValueError, match=error):
        ds.meta.compare_groups("m0", **asked)


def test_clusters_are_left_out_whole():
    """Each input three times, as segments of one document would be: without `cluster=` far more is significant."""
    ds = scores(10, shape=(2, 8, 24))
    thrice = ds.isel(input=np.repeat(np.arange(24), 3)).assign_coords(input=np.arange(72))
    thrice = thrice.assign_coords(document=("input", np.repeat(np.arange(24), 3)))
    asked = {"by": "domain", "level": "input", "resample": "input"}
    plain, single, known = quiet(thrice, **asked), quiet(ds, **asked), quiet(thrice, cluster="document", **asked)
    np.testing.assert_allclose(known.standard_error, single.standard_error, rtol=1e-9)
    np.testing.assert_allclose(known.df, single.df, rtol=1e-9)
    np.testing.assert_allclose(known.heterogeneity, single.heterogeneity, rtol=1e-9)
    assert (plain.heterogeneity > 2.5 * known.heterogeneity).all()
    assert known.attrs["cluster"] == "document" and "clustered by document" in known.meta.conclusion()


def test_other_keywords_go_where_they_go_in_ci():
    ds = scores(11)
    covariate = ds.score.sel(metric="m2", drop=True).rename("covariate")
    for asked in ({"given": covariate}, {"coefficient": "acc_eq", "threshold": 0.5}, {"undefined": "zero"}):
        found = quiet(ds, by="domain", metric="m1", level="input", **asked)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = ds.meta.ci("m0", by="domain", metric="m1", level="input", method="jackknife", **asked)
        np.testing.assert_array_equal(found.correlation, want.correlation.sel(domain=found.domain))
        assert np.isfinite(found.heterogeneity_pvalue).all()
    own = quiet(ds, by="domain", metric="m1", missing="available")
    assert own.attrs["missing"] == "available" and np.isfinite(own.heterogeneity_pvalue).all()


def test_it_is_said_in_words():
    ds = scores(12, weak=range(0, 30, 3))
    found = quiet(ds, by="domain", level="input")
    said = found.meta.conclusion()
    first, *_ = said.split(". ")
    assert said.startswith("For systems and inputs like these, agreement with 'm0' differs between the 3 groups of ")
    values = found.correlation.sel(metric="m1").to_series()
    assert f"for m1 ({values.idxmax()} {values.max():.2f}".replace("0.", ".") in first and "F(2, " in said
    assert (
        "of 6 comparisons of two groups are significant (jackknife tests; "
        "Holm over all tests, intervals not corrected; alpha .05" in said
    )
    single = quiet(ds, by="domain", level="input", metric="m1").meta.conclusion()
    assert "2 of 3 pairs of groups differ significantly" in single and single.endswith(
        "chat above news and web above news."
    )
    assert "above news" in said
    text = found.meta.methods()
    assert "differs between the groups of domain" in text and "Krishnamoorthy & Yu, 2004" in text
    assert "@article{tipton2015small," in found.meta.methods(bibtex=True)
    table = found.meta.to_markdown()
    assert table.count("\n| m1 |") == 3 and "All groups of domain: m1 F(2, " in table
    frame = found.meta.to_frame(brief=True)
    assert len(frame) == 12 and {"domain", "other_domain", "difference", "pvalue"} <= set(frame.columns)
    # Results by group do not claim a difference.
    for each in (ds.meta.ci("m0", by="domain", level="input"), ds.meta.corr("m0", by="domain", level="input")):
        assert "differ" not in each.meta.conclusion() and "higher in" not in each.meta.conclusion()


def sets_without_a_difference(trials, shape, seed):
    """Sets of scores in three groups of inputs with the same correlation in the population, along a dim of trials."""
    rng = np.random.default_rng(seed)
    model = Model(((0.6,) * 3,), EFFECTS, EFFECTS, 0.3, None, 0.0)
    drawn = [np.concatenate([scores, gold[None]]) for scores, gold in (model.draw(shape, rng) for _ in range(trials))]
    dims = ("metric", "system", "input", "trial")
    ds = xr.Dataset({"score": (dims, np.stack(drawn, axis=-1))}, {"metric": ["m", "g"]})
    return ds.assign_coords(domain=("input", np.arange(shape[1]) % 3))


def false_findings(trials, level, coefficient, resample):
    ds = sets_without_a_difference(trials, (12, 45), 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ds.meta.compare_groups(
            "g", by="domain", level=level, coefficient=coefficient, resample=resample, adjust=None
        )
    p = found.heterogeneity_pvalue.values.ravel()
    assert not np.isnan(p).any()
    return int((p <= 0.05).sum())


def test_it_finds_little_where_nothing_is():
    """Of 60 sets at .05 more than 9 would have a chance of .001."""
    assert false_findings(60, "input", "pearson", "both") <= 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "coefficient", "resample"),
    [
        ("system", "pearson", "both"),
        ("input", "kendall", "both"),
        ("input", "pearson", "input"),
        ("global", "pearson", "both"),
    ],
)
def test_its_size_is_about_nominal(level, coefficient, resample):
    """Of 300 sets at .05 more than 30 would have a chance of .0001; and a test that finds nothing is none."""
    assert 2 <= false_findings(300, level, coefficient, resample) <= 30


@pytest.mark.parametrize(("largest", "said"), [(12, False), (13, True)])
def test_groups_twice_as_large_are_not_called_unequal(largest, said):
    labels = ["a"] * 6 + ["b"] * (24 - largest) + ["c"] * largest
    ds = scores(9).assign_coords(domain=("input", labels))
    assert ("means of few inputs are noisier" in told(ds, by="domain")[1]) == said


def test_one_group_with_an_answer_has_no_test_and_is_not_said_to_be_too_many():
    ds = scores(3)
    ds["score"] = ds.score.where((ds.metric != "m1") | (ds.domain == "news"))
    found, texts = told(ds, by="domain", level="input")
    assert found.n_groups.sel(metric="m1") == 1 and found.heterogeneity_pvalue.sel(metric="m1").isnull()
    assert "no test of all groups" not in texts and found.heterogeneity_pvalue.sel(metric="m2").notnull()


@pytest.mark.filterwarnings("ignore")
def test_parts_and_other_orders_of_two_groups_have_the_same_verdict():
    ds = xsumstat.load_dataset("demo")
    found = ds.meta.compare_groups("human", by="system_type", metric="judge", level="input", coefficient="kendall")
    first, second = found["system_type"].values.tolist()[:2]
    assert found.sizes["system_type"] == 2
    p = f"{found['pvalue_adjusted'].values[0, 0, 1]:.3f}".replace("0.", ".")
    for one in (found, found.sel(system_type=[second, first]), found.sel(other_system_type=[second])):
        said = one.meta.conclusion()
        assert "groups of system_type" in said and "No test" not in said
    for one in (found, found.sel(system_type=[second, first])):
        assert f"p = {p}" in one.meta.conclusion()

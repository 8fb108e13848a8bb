"""Few systems: what is answered over inputs alone, and what is said of intervals where there are none."""

import contextlib
import functools
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset, of_code, warns
from helpers import for_each


def few(systems, inputs=20, seed=0):
    rng = np.random.default_rng(seed)
    z = 0.3 * rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    return dataset(np.array([z, z + rng.normal(size=z.shape), z + 2 * rng.normal(size=z.shape)]))


def heard(ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return ask(), caught


def texts(ask):
    found, caught = heard(ask)
    return found, [str(each.message) for each in caught]


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
@pytest.mark.parametrize("keywords", [{}, {"metric": "m1", "other": "m2"}])
def test_intervals_over_inputs_alone_are_there_and_not_warned_of(level, keywords):
    got, said = texts(lambda: few(3).meta.ci("m0", level=level, resample="input", **keywords))
    assert np.isfinite(got.ci_low).all() and got.attrs["method"] == "jackknife" and said == []
    assert "jackknife" in got.meta.conclusion() and "jackknife" in got.meta.methods()


@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_fewer_than_five_systems_are_spoken_of_alone_by_default(level):
    for systems, resample in ((4, "input"), (5, "both")):
        ds = few(systems)
        for question in ("ci", "compare_metrics"):
            ask = functools.partial(getattr(ds.meta, question), "m0", level=level)
            got, said = texts(ask)
            assert got.attrs["resample"] == resample and said == []
            xr.testing.assert_identical(got, ask(resample=resample))
            whom = "these systems" if systems < 5 else "systems like these"
            assert got.attrs["scope"] == whom
        assert (f"these {systems} systems on inputs like these" in got.meta.conclusion()) == (systems < 5)


def ratings(ds):
    """Three raters' grades about the first metric."""
    noise = np.random.default_rng(1).normal(size=(3, ds.sizes["system"], ds.sizes["input"]))
    return xr.DataArray(np.rint(2 * ds.score.values[0] + noise), dims=("rater", "system", "input"))


DRAWS = {"n_resamples": 50, "rng": 0}
PAIR = {"metric": "m1", "other": "m2", "level": "input", **DRAWS}
BY_NUMBER = {
    "boot_test": lambda ds, **how: ds.meta.boot_test("m0", level="input", **DRAWS, **how),
    "equivalence": lambda ds, **how: ds.meta.equivalence("m0", margin=0.3, **PAIR, **how),
    "equivalence, jackknife": lambda ds, **how: ds.meta.equivalence(
        "m0", margin=0.3, method="jackknife", **PAIR, **how
    ),
    "margin_sensitivity": lambda ds, **how: ds.meta.margin_sensitivity("m0", margins=[0.3], **PAIR, **how),
    "dominance": lambda ds, **how: ds.meta.dominance("m0", level="input", **DRAWS, **how),
    "top_k_corr": lambda ds, **how: ds.meta.top_k_corr("m0", k=ds.sizes["system"], level="input", **how),
    "close_corr": lambda ds, **how: ds.meta.close_corr("m0", gap=1.0, **DRAWS, **how),
    "agreement": lambda ds, **how: ds.meta.agreement(ratings(ds), **how),
}


@for_each("question", BY_NUMBER)
def test_what_is_random_goes_by_the_number_of_systems_by_default(question):
    """It is written down, no other warning comes of it, and it is the answer for which one can ask."""
    ask = BY_NUMBER[question]
    for systems, resample, whom in ((3, "input", "these systems"), (5, "both", "systems like these")):
        ds = few(systems, 40)
        found, said = texts(lambda: ask(ds))  # noqa: B023
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            xr.testing.assert_identical(found, ask(ds, resample=resample))
        assert (found.attrs["resample"], found.attrs["scope"]) == (resample, whom)
        assert said == [] or question == "close_corr" and systems == 3
    with pytest.raises(ValueError, match="resample must be 'auto', 'both' or names among"):
        ask(few(3), resample="all")


def test_systems_without_a_score_do_not_count():
    ds = few(5, 40)
    ds = ds.assign(score=ds.score.where(ds.system != "s2"))
    for question in ("boot_test", "dominance"):
        with warns("labels_without_cells"):
            assert BY_NUMBER[question](ds).attrs["scope"] == "these systems"
    rated = ratings(ds)
    assert ds.meta.agreement(rated).attrs["resample"] == "input"


@pytest.mark.ignore_codes("few_systems", "resamples_undefined")
def test_one_small_k_decides_for_all():
    ds = few(8, 40)
    with pytest.warns(UserWarning, match="k = 4 is few systems: the result is for these systems only"):
        found = ds.meta.top_k_corr("m0", k=[8, 4], level="input")
    assert found.attrs["scope"] == "these systems"
    alone = ds.meta.ci("m0", level="input", resample="input")
    np.testing.assert_array_equal(found.ci_low.sel(k=8), alone.ci_low)
    kept, said = texts(lambda: ds.meta.top_k_corr("m0", k=[8, 4], level="input", resample="both"))
    assert kept.attrs["scope"] == "systems like these" and not any("for these systems only" in text for text in said)
    drawn = ds.meta.top_k_corr("m0", k=[8, 4], level="input", interval="studentized", **DRAWS)
    assert drawn.attrs["resample"] == "both"


@pytest.mark.ignore_codes("few_systems")
def test_the_jackknife_of_close_systems_needs_systems_that_are_random():
    assert few(4).meta.close_corr("m0", gap=1.0, method="jackknife").attrs["resample"] == "both"


def test_one_system_is_enough_where_the_level_needs_no_two():
    for level in ("global", "within_system"):
        assert np.isfinite(few(1).meta.ci("m0", level=level, resample="input").ci_low).all()
    with pytest.raises(ValueError, match="level='input'"):
        few(1).meta.ci("m0", level="input", resample="input")


@pytest.mark.parametrize("question", ["ci", "compare_metrics"])
def test_two_systems_that_differ_on_few_inputs_are_told(question):
    ds = few(2, 60)
    passed = ds.assign(score=(ds.score > 0).astype(float))
    apart = np.abs(passed.score.isel(system=0) - passed.score.isel(system=1)) > 0
    least = int((apart & apart.sel(metric="m0")).sel(metric=["m1", "m2"]).sum("input").min())
    said = texts(lambda: getattr(passed.meta, question)("m0", level="input"))[1]
    assert least < 20 and any(f"differ by a metric and by the gold on only {least} input" in text for text in said)
    for level, part in (("global", passed), ("input", ds), ("input", few(3, 10))):
        assert not of_code(heard(lambda: getattr(part.meta, question)("m0", level=level))[1], "few_inputs")  # noqa: B023


def test_few_systems_are_said_where_new_ones_are_spoken_of():
    text = "only 3 systems: results are very uncertain; evaluate more systems"
    ds = few(3)
    for level, resample, wanted in (
        ("input", "input", False),
        ("input", "both", True),
        ("input", "system", True),
        ("system", "input", True),
    ):
        said = of_code(
            heard(lambda at=level, over=resample: ds.meta.ci("m0", level=at, resample=over))[1], "few_systems"
        )
        assert len(said) == wanted and all(each.startswith(text) for each in said)
    chunked = ds.chunk() if pytest.importorskip("dask") else ds

    def is_said(ask):
        return bool(of_code(heard(ask)[1], "few_systems"))

    assert not is_said(lambda: chunked.meta.ci("m0", level="input", resample="input").compute())
    asked = {"metric": "m1", "other": "m2", "level": "input", "n_resamples": 20, "rng": 0}
    assert not is_said(lambda: ds.meta.perm_test("m0", resample="input", **asked))
    assert not is_said(lambda: ds.meta.perm_test("m0", **asked))  # swaps of cells are of these systems
    assert is_said(lambda: ds.meta.perm_test("m0", resample="system", **asked))


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_said_of_intervals_where_there_are_none():
    got = few(3).meta.ci("m0", level="input", resample="both")
    assert np.isnan(got.ci_low).all()
    said = got.meta.conclusion()
    assert "There is no interval." in said and "jackknife" not in said and "verlapping" not in said
    assert "interval" not in got.meta.methods()


@pytest.mark.parametrize("how", [{}, {"resample": "input"}, {"method": "bootstrap", "n_resamples": 99, "rng": 0}])
@pytest.mark.parametrize("metrics", [{}, {"metric": "m1", "other": "m2"}])
def test_two_systems_have_no_interval_of_their_order(how, metrics):
    """Any two points lie on a line, so each estimate is 1 or -1, and a difference 0 or 2."""
    ds = few(2)
    (got, said), name = texts(lambda: ds.meta.ci("m0", **how, **metrics)), "difference" if metrics else "correlation"
    rising = np.sign(np.diff(ds.score.mean("input"), axis=1)).ravel()
    want = rising[1:] * rising[0]
    np.testing.assert_allclose(got[name].values.ravel(), [want[0] - want[1]] if metrics else want)
    assert np.isnan([got.ci_low, got.ci_high, got.standard_error]).all()
    assert not got.get("fell_back", xr.DataArray(False)).any()
    text = "with 2 systems every correlation is 1 or -1, so there is no interval; use level='global' or 'input'"
    assert sum(text in each for each in said) == 1 and not any("for 'm1'" in each for each in said)
    assert got.meta.conclusion().startswith("With 2 systems every correlation is 1 or -1 and tells nothing about")
    assert "0" not in got.meta.conclusion() and "No interval" not in got.meta.conclusion()


@pytest.mark.filterwarnings("ignore")
def test_two_systems_are_no_evidence_in_other_answers_either():
    ds = few(2)
    for ask in (ds.meta.corr, ds.meta.rank, ds.meta.compare_metrics, ds.meta.corr_test):
        want = "With 2 systems every correlation is 1 or -1 and tells nothing about the metrics. Use level='global' or "
        assert ask("m0").meta.conclusion() == f"{want}'input', or rate more systems."
    accuracy = ds.meta.ci("m0", coefficient="pairwise_accuracy")
    assert "every accuracy is 1 or 0" in accuracy.meta.conclusion()
    for other in ({"coefficient": "icc"}, {"coefficient": "spa"}, {"level": "global"}):  # these take any value
        got = ds.meta.ci("m0", method="bootstrap", n_resamples=99, rng=0, **other)
        assert "With 2 systems" not in got.meta.conclusion() and got.ci_low.notnull().all()


def test_three_systems_are_too_few_for_a_formula():
    got, said = texts(lambda: few(3).meta.corr_test("m0"))
    assert np.isfinite(got.difference.values[0, 1]) and np.isnan(got.pvalue).all()
    assert "no p-value: method='williams' needs 4 systems, got 3; use compare_metrics(level='input')" in said
    assert not any("undefined difference" in each for each in said)
    assert got.meta.conclusion().startswith("No test could be made: it needs 4 systems, and there are 3; use compare_")
    got, said = texts(lambda: few(3).meta.ci("m0", method="fisher"))
    assert np.isnan(got.ci_low).all() and "no Fisher interval, which needs 4 systems, for 'm1', 'm2'" in said
    assert "There is no interval: it needs 4 systems, and there are 3." in got.meta.conclusion()


@pytest.mark.ignore_codes("few_systems")
@pytest.mark.parametrize("systems", [2, 3])
def test_a_difference_of_the_means_of_two_systems_has_no_limits(demo, systems):
    """Leaving out an input changes neither correlation of ±1, which is no certainty; three systems have limits."""
    ds = demo.sel(metric=["judge", "bleu", "human"]).isel(system=[0, 5, 7][:systems])
    how = {"metric": "judge", "other": "bleu"}
    none = "no jackknife interval, which needs at least 3 systems .2 here., and scores"
    calls = [
        lambda: ds.meta.compare_metrics("human", **how),
        lambda: ds.meta.equivalence("human", **how, margin=0.1, method="jackknife"),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match=none) if systems == 2 else contextlib.nullcontext():
            found = call()
        assert np.isfinite(found.difference).all()
        for name in ("ci_low", "ci_high", "pvalue"):
            assert bool(found[name].isnull().all()) == (systems == 2), name


@for_each("how", [{}, {"method": "bootstrap", "n_resamples": 50, "rng": 0}, {"other": "m2", "metric": "m1"}])
def test_of_lazy_scores_the_systems_that_are_used_decide(how):
    """Of three systems the gold describes two: each limit is that of two systems in memory, or of none."""
    ds = few(3)
    ds.score[0, 1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        wanted = ds.meta.ci("m0", resample="input", **how)
        got = ds.chunk(metric=1).meta.ci("m0", resample="input", **how).compute()
    xr.testing.assert_identical(got.drop_attrs(), wanted.drop_attrs())
    assert np.isnan(got.ci_low).any()


@pytest.mark.filterwarnings("ignore")
def test_one_input_that_is_used_cannot_be_drawn_from_lazy_scores_either():
    ds = few(6, inputs=3)
    ds.score[0, :, 1:] = np.nan
    for scores in (ds, ds.chunk(metric=1)):
        for level in ("system", "global"):
            with pytest.raises(ValueError, match="resample='input' has only one label to draw"):
                scores.meta.ci("m0", level=level, resample="input").compute()
        assert np.isfinite(scores.meta.ci("m0", resample="both").compute().standard_error).all()


@pytest.mark.parametrize("ask", [lambda m: m.ci(level="input"), lambda m: m.compare_metrics(level="input")])
@pytest.mark.parametrize(("n", "told"), [(2, True), (4, True), (5, False)])
def test_few_random_inputs_are_told(demo, ask, n, told):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(demo.isel(input=slice(0, n)).meta)
    said = [str(each.message) for each in caught if getattr(each.message, "code", "") == "few_inputs"]
    want = f"only {n} inputs: an answer for inputs like these is uncertain, and its intervals can be too narrow"
    assert said == ([want] if told else [])


def test_few_fixed_inputs_are_not_told(demo):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        few = demo.isel(input=slice(0, 3)).meta
        few.ci(level="input", resample="system")
        few.ci(level="system")
        few.perm_test(level="input", n_resamples=9)
    assert not [each for each in caught if getattr(each.message, "code", "") == "few_inputs"]

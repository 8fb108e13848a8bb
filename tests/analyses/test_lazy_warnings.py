"""Warnings and errors about values: lazy scores give the same as those at hand, when they are computed."""

import time
import warnings

import dask
import dask.array
import helpers
import numpy as np
import pytest
import xarray as xr
from conftest import dataset, warns

from xsumstat.core.caveats import CODES, MetaEvaluationWarning
from xsumstat.dataset import value_checks
from xsumstat.resampling import tasks


def plain():
    """Gold g and four metrics on eight systems and nine inputs."""
    rng = np.random.default_rng(3)
    quality = rng.normal(size=(8, 9)) + rng.normal(size=(8, 1))
    ds = dataset(np.concatenate([quality[None], quality + rng.normal(size=(4, 8, 9))]))
    return ds.assign_coords(metric=list("gabcd"), kind=("system", list("xxxxyyyy"))).assign_attrs(gold="g")


def changed(change):
    ds = plain().copy(deep=True)
    change(ds.score)
    return ds


def gaps(score):
    rng = np.random.default_rng(5)
    score[:] = score.where(rng.random(score.shape) > 0.15)
    score.loc["b", :, "i3"] = np.nan
    score.loc["c", "s2"] = np.nan


def constant(score):
    score.loc["b"] = 1.0


def empty(score):
    score.loc["a":, "s7"] = np.nan
    score.loc["g", :, "i8"] = np.nan
    score.loc["a", "s7", "i8"] = 3.0  # where nothing is used
    score.loc["b", :"s6", :"i7"] = 1.0


def leaking(score):
    score.loc["c"] = score.loc["g"] * (1 + 1e-15)


def tied(score):
    score[:] = np.sign(score)


def languages():
    """Two languages: the gold is constant in one, a metric has no score in one, and another is constant in one."""
    rng = np.random.default_rng(4)
    one, two = plain(), plain()
    two.score[:] += rng.normal(size=two.score.shape)
    both = xr.concat([one, two], "language").assign_coords(language=["en", "de"])
    both = both.assign_attrs(gold="g", kind=None)
    both.score.loc["de", "a"] = np.nan
    both.score.loc["de", "b"] = 2.0
    both.score.loc["en", "c", "s1"] = np.nan
    return both


def flat_gold():
    ds = languages()
    ds.score.loc["de", "g"] = 1.0
    return ds


def rated():
    """Gold with raters, one of whom is a metric, and ratings beside of whose raters one is another metric."""
    ds = plain()
    rng = np.random.default_rng(6)
    ratings = xr.concat([ds.score.sel(metric=label, drop=True) for label in "ab"], "rater")
    other = ds.score.sel(metric="d", drop=True)
    noise = other.copy(data=rng.normal(size=other.shape))
    return ds.assign(human=ratings.assign_coords(rater=["r1", "r2"]), rating=xr.concat([noise, other], "rater"))


SCORES = {
    "plain": plain,
    "gaps": lambda: changed(gaps),
    "constant": lambda: changed(constant),
    "empty": lambda: changed(empty),
    "leaking": lambda: changed(leaking),
    "tied": lambda: changed(tied),
    "few": lambda: plain().isel(system=slice(3)),
    "languages": languages,
    "flat gold": flat_gold,
}
DRAWS = {"n_resamples": 99, "rng": 1}
ASKED = {
    "adjusted": lambda m: m.perm_test(adjust="holm", n_resamples=19, rng=1),
    "close_corr": lambda m: m.close_corr(gap=[0.5, 2.0]),
    "corr": lambda m: m.corr(),
    "corr by input": lambda m: m.corr(level="input", coefficient="kendall"),
    "corr of groups": lambda m: m.corr(by="kind"),
    "available": lambda m: m.corr(missing="available"),
    "given": lambda m: m.corr(given="d"),
    "given, drawn": lambda m: m.ci(given="d", level="input", method="bootstrap", **DRAWS),
    "given, swaps": lambda m: m.perm_test(given="d", level="input", **DRAWS),
    "bias": lambda m: m.bias(given="d", metric=["a", "b"]),
    "metric_corr": lambda m: m.metric_corr(level="input"),
    "ci": lambda m: m.ci(level="input"),
    "fisher": lambda m: m.ci(method="fisher"),
    "drawn": lambda m: m.ci(method="bootstrap", level="input", coefficient="kendall", **DRAWS),
    "accuracy": lambda m: m.ci(method="bootstrap", coefficient="pairwise_accuracy", **DRAWS),
    "bca": lambda m: m.ci(interval="bca", **DRAWS),
    "differences": lambda m: m.ci(other=["a", "b", "c", "d"]),
    "perm_test": lambda m: m.perm_test(level="input", coefficient="kendall", **DRAWS),
    "computed": lambda m: m.perm_test(level="input", coefficient="pearson", method="analytic", undefined="zero"),
    "boot_test": lambda m: m.boot_test(**DRAWS),
    "corr_test": lambda m: m.corr_test(),
    "equivalence": lambda m: m.equivalence(margin=0.1, other=["a", "b"], **DRAWS),
    "jackknifed": lambda m: m.equivalence(margin=0.1, other=["a", "b"], method="jackknife"),
    "formula": lambda m: m.equivalence(margin=0.1, other=["a", "b"], method="tost_analytic"),
    "dominance": lambda m: m.dominance(**DRAWS),
    "metric_ci": lambda m: m.metric_ci(metric=list("abcd")),
    "rank": lambda m: m.rank(**DRAWS),
    "verdicts": lambda m: m.discriminative_agreement(**DRAWS),
    "compare_systems": lambda m: m.compare_systems(metric=["a", "c"]),
    "normality": lambda m: m.normality(),
    "above": lambda m: m.scoring_range(above=0.5),
    "baseline": lambda m: m.scoring_range(baseline="s2", metrics="c"),
}


def said(call):
    """The texts of the warnings, or of the error after them, and what was found."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
        except ValueError as error:
            found = str(error)
    assert all(issubclass(each.category, MetaEvaluationWarning) and each.message.code in CODES for each in caught)
    return [str(each.message) for each in caught], found


def not_yet(*args, **kwargs):
    raise AssertionError("something was computed early")


def lazily(ask, ds):
    """What is said when a lazy result is asked for, and when it is computed."""
    with dask.config.set(scheduler=not_yet):
        at_once, result = said(lambda: ask(ds.chunk().assign_coords(ds.coords).meta))
    if isinstance(result, str):
        return at_once, result
    with dask.config.set(scheduler="threads"):
        later, found = said(result.compute)
    assert any(each.chunks is not None for each in result.variables.values())
    return at_once + later, found


def check(asked, ds):
    ask = ASKED[asked]
    texts, expected = said(lambda: ask(ds.meta))
    got, found = lazily(ask, ds)
    if isinstance(expected, str):
        assert found == expected
        return texts
    assert sorted(got) == sorted(texts)
    if asked == "rank":  # lazy ones keep their order
        expected = expected.sel(metric=found["metric"])
    unknown = ("dropped_", "constant_inputs", "single_outputs", "unpaired_outputs")  # before scores are computed
    left_out = [name for name in expected.attrs if name.startswith(unknown)]
    expected.attrs = {name: value for name, value in expected.attrs.items() if name not in left_out}
    sizes = {name: found.attrs[name] for name in ("n_systems", "n_inputs") if name in found.attrs}  # of all labels
    assert set(sizes) == {"n_systems", "n_inputs"} & set(expected.attrs)
    assert all(size >= expected.attrs[name] for name, size in sizes.items())
    expected.attrs |= sizes
    if asked == "verdicts":  # they keep systems that cannot be used
        found = found.sel(system=expected["system"], other_system=expected["other_system"])
    xr.testing.assert_identical(found, expected)
    return texts


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked, scores",
    [
        (asked, list(SCORES)[(at + step) % len(SCORES)])
        for at, asked in enumerate(ASKED)
        for step in range(0, len(SCORES), 3)
    ],
)
def test_lazy_scores_say_what_scores_at_hand_say(asked, scores):
    ds = SCORES[scores]()
    if asked == "corr of groups" and "kind" not in ds.coords:
        pytest.skip("no groups")
    check(asked, ds)


def odd():
    """Gaps, a constant metric, one that is the gold, and a system and an input that cannot be used."""
    ds = changed(gaps)
    ds.score.loc["d"] = ds.score.loc["g"]
    ds.score.loc["c"] = ds.score.loc["c"] * 0
    empty_cells = {"metric": list("abcd"), "system": "s7"}
    ds.score.loc[empty_cells] = np.nan
    ds.score.loc["g", :, "i8"] = np.nan
    return ds


QUICK = ("corr", "corr of groups", "metric_corr", "ci", "perm_test", "equivalence", "rank", "verdicts", "baseline")


@pytest.mark.parametrize("asked", QUICK)
def test_odd_lazy_scores_say_what_they_say_at_hand(asked):
    assert len(check(asked, odd())) >= 1


@pytest.mark.parametrize("gold", ["g", "human"])
def test_ratings_beside_lazy_scores_are_looked_at(gold):
    texts = said(lambda: rated().meta.corr(gold))[0]
    assert len([text for text in texts if " equals " in text]) == 1
    got, _ = lazily(lambda m: m.corr(gold), rated())
    assert sorted(got) == sorted(texts)


@pytest.mark.parametrize("by_draws", [False, True])
def test_pooled_lazy_scores_say_of_which_label_they_speak(by_draws):
    ds = languages()
    ds.score.loc["de", :, "s7"] = np.nan  # padding
    how = {"method": "bootstrap", **DRAWS} if by_draws else {}
    ask = lambda m: m.ci(metric=["c", "d"], coefficient="pairwise_accuracy", pool="language", **how)  # noqa: E731
    texts, expected = said(lambda: ask(ds.meta))
    got, found = lazily(ask, ds)
    assert sorted(got) == sorted(texts) and any(text.startswith("language='en': ") for text in texts)
    xr.testing.assert_identical(found, helpers.as_lazy(expected))


def test_each_number_of_best_systems_says_once_what_others_say():
    ds, ask = odd().isel(system=slice(7)), lambda m: m.top_k_corr(k=[6, 4, 3])
    texts, expected = said(lambda: ask(ds.meta))
    at_once, result = said(lambda: ask(ds.chunk().assign_coords(ds.coords).meta))  # it computes which are best
    later, found = said(result.compute)
    assert sorted(at_once + later) == sorted(texts) and any("at k = 6, 4, 3" in text for text in texts)
    assert xr.testing.assert_identical(found.drop_attrs(deep=False), expected.drop_attrs(deep=False)) is None


def test_warnings_point_at_the_line_that_asked_and_are_given_each_time():
    result = changed(constant).chunk().meta.corr()
    for _ in range(2):
        with warns("constant") as caught:
            result.compute()
        assert [each.filename for each in caught] == [__file__]


def test_where_warnings_are_errors_nothing_is_computed_without_them():
    result = changed(constant).chunk().meta.corr()
    for name in ("correlation", "n_undefined"):
        with pytest.raises(UserWarning) as raised:
            result[name].compute()
        assert raised.value.code == "constant"


@pytest.mark.parametrize("asked", ["corr", "ci", "perm_test", "metric_corr"])
def test_the_checks_read_no_scores_that_the_result_does_not_read(monkeypatch, asked):
    ds, read = changed(gaps), []

    def block(values, number):
        read.append(int(number.item()))
        return values

    whole = ds.score.chunk(metric=1)
    numbers = dask.array.from_array(np.arange(5).reshape(-1, 1, 1), chunks=1)
    counted = dask.array.map_blocks(block, whole.data, numbers, dtype=float, meta=np.empty((0, 0, 0)))
    counted = ds.assign(score=whole.copy(data=counted))
    with_checks = ASKED[asked](counted.meta)
    assert not read
    said(with_checks.compute)
    known = sorted(read)
    read.clear()
    monkeypatch.setattr(value_checks.Checks, "attached", lambda self, values: values)
    ASKED[asked](counted.meta).compute()
    assert sorted(read) == known


def test_scores_too_many_to_hold_are_looked_at_one_metric_at_a_time(monkeypatch):
    """The same is said where each task reads its own metric."""
    monkeypatch.setattr(tasks, "SHARED", 0)
    for asked in ("corr", "perm_test", "metric_corr", "compare_systems"):
        check(asked, odd())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster's own
def test_warnings_of_a_worker_reach_its_client():
    distributed = pytest.importorskip("distributed")
    ds = changed(constant)
    texts = said(lambda: ds.meta.corr())[0]
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        ds.chunk().meta.corr().compute()
        for _ in range(100):
            heard = [str(each.message) for each in caught if str(each.message) in texts]
            if heard:
                break
            time.sleep(0.1)
    assert heard == texts

"""Short ways round xarray: they give what xarray gives, and are taken where they do, and nowhere else."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers import by_turns, for_each

from xsumstat.analyses import correlation, groups
from xsumstat.dataset import chunking


def scored(gap=False, constant=False):
    """Three metrics of five systems on eight inputs, the last the human scores, and a covariate."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=(5, 8)) + np.arange(5)[:, None]
    score = np.stack([human + rng.normal(size=human.shape), rng.normal(size=human.shape), np.round(human)])
    if gap:
        score[0, 1, 2] = score[2, 3, 4] = np.nan
    if constant:
        score[0, :, 1:4] = 2.0
    coords = {"metric": ["judge", "other", "human"], "system": list("abcde"), "input": np.arange(8)}
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, coords)
    return ds.assign(length=(("system", "input"), rng.integers(5, 90, (5, 8)).astype(float)))


def described(ds):
    ds["metric"].attrs["source"] = "a table"
    return ds


def with_language(ds):
    second = ds.score.copy(data=ds.score.values[:, ::-1] ** 2)
    both = xr.concat([ds.score, second], pd.Index(["en", "de"], name="language"))
    return both.to_dataset(name="score").assign(length=ds.length)


def as_array(ds, **how):
    """The human scores apart from the metrics."""
    return ds.sel(metric=["judge", "other"]), ds.score.sel(metric="human", drop=True).assign_coords(how)


def lazy_in_part(scores=False, human=False):
    ds, gold = as_array(scored())
    return ds.chunk(system=2) if scores else ds, gold.chunk(system=2) if human else gold


def transposed(ds):
    apart, human = as_array(ds)
    return apart, human.transpose("input", "system")


def human_by_language(ds):
    apart, human = as_array(ds)
    return apart, xr.concat([human, human.copy(data=human.values[::-1])], pd.Index(["en", "de"], name="language"))


# What is asked: a Dataset and its human scores, and whether it takes the short way.
KINDS = {
    "plain": (lambda: (scored(), "human"), True),
    "gaps": (lambda: (scored(gap=True), "human"), True),
    "undefined": (lambda: (scored(constant=True), "human"), True),
    "one metric": (lambda: (scored().sel(metric=["judge", "human"]), "human"), True),
    "dims in another order": (lambda: (scored().transpose("input", "metric", "system"), "human"), True),
    "labels of metrics": (lambda: (scored().assign_coords(family=("metric", ["llm", "n", "h"])), "human"), True),
    "human scores as an array": (lambda: as_array(scored()), True),
    "described metrics": (lambda: (described(scored()), "human"), False),
    "one label for all": (lambda: (scored().assign_coords(task="news"), "human"), False),
    "one label for the human scores": (lambda: as_array(scored(), task="news"), True),
    "lazy": (lambda: (scored().chunk(system=2), "human"), False),
    "lazy scores of metrics": (lambda: lazy_in_part(scores=True), False),
    "lazy human scores": (lambda: lazy_in_part(human=True), False),
    "a further dim": (lambda: (with_language(scored()), "human"), False),
    "a further dim of the metrics": (lambda: (as_array(with_language(scored()))[0], as_array(scored())[1]), False),
    "human scores in another order of dims": (lambda: transposed(scored()), True),
    "a further dim of the human scores": (lambda: human_by_language(scored()), False),
}
ASKED = [
    *({"level": level, "coefficient": name} for level in ("system", "input") for name in ("pearson", "kendall")),
    {"level": "global", "coefficient": "spearman"},
    {"level": "within_system", "coefficient": "pearson"},
    {"level": "input", "coefficient": "pearson", "undefined": "zero"},
    {"level": "system", "coefficient": "pearson", "missing": "available"},
    {"level": "input", "coefficient": "acc_eq"},
    {"level": "input", "coefficient": "acc_eq", "threshold": 0.5},
    {"level": "global", "coefficient": "pearson", "given": "length"},
]


def same(one, other):
    """Identical, with the dtypes and the chunks of each variable and the attrs of each coordinate."""
    xr.testing.assert_identical(one.compute(), other.compute())
    for name in one.variables:
        assert one[name].dtype == other[name].dtype and one[name].chunks == other[name].chunks, name
        assert one[name].attrs == other[name].attrs, name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", by_turns(KINDS))
def test_corr_at_once_is_corr_for_every_label(monkeypatch, kind):
    make, short = KINDS[kind]
    taken = []
    own = correlation._at_once
    monkeypatch.setattr(correlation, "_at_once", lambda *given: taken.append(kind) or own(*given))

    @for_each("how", ASKED)
    def ask(how):
        ds, human = make()
        found = ds.meta.corr(human, **how)
        assert bool(taken) is short
        taken.clear()
        with monkeypatch.context() as patched:
            patched.setattr(correlation, "_plain", lambda *_: False)
            slow = ds.meta.corr(human, **how)
        assert not taken
        same(found, slow)
        assert chunking.is_lazy(found.correlation) is ("lazy" in kind)

    ask()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["described metrics", "lazy", *(each for each in KINDS if "further dim" in each)])
def test_corr_for_every_label_keeps_what_the_short_way_would_lose(kind):
    """Each label as if it were asked alone."""
    ds, human = KINDS[kind][0]()
    found = ds.meta.corr(human)
    if "language" in found.dims:
        for at in ("en", "de"):
            mine, own = (each.sel(language=at) if "language" in each.dims else each for each in (ds, found))
            people = human if isinstance(human, str) or "language" not in human.dims else human.sel(language=at)
            values = mine.drop_vars("language", errors="ignore").meta.corr(people).correlation.values
            np.testing.assert_array_equal(own.correlation.values, values)
        assert set(found.correlation.dims) == {"metric", "language"}
    else:
        plain, people = KINDS["plain"][0]()
        np.testing.assert_array_equal(found.correlation.values, plain.meta.corr(people).correlation.values)
    assert found["metric"].attrs == {} or kind != "described metrics"


def test_no_array_of_other_dims_takes_the_short_way():
    """Also those that no question hands it."""
    cells = xr.DataArray(np.ones((2, 3)), dims=("system", "input"))
    scores = cells.expand_dims(metric=["a"])
    given = cells.expand_dims(_given=2)
    assert correlation._plain(scores, cells) and correlation._plain(scores, given)
    for x, z in [
        (scores.transpose("system", "metric", "input"), cells),
        (scores.transpose("metric", "input", "system"), cells),
        (scores[0], cells),
        (scores, cells.T),
        (scores, cells[0]),
        (scores, cells[:, 0]),
        (scores, given.transpose("system", "_given", "input")),
        (scores, given.transpose("system", "input", "_given")),
        (scores, cells.expand_dims(language=["en"])),
        (scores.expand_dims(language=["en"]), cells),
    ]:
        assert not correlation._plain(x, z), (x.dims, z.dims)


# --- Results side by side ---


def result(values, *, metrics=("a", "b"), dims=("metric", "system"), **more):
    coords = {"metric": list(metrics), "system": ["x", "y", "z"]}
    first = xr.Variable(dims, np.asarray(values), {"long_name": "correlation"})
    counted = ("metric", np.arange(len(metrics)))
    return xr.Dataset({"correlation": first, "n": counted}, coords, {"analysis": "corr"}).assign(more)


ONE = np.arange(6.0).reshape(2, 3)


def of(first, *others):
    return [first, *others]


# Results of groups, and whether they are alike.
JOINED = {
    "alike": (lambda: of(result(ONE), result(-ONE), result(ONE + 1)), True),
    "one": (lambda: of(result(ONE)), True),
    "labels of metrics": (
        lambda: [result(at * ONE).assign_coords(kind=("metric", ["llm", f"{at}"])) for at in (1, 2)],
        True,
    ),
    "words of other lengths, as objects": (
        lambda: [result(ONE).assign(said=("metric", np.array(each, object))) for each in (["a", "b"], ["abc", "d"])],
        True,
    ),
    "no labels": (lambda: [result(at * ONE).drop_vars("system") for at in (1, 2)], True),
    "other dtypes": (lambda: of(result(ONE), result(np.arange(6).reshape(2, 3))), False),
    "numbers and words": (
        lambda: [result(ONE).assign(said=("metric", np.array(each))) for each in ([1.5, 2.5], ["a", "b"])],
        False,
    ),
    "truths and numbers": (
        lambda: [result(ONE).assign(said=("metric", np.array(each))) for each in ([True, False], [1.5, 2.5])],
        False,
    ),
    "other metrics": (lambda: of(result(ONE), result(ONE + 1, metrics=("a", "c"))), False),
    "fewer metrics": (lambda: of(result(ONE), result(ONE[:1], metrics=("a",))), False),
    "metrics in another order": (lambda: of(result(ONE), result(ONE + 1, metrics=("b", "a"))), False),
    "dims in another order": (lambda: of(result(ONE), result(ONE.T, dims=("system", "metric"))), False),
    "the last in other dims": (
        lambda: of(result(ONE), result(ONE + 1), result(ONE.T, dims=("system", "metric"))),
        False,
    ),
    "variables in another order": (lambda: of(result(ONE), result(ONE + 1)[["n", "correlation"]]), False),
    "labels that one lacks": (lambda: of(result(ONE), result(ONE).drop_vars("system")), False),
    "a coordinate that one lacks": (
        lambda: of(result(ONE).assign_coords(kind=("metric", ["p", "q"])), result(ONE)),
        False,
    ),  # fmt: skip
    "a lazy one": (lambda: of(result(ONE), result(ONE + 1).chunk(metric=1)), False),
    "lazy": (lambda: [result(at * ONE).chunk(metric=1) for at in (1, 2)], False),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", JOINED)
def test_results_that_are_alike_are_joined_as_xarray_joins_them(kind, monkeypatch):
    make, short = JOINED[kind]
    results = make()
    index = pd.Index([f"group {at}" for at in range(len(results))], name="by", dtype=object)
    asked = []
    own = xr.concat
    monkeypatch.setattr(xr, "concat", lambda *given, **how: asked.append(kind) or own(*given, **how))
    found = groups.joined(results, index)
    assert bool(asked) is not short
    monkeypatch.undo()
    how = {"join": "outer", "combine_attrs": "override", "coords": "minimal", "compat": "override"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(found, xr.concat(results, dim=index, **how))
    assert list(found.data_vars) == list(results[0].data_vars)
    for at, label in enumerate(index):
        for name in ("correlation", "n"):
            mine = found[name].sel(by=label, metric=results[at]["metric"]).transpose(*results[at][name].dims)
            np.testing.assert_array_equal(mine, results[at][name])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["numbers and words", "metrics in another order", "other metrics", "lazy"])
def test_joined_results_belong_to_their_labels(kind):
    one, other = JOINED[kind][0]()
    found = groups.joined([one, other], pd.Index(["p", "q"], name="by"))
    for at, each in (("p", one), ("q", other)):
        for metric in each["metric"].values:
            mine = found.correlation.sel(by=at, metric=metric).values
            np.testing.assert_array_equal(mine, each.correlation.sel(metric=metric).values)
    assert chunking.is_lazy(found.correlation) is (kind == "lazy")

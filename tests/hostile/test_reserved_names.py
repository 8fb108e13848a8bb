"""Every public question on scores whose dims have names that results need, or labels of several levels."""

import inspect

import cases
import pandas as pd
import pytest
import xarray as xr
from cases import ALL, BESIDE, FEW, GIVES_SCORES, LACKS_A_PACKAGE, MORE, STANDING, answer, ask, rating, rounded, turn
from helpers import by_turns, for_each

import xsumstat
from xsumstat.accessor import DatasetMeta
from xsumstat.catalogue import RESERVED
from xsumstat.dataset.facts import CORE

NAMES = [*sorted(RESERVED), "_pair"]
DIMS = ("metric", "system", "input")


@pytest.mark.parametrize("question", by_turns(STANDING))
def test_labels_of_several_levels_are_refused_with_the_way_out(question):
    """The way out of one dim, in turn."""
    if question == "agreement":
        pytest.importorskip("krippendorff")
    for dim in DIMS:
        ds = rounded(3)
        labels = [(label, str(at % 2)) for at, label in enumerate(ds[dim].values)] if dim in ds.coords else None
        labels = labels or [("topic", str(at)) for at in range(ds.sizes[dim])]
        index = pd.MultiIndex.from_tuples(labels, names=["name", "part"])
        several = ds.drop_vars(dim, errors="ignore").assign_coords(xr.Coordinates.from_pandas_multiindex(index, dim))
        said = rf"has a MultiIndex along '{dim}'.*ds.reset_index\('{dim}'\).assign_coords"
        with pytest.raises(ValueError, match=said):
            if dim == "metric" and question in ("agreement", "majority", "noisiest", "human_ceiling", "alt_test"):
                several.meta.corr(("human", "1"))  # whose ratings are made from a label of metric
            ALL[question](several)
        if dim == ("system", "input")[turn(question) % 2] and turn(question) % 4 < 2:
            flat = ["/".join(map(str, each)) for each in several.indexes[dim]]
            ask(question, several.reset_index(dim).assign_coords({dim: flat}))


# With `STANDING`, all that results can hold.
def names_in(found, ds):
    """Names of dims and variables, and of coordinates that the scores do not have."""
    names = {*found.dims, *found.data_vars, *found.coords} if isinstance(found, xr.Dataset) else {*found.dims}
    return {str(name) for name in names} - {*CORE, *ds.coords, "score", "language", "rating"}


HAVE_RESULTS = [name for name in (*STANDING, *MORE, *BESIDE) if name not in GIVES_SCORES]


def seen(question):
    """Names in the answer to a question; none where what it needs is not installed."""
    return set() if question in LACKS_A_PACKAGE else names_in(answer(question), rounded(3))


@pytest.mark.parametrize("question", by_turns([name for name in HAVE_RESULTS if name not in BESIDE], 1))
def test_every_name_of_a_result_is_reserved_or_no_further_dim_can_have_it(question):
    """But where a question makes its own scores: its analysis is asked of others too."""
    ds = rounded(3)
    for name in seen(question) - RESERVED:
        further = ds.assign(score=ds.score.expand_dims({name: 2}))
        with pytest.raises(ValueError, match=f"additional dim.*{name}|rater|select one label"):
            ALL[question](further)


def test_every_reserved_name_is_in_some_result():
    unused = RESERVED.difference(*map(seen, HAVE_RESULTS))
    assert not unused - ({"alpha"} if LACKS_A_PACKAGE else set())


def test_every_analysis_is_asked_for_its_names():
    """A new method of `ds.meta`, or function of the package, has a question here."""
    text = inspect.getsource(cases)
    methods = [name for name in vars(DatasetMeta) if not name.startswith("_")]
    of_results = {"adjust", "significant", "to_frame", "to_mtme", "plot"}
    of_results |= {"to_latex", "to_markdown", "to_html", "conclusion", "methods"}
    of_results |= {"report"}  # asks ci and perm_test
    assert [name for name in methods if name not in of_results and f".meta.{name}(" not in text] == []
    readers = {
        "load_dataset",
        "read_mqm",
        "read_esa",
        "read_mtme",
        "wmt_tasks",
        "shared_task",
        "wmt_info",
        "read_realsumm",
        "read_sacrerouge",
        "set_dims",
        "add_gold",
        "add_metric",
        "to_scores",
        "to_preferences",
        "read_preferences",
    }
    readers |= {"read_lm_eval", "read_inspect", "read_promptfoo", "read_deepeval"}
    assert [name for name in xsumstat.__all__ if name not in readers and f"xsumstat.{name}(" not in text] == []


@pytest.mark.slow
@for_each("question", [*STANDING, *MORE])
def test_a_further_dim_with_the_name_of_something_in_results_is_refused_at_once(question):
    """Eight names of each question, and each name of several questions; of one, all."""
    if question == "agreement":
        pytest.importorskip("krippendorff")
    ds, at = rounded(3), 8 * turn(question)
    for name in NAMES if question == "corr, system, pearson" else [NAMES[(at + on) % len(NAMES)] for on in range(8)]:
        with pytest.raises(ValueError, match=f"has the dim '{name}', a name that results need; rename it"):
            ALL[question](ds.assign(score=ds.score.expand_dims({name: 2})))


def test_gold_and_ratings_with_the_names_of_results_are_refused_at_once():
    ds = rounded(3)
    human = ds.score.sel(metric="human", drop=True)
    beside = ds.drop_sel(metric="human")
    for name in sorted(RESERVED):
        gold, ratings = human.expand_dims({name: 2}), rating(ds).expand_dims({name: 2})
        for refused in (
            lambda gold=gold: beside.meta.corr(gold),
            lambda gold=gold: beside.meta.close_corr(gold),
            lambda gold=gold: beside.meta.top_k(2, by=gold),
            lambda ratings=ratings: ds.meta.human_ceiling(ratings, metric="m0", **FEW),
            lambda ratings=ratings: ds.meta.alt_test(ratings, metric="m0", scale="ranks", min_items=2),
            lambda ratings=ratings: ds.meta.majority_vote(ratings),
        ):
            with pytest.raises(ValueError, match=f"has the dim '{name}', a name that results need; rename it"):
                refused()

"""Two systems: inputs on which they tie have no correlation, and their means only have an order."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import of_code
from helpers import for_each

import xsumstat  # noqa: F401 - registers ds.meta

LEFT_OUT = "inputs left out, as the 2 systems tie on them; coefficient='pairwise_accuracy' counts them: "


def graded(gaps=False, seed=0):
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 5, (2, 40)).astype(float)
    cells = np.stack([human, *(np.clip(human + rng.integers(-1, 2, human.shape), 1, 4) for _ in range(2))])
    if gaps:
        cells[0, 0, :3] = cells[1, 1, 5:9] = np.nan
    labels = {"metric": ["human", "one", "two"], "system": ["a", "b"], "input": np.arange(40)}
    return xr.Dataset({"score": (("metric", "system", "input"), cells)}, labels, {"gold": "human"})


def told(ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask().compute()
    return of_code(caught, "ties_left_out")


def ties(ds, metric):
    """Inputs on which both systems have scores, and those of them with a tie, in plain Python."""
    human, scores = (ds.score.sel(metric=each).values for each in ("human", metric))
    both = [at for at in range(40) if not np.isnan([*human[:, at], *scores[:, at]]).any()]
    return sum(human[0, at] == human[1, at] or scores[0, at] == scores[1, at] for at in both), len(both)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@for_each("lazy", [False, True])
@for_each("gaps", [False, True])
@for_each("question", ["corr", "ci", "compare_metrics"])
def test_inputs_on_which_they_tie_are_counted(question, gaps, lazy):
    ds = graded(gaps)
    counts = ", ".join(f"{name} ({tied} of {n})" for name in ("one", "two") for tied, n in [ties(ds, name)])
    asked = ds.chunk(input=10) if lazy else ds
    (text,) = told(lambda: getattr(asked.meta, question)(level="input", coefficient="kendall"))
    assert text == LEFT_OUT + counts
    found = ds.meta.corr(level="input", coefficient="kendall", metric="one")
    if not gaps:
        assert int(found.n_undefined[0]) == ties(ds, "one")[0]


@pytest.mark.filterwarnings("ignore")
def test_where_nothing_ties_or_ties_count_nothing_is_said():
    ds = graded()
    untied = ds.assign(score=ds.score + np.random.default_rng(1).normal(scale=1e-3, size=ds.score.shape))
    third = xr.concat([ds, ds.isel(system=[0]).assign_coords(system=["c"])], "system").assign_attrs(ds.attrs)
    assert not told(lambda: untied.meta.corr(level="input", coefficient="kendall"))
    assert not told(lambda: third.meta.corr(level="input", coefficient="kendall"))
    assert not told(lambda: ds.meta.corr(level="input", coefficient="pairwise_accuracy"))
    assert not told(lambda: ds.meta.corr(level="global", coefficient="kendall"))


@pytest.mark.filterwarnings("ignore")
@for_each(
    "question",
    {
        "corr": {}, "ci": {}, "compare_metrics": {}, "perm_test": {"n_resamples": 19}, "boot_test": {"n_resamples": 19},
        "equivalence": {"metric": "one", "other": "two", "margin": 0.1, "n_resamples": 19},
        "margin_sensitivity": {"metric": "one", "other": "two", "n_resamples": 19},
        "dominance": {"metric": "one", "other": "two", "n_resamples": 19},
    }.items(),
)  # fmt: skip
def test_the_order_of_two_means_tells_nothing(question):
    name, settings = question
    said = getattr(graded().meta, name)(**settings).meta.conclusion()
    assert said.startswith("With 2 systems every correlation is 1 or -1 and tells nothing about the metrics.")

"""What a ranking over tasks tells for a paper: systems and outputs left out, negated metrics, tasks without weight."""

import numpy as np
import pytest
import xarray as xr
from conftest import warns

import xsumstat

pytestmark = pytest.mark.filterwarnings("ignore")


def pair(seed, **kept):
    """Segments of five systems, two of them people."""
    rng = np.random.default_rng(seed)
    systems = ["A", "B", "C", "refA", "refB"]
    human = rng.normal(size=(5, 8))
    scores = [human, human + rng.normal(size=human.shape), rng.normal(size=human.shape) - human]
    coords = {
        "metric": ["mqm", "COMET", "TER"],
        "system": systems,
        "input": np.arange(8),
        "kind": ("metric", ["human", "automatic", "automatic"]),
        "reference": ("metric", ["", "refA", "refA"]),
        "system_type": ("system", ["human" if each.startswith("ref") else "machine" for each in systems]),
        "higher_is_better": ("metric", [True, True, False]),
    }
    return xr.Dataset({"score": (("metric", "system", "input"), np.array(scores))}, coords)


def test_the_methods_name_systems_outputs_and_negated_metrics():
    gaps = pair(1)
    gaps["score"][0, 0, :3] = np.nan  # of a system of the gold
    gaps["score"][2, 1, :1] = np.nan  # of a metric
    data = {"en-de": pair(0), "en-es": gaps}
    tasks = xsumstat.wmt_tasks(data, "wmt24", leave_out={"en-es": ["C"]})
    text = xsumstat.rank_tasks(tasks, n_resamples=9, rng=1).meta.methods()
    assert "For TER lower is better; its scores were negated." in text
    assert "These systems were left out: refA (en-de); C, refA and refB (en-es)." in text
    assert (
        "left out the outputs that lack its score or the human score: 3 to 4 (en-es sys spa and en-es seg acc_eq)."
        in text
    )
    plain = {"ds": data["en-de"].drop_vars("higher_is_better"), "gold": "mqm"}
    whole = xsumstat.rank_tasks({"systems": plain, "outputs": {**plain, "level": "input"}}, n_resamples=9, rng=1)
    assert "left out" not in whole.meta.methods() and "negated" not in whole.meta.methods()


def test_systems_that_only_some_tasks_leave_out():
    ds = pair(0)
    ds = ds.assign_coords(domain=("input", ["news", "social"] * 4))
    table = xsumstat.rank_tasks(xsumstat.wmt_tasks({"en-de": ds}, "wmt22"), n_resamples=9, rng=1)
    assert "These systems were left out: refA and in some tasks refB (en-de)." in table.meta.methods()


def test_the_page_says_the_same_of_a_part_of_the_tasks():
    data = {"en-de": pair(0), "en-es": pair(1)}
    table = xsumstat.rank_tasks(xsumstat.wmt_tasks(data, "wmt24"), n_resamples=9, rng=1, keep_samples=True)
    part = table.meta.subset(language_pair="en-es")
    assert "These systems were left out: refA and refB (en-es)." in part.meta.methods()
    assert part.higher_is_better.to_series().to_dict() == {"COMET": True, "TER": False}


def test_tasks_without_weight_are_not_counted():
    data = {"en-de": pair(0), "en-es": pair(1)}
    tasks = xsumstat.wmt_tasks(data, "wmt24")
    weights = dict(zip(tasks, (1, 1, 1, 0), strict=True))
    table = xsumstat.rank_tasks(tasks, weights=weights, n_resamples=9, rng=1)
    assert table.meta.conclusion().startswith("By the average over 3 tasks: ")
    assert "average score over 3 tasks" in table.meta.methods()
    assert "en-es seg acc_eq 0" in table.meta.methods()
    drawn = table.meta.rank_stability(n_resamples=99, rng=1)
    assert drawn.attrs["n_tasks"] == 3 and "99 draws of 3 tasks" in drawn.meta.conclusion()


def test_a_domain_without_a_task_is_named():
    ds = pair(0).assign_coords(domain=("input", ["news", "speech"] * 4))
    with warns("no_such_domain", "no task of en-de covers the domain 'speech' alone"):
        tasks = xsumstat.wmt_tasks({"en-de": ds}, "wmt22")
    assert {task.get("domain") for task in tasks.values()} == {None, "news"}


def test_a_metric_that_lacks_a_system_is_named():
    lacking = pair(1)
    lacking["score"][1, 0] = np.nan
    data = {"en-de": pair(0), "en-es": lacking}
    table = xsumstat.rank_tasks(xsumstat.wmt_tasks(data, "wmt24"), n_resamples=9, rng=1)
    told = "metrics compared on fewer systems, because they lack all scores on the others: COMET (on 2 of 3)."
    assert told in table.meta.conclusion() and told in table.meta.methods()
    whole = xsumstat.rank_tasks(xsumstat.wmt_tasks({"en-de": pair(0)}, "wmt24"), n_resamples=9, rng=1)
    assert "fewer systems" not in whole.meta.conclusion() + whole.meta.methods()


def test_metrics_that_are_not_in_all_tasks_are_named():
    """One more metric in one pair: it has no average, and systems are left out in words if no task has them."""
    more = pair(1)
    more = xr.concat([more, more.sel(metric=["COMET"]).assign_coords(metric=["PART"])], "metric")
    table = xsumstat.rank_tasks(xsumstat.wmt_tasks({"en-de": pair(0), "en-es": more}, "wmt24"), n_resamples=9, rng=1)
    assert table["rank"].sel(metric="PART") == 0
    told = "PART is not in all tasks, and has no average."
    assert told in table.meta.conclusion() and told in table.meta.methods()

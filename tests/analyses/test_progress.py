"""The keyword `progress` of every method that resamples, and warnings that come once."""

import inspect
import warnings
from collections import Counter

import numpy as np
import pytest
import xarray as xr
from conftest import of_code

import xsumstat
from xsumstat.accessor import DatasetMeta
from xsumstat.report import metric_report
from xsumstat.resampling import threads

FEW = {"n_resamples": 30, "rng": 1}
# Each method that resamples, asked so that it does.
CALLS = {
    "ci": {"gold": "human", **FEW},
    "metric_ci": {"metric": ["judge", "rouge", "bleu"], **FEW},
    "perm_test": {"gold": "human", **FEW},
    "boot_test": {"gold": "human", **FEW},
    "rank": {"gold": "human", "method": "permutation", **FEW},
    "compare_metrics": {"gold": "human", "method": "bootstrap", **FEW},
    "equivalence": {"gold": "human", "metric": "rouge", "other": ["judge"], "margin": 0.1, **FEW},
    "margin_sensitivity": {"gold": "human", "metric": "rouge", "other": ["judge"], **FEW},
    "dominance": {"gold": "human", **FEW},
    "compare_systems": {"metric": "human", "method": "hybrid", **FEW},
    "discriminative_agreement": {"gold": "human", **FEW},
    "top_k_corr": {"gold": "human", "k": [12, 8], **FEW},
    "close_corr": {"gold": "human", **FEW},
    "agreement": FEW,
    "human_ceiling": FEW,
    "range_drop": {"metric": ["judge", "rouge"], "top": 6, "n_simulations": 19, **FEW},
    "disagreement": {"metric": ["judge", "rouge"], **FEW},
    "improvement_consistency": {"metric": ["judge", "rouge"], **FEW},
    "missingness": {"gold": "human", "score_range": (-1000, 1000), **FEW},
    "rank_stability": FEW,
}


class Bars:
    """In place of tqdm: what was shown, and how far each bar went."""

    def __init__(self):
        self.bars = []

    def tqdm(self, total, **style):
        outer = self

        class Bar:
            def __init__(self):
                self.total, self.n = total, 0
                outer.bars.append(self)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            def update(self, n):
                self.n += n

            def refresh(self):
                pass

            def close(self):
                pass

        return Bar()


@pytest.fixture
def bars(monkeypatch):
    found = Bars()
    monkeypatch.setattr(threads.extras, "optional", lambda module, extra, usual=threads.extras.optional: (
        found if module == "tqdm.auto" else usual(module, extra)
    ))  # fmt: skip
    return found


def asked(demo, name, **keywords):
    if name in ("agreement", "human_ceiling"):
        noise = xr.DataArray(np.random.default_rng(0).normal(size=(3, 12, 30)), dims=("rater", "system", "input"))
        rating = (demo.score.sel(metric="human", drop=True) / 20 + 0.3 * noise).round()
        keywords["rating"] = rating
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "rank_stability":
            task = {"ds": demo, "gold": "human"}
            demo = xsumstat.rank_tasks({"one": task, "two": {**task, "level": "input"}}, progress=False, **FEW)
        return getattr(demo.meta, name)(**CALLS[name], **keywords)


def test_every_method_that_resamples_takes_progress():
    for name, method in inspect.getmembers(DatasetMeta, inspect.isfunction):
        if name == "report":  # asks methods that do
            continue
        parameters = inspect.signature(method).parameters
        assert ("n_resamples" in parameters) == (name in CALLS), name
        drawless = ("bias", "compare_groups", "drift")
        assert ("progress" in parameters) == (name in CALLS or name in drawless), name
    for function in (
        xsumstat.rank_tasks,
        xsumstat.coverage,
        xsumstat.power,
        metric_report.make_report,
        metric_report.report,
    ):
        assert inspect.signature(function).parameters["progress"].default is None
    for name in CALLS:
        method = getattr(DatasetMeta, name)
        assert inspect.signature(method).parameters["progress"].default is None
        assert "progress" in method.__doc__, name


@pytest.mark.parametrize("name", CALLS)
def test_one_bar_for_the_whole_or_none(demo, bars, monkeypatch, name):
    shown = asked(demo, name, progress=True)
    (bar,) = bars.bars
    assert bar.total > 0 and bar.n == pytest.approx(bar.total)
    monkeypatch.setattr(threads, "_watched", lambda: True)
    monkeypatch.setattr(threads, "_DELAY", 0.0)
    quiet = asked(demo, name, progress=False)
    assert len(bars.bars) == 1 and shown.identical(quiet)
    asked(demo, name)
    assert len(bars.bars) == 2 and bars.bars[1].n == pytest.approx(bars.bars[1].total)
    with pytest.raises(TypeError, match="progress must be True or False, got 'yes'"):
        asked(demo, name, progress="yes")


@pytest.mark.parametrize("name", ["ci", "compare_systems", "human_ceiling"])
def test_no_bar_that_nobody_watches_or_that_would_be_gone_at_once(demo, bars, monkeypatch, name):
    asked(demo, name)
    monkeypatch.setattr(threads, "_watched", lambda: True)
    monkeypatch.setattr(threads, "_DELAY", 3600.0)
    asked(demo, name)
    assert not bars.bars


def test_groups_pools_and_tasks_have_one_bar(demo, bars):
    both = demo.drop_vars("score").assign(score=xr.concat([demo.score, demo.score + 0.5], "language"))
    settings = {"progress": True, **FEW}
    demo.meta.ci("human", by="system_type", **settings)
    both.meta.perm_test("human", pool="language", coefficient="pairwise_accuracy", **settings)
    task = {"ds": demo, "gold": "human"}
    xsumstat.rank_tasks({"one": task, "two": {**task, "level": "input"}}, **settings)
    metric_report.make_report(demo, "demo", gold="human", n_resamples=30, progress=True)
    assert [bar.total for bar in bars.bars] == [3, 2, 2, 3]
    assert [bar.n for bar in bars.bars] == pytest.approx([3, 2, 2, 3])


def test_a_bar_that_failed_leaves_no_trace(demo, bars):
    with pytest.raises(ValueError, match="no bar"), threads.one_bar(2, True) as part, part():
        raise ValueError("no bar")
    asked(demo, "ci", progress=True)
    assert [bar.n for bar in bars.bars] == [0, 1]


@pytest.mark.parametrize("systems", [4, 12])
def test_each_warning_comes_once(demo, systems):
    there = np.random.default_rng(0).random(demo.score.shape) > 0.15
    ds = demo.assign(score=demo.score.where(there)).isel(system=slice(systems))
    two = ds.drop_vars("score").assign(score=xr.concat([ds.score, ds.score + 1.0], "language"))
    pooled = {"pool": "language", "coefficient": "pairwise_accuracy", **FEW}
    task = {"ds": ds, "gold": "human"}
    calls = {
        "rank": lambda: ds.meta.rank("human", **FEW),
        "top_k_corr": lambda: ds.meta.top_k_corr("human", **FEW),
        "metric_ci": lambda: ds.meta.metric_ci(**FEW),
        "by": lambda: ds.meta.ci("human", by="system_type", **FEW),
        "pool": lambda: two.meta.rank("human", **pooled),
        "rank_tasks": lambda: xsumstat.rank_tasks({"one": task, "two": {**task, "level": "input"}}, **FEW),
        "report": lambda: metric_report.make_report(ds, "gaps", gold="human", n_resamples=30),
    }
    if systems == 12:  # reports of few systems say the most
        del calls["report"]
    for name, call in calls.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        texts = Counter(str(each.message) for each in caught)
        assert texts and max(texts.values()) == 1, (name, texts)
        assert of_code(caught, "cells_left_out"), name

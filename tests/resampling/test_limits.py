"""Values on the two sides of limits: when all swaps are enumerated, what fits together, whom an interval rests on."""

import threading
import time
import types
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import dataset, of_code
from helpers import for_each

from xsumstat.coefficients import table
from xsumstat.coefficients.record import Measure
from xsumstat.kernels import jit
from xsumstat.resampling import jackknife, jobs, studentized, tasks, threads
from xsumstat.resampling.bootstrap import BootstrapInterval
from xsumstat.resampling.plans import DecisionPlan, SwapPlan
from xsumstat.resampling.studentized import Studentized

# --- Plans ---


@for_each("units", [61, 62, 63, 64])
def test_all_swaps_are_enumerated_only_where_64_bits_number_them(units):
    swaps = SwapPlan.of((units, 1), ("system",), False, 2**units, 0)
    decisions = DecisionPlan.of((2, units), "input", True, 2**units, 0)
    assert decisions.units == units
    assert swaps.exact == decisions.exact == (units < 63)


# --- What is done together ---


def job_of(targets):
    return types.SimpleNamespace(targets=targets, metrics_of=lambda target: target)


@for_each("most_targets, most_metrics", [(9, 2), (9, 3), (9, 4), (2, 9), (1, 9), (9, 1)])
def test_as_many_targets_share_a_task_as_their_metrics_may_be_many(most_targets, most_metrics):
    targets = [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5), (4, 6)]
    wanted, together = [], []
    for target in targets:
        metrics = {metric for each in [*together, target] for metric in each}
        if together and (len(together) == most_targets or len(metrics) > max(most_metrics, 2)):
            wanted.append(together)
            together = []
        together = [*together, target]
    wanted.append(together)
    found = jobs.sharing(job_of(targets), most_targets, most_metrics)
    assert [targets[at] for at, _ in found] == wanted
    assert [metrics for _, metrics in found] == [sorted({at for pair in each for at in pair}) for each in wanted]


def test_a_task_that_just_fits_is_no_error(monkeypatch):
    plan = tasks._Plan([(slice(0, 1), [0, 1])], [range(1)], matrix_bytes=100, target_bytes=7)
    needed = 2 * (2 + 1) * 100 + 7  # two metrics and the gold, twice, and a target
    monkeypatch.setattr(tasks, "_memory", lambda: needed)
    tasks._check_room(plan)
    monkeypatch.setattr(tasks, "_memory", lambda: needed - 1)
    with pytest.raises(ValueError, match="one task needs about"):
        tasks._check_room(plan)


# --- Bootstrap-t ---


@pytest.mark.filterwarnings("error")
def test_without_a_value_there_is_no_standard_error():
    values = np.array([[np.nan] * 3, [1.0, np.nan, 4.0], [2.0, 2.0, 2.0]])
    counts = np.array([[1, 1, 1], [2, 0, 1], [1, 1, 1]])
    mean = (2 * 1 + 4) / 3
    wanted = [np.nan, np.sqrt(2 / 3 * (2 * (1 - mean) ** 2 + (4 - mean) ** 2)), 0.0]
    np.testing.assert_allclose(studentized._spread(values, counts, 3), wanted)


@for_each("defined", [0, 1, 2, 3])
def test_two_resamples_with_a_standard_error_make_an_interval(defined):
    """Limits are the estimate less the upper and the lower quantile of t, times its standard error."""
    measure, level = Measure(table.get("pearson"), "input"), 0.9
    job = Studentized(((0,),), measure, BootstrapInterval("studentized", ("system",), 5, 0, level))
    known = {"estimate": 0.3, "standard_error": 0.1, "ci_low": 0.11, "ci_high": 0.44, "fell_back": 0.0}
    samples, errors = np.array([0.2, 0.5, 0.1, 0.3, 0.2]), np.array([0.1, 0.2, 0.1, 0.1, 0.1])
    errors[defined:] = 0.0
    names = dict(zip(Studentized.names, job._numbers(known, samples, errors), strict=True))
    low, high = names["ci_low"], names["ci_high"]
    if defined < 2:
        assert (low, high) == (0.11, 0.44) and names["fell_back"]
    else:
        t = (samples[:defined] - 0.3) / errors[:defined]
        ends = 0.3 - 0.1 * np.quantile(t, [0.95, 0.05])
        assert (low, high) != (0.11, 0.44) and not names["fell_back"]
        assert 0.3 - 0.1 * t.max() - 1e-12 <= low <= high <= 0.3 - 0.1 * t.min() + 1e-12
        assert defined > 2 or abs(low + high - ends.sum()) < 1e-9


# --- Whom an interval rests on ---


def bad(*places, missing=None):
    """Scores of the gold and two metrics, of which one system at each metric's place is far off."""
    rng = np.random.default_rng(5)
    gold = rng.normal(size=(10, 1)) + rng.normal(size=(10, 30))
    scores = np.stack([gold, *(gold + 0.5 * rng.normal(size=gold.shape) for _ in range(2))])
    for metric, at in enumerate(places, 1):
        if at is not None:
            scores[metric, at] -= 15
    if missing is not None:
        scores[1, missing] = np.nan
    return dataset(scores)


def named(ask):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask().compute()
    (text,) = of_code(caught, "rests_on_one_system")
    return text


@for_each("missing", [None, 0])
@for_each("place", [0, 1, 4])
def test_the_system_is_named_also_where_it_is_the_first_or_others_have_no_score(missing, place):
    if missing == place:
        return
    ds = bad(place, missing=missing)
    label = ds.system.values[place]
    assert f"'m1' (system {str(label)!r})" in named(lambda: ds.meta.ci("m0", metric=["m1", "m2"], level="input"))


@for_each("places, want", [((0, 4), 0), ((4, 0), 4), ((None, 0), 0), ((None, 3), 3), ((0, None), 0)])
def test_of_two_metrics_it_is_the_system_of_the_first_that_has_one(places, want):
    ds = bad(*places)
    text = named(lambda: ds.meta.ci("m0", metric="m1", other="m2", level="input"))
    assert f"system {str(ds.system.values[want])!r}" in text


@for_each("place", [1, 2, 3, 7])
def test_of_groups_of_systems_it_is_a_system_of_the_group(place):
    ds = bad()
    ds = ds.isel(system=[*range(10)] + [*range(10)]).assign_coords(system=[f"s{at:02}" for at in range(20)])
    ds["score"] = ds.score + 0.3 * np.random.default_rng(1).normal(size=ds.score.shape)
    ds.score[1, place] -= 15
    ds = ds.assign_coords(half=("system", np.array(["second", "first"])[np.arange(20) % 2]))
    text = named(lambda: ds.meta.compare_groups("m0", metric="m1", level="input", by="half"))
    assert f"system 's{place:02}'" in text


@pytest.mark.filterwarnings("ignore")
def test_a_group_of_two_inputs_has_an_interval_and_one_of_one_has_none():
    ds = bad().assign_coords(topic=("input", ["one", *["two"] * 2, *["many"] * 27]))
    found = ds.meta.compare_groups("m0", metric="m1", level="input", by="topic", resample="both")
    for kind, other, defined in (("two", "many", True), ("one", "many", False), ("one", "two", False)):
        limits = found.ci_low.sel(metric="m1", topic=kind, other_topic=other)
        assert bool(np.isfinite(limits)) is defined, (kind, other)


def test_parts_of_pairs_are_kept_by_their_number(monkeypatch):
    targets = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    for most, kept in ((4, True), (2, False)):
        monkeypatch.setattr(jackknife, "_most", lambda shape, most=most: most)
        found = jackknife.tiled(targets, (3, 4))
        assert sorted(found) == sorted(targets) and (found == targets or not kept)


# --- Threads ---


def test_one_thread_is_the_callers_own(monkeypatch):
    for number, own in (("1", True), ("2", False)):
        monkeypatch.setenv("XSUMSTAT_NUM_THREADS", number)
        seen = set()
        threads.over_blocks(lambda block, stop, seen=seen: seen.add(threading.current_thread()), 4, lambda: None)
        assert (seen == {threading.current_thread()}) is own


def test_four_blocks_a_thread_wait_in_line(monkeypatch):
    """No more are handed out before one is done."""
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "2")
    handed, most = [], []
    own = ThreadPoolExecutor.submit

    def submit(self, *given):
        future = own(self, *given)
        handed.append(future)
        most.append(len(handed))
        return future

    def work(block, stop):
        if block == 0:
            deadline = time.monotonic() + 5
            while len(handed) < 8 and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(0.05)
            waiting.append(len(handed))
        else:
            gate.wait(5) if block == 1 else None
        if block == 0:
            gate.set()

    gate, waiting = threading.Event(), []
    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    threads.over_blocks(work, 40, lambda: None)
    assert waiting == [8] and len(handed) == 40


def test_a_log_has_no_line_when_all_is_done(monkeypatch):
    said = []
    monkeypatch.setattr(threads, "_DELAY", 0.0)
    monkeypatch.setattr(jit, "print_once", said.append)
    count = threads._line_in_a_log(4, "resampling")
    for n_said in (1, 2, 3, 3):
        count(1)
        assert len(said) == n_said
    assert all(f"{share}% done" in text for share, text in zip((25, 50, 75), said, strict=True))

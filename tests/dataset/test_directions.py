"""Which metrics are better when lower: what the coordinate may hold, and which ones are remarked on."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import dataset, of_code, warns
from scipy import stats

from xsumstat.dataset import checks, directions, discordance


def of(values, labels):
    return xr.DataArray(values, coords={"metric": labels})


@pytest.mark.parametrize(
    "assigned, message",
    [
        (
            of([True, False, True, True], ["m0", "M1", "m2", "m3"]),
            r"got nan for 'm1'; a label that was not spelt as in",
        ),
        (of([False], ["m1"]), r"got nan for 'm0', 'm2', 'm3'; .*isin\(\[\.\.\.\]\)\) gives each one"),
        (("metric", ["True", "False", "True", "True"]), "got 'True' for 'm0', 'm1', 'm2', 'm3'; it must be bool"),
        (("metric", [2, 0, 1, 1]), "got 2 for 'm0'; it must be bool"),
        ([True, False, True, True], "is a dim of its own, and must be a coordinate of metric"),
        (pd.Series([False], index=["m1"]), "is a dim of its own"),
    ],
)
@pytest.mark.parametrize("question", ["corr", "metric_corr"])
def test_a_coordinate_that_lacks_a_metric_is_refused_at_the_first_question(small, assigned, message, question):
    wrong = small.assign_coords(higher_is_better=assigned)
    with pytest.raises(ValueError, match=message):
        wrong.meta.corr("m0", metric="m2") if question == "corr" else wrong.meta.metric_corr(metric=["m2", "m3"])


def test_labels_that_differ_in_case_only_are_named():
    ds = dataset(np.random.default_rng(0).normal(size=(3, 6, 5))).assign_coords(metric=["human", "TER", "bleu"])
    known = of([False], ["ter"]).to_dataset(name="higher_is_better").set_coords("higher_is_better")
    both = xr.merge([ds, known], join="outer")
    with pytest.raises(ValueError, match="did you mean .* which differ in upper and lower case only"):
        both.meta.corr("human", metric="bleu")


def test_what_is_refused_can_be_mended_as_the_message_says(small):
    wrong = small.assign_coords(higher_is_better=[True, False, True, True])
    mended = wrong.drop_dims("higher_is_better").assign_coords(higher_is_better=("metric", [True, False, True, True]))
    assert directions.lower(mended) == ["m1"]


def test_declared_beside_what_is_declared(small):
    once = directions.declare(small, "m1", "lower_is_better")
    twice = directions.declare(once, ["m3"], "lower_is_better")
    assert directions.lower(twice) == ["m1", "m3"] and "higher_is_better" not in small.coords
    with pytest.raises(ValueError, match="unknown metric in lower_is_better 'M1'; did you mean 'm1'"):
        directions.declare(small, ["M1"], "lower_is_better")


# --- metrics that seem to be better when lower ---


def made(r, n_systems=12, n_metrics=4, per_input=0.0, seed=0):
    """Scores whose metric m1 has system means that correlate with those of m0 by r exactly; the others with r = .5."""
    rng = np.random.default_rng(seed)
    gold = stats.zscore(rng.normal(size=n_systems))
    score = np.empty((n_metrics, n_systems, 6))
    for at in range(n_metrics):
        rest = rng.normal(size=n_systems)
        rest = stats.zscore(rest - gold * (rest @ gold) / (gold @ gold) - rest.mean())
        want = 1.0 if at == 0 else r if at == 1 else 0.5
        score[at] = (want * gold + np.sqrt(1 - want**2) * rest)[:, None]
    shared = rng.normal(size=(n_systems, 6))
    shared -= shared.mean(1, keepdims=True)
    score[0] += 10 * per_input * shared
    score[1] += 10 * per_input * shared
    return dataset(score)


def limit(n_systems, n_metrics):
    """The correlation below which one of so many metrics is by chance in one of a hundred Datasets."""
    return np.tanh(stats.norm.ppf(0.01 / n_metrics) / np.sqrt(n_systems - 3))


@pytest.mark.parametrize("n_systems, n_metrics", [(8, 3), (12, 4), (40, 4)])
def test_a_metric_is_remarked_on_from_the_limit_on(n_systems, n_metrics, recwarn):
    edge = limit(n_systems, n_metrics)
    made(edge + 0.01, n_systems, n_metrics).meta.corr("m0")
    assert not recwarn.list
    with warns("direction", r"'m1' \(r = -0\.\d\d\) .* 'm0'"):
        made(edge - 0.01, n_systems, n_metrics).meta.corr("m0")


def test_a_weak_correlation_is_not_remarked_on_however_sure(recwarn):
    made(-0.29, 200).meta.corr("m0")
    assert not recwarn.list
    with warns("direction"):
        made(-0.31, 200).meta.corr("m0")


@pytest.mark.parametrize(
    "ask",
    [
        lambda ds: ds.meta.corr("m0", level="input"),
        lambda ds: ds.meta.ci("m0", metric="m1"),
        lambda ds: ds.meta.perm_test("m0", n_resamples=20),
        lambda ds: ds.meta.boot_test("m0", n_resamples=20),
        lambda ds: ds.meta.corr_test("m0"),
        lambda ds: ds.meta.rank("m0", n_resamples=20),
    ],
)
def test_each_question_says_it_once(ask):
    ds = made(-0.9)
    with pytest.warns(UserWarning) as said:
        ask(ds)
    assert len(of_code(said, "direction")) == 1


def test_what_the_remark_says_ends_it(recwarn):
    ds = made(-0.9).assign_coords(higher_is_better=("metric", [True, True, True, False]))
    ds["score"][3] = -ds["score"][3]
    with pytest.warns(UserWarning, match=r"isin\(\['m3', 'm1'\]\)"):
        ds.meta.corr("m0")
    recwarn.clear()
    mended = ds.assign_coords(higher_is_better=~ds.metric.isin(["m3", "m1"]))
    assert float(mended.meta.corr("m0").correlation.sel(metric="m1")) == pytest.approx(0.9)
    assert not recwarn.list


def test_not_where_the_correlation_asked_for_is_positive(recwarn):
    ds = made(-0.9, per_input=1.0)
    assert float(ds.meta.corr("m0", metric="m1", level="within_system").correlation[0]) > 0.9
    assert not recwarn.list
    with warns("direction"):
        ds.meta.corr("m0", metric="m1")


def test_not_what_is_declared_already(recwarn):
    """A wrong declaration is the user's: what is told is where one lacks."""
    ds = made(0.9).assign_coords(higher_is_better=("metric", [True, False, True, True]))
    assert float(ds.meta.corr("m0", metric="m1").correlation[0]) == pytest.approx(-0.9)
    assert not recwarn.list


def remark(score, gold, name, *, level, n_metrics):
    found = discordance.discordant(score, gold, [], level=level, n_metrics=n_metrics)
    checks.warn_of_directions(found, [], name)


def test_scores_that_lack(recwarn):
    ds = made(-0.9)
    ds["score"][1, 3, 2] = np.nan
    remark(ds.score.isel(metric=[2, 3]), ds.score[0], "m0", level="system", n_metrics=4)
    assert not recwarn.list
    with pytest.warns(UserWarning, match=r"system means of 'm1' \(r = -0\.90\)"):
        remark(ds.score, ds.score[0], "m0", level="system", n_metrics=4)


def test_not_of_lazy_scores(recwarn):
    pytest.importorskip("dask")
    made(-0.9).chunk(metric=1).meta.corr("m0").compute()
    assert not recwarn.list


def test_published_metrics_of_quality_are_not_remarked_on(summeval, realsumm, recwarn):
    for ds, golds in (
        (summeval, [m for m in summeval.metric.values if m.startswith(("expert", "turker"))]),
        (realsumm, ["litepyramid_recall"]),
    ):
        score = ds.score.transpose("metric", "system", "input")
        for gold in golds:
            for level in ("system", "input"):
                remark(score, score.sel(metric=gold), gold, level=level, n_metrics=score.sizes["metric"])
    assert not recwarn.list


def test_the_overview_tells_directions(demo, small):
    assert "direction" in repr(small.meta) and "higher is better: all" in repr(small.meta)
    assert "lower is better: 'perplexity'; higher is better: all others" in repr(demo.meta)
    assert "must be True or False for each metric" in repr(small.assign_coords(higher_is_better=of([1], ["x"])).meta)

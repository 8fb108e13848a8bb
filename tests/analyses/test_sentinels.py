"""Sentinels against plain Python, and what no score that sees so little can exceed."""

import functools
import math
import statistics
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import dataset, of_code, warns

from xsumstat.analyses import sentinels

NAMES = ["sentinel: input", "sentinel: system"]


def scores(seed=0, metrics=3, systems=7, inputs=9, gaps=0.0):
    """Scores that share what is of the system and of the input; the first metric is the gold."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(1, systems, 1)) + rng.normal(size=(1, 1, inputs)) + rng.normal(size=(1, systems, inputs))
    values = shared + rng.normal(size=(metrics, systems, inputs))
    values[rng.random(values.shape) < gaps] = np.nan
    return dataset(values).assign_attrs(gold="m0")


def mean(values):
    there = [x for x in values if not math.isnan(x)]
    return statistics.fmean(there) if there else math.nan


def of_others(rows):
    """Of rows (labels, others), for each cell the mean of its row without it, of scores less their column's mean."""
    middle = mean([x for row in rows for x in row])
    columns = [mean(column) for column in zip(*rows, strict=True)]
    found = []
    for row in rows:
        own = [x - column for x, column in zip(row, columns, strict=True)]
        found.append([middle + mean(own[:at] + own[at + 1 :]) for at in range(len(own))])
    return np.array(found)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("level", ["input", "global", "within_system"])
def test_they_know_the_gold_of_others(level, gaps):
    ds = scores(1, gaps=gaps)
    gold = ds.score.sel(metric="m0").values
    watched = ds.meta.sentinels(level=level)
    by_input, by_system = (watched.score.sel(metric=name).values for name in NAMES)
    there = ds.score.notnull().any("metric").values
    if level == "input":  # the same for all systems
        assert all(len({x for x in column if not math.isnan(x)}) == 1 for column in by_input.T.tolist())
    else:
        np.testing.assert_allclose(by_input, np.where(there, of_others(gold.T.tolist()).T, np.nan))
    if level == "within_system":
        assert all(len({x for x in row if not math.isnan(x)}) == 1 for row in by_system.tolist())
    else:
        np.testing.assert_allclose(by_system, np.where(there, of_others(gold.tolist()), np.nan))
    assert watched.metric.values.tolist() == ["m0", "m1", "m2", *NAMES]
    assert watched.kind.values.tolist() == ["human", "automatic", "automatic", "sentinel", "sentinel"]
    assert watched.attrs == {"gold": "m0", "sentinels": f"of m0, for level={level!r}", "sentinels_level": level}
    xr.testing.assert_identical(watched.score.sel(metric=ds.metric).drop_vars("kind"), ds.score)


def test_no_score_knows_its_own_gold():
    ds = scores(2)
    other = ds.copy(deep=True)
    other.score[0, 3, 4] += 100.0
    one, two = (each.meta.sentinels(level="global").score[-2:, 3, 4] for each in (ds, other))
    # The centre moves all by as much, which no correlation sees.
    shift = 100.0 / ds.score[0].size
    np.testing.assert_allclose(two - one, shift)


def test_levels_that_cannot_be_won_by_what_they_know():
    for level, name in (("input", NAMES[0]), ("within_system", NAMES[1])):
        watched = scores(3).meta.sentinels(level=level)
        assert watched.meta.corr(level=level, metric=name, undefined="zero").correlation.item() == 0
        with warns("undefined"):
            assert np.isnan(watched.meta.corr(level=level, metric=name).correlation.item())
    watched = scores(3).meta.sentinels(level="system")
    assert watched.metric.values[-1] == NAMES[0]
    with pytest.warns(UserWarning, match=f"undefined.*{NAMES[0]}"):
        assert np.isnan(watched.meta.corr().correlation.sel(metric=NAMES[0]))
    with pytest.raises(ValueError, match="sees='system' is the gold itself at level='system'"):
        scores(3).meta.sentinels(level="system", sees="system")


def test_they_stand_among_the_metrics_of_a_ranking(demo):
    few = {"undefined": "zero", "method": "permutation", "adjust": None, "n_resamples": 99, "rng": 1}
    table = demo.meta.sentinels("human").meta.rank("human", level="input", **few)
    assert table.correlation.sel(metric=NAMES[1]) > table.correlation.sel(metric=["bleu", "length"]).max()
    assert table.correlation.sel(metric=NAMES[0]) == 0
    watched = demo.meta.sentinels("human", level="within_system", given="length")
    table = watched.meta.rank("human", level="within_system", **few)
    assert table.correlation.sel(metric=NAMES[0]) > table.correlation.sel(metric=["bleu", "length"]).max()
    assert table.correlation.sel(metric=NAMES[1]) == 0


def twin(gold, *given):
    """Least squares by the normal equations, solved by elimination; cells that lack something are not fitted."""
    cells = [(1.0, *each) for each in zip(*(x.ravel().tolist() for x in given), strict=True)]
    rows = [(x, z) for x, z in zip(cells, gold.ravel().tolist(), strict=True) if not math.isnan(sum(x) + z)]
    size = len(given) + 1
    left = [[sum(x[a] * x[b] for x, _ in rows) for b in range(size)] for a in range(size)]
    right = [sum(x[a] * z for x, z in rows) for a in range(size)]
    for a in range(size):
        for b in range(a + 1, size):
            factor = left[b][a] / left[a][a]
            left[b] = [one - factor * two for one, two in zip(left[b], left[a], strict=True)]
            right[b] -= factor * right[a]
    slopes = [0.0] * size
    for a in reversed(range(size)):
        slopes[a] = (right[a] - sum(left[a][b] * slopes[b] for b in range(a + 1, size))) / left[a][a]
    return np.array([sum(s * x for s, x in zip(slopes, each, strict=True)) for each in cells]).reshape(gold.shape)


def test_covariates_predict_the_gold_by_least_squares():
    ds = scores(4, gaps=0.1)
    kinds = np.array(["a", "b", "c", "a", "b", "c", "c"])
    ds = ds.assign_coords(type=("system", kinds), words=("input", np.arange(9.0) ** 2))
    with pytest.warns(UserWarning, match="outputs left out, as given 'm2' is missing there"):
        watched = ds.meta.sentinels(sees=[], given=["m2", "type", "words"])
    assert watched.metric.values.tolist() == ["m0", "m1", "m2", "sentinel: m2, type, words"]
    gold, length = ds.score.sel(metric="m0").values, ds.score.sel(metric="m2").values
    columns = [np.repeat((kinds == each)[:, None], 9, axis=1).astype(float) for each in "bc"]
    want = twin(gold, length, *columns, np.tile(np.arange(9.0) ** 2, (7, 1)))
    np.testing.assert_allclose(watched.score.values[-1], want, rtol=1e-9)
    assert np.isnan(want).any()


def test_a_prediction_needs_two_scores_more_than_covariates():
    gold, given = np.array([[1.0, 3.0, 2.0, np.nan]]), np.array([[1.0, 2.0, 4.0, 5.0]])
    slope, start = np.polyfit(given[0, :3], gold[0, :3], 1)
    np.testing.assert_allclose(sentinels._fitted(gold, given), start + slope * given)
    gold[0, 0] = np.nan
    assert np.isnan(sentinels._fitted(gold, given)).all()


def test_a_covariate_of_inputs_sees_only_these():
    watched = scores(5).assign_coords(words=("input", np.arange(9.0))).meta.sentinels(sees=[], given="words")
    assert np.ptp(watched.score.sel(metric="sentinel: words").values, axis=0).max() == 0


def test_gold_of_other_systems():
    ds = scores(6)
    gold = ds.score.sel(metric="m0")
    known, judged = gold.isel(system=[0, 2, 4]), [1, 3, 5, 6]
    watched = ds.meta.sentinels(known, sees="input", level="global")
    want = known - known.mean("input") + known.mean()
    np.testing.assert_allclose(watched.score[-1].isel(system=judged), np.tile(want.mean("system"), (4, 1)))
    np.testing.assert_allclose(watched.score[-1].isel(system=2), want.isel(system=[0, 2]).mean("system"))
    elsewhere = known.assign_coords(system=["x", "y", "z"])  # in nothing that is scored
    again = ds.meta.sentinels(elsewhere, sees="input", level="global")
    np.testing.assert_array_equal(again.score[-1].isel(system=judged), watched.score[-1].isel(system=judged))
    for keywords in ({}, {"sees": "input", "given": "m2"}):
        with pytest.raises(ValueError, match="gold and score share no label along 'system'"):
            ds.meta.sentinels(elsewhere, **keywords)


def test_an_input_of_one_output_tells_nothing_of_it():
    ds = scores(6)
    ds.score[0, 1:, 3] = np.nan
    assert np.isnan(ds.meta.sentinels(level="global").score.sel(metric=NAMES[0])[0, 3])


def test_lower_may_be_better():
    ds = scores(7).assign_coords(higher_is_better=("metric", [False, True, True]))
    watched = ds.meta.sentinels(level="global")
    np.testing.assert_allclose(watched.score.values[-1], of_others((-ds.score.values[0]).tolist()))
    assert watched.higher_is_better.values.tolist() == [False, True, True, True, True]
    assert (watched.meta.corr(level="global", metric=NAMES).correlation > 0).all()


def test_lazy_scores_give_the_same_bits_and_stay_lazy():
    pytest.importorskip("dask")
    ds = scores(8, gaps=0.1)
    lazy = ds.chunk(metric=1, system=3, input=4).meta.sentinels(given="m2", level="global")
    assert lazy.score.chunks is not None
    with warns("cells_left_out", "'m2'"):
        want = ds.meta.sentinels(given="m2", level="global")
    with warns("cells_left_out", "'m2'"):
        xr.testing.assert_identical(lazy.compute(), want)
    constant = ds.assign(score=ds.score.where(ds.metric != "m0", 1.0)).chunk(metric=1).meta.sentinels()
    with pytest.raises(ValueError, match="'m0'"):
        constant.compute()


def test_what_describes_metrics_is_blank_for_them():
    ds = scores(9).assign_coords(
        family=("metric", ["x", "y", "z"]), since=("metric", [2002, 2004, 2020]), neural=("metric", [False, True, True])
    )
    watched = ds.assign(price=("metric", [1.0, 2.0, 3.0]), note="of all").meta.sentinels(sees="input")
    last = watched.isel(metric=-1)
    assert last.family.item() == "" and not last.neural.item() and np.isnan(last.since) and np.isnan(last.price)
    assert last.note.item() == "of all" and last.kind.item() == "sentinel"
    bare = ds.drop_vars("metric").drop_vars(["family", "since", "neural"]).meta.sentinels(0)
    assert bare.metric.values.tolist() == [0, 1, 2, *NAMES]


def test_further_dims_have_sentinels_of_their_own():
    one, two = scores(10), scores(11)
    both = xr.concat([one, two], xr.DataArray(["en", "de"], dims="language", name="language"))
    watched = both.meta.sentinels()
    for label, ds in (("en", one), ("de", two)):
        np.testing.assert_array_equal(watched.score.sel(language=label, metric=NAMES), ds.meta.sentinels().score[-2:])
    gold = xr.concat([one.score[0], 2 * one.score[0]], "quality").assign_coords(quality=["a", "b"])
    by_quality = one.meta.sentinels(gold.drop_vars("metric")).score
    np.testing.assert_allclose(by_quality.sel(quality="b")[-2:], 2 * by_quality.sel(quality="a")[-2:])
    np.testing.assert_array_equal(by_quality.sel(quality="a")[:3], one.score)


def test_they_are_not_taken_for_people():
    ds = scores(12)
    raters = xr.concat([ds.score.sel(metric="m0", drop=True) + each for each in (0.0, 0.1, -0.1)], "rater")
    ds = ds.assign(rating=raters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.meta.sentinels(given="m2", level="global").meta.corr(level="global")
        ds.meta.sentinels(given="m2").meta.ci(level="input", metric=NAMES[1])


def test_nor_for_metrics_that_are_better_when_lower():
    """The system means of what knows only inputs are equal, but for rounding; with gaps they may be anything."""
    ds = scores(16, systems=12, inputs=40)
    watched = ds.meta.sentinels(level="global", sees="input")
    watched = watched.assign(score=watched.score.where(watched.metric != NAMES[0], -ds.score[0].mean("input")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watched.meta.corr(level="global")
    called = watched.assign_coords(kind=("metric", ["human", *["automatic"] * 3]))
    with warns("direction", "'sentinel: input'"):
        called.meta.corr(level="global")


def test_what_is_no_output_stays_none():
    ds = scores(17)
    ds.score[:, 2, 5] = np.nan
    assert np.isnan(ds.meta.sentinels(given="m2").score[-3:, 2, 5]).all()
    ds.score[1, 2, 5] = 1.0
    assert ds.meta.sentinels().score[-2:, 2, 5].notnull().all()


@pytest.mark.parametrize(
    ("keywords", "error", "text"),
    [
        ({"sees": "rater"}, ValueError, "sees must be one of 'input', 'system', got 'rater'"),
        ({"sees": 3}, TypeError, "sees must be 'input', 'system', or a list of these, got 3"),
        ({"sees": ["input", "input"]}, ValueError, "sees repeats "),
        ({"sees": []}, ValueError, "name nothing that a sentinel sees"),
        ({"given": "m0"}, ValueError, "given='m0' is the gold itself"),
        ({"given": "mx"}, ValueError, "unknown given='mx'"),
        ({"given": "one"}, ValueError, "given 'one' is constant"),
        ({"gold": "mx"}, ValueError, "unknown gold 'mx'"),
    ],
)
def test_what_cannot_be_asked(keywords, error, text):
    ds = scores(13).assign_coords(one=("input", np.ones(9)))
    with pytest.raises(error, match=text):
        ds.meta.sentinels(**keywords)


def test_gold_of_which_none_can_be_made():
    ds = scores(14)
    gold = ds.score.sel(metric="m0")
    for odd, text in (
        (gold.mean("input"), "must have the dims 'system' and 'input'"),
        (gold.isel(input=[0]), "need gold of at least 2 inputs, got 1"),
        (gold.isel(system=[0]), "need gold of at least 2 systems, got 1"),
        (0 * gold, "gold 'm0' is constant"),
        (gold.drop_vars("input").isel(input=slice(5)), "gold has 5 and score 9 along 'input'"),
    ):
        with pytest.raises(ValueError, match=text):
            ds.meta.sentinels(odd)
    with pytest.raises(ValueError, match="'sentinel: input', 'sentinel: system'; drop these first"):
        ds.meta.sentinels().meta.sentinels()


def expected(level, name, of_inputs, of_systems, n_systems, n_inputs):
    """The correlation of a score with what S − 1 others, of unit noise, tell of its input, or N − 1 of its system."""
    known, others = (of_inputs, n_systems - 1) if name == NAMES[0] else (of_systems, n_inputs - 1)
    total = 1 + known + (of_inputs + of_systems - known) * (level == "global")
    return known / math.sqrt(total * (known + 1 / others))


def reached(gold, guess, level):
    """Pearson's correlation, averaged over groups."""
    if level == "global":
        return np.corrcoef(guess.ravel(), gold.ravel())[0, 1]
    pairs = zip(guess, gold, strict=True) if level == "within_system" else zip(guess.T, gold.T, strict=True)
    return np.mean([np.corrcoef(*pair)[0, 1] for pair in pairs])


@pytest.mark.parametrize("n_trials", [10, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("of_inputs", "of_systems"), [(0.0, 0.0), (0.5, 0.0), (0.2, 0.2)])
def test_what_they_reach_is_what_there_is_to_know(of_inputs, of_systems, n_trials):
    """Nothing where all inputs, and all systems, are alike."""
    shape = 40, 60
    rng = np.random.default_rng(15)
    asked = [("within_system", NAMES[0]), ("global", NAMES[0]), ("input", NAMES[1]), ("global", NAMES[1])]
    gold = []
    for _ in range(n_trials):
        inputs, systems = rng.normal(size=(1, 60)), rng.normal(size=(40, 1))
        gold.append(rng.normal(size=shape) + math.sqrt(of_inputs) * inputs + math.sqrt(of_systems) * systems)
    ds = xr.concat([dataset(each[None]) for each in gold], "trial").assign_attrs(gold="m0")
    made = {level: ds.meta.sentinels(level=level).score for level in ("within_system", "global", "input")}
    guesses = [made[level].sel(metric=name).transpose("trial", "system", "input").values for level, name in asked]
    found = [
        [reached(own, guess[at], level) for guess, (level, _) in zip(guesses, asked, strict=True)]
        for at, own in enumerate(gold)
    ]
    want = [expected(level, name, of_inputs, of_systems, *shape) for level, name in asked]
    np.testing.assert_allclose(np.mean(found, axis=0), want, atol=0.06 if n_trials < 100 else 0.02)


def test_published_scores(summeval):
    """SummEval: to know each system's mean on other articles is worth more than any metric within articles."""
    automatic = summeval.metric.values[(summeval.kind == "automatic").values]
    for gold in ("expert_relevance", "expert_consistency"):
        within = {"level": "input", "coefficient": "kendall", "undefined": "zero"}
        found = summeval.meta.sentinels(gold).meta.corr(gold, **within).correlation
        assert found.sel(metric=NAMES[1]) > found.sel(metric=automatic).max()
        assert found.sel(metric=NAMES[0]) == 0
    # Pooled, what is known of an article beats most metrics where articles differ, and few where they do not.
    share = {}
    for gold in ("expert_relevance", "expert_consistency"):
        found = summeval.meta.sentinels(gold, level="global").meta.corr(gold, level="global").correlation
        share[gold] = float((found.sel(metric=NAMES[0]) > found.sel(metric=automatic)).mean())
    assert share["expert_relevance"] > 0.9 and share["expert_consistency"] < 0.1


LEVELS = ("system", "input", "global", "within_system")
# Levels at which a sentinel is the same: where it leaves its own output out, and where it need not.
ALIKE = {
    "sentinel: input": ({"global", "within_system"}, {"system", "input"}),
    "sentinel: system": ({"global", "input"}, {"system", "within_system"}),
}


@functools.cache
def watched_at(level):
    return scores(systems=8, inputs=12).meta.sentinels(level=level, given="m2")


@pytest.mark.parametrize("made", LEVELS)
@pytest.mark.parametrize("judged", LEVELS)
def test_judged_at_a_level_for_which_they_were_not_made(made, judged):
    watched = watched_at(made)
    assert watched.attrs["sentinels_level"] == made
    wrong = [
        name for name in NAMES if name in watched.metric and not any({made, judged} <= alike for alike in ALIKE[name])
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        watched.meta.corr(level=judged, undefined="zero")
    texts = of_code(caught, "sentinels_level")
    assert len(texts) == bool(wrong)
    for name in NAMES:
        assert (name in "".join(texts)) == (name in wrong)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        watched.meta.corr(metric=["m1", "sentinel: m2"], level=judged, undefined="zero")
    assert not of_code(caught, "sentinels_level")


@pytest.mark.parametrize("ask", ["corr", "ci", "perm_test", "boot_test", "dominance"])
@pytest.mark.parametrize("made", ["input", "global"])
def test_a_coefficient_of_differences_within_inputs_needs_those_of_input_level(ask, made):
    watched = scores(systems=8, inputs=12).meta.sentinels(level=made)
    how = {"coefficient": "pdp", "level": "global", "metric": ["m1", NAMES[0]], "undefined": "zero"}
    more = {} if ask == "corr" else {"n_resamples": 20, "rng": 0}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(watched.meta, ask)(**(how | ({"other": "m2"} if ask == "dominance" else {})), **more)
    texts = of_code(caught, "sentinels_level")
    assert bool(texts) == (made == "global")
    assert all("level='input'" in text for text in texts)


def test_two_systems_on_two_inputs_are_enough():
    ds = scores(3, metrics=1, systems=2, inputs=2)
    gold = ds.score.sel(metric="m0").values
    watched = ds.meta.sentinels(level="global")
    by_input, by_system = (watched.score.sel(metric=name).values for name in NAMES)
    np.testing.assert_allclose(by_input, of_others(gold.T.tolist()).T)
    np.testing.assert_allclose(by_system, of_others(gold.tolist()))

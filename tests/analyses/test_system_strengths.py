"""Which system is preferred, by people, by a judge, and by both."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from preference_cases import preferences, verdicts
from scipy import optimize, stats

import xsumstat
from xsumstat.core.caveats import UndefinedWarning


def few_people(ds, n=20):
    """People saw only the first prompts."""
    early = xr.DataArray(np.arange(ds.sizes["prompt"]) < n, dims="prompt")
    kept = ds["preference"].where((ds["kind"] != "human") | early)
    return ds.assign(preference=kept.transpose(*ds["preference"].dims))


def units(ds, raters, prompts=None):
    """Of each prompt and pair the mean verdict of some raters and their share of ties."""
    found = {}
    for (prompt, pair, rater), value in verdicts(ds).items():
        if rater in raters and (prompts is None or prompt in prompts):
            found.setdefault((prompt, pair), []).append(value)
    return {key: (np.mean(each), np.mean([value == 0 for value in each])) for key, each in found.items()}


def fitted(ds, outcomes):
    """Strengths by SciPy from (net, ties) by prompt and pair, Davidson's likelihood written out."""
    sides = dict(zip(ds["pair"].values, zip(ds["left"].values, ds["right"].values, strict=True), strict=True))
    systems = sorted({each for pair in sides.values() for each in pair})

    def loss(parameters):
        strength = dict(zip(systems, [*parameters[:-1], 0.0], strict=True))
        total = 0.0
        for (_, pair), (net, tie) in outcomes.items():
            win = (1 - tie + net) / 2
            one, two = (math.exp(strength[each]) for each in sides[pair])
            even = math.exp(parameters[-1]) * math.sqrt(one * two)
            below = one + two + even
            total -= (
                win * math.log(one / below) + (1 - tie - win) * math.log(two / below) + tie * math.log(even / below)
            )
        return total

    best = optimize.minimize(loss, np.zeros(len(systems)), method="BFGS", options={"gtol": 1e-8}).x
    strengths = np.append(best[:-1], 0.0)
    return strengths - strengths.mean()


def test_people_and_a_judge_against_the_plain_twin():
    ds = preferences(4, n_prompts=12, gaps=0.1)
    found = ds.meta.rank_systems(adjust=None)
    assert found.rater.values.tolist() == ["people", "gpt"]  # people saw what the judge saw: nothing to correct
    for label, raters in (("people", ("ann", "ben")), ("gpt", ("gpt",))):
        own, outcomes = found.sel(rater=label), units(ds, raters)
        np.testing.assert_allclose(own.strength, fitted(ds, outcomes), atol=1e-5)
        prompts = sorted({prompt for prompt, _ in outcomes})
        assert own.n_prompts == len(prompts) and own.n_pairs == len(outcomes)
        without = np.array(
            [fitted(ds, {key: each for key, each in outcomes.items() if key[0] != out}) for out in prompts]
        )
        n = len(prompts)
        error = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
        np.testing.assert_allclose(own.standard_error, error, rtol=1e-3)
        t = stats.t.ppf(0.975, n - 1)
        np.testing.assert_allclose(own.ci_high - own.strength, t * error, rtol=1e-3)
        apart = without[:, 0] - without[:, 2]
        error = math.sqrt((n - 1) / n * ((apart - apart.mean()) ** 2).sum())
        pair = own.sel(system="alpha", other_system="gamma")
        assert float(pair.pvalue) == pytest.approx(2 * stats.t.sf(abs(float(pair.difference)) / error, n - 1), rel=2e-3)
        assert float(pair.difference) == pytest.approx(float(own.strength[0] - own.strength[2]))


def test_people_corrected_by_a_judge_against_the_plain_twin():
    ds = few_people(preferences(2, n_prompts=40), 15)
    found = ds.meta.rank_systems().sel(rater="people + gpt")
    human, judge = units(ds, ("ann", "ben")), units(ds, ("gpt",))
    pairs = ds["pair"].values
    seen = {pair: [key for key in human if key[1] == pair and key in judge] for pair in pairs}
    outcomes = {}
    corrected = {}
    for at in (0, 1):  # net choices, ties
        means = {pair: [np.mean([each[key][at] for key in seen[pair]]) for each in (judge, human)] for pair in pairs}
        gaps = [
            (judge[key][at] - means[pair][0], human[key][at] - means[pair][1]) for pair in pairs for key in seen[pair]
        ]
        by_prompt = {}
        f, h = np.array(gaps).T
        b = (f * h).sum() / (f**2).sum()
        for key, one, two in zip([key for pair in pairs for key in seen[pair]], f, h, strict=True):
            by_prompt[key[0]] = by_prompt.get(key[0], 0.0) + one * (two - b * one)
        n, j = len(f), len(by_prompt)
        clustered = j / (j - 2) * sum(each**2 for each in by_prompt.values()) / (f**2).sum() ** 2
        plain = ((h - b * f) ** 2).sum() / ((n - len(pairs) - 1) * (f**2).sum())
        kept = max(0.0, 1 - max(clustered, plain) / b**2)
        for pair in pairs:
            every = np.mean([judge[key][at] for key in judge if key[1] == pair])
            mean = np.mean([human[key][at] for key in seen[pair]])
            moved = every - np.mean([judge[key][at] for key in seen[pair]])
            corrected[pair, at] = mean + kept * b * moved
    for pair in pairs:
        for key in seen[pair]:
            outcomes[key] = (corrected[pair, 0], corrected[pair, 1])
    np.testing.assert_allclose(found.strength, fitted(ds, outcomes), atol=1e-5)
    t = stats.t.ppf(0.975, len({prompt for prompt, _ in human}) - 2)  # one for the mean, one for the slope
    np.testing.assert_allclose(found.ci_high - found.strength, t * found.standard_error, rtol=1e-9)
    alone = ds.meta.rank_systems().sel(rater="people")
    assert float(found.standard_error.mean()) < float(alone.standard_error.mean())


def test_ranks_clusters_and_win_rates():
    ds = preferences(1, n_prompts=150, systems=("good", "fair", "poor"), people=())
    found = ds.meta.rank_systems().isel(rater=0)
    assert found["rank"].sel(system=["good", "fair", "poor"]).values.tolist() == [1, 2, 3]
    wins = {}
    for (_, pair), (net, _) in units(ds, ("gpt",)).items():
        for system, sign in zip(pair.split(" | "), (1, -1), strict=True):
            wins.setdefault(system, []).append((1 + sign * net) / 2)
    for system, each in wins.items():
        assert float(found.win_rate.sel(system=system)) == pytest.approx(np.mean(each))
    order = np.argsort(-found.strength.values)
    beats = [bool(found.significant[order[at], order[at + 1]]) for at in range(2)]
    assert (np.diff(found.cluster.values[order]) == beats).all()
    p, adjusted = found.pvalue.values, found.pvalue_adjusted.values
    upper = np.triu_indices(3, 1)
    rank = np.argsort(p[upper])
    want = np.minimum(1, np.maximum.accumulate(p[upper][rank] * np.array([3, 2, 1])))
    np.testing.assert_allclose(adjusted[upper][rank], want)
    np.testing.assert_allclose(adjusted, adjusted.T)


def test_names_do_not_matter():
    ds = preferences(6, n_prompts=25, people=())
    want = ds.meta.rank_systems().isel(rater=0).strength
    names = {"alpha": "zz", "beta": "mm", "gamma": "aa"}
    frame = pd.DataFrame(
        [(prompt, *pair.split(" | "), value) for (prompt, pair), (value, _) in units(ds, ("gpt",)).items()],
        columns=["prompt", "left", "right", "choice"],
    )
    turned = frame.assign(left=frame["left"].map(names), right=frame["right"].map(names))
    found = turned.assign(choice=frame["choice"].map({1.0: "left", -1.0: "right", 0.0: "tie"}))
    strengths = found.meta.to_preferences().meta.rank_systems().isel(rater=0).strength
    for old, new in names.items():
        assert float(strengths.sel(system=new)) == pytest.approx(float(want.sel(system=old)), abs=1e-9)


def choices(words, **columns):
    """Three systems, three pairs of each prompt."""
    rows = []
    for prompt, three in enumerate(words):
        for (left, right), word in zip(itertools.combinations("xyz", 2), three, strict=True):
            rows.append((left, right, word, prompt))
    return xsumstat.to_preferences(pd.DataFrame(rows, columns=["left", "right", "choice", "prompt"]).assign(**columns))


def test_a_system_that_wins_all_is_said():
    ds = choices([("left", "left", "left"), ("left", "left", "right"), ("left", "left", "tie")])
    with pytest.warns(UndefinedWarning, match="by 'judge' strengths are infinite"):
        found = ds.meta.rank_systems()
    assert found.strength.isnull().all() and float(found.win_rate.sel(system="x")[0]) == 1.0
    assert "by judge strengths are infinite or undefined; choices won: x (100 %)" in found.meta.conclusion()


def test_all_ties_are_said():
    with pytest.warns(UndefinedWarning, match="all choices are ties"):
        found = choices([("tie", "tie", "tie")] * 4).meta.rank_systems()
    assert (found.win_rate == 0.5).all() and found.pvalue.isnull().all()


def test_limits_that_rest_on_one_prompt():
    words = [("left", "left", "left"), ("left", "left", "right")] * 5 + [("right", "right", "left")]
    with pytest.warns(UndefinedWarning, match="without one prompt the strengths would be infinite, by 'judge'"):
        found = choices(words).meta.rank_systems()
    assert np.isfinite(found.ci_low).all() and np.isfinite(found.strength).all()


def test_refusals():
    with pytest.raises(ValueError, match="there is one prompt with choices"):
        choices([("left", "right", "tie")]).meta.rank_systems()
    two = pd.DataFrame({"left": ["x", "v"] * 3, "right": ["y", "w"] * 3, "choice": ["left", "right"] * 3,
                        "prompt": range(6)})  # fmt: skip
    with pytest.raises(ValueError, match="no choices connect 'v', 'w' with 'x', 'y'"):
        two.meta.to_preferences().meta.rank_systems()
    with pytest.raises(ValueError, match="unknown rater 'ann' judges: 'gpt'|unknown rater 'ann'"):
        preferences(1).meta.rank_systems(rater="ann")


def test_one_pair_is_a_share():
    ds = preferences(1, n_prompts=30).isel(pair=[0])
    found = ds.meta.rank_systems()
    own = found.sel(rater="gpt")
    assert own.sizes["system"] == 2 and float(own.strength.sum()) == pytest.approx(0)
    assert (float(own.pvalue[0, 1]) <= 0.05) == bool(own.significant[0, 1])
    assert float(own.difference_low[0, 1]) == pytest.approx(-float(own.difference_high[1, 0]))


def test_clusters_of_prompts_widen():
    ds = preferences(1, n_prompts=30, people=())
    doubled = xr.concat([ds, ds.assign_coords(prompt=[f"{each} again" for each in ds.prompt.values])], "prompt")
    doubled = doubled.assign_coords(question=("prompt", list(range(30)) * 2))
    want = ds.meta.rank_systems()
    found = doubled.meta.rank_systems(cluster="question")
    np.testing.assert_allclose(found.standard_error, want.standard_error, rtol=1e-6)
    assert float(doubled.meta.rank_systems().standard_error[0, 0]) < 0.8 * float(want.standard_error[0, 0])


def test_what_it_says():
    ds = few_people(preferences(1, n_prompts=120, systems=("good", "fair", "poor")), 30)
    found = ds.meta.rank_systems()
    said = found.meta.conclusion()
    assert said.startswith("For these 3 systems on prompts like these, by people ")
    assert 'By "people + gpt" good (' in said and "is best: it beats" in said
    methods = found.meta.methods()
    assert "for 3 systems and 120 prompts used xsumstat" in methods
    assert "(Bradley & Terry, 1952)" in methods and "(Davidson, 1970)" in methods
    assert found.rater.values.tolist() == ["people", "gpt", "people + gpt"]
    assert found.kind.values.tolist() == ["human", "judge", "both"]
    assert "strength" in found.meta.to_markdown()


def test_two_clusters_of_prompts_have_limits_and_one_has_none():
    """A jackknife of two: half their distance, by t with one degree of freedom."""
    ds = preferences(8, n_prompts=40)
    early = np.arange(40) < 20
    ds = ds.assign_coords(half=("prompt", np.where(early, "a", "b")))
    how = {"confidence_level": 0.9}
    found = ds.meta.rank_systems(cluster="half", **how).sel(rater=["people", "gpt"])
    halves = [ds.isel(prompt=np.flatnonzero(each)).meta.rank_systems(**how) for each in (~early, early)]
    without = [each.strength.sel(rater=["people", "gpt"]).values for each in halves]
    error = np.abs(without[0] - without[1]) / 2
    np.testing.assert_allclose(found.standard_error, error, atol=1e-7)
    half = stats.t.ppf(0.95, 1) * error
    np.testing.assert_allclose([found.ci_low, found.ci_high], [found.strength - half, found.strength + half], atol=1e-6)
    with pytest.raises(ValueError, match="limits need two or more"):
        ds.isel(prompt=np.flatnonzero(early)).meta.rank_systems(cluster="half", **how)

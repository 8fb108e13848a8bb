"""Do judges choose as people do."""

import math

import numpy as np
import pytest
import xarray as xr
from conftest import warns
from preference_cases import deleted, preferences, verdicts
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from xsumstat.inference.score_limits import wilson


def by_pair(ds, drop=False):
    """Each pair's verdicts of people, and of the judge gpt."""
    found = {}
    for (prompt, pair, rater), value in verdicts(ds).items():
        if drop and value == 0:
            continue
        people, judge = found.setdefault((prompt, pair), ([], []))
        (judge if rater == "gpt" else people).append(value)
    return found


@pytest.mark.parametrize("ties", ["count", "drop"])
def test_against_the_plain_twin(ties):
    ds = preferences(4, n_prompts=15, people=("ann", "ben", "cem"), gaps=0.2)
    found = ds.meta.preference_agreement(ties=ties, adjust=None)
    pairs = by_pair(ds, ties == "drop")
    with_judge = {key: (people, judge[0]) for key, (people, judge) in pairs.items() if people and judge}

    def accuracy(prompts):
        return np.mean([np.mean([each == judge for each in people])
                        for (prompt, _), (people, judge) in with_judge.items() if prompt in prompts])  # fmt: skip

    def alike(people):
        return np.mean([one == two for at, one in enumerate(people) for two in people[:at]])

    several = {key: people for key, (people, _) in pairs.items() if len(people) > 1}
    own, people = found.sel(rater="gpt"), found.sel(rater="people")
    prompts = {prompt for prompt, _ in with_judge}
    assert float(own.accuracy) == pytest.approx(accuracy(prompts)) and own.n_pairs == len(with_judge)
    assert float(people.accuracy) == pytest.approx(np.mean([alike(each) for each in several.values()]))
    p, n = accuracy(prompts), len(prompts)
    u = deleted(accuracy, prompts) ** 2 / (p * (1 - p)) * (stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975)) ** 2
    low, high = wilson(np.array(p), u, 0.95)
    assert (float(own.ci_low), float(own.ci_high)) == pytest.approx((float(low), float(high)))
    shared = {key: each for key, each in with_judge.items() if len(each[0]) > 1}

    def apart(prompts):
        return np.mean([np.mean([one == judge for one in people]) - alike(people)
                        for (prompt, _), (people, judge) in shared.items() if prompt in prompts])  # fmt: skip

    prompts = {prompt for prompt, _ in shared}
    assert float(own.difference) == pytest.approx(apart(prompts)) and own.n_shared == len(shared)
    error = deleted(apart, prompts)
    half = stats.t.ppf(0.975, len(prompts) - 1) * error
    assert float(own.difference_high - own.difference) == pytest.approx(half)
    assert float(own.pvalue) == pytest.approx(2 * stats.t.sf(abs(apart(prompts)) / error, len(prompts) - 1))


def test_kappa_is_cohens_of_pairs_seen_from_both_sides():
    ds = preferences(2, n_prompts=20, people=("ann",))
    pairs = by_pair(ds)
    human, judge = np.array([(people[0], own[0]) for people, own in pairs.values()]).T
    want = cohen_kappa_score(np.append(human, -human), np.append(judge, -judge))
    with warns("no_rating"):
        found = ds.meta.preference_agreement()
    own = found.sel(rater="gpt")
    assert float(own.kappa) == pytest.approx(want) and float(own.kappa_low) < want < float(own.kappa_high)
    assert found.sel(rater="people").accuracy.isnull() and math.isnan(float(own.difference))
    assert "Human agreement is unknown" in found.meta.conclusion()
    assert float(own.tie_share) == pytest.approx(np.mean(judge == 0))


def test_a_judge_who_is_one_of_the_people_agrees_as_people_do():
    """On average: here over who of four is called the judge."""
    ds = preferences(3, n_prompts=30, people=("a1", "b1", "c1", "d1"), judges=())
    differences = []
    for judge in ("a1", "b1", "c1", "d1"):
        kinds = ["judge" if each == judge else "human" for each in ds.rater.values]
        differences.append(float(ds.assign_coords(kind=("rater", kinds)).meta.preference_agreement().difference[0]))
    assert np.mean(differences) == pytest.approx(0, abs=1e-12)


def test_names_of_systems_do_not_matter():
    ds = preferences(1, n_prompts=12)
    turned = ds.assign(preference=-ds.preference).assign_coords(left=ds.right, right=ds.left)
    one, two = (each.meta.preference_agreement() for each in (ds, turned))
    for name in ("accuracy", "kappa", "kappa_low", "difference", "pvalue"):
        np.testing.assert_allclose(one[name], two[name])


def test_a_judge_who_agrees_always_has_limits():
    ds = preferences(1, n_prompts=12, people=("ann", "ben"), both=False)
    same = ds.preference.sel(rater="ann", drop=True)
    ds = ds.assign(preference=(ds.preference * 0 + same).transpose(*ds.preference.dims))
    found = ds.meta.preference_agreement()
    own = found.sel(rater="gpt")
    assert float(own.accuracy) == float(own.kappa) == 1 and float(own.ci_high) == float(own.kappa_high) == 1
    assert float(own.ci_low) < 0.9 and float(own.kappa_low) < 0.85 and float(own.difference) == 0
    assert float(own.pvalue) == 1


def test_refusals():
    ds = preferences(1)
    with pytest.raises(ValueError, match="compares judges with humans, and no rater has the kind 'human': name them"):
        ds.sel(rater=["gpt"]).meta.preference_agreement()
    with pytest.raises(ValueError, match="no rater has the kind 'judge'"):
        ds.sel(rater=["ann", "ben"]).meta.preference_agreement()
    with pytest.raises(ValueError, match="ties must be one of 'count', 'drop', got 'half'"):
        ds.meta.preference_agreement(ties="half")
    early = xr.DataArray(np.arange(ds.sizes["prompt"]) < 10, dims="prompt")
    apart = ds.preference.where((ds.kind == "human") == early)
    with pytest.raises(ValueError, match="no pair was judged both by a human and by 'gpt'"):
        ds.assign(preference=apart.transpose(*ds.preference.dims)).meta.preference_agreement()


def test_what_it_says():
    found = preferences(1, n_prompts=40, judges=("gpt", "qwen")).meta.preference_agreement()
    said = found.meta.conclusion()
    assert said.startswith("For these 3 systems on prompts like these, gpt chooses as a person does on ")
    assert "Humans choose alike on" in said and "than they do with each other" in said
    assert "(Cohen, 1960)" in found.meta.methods()
    assert "| people | .6" in found.meta.to_markdown() or "| people | .7" in found.meta.to_markdown()

"""Sentences about preferences against facts: which side, more or less, who beats whom, and how many are not named."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from preference_cases import preferences, verdicts

import xsumstat
from xsumstat.dataset.wording import number
from xsumstat.narrative import findings_preferences
from xsumstat.narrative.conclusions import conclusion

NAN = np.nan


def made(analysis, data, **coords):
    """A result of known numbers along raters."""
    attrs = {
        "analysis": analysis,
        "method": "jackknife",
        "alpha": 0.05,
        "confidence_level": 0.95,
        "alternative": "two-sided",
    }
    return xr.Dataset(data, coords, attrs)


def moves(bias, p):
    """So many raters with 20 of 100 pairs that move, more of them to the first where the bias is positive."""
    bias = np.array(bias)
    first = np.rint(10 + 50 * bias)
    data = {"position_bias": bias, "ci_low": bias - 0.05, "ci_high": bias + 0.05, "pvalue": np.array(p)}
    data |= {"flip_share": 0.2, "flip_low": 0.13, "flip_high": 0.29, "n_first": first, "n_second": 20 - first}
    data |= {"n_pairs": 100, "n_prompts": 50}
    data = {name: ("rater", np.broadcast_to(each, bias.shape)) for name, each in data.items()}
    return made("position_bias", data, rater=list("abcdefg")[: len(bias)])


def test_the_side_that_is_preferred_and_how_many_move_there():
    said = conclusion(moves([0.12, -0.12, 0.02], [0.001, 0.05, 0.4]))
    assert (
        "a prefers the output shown first: 20 % [13 %, 29 %] of 100 choices change with the order, 16 to the first and "
        "4 to the second (p = .001)." in said
    )
    assert "b prefers the output shown second" in said and "4 to the first and 16 to the second (p = .050)." in said
    assert "c shows no significant preference for a position" in said and "11 to the first and 9 to the second" in said


@pytest.mark.parametrize(("n", "more"), [(4, None), (5, "1 more"), (7, "3 more")])
def test_raters_that_are_not_named_are_counted(n, more):
    said = conclusion(moves([0.12] * n, [0.001] * n))
    assert said.count("prefers the output shown first") == 4
    assert f"So do {more} raters" in said if more else "So do" not in said
    none = conclusion(moves([0.02] * n, [0.4] * n))
    assert "No significant preference for a position was found for a" in none and "prefers" not in none


def agreement(difference, p):
    names = ["gpt", "people"]
    data = {"accuracy": [0.7, 0.6], "ci_low": [0.6, 0.5], "ci_high": [0.8, 0.7], "kappa": [0.4, 0.2]}
    data |= {"n_pairs": [90.0, 80.0], "n_shared": [30.0, 0.0], "pvalue": [p, NAN]}
    limits = {"difference_low": difference - 0.1, "difference": difference, "difference_high": difference + 0.1}
    data |= {name: [each, NAN] for name, each in limits.items()}
    return made("preference_agreement", {name: ("rater", each) for name, each in data.items()}, rater=names)


@pytest.mark.parametrize(
    ("difference", "p", "told"),
    [
        (0.2, 0.01, "gpt agrees with humans more than they agree with each other (20.0 points [10.0, 30.0], p = .010)"),
        (-0.2, 0.05, "gpt agrees with humans less than they agree with each other (-20.0 points [-30.0, -10.0]"),
        (0.2, 0.06, "gpt agrees with humans not significantly more or less than they do with each other"),
    ],
)
def test_judges_agree_more_or_less_than_people_do(difference, p, told):
    said = conclusion(agreement(difference, p))
    assert f"On the 30 pairs that two humans judged, {told}" in said
    assert "gpt chooses as a person does on 70 % [60 %, 80 %] of 90 pairs, κ = .40." in said
    assert "Humans choose alike on 60 % [50 %, 70 %] of 80 pairs, κ = .20." in said


@pytest.mark.parametrize(
    ("own", "theirs", "noise"),
    [
        *((0.6, 0.8, True), (0.4, 0.2, True), (0.5, 0.8, True)),
        *((0.4, 0.8, False), (0.6, 0.3, False), (0.9, 0.8, False), (0.8, 0.8, False)),
    ],
)
def test_noise_alone_brings_shares_nearer_to_one_half_on_the_same_side(own, theirs, noise):
    data = {"share": own, "human_share": theirs, "difference": own - theirs, "pvalue": 0.001}
    data |= {"ci_low": own - theirs - 0.1, "ci_high": own - theirs + 0.1, "n_pairs": 90.0}
    data = {name: (("rater", "covariate"), [[each]]) for name, each in data.items()}
    result = made("preference_bias", data, rater=["gpt"], covariate=["length"])
    said = conclusion(result.assign(is_group=("covariate", [False])))
    assert (
        f"gpt chooses the output of higher length (ties count half) in {100 * own:.0f} % of 90 pairs, "
        f"humans in {100 * theirs:.0f}" in said
    )
    assert ("noise in its choices alone can explain" in said) == noise


def ranked(p, cluster):
    """Three systems of strengths .5, .1 and -.6 by people, with these p-values of the first against each other."""
    strengths = np.array([0.1, 0.5, -0.6])
    table = np.full((3, 3), 0.5)
    np.fill_diagonal(table, NAN)
    table[1, [0, 2]] = table[[0, 2], 1] = p
    data = {name: (("rater", "system"), [strengths + off]) for name, off in
            (("strength", 0.0), ("ci_low", -0.2), ("ci_high", 0.2))}  # fmt: skip
    data |= {"cluster": (("rater", "system"), [cluster]), "pvalue": (("rater", "system", "other_system"), [table])}
    return made("rank_systems", data, rater=["people"], system=list("xyz"), other_system=list("xyz"))


@pytest.mark.parametrize(
    ("p", "cluster", "told"),
    [
        ((0.01, 0.05), [2, 1, 2], "y (.50 [.30, .70]) is best: it beats x (.10 [-.10, .30]) and z (-.60 [-.80, "),
        ((0.2, 0.05), [1, 1, 2], "y (.50 [.30, .70]) is first, not significantly ahead of x (.10 [-.10, .30]), and "
                                 "beats z."),
        ((0.2, 0.06), [1, 1, 1], "is first, not significantly ahead of x (.10 [-.10, .30]) and z (-.60 [-.80, -.40])."),
    ],
)  # fmt: skip
def test_the_best_system_beats_all_others_or_some(p, cluster, told):
    assert told in conclusion(ranked(p, cluster))


# --- From choices ---


def chosen(ds, rater):
    """Share of each system's choices that it won, a tie as half of one."""
    won, n = Counter(), Counter()
    for (_, pair, by), value in verdicts(ds).items():
        if by == rater:
            left, right = (str(ds[side].sel(pair=pair).item()) for side in ("left", "right"))
            won[left] += (1 + value) / 2
            won[right] += (1 - value) / 2
            n.update((left, right))
    return {system: won[system] / n[system] for system in n}


@pytest.mark.filterwarnings("ignore")
def test_where_strengths_are_infinite_the_choices_won_are_told():
    """Ann always prefers alpha; the judge mostly."""
    words = [(f"p{at}", "alpha", "beta", "alpha", "ann") for at in range(20)]
    words += [(f"p{at}", "alpha", "beta", "beta" if at % 3 == 0 else "alpha", "gpt") for at in range(20)]
    frame = pd.DataFrame(words, columns=["prompt", "left", "right", "choice", "rater"])
    ds = xsumstat.to_preferences(frame, rater="rater", kind={"human": ["ann"]})
    result = ds.meta.rank_systems()
    assert np.isnan(result.strength.sel(rater="people")).all()
    by_ann, by_judge = chosen(ds, "ann"), chosen(ds, "gpt")
    said = conclusion(result)
    told = f"alpha ({100 * by_ann['alpha']:.0f} %) and beta ({100 * by_ann['beta']:.0f} %)"
    assert f"by people strengths are infinite or undefined; choices won: {told}." in said
    value = float(result.strength.sel(rater="gpt", system="alpha"))
    assert value == pytest.approx(np.log(by_judge["alpha"] / by_judge["beta"]) / 2)
    assert f"By gpt alpha ({number(value)} [" in said


def test_the_first_of_a_cluster_alone_is_not_ahead_of_those_that_it_does_not_beat():
    """The best has a cluster of its own, which corrected p-values of other pairs can leave it."""
    said = conclusion(ranked((0.2, 0.05), [2, 1, 2]))
    assert "y (.50 [.30, .70]) is first, not significantly ahead of x (.10 [-.10, .30]), and beats z." in said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("people", [("ann",), ("ann", "ben")])
def test_human_agreement_is_known_of_pairs_that_two_humans_judged(people):
    ds = preferences(2, people=people)
    both = Counter((prompt, pair) for (prompt, pair, rater) in verdicts(ds) if rater in people)
    shared = sum(n > 1 for n in both.values())
    said = conclusion(ds.meta.preference_agreement())
    assert ("Human agreement is unknown: no pair was judged by two humans." in said) == (shared == 0)
    assert (f"On the {shared} pairs that two humans judged, gpt agrees with humans" in said) == (shared > 0)


def test_judges_without_a_test_are_not_compared_with_humans():
    assert "On the " not in conclusion(agreement(0.2, NAN)) and "Humans choose alike on 60 %" in conclusion(
        agreement(0.2, NAN)
    )
    assert "On the " not in conclusion(agreement(NAN, 0.01))


@pytest.mark.parametrize(("found", "rest"), [(5, 0), (4, 1), (6, 5), (0, 6), (1, 4)])
def test_differences_that_are_not_named_are_counted(found, rest):
    covariates = [f"c{at}" for at in range(found + rest)]
    p = np.array([[0.05] * found + [0.0501] * rest])
    data = {"share": 0.8, "human_share": 0.6, "difference": 0.2, "ci_low": 0.1, "ci_high": 0.3, "n_pairs": 90.0}
    data = {name: np.full(p.shape, each) for name, each in data.items()} | {"pvalue": p}
    data = {name: (("rater", "covariate"), each) for name, each in data.items()}
    result = made("preference_bias", data, rater=["gpt"], covariate=covariates)
    said = conclusion(result.assign(is_group=("covariate", [False] * p.size)))
    named, others = re.split("[Nn]o significant difference from humans: |$", said, maxsplit=1)[:2]
    assert named.count("the output of higher") == min(found, 4) and others.count("of higher") == min(rest, 4)
    more = f"{found - 4} more differences are significant." if found > 4 else None
    assert (more in said) if more else ("more differences" not in said)
    assert (f"; and {rest - 4} more." in said) == (rest > 4)


SHARES = {0.0: "0 %", 0.005: "0.5 %", 0.00999: "0.999 %", 0.01: "1 %", 0.015: "2 %", 0.99: "99 %", 0.9951: "99.5 %"}


@pytest.mark.parametrize(("share", "shown"), SHARES.items())
def test_shares_near_0_and_100_have_more_digits(share, shown):
    assert findings_preferences.percent(share) == shown


@pytest.mark.parametrize("ties", ["drop", "count"])
def test_ties_that_are_left_out_are_said_to_be(ties):
    said = conclusion(agreement(0.2, 0.01).assign_attrs(ties=ties))
    assert ("of 90 pairs, κ = .40, ties left out." in said) == (ties == "drop")
    assert ("of 90 pairs, κ = .40." in said) == (ties == "count")

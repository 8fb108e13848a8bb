"""What is said of two versions of a judge."""

import re

import numpy as np
import pytest
import xarray as xr
from helpers import for_each
from scipy import stats
from versions_of_a_judge import plain, versions

import xsumstat  # noqa: F401 - registers ds.meta
from xsumstat.dataset.wording import number
from xsumstat.narrative import findings_drift

ALL = {
    **{"difference": -0.03, "ci_low": -0.06, "ci_high": 0.02, "margin": 0.05, "pvalue": 0.12},
    **{"new_correlation": 0.71, "old_correlation": 0.74},
    **{"flip_share": 0.17, "flip_low": 0.12, "flip_high": 0.23, "n_pairs": 234},
    **{"reversal_share": 0.05, "reversal_low": 0.02, "reversal_high": 0.09},
    **{"changed_share": 0.61, "changed_low": 0.53, "changed_high": 0.69, "n_outputs": 158},
    **{"n_only_new": 0, "n_only_old": 0},
    **{"shift": 0.24, "shift_low": 0.05, "shift_high": 0.43, "shift_pvalue": 0.016},
    **{"heterogeneity": 8.76, "df_numerator": 2, "df_denominator": 36, "heterogeneity_pvalue": 0.0001},
}
SYSTEMS = {
    **{"system_shift": [0.93, 0.1, -0.3], "system_shift_low": [0.6, -0.2, -0.7], "system_shift_high": [1.2, 0.4, 0.1]},
    **{"system_shift_pvalue_adjusted": [0.001, 0.5, 0.2]},
    **{"excess": [1.03, -0.2, -0.8], "excess_low": [0.7, -0.6, -1.2], "excess_high": [1.4, 0.2, -0.4]},
    **{"excess_pvalue_adjusted": [0.001, 0.6, 0.01], "rank": [1, 2, 3], "old_rank": [2, 1, 3]},
}


def said(judges=("judge",), systems=("a", "b", "c"), **changed):
    numbers, each = {**ALL, **{key: at for key, at in changed.items() if key in ALL}}, SYSTEMS | changed
    data = {name: ("metric", [at] * len(judges)) for name, at in numbers.items()}
    data |= {name: (("metric", "system"), [np.asarray(each[name])[: len(systems)]] * len(judges)) for name in SYSTEMS}
    attrs = {"analysis": "drift", "level": "global", "coefficient": "pearson", "resample": "input", "gold": "human"}
    attrs |= {"method": "jackknife", "alpha": 0.05, "margin": 0.05, "n_systems": len(systems), "n_inputs": 40}
    return xr.Dataset(data, {"metric": list(judges), "system": list(systems)}, attrs).meta.conclusion()


def test_agreement_and_its_test_come_first():
    text = said()
    assert text.startswith(
        "For these 3 systems on inputs like these, the agreement of judge with the human scores "
        "changed by -.03 (90 % jackknife "
        "interval [-.06, .02]; Pearson's r, global level), from .74 to .71; it is not shown to be equivalent within "
        "±.05 (p = .120, two one-sided jackknife tests)."
    )
    assert "it is equivalent within ±.05 (p = .040" in said(pvalue=0.04)
    assert "; there is no equivalence test." in said(pvalue=np.nan, ci_low=np.nan)
    assert "is undefined by one version or both" in said(difference=np.nan)


def test_verdicts_and_scores_are_counted():
    assert (
        "61 % [53 %, 69 %] of 158 scores changed; 17 % [12 %, 23 %] of 234 verdicts between two systems changed, "
        "5 % [2 %, 9 %] were reversed (95 % intervals)." in said()
    )
    alone = said(systems=("a",), n_pairs=0, heterogeneity_pvalue=np.nan)
    assert "of 158 scores changed (95 % interval). Scores" in alone and "verdicts" not in alone and "Ranks" not in alone


def test_outputs_that_one_version_alone_scored_are_counted():
    assert "no score" not in said()
    assert "The new version has no score for 80 of the 238 outputs that the old one scored; they are left out." in said(
        n_only_old=80
    )
    assert "The old version has no score for 1 of the 159 outputs that the new one scored; they are left out." in said(
        n_only_new=1
    )
    assert "that the old one scored and the old version has no score for 1 of the 159 outputs" in said(
        n_only_old=80, n_only_new=1
    )


def test_shifts_and_their_differences_are_told():
    text = said()
    assert (
        "Scores changed by .24 [.05, .43] on average (95 % interval, p = .016); significantly for a .93 [.60, 1.20]."
        in text
    )
    assert (
        "The shifts differ between systems, which can change their order (F(2, 36.0) = 8.76, p < .001); shift minus "
        "that of the other systems: a 1.03 [.70, 1.40] and c -.80 [-1.20, -.40]." in text
    )
    assert "Ranks of systems by their means changed: a from 2 to 1 and b from 1 to 2." in text
    calm = said(heterogeneity_pvalue=0.4, old_rank=[1, 2, 3])
    assert "The shifts of the systems do not differ significantly (F(2, 36.0) = 8.76, p = .400)." in calm
    assert "Ranks" not in calm


def test_of_many_judges_the_first_are_told():
    assert "p < .001); shift minus" in said(judges=("v", "w")) and ". The agreement of w with the human scores" in said(
        judges=("v", "w")
    )
    text = said(judges=tuple("vwxyz"), pvalue=0.01)
    assert text.count("it is equivalent") == 2 and "Of 3 more metrics 3 changed by less than .05." in text


NAN = np.nan


def test_correlations_that_one_version_lacks_are_not_told():
    text = said(old_correlation=NAN)
    assert "changed by -.03 (90 % jackknife interval [-.06, .02]; Pearson's r, global level); it is not shown" in text
    assert "from" not in text.partition("it is not")[0] and "nan" not in text
    assert "from" not in said(new_correlation=NAN).partition("it is not")[0]


def test_without_common_scores_nothing_is_said_of_verdicts_and_shifts():
    text = said(n_outputs=0, n_pairs=0, shift=NAN, heterogeneity_pvalue=NAN, old_rank=[1, 2, 3])
    assert "of 0 scores changed" not in text and "verdicts" not in text and "Scores changed" not in text
    assert "nan" not in text and "%" not in text.replace("90 %", "")


def test_shifts_without_a_test_have_no_p_value():
    assert "Scores changed by .24 [.05, .43] on average (95 % interval); significantly for a" in said(shift_pvalue=NAN)
    untested = said(heterogeneity_pvalue=NAN)
    assert "No test of different shifts could be made: it needs more inputs than systems." in untested
    assert "No test of different shifts" not in said(systems=("a",), heterogeneity_pvalue=NAN)


def of_two(shift=0.7, noise=1.0):
    new, old = versions(noise=noise, shift=(shift,), prompts=30)
    return new, old, new.meta.drift(old)


def test_a_rule_on_drift_tells_the_change_of_agreement():
    new, old, result = of_two()
    r = [float(ds.meta.corr("human", metric="judge", level="global").correlation[0]) for ds in (new, old)]
    one = result.isel(metric=0)
    assert float(one.difference) == pytest.approx(r[0] - r[1], abs=0.01)  # versions lack an output each
    low, high = float(one.ci_low), float(one.ci_high)
    told = findings_drift.change(one, "judge")
    assert told.startswith(f"Agreement of judge with the human scores changed by {number(float(one.difference))} [")
    assert f"[{number(low)}, {number(high)}] (90 % interval; Pearson's r, " in told
    wider = findings_drift.change(one.assign_attrs(alpha=0.1), "judge")
    assert "(80 % interval; " in wider
    unknown = findings_drift.change(one.assign(difference=NAN), "judge")
    assert unknown == "Agreement of judge with the human scores is undefined by one version or both"


@pytest.mark.filterwarnings("ignore")
@for_each("seed, shift", [(0, 0.0), (1, 0.7), (2, 2.0), (3, -1.0)])
def test_what_is_said_of_two_versions_is_counted_in_their_scores(seed, shift):
    new, old = versions(systems=3, prompts=25, seed=seed, noise=0.6, shift=(shift,))
    now, then = plain(new), plain(old)
    both = ~np.isnan(now + then)
    changed = int((now != then)[both].sum())
    flips = reversed_ = pairs = 0
    for one, two in ((0, 1), (0, 2), (1, 2)):
        for at in range(now.shape[1]):
            if both[one, at] and both[two, at]:
                signs = [np.sign(scores[one, at] - scores[two, at]) for scores in (now, then)]
                pairs += 1
                flips += signs[0] != signs[1]
                reversed_ += signs[0] * signs[1] < 0
    text = new.meta.drift(old).meta.conclusion()
    share = [f"{100 * n / of:.0f} %" for n, of in ((changed, both.sum()), (flips, pairs), (reversed_, pairs))]
    assert re.search(rf"(^|\D){share[0]} \[[^]]+\] of {both.sum()} scores changed; {share[1]} \[", text)
    assert re.search(rf"of {pairs} verdicts between two systems changed, {share[2]} \[[^]]+\] were reversed", text)
    means = [np.nanmean(np.where(both, scores, NAN), axis=1) for scores in (now, then)]
    assert f"Scores changed by {number(float((means[0] - means[1]).mean()))} [" in text
    ranks = [(-mean).argsort().argsort() + 1 for mean in means]
    moved = [
        f"{name} from {was} to {is_}" for name, is_, was in zip(new.system.values, *ranks, strict=True) if is_ != was
    ]
    told = re.search(r"Ranks of systems by their means changed: ([^.]+)\.", text)
    assert (told is None) == (not moved) and (not moved or re.split(", | and ", told[1]) == moved)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_limits_of_shares_count_the_prompts_that_have_cases(level):
    """A prompt on which one system alone has scores has no verdict; Wilson's limits by t, over the others."""
    new, old = versions(systems=2, prompts=16, seed=4, noise=0.8, gaps=False)
    for ds in (new, old):
        ds.score[0, 0, :6] = NAN
    signs = np.stack([np.sign(each[0, 6:] - each[1, 6:]) for each in map(plain, (new, old))])
    flips = signs[0] != signs[1]
    n, share = len(flips), flips.mean()
    assert 0 < share < 1
    without = np.array([np.delete(flips, at).mean() for at in range(n)])
    variance = (n - 1) / n * ((without - without.mean()) ** 2).sum()
    z, t = stats.norm.isf((1 - level) / 2), stats.t.isf((1 - level) / 2, n - 1)
    per_n = max(variance / (share * (1 - share)), 1 / n) * (t / z) ** 2
    middle, half = share + z**2 * per_n / 2, z * np.sqrt(share * (1 - share) * per_n + z**2 * per_n**2 / 4)
    low, high = ((middle + side * half) / (1 + z**2 * per_n) for side in (-1, 1))
    result = new.meta.drift(old, alpha=round(1 - level, 4)).isel(metric=0)
    assert [float(result[f"flip_{end}"]) for end in ("share", "low", "high")] == pytest.approx([share, low, high])
    assert f"{100 * share:.0f} % [{100 * low:.0f} %, {100 * high:.0f} %] of {n} verdicts" in result.meta.conclusion()


def test_the_largest_shifts_come_first_whatever_their_sign():
    value = np.array([0.5, -0.9, -0.7, 0.6])
    p = {f"{name}_pvalue_adjusted": [0.01] * 4 for name in ("system_shift", "excess")}
    ends = (("low", -0.1), ("high", 0.1))
    limits = {f"{name}_{end}": value + by for name in ("system_shift", "excess") for end, by in ends}
    changed = {"system_shift": value, "excess": value, **p, **limits, "rank": [1, 2, 3, 4], "old_rank": [1, 2, 3, 4]}
    text = said(systems=("a", "b", "c", "d"), **changed)
    order = "b -.90 [-1.00, -.80], c -.70 [-.80, -.60], d .60 [.50, .70] and 1 more"
    assert f"significantly for {order}." in text and f"shift minus that of the other systems: {order}." in text

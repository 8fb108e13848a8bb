"""What is said of two versions of a judge."""

import numpy as np
import xarray as xr

import xsumstat  # noqa: F401 - registers ds.meta

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
        "5 % [2 %, 9 %] were reversed." in said()
    )
    alone = said(systems=("a",), n_pairs=0, heterogeneity_pvalue=np.nan)
    assert "of 158 scores changed. Scores" in alone and "verdicts" not in alone and "Ranks" not in alone


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
    assert "Scores changed by .24 [.05, .43] on average (p = .016); significantly for a .93 [.60, 1.20]." in text
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

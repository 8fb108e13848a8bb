"""Two versions of a judge on the same outputs: agreement, flips, shifts, and the gate of the command line."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import xarray as xr

from xsumstat import __main__ as cli
from xsumstat import gate
from xsumstat.drift import Anchored

HOW = {"level": "input", "coefficient": "pearson"}


def versions(systems=4, prompts=40, seed=0, noise=0.3, shift=(), gaps=True):
    """Grades of people, and of a judge's two versions, the new one higher by `shift` for some systems."""
    rng = np.random.default_rng(seed)
    shape = (systems, prompts)
    human = rng.normal(size=(1, prompts)) + rng.normal(size=shape)
    old = np.round(2 * (human + rng.normal(size=shape)))
    new = np.round(old + noise * rng.normal(size=shape))
    for at, by in enumerate(shift):
        new[at] += by
    names = {"system": [f"s{at}" for at in range(systems)], "input": [f"i{at}" for at in range(prompts)]}
    found = []
    for judge in (new, old):
        score = np.stack([judge, human])
        ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": ["judge", "human"], **names})
        found.append(ds.assign_attrs(gold="human"))
    if gaps:
        found[0].score[0, 1, 3] = found[1].score[0, 2, 5] = np.nan
    return found


def plain(ds):
    return ds.score.sel(metric="judge").values


def test_flips_are_counted_and_their_limits_leave_inputs_out():
    new, old = versions()
    share, low, high = Anchored.of(new, old).flips("judge", 0.9)
    a, b = plain(new), plain(old)
    there = ~np.isnan(a + b)
    changed = there & (a != b)
    assert share == changed.sum() / there.sum()
    without = [np.delete(changed, at, 1).sum() / np.delete(there, at, 1).sum() for at in range(40)]
    v = 39 / 40 * ((without - np.mean(without)) ** 2).sum()
    per_n = max(v / (share * (1 - share)), 1 / there.sum())
    z2 = scipy.stats.t.ppf(0.95, 39) ** 2 * per_n  # Wilson's, with as many outputs as have this variance
    middle, half = share + z2 / 2, math.sqrt(z2 * share * (1 - share) + z2**2 / 4)
    assert (low, high) == pytest.approx(((middle - half) / (1 + z2), (middle + half) / (1 + z2)))


def test_equal_scores_have_not_changed_and_the_share_keeps_a_width():
    new, old = versions(noise=0)
    share, low, high = Anchored.of(new, old).flips("judge", 0.95)
    assert share == low == 0 and 0.02 < high < 0.2


def test_shifts_are_paired_t_tests_over_inputs():
    new, old = versions(shift=(1.0,))
    found = Anchored.of(new, old).shifts("judge", 0.05)
    tests = [scipy.stats.ttest_rel(a, b, nan_policy="omit") for a, b in zip(plain(new), plain(old), strict=True)]
    np.testing.assert_allclose(found["pvalue"], [each.pvalue for each in tests])
    np.testing.assert_allclose(found["difference"], np.nanmean(plain(new) - plain(old), axis=1))
    limits = [each.confidence_interval() for each in tests]
    np.testing.assert_allclose(found["ci_low"], [each.low for each in limits])
    p = np.sort(found["pvalue"].values)
    holm = np.minimum(1, np.maximum.accumulate(p * [4, 3, 2, 1]))
    np.testing.assert_allclose(np.sort(found["pvalue_adjusted"].values), holm)


def test_the_interaction_compares_shifts_of_two_systems():
    new, old = versions(shift=(1.0, 1.0), seed=1)
    found = Anchored.of(new, old).interaction("judge", 0.05)
    change = plain(new) - plain(old)
    for a, b in ((0, 1), (0, 2), (3, 1)):
        expected = scipy.stats.ttest_rel(change[a], change[b], nan_policy="omit")
        assert found["pvalue"].values[a, b] == pytest.approx(expected.pvalue)
    assert int(found["n_significant"]) == 4 and int(found["n_tests"]) == 6


def test_agreement_changes_by_the_difference_of_two_correlations():
    new, old = versions(gaps=False, noise=2.0)
    found = Anchored.of(new, old).agreement("judge", 0.1, **HOW)
    human = new.score.sel(metric="human").values
    r = [np.mean([np.corrcoef(x[:, j], human[:, j])[0, 1] for j in range(40)]) for x in (plain(new), plain(old))]
    assert float(found["difference"]) == pytest.approx(r[0] - r[1])


@pytest.mark.filterwarnings("ignore")
def test_the_gate_asks_for_equivalence_within_the_bound():
    new, old = versions(noise=0.6)
    check = {"anchor": old, "metric": "judge", "level": "input", "coefficient": "pearson"}
    found = Anchored.of(new, old).agreement("judge", 0.1, **HOW)
    low, high = float(found["ci_low"]), float(found["ci_high"])
    far = max(-low, high)
    wide = gate.check(new, gate.Requirement("d", "drift", 1.02 * far), **check)
    narrow = gate.check(new, gate.Requirement("d", "drift", 0.98 * far), **check)
    assert [wide.status, narrow.status] == [gate.MET, gate.NOT_MET]
    assert "of scores that changed" in wide.line and "on 158 of 159 outputs" in wide.line
    assert "shifts differ significantly in 0 of 6 pairs of systems" in wide.line
    shifted = gate.check(versions(shift=(1.0,))[0], gate.requirement("drift <= .5"), **check)
    assert "mean of s0 changed by" in shifted.line and "in 3 of 6 pairs" in shifted.line


@pytest.mark.filterwarnings("ignore")
def test_inputs_that_only_one_file_has_are_left_out_and_counted():
    new, old = versions(gaps=False)
    part = Anchored.of(new, old.isel(input=slice(30, None, -1)))
    assert part.changes("judge").notnull().sum() == 31 * 4 and part.n_new == 160
    whole = Anchored.of(new.isel(input=slice(31)), old)
    assert part.flips("judge", 0.9) == whole.flips("judge", 0.9)


def test_what_cannot_be_joined():
    new, old = versions()
    with pytest.raises(ValueError, match="shares no output"):
        Anchored.of(new, old.assign_coords(input=[f"x{at}" for at in range(40)]))
    with pytest.raises(ValueError, match="metric that anchor lacks"):
        Anchored.of(new, old.assign_coords(metric=["grader", "human"]))
    with pytest.raises(ValueError, match="got the dim 'run'"):
        Anchored.of(new, old.expand_dims(run=["a", "b"]))
    with pytest.raises(ValueError, match="other texts as labels"):
        Anchored.of(new.assign_attrs(labels=("fail", "pass")), old)
    with pytest.raises(ValueError, match="must be allowed to be above 0"):
        gate.requirement("drift <= 0")
    assert gate.check(new, gate.requirement("drift <= .1")).status == gate.UNKNOWN


@pytest.mark.filterwarnings("ignore")
def test_the_command_line(tmp_path, capsys):
    for name, ds in zip(("new", "old"), versions(gaps=False), strict=True):
        frame = ds.score.to_series().unstack("metric").reset_index()
        pd.DataFrame(frame).to_csv(tmp_path / f"{name}.csv", index=False)
    asked = [str(tmp_path / "new.csv"), "--gold", "human", "--level", "input", "--anchor", str(tmp_path / "old.csv")]
    assert cli.main([*asked, "--require", "drift <= .5"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("drift <= .5: met. judge: agreement changed by ")
    assert cli.main([*asked, "--require", "drift <= .0001"]) == 1
    assert cli.main([*asked, "--require", "drift <= .5", "--require", "pearson >= .99"]) == 1
    capsys.readouterr()
    assert cli.main(asked) == 2
    assert "--anchor and --require 'drift <= .05' need each other" in capsys.readouterr().err
    assert cli.main([*asked[:-2], "--require", "drift <= .5"]) == 2

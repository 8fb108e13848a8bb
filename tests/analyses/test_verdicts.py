import numpy as np
import pytest
import xarray as xr

import xsumstat  # noqa: F401
from xsumstat.resampling import draws

KEYS = ["first", "second", "undecided"]


def plain(x, z, confidence, n_resamples, seed):
    """Verdicts of all pairs by gold and by metric, and the weighted F1, in a plain loop over the same draws."""
    verdicts = []
    for a in range(len(x)):
        for b in range(a + 1, len(x)):
            both = ~np.isnan(x[a] + x[b] + z[a] + z[b])
            pair = []
            for scores in (z, x):
                one, two = scores[a][both], scores[b][both]
                wins = [0, 0]
                for block in range(draws.n_blocks(n_resamples)):
                    rows = draws.block_rows(n_resamples, block)
                    for row in draws.counts(seed, "input", int(both.sum()), block, rows):
                        gap = (row * (one - two)).sum() / both.sum()
                        wins[0] += gap > 1e-9
                        wins[1] += gap < -1e-9
                shares = [each / n_resamples for each in wins]
                pair.append(
                    "first" if shares[0] >= confidence else "second" if shares[1] >= confidence else "undecided"
                )
            verdicts.append(tuple(pair))
    f1 = 0.0
    for key in KEYS:
        agreed = sum(v == (key, key) for v in verdicts)
        gold, metric = (sum(v[at] == key for v in verdicts) for at in (0, 1))
        precision, recall = agreed / metric if metric else 0.0, agreed / gold if gold else 0.0
        f1 += gold / len(verdicts) * (2 * precision * recall / (precision + recall) if agreed else 0.0)
    return verdicts, f1


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_verdicts_and_f1_equal_a_plain_loop(small, gaps, confidence):
    ds = small.copy(deep=True)
    if gaps:
        ds.score[0, 2, 1] = ds.score[1, 4, 3] = ds.score[2, 2, 0] = np.nan
    got = ds.meta.discriminative_agreement("m0", confidence_level=confidence, n_resamples=300, rng=7)
    for metric in ("m1", "m2", "m3"):
        verdicts, f1 = plain(ds.score.sel(metric=metric).values, ds.score.sel(metric="m0").values, confidence, 300, 7)
        here = got.sel(metric=metric)
        assert float(here.f1) == pytest.approx(f1, abs=1e-12)
        assert float(here.accuracy) == pytest.approx(np.mean([a == b for a, b in verdicts]))
        for gold in KEYS:
            for own in KEYS:
                cell = here.confusion.sel(gold_verdict=gold, metric_verdict=own)
                assert int(cell) == verdicts.count((gold, own))


def test_a_duplicate_is_undecided_against_itself(realsumm):
    """In the authors' code the second of two systems is better wherever the first is not."""
    got = realsumm.meta.discriminative_agreement(rng=0, n_resamples=999)
    here = {"system": "bart_out", "other_system": "bart_out (extractive)"}
    assert (got.win_share.sel(here) == 0).all() and (got.gold_win_share.sel(here) == 0).all()
    turned = got.win_share.transpose("metric", "other_system", "system").values
    np.testing.assert_allclose((got.win_share.values + turned)[:, 0, 1], 1, atol=0.2)
    assert (got.confusion.sum(("gold_verdict", "metric_verdict")) == 300).all()


@pytest.mark.ignore_codes("direction")
def test_the_gold_agrees_with_itself_and_its_opposite_does_not(small):
    score = small.score.drop_vars("kind")
    same = score.sel(metric=["m0"]).assign_coords(metric=["same"])
    ds = xr.concat([score, same, -same.assign_coords(metric=["turned"])], "metric")
    how = {"confidence_level": 0.6, "n_resamples": 200, "rng": 1}
    with pytest.warns(UserWarning, match="'same' equals the gold 'm0'"):
        got = ds.to_dataset(name="score").meta.discriminative_agreement("m0", **how)
    assert float(got.f1.sel(metric="same")) == 1 == float(got.accuracy.sel(metric="same"))
    turned = got.confusion.sel(metric="turned").values
    assert turned[0, 0] == turned[1, 1] == 0 and turned[0, 1] > 0 and turned[1, 0] > 0


def test_further_dims_missing_gold_and_lazy_scores(small):
    both = xr.concat([small[["score"]], small[["score"]] ** 3], "language").assign_coords(language=["en", "de"])
    got = both.meta.discriminative_agreement("m0", n_resamples=99, rng=1)
    assert got.f1.dims == ("metric", "language")
    one = small.meta.discriminative_agreement("m0", n_resamples=99, rng=1)
    np.testing.assert_array_equal(got.f1.sel(language="en"), one.f1)
    np.testing.assert_array_equal(got.confusion.sel(language="en"), one.confusion)
    assert one.attrs["analysis"] == "discriminative_agreement" and one.attrs["gold"] == "m0"
    pytest.importorskip("dask")
    xr.testing.assert_equal(small.chunk().meta.discriminative_agreement("m0", n_resamples=99, rng=1).compute(), one)
    frame = one.meta.to_frame()
    assert list(frame.columns) == ["metric", "kind", "f1", "accuracy"] and len(frame) == 3


def test_pairs_that_share_too_little_get_no_verdict(small):
    ds = small.copy(deep=True)
    ds.score[:, 0, :3] = np.nan
    ds.score[:, 1, 3:] = np.nan
    ds.score[:, 2, 1:] = np.nan
    with pytest.warns(UserWarning) as caught:
        got = ds.meta.discriminative_agreement("m0", n_resamples=50, rng=1)
    texts = " ".join(str(each.message) for each in caught)
    assert "no input in common" in texts and "only one input in common" in texts
    assert (got.confusion.sum(("gold_verdict", "metric_verdict")) == 9).all()
    assert got.n_inputs.sel(metric="m1", system="s2", other_system="s3") == 1
    assert all(got.n_inputs.sel(metric="m1", system=name, other_system=name) == 0 for name in got.system.values)
    assert np.isnan(got.win_share.sel(system="s2", other_system="s3")).all()


def test_systems_without_labels_keep_their_numbers(small):
    ds = small.drop_vars("system")
    ds.score[:, 3] = np.nan
    with pytest.warns(UserWarning, match=r"left out 1 system .no output has .*: 3$"):
        got = ds.meta.discriminative_agreement("m0", n_resamples=50, rng=1)
    assert got.system.values.tolist() == [0, 1, 2, 4, 5]


@pytest.mark.parametrize("confidence", [0.5, 1.0, 0.2])
def test_confidence_must_leave_one_winner(small, confidence):
    with pytest.raises(ValueError, match="confidence_level must"):
        small.meta.discriminative_agreement("m0", confidence_level=confidence)


def test_a_share_that_reaches_the_level_decides(small):
    keywords = {"metric": "m1", "n_resamples": 40, "rng": 7}
    shares = small.meta.discriminative_agreement("m0", **keywords).squeeze("metric")
    a, b = np.triu_indices(small.sizes["system"], 1)
    by_gold, by_metric = (
        np.array([each.values[a, b], each.values[b, a]]) for each in (shares.gold_win_share, shares.win_share)
    )
    levels = [float(share) for share in np.unique([by_gold, by_metric]) if 0.5 < share < 1]
    assert levels
    for level in levels[:: 1 + len(levels) // 8]:
        want = np.zeros((3, 3), int)
        for gold, own in zip(by_gold.T, by_metric.T, strict=True):
            verdicts = (0 if each[0] >= level else 1 if each[1] >= level else 2 for each in (gold, own))
            want[tuple(verdicts)] += 1
        got = small.meta.discriminative_agreement("m0", confidence_level=level, **keywords)
        np.testing.assert_array_equal(got.confusion.squeeze("metric"), want)


def test_two_inputs_in_common_are_enough_for_a_verdict(small):
    ds = small.isel(input=slice(2))
    got = ds.meta.discriminative_agreement("m0", metric="m1", n_resamples=60, rng=7).squeeze("metric")
    verdicts, f1 = plain(ds.score.sel(metric="m1").values, ds.score.sel(metric="m0").values, 0.95, 60, 7)
    assert float(got.f1) == pytest.approx(f1, abs=1e-12)
    assert float(got.accuracy) == pytest.approx(np.mean([a == b for a, b in verdicts]))
    assert int(got.confusion.sum()) == len(verdicts)

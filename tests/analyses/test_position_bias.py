"""Does a judge prefer what is shown first."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from preference_cases import deleted, moves, preferences, sign_pvalue
from scipy import stats

import xsumstat
from xsumstat.core.caveats import LeftOutWarning, UndefinedWarning


def both_orders(first, second, stays, each=1):
    """One judge: pairs that move to the first, to the second, and that stay; `each` of a prompt."""
    rows = []
    words = [("left", "right")] * first + [("right", "left")] * second + [("left", "left")] * stays
    for at, pair in enumerate(words):
        rows += [
            ("a", f"b{at % each}", word, at // each, swapped) for word, swapped in zip(pair, (False, True), strict=True)
        ]
    frame = pd.DataFrame(rows, columns=["left", "right", "choice", "prompt", "swapped"])
    return xsumstat.to_preferences(frame, order="swapped")


def test_the_sign_test_of_pairs_that_change():
    found = both_orders(24, 6, 170).meta.position_bias()
    assert float(found.pvalue[0]) == pytest.approx(stats.binomtest(24, 30).pvalue, rel=1e-12)
    assert found.n_first.item() == 24 and found.n_second.item() == 6 and found.n_pairs.item() == 200
    assert float(found.position_bias[0]) == pytest.approx(18 / 200) and float(found.flip_share[0]) == pytest.approx(
        0.15
    )
    assert bool(found.significant[0]) and found.ci_low.item() > 0
    # Orders that are taken for independent: 24 + 170/2 of 200 first choices and the like, which sees nothing.
    assert stats.binomtest(109, 200).pvalue > 0.1


def test_pairs_of_one_prompt_change_sides_together():
    """Twelve prompts of five pairs that move alike are twelve signs, not sixty."""
    alike = both_orders(45, 15, 0, each=5).meta.position_bias()
    assert float(alike.pvalue[0]) == pytest.approx(stats.binomtest(9, 12).pvalue, rel=1e-12)
    assert not bool(alike.significant[0])
    alone = both_orders(45, 15, 0).meta.position_bias()
    assert float(alone.pvalue[0]) < 0.001 and float(alone.ci_low[0]) > float(alike.ci_low[0])


@pytest.mark.parametrize("seed", range(4))
def test_against_the_plain_twin(seed):
    ds = preferences(seed, n_prompts=9, judges=("gpt", "qwen"), pull=0.3, gaps=0.15)
    with pytest.warns(LeftOutWarning, match="2 raters saw no pair in both orders, left out: 'ann', 'ben'"):
        found = ds.meta.position_bias(adjust=None)
    assert found.rater.values.tolist() == ["gpt", "qwen"]
    for judge in found.rater.values:
        own, by_prompt = found.sel(rater=judge), moves(ds, judge)
        sums = [sum(each) for each in by_prompt.values()]
        assert float(own.pvalue) == pytest.approx(sign_pvalue(sums), rel=1e-9)
        flat = sum(by_prompt.values(), [])
        assert own.n_pairs == len(flat) and own.n_prompts == len(by_prompt)
        assert own.n_first == flat.count(1) and own.n_second == flat.count(-1)
        assert float(own.position_bias) == pytest.approx(sum(flat) / len(flat))

        def share(prompts, by_prompt=by_prompt):
            return np.mean([abs(each) for prompt in prompts for each in by_prompt[prompt]])

        p, v = share(by_prompt), deleted(share, by_prompt) ** 2
        t, z = stats.t.ppf(0.975, len(by_prompt) - 1), stats.norm.ppf(0.975)
        u = max(v / (p * (1 - p)), 1 / len(flat)) * t**2
        half = np.sqrt(p * (1 - p) * u + u**2 / 4) / (1 + u)
        limits = ((p + u / 2) / (1 + u) - half, (p + u / 2) / (1 + u) + half)
        assert z > 0 and (float(own.flip_low), float(own.flip_high)) == pytest.approx(limits)


def test_names_and_the_order_of_rows_do_not_matter():
    ds = preferences(5, judges=("gpt",), people=(), pull=0.3)
    want = ds.meta.position_bias()
    renamed = ds.assign_coords(left=("pair", [f"z{each}" for each in ds.left.values]),
                               right=("pair", [f"a{each}" for each in ds.right.values]))  # fmt: skip
    xr.testing.assert_equal(renamed.meta.position_bias().drop_vars("rater"), want.drop_vars("rater"))
    shuffled = ds.isel(prompt=np.random.default_rng(0).permutation(ds.sizes["prompt"]), pair=[2, 0, 1])
    xr.testing.assert_allclose(shuffled.meta.position_bias(), want)


def test_orders_exchanged_turn_the_sign():
    ds = preferences(5, people=(), pull=0.3)
    turned = ds.assign_coords(order=["right first", "left first"])
    turned = turned.reindex(order=["left first", "right first"])
    found, want = turned.meta.position_bias(), ds.meta.position_bias()
    for one, two in (("position_bias", "position_bias"), ("ci_low", "ci_high"), ("ci_high", "ci_low")):
        np.testing.assert_allclose(found[one], -want[two])
    np.testing.assert_allclose(found.pvalue, want.pvalue)


def test_clusters_of_prompts():
    ds = preferences(2, people=(), n_prompts=12, pull=0.4)
    found = ds.meta.position_bias(cluster="topic")
    by_prompt = moves(ds, "gpt")
    sums = [sum(sum(by_prompt.get(f"p{at}", [])) for at in (2 * topic, 2 * topic + 1)) for topic in range(6)]
    assert float(found.pvalue[0]) == pytest.approx(sign_pvalue(sums), rel=1e-9)
    assert "clustered by topic" in found.meta.conclusion() and found.attrs["cluster"] == "topic"


def test_holm_over_raters_and_alpha_of_the_level():
    ds = preferences(3, people=(), judges=("a1", "b1", "c1"), n_prompts=40, pull=0.15)
    found = ds.meta.position_bias(confidence_level=0.9)
    p = found.pvalue.values
    order = np.argsort(p)
    want = np.minimum(1, np.maximum.accumulate(p[order] * np.array([3, 2, 1])))
    np.testing.assert_allclose(found.pvalue_adjusted.values[order], want)
    assert found.attrs["alpha"] == 0.1 and found.attrs["adjust_method"] == "holm"
    none = ds.meta.position_bias(rater=["c1", "a1"], adjust=None)
    assert none.rater.values.tolist() == ["c1", "a1"] and "pvalue_adjusted" not in none


def test_nothing_moves_and_one_prompt():
    still = both_orders(0, 0, 12).meta.position_bias()
    assert float(still.pvalue[0]) == 1.0 and float(still.position_bias[0]) == 0
    assert float(still.ci_low[0]) < 0 < float(still.ci_high[0]) and float(still.flip_high[0]) > 0.1
    with pytest.warns(UndefinedWarning, match="no interval, which needs two prompts"):
        one = both_orders(3, 0, 1, each=4).meta.position_bias()
    assert float(one.position_bias[0]) == 0.75 and float(one.pvalue[0]) == 1.0 and np.isnan(one.ci_low[0])
    assert "3 to the first and 0 to the second" in one.meta.conclusion()


def test_all_ties():
    ds = both_orders(0, 0, 5)
    found = (ds * 0).meta.position_bias()
    assert float(found.flip_share[0]) == 0 and float(found.pvalue[0]) == 1


def test_refusals():
    with pytest.raises(
        ValueError, match="no rater chose between the same two outputs in both orders; raters: 'ann', 'gpt'"
    ):
        preferences(1, people=("ann",), both=False).meta.position_bias()
    with pytest.raises(ValueError, match="unknown rater 'gtp'; did you mean 'gpt'"):
        preferences(1).meta.position_bias(rater="gtp")
    with pytest.raises(ValueError, match="adjust must be one of 'bonferroni', 'holm', 'bh', 'by'"):
        preferences(1).meta.position_bias(adjust="maxt")
    with pytest.raises(ValueError, match="position_bias.. needs preferences, but this Dataset holds scores"):
        xsumstat.load_dataset("demo").meta.position_bias()
    with pytest.raises(ValueError, match=r"corr\(\) needs scores, but this Dataset holds preferences; its methods"):
        preferences(1).meta.corr("human")


def test_what_it_says():
    ds = preferences(3, people=(), judges=("gpt", "qwen"), n_prompts=60, pull=0.6)
    found = ds.meta.position_bias()
    said = found.meta.conclusion()
    assert said.startswith("For these 3 systems on prompts like these, gpt prefers the output shown first: ")
    assert "sign tests of the pairs whose choice changes" in said and "Holm" in said
    assert "(Zheng et al., 2023)" in found.meta.methods() and "bonett2012adjusted" in found.meta.methods(bibtex=True)
    assert found.attrs["scope"] == "these systems"
    frame = found.meta.to_frame(brief=True)
    assert list(frame.columns)[:4] == ["rater", "position_bias", "ci_low", "ci_high"]


def test_nothing_is_changed_and_lazy_is_the_same():
    pytest.importorskip("dask")
    ds = preferences(1, people=())
    before = ds.copy(deep=True)
    want = ds.meta.position_bias()
    assert ds.identical(before)
    xr.testing.assert_identical(ds.chunk(prompt=4).meta.position_bias(), want)


@pytest.mark.slow
def test_size_where_pairs_of_a_prompt_hang_together():
    """Judges without a preference for a position, whose noise is shared by the pairs of a prompt and an order."""
    n, rng = 400, np.random.default_rng(0)
    quality, noise = rng.normal(size=(60, 1, n)), rng.normal(size=(2, 60, 1, n))
    seen = quality + noise + 0.3 * rng.normal(size=(2, 60, 4, n))
    ds = xr.Dataset(
        {"preference": (("order", "prompt", "pair", "rater"), np.sign(np.where(np.abs(seen) < 0.2, 0, seen)))},
        {"order": ["left first", "right first"], "prompt": range(60), "pair": range(4), "rater": range(n),
         "left": ("pair", list("abcd")), "right": ("pair", list("efgh"))},
    )  # fmt: skip
    found = ds.meta.position_bias(adjust=None)
    first, second = found.n_first.values.astype(int), found.n_second.values.astype(int)
    plain = np.array([stats.binomtest(a, a + b).pvalue for a, b in zip(first, second, strict=True)])
    assert 0.02 <= (found.pvalue <= 0.05).mean() <= 0.08 and (plain <= 0.05).mean() > 0.15

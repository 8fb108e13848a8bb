"""Lines of what a constant and a random metric reach, in pictures of correlations."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def tied(demo):
    """Scores of few points, with many ties."""
    return demo.assign(score=(demo.score / demo.score.max(["system", "input"]) * 3).round())


def pieces(ax):
    """Value, lowest and highest row of each piece of a line."""
    found = [segment for each in ax.collections for segment in getattr(each, "get_segments", list)()]
    return [(x0, *sorted((y0, y1))) for (x0, y0), (x1, y1) in found if x0 == x1]


def words(ax):
    return [text.get_text() for text in ax.figure.legends[0].get_texts()] if ax.figure.legends else []


HOW = {"level": "input", "coefficient": "acc_eq", "threshold": 0.0}


@pytest.mark.parametrize(("question", "picture"), [("corr", "bars"), ("ci", "forest"), ("rank", "clusters")])
def test_a_line_through_all_rows_where_the_metrics_share_their_outputs(tied, question, picture):
    draws = {} if question == "corr" else {"n_resamples": 99, "rng": 0}
    result = getattr(tied.meta, question)("human", **draws, **HOW)
    ax = getattr(result.meta.plot, picture)()
    want = [float(result[name][0]) for name in ("baseline_constant", "baseline")]
    got = pieces(ax)
    for value in want:
        here = sorted((low, high) for x, low, high in got if x == pytest.approx(value, abs=1e-12))
        assert here == [(row - 0.5, row + 0.5) for row in range(6)]
    assert words(ax)[-2:] == [f"constant metric, {want[0]:.2f}", f"random metric, {want[1]:.2f}"]


def test_a_metric_with_gaps_has_a_piece_of_its_own(tied):
    first = xr.DataArray(np.arange(tied.sizes["input"]) < 10, dims="input")
    gappy = tied.assign(score=tied.score.where((tied.metric != "bleu") | first))
    with pytest.warns(UserWarning, match="bleu"):
        result = gappy.meta.corr("human", **HOW)
    ax = result.meta.plot.bars()
    row = [tick.get_text() for tick in ax.get_yticklabels()].index("bleu")
    for value in (float(result[name].sel(metric="bleu")) for name in ("baseline_constant", "baseline")):
        assert any((x, low) == pytest.approx((value, row - 0.5)) for x, low, _ in pieces(ax))
    assert {len(text.split(",")) for text in words(ax)} <= {1, 2}


def test_of_two_that_are_equal_one_is_drawn_and_the_least_value_is_not(demo, tied):
    result = tied.meta.corr("human", level="input", coefficient="acc_eq")
    same = result.assign(dict.fromkeys(("baseline", "baseline_constant"), xr.full_like(result.baseline, 0.4)))
    assert words(same.meta.plot.bars()) == ["constant or random metric, 0.40"]
    ax = demo.meta.ci("human", coefficient="pairwise_accuracy").meta.plot.forest()
    assert [text for text in words(ax) if "metric" in text] == ["random metric, 0.50"]
    assert all(x != 0 for x, *_ in pieces(ax))


def test_labels_side_by_side_have_lines_of_their_own(demo):
    found = [demo.meta.ci("human", coefficient=name, n_resamples=99, rng=0) for name in ("spa", "pairwise_accuracy")]
    both = xr.concat(found, pd.Index(["soft", "hard"], name="kind_of"), combine_attrs="override")
    ax = both.meta.plot.forest(hue="kind_of")
    for at, kind in enumerate(("soft", "hard")):
        value = float(both.baseline.sel(kind_of=kind).isel(metric=0))
        assert any(x == pytest.approx(value) and (low % 1 < 0.5) == (at == 1) for x, low, _ in pieces(ax))
    assert [text for text in words(ax) if "random" in text] == ["random metric"]


def test_correlations_and_differences_have_none(demo):
    assert not any("random" in text for text in words(of_demo("ci", "human").meta.plot.forest()))
    gap = demo.meta.ci("human", metric="judge", other="bleu", coefficient="pairwise_accuracy")
    assert not any("random" in text for text in words(gap.meta.plot.forest()))
    other = demo.meta.corr("human", metric=["judge", "bleu"], coefficient="spa")
    assert not any("random" in text for text in words(other.meta.plot.bars("n_undefined")))

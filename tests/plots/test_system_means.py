"""The picture of mean human scores draws the numbers of the result."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")


def means(demo, **how):
    few = demo.score.sel(metric="human").isel(input=slice(0, 15))
    return demo.meta.system_means(few, metric="judge", **how)


def test_what_is_drawn_are_the_numbers(demo):
    result = means(demo)
    axis = result.meta.plot.system_means(title="$a_title$")
    order = np.argsort(-result["mean"].values, kind="stable")
    assert [text.get_text() for text in axis.get_yticklabels()] == result.system.values[order].tolist()
    human, mean = axis.get_lines()[:2]
    np.testing.assert_allclose(mean.get_xdata(), result["mean"].values[order])
    np.testing.assert_allclose(human.get_xdata(), result["human_mean"].values[order])
    ends = [np.array([part[:, 0] for part in lines.get_segments()]) for lines in axis.collections]
    for drawn, names in zip(ends, (("human_ci_low", "human_ci_high"), ("ci_low", "ci_high")), strict=True):
        np.testing.assert_allclose(drawn, np.stack([result[name].values[order] for name in names], axis=1))
    assert axis.figure._suptitle.get_text() == "$a_title$"
    assert axis.get_xlabel() == "mean of human"


def test_chosen_systems_in_a_given_order(demo):
    axis = means(demo).meta.plot.system_means(order=["abstractor-1", "extractor-2"])
    assert [text.get_text() for text in axis.get_yticklabels()] == ["abstractor-1", "extractor-2"]
    axis = means(demo).isel(system=0).meta.plot.system_means()
    assert len(axis.get_yticklabels()) == 1


def test_other_results_are_refused(demo):
    with pytest.raises(ValueError, match="system_means"):
        demo.meta.corr().meta.plot.system_means()

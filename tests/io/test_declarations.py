"""What to_scores is told beside the scores: gold, directions and kinds of metrics."""

import numpy as np
import pandas as pd
import pytest

import xsumstat  # noqa: F401

WIDE = pd.DataFrame(
    {
        "system": ["a", "a", "b", "b"],
        "input": [1, 2, 1, 2],
        "human": [1.0, 2.0, 3.0, 4.0],
        "TER": [0.4, 0.3, 0.2, 0.1],
        "gpt": [5.0, 6.0, 7.0, 9.0],
    }
)
TIDY = WIDE.melt(["system", "input"], var_name="metric", value_name="score")


@pytest.mark.parametrize("frame, keywords", [(WIDE, {"wide": True}), (TIDY, {})])
def test_gold_directions_and_kinds(frame, keywords):
    ds = frame.meta.to_scores(gold="human", lower_is_better=["TER"], kind={"judge": ["gpt"]}, **keywords)
    assert ds.attrs["gold"] == "human"
    assert dict(zip(ds.metric.values, ds.higher_is_better.values, strict=True)) == {
        "human": True, "TER": False, "gpt": True,
    }  # fmt: skip
    assert ds.higher_is_better.dtype == bool
    assert list(ds.kind.values) == ["human", "automatic", "judge"]
    plain = frame.meta.to_scores(**keywords)
    assert "gold" not in plain.attrs and not {"higher_is_better", "kind"} & set(plain.coords)


def test_what_columns_say_is_kept_where_nothing_else_is_declared():
    described = TIDY.assign(
        kind=TIDY.metric.map({"human": "human", "TER": "edit", "gpt": "llm"}), higher_is_better=TIDY.metric != "gpt"
    )
    ds = described.meta.to_scores(lower_is_better="TER", kind={"judge": "gpt"})
    assert list(ds.higher_is_better.values) == [True, False, False]
    assert list(ds.kind.values) == ["human", "edit", "judge"]


@pytest.mark.parametrize(
    "keywords, error, message",
    [
        ({"gold": "Human"}, ValueError, "unknown gold 'Human'; did you mean 'human'"),
        ({"gold": "quality"}, ValueError, r"gold='quality' is a column, .* pass ratings='quality'"),
        ({"lower_is_better": ["ter"]}, ValueError, "unknown metric in lower_is_better 'ter'; did you mean 'TER'"),
        ({"lower_is_better": "ter"}, ValueError, "unknown metric in lower_is_better 'ter'; did you mean 'TER'"),
        ({"kind": {"judge": ["GPT"]}}, ValueError, r"unknown metric in kind\['judge'\] 'GPT'; did you mean 'gpt'"),
        ({"kind": {"gpt": "judge"}}, ValueError, r"write \{'judge': \['gpt'\]\}, got \{'gpt': 'judge'\}"),
        ({"kind": {"judge": ["gpt"], "llm": ["gpt"]}}, ValueError, "calls the metric 'gpt' both 'judge' and 'llm'"),
        ({"kind": "judge"}, TypeError, r"kind must map each kind to its metrics, as \{'human'"),
    ],
)
def test_labels_that_there_are_not(keywords, error, message):
    frame = WIDE.assign(quality=[1, 2, 3, 4])
    with pytest.raises(error, match=message):
        frame.meta.to_scores(wide=True, metric=["human", "TER", "gpt"], **keywords)


def test_declared_metrics_are_turned_and_judged_so():
    frame = pd.concat([WIDE.assign(system=WIDE.system + str(at), human=WIDE.human * (at + 1)) for at in range(3)])
    ds = frame.assign(crowd=frame.human + 1).meta.to_scores(
        wide=True, gold="human", lower_is_better="TER", kind={"human": "crowd"}
    )
    found = ds.meta.corr().correlation
    assert list(found.metric.values) == ["TER", "gpt"]
    means = frame.groupby("system")[["human", "TER"]].mean()
    assert float(found.sel(metric="TER")) == pytest.approx(-np.corrcoef(means.human, means.TER)[0, 1])

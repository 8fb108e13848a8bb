"""Long names in pictures, tables and sentences: different ones stay different."""

import itertools

import numpy as np
import pytest
import xarray as xr

import xsumstat  # noqa: F401
from xsumstat.plots import captions

HASHES = [
    "microsoft/deberta-xlarge-mnli_L40_no-idf_version=0.3.12(hug_trans=4.30.0)-rescaled",
    "microsoft/deberta-xlarge-mnli_L40_idf_version=0.3.12(hug_trans=4.30.0)-rescaled",
]
CHECKPOINTS = [
    f"meta-llama/Llama-3-70b-instruct-checkpoint-{at:05}-temperature-0.0-max-tokens-512-greedy" for at in range(8)
]


@pytest.mark.parametrize("names", [HASHES, CHECKPOINTS, [*HASHES, "bleu"]])
def test_drawn_labels_differ_where_names_do(names):
    texts = captions.texts(xr.DataArray(names))
    assert len(set(texts)) == len(names) and all(len(text) <= 40 for text in texts)
    for (one, name), (two, other) in itertools.combinations(zip(texts, names, strict=True), 2):
        assert one != two and name != other
    assert captions.texts(xr.DataArray(["bleu", "x" * 50])) == ["bleu", f"{'x' * 24}…{'x' * 15}"]


@pytest.mark.filterwarnings("ignore")
def test_sentences_and_tables_show_whole_names(demo):
    names = dict(zip(["bertscore", "rouge"], HASHES, strict=True))
    ds = demo.assign_coords(metric=[names.get(each, each) for each in demo.metric.values])
    result = ds.meta.compare_metrics("human", metric=[*HASHES, "judge"], level="input")
    said = result.meta.conclusion()
    assert all(name in said for name in HASHES)
    assert all(name in result.meta.to_markdown().replace("\\", "") for name in HASHES)
    systems = demo.isel(system=slice(0, 8)).assign_coords(system=np.array(CHECKPOINTS, dtype=object))
    table = systems.meta.compare_systems(metric="human").meta.to_markdown().replace("\\", "")
    assert all(table.count(f"| {name} |") >= 1 for name in CHECKPOINTS)

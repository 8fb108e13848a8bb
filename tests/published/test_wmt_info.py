"""The settings of WMT's metrics tasks are those of the toolkit's `meta_info.py`."""

import hashlib
import json

import numpy as np
import pytest
import task_folders

import xsumstat

# SHA-256 of the sorted list, in JSON, of [pair, standard reference, human scores of segments, outliers, primary metrics
# with baselines, baselines], made of the toolkit's file: 2022 and 2023 at 38882cc9, 2024 of two copies that agree.
TOOLKIT = {
    "wmt22": "fb8bf9cb004d22211bef60036d1878abfcedb749439a3f6aaee7c86c822357b5",
    "wmt23": "d603f69d48026c7dc84cd957bd9c104b8575129efe29f69b236c6311d81382d6",
    "wmt24": "8b43687eac4d2e39e277ca8a7b4dc175d089327ab22feafeb7dad5155e7681df",
}


@pytest.mark.parametrize("test_set", TOOLKIT)
def test_settings_are_the_toolkit_s(test_set):
    rows = []
    for row in xsumstat.wmt_info(test_set).itertuples():
        # of 2022 the toolkit has no list of baselines, and of later years it counts them as primary
        primary = sorted({*row.primary, *row.baselines})
        gold = row.gold if isinstance(row.gold, str) else "None"
        rows.append([row.language_pair, row.reference, gold, sorted(row.outliers), primary, sorted(row.baselines)])
    assert hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest() == TOOLKIT[test_set]


def test_2025_has_the_protocols_that_were_announced():
    info = xsumstat.wmt_info("wmt25").set_index("language_pair")
    assert info.index[info.gold == "mqm"].tolist() == ["en-ko", "ja-zh"] and len(info) == 16
    assert set(info.gold) == {"mqm", "esa"} and info.reference.isna().all()


def test_each_row_has_a_source():
    info = xsumstat.wmt_info()
    assert info.groupby("test_set").size().to_dict() == {"wmt22": 21, "wmt23": 14, "wmt24": 11, "wmt25": 16}
    assert (
        info.source.str.contains("meta_info|statmt").all() and not info.duplicated(["test_set", "language_pair"]).any()
    )
    with pytest.raises(ValueError, match="test_set must be one of"):
        xsumstat.wmt_info("wmt21")


@pytest.mark.parametrize("test_set", ["wmt22", "wmt23", "wmt24"])
def test_weights_are_what_the_tasks_weigh(tmp_path, test_set):
    info = xsumstat.wmt_info(test_set)
    ranked = info[info.ranked].set_index("language_pair")
    pairs = {pair: ("refA", "refB") if row.reference == "refB" else ("refA",) for pair, row in ranked.iterrows()}
    root, _ = task_folders.make(tmp_path, test_set, pairs, files=False)
    data = xsumstat.read_mtme(tmp_path, test_set, list(pairs))
    tasks = xsumstat.wmt_tasks(data) if test_set != "wmt22" else xsumstat.wmt_tasks(_renamed(data))
    total = sum(task["weight"] for task in tasks.values())
    for pair, row in ranked.iterrows():
        own = sum(task["weight"] for name, task in tasks.items() if name.split()[0] == pair)
        assert own / total == pytest.approx(row.weight)
    assert np.isclose(info.weight.sum(), 1 if test_set == "wmt24" else 0.75)


def _renamed(data):
    """With two of WMT22's domains."""
    names = {"news": "news", "social": "ecommerce"}
    return {pair: ds.assign_coords(domain=("input", [names[d] for d in ds.domain.values])) for pair, ds in data.items()}

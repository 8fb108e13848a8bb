"""Small files that would fill the memory: refused before memory is taken; large ones that are right are read."""

import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from helpers import realsumm_scores

import xsumstat
from xsumstat.io import cells, frames, inspect_logs, plain_pickles, stores

# Each file is read by a process of its own, forked from one that has imported all: their memory is counted apart.
READ = """
import os, resource, sys, xsumstat
from xsumstat.io import frames
import pandas, pyarrow.parquet
for path in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        xsumstat.read_realsumm({"a": path}) if path.endswith(".pkl") else frames.read_scores(path)
        said = "it was read"
    except ValueError as error:
        said = " ".join(str(error).split())
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(os.path.basename(path), grown, said, sep="\\t", flush=True)
    os._exit(0)
"""


def zipped(path, summaries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "m", "task": "t"}}))
        archive.writestr("summaries.json", summaries)


def parquet(path):
    n = 12_000_000
    table = pytest.importorskip("pyarrow").table
    constant = {name: np.zeros(n // 10, dtype=np.int8) for name in ("system", "input", "a", "b")}
    import pyarrow.parquet as pq  # noqa: PLC0415

    with pq.ParquetWriter(path, table(constant).schema, compression="zstd") as writer:
        for _ in range(10):
            writer.write_table(table(constant), row_group_size=n)


WRITERS = {
    "a zip file": ("a.eval", lambda path: zipped(path, "[" + "{}," * 8_000_000 + "{}]"), "times as many"),
    "JSON": ("a.json", lambda path: path.write_text('{"eval": [' + "{}," * 2_500_000 + "{}]}"), "lists and mappings"),
    "a line": ("a.jsonl", lambda path: path.write_text('{"metrics": [' + "[]," * 2_500_000 + "[]]}"), "lists and"),
    "a pickle": ("a.pkl", lambda path: path.write_bytes(b"\x80\x02" + b"}" * 8_000_000 + b"."), "lists and mappings"),
    "parquet": ("a.parquet", parquet, "times as many"),
}


@pytest.mark.slow
def test_files_made_to_exhaust_memory_take_none(tmp_path):
    pytest.importorskip("pyarrow")
    for name, write, _ in WRITERS.values():
        write(tmp_path / name)
    asked = [sys.executable, "-W", "ignore", "-c", READ, *(str(tmp_path / name) for name, *_ in WRITERS.values())]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=120)
    found = {name: (float(grown), said) for name, grown, said in (row.split("\t") for row in done.stdout.splitlines())}
    # What the file itself takes, read and decoded, and no more: unchecked each would take 180 MB and more.
    wrong = [
        (kind, found.get(name))
        for kind, (name, _, message) in WRITERS.items()
        if name not in found
        or found[name][0] >= 75
        or message not in found[name][1]
        or "may be damaged, or made to exhaust memory" not in found[name][1]
    ]
    assert not wrong, (wrong, done.stderr)


def test_a_large_log_that_is_right_is_read(tmp_path, monkeypatch):
    """Samples that hardly differ, packed to a hundredth of their size, and as plain JSON."""
    monkeypatch.setattr(cells, "_LONG_JSON", 2**19)
    monkeypatch.setattr(inspect_logs, "_LARGE", 2**19)
    samples = [
        {"id": at, "epoch": 1, "input": "What is one and one? " * 4, "scores": {"match": {"value": "CI"[at % 3 == 0]}}}
        for at in range(5_000)
    ]
    text = json.dumps(samples)
    assert len(text) > cells._LONG_JSON
    zipped(tmp_path / "a.eval", text)
    (tmp_path / "a.json").write_text(json.dumps({"eval": {"model": "m", "task": "t"}, "samples": samples}))
    assert (tmp_path / "a.eval").stat().st_size < len(text) / 20
    for name in ("a.eval", "a.json"):
        ds = xsumstat.read_inspect(tmp_path / name)
        assert ds.sizes["input"] == 5_000 and int(ds.score.sum()) == sum(at % 3 > 0 for at in range(5_000))


def test_a_large_pickle_that_is_right_is_read(tmp_path):
    content = realsumm_scores([f"s{at}" for at in range(30)], range(400), wrap=np.float32)
    path = tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps(content, protocol=3))
    assert path.stat().st_size > plain_pickles._LONG
    assert dict(xsumstat.read_realsumm({"a": path}).score.sizes) == {"metric": 2, "system": 30, "input": 400}


def test_a_table_that_packs_well_is_read(tmp_path, monkeypatch):
    """Grades of 1 to 5 of a few systems, in columns that repeat their labels: some dozen times their file."""
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    labels = pd.MultiIndex.from_product([list("abcd"), range(20_000)], names=["system", "input"])
    frame = pd.DataFrame({"human": rng.integers(1, 6, len(labels))}, labels).reset_index()
    frame.to_parquet(tmp_path / "a.parquet", compression="zstd")
    monkeypatch.setattr(stores, "_LARGE", 0)
    assert frames.read_scores(tmp_path / "a.parquet").score.notnull().all()

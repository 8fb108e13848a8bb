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
from xsumstat.io import cells, frames, plain_pickles, stores

READ = """
import resource, sys, xsumstat
from xsumstat.io import frames
import pandas, pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    frames.read_scores(sys.argv[1]) if sys.argv[2] == "scores" else xsumstat.read_realsumm({"a": sys.argv[1]})
except ValueError as error:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
    print(error)
"""


def zipped(path, summaries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "m", "task": "t"}}))
        archive.writestr("summaries.json", summaries)


def parquet(path):
    n = 30_000_000
    table = pytest.importorskip("pyarrow").table
    constant = {name: np.zeros(n // 10, dtype=np.int8) for name in ("system", "input", "a", "b")}
    import pyarrow.parquet as pq  # noqa: PLC0415

    with pq.ParquetWriter(path, table(constant).schema, compression="zstd") as writer:
        for _ in range(10):
            writer.write_table(table(constant), row_group_size=n)


WRITERS = {
    "a zip file": ("a.eval", lambda path: zipped(path, "[" + "{}," * 20_000_000 + "{}]"), "times as many"),
    "JSON": ("a.json", lambda path: path.write_text('{"eval": [' + "{}," * 5_000_000 + "{}]}"), "lists and mappings"),
    "a line": ("a.jsonl", lambda path: path.write_text('{"metrics": [' + "[]," * 5_000_000 + "[]]}"), "lists and"),
    "a pickle": ("a.pkl", lambda path: path.write_bytes(b"\x80\x02" + b"}" * 20_000_000 + b"."), "lists and mappings"),
    "parquet": ("a.parquet", parquet, "times as many"),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_made_to_exhaust_memory_takes_none(tmp_path, kind):
    name, write, message = WRITERS[kind]
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    write(path)
    asked = "pickle" if kind == "a pickle" else "scores"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ, str(path), asked], capture_output=True, text=True, check=True
    )
    grown, said = done.stdout.split("\n", 1)
    # What the file itself takes, read and decoded, and no more: unchecked each would take 700 MB and more.
    assert message in said and float(grown) < 150, done.stdout
    assert "may be damaged, or made to exhaust memory" in said


def test_a_large_log_that_is_right_is_read(tmp_path):
    """Samples that hardly differ, packed to a hundredth of 6 MB, and as plain JSON."""
    samples = [
        {"id": at, "epoch": 1, "input": "What is one and one? " * 4, "scores": {"match": {"value": "CI"[at % 3 == 0]}}}
        for at in range(40_000)
    ]
    text = json.dumps(samples)
    assert len(text) > cells._LONG_JSON
    zipped(tmp_path / "a.eval", text)
    (tmp_path / "a.json").write_text(json.dumps({"eval": {"model": "m", "task": "t"}, "samples": samples}))
    assert (tmp_path / "a.eval").stat().st_size < len(text) / 20
    for name in ("a.eval", "a.json"):
        ds = xsumstat.read_inspect(tmp_path / name)
        assert ds.sizes["input"] == 40_000 and int(ds.score.sum()) == sum(at % 3 > 0 for at in range(40_000))


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

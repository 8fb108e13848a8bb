import hashlib
import http.server
import shutil
import socket
import threading

import make_demo
import numpy as np
import pandas as pd
import pytest

import xsumstat
from xsumstat.io import published

# --- the demo ---


def test_the_embedded_files_are_what_the_generator_writes():
    for name, frame in zip(("demo.csv", "demo_metrics.csv"), make_demo.frames(), strict=True):
        pd.testing.assert_frame_equal(pd.read_csv(make_demo.FOLDER / name), frame)


def test_demo_is_small_labelled_and_needs_no_network(monkeypatch, demo):
    monkeypatch.setattr(socket, "socket", None)
    again = xsumstat.load_dataset("demo")
    assert again.identical(demo)
    assert demo.attrs["gold"] == "human"
    assert demo.score.sizes == {"metric": 7, "system": 12, "input": 30}
    assert set(demo.coords) >= {"kind", "higher_is_better", "system_type"}
    assert not demo.score.isnull().any()


def test_the_known_truth_is_that_of_a_large_population(demo):
    """400 systems: the correlations of a large sample come within four standard errors of the stated ones."""
    scores = make_demo.simulate(400, make_demo.INPUTS, seed=99)
    large = xsumstat.load_dataset("demo")[["score"]].isel(system=[0]).drop_vars(["system", "system_type"])
    large = large.isel(system=np.zeros(400, int)).copy(deep=True)
    for at, metric in enumerate(large.metric.values):
        large.score[at] = scores[metric]
    for level in ("system", "input"):
        found = large.meta.corr("human", level=level).correlation
        truth = demo.truth.sel(level=level, metric=found.metric)
        np.testing.assert_allclose(found, truth, atol=4 / np.sqrt(400))
    for level in ("global", "within_system"):  # 30 inputs only: the inputs' own effects vary much
        many = make_demo.simulate(60, 600, seed=98)
        for metric in ("judge", "rouge"):
            x, z = many[metric], many["human"]
            if level == "global":
                found = np.corrcoef(x.ravel(), z.ravel())[0, 1]
            else:
                found = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(x, z, strict=True)])
            assert found == pytest.approx(float(demo.truth.sel(level=level, metric=metric)), abs=0.1)


# --- the published sets ---


def test_summeval(summeval):
    assert summeval.score.sizes == {"metric": 42, "system": 16, "input": 100}
    assert summeval.rating.sizes == {"judgment": 8, "system": 16, "input": 100, "rater": 5}
    assert not summeval.score.isnull().any()
    expert = summeval.rating.sel(judgment="expert_relevance")
    assert expert.sel(rater=[4, 5]).isnull().all() and expert.sel(rater=[1, 2, 3]).notnull().all()
    np.testing.assert_allclose(expert.mean("rater"), summeval.score.sel(metric="expert_relevance"), atol=1e-12)
    humans = summeval.metric[summeval.kind == "human"].values
    assert len(humans) == 8 and all(name.startswith(("expert_", "turker_")) for name in humans)
    assert summeval.attrs["gold"] == "expert_relevance"
    assert (summeval.system_type == "extractive").sum() == 4
    # First line of rouge.jsonl.
    cell = {"system": "M0", "input": "cnn-test-404f859482d47c127868964a9a39d1a7645dd2e9"}
    assert float(summeval.score.sel(metric="rouge-1_f1", **cell)) == 35.556


def test_realsumm(mirror):
    with pytest.warns(UserWarning, match=r"'bart_out \(extractive\)' repeats 'bart_out'"):
        ds = xsumstat.load_dataset("realsumm")
    assert ds.score.sizes == {"metric": 15, "system": 25, "input": 100}
    assert (ds.system_type == "abstractive").sum() == 14 and (ds.system_type == "extractive").sum() == 11
    assert (ds.duplicate_of != "").sum() == 1
    assert list(ds.metric[ds.kind == "human"].values) == ["litepyramid_recall"]


def test_the_two_copies_of_realsumm_agree(realsumm, mirror):
    copy = xsumstat.load_dataset("realsumm-sacrerouge")
    assert copy.score.sizes == {"metric": 27, "system": 24, "input": 100}
    alone = realsumm.sel(system=realsumm.duplicate_of == "")
    assert set(alone.system.values) == set(copy.system.values)
    alone = alone.sel(system=copy.system, input=copy.input)
    np.testing.assert_array_equal(alone.system_type, copy.system_type)
    for ours, theirs in (("rouge_2_recall", "rouge-2_recall"), ("litepyramid_recall", "litepyramid_recall")):
        np.testing.assert_allclose(alone.score.sel(metric=ours), copy.score.sel(metric=theirs), atol=1e-12)


def test_hashes_are_those_of_the_mirror(mirror):
    listed = dict(reversed(line.split()) for line in (mirror / "SHA256SUMS").read_text().splitlines())
    mqm = [line.split() for line in (mirror / "mqm/SHA256SUMS").read_text().splitlines()]
    listed |= {f"mqm/{name}": digest for digest, name in mqm if name == "ted/ende/mqm_ted_ende.tsv"}
    assert listed == published._HASHES


def test_addresses_are_pinned_to_a_commit():
    for name in published._HASHES:
        url = published._url(name)
        assert url.startswith("https://raw.githubusercontent.com/") and url.endswith(name.split("/", 1)[1])
        assert any(len(part) == 40 for part in url.split("/"))


def test_an_unknown_name():
    with pytest.raises(
        ValueError, match=r"name must be one of 'demo', 'summeval', .* got 'sumeval'; did you mean 'summeval'\?"
    ):
        xsumstat.load_dataset("sumeval")


# --- fetching ---


@pytest.fixture
def mirrored(tmp_path, monkeypatch):
    """A folder laid out like the mirror, with small files of ours and their hashes."""
    import json
    import pickle

    folder = tmp_path / "published"
    scores = {"rouge": 0.5, "litepyramid_recall": 0.25}
    content = {1: {"system_summaries": {f"s{i}.txt": {"scores": scores} for i in range(2)}}}
    line = {"instance_id": "1", "summarizer_id": "M0", "metrics": {"rouge-1": {"f1": 0.5}}}
    files = {
        "realsumm/abs.pkl": pickle.dumps(content),
        "realsumm/ext.pkl": pickle.dumps({1: {"system_summaries": {"t.txt": {"scores": scores}}}}),
        "sacrerouge/fabbri2020/rouge.jsonl": json.dumps(line).encode(),
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    monkeypatch.setattr(published, "_HASHES", {name: hashlib.sha256(data).hexdigest() for name, data in files.items()})
    monkeypatch.delenv("XSUMSTAT_DATA_DIR", raising=False)
    monkeypatch.delenv("XSUMSTAT_DATA_URL", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class HangsUp(Quiet):
    """Promises more than it sends, then closes the connection."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b"half a file")
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def serve(mirrored):
    servers = []

    def start(handler=Quiet):
        def made(*args, **keywords):
            return handler(*args, directory=str(mirrored), **keywords)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), made)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def cached(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache").rglob("*") if path.is_file())


@pytest.mark.slow
def test_files_are_fetched_once_and_kept(serve, monkeypatch, tmp_path, mirrored):
    monkeypatch.setenv("XSUMSTAT_DATA_URL", serve())
    first = xsumstat.load_dataset("realsumm")
    assert list(first.system.values) == ["s0", "s1", "t"] and first.attrs["gold"] == "litepyramid_recall"
    assert cached(tmp_path) == ["abs.pkl", "ext.pkl"]
    shutil.rmtree(mirrored)  # the second time nothing is asked of the server
    assert xsumstat.load_dataset("realsumm").identical(first)
    monkeypatch.setenv("XSUMSTAT_DATA_URL", "http://127.0.0.1:9")
    assert xsumstat.load_dataset("realsumm").identical(first)


def test_the_published_addresses_are_what_is_fetched(serve, monkeypatch):
    base = serve()
    monkeypatch.setattr(published, "_REALSUMM", f"{base}/realsumm/")
    assert xsumstat.load_dataset("realsumm").sizes["system"] == 3


@pytest.mark.slow
def test_a_file_that_was_changed_is_refused_and_not_kept(serve, monkeypatch, tmp_path, mirrored):
    monkeypatch.setenv("XSUMSTAT_DATA_URL", serve())
    (mirrored / "realsumm/ext.pkl").write_bytes(b"something else")
    with pytest.raises(ValueError, match="ext.pkl is not the published file.*hash"):
        xsumstat.load_dataset("realsumm")
    assert cached(tmp_path) == ["abs.pkl"]


def test_a_broken_connection_is_said_and_leaves_no_half_file(serve, monkeypatch, tmp_path):
    monkeypatch.setenv("XSUMSTAT_DATA_URL", serve(HangsUp))
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # between tries
    with pytest.raises(OSError, match="could not fetch http://127.0.0.1.*abs.pkl: .*set XSUMSTAT_DATA_DIR"):
        xsumstat.load_dataset("realsumm")
    assert cached(tmp_path) == []


@pytest.mark.slow
def test_no_connection_and_no_such_file_are_said(serve, monkeypatch, mirrored):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setenv("XSUMSTAT_DATA_URL", "http://127.0.0.1:9")
    with pytest.raises(OSError, match="could not fetch http://127.0.0.1:9/realsumm/abs.pkl"):
        xsumstat.load_dataset("realsumm")
    (mirrored / "realsumm/abs.pkl").unlink()
    monkeypatch.setenv("XSUMSTAT_DATA_URL", serve())
    with pytest.raises(OSError, match="could not fetch .*abs.pkl: 404"):
        xsumstat.load_dataset("realsumm")


def test_a_local_mirror_is_read_in_place_and_checked(monkeypatch, mirrored, tmp_path):
    monkeypatch.setenv("XSUMSTAT_DATA_DIR", str(mirrored))
    assert xsumstat.load_dataset("realsumm").sizes["system"] == 3
    assert cached(tmp_path) == []
    (mirrored / "realsumm/abs.pkl").write_bytes(b"something else")
    with pytest.raises(ValueError, match="abs.pkl is not the published file: its SHA-256 is"):
        xsumstat.load_dataset("realsumm")
    (mirrored / "realsumm/abs.pkl").unlink()
    with pytest.raises(FileNotFoundError, match="XSUMSTAT_DATA_DIR=.* has no file realsumm/abs.pkl"):
        xsumstat.load_dataset("realsumm")


def test_without_pooch_the_extra_is_named(monkeypatch, mirrored):
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    with pytest.raises(ImportError, match=r'this needs pooch, which is not installed; .*: pip install "\.\[data\]"'):
        xsumstat.load_dataset("realsumm")

"""Readers of files that were cut, turned, doubled or made up: a Dataset or a plain error, and nothing is run."""

import json
import pickle
import warnings

import numpy as np
import pytest
import xarray as xr
from helpers import examples
from hypothesis import given
from hypothesis import strategies as st

import xsumstat
from xsumstat.io import frames

LINES = [
    json.dumps(
        {
            "instance_id": f"d{j}",
            "summarizer_id": f"M{i}",
            "summarizer_type": "peer",
            "metrics": {"rouge-1": {"f1": 0.1 * i + 0.01 * j}, "expert": {"relevance": [4, 5, i]}},
        }
    )
    for i in range(3)
    for j in range(2)
]
SACREROUGE = "\n".join(LINES).encode()
PICKLED = pickle.dumps(
    {
        f"doc{j}": {
            "doc_id": f"doc{j}",
            "ref_summ": "text",
            "system_summaries": {
                f"{name}.txt": {
                    "system_summary": "text",
                    "scores": {"rouge": np.float64(at + j), "litepyramid_recall": 0.5},
                }
                for at, name in enumerate("ab")
            },
        }
        for j in range(2)
    }
)
SEGMENTS = b"A 1\nA None\nB 2.5\nB -3\n"
MQM = (
    b"system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    b'A\td\t1\t1\tr1\tOne\t<v>"Eins</v>\tFluency/Punctuation\tMinor\nB\td\t1\t1\tr2\tOne\tZwei\tNo-error\tNo-error\n'
)
DOCUMENTS = b"news d1\nnews d2\n"
FRAME = b"metric,system,input,score\nr,a,1,0.5\nr,a,2,0.25\nr,b,1,1e3\nr,b,2,-1\n"

PIECES = st.sampled_from(
    [
        b"",
        b"\x00",
        b"\xff\xfe",
        b"None",
        b"nan",
        b"inf",
        b"1e999",
        b"9" * 400,
        b"{",
        b"[",
        b"}",
        b'"',
        b"\n",
        b" ",
        b",",
        b"-",
    ]
    + [b"{}", b"[]", b"null", b"true", b"cos\nsystem\n(S'x'\ntR.", "é".encode("latin1"), "字".encode()]
    + [
        b'"\\ud800"',
        b'"a": 1, "a": 2',
        b"\xef\xbb\xbf",
        b"\r",
        b'"\n',
        b"\t",
        b" ,",
        b"r\xff\xff\xff\x7f",
        b"r\x00\x00\x00\x08",
    ]
    + [b")" + b"\x85" * 3_000, b"\x8e" + b"\xff" * 7 + b"\x0f", b"2\x86" * 60, b"N\x94h\x00"]
)


@st.composite
def spoilt(draw, content):
    """The bytes of a file with some of them cut out, put in, doubled or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        to = draw(st.integers(at, min(len(content), at + draw(st.sampled_from([0, 1, 5, 60, 10**6])))))
        piece = draw(st.one_of(PIECES, st.binary(max_size=8), st.just(content[at:to] * 2)))
        content = content[:at] + piece + content[to:]
    return content


def read(reader, path, content):
    """A Dataset, or an error of ours; warnings are fine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            found = reader()
        except (ValueError, TypeError) as error:
            assert str(error) and type(error) in (ValueError, TypeError)
            return
    assert isinstance(found, xr.Dataset) and found.score.dtype == float


FUZZ = examples(150)


@FUZZ
@given(spoilt(SACREROUGE))
def test_sacrerouge(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "scores.jsonl"
    read(lambda: xsumstat.read_sacrerouge(path), path, content)


@FUZZ
@given(spoilt(PICKLED))
def test_realsumm(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "abs.pkl"
    read(lambda: xsumstat.read_realsumm({"abstractive": path}), path, content)


@FUZZ
@given(
    st.sampled_from(["human-scores/a-b.h.seg.score", "metric-scores/a-b/m-src.seg.score", "documents/a-b.docs"]),
    st.data(),
)
def test_mtme(tmp_path_factory, name, data):
    root = tmp_path_factory.mktemp("fuzz")
    files = dict.fromkeys(["human-scores/a-b.h.seg.score", "metric-scores/a-b/m-src.seg.score"], SEGMENTS)
    files |= {"metric-scores/a-b/m-src.seg.score": SEGMENTS.replace(b"None", b"3"), "documents/a-b.docs": DOCUMENTS}
    for other, content in files.items():
        (root / "set" / other).parent.mkdir(parents=True, exist_ok=True)
        (root / "set" / other).write_bytes(content)
    content = data.draw(spoilt(files[name]))
    read(lambda: xsumstat.read_mtme(root, "set", "a-b"), root / "set" / name, content)


@FUZZ
@given(spoilt(MQM))
def test_mqm(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "mqm.tsv"
    read(lambda: xsumstat.read_mqm(path), path, content)


@FUZZ
@given(spoilt(FRAME))
def test_frames(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "scores.csv"
    read(lambda: frames.read_scores(path), path, content)


class Trap:
    """Would run a command if its pickle were loaded."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('run')",))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_would_run_something(tmp_path, protocol):
    path = tmp_path / "abs.pkl"
    path.write_bytes(pickle.dumps({"doc": Trap()}, protocol=protocol))
    with pytest.raises(ValueError, match="which is not plain data"):
        xsumstat.read_realsumm({"abstractive": path})

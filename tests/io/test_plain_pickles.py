"""Pickles of which only plain data is read: through `read_realsumm`, which is what reads them."""

import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from helpers import examples, pairwise, pickled, realsumm_scores
from hypothesis import given
from hypothesis import strategies as st

import xsumstat


class InBytes:
    """Pickled as NumPy pickles a scalar of a type, whose bytes are given."""

    def __init__(self, code, data):
        self.code, self.data = code, data

    def __reduce__(self):
        return np.float64(1).__reduce__()[0], (np.dtype(self.code), self.data)


@pairwise(
    {
        "protocol": [2, 3, 4, 5],
        "order": "<>",
        "code, letter, value": [("f8", "d", 0.1), ("f4", "f", 2.5), ("i2", "h", 258), ("u4", "I", 7)],
    }
)
def test_scalars_of_either_byte_order(tmp_path, protocol, order, code, letter, value):
    def scalar(_):
        return InBytes(order + code, struct.pack(order + letter, value))

    path = pickled(tmp_path, "a.pkl", realsumm_scores(["bart"], wrap=scalar), protocol)
    assert (xsumstat.read_realsumm({"abstractive": path}).score == value).all()


LIMITED = """
import pathlib, resource, sys, xsumstat
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 500_000_000, now + 500_000_000))
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    try:
        xsumstat.read_realsumm({"abstractive": path})
    except ValueError as error:
        print(error, flush=True)
"""


def one_in_another(opcode, levels):
    """The key of a dict: tuples of one, of which each holds the next."""
    return b"\x80\x04}(" + b")" + opcode * levels + b"K\x01u."


ENDING = {
    "a tuple of more than 1,000 values": [
        one_in_another(b"\x85", 300_000),
        one_in_another(b"2\x86", 40),  # pairs of one and the same: 2**40 values to hash
        one_in_another(b"", 0)[:-4] + b"".join(b"q%ch%ch%c\x87" % (at, at, at) for at in range(40)) + b"K\x01u.",
        b"\x80\x04}(" + b"(" * 300_000 + b"t" * 300_000 + b"K\x01u.",
        b"\x80\x02}q\x00("
        + b")"
        + b"".join(b"\x85r" + struct.pack("<I", at + 1) for at in range(100_000))
        + b"K\x01u.",
    ],
    "it numbers its object 0 as 134217728": [b"\x80\x02Nr" + struct.pack("<I", 2**27) + b"."],
    "it numbers its object 1 as": [b"\x80\x02Nq\x00r\xff\xff\xff\x7f.", b"Np0\np99999999\n."],
    "fewer bytes than it announces": [
        b"\x80\x04\x8e" + struct.pack("<Q", 2**31) + b".",
        b"\x80\x05\x96" + struct.pack("<Q", 2**33) + b".",
        b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b".",
        b"\x80\x02X\xff\xff\xff\x7f.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",
        b"\x80\x04\x95" + struct.pack("<Q", 2**33) + b"N.",
        b"\x80\x02}",
        b"",
    ],
    "its opcode TUPLE2 takes more than there is": [b"\x80\x02N\x86."],
    "its byte 2 is no opcode": [b"\x80\x02\xff."],
    "would change a function": [
        b"\x80\x02cnumpy.core.multiarray\nscalar\n}U\x0c__defaults__)s\x86b.".replace(b"\x86b", b"b"),
    ],
}


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is limited as Linux does")
def test_pickles_that_would_end_the_process(tmp_path):
    cases = [(message, content) for message, contents in ENDING.items() for content in contents]
    for at, (_, content) in enumerate(cases):
        (tmp_path / f"{at:02}.pkl").write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path], capture_output=True, text=True, timeout=60, check=False
    )
    said = done.stdout.splitlines()
    assert done.returncode == 0 and len(said) == len(cases), (done.returncode, len(said), done.stderr)
    for at, (message, _) in enumerate(cases):
        assert said[at].startswith(f"{at:02}.pkl is not a pickle of plain scores: ") and message in said[at]


def test_a_pickle_may_be_too_large(tmp_path):
    path = tmp_path / "abs.pkl"
    with path.open("wb") as stream:
        stream.truncate(100_000_001)  # a file with a hole takes no room
    with pytest.raises(ValueError, match="it has 100,000,001 bytes, and 100,000,000 are the most that are read"):
        xsumstat.read_realsumm({"abstractive": path})


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_containers_of_every_kind_are_read(tmp_path, protocol):
    """What is not asked for may be there: it is built, and left alone."""
    content = realsumm_scores(["bart", "t5"])
    more = [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [[], [1]], {"a": {}}, "é\n", -1, 2**70, True, None, 300, 70_000]
    shared = ("x", ("y", more))
    content[1]["notes"] = [more, shared, shared, {("a", "b"): 1.5}, b"bytes" if protocol > 2 else "", "z" * 300]
    path = pickled(tmp_path, "abs.pkl", content, protocol)
    want = pickled(tmp_path, "want.pkl", realsumm_scores(["bart", "t5"]), protocol)
    xr.testing.assert_identical(
        xsumstat.read_realsumm({"abstractive": path}), xsumstat.read_realsumm({"abstractive": want})
    )


class Hostile:
    def __init__(self, call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "content, name",
    [
        (Hostile((os.system, ("touch pwned",))), "posix.system|nt.system"),
        ({1: {"system_summaries": {"a": {"scores": {"m": Hostile((eval, ("1",)))}}}}}, "builtin.*eval"),
        (Hostile((getattr, (np.dtype, "mro"))), "builtin.*getattr"),
        (np.array([1.0, 2.0]), "numpy.*_reconstruct"),
        (np.dtype("f8").type, "numpy.float64"),
        (np.dtype("O"), "NumPy scalar of type 'O8'"),
        (np.dtype([("a", "O")]), "NumPy scalar of type 'V8'"),
        ({1, 2}, "is not laid out"),
        ([], "is not laid out"),
        ({1: {"system_summaries": {"a": {"scores": {"m": "high"}}}}}, "'m' must be a number"),
        ({1: {"summaries": {}}}, "is not laid out"),
        ({}, "holds no scores"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4])
def test_anything_but_plain_scores_is_refused_and_not_run(tmp_path, monkeypatch, content, name, protocol):
    monkeypatch.chdir(tmp_path)
    path = pickled(tmp_path, "abs.pkl", content, protocol)
    if protocol == 2 and isinstance(content, set):
        name = "builtin.*set, which is not plain data"
    with pytest.raises(ValueError, match=f"abs.pkl.*({name})"):
        xsumstat.read_realsumm({"abstractive": path})
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("state", [b"(K\x03X\x01\x00\x00\x00!NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb.", b"Nb."])
def test_a_malformed_type_is_refused(tmp_path, state):
    start = b"\x80\x03cnumpy\ndtype\nX\x02\x00\x00\x00f8K\x00K\x01\x87R"
    path = tmp_path / "abs.pkl"
    path.write_bytes(start + state)
    with pytest.raises(ValueError, match="abs.pkl"):
        xsumstat.read_realsumm({"abstractive": path})


@examples(50)
@given(st.data())
def test_broken_pickles_give_an_error_that_names_the_file(tmp_path_factory, data):
    whole = pickle.dumps(realsumm_scores(["bart"]), protocol=data.draw(st.sampled_from([2, 3, 4])))
    cut = data.draw(st.integers(0, len(whole) - 1))
    path = tmp_path_factory.mktemp("fuzz") / "abs.pkl"
    path.write_bytes(whole[:cut])
    with pytest.raises(ValueError, match="abs.pkl"):
        xsumstat.read_realsumm({"abstractive": path})

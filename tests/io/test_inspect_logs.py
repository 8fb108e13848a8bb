"""Logs of Inspect AI, as zip files and as JSON."""

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from conftest import warns

from xsumstat.io import frames, inspect_logs
from xsumstat.io.inspect_logs import read_inspect

FOLDER = Path(__file__).parent / "fixtures" / "inspect"
PLAIN, PACKED = FOLDER / "2026-01-02_doubles_one.json", FOLDER / "2026-01-02_doubles_two.eval"
GRADES = {"C": 1, "I": 0, "P": 0.5, "N": 0}


def log():
    return json.loads(PLAIN.read_text())


def zipped(path, content, *, whole=True, compression=zipfile.ZIP_DEFLATED):
    samples = content.pop("samples")
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("header.json" if whole else "_journal/start.json", json.dumps(content))
        if whole:
            archive.writestr("summaries.json", json.dumps(samples))
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return path


def expected(samples):
    """The mean of each sample's epochs, by metric."""
    out = {}
    for sample in samples:
        values = {"match": GRADES[sample["scores"]["match"]["value"]]}
        values |= {f"rubric_{name}": each for name, each in sample["scores"]["rubric"]["value"].items()}
        for metric, value in values.items():
            out.setdefault((metric, sample["id"]), []).append(value)
    return {key: np.mean(values) for key, values in out.items()}


def test_both_formats():
    pytest.importorskip("pyarrow")
    ds = read_inspect(FOLDER)
    assert list(ds.system.values) == ["mock/one", "mock/two"] and list(ds.input.values) == ["q1", "q2", "q3"]
    for (metric, case), value in expected(log()["samples"]).items():
        assert float(ds.score.sel(metric=metric, system="mock/one", input=case)) == pytest.approx(value)
    # of the other the grades, as one can read them in the zip file's maker: I I C C N P
    np.testing.assert_array_equal(ds.score.sel(metric="match", system="mock/two"), [0, 1, 0.25])
    xr.testing.assert_identical(frames.read_scores(FOLDER), ds)
    xr.testing.assert_identical(frames.read_scores(PACKED), read_inspect(PACKED))


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_file_says_what_the_plain_one_does(tmp_path, whole, compression):
    path = zipped(tmp_path / "a.eval", log(), whole=whole, compression=compression)
    xr.testing.assert_identical(read_inspect(path), read_inspect(PLAIN))


def test_the_fixture_is_packed_as_inspect_packs_its_logs():
    with zipfile.ZipFile(PACKED) as archive:
        assert {info.compress_type for info in archive.infolist()} == {inspect_logs._ZSTANDARD}


def test_values_of_every_kind(tmp_path):
    content = log()
    values = [True, "yes", "2.5", None, "great", [1, 2]]
    for sample, value in zip(content["samples"], values, strict=True):
        sample.update(id=values.index(value), scores={"s": {"value": value}})
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    with warns("scores_left_out", r"'s' \('great' in a\.json, sample 4"):
        ds = read_inspect(path)
    np.testing.assert_array_equal(ds.score.values.ravel(), [1, 1, 2.5, np.nan])


@pytest.mark.parametrize(
    ("value", "want"),
    [
        *[("C", 1), ("I", 0), ("P", 0.5), ("N", 0)],
        *[("Yes", 1), ("TRUE", 1), ("no", 0), ("False", 0), (" 0.25", 0.25), ("1e-1", 0.1), (True, 1), (3, 3)],
    ],
)
def test_grades_and_words_are_numbers_as_inspect_reads_them(value, want):
    assert inspect_logs._number(value) == want


def test_several_tasks(tmp_path):
    shutil.copy(PLAIN, tmp_path / "a.json")
    content = log()
    content["eval"]["task"] = "again"
    (tmp_path / "b.json").write_text(json.dumps(content))
    ds = read_inspect(tmp_path)
    assert list(ds.input.values) == [f"{task}/q{at}" for task in ("again", "doubles") for at in (1, 2, 3)]
    content["eval"]["task"] = "doubles"
    (tmp_path / "b.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="system 'mock/one' has the case 'q1' in .*a.json already"):
        read_inspect(tmp_path)
    content["eval"]["model"] = "mock/three"
    content["samples"][0]["input"] = "something else"
    (tmp_path / "b.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="the case 'q1' is another than in"):
        read_inspect(tmp_path)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda c: c.pop("samples"), "no 'eval' and 'samples'"),
        (lambda c: c.update(samples=3), "'samples' must be a list, got 3"),
        (lambda c: c.update(samples=[3]), "sample 0: it must be a mapping"),
        (lambda c: c["eval"].pop("model"), "'model' must be a string"),
        (lambda c: c["samples"][0].update(scores=[1]), "sample 0: 'scores' must be a mapping"),
        (lambda c: [each.pop("scores") for each in c["samples"]], "there are no scores of Inspect AI"),
    ],
)
def test_bad_logs(tmp_path, change, message):
    content = log()
    change(content)
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        read_inspect(tmp_path / "a.json")


def test_bad_zip_files(tmp_path, monkeypatch):
    path = tmp_path / "a.eval"
    path.write_bytes(b"no zip file")
    with pytest.raises(ValueError, match=r"a\.eval is not a zip file"):
        read_inspect(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.json", "{}")
    with pytest.raises(ValueError, match=r"no header\.json in it"):
        read_inspect(path)
    whole = zipped(path, log()).read_bytes()
    monkeypatch.setattr(inspect_logs, "_LARGEST", 100)
    with pytest.raises(ValueError, match=r"a\.eval, header\.json: [\d,]+ bytes, and 100 are the most"):
        read_inspect(path)
    monkeypatch.undo()
    at = whole.index(b"header.json") + 40
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    with pytest.raises(ValueError, match=r"header\.json: cannot be unpacked"):
        read_inspect(path)


@pytest.mark.parametrize("name", ["a packed one", "a plain one"])
def test_broken_anywhere_is_an_error_of_one_line(tmp_path, name):
    """No damage gives another error than a ValueError, nor other numbers than the whole file's."""
    pytest.importorskip("pyarrow")
    source = PACKED if name == "a packed one" else PLAIN
    path, whole = tmp_path / source.name, source.read_bytes()
    rng, want = np.random.default_rng(0), read_inspect(source)
    for at in rng.integers(0, len(whole), 150).tolist():
        path.write_bytes(whole[:at] + bytes([whole[at] ^ int(rng.integers(1, 256))]) + whole[at + 1 :])
        try:
            got = read_inspect(path)
        except (ValueError, UserWarning) as error:
            assert str(error)
            continue
        if name == "a packed one":
            xr.testing.assert_identical(got, want)


def test_a_zip_file_that_lies_of_its_size(tmp_path):
    pytest.importorskip("pyarrow")
    whole = bytearray(PACKED.read_bytes())
    with zipfile.ZipFile(PACKED) as archive:
        info = archive.getinfo("header.json")
    at = whole.rindex(b"header.json") - 46  # its place in the list at the end
    whole[at + 24 : at + 28] = (info.file_size - 1).to_bytes(4, "little")
    (tmp_path / "a.eval").write_bytes(whole)
    with pytest.raises(ValueError, match="cannot be unpacked: it is not what the zip file says of it"):
        read_inspect(tmp_path / "a.eval")

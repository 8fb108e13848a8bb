"""Files of scores are read as Python reads each line for itself: the same words, the same floats, the same errors."""

import math

import numpy as np
import pytest
from helpers import for_each, pairwise

from xsumstat.io import score_files

WORDS = [
    "True", "FALSE", "true", "nan", "NaN", "NA", "null", "-None", "none", "inf", "-Infinity", "1e400", "0x1F", "1e",
    "1_000", "1,5", "+5", "+-5", "1.", ".5", ".", "1d5", "007", "-0", "-0.0", "1e-400", "4.9e-324", "9007199254740993",
    '"1"', "1#2", "٣", "1e0005", "12345678901234567890123", "0." + "0" * 300 + "1", "1\0", "",
]  # fmt: skip


def written(folder, lines, ending="\n"):
    path = folder / "m.seg.score"
    path.write_bytes(ending.join(lines).encode() + ending.encode())
    return path


def read(path):
    return score_files.read_scores(path, score_files.Units(None), "seg")


def same(found, expected):
    return found == expected and math.copysign(1, found) == math.copysign(1, expected) or found != found != expected


def number(word):
    """A finite number as Python reads it, NaN for None and nan, nothing for what is no score."""
    if word == "None":
        return math.nan
    try:
        return None if math.isinf(float(word)) else float(word)
    except ValueError:
        return None


@for_each("system", ["A", "None", "NA", "1", "True"])
@for_each("word", WORDS)
def test_a_word_is_the_number_that_python_reads(tmp_path, system, word):
    path = written(tmp_path, [f"{system}\t{word}"])
    if number(word) is None:
        wrong = "line 1: (a score must be (a number or None|finite, as)|expected 'SYSTEM SCORE')"
        with pytest.raises(ValueError, match=wrong):
            read(path)
    elif word.lower() == "nan":
        with pytest.warns(UserWarning, match=r"m.seg.score has the word 'nan' for 1 score; read as missing"):
            found = read(path)
        assert list(found) == [system] and np.isnan(found[system]).all()
    else:
        found = read(path)
        assert list(found) == [system] and same(found[system].item(), number(word))


@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize("powers", [0, 300])
def test_numbers_are_read_to_the_last_digit(tmp_path, separator, powers):
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=3000) * 10.0 ** rng.integers(-powers, powers + 1, 3000)
    words = [repr(each) for each in numbers[:2000].tolist()] + [f"{each:.25e}" for each in numbers[2000:].tolist()]
    words[::7] = ["None"] * len(words[::7])
    path = written(tmp_path, [f"None{separator}{word}" for word in words])
    assert score_files._regular(path) is not None
    np.testing.assert_array_equal(read(path)["None"], [number(word) for word in words])


@pytest.mark.parametrize(
    "separator, ending",
    [
        ("\t", "\n"),
        (" ", "\n"),
        ("  ", "\n"),
        ("\t", "\r\n"),
        ("\t", "\r"),
        ("\t", " \n"),
        ("\t", "\n\n"),
        ("\t", "\n "),
    ]
    + [("\xa0", "\n"), ("\x1f", "\n"), ("\t", "\x0b"), ("\t", "\x85"), ("\t", "\u2028")],
)
@pytest.mark.parametrize("order", ["system by system", "input by input"])
def test_blanks_line_ends_and_order_do_not_matter(tmp_path, separator, ending, order):
    cells = [(system, at) for system in ("1", "01", "é", '"q"', "A") for at in range(3)]
    cells = sorted(cells, key=lambda cell: cell[1]) if order == "input by input" else cells
    sign = {"1": "-", "01": "-"}
    lines = [f"{system}{separator}{sign.get(system, '')}{at}" for system, at in cells]
    found = read(written(tmp_path, lines, ending))
    assert list(found) == ["1", "01", "é", '"q"', "A"]
    for system, values in found.items():
        assert values.tolist() == [(-1 if system in sign else 1) * at for at in range(3)]


@pairwise(
    {
        "line": ["A", "A\t", "\t1", "A\t1\t2", "A 1 2", "A\x1f1\t2", "A\t1 "],
        "at": [0, 2, 5],
        "last": ["A\tx", "A\t6"],
    }
)
def test_the_first_bad_line_is_named(tmp_path, line, at, last):
    lines = [*(f"A\t{k}" for k in range(6)), last]
    lines[at] = line
    path, words = written(tmp_path, lines), line.split()
    expected = None
    if len(words) != 2:
        expected = f"m.seg.score, line {at + 1}: expected 'SYSTEM SCORE', got {' '.join(words)!r}"
    elif last == "A\tx":
        expected = "m.seg.score, line 7: a score must be a number or None, got 'x'"
    if expected is None:
        assert len(read(path)["A"]) == 7
    else:
        with pytest.raises(ValueError) as error:
            read(path)
        assert str(error.value) == expected


def test_systems_need_equally_many_scores(tmp_path):
    path = written(tmp_path, ["A\t1", "B\t1", "B\t2", "A\t3", "C\t1"])
    with pytest.raises(ValueError, match="m.seg.score has 1 scores of system 'C', expected 2"):
        read(path)

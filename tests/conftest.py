"""Fixtures that several tests share."""

import contextlib
import functools
import gc
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.core.caveats import CODES, MetaEvaluationWarning

# For the workers of xdist, which fill the cores already: more threads of BLAS wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Whether a slow machine compiles for more than a second is no part of what a test reads.
os.environ["XSUMSTAT_QUIET"] = "1"


# Many tests are of gaps, and of few systems; tests/dataset/test_scores.py, tests/analyses/test_resting.py and
# tests/analyses/test_jackknife_intervals.py demand these.
IGNORED = ("cells_left_out", "rests_on_one_system", "biased")

# A filter sees no more of a warning than its class and its text: the code of each text that a warning was made of.
_CODE_OF = {}
_make_warning = MetaEvaluationWarning.__init__


def _note_code(warning, text, code="", fields=None):
    _make_warning(warning, text, code, fields)
    _CODE_OF[str(text)] = code


MetaEvaluationWarning.__init__ = _note_code


class _OfCodes:
    """Stands for the pattern in a filter of warnings: the package's warnings of some codes, whatever their texts."""

    def __init__(self, codes):
        self.codes = codes

    def match(self, text):
        return _CODE_OF.get(text) in self.codes


def ignore_codes(*codes):
    """Ignore the package's warnings of these codes, until the filters that were before are set again."""
    assert set(codes) <= set(CODES), f"no codes of warnings: {sorted(set(codes) - set(CODES))}"
    warnings.filters.insert(0, ("ignore", _OfCodes(codes), MetaEvaluationWarning, None, 0))


@contextlib.contextmanager
def warns(code, match=""):
    """`pytest.warns` by code, for tests that are not of texts; `match` must be in the text of one such warning."""
    assert code in CODES
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    assert any(re.search(match, text) for text in of_code(caught, code)), f"no {code} {match}: {[*map(str, caught)]}"
    for each in caught:
        if getattr(each.message, "code", None) != code:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def of_code(caught, code):
    """Texts of the warnings of a code among those that were caught."""
    return [str(each.message) for each in caught if getattr(each.message, "code", None) == code]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """The mark `ignore_codes`; pytest sets the filters that were before again."""
    strict = any("error" in mark.args for mark in item.iter_markers("filterwarnings"))
    ignore_codes(
        *(() if strict else IGNORED), *(code for mark in item.iter_markers("ignore_codes") for code in mark.args)
    )
    return (yield)


def pytest_collection_modifyitems(items):
    """Those that take longest begin first, so that no core waits for them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish():
    """The tests, once collected, stay: to look through them for garbage again and again takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


_demo = functools.cache(xsumstat.load_dataset)


@pytest.fixture
def demo():
    """The demo, read once, and a copy of it that a test may change."""
    return _demo("demo").copy(deep=True)


@pytest.fixture(scope="session")
def mirror():
    """The folder with the published files; tests that need it are skipped, or fail where it is demanded."""
    folder = os.environ.get("XSUMSTAT_DATA_DIR")
    if folder:
        return Path(folder)
    if os.environ.get("XSUMSTAT_REQUIRE_DATA"):
        pytest.fail("XSUMSTAT_REQUIRE_DATA is set, but XSUMSTAT_DATA_DIR names no folder with the published data")
    pytest.skip("XSUMSTAT_DATA_DIR names no folder with the published data")


@pytest.fixture(scope="session")
def summeval(mirror):
    return xsumstat.load_dataset("summeval")


@pytest.fixture(scope="session")
def realsumm(mirror):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return xsumstat.load_dataset("realsumm")


def dataset(score, **coords):
    """Scores (metric, system, input) as a Dataset with labels m0 m1 ..., s0 s1 ..., i0 i1 ...."""
    score = np.asarray(score, dtype=float)
    labels = {
        dim: [f"{dim[0]}{at}" for at in range(size)]
        for dim, size in zip(("metric", "system", "input"), score.shape, strict=True)
    }
    return xr.Dataset({"score": (("metric", "system", "input"), score)}, coords={**labels, **coords})


@pytest.fixture
def small():
    """Four metrics, the first of them gold, on six systems and five inputs; tied."""
    rng = np.random.default_rng(7)
    return dataset(
        np.round(2 * rng.normal(size=(4, 6, 5)) + 2 * rng.normal(size=(1, 6, 5))), kind=("metric", list("habc"))
    )

"""What tests share that is no fixture."""

import functools
import inspect
import itertools
import os
import pickle
import re
import types
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xsumstat
from xsumstat.coefficients.table import COEFFICIENTS

LEVELS = ("system", "input", "global", "within_system")
# Coefficients of pairs of outputs that need a threshold, or are sure of something; the others are correlations, and
# these have all levels.
DECISIVE = ("acc_eq", "tau_eq", "kendall_like", "spa")
NAMES = tuple(name for name, record in COEFFICIENTS.items() if name not in DECISIVE and record.levels == LEVELS)


def pairwise(values, *, as_one=False):
    """Parametrise a test by some combinations of values, among which each two values of two arguments meet.

    For arguments of which no more than two act on each other; `values` are lists by the arguments' names. Quick ones
    may be asked in one test.
    """
    lists = [list(each) for each in values.values()]
    combinations = list(itertools.product(*map(range, map(len, lists))))
    places = list(itertools.combinations(range(len(lists)), 2))
    left = {(a, b, i, j) for a, b in places for i in range(len(lists[a])) for j in range(len(lists[b]))}
    chosen = []
    while left:
        met = [{(a, b, each[a], each[b]) for a, b in places} & left for each in combinations]
        best = max(range(len(combinations)), key=lambda at: len(met[at]))
        left -= met[best]
        chosen.append([lists[at][i] for at, i in enumerate(combinations[best])])
    several = ["," in names for names in values]
    flat = [sum(([*one] if many else [one] for one, many in zip(each, several, strict=True)), []) for each in chosen]
    names = [name.strip() for each in values for name in each.split(",")]
    return (for_each if as_one else pytest.mark.parametrize)(names, flat)


def by_turns(values, first=0):
    """Parameters of a test that asks many questions: of every three one is quick (the `first`), the others slow.

    For batteries that ask all questions the same; what each of them answers is tested in its own file.
    """
    several = [each if isinstance(each, tuple) else (each,) for each in values]
    marks = [() if at % 3 == first else pytest.mark.slow for at in range(len(several))]
    return [pytest.param(*each, marks=mark) for each, mark in zip(several, marks, strict=True)]


def for_each(names, values):
    """One test of many values, in the manner of `pytest.mark.parametrize`: all are tried, and those that fail named.

    For many quick questions: as a test of its own each would cost pytest more than it takes.
    """
    names, values = [name.strip() for name in names.split(",")] if isinstance(names, str) else names, list(values)

    def decorate(test):
        signature = inspect.signature(test)

        @functools.wraps(test)
        def whole(**fixtures):
            failed = []
            for value in values:
                try:
                    test(**fixtures, **dict(zip(names, value if len(names) > 1 else (value,), strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"with {', '.join(names)} = {value!r}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(values)} fail", failed)

        kept = [each for name, each in signature.parameters.items() if name not in names]
        whole.__signature__ = signature.replace(parameters=kept)
        return whole

    assert values
    return decorate


def rows(matrix):
    """An array as lists of rows, None for NaN: what the plain-Python twins read."""
    return [[None if np.isnan(value) else float(value) for value in row] for row in matrix]


def padded(sizes=(9, 4, 7, 9), metrics=3, seed=0, points=None):
    """Outputs of inputs that have different numbers of them."""
    rng = np.random.default_rng(seed)
    x = np.full((metrics, max(sizes), len(sizes)), np.nan)
    for at, n in enumerate(sizes):
        x[:, :n, at] = rng.normal(size=(1, n)) + rng.normal(size=(metrics, n))
    x = np.round(x * points) if points else x
    return xr.Dataset({"score": (("metric", "system", "input"), x)}, {"metric": [f"m{at}" for at in range(metrics)]})


def unpacked(bits, inputs):
    """Coins of cells as swaps (resamples, systems, inputs), by plain arithmetic."""
    return np.array([[[row[j // 8] >> (j % 8) & 1 for j in range(inputs)] for row in each] for each in bits.tolist()])


def plain(kernel):
    """A compiled kernel, and all that it calls, as plain Python."""
    function = kernel.py_func
    called = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    names = {name: plain(each) for name, each in called.items() if hasattr(each, "py_func")}
    return types.FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)


def same(got, want, atol=1e-12):
    """Whether two numbers agree to `atol`, NaN with NaN."""
    return bool(np.allclose(got, want, atol=atol, rtol=0, equal_nan=True))


def as_lazy(result):
    """A result without what is not known before scores are computed: how many outputs were left out."""
    counts = ("constant_inputs", "single_outputs", "unpaired_outputs")
    attrs = {name: value for name, value in result.attrs.items() if name not in counts}
    return result.drop_attrs(deep=False).assign_attrs(attrs)


@functools.cache
def code_beside_kernels():
    """The package's code outside its kernels."""
    package = Path(xsumstat.__file__).parent
    return "\n".join(path.read_text("utf-8") for path in package.rglob("*.py") if path.parent.name != "kernels")


def both_ways(kernel, *arguments):
    """What a kernel gives, or fills its arguments with, compiled; its plain run must do the same.

    A kernel that is called by kernels alone is run plainly: it is compiled within those that call it.
    """
    if not re.search(rf"\.{kernel.__name__}\b", code_beside_kernels()):
        with np.errstate(all="ignore"):
            return plain(kernel)(*arguments)
    twins = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    got = kernel(*arguments)
    with np.errstate(all="ignore"):
        want = plain(kernel)(*twins)
    assert got is want is None or same(got, want)
    for here, twin in zip(arguments, twins, strict=True):
        if isinstance(here, np.ndarray):
            np.testing.assert_allclose(here, twin, rtol=1e-13, atol=1e-13)
    return got


def scores(shape, missing=True):
    """Strategy: a matrix of few distinct values (so with many ties), with missing cells."""
    values = st.sampled_from([0.0, 1.0, 2.0, 0.1, 0.2, 0.3, -1.5])
    return hnp.arrays(float, shape, elements=st.one_of(values, st.just(np.nan)) if missing else values)


def matrices(count, missing=True):
    """Strategy: `count` matrices of one shape, 1 to 5 systems and 1 to 4 inputs."""
    shapes = st.tuples(st.integers(1, 5), st.integers(1, 4))
    return shapes.flatmap(lambda shape: st.tuples(*[scores(shape, missing)] * count))


def realsumm_scores(systems, documents=(3, 1), value=0.5, wrap=float):
    """Scores laid out as in a pickle of REALSumm, each number made by `wrap`."""

    def output(document, at):
        return {"system_summary": "x", "scores": {"rouge": wrap(value + document + at), "litepyramid_recall": wrap(at)}}

    def entry(document):
        outputs = {f"{system}.txt": output(document, at) for at, system in enumerate(systems)}
        return {"doc_id": document, "ref_summ": "", "system_summaries": outputs}

    return {document: entry(document) for document in documents}


def pickled(folder, name, content, protocol=3):
    """The file in `folder` into which `content` was pickled."""
    path = folder / name
    path.write_bytes(pickle.dumps(content, protocol=protocol))
    return path


# HYPOTHESIS_PROFILE=ci asks all examples, the quick run a fifth.
ALL_EXAMPLES = os.environ.get("HYPOTHESIS_PROFILE", "dev") == "ci"
settings.register_profile("ci", max_examples=100, deadline=None)
settings.register_profile("dev", max_examples=25, deadline=None)
settings.load_profile("ci" if ALL_EXAMPLES else "dev")


def examples(number):
    """Settings of a test that is asked so many examples, or a fifth in the profile "dev"."""
    often = [HealthCheck.filter_too_much]  # gaps of every kind leave many examples without an answer
    return settings(
        max_examples=number if ALL_EXAMPLES else max(10, number // 5), deadline=None, suppress_health_check=often
    )

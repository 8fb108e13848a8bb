"""Pearson's r without each member by NumPy: NumPy's own r of the rest, and the kernel's result to the bit."""

import numpy as np
import pytest

from xsumstat.coefficients import arrays, correlation_parts, few_cells
from xsumstat.kernels import correlation, jackknife, jit


def rounded(x, z):
    return np.round(x), np.round(z)


def outlying(x, z):
    x, z = x.copy(), z.copy()
    x[0], z[-1] = 1e8, -1e6
    return x, z


def constant(x, z):
    x = x.copy()
    x[:, 0] = 2.5
    x[1:, -1] = 0.0
    return x, np.abs(z)


SCORES = {
    "usual": lambda x, z: (x, z),
    "tied": rounded,
    "nearly all variance in a member": outlying,
    "constant, or but for one member": constant,
    "far from 0": lambda x, z: (x + 1e7, z - 1e7),
    "tiny and huge, of one sign": lambda x, z: (-np.abs(x) * 1e-30, np.abs(z) * 1e30),
}


def given(shape, kind, gaps, seed=0):
    rng = np.random.default_rng(seed)
    x, z = SCORES[kind](*rng.normal(size=(2, *shape)))
    there = rng.random(shape) < (0.7 if gaps else 1.0)
    if gaps and shape[1] > 2:
        there[:, 1] = False
        there[:, 2] = np.arange(shape[0]) == 0
    return x, z, there


def of_the_kernel(x, z, there):
    r, without = np.empty(x.shape[1]), np.empty(x.shape)
    mask = arrays.or_none(there)
    jackknife.pearson_without_one(arrays.filled(x, there), arrays.filled(z, there), mask, r, without)
    return r, without


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", SCORES)
def test_the_same_bits_as_the_kernels(kind, gaps):
    for seed, shape in enumerate([(12, 1), (9, 30), (2, 5), (1, 3), (3, 1), (40, 4)]):
        asked = given(shape, kind, gaps, seed)
        for got, want in zip(few_cells.pearson_without_members(*asked), of_the_kernel(*asked), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("gaps", [False, True])
def test_what_numpy_says_of_the_rest(gaps):
    x, z, there = given((8, 6), "usual", gaps)
    r, without = few_cells.pearson_without_members(x, z, there)
    for group in range(6):
        here = np.flatnonzero(there[:, group])
        for out in (None, *range(8)):
            rest = here[here != out]
            got = r[group] if out is None else without[out, group]
            if len(rest) < 2 or out is not None and out not in here:
                assert np.isnan(got)
            else:
                assert got == pytest.approx(np.corrcoef(x[rest, group], z[rest, group])[0, 1], abs=1e-12)


def test_many_cells_and_a_loaded_kernel_go_to_the_kernel(monkeypatch):
    def asked(shape):
        called = []
        monkeypatch.setattr(few_cells, "pearson_without_members", lambda *given: called.append(given) or (0, 0))
        correlation_parts.without_members(*given(shape, "usual", False), correlation.PEARSON)
        return bool(called)

    monkeypatch.setattr(correlation_parts, "is_ready", lambda kernel: False)
    assert asked((50, 100)) and not asked((50, 101))
    monkeypatch.setattr(correlation_parts, "is_ready", lambda kernel: True)
    assert not asked((50, 100))


def test_a_kernel_is_ready_after_its_first_call():
    def function():
        pass

    assert not jit.is_ready(jit.Kernel(function, lambda: function)) and jit.is_ready(function)

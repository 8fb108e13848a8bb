"""Distribution of a sum of independent signs, by its characteristic function."""

from __future__ import annotations

from xsumstat.kernels.jit import kernel

# Below this a value of the characteristic function adds nothing to a probability that matters.
_NEGLIGIBLE = 1e-20


@kernel
def characteristic(weights, counts, chances, roots, out):
    """Characteristic function of Σ w·b at m = 0 ... length // 2; each b is 1 with the chance of its w, else 0."""
    # `weights`, `counts` (terms of each weight) and `chances` are (distinct,); `roots` are exp(2πi·m/length), and the
    # length is a power of 2.
    last = roots.shape[0] - 1
    for m in range(out.shape[0]):
        value = 1.0 + 0.0j
        for w in range(weights.shape[0]):
            factor = 1.0 - chances[w] + chances[w] * roots[m * weights[w] & last]
            value *= factor
            times = counts[w] - 1
            while times > 0:
                if times & 1:
                    value *= factor
                factor *= factor
                times >>= 1
            if abs(value.real) + abs(value.imag) < _NEGLIGIBLE:
                value = 0.0 + 0.0j
                break
        out[m] = value

"""``python benchmarks/drawn_correlations.py``: coverage of correlations on inputs that `sample_inputs` draws.

Writes rows to `drawn_correlations.json`. 60 of 500 prompts are drawn from strata of how unsure a judge is, many more
where it is unsure. Its errors grow with how unsure it is, so its correlation is lower there. At system level it also
favours some systems, the more the less sure it is: otherwise the means of many inputs would correlate at 1.
"""

import itertools

import command
import numpy as np

LEVEL, M, DRAWN = 0.95, 500, 60
# Probabilities of being drawn, from the surest stratum to the least sure, over the lowest.
RATES = (1, 2, 4, 12)


def scores(generator, quality, favour, m):
    """A judge's and the human scores (systems, inputs), and how unsure the judge is of each input, its stratum."""
    shape = (len(quality), m)
    codes = generator.integers(len(RATES), size=m)
    errors = np.array([0.2, 0.5, 1.0, 2.5])[codes]
    z = quality[:, None] + generator.normal(size=m) + generator.normal(size=shape)
    return z + errors * (favour[:, None] + generator.normal(size=shape)), z, codes


def systems(generator, n_systems, level, target):
    """Of these systems, or of new ones: how good they are, and how much the judge favours them."""
    favoured = 0.4 if level == "system" else 0.0
    if target == "input":
        return np.linspace(-1, 1, n_systems), favoured * np.resize([1, -1, -1, 1, 0], n_systems)
    return generator.normal(0, 0.7, n_systems), favoured * generator.normal(size=n_systems)


def truth_of(n_systems, level, coefficient, target):
    """The correlation with all inputs like these, for these systems or on average over systems like these."""
    from xsumstat.analyses.measure import checked_measure
    from xsumstat.resampling.jackknife import estimated

    generator, measure, found = np.random.default_rng(99), checked_measure(level, coefficient, "pairwise", "drop"), []
    for _ in range(4 if target == "input" else 400):
        size = 40_000 if target == "input" else 2_000
        x, z, _ = scores(generator, *systems(generator, n_systems, level, target), size)
        found.append(estimated(x[None], z, [(0,)], measure, ("input",))[0][0].estimate)
    return float(np.mean(found))


def row(n_systems, level, coefficient, target, trials):
    """Coverage with and without weights, and bias for all 500 prompts."""
    from dataclasses import replace

    from xsumstat.analyses.measure import checked_measure
    from xsumstat.coefficients.weights import InputWeights
    from xsumstat.inference import allocation
    from xsumstat.resampling.jackknife import estimated

    generator = np.random.default_rng([37, n_systems, len(level), len(coefficient), len(target)])
    plain = checked_measure(level, coefficient, "pairwise", "drop")
    dims = ("input",) if target == "input" else ("system", "input")
    truth = truth_of(n_systems, level, coefficient, target)
    found = {name: [] for name in ("held", "held_unweighted", "bias", "bias_unweighted", "width", "errors", "off")}
    for _ in range(trials):
        x, z, codes = scores(generator, *systems(generator, n_systems, level, target), M)
        n_each = allocation.allocated(DRAWN, np.bincount(codes), np.array(RATES, dtype=float))
        drawn = allocation.drawn(n_each, codes, generator)
        each = (np.bincount(codes) / n_each)[codes]
        weights = InputWeights(each[drawn], codes[drawn])
        whole = estimated(x[None], z, [(0,)], plain, dims)[0][0].estimate
        for name, measure in (("", replace(plain, weights=weights)), ("_unweighted", plain)):
            one = estimated(x[None][..., drawn], z[:, drawn], [(0,)], measure, dims)[0][0]
            low, high = one.interval(LEVEL)
            found[f"held{name}"].append(low <= truth <= high)
            found[f"bias{name}"].append(one.estimate - whole)
            if not name:
                found["width"].append(high - low)
                found["errors"].append(one.standard_error**2)
                found["off"].append(one.estimate)
    ratio = np.sqrt(np.mean(found.pop("errors"))) / np.std(found.pop("off"))
    design = {"systems": n_systems, "level": level, "coefficient": coefficient, "target": target, "trials": trials}
    measured = {name: round(float(np.mean(values)), 4) for name, values in found.items()}
    return design | {"truth": round(truth, 4)} | measured | {"error_ratio": round(float(ratio), 3)}


DESIGNS = [
    *itertools.product((6, 12), ("input",), ("pearson", "kendall"), ("input", "both")),
    *itertools.product((6, 12), ("system",), ("pearson",), ("input", "both")),
    *itertools.product((6, 12), ("global", "within_system"), ("pearson",), ("input", "both")),
]


def rows(asked):
    """Rows of all designs."""
    return (row(*design, asked.trials) for design in DESIGNS)


if __name__ == "__main__":
    command.run(__file__, __doc__, rows, trials={"type": int, "default": 1000, "help": "scores of each design"})

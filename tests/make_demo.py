"""Writes the embedded demo: simulated scores of 12 systems on 30 inputs whose true correlations are known.

A score is the sum of a system, an input and a cell effect. Each metric shares a part of each effect with the
human scores and adds noise of its own, so that its correlation with them is known in the population of
systems and inputs. Run ``python tests/make_demo.py`` to write the files again; a test holds them to it.
"""

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent.parent / "xsumstat"
SYSTEMS, INPUTS = 12, 30
# Standard deviations of the human system, input and cell effects.
EFFECTS = np.array([0.5, 0.3, 0.8])

# Per metric: what it shares with each human effect, its own noise in each (in units of the human sd), centre, spread.
METRICS = {
    "human": ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0], 60.0, 12.0),
    "judge": ([1.0, 0.6, 0.7], [0.3, 0.6, 0.7], 70.0, 15.0),
    "bertscore": ([0.8, 0.5, 0.4], [0.5, 0.8, 0.8], 0.85, 0.02),
    "rouge": ([0.7, 0.7, 0.3], [0.7, 1.0, 0.9], 0.35, 0.08),
    "bleu": ([0.5, 0.5, 0.15], [0.9, 1.0, 1.0], 0.25, 0.05),
    "perplexity": ([-0.6, -0.2, -0.2], [0.8, 0.5, 1.0], 22.0, 6.0),
    "length": ([0.0, 0.2, 0.0], [1.0, 1.0, 1.0], 58.0, 12.0),
}
LOWER_IS_BETTER = {"perplexity"}


def truth(metric: str) -> dict[str, float]:
    """Pearson correlation with the human scores in the population, where higher is better."""
    shared, own = (np.array(part) for part in METRICS[metric][:2])
    variance = EFFECTS**2
    weights = {
        "system": np.array([1, 0, 1 / INPUTS]),
        "input": np.array([1, 0, 1]),
        "global": np.array([1, 1, 1]),
        "within_system": np.array([0, 1, 1]),
    }
    sign = -1 if metric in LOWER_IS_BETTER else 1
    return {
        level: sign
        * float(w @ (shared * variance))
        / float(np.sqrt((w @ variance) * (w @ ((shared**2 + own**2) * variance))))
        for level, w in weights.items()
    }


def simulate(systems: int, inputs: int, seed: int) -> dict[str, np.ndarray]:
    """Scores (systems, inputs) of each metric."""
    rng = np.random.default_rng(seed)
    shapes = [(systems, 1), (1, inputs), (systems, inputs)]
    human = [rng.standard_normal(shape) for shape in shapes]
    scores = {}
    for metric, (shared, own, centre, spread) in METRICS.items():
        noise = [rng.standard_normal(shape) for shape in shapes]
        total = sum(sd * (a * h + b * e) for sd, a, b, h, e in zip(EFFECTS, shared, own, human, noise, strict=True))
        scores[metric] = centre + spread * total
    return scores


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scores, a row a cell, and what is to be known of each metric."""
    scores = simulate(SYSTEMS, INPUTS, seed=2)
    names = [f"extractor-{i}" for i in range(1, 6)] + [f"abstractor-{i}" for i in range(1, 8)]
    cells = pd.DataFrame(
        {
            "system": np.repeat(names, INPUTS),
            "system_type": np.repeat(["extractive"] * 5 + ["abstractive"] * 7, INPUTS),
            "input": np.tile([f"doc-{j:02d}" for j in range(1, INPUTS + 1)], SYSTEMS),
        }
        | {metric: np.round(values, 4).ravel() for metric, values in scores.items()}
    )
    metrics = pd.DataFrame(
        {
            "metric": list(METRICS),
            "kind": ["human" if metric == "human" else "automatic" for metric in METRICS],
            "higher_is_better": [metric not in LOWER_IS_BETTER for metric in METRICS],
        }
    )
    levels = pd.DataFrame([truth(metric) for metric in METRICS]).round(6)
    return cells, pd.concat([metrics, levels], axis=1)


if __name__ == "__main__":
    for name, frame in zip(("demo.csv", "demo_metrics.csv"), frames(), strict=True):
        frame.to_csv(FOLDER / name, index=False, lineterminator="\n")

"""The arrays that everything is timed on, as matrices and as a Dataset."""

import numpy as np
import xarray as xr

SIZES = [(16, 100), (25, 100), (20, 1500)]

LEVELS = ["system", "input"]
COEFFICIENTS = ["pearson", "spearman", "kendall"]
PAPER_METRICS = [
    "AutoSummENG", "MeMoG", "NPowER", "bertscore_recall", "BEwTE_f1", "METEOR", "MoverScore", "qa-eval_f1",
    "rouge-1_f1", "rouge-2_f1", "rouge-l_f1", "rouge-su4_f1", "s3_resp",
]  # fmt: skip


def matrices(metrics: int, systems: int, inputs: int, tied: bool) -> np.ndarray:
    """Gold and `metrics` metrics that agree with it in part; five-point gold and metrics of 7 values where `tied`."""
    rng = np.random.default_rng(systems * inputs + metrics)
    quality = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    scores = np.array([quality + sd * rng.normal(size=quality.shape) for sd in np.linspace(0, 2, metrics + 1)])
    if not tied:
        return scores
    return np.concatenate([np.clip(np.round(scores[:1]), -2, 2), np.clip(np.round(1.5 * scores[1:]), -3, 3)])


def dataset(scores: np.ndarray) -> xr.Dataset:
    """The same as a Dataset whose gold is "gold"."""
    labels = ["gold", *(f"m{at}" for at in range(1, len(scores)))]
    return xr.Dataset({"score": (("metric", "system", "input"), scores)}, coords={"metric": labels})

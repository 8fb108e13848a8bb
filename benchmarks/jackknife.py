"""What an interval of one metric of SummEval costs: by the jackknife, and by 9,999 draws."""

from proof import median_seconds

import xsumstat
from xsumstat.analyses.measure import checked_measure
from xsumstat.dataset import scores as schema
from xsumstat.resampling import jackknife
from xsumstat.resampling.bootstrap import Bootstrap, BootstrapInterval
from xsumstat.resampling.jobs import on_threads

METRICS, DIMS = 8, ("system", "input")


def all_of_it() -> list[dict]:
    """Seconds a metric at every level, on one thread, with the scores made ready; and of a whole call."""
    ds = xsumstat.load_dataset("summeval")
    names = schema.prepare(ds, "expert_relevance", None, level="system", missing="pairwise").score["metric"].values
    rows = []
    for level in ("system", "input", "within_system", "global"):
        for name in ("pearson", "spearman", "kendall"):
            measure = checked_measure(level, name, "pairwise", "drop")
            found = schema.prepare(ds, "expert_relevance", names[:METRICS].tolist(), level=level, missing="pairwise")
            x, z, targets = found.score.values, found.gold.values, tuple((at,) for at in range(METRICS))
            drawn = Bootstrap(targets, measure, BootstrapInterval("percentile", DIMS, 9999, 1, 0.95))
            asked = {"metric": names[:METRICS].tolist(), "level": level, "coefficient": name}
            rows.append(
                {
                    "level": level,
                    "coefficient": name,
                    "jackknife": median_seconds(
                        lambda: jackknife.intervals(x, z, targets, measure, DIMS, 0.95)  # noqa: B023
                    )
                    / METRICS,
                    "bootstrap": median_seconds(lambda: on_threads(drawn, [(x, z)], progress=False)) / METRICS,  # noqa: B023
                    "call": median_seconds(lambda: ds.meta.ci("expert_relevance", **asked)),  # noqa: B023
                }
            )
    return rows

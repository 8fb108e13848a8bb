"""``python benchmarks/system_means.py PART``: what `system_means` and ``compare_systems(method="ppi")`` hold and save.

Parts are "simulated", "ridge", "published", "lists" and "peers"; each writes its rows to `system_means.json`. "lists"
makes scores for "peers", which needs ppi-python, truescore and evalstats, and nothing of xsumstat.
"""

import itertools
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("system_means.json")
LISTS = Path(tempfile.gettempdir()) / "xsumstat_lists.npz"
LEVEL, AT_ONCE = 0.95, 1_500_000
QUANTITIES = {
    "summeval": (
        ["expert_coherence", "expert_consistency", "expert_fluency", "expert_relevance"],
        ["rouge-1_f1", "bertscore_f1", "qa-eval_lerc"],
    ),
    "realsumm": (["litepyramid_recall"], ["rouge_1_recall", "bert_recall_score"]),
}


def drawn(generator, n_trials, n_systems, m, rho, kind):
    """Human and metric scores (trials, systems, inputs), half of whose variance is of inputs, and the true mean."""
    inputs = generator.standard_normal((n_trials, 1, m))
    z = np.sqrt(0.5) * inputs + np.sqrt(0.5) * generator.standard_normal((n_trials, n_systems, m))
    f = rho * z + np.sqrt(1 - rho**2) * generator.standard_normal(z.shape)
    if kind == "normal":
        return f, z, 0.0
    from scipy.stats import norm

    if kind == "likert":
        edges = [-1.5, -0.5, 0.5, 1.5]
        chances = np.diff(norm.cdf([-np.inf, *edges, np.inf]))
        return f, np.digitize(z, edges) + 1.0, float(chances @ np.arange(1, 6))
    cut = norm.ppf(0.75)  # no error in three of four outputs
    return f, np.where(z > cut, (z - cut) ** 2 * 10, 0.0), _mean_of_excess(cut)


def _mean_of_excess(cut):
    from scipy.integrate import quad
    from scipy.stats import norm

    return quad(lambda x: 10 * (x - cut) ** 2 * norm.pdf(x), cut, 12)[0]


def _batches(n_trials, cells):
    step = max(1, AT_ONCE // cells)
    return [min(step, n_trials - start) for start in range(0, n_trials, step)]


class Tally:
    """How often limits held the truth, by the metric's help and by ratings alone, and how wide they were."""

    def __init__(self):
        """Begin with nothing."""
        self.held, self.widths, self.errors = [], [], []

    def add(self, found, truth, names=("", "human_"), value=("mean", "human_mean")):
        """Count what was found in some trials."""
        held = [(found[f"{each}ci_low"] <= truth) & (truth <= found[f"{each}ci_high"]) for each in names]
        widths = [found[f"{each}ci_high"] - found[f"{each}ci_low"] for each in names]
        self.held.append([each.reshape(len(each), -1).mean(axis=1) for each in held])
        self.widths.append([each.reshape(len(each), -1).mean(axis=1) for each in widths])
        self.errors.append([((found[each] - truth) ** 2).reshape(len(widths[0]), -1).mean(axis=1) for each in value])

    def row(self):
        """What was counted."""
        held, widths, errors = (np.concatenate(each, axis=1) for each in (self.held, self.widths, self.errors))
        return {
            "trials": held.shape[1],
            "held": round(float(held[0].mean()), 4),
            "human_held": round(float(held[1].mean()), 4),
            "mc_error": round(float(held[0].std(ddof=1) / np.sqrt(held.shape[1])), 4),
            "relative_width": round(float(widths[0].mean() / widths[1].mean()), 4),
            "ratings_a_rating": round(float(errors[1].mean() / errors[0].mean()), 3),
        }


def means(n_systems, n, m, rho, kind, target, n_trials, n_strata=1):
    """A row of `system_means`."""
    from xsumstat.inference import system_means as estimator

    tally, generator = Tally(), np.random.default_rng([23, n_systems, n, m, int(100 * rho), n_strata])
    for size in _batches(n_trials, n_systems * m):
        f, z, truth = drawn(generator, size, n_systems, m, rho, kind)
        strata = estimator.Strata.none(m)
        rated = np.arange(m) < n
        if n_strata > 1:  # groups of inputs of unlike difficulty, each with as many ratings, of unlike size
            codes = np.minimum(np.arange(m) * n_strata * 2 // m, n_strata - 1)
            strata = estimator.Strata(codes, n_strata)
            rated = np.zeros(m, dtype=bool)
            for h in range(n_strata):
                rated[np.flatnonzero(codes == h)[: n // n_strata]] = True
            f, z = f + codes, z + codes
            truth = z.mean(-1) if target == "these" else float(codes.mean())
        elif target == "these":
            truth = z.mean(-1)
        tally.add(estimator.system_means(f, np.where(rated, z, np.nan), strata, target, LEVEL), truth)
    scores = f"{kind}, {n_strata} strata" if n_strata > 1 else kind
    return {
        "of": "means", "scores": scores, "systems": n_systems, "rated": n, "inputs": m, "rho": rho, "target": target,
        **tally.row(),
    }  # fmt: skip


def differences(design, n_systems, n, m, rho, kind, target, n_trials):
    """A row of ``compare_systems(method="ppi")``, its first three systems' differences."""
    tally, generator = Tally(), np.random.default_rng([24, n_systems, n, m, int(100 * rho)])
    pairs = np.array(list(itertools.combinations(range(min(3, n_systems)), 2)))
    for size in _batches(n_trials, n_systems * m):
        f, z, _ = drawn(generator, size, n_systems, m, rho, kind)
        human = np.where(chosen(design, n_systems, n, m), z, np.nan)
        truth = (z[:, pairs[:, 0]] - z[:, pairs[:, 1]]).mean(-1) if target == "these" else 0.0
        tally.add(_both(f, human, pairs, target), truth, value=("difference", "human_difference"))
    return {
        "of": "differences", "design": design, "scores": kind, "systems": n_systems, "rated": n, "inputs": m,
        "rho": rho, "target": target, **tally.row(),
    }  # fmt: skip


def _both(f, human, pairs, target):
    """Differences with the metric's help, and as "human_..." by one that is constant."""
    from xsumstat.inference import system_differences as estimator

    found = estimator.system_differences(f, human, pairs, target, LEVEL)
    alone = estimator.system_differences(0 * f, human, pairs, target, LEVEL)
    return found | {f"human_{name}": each for name, each in alone.items()}


def chosen(design, n_systems, n, m):
    """Which inputs of which systems have ratings."""
    rated = np.zeros((n_systems, m), dtype=bool)
    for s in range(n_systems):
        if design == "different inputs":
            rated[s, s * n : (s + 1) * n] = True
            continue
        common = n if design == "same inputs" else n // 2
        rated[s, :common] = True
        rated[s, common + s * (n - common) :][: n - common] = True
    return rated


def simulated():
    """Rows of simulated scores."""
    shapes = [(5, 50), (8, 50), (10, 200), (20, 200), (50, 200), (20, 2000), (200, 2000)]
    for n_systems in (1, 2, 16):
        for (n, m), rho in itertools.product(shapes, (0.0, 0.5, 0.8, 0.95)):
            trials = 2000 if n_systems < 16 and m < 2000 else 400 if m < 2000 else 1000 if n_systems == 1 else 200
            yield means(n_systems, n, m, rho, "normal", "new", trials)
            if m == 200 and rho in (0.0, 0.8):
                yield means(n_systems, n, m, rho, "likert", "new", trials)
                yield means(n_systems, n, m, rho, "normal", "these", trials)
                yield means(n_systems, n, m, rho, "likert", "these", trials)
    for n_systems, n, rho in itertools.product((1, 3), (10, 20, 50), (0.0, 0.8)):
        yield means(n_systems, n, 200, rho, "three of four are 0", "new", 2000)
    for n_systems, n, rho, target in itertools.product((1, 4), (12, 40), (0.0, 0.8), ("new", "these")):
        yield means(n_systems, n, 200, rho, "normal", target, 2000 if n_systems == 1 else 1000, 4)
    for design, n_systems in itertools.product(("same inputs", "half shared", "different inputs"), (2, 16)):
        for n, rho in itertools.product((5, 8, 20, 50), (0.0, 0.5, 0.95)):
            m = 200 if n_systems == 2 or n * 16 <= 200 else 16 * n
            trials = 2000 if n_systems == 2 else 300
            yield differences(design, n_systems, n, m, rho, "normal", "new", trials)
            if n == 20 and rho != 0.5:
                yield differences(design, n_systems, n, m, rho, "normal", "these", trials)
                yield differences(design, n_systems, n, m, rho, "likert", "new", trials)


def ridge():
    """Rows of ``system_means(method="ridge")``: several metrics whose errors are independent, normal and Likert."""
    from xsumstat.inference import ridge_means as estimator

    for (n_systems, k), (n, m), rho in itertools.product(
        ((3, 2), (8, 5), (16, 3)), ((25, 200), (60, 400)), (0.0, 0.5, 0.8)
    ):
        for kind in ("normal", "likert"):
            tally, generator = Tally(), np.random.default_rng([27, n_systems, n, int(100 * rho)])
            for _ in range(2000 if n_systems == 3 else 600):
                f, z, truth = drawn(generator, 1, n_systems, m, rho, kind)
                more = rho * f + np.sqrt(1 - rho**2) * generator.standard_normal((k - 1, *f.shape[1:]))
                human = np.where(np.arange(m) < n, z[0], np.nan)
                found, _ = estimator.ridge_means(np.concatenate([f, more]), human, "new", LEVEL)
                tally.add({name: each[None] for name, each in found.items()}, truth)
            yield {
                "of": "means by ridge", "scores": kind, "systems": n_systems, "metrics": k, "rated": n, "inputs": m,
                "rho": rho, "target": "new", **tally.row(),
            }  # fmt: skip


def published():
    """Rows of published scores of which all but some inputs' ratings are hidden: their full mean is the truth."""
    import xsumstat
    from xsumstat.inference import system_means as estimator

    for name, (golds, metrics) in QUANTITIES.items():
        ds = xsumstat.load_dataset(name)
        for gold, metric in itertools.product(golds, metrics):
            z, f = (ds["score"].sel(metric=each).transpose("system", "input").values for each in (gold, metric))
            there = ~(np.isnan(z) | np.isnan(f)).any(axis=0)
            z, f, m = z[:, there], f[:, there], int(there.sum())
            zc, fc = (each - each.mean(axis=1, keepdims=True) for each in (z, f))
            rho = float((zc * fc).sum() / np.sqrt((zc**2).sum() * (fc**2).sum()))
            z2, f2 = zc - zc.mean(axis=0), fc - fc.mean(axis=0)
            rho_d = float((z2 * f2).sum() / np.sqrt((z2**2).sum() * (f2**2).sum()))
            pairs = np.array(list(itertools.combinations(range(len(z)), 2)))[::7]
            for n in (10, 20, m // 2):
                tallies, generator = (Tally(), Tally()), np.random.default_rng([25, n])
                for size in _batches(2000, z.size):
                    rated = np.argsort(generator.random((size, m)), axis=1)[:, None, :] < n
                    human = np.where(rated, z, np.nan)
                    f_all = np.broadcast_to(f, human.shape)
                    truth = z.mean(-1)
                    found = estimator.system_means(f_all, human, estimator.Strata.none(m), "these", LEVEL)
                    tallies[0].add(found, truth)
                    found = _both(f_all, human, pairs, "these")
                    between = truth[pairs[:, 0]] - truth[pairs[:, 1]]
                    tallies[1].add(found, between, value=("difference", "human_difference"))
                for of, each, r in (("means", tallies[0], rho), ("differences", tallies[1], rho_d)):
                    yield {
                        "of": of, "data": name, "gold": gold, "metric": metric, "rated": n, "inputs": m,
                        "target": "these", "rho": round(r, 3), "at_most": round(1 / (1 - r**2), 3), **each.row(),
                    }  # fmt: skip


def lists():
    """Lists of one system's scores, with our weights, means and limits, in a file for "peers"."""
    from xsumstat.inference import system_means as estimator

    kept = {}
    for at, (rho, scale, n) in enumerate(PEER_CASES):
        f, z, _ = drawn(np.random.default_rng([26, at]), 1000, 1, 200, abs(rho), "normal")
        f = np.sign(rho + 1e-9) * scale * f
        human = np.where(np.arange(200) < n, z, np.nan)
        found = estimator.system_means(f, human, estimator.Strata.none(200), "new", LEVEL)
        kept |= {f"f{at}": f[:, 0], f"z{at}": z[:, 0, :n]}
        kept |= {f"{name}{at}": found[name][:, 0] for name in ("mean", "weight", "ci_low", "ci_high", "human_mean")}
        kept |= {f"{name}{at}": found[name][:, 0] for name in ("human_ci_low", "human_ci_high")}
    np.savez(LISTS, **kept)
    return iter(())


# Correlation, scale of the metric, and ratings, of which evalstats wants 15 or more.
PEER_CASES = [
    *((0.0, 1.0, 10), (0.5, 1.0, 10), (0.8, 1.0, 10), (0.8, 0.01, 10), (0.8, 100.0, 10), (-0.8, 1.0, 10)),
    *((0.0, 1.0, 15), (0.8, 1.0, 15)),
]


def peers():
    """Rows of what other packages make of the same lists; ppi-python's points at our weights too."""
    import evalstats
    import ppi_py
    from truescore import correct

    kept = np.load(LISTS)
    for at, (rho, scale, n) in enumerate(PEER_CASES):
        f, z = kept[f"f{at}"], kept[f"z{at}"]
        apart = 0.0
        limits = {"ppi-python": [], "truescore": [], "evalstats": []}
        for row in range(len(f)):
            y, x, rest = z[row], f[row, :n], f[row, n:]
            point = ppi_py.ppi_mean_pointestimate(y, x, rest, lam=float(kept[f"weight{at}"][row]))
            apart = max(apart, abs(float(np.squeeze(point)) - float(kept[f"mean{at}"][row])))
            low, high = ppi_py.ppi_mean_ci(y, x, rest, alpha=1 - LEVEL)
            limits["ppi-python"].append((float(np.squeeze(low)), float(np.squeeze(high))))
            found = correct.ppi_estimate(f[row], y, np.arange(n), alpha=1 - LEVEL)
            limits["truescore"].append((found.low, found.high))
            if row < 500 and n >= 15:
                human = np.concatenate([y, np.full(200 - n, np.nan)])
                found = evalstats.judge_debias_mean_ci(f[row], human, alpha=1 - LEVEL, rng=np.random.default_rng(row))
                limits["evalstats"].append((found.ci_low, found.ci_high))
        limits = {name: each for name, each in limits.items() if each}
        limits["xsumstat"] = np.stack([kept[f"ci_low{at}"], kept[f"ci_high{at}"]], axis=1)
        limits["ratings alone"] = np.stack([kept[f"human_ci_low{at}"], kept[f"human_ci_high{at}"]], axis=1)
        for name, each in limits.items():
            low, high = np.array(each, dtype=float).T
            held = (low <= 0) & (high >= 0)
            yield {
                "of": "peers", "package": name, "rho": rho, "scale": scale, "rated": n, "inputs": 200,
                "trials": len(held),
                "held": round(float(held.mean()), 4), "width": round(float((high - low).mean()), 4),
                "mc_error": round(float(np.sqrt(held.mean() * (1 - held.mean()) / len(held))), 4),
                **({"points_apart": apart} if name == "ppi-python" else {}),
            }  # fmt: skip


def main():
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    parts = {each.__name__: each for each in (simulated, ridge, published, lists, peers)}
    if part not in parts:
        sys.exit(f"usage: python benchmarks/system_means.py {{{','.join(parts)}}}")
    rows, start = [], time.perf_counter()
    for row in parts[part]():
        rows.append(row)
        print(json.dumps(row), flush=True)
    if rows:
        _save(part, rows)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


def _save(part, rows):
    tables = json.loads(FILE.read_text()) if FILE.exists() else {}
    tables[part] = rows
    texts = [f'"{name}": [\n' + ",\n".join(map(json.dumps, each)) + "\n]" for name, each in tables.items()]
    FILE.write_text("{\n" + ",\n".join(texts) + "\n}\n")


if __name__ == "__main__":
    main()

"""Time per resample of our public functions beside their peers: same arrays, same process, one thread."""

import statistics
import time

import peers
from data import SIZES, dataset, matrices
from peers import timed

import xsumstat  # noqa: F401 - registers ds.meta


def ci(ds, level, coefficient, **keywords):
    """Seconds a resample of `ds.meta.ci` needs."""
    settings = {"level": level, "coefficient": coefficient, "method": "bootstrap", "rng": 0, **keywords}
    ds.meta.ci("gold", n_resamples=256, **settings)
    return timed(lambda k: ds.meta.ci("gold", n_resamples=k, **settings), 1.0, 1_024)


def perm_test(ds, level, coefficient, **keywords):
    """Seconds a resample of `ds.meta.perm_test` needs, for all pairs together."""
    settings = {"level": level, "coefficient": coefficient, "alternative": "greater", "rng": 0, **keywords}
    ds.meta.perm_test("gold", n_resamples=256, **settings)
    return timed(lambda k: ds.meta.perm_test("gold", n_resamples=k, **settings), 1.0, 1_024)


def cases():
    """Name, peer, ratio wanted (None where nobody named one), and the two timings as functions."""
    for systems, inputs in SIZES:
        size = f"{systems}x{inputs}"
        for tied in (False, True):
            scores = matrices(8, systems, inputs, tied)
            z, x, y = scores[:3]
            one, two, eight = dataset(scores[:2]), dataset(scores[:3]), dataset(scores)
            kind = f"{size}, {'tied' if tied else 'untied'}"

            def case(name, peer, wanted, ours, theirs, kind=kind):
                return f"{name}, {kind}", peer, wanted, ours, theirs

            yield case(
                "bootstrap both, input Pearson", "nlpstats", 10_000,
                lambda one=one: ci(one, "input", "pearson"),
                lambda x=x, z=z: peers.nlpstats_bootstrap(x, z, "input", "pearson"),
            )  # fmt: skip
            yield case(
                "bootstrap both, input Kendall", "nlpstats", 8_000 if tied else 12_000,
                lambda one=one: ci(one, "input", "kendall"),
                lambda x=x, z=z: peers.nlpstats_bootstrap(x, z, "input", "kendall"),
            )  # fmt: skip
            yield case(
                "permutation both, system Pearson, 2 metrics", "nlpstats", 1_000 if inputs < 1000 else 40,
                lambda two=two: perm_test(two, "system", "pearson"),
                lambda x=x, y=y, z=z: peers.nlpstats_permutation(x, y, z, "system", "pearson"),
            )  # fmt: skip
            yield case(
                "permutation both, system Pearson, 8 metrics", "28 x nlpstats", 9_000 if inputs < 1000 else None,
                lambda eight=eight: perm_test(eight, "system", "pearson"),
                lambda x=x, y=y, z=z: 28 * peers.nlpstats_permutation(x, y, z, "system", "pearson"),
            )  # fmt: skip
            for coefficient in ("kendall", "spearman"):
                if tied:
                    yield case(
                        f"permutation both, input {coefficient.title()}", "nlpstats", 6_000,
                        lambda two=two, c=coefficient: perm_test(two, "input", c),
                        lambda x=x, y=y, z=z, c=coefficient: peers.nlpstats_permutation(x, y, z, "input", c),
                    )  # fmt: skip
                else:
                    yield case(
                        f"permutation both, input {coefficient.title()}", "per-cell SciPy", 100_000,
                        lambda two=two, c=coefficient: perm_test(two, "input", c),
                        lambda x=x, y=y, z=z, c=coefficient: peers.perm_both_on_scipy(x, y, z, c),
                    )  # fmt: skip
            if systems * inputs == 1600:
                flat = one.stack(cell=("system", "input")).reset_index("cell", drop=True)
                flat = flat.rename(cell="system").expand_dims("input")
                yield case(
                    "bootstrap both, global Pearson", "scipy.stats.bootstrap", 3,
                    lambda one=one: ci(one, "global", "pearson"),
                    lambda x=x, z=z: peers.scipy_bootstrap(x, z),
                )  # fmt: skip
                yield case(
                    "permutation system, system Pearson", "scipy.stats.permutation_test", None,
                    lambda two=two: fixed(two, 60_000, level="system", coefficient="pearson", resample="system"),
                    lambda x=x, y=y, z=z: peers.scipy_permutation(x, y, z),
                )  # fmt: skip
                for coefficient in ("pearson", "kendall"):
                    yield case(
                        f"bootstrap of 1,600 cells, {coefficient.title()}", "correlation-with-confidence", None,
                        lambda flat=flat, c=coefficient: ci(flat, "global", c, resample="system"),
                        lambda x=x, z=z, c=coefficient: peers.with_confidence(x, z, c),
                    )  # fmt: skip
            if systems * inputs == 30_000:
                yield case(
                    "permutation both, global Kendall, k = 10,000 with set-up", "nlpstats", 100 if tied else 1_000,
                    lambda two=two: fixed(two, 10_000, level="global", coefficient="kendall"),
                    lambda x=x, y=y, z=z: peers.nlpstats_permutation(x, y, z, "global", "kendall"),
                )  # fmt: skip
    yield from global_cases()


def global_cases():
    """All cells as one group, where scores are tied: grades, and fine scores of which some are equal."""
    fine = matrices(8, 20, 1500, False).round(2)
    for kind, scores, wanted in (("tied", matrices(8, 20, 1500, True), 100), ("fine scores with some ties", fine, 20)):
        z, x, y = scores[:3]
        one, two = dataset(scores[:2]), dataset(scores[:3])
        for c in ("kendall", "spearman"):
            yield (
                f"permutation both, global {c.title()}, 20x1500, {kind}", "nlpstats", wanted,
                lambda two=two, c=c: perm_test(two, "global", c),
                lambda x=x, y=y, z=z, c=c: peers.nlpstats_permutation(x, y, z, "global", c),
            )  # fmt: skip
            yield (
                f"bootstrap both, global {c.title()}, 20x1500, {kind}", "nlpstats", wanted,
                lambda one=one, c=c: ci(one, "global", c),
                lambda x=x, z=z, c=c: peers.nlpstats_bootstrap(x, z, "global", c),
            )  # fmt: skip


def fixed(ds, k, **settings):
    """Seconds a resample of one whole test with `k` swaps needs, set-up included."""
    ds.meta.perm_test("gold", n_resamples=16, rng=0, **settings)
    start = time.perf_counter()
    ds.meta.perm_test("gold", n_resamples=k, rng=0, **settings)
    return (time.perf_counter() - start) / k


def run(runs: int, only: str = "") -> list[dict]:
    """Each case `runs` times, we and the peer in turn."""
    rows = []
    for name, peer, wanted, ours, theirs in cases():
        if only not in name:
            continue
        pairs = [(ours(), theirs()) for _ in range(runs)]
        ratios = [b / a for a, b in pairs]
        rows.append(
            {
                "case": name,
                "peer": peer,
                "ours_us": 1e6 * statistics.median(a for a, _ in pairs),
                "peer_us": 1e6 * statistics.median(b for _, b in pairs),
                "ratio": statistics.median(ratios),
                "ratio_low": min(ratios),
                "ratio_high": max(ratios),
                "wanted": wanted,
            }
        )
        row = rows[-1]
        target = f"{row['wanted']:,}" if wanted else "-"
        print(
            f"{name:75s} {row['ours_us']:10.3f} us {row['peer_us']:12.1f} us  x{row['ratio']:>9,.0f} ({target})",
            flush=True,
        )
    return rows


def updated(known: list[dict], runs: int, only: str) -> list[dict]:
    """What is known, with the cases that are measured now in their places."""
    new = {row["case"]: row for row in run(runs, only)}
    kept = [new.pop(row["case"], row) for row in known]
    return kept + list(new.values())

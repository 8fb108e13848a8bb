"""Every public question, asked of small scores; the answers are kept for as long as a process of tests runs."""

import functools
import importlib.util
import warnings

import numpy as np
import xarray as xr
from helpers import LEVELS
from preference_cases import preferences

import xsumstat

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=(4, 8, 6))
SCORES = {
    "no system": BASE[:, :0],
    "no input": BASE[:, :, :0],
    "one system": BASE[:, :1],
    "one input": BASE[:, :, :1],
    "one cell": BASE[:, :1, :1],
    "two systems": BASE[:, :2],
    "a constant metric": np.concatenate([BASE[:1] * 0 + 3, BASE[1:]]),
    "all constant": BASE * 0,
    "infinite": np.where(RNG.random(BASE.shape) < 0.05, np.inf, BASE),
    "enormous": BASE * 1e307,
    "tiny": BASE * 1e-308,
    "denormal": BASE * 1e-320,
    "enormous beside tiny": np.concatenate([BASE[:1] * 1e307, BASE[1:] * 1e-300]),
    "all missing": BASE * np.nan,
    "mostly missing": np.where(RNG.random(BASE.shape) < 0.9, np.nan, BASE),
    "a metric missing": np.concatenate([BASE[:1] * np.nan, BASE[1:]]),
}
# Of these every question meets one of each row, in turn; of the others, which are mostly refused, all.
IN_TURN = (
    ("one input", "two systems", "a constant metric"),
    ("enormous", "tiny", "denormal", "enormous beside tiny"),
)
FEW = {"n_resamples": 19, "rng": 0}
TIES = {"level": "input", "coefficient": "acc_eq"}
ACC = {"coefficient": "pairwise_accuracy"}


def dataset(score):
    labels = {"metric": ["m0", "m1", "m2", "human"], "system": [f"s{at}" for at in range(score.shape[1])]}
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, labels)
    return ds.assign_coords(type=("system", [("a", "b")[at % 2] for at in range(score.shape[1])]))


def rating(ds):
    """Three raters about the gold."""
    apart = xr.DataArray([-0.1, 0.0, 0.2], dims="rater")
    return ds.score.sel(metric="human", drop=True) + apart


def apart(ds):
    """The same with systems whose means differ, so that plans can be made."""
    if "system" not in ds.score.dims:
        return ds
    steps = np.linspace(0.0, 8.0, ds.sizes["system"])
    by = steps.reshape([-1 if dim == "system" else 1 for dim in ds.score.dims])
    return ds.copy(data={name: each.data + by if name == "score" else each.data for name, each in ds.items()})


def passes(ds):
    """The scores as passes and fails, 1 and 0."""
    score = ds.score
    passed = xr.where(np.isfinite(score), (score > 2) * 1.0, score).transpose(*score.dims)
    return ds.copy(data={name: passed.data if name == "score" else each.data for name, each in ds.items()})


def again(ds):
    """Three runs, that differ by a tenth."""
    return ds.assign(score=ds.score.variable * xr.Variable("run", [1.0, 1.1, 0.9]))


def two_tasks(ds):
    """Metrics ranked at two levels, with the swaps kept."""
    tasks = {level: {"ds": ds, "gold": "human", "level": level} for level in ("system", "input")}
    return xsumstat.rank_tasks(tasks, keep_samples=True, **FEW)


def refusing(ds):
    """Without the scores of one metric for a third of the outputs."""
    systems, inputs = (np.arange(ds.sizes.get(dim, 1)) for dim in ("system", "input"))
    kept = xr.DataArray((5 * systems[:, None] + inputs) % 3 > 0, dims=("system", "input"))  # whatever labels follow
    first = xr.DataArray(np.arange(ds.sizes["metric"]) == 0, dims="metric")
    score = ds.score.where(~first | kept).transpose(*ds.score.dims)
    return ds.copy(data={name: score.data if name == "score" else each.data for name, each in ds.items()})


QUESTIONS = {
    **{
        f"corr, {level}, {name}": lambda d, level=level, name=name: d.meta.corr("human", level=level, coefficient=name)
        for level in LEVELS
        for name in ("pearson", "spearman", "kendall", "kendall_c", "acc_eq", "kendall_like")
    },
    **{
        f"ci, {level}": lambda d, level=level: d.meta.ci("human", level=level, interval="bca", **FEW)
        for level in LEVELS
    },
    **{
        f"perm_test, {level}": lambda d, level=level: d.meta.perm_test(
            "human", level=level, coefficient="kendall", **FEW
        )
        for level in LEVELS
    },
    **{
        f"jackknife, {level}": lambda d, level=level: d.meta.ci("human", level=level, coefficient="kendall", rng=0)
        for level in LEVELS
    },
    "jackknife of differences": lambda d: d.meta.ci("human", other="m1", level="input", coefficient="spearman", rng=0),
    "jackknife on own cells": lambda d: d.meta.ci("human", other="m1", missing="available", rng=0),
    "jackknife of spa": lambda d: d.meta.ci("human", coefficient="spa", method="jackknife"),
    "equivalent by the jackknife": lambda d: d.meta.equivalence("human", other="m1", margin=0.1, method="jackknife"),
    "corrected": lambda d: d.meta.ci("human", interval="corrected", **FEW),
    "fisher": lambda d: d.meta.ci("human", method="fisher"),
    "tau_eq": lambda d: d.meta.ci("human", level="input", coefficient="tau_eq", undefined="zero", **FEW),
    "tau_eq, swaps": lambda d: d.meta.perm_test("human", level="global", coefficient="tau_eq", **FEW),
    "pdp": lambda d: d.meta.ci("human", level="global", coefficient="pdp"),
    "pdp, drawn": lambda d: d.meta.ci("human", level="global", coefficient="pdp", method="bootstrap", **FEW),
    "pdp, swaps": lambda d: d.meta.perm_test("human", level="global", coefficient="pdp", **FEW),
    "spa": lambda d: d.meta.ci("human", coefficient="spa", **FEW),
    "spa, swaps": lambda d: d.meta.perm_test("human", coefficient="spa", **FEW),
    "decisions": lambda d: d.meta.perm_test("human", resample="input", **TIES, **FEW),
    "calibrated swaps": lambda d: d.meta.perm_test("human", swap="scores", **TIES, **FEW),
    "computed": lambda d: d.meta.perm_test("human", level="input", coefficient="kendall", method="auto", **FEW),
    "boot_test": lambda d: d.meta.boot_test("human", **FEW),
    "corr_test": lambda d: d.meta.corr_test("human", method="zou"),
    "corr_test of ranks": lambda d: d.meta.corr_test("human", method="wilcoxon", level="input"),
    "metric_corr": lambda d: d.meta.metric_corr(),
    "metric_ci": lambda d: d.meta.metric_ci(**FEW),
    "equivalence": lambda d: d.meta.equivalence("human", other="m1", margin=0.1, **FEW),
    "dominance": lambda d: d.meta.dominance("human", other="m1", **FEW),
    "compare_systems": lambda d: d.meta.compare_systems(between="type"),
    "clustered systems": lambda d: d.assign_coords(
        pair_of=("input", np.arange(d.sizes["input"]) // 2)
    ).meta.compare_systems(cluster="pair_of"),
    "signed ranks": lambda d: d.meta.compare_systems(method="wilcoxon"),
    "hybrid": lambda d: d.meta.compare_systems(method="hybrid", **FEW),
    "bootstrap of systems": lambda d: d.meta.compare_systems(method="bootstrap", **FEW),
    "system_means": lambda d: d.meta.system_means("human", metric="m0"),
    "system_means by several": lambda d: d.meta.system_means("human", metric=["m0", "m1"], target="these"),
    "ppi": lambda d: d.meta.compare_systems(gold="human", metric="m0", method="ppi"),
    "input_effect": lambda d: d.meta.input_effect(),
    "top_k": lambda d: d.meta.top_k(2, by="human"),
    "top_k_corr": lambda d: d.meta.top_k_corr("human", **FEW),
    "close_corr": lambda d: d.meta.close_corr("human", gap=[0.5, (0.1, 0.9)], **FEW),
    "given": lambda d: d.meta.ci("human", given="m2", **FEW),
    "given, drawn": lambda d: d.meta.ci("human", given="m2", level="input", method="bootstrap", **FEW),
    "given, swaps": lambda d: d.meta.perm_test("human", given="m2", level="global", coefficient="kendall", **FEW),
    "bias": lambda d: d.meta.bias("human", given=["m2", "type"]),
    "bias of differences": lambda d: d.meta.bias("human", given="m2", level="input", method="difference", joint=True),
    "bias of ratings": lambda d: d.meta.bias(rating(d), given="m2", metric=["m0", "m1"]),
    "discriminative": lambda d: d.meta.discriminative_agreement("human", **FEW),
    "scoring_range": lambda d: d.meta.scoring_range(above=0.5, unit="quantile").meta.metric_corr(level="input"),
    "range_drop": lambda d: d.meta.range_drop(above=0.5, unit="quantile", n_simulations=19, **FEW),
    "disagreement": lambda d: d.meta.disagreement(**FEW),
    "improvement": lambda d: d.meta.improvement_consistency(**FEW),
    "rank": lambda d: d.meta.rank("human"),
    "rank by swaps": lambda d: d.meta.rank("human", method="permutation", adjust=None, **FEW),
    **{
        f"compare_metrics, {level}": lambda d, level=level: d.meta.compare_metrics(
            "human", level=level, coefficient="spearman"
        )
        for level in LEVELS
    },
    "compare_groups": lambda d: d.meta.compare_groups("human", by="type", level="input"),
    "compare_groups of these": lambda d: d.meta.compare_groups("human", by="type", level="global", resample="input"),
    "compare_metrics of these": lambda d: d.meta.compare_metrics("human", resample="input", adjust="bh"),
    "compare_metrics by swaps": lambda d: d.meta.compare_metrics("human", method="permutation", adjust=None, **FEW),
    "tasks": lambda d: xsumstat.rank_tasks({"a": {"ds": d, "gold": "human"}}, **FEW),
    "tasks, swaps kept": lambda d: xsumstat.rank_tasks(
        {"a": {"ds": d, "gold": "human", "coefficient": "pairwise_accuracy"}}, keep_samples=True, **FEW
    ),
    "subset of tasks": lambda d: two_tasks(d).meta.subset(level="input"),
    "ranks by level": lambda d: two_tasks(d).meta.ranks_by("level"),
    "stability of ranks": lambda d: two_tasks(d).meta.rank_stability(**FEW),
    "normality": lambda d: d.meta.normality(),
    "pca": lambda d: d.meta.pca(),
    "variances": lambda d: d.meta.variance_components("human"),
    "variances of ratings": lambda d: d.meta.variance_components(rating=rating(d), metric="m0"),
    "by": lambda d: d.meta.ci("human", by="type", **FEW),
    "agreement": lambda d: d.meta.agreement(rating(d), n_resamples=5, rng=0),
    "confusion": lambda d: passes(d).meta.confusion("human"),
    "kappa": lambda d: passes(d).meta.ci("human", level="global", coefficient="kappa"),
    "f1, drawn": lambda d: passes(d).meta.ci("human", level="input", coefficient="f1", method="bootstrap", **FEW),
    "mcc, swaps": lambda d: passes(d).meta.perm_test("human", level="global", coefficient="mcc", **FEW),
    "icc": lambda d: d.meta.compare_metrics("human", coefficient="icc"),
    "majority": lambda d: d.meta.majority_vote(rating(d), ties="lowest"),
    "calibrate": lambda d: d.meta.calibrate("human", metric="m0", folds=2, rng=0),
    "refitted": lambda d: d.meta.calibrate("human", metric="m0", rng=0, folds=2).meta.ci("human", level="global"),
    "noisiest": lambda d: d.meta.drop_noisiest_rater(rating(d)),
    "alt_test": lambda d: d.meta.alt_test(rating(d), metric="m0", scale="ranks", min_items=2),
    "human_ceiling": lambda d: d.meta.human_ceiling(rating(d), metric="m0", **FEW),
    "sample_inputs": lambda d: d.meta.sample_inputs(metric="m0", n_means=2, n_spreads=1, rng=0),
    "sentinels": lambda d: d.meta.sentinels("human", given=["m2", "type"]),
    "coverage": lambda d: xsumstat.coverage(d, "human", metric="m0", n_trials=2, **FEW),
    "plan": lambda d: xsumstat.plan(
        apart(d), "human", metric="m0", n_systems=[6, 20], n_inputs=[5, 50], target=0.5, n_trials=2, rng=0
    ),
    "plan of differences": lambda d: xsumstat.plan(d, "human", difference=[0.5, 1.0], n_trials=20, rng=0),
    "plan of two": lambda d: xsumstat.plan(apart(d), "human", metric="m0", other="m1", n_trials=2, **FEW),
    "plan of raters": lambda d: xsumstat.plan(
        apart(d), rating=rating(apart(d)), metric="m0", level="input", n_raters=[1, 2], n_trials=2
    ),
    "plan of a budget": lambda d: xsumstat.plan(
        d,
        rating=rating(d),
        metric="m0",
        estimand="difference",
        budget=[300, 900],
        n_raters=[1, 2],
        cost_per_verdict=0.1,
    ),
    "plan of the cheapest": lambda d: xsumstat.plan(
        d, rating=rating(d), metric="m0", level="input", resample="input", target=0.5, cost_per_prompt=2
    ),
    "plan of judged inputs": lambda d: xsumstat.plan(
        d, "human", metric="m0", difference=0.5, budget=900, n_judged=[50, 90]
    ),
    "plan of the cheapest difference": lambda d: xsumstat.plan(
        d, "human", metric="m0", difference=0.5, target=0.8, cost_per_verdict=0.1
    ),
    "coverage of scores like these": lambda d: xsumstat.coverage(
        d, "human", metric="m0", truth="population", intervals={"jackknife": {"method": "jackknife"}}, n_trials=2, **FEW
    ),
    "power": lambda d: xsumstat.power(d, "human", metric="m0", n_trials=2, **FEW),
    "repeatability": lambda d: again(d).meta.repeatability("human"),
    "missingness": lambda d: refusing(d).meta.missingness("human", **FEW),
    "corr_test against a value": lambda d: d.meta.corr_test("human", method="wilcoxon", level="input", against=0.1),
    "compare_metrics of ranks": lambda d: d.meta.compare_metrics("human", method="wilcoxon", level="within_system"),
}

# Questions that differ by level or coefficient alone, and share all else; and those that stand for them.
BY_LEVEL = tuple(name for name in QUESTIONS if name.startswith(("corr, ", "ci, ", "perm_test, ", "jackknife, ")))
OF_LEVELS = (
    *(
        f"corr, {level}, {name}"
        for level, name in zip(LEVELS, ("kendall_c", "acc_eq", "kendall", "kendall_like"), strict=True)
    ),
    *("corr, system, pearson", "corr, input, spearman"),
    *("ci, system", "ci, within_system", "perm_test, input", "jackknife, global"),
)
STANDING = [name for name in QUESTIONS if name not in BY_LEVEL or name in OF_LEVELS]


def turn(question):
    """The place of a question, by which it meets one of several; each coefficient and each level meets all of them."""
    at = list(ALL).index(question)
    return at + at // 6


def rounded(seed):
    """Scores that any dtype holds, with ties and a gap."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 6, (8, 6)).astype(float)
    score = np.concatenate([np.clip(z + rng.integers(-3, 4, (3, 8, 6)), -4, 9), z[None]])
    return dataset(score)


# With `QUESTIONS`, all that results can hold.
MORE = {
    "each input": lambda d: d.meta.corr("human", level="input", average=False),
    "intervals of differences": lambda d: d.meta.ci("human", other="m1", keep_samples=True, **FEW),
    "by formula": lambda d: d.meta.perm_test("human", level="input", coefficient="kendall_a", method="analytic"),
    "maxt": lambda d: d.meta.perm_test("human", adjust="maxt", keep_samples=True, **FEW),
    "sensitivity": lambda d: d.meta.margin_sensitivity("human", other="m1", margins=[0.1, 0.2], **FEW),
    "shapes": lambda d: d.meta.normality(level="input"),
    "outputs": lambda d: d.meta.scoring_range(above=0.5, unit="quantile"),
    "significant": lambda d: d.meta.perm_test("human", **FEW).meta.significant().to_dataset(),
    "compared by formula": lambda d: d.meta.compare_metrics("human", method="zou", alternative="greater"),
    "compared exactly": lambda d: d.meta.compare_metrics("human", method="permutation", coefficient="kendall", **FEW),
    "compared by group": lambda d: d.meta.compare_metrics("human", level="input", by="type"),
    "corrected tests": lambda d: d.meta.perm_test("human", **FEW).meta.adjust("holm"),
}
# What holds scores as they came, and results under names that nobody chose.
GIVES_SCORES = ("top_k", "scoring_range", "majority", "noisiest", "calibrate", "sample_inputs", "sentinels", "outputs")


def versions():
    """Scores of two languages, and gold of one."""
    both = [rounded(seed).drop_sel(metric="human") for seed in (4, 5)]
    ds = xr.concat(both, xr.DataArray(["en", "de"], dims="language", name="language"))
    return ds.assign(human=rounded(4).score.sel(metric="human", drop=True))


BESIDE = {
    "dominance of versions": lambda d: versions().meta.dominance("human", along="language", base="en", **FEW),
    "versions": lambda d: versions().meta.equivalence("human", along="language", base="en", margin=0.1, **FEW),
    "simulate": lambda d: xsumstat.simulate(8, 6, agreement={"m": 0.5}, rng=0),
    "type I error": lambda d: xsumstat.power(
        xsumstat.simulate(8, 6, agreement={"m": 0.5, "n": 0.5}, rng=0), n_trials=2, **FEW
    ),
    "drift": lambda d: rounded(4).meta.drift(rounded(5), "human", level="input"),
    "position_bias": lambda d: preferences(1).meta.position_bias(),
    "preference_agreement": lambda d: preferences(1).meta.preference_agreement(),
    "preference_bias": lambda d: preferences(1).meta.preference_bias(given=["length", "family"]),
    "rank_systems": lambda d: preferences(1).meta.rank_systems(),
    "population": lambda d: xsumstat.coverage(
        xsumstat.simulate(8, 6, agreement={"m": 0.5}, rng=0), truth="population", n_trials=2, **FEW
    ),
}


def in_two(seed):
    """Scores in two languages, gold among them."""
    both = [rounded(seed), rounded(seed + 1)]
    return xr.concat(both, xr.DataArray(["en", "de"], dims="language", name="language"))


def raters(ds):
    """Three people who rate alike, but for noise."""
    shape = 3, ds.sizes["system"], ds.sizes["input"]
    noise = xr.DataArray(np.random.default_rng(2).normal(size=shape), dims=("rater", "system", "input"))
    return ds.score.sel(metric="human", drop=True) + noise


OTHERS = {
    "pairs that count": lambda d: d.meta.ci("human", coefficient="kendall_like"),
    "ranks by pairs that count": lambda d: d.meta.rank("human", coefficient="kendall_like"),
    "top systems by pairs that count": lambda d: d.meta.top_k_corr("human", coefficient="kendall_like", **FEW),
    "kept draws": lambda d: d.meta.ci("human", interval="bca", keep_samples=True, **FEW),
    "kept draws of two metrics": lambda d: d.meta.metric_ci(keep_samples=True, interval="bca", **FEW),
    "kept draws of top systems": lambda d: d.meta.top_k_corr("human", interval="bca", keep_samples=True, **FEW),
    "kept draws of a test": lambda d: d.meta.boot_test("human", keep_samples=True, **FEW),
    "by groups that have no answer": lambda d: d.assign_coords(
        type=("system", ["alone", *"aabbbbbbbbbbb"][:d.sizes["system"]])
    ).meta.ci("human", by="type", **FEW),
    "groups of two metrics": lambda d: d.meta.metric_corr(level="input", average=False),
    "pooled corr": lambda d: in_two(4).meta.corr("human", pool="language", **ACC),
    "pooled ci": lambda d: in_two(4).meta.ci("human", pool="language", keep_samples=True, **ACC, **FEW),
    "pooled test": lambda d: in_two(4).meta.perm_test("human", pool="language", adjust="holm", **ACC, **FEW),
    "pooled ranks": lambda d: in_two(4).meta.rank("human", pool="language", **ACC, **FEW),
    "further dims": lambda d: in_two(4).meta.perm_test("human", **FEW),
    "two people, corrected": lambda d: d.meta.equivalence(
        "human", other="m1", margin="rater_sd", rating=raters(d), adjust="by", **FEW
    ),
    "by formula, equivalence": lambda d: d.meta.equivalence(
        "human", other="m1", margin=0.2, method="tost_analytic", level="global"
    ),
    "corrected margins": lambda d: d.meta.margin_sensitivity(
        "human", other=["m1", "m2"], by=["metric", "other_metric"], adjust="holm", margins=[0.1, 0.2], **FEW
    ),
    "corrected versions": lambda d: rounded(4).meta.drift(rounded(5), "human").meta.adjust("holm"),
    "corrected systems": lambda d: d.meta.compare_systems(adjust="holm"),
    "corrected shapes": lambda d: d.meta.normality(level="input").meta.adjust("holm"),
    "corrected drops": lambda d: d.meta.range_drop(
        above=0.5, unit="quantile", n_simulations=19, **FEW
    ).meta.adjust("holm"),
    "raters who vary": lambda d: d.meta.alt_test(raters(d), scale="standardised", min_items=2),
    "a ceiling": lambda d: d.meta.human_ceiling(raters(d), **FEW),
    "type I error, both sides alike": lambda d: xsumstat.power(d, "human", metric="m0", null=True, n_trials=2, **FEW),
    "designs of tests": lambda d: xsumstat.power(
        xsumstat.simulate(8, 6, agreement={"m": 0.5}, rng=0), redraw=True, level=["input", "system"],
        coefficient=["pearson", "kendall"], n_systems=[6, 8], n_inputs=[6, 8], noise=[0.5, 1.0], n_trials=2, **FEW,
    ),
    "power of two metrics": lambda d: xsumstat.power(
        d, "human", metric="m0", other="m1", tests={"williams": {"test": "corr_test"}}, n_trials=2, **FEW
    ),
    "coverage of differences": lambda d: xsumstat.coverage(
        d, "human", metric="m0", other="m1", n_trials=2, **FEW
    ),
    "designs": lambda d: xsumstat.coverage(
        xsumstat.simulate(8, 6, agreement={"m": 0.5}, rng=0), truth="population", level=["input", "system"],
        coefficient=["pearson", "kendall"], n_systems=[6, 8], n_inputs=[6, 8], n_trials=2, **FEW,
    ),
}  # fmt: skip

# An answer of each analysis that has a picture, for the demo.
OF_DEMO = {
    "ci": lambda d: d.meta.ci("human", **FEW),
    "corr": lambda d: d.meta.corr("human", by="system_type"),
    "perm_test": lambda d: d.meta.perm_test("human", **FEW),
    "boot_test": lambda d: d.meta.boot_test("human", **FEW),
    "corr_test": lambda d: d.meta.corr_test("human"),
    "compare_metrics": lambda d: d.meta.compare_metrics("human"),
    "compare_groups": lambda d: d.meta.compare_groups("human", by="system_type", level="input"),
    "rank": lambda d: d.meta.rank("human"),
    "rank_tasks": lambda d: xsumstat.rank_tasks({"a": {"ds": d, "gold": "human"}}, **FEW),
    "metric_corr": lambda d: d.meta.metric_corr(),
    "metric_ci": lambda d: d.meta.metric_ci(metric=["judge", "bleu", "rouge"], **FEW),
    "equivalence": lambda d: d.meta.equivalence("human", other="bleu", margin=0.1, **FEW),
    "margin_sensitivity": lambda d: d.meta.margin_sensitivity("human", other="bleu", margins=[0.1, 0.2], **FEW),
    "dominance": lambda d: (
        xr.concat([d[["score"]], d[["score"]] ** 2], "language", combine_attrs="override")
        .assign_coords(language=["en", "de"])
        .meta.dominance(d.score.sel(metric="human", drop=True), along="language", base="en", threshold=0.6, **FEW)
    ),
    "compare_systems": lambda d: d.meta.compare_systems(metric="human"),
    "system_means": lambda d: d.meta.system_means("human", metric="judge"),
    "pca": lambda d: d.meta.pca(),
    "variance_components": lambda d: d.meta.variance_components("human"),
    "input_effect": lambda d: d.meta.input_effect(metric="human"),
    "top_k_corr": lambda d: d.meta.top_k_corr("human", k=[12, 8], **FEW),
    "close_corr": lambda d: d.meta.close_corr("human", gap=[0.5, 1.0], **FEW),
    "bias": lambda d: d.meta.bias("human", given=["length", "system_type"]),
    "human_ceiling": lambda d: d.meta.human_ceiling(
        xr.concat([d.score.sel(metric=each, drop=True) for each in ("human", "judge", "rouge")], "rater"), **FEW
    ),
    "confusion": lambda d: d.assign(score=(d.score > 50) * 1.0).meta.confusion("human", metric=["judge", "rouge"]),
    "repeatability": lambda d: again(d).meta.repeatability("human"),
    "missingness": lambda d: refusing(d).meta.missingness("human", **FEW),
    "discriminative_agreement": lambda d: d.meta.discriminative_agreement("human", **FEW),
    "drift": lambda d: d.meta.drift("rouge", "human", metric="judge"),
    "position_bias": lambda d: preferences(1).meta.position_bias(),
    "preference_agreement": lambda d: preferences(1).meta.preference_agreement(),
    "preference_bias": lambda d: preferences(1).meta.preference_bias(given=["length", "family"]),
    "rank_systems": lambda d: preferences(1).meta.rank_systems(),
    "disagreement": lambda d: d.meta.disagreement(**FEW),
    "improvement_consistency": lambda d: d.meta.improvement_consistency(**FEW),
    "range_drop": lambda d: d.meta.range_drop(above=0.5, unit="quantile", n_simulations=19, **FEW),
    "coverage": lambda d: xsumstat.coverage(d, "human", metric="judge", n_trials=3, **FEW),
    "plan": lambda d: xsumstat.plan(d, "human", metric="judge", level="input", target=0.1),
    "power": lambda d: xsumstat.power(d, "human", metric="judge", n_trials=3, **FEW),
}

ALL = {**QUESTIONS, **MORE, **BESIDE, **OTHERS}
LACKS_A_PACKAGE = () if importlib.util.find_spec("krippendorff") else ("agreement",)
# What gives a result, rather than scores or another array.
ASKED = [
    name
    for name in (*STANDING, *MORE, *BESIDE, *OTHERS)
    if name not in (*GIVES_SCORES, *LACKS_A_PACKAGE, "significant")
]
# What says its conclusion and methods, and is a table; "corr" by one of its levels and coefficients.
IN_WORDS = [name for name in ASKED if not name.startswith("corr, ") and name != "simulate"]


def ask(question, ds):
    """The answer to a question, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ALL[question](ds)


@functools.cache
def answer(question):
    """The answer of `rounded` scores."""
    return ask(question, rounded(3))


@functools.cache
def answer_of_demo(name):
    """One of `OF_DEMO`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return OF_DEMO[name](xsumstat.load_dataset("demo"))


_OF_DEMO = {}


def of_demo(analysis, *arguments, **keywords):
    """The answer of `demo.meta.<analysis>(...)`, asked once in a process; a copy, which a test may change."""
    asked = repr((analysis, arguments, keywords))
    if asked not in _OF_DEMO:
        _OF_DEMO[asked] = getattr(xsumstat.load_dataset("demo").meta, analysis)(*arguments, **keywords)
    return _OF_DEMO[asked].copy(deep=True)


def analysis_of(found):
    """The analysis that a result is of; scores that were simulated are of none, and say their truth."""
    return found.attrs.get("analysis", "simulate")

"""Every public question on scores that are few, constant, infinite, enormous, tiny or missing.

Whatever comes, the answer is a result, or an error of ours that says what is wrong; never a warning of NumPy's, never
an infinite number, and never a change to what was given.
"""

import sys
import traceback
import warnings

import numpy as np
import pytest
import xarray as xr

import xsumstat

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=(4, 8, 6))
SCORES = {
    "usual": BASE,
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
FEW = {"n_resamples": 19, "rng": 0}
LEVELS = ("system", "input", "global", "within_system")
TIES = {"level": "input", "coefficient": "acc_eq"}


def dataset(score):
    labels = {"metric": ["m0", "m1", "m2", "human"], "system": [f"s{at}" for at in range(score.shape[1])]}
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, labels)
    return ds.assign_coords(type=("system", [("a", "b")[at % 2] for at in range(score.shape[1])]))


def rating(ds):
    """Three raters about the gold."""
    apart = xr.DataArray([-0.1, 0.0, 0.2], dims="rater")
    return ds.score.sel(metric="human", drop=True) + apart


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
    "corrected": lambda d: d.meta.ci("human", interval="corrected", **FEW),
    "fisher": lambda d: d.meta.ci("human", method="fisher"),
    "spa": lambda d: d.meta.ci("human", coefficient="spa", **FEW),
    "spa, swaps": lambda d: d.meta.perm_test("human", coefficient="spa", **FEW),
    "decisions": lambda d: d.meta.perm_test("human", resample="input", **TIES, **FEW),
    "calibrated swaps": lambda d: d.meta.perm_test("human", swap="scores", **TIES, **FEW),
    "computed": lambda d: d.meta.perm_test("human", level="input", coefficient="kendall", method="auto", **FEW),
    "boot_test": lambda d: d.meta.boot_test("human", **FEW),
    "corr_test": lambda d: d.meta.corr_test("human", method="zou"),
    "metric_corr": lambda d: d.meta.metric_corr(),
    "metric_ci": lambda d: d.meta.metric_ci(**FEW),
    "equivalence": lambda d: d.meta.equivalence("human", other="m1", margin=0.1, **FEW),
    "dominance": lambda d: d.meta.dominance("human", other="m1", **FEW),
    "compare_systems": lambda d: d.meta.compare_systems(between="type"),
    "signed ranks": lambda d: d.meta.compare_systems(method="wilcoxon"),
    "hybrid": lambda d: d.meta.compare_systems(method="hybrid", **FEW),
    "bootstrap of systems": lambda d: d.meta.compare_systems(method="bootstrap", **FEW),
    "input_effect": lambda d: d.meta.input_effect(),
    "top_k": lambda d: d.meta.top_k(2, by="human"),
    "top_k_corr": lambda d: d.meta.top_k_corr("human", **FEW),
    "close_corr": lambda d: d.meta.close_corr("human", gap=[0.5, (0.1, 0.9)], **FEW),
    "discriminative": lambda d: d.meta.discriminative_agreement("human", **FEW),
    "scoring_range": lambda d: d.meta.scoring_range(above=0.5, unit="quantile").meta.metric_corr(level="input"),
    "range_drop": lambda d: d.meta.range_drop(above=0.5, unit="quantile", n_simulations=19, **FEW),
    "disagreement": lambda d: d.meta.disagreement(**FEW),
    "improvement": lambda d: d.meta.improvement_consistency(**FEW),
    "rank": lambda d: d.meta.rank("human", **FEW),
    "tasks": lambda d: xsumstat.rank_tasks({"a": {"ds": d, "gold": "human"}}, **FEW),
    "normality": lambda d: d.meta.normality(),
    "pca": lambda d: d.meta.pca(),
    "by": lambda d: d.meta.ci("human", by="type", **FEW),
    "agreement": lambda d: d.meta.agreement(rating(d), n_resamples=5, rng=0),
    "majority": lambda d: d.meta.majority_vote(rating(d)),
    "noisiest": lambda d: d.meta.drop_noisiest_rater(rating(d)),
    "alt_test": lambda d: d.meta.alt_test(rating(d), metric="m0", scale="ranks", min_items=2),
    "human_ceiling": lambda d: d.meta.human_ceiling(rating(d), metric="m0", **FEW),
    "sample_inputs": lambda d: d.meta.sample_inputs(metric="m0", n_means=2, n_spreads=1, rng=0),
    "coverage": lambda d: xsumstat.coverage(d, "human", metric="m0", n_trials=2, **FEW),
    "power": lambda d: xsumstat.power(d, "human", metric="m0", n_trials=2, **FEW),
}
INFINITE = ("gap_high",)  # no limit


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_or_a_plain_error(question):
    if question == "agreement":
        pytest.importorskip("krippendorff")
    for name, score in SCORES.items():
        ds = dataset(score)
        before = ds.copy(deep=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = QUESTIONS[question](ds)
            except (ValueError, TypeError) as error:
                found = None
                assert name != "usual", error
                assert "/xsumstat/" in traceback.extract_tb(sys.exc_info()[2])[-1].filename, (name, error)
        foreign = [each for each in caught if not issubclass(each.category, UserWarning)]
        assert not foreign, (name, foreign[0])
        assert ds.identical(before), name
        for label, values in () if found is None else found.data_vars.items():
            if values.dtype.kind == "f" and label not in INFINITE and label != "score":
                assert not np.isinf(values).any(), (name, label)


def test_names_in_any_script(tmp_path):
    names = ["РУЖ", "メトリック", "📏", "human $x_1$ <b>"]
    ds = dataset(BASE).assign_coords(metric=names, system=[f"系统 {at}" for at in range(8)])
    table = ds.meta.rank(names[3], n_resamples=19, rng=0)
    assert set(table.metric.values) == set(names[:3])
    pytest.importorskip("netCDF4")
    table.to_netcdf(tmp_path / "table.nc")
    assert xr.load_dataset(tmp_path / "table.nc").metric.values.tolist() == table.metric.values.tolist()


def test_a_thousand_metrics():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(6, 5))
    score = np.concatenate([z + rng.normal(size=(1000, 6, 5)), z[None]])
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": [*range(1000), 1000]})
    found = ds.meta.ci(1000, n_resamples=199, rng=0)
    assert found.sizes["metric"] == 1000 and bool(found.ci_low.notnull().all())
    test = ds.meta.perm_test(1000, metric=[0, 1], other=list(range(1000)), n_resamples=19, rng=0)
    assert int(test.pvalue.notnull().sum()) == 2 * 999


def rounded(seed):
    """Scores that any dtype holds, with ties and a gap."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 6, (8, 6)).astype(float)
    score = np.concatenate([np.clip(z + rng.integers(-3, 4, (3, 8, 6)), -4, 9), z[None]])
    return dataset(score)


def answer(question, ds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return QUESTIONS[question](ds)


def numbers(found):
    """The variables of a result, their dims in one order, without the attrs that say where labels were."""
    return found.drop_attrs().transpose(*sorted(map(str, found.dims)))


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name != "agreement"])
def test_neither_dtype_nor_order_of_dims_matters(question):
    ds = rounded(3)
    want = answer(question, ds)
    if "score" in want:
        want = want[["score"]]
    for other in (
        ds.transpose("input", "system", "metric"),
        ds.astype(np.float32),
        ds.astype(np.int64),
        ds.assign_coords(note=("input", list("uvwxyz")), nothing=1),
    ):
        got = answer(question, other)
        shared = [name for name in got.coords if name not in want.coords]
        got = (got[["score"]] if "score" in got else got).drop_vars(shared, errors="ignore")
        xr.testing.assert_allclose(numbers(got), numbers(want), atol=1e-9)


@pytest.mark.parametrize("question", [name for name in QUESTIONS if name not in ("agreement", "sample_inputs", "pca")])
def test_each_label_of_a_further_dim_is_answered_as_if_alone(question):
    one, two = rounded(4), rounded(5)
    both = xr.concat([one, two], xr.DataArray(["en", "de"], dims="language", name="language"))
    try:
        found = answer(question, both)
    except ValueError as error:
        assert "further dim" in str(error) or "select one label" in str(error), error
        return
    for label, ds in (("en", one), ("de", two)):
        got, want = found.sel(language=label, drop=True), answer(question, ds)
        if "score" in want:
            got, want = got[["score"]], want[["score"]]
        if "metric" in want.dims:
            got = got.sel(metric=want.metric)
        xr.testing.assert_allclose(numbers(got), numbers(want), atol=1e-9)

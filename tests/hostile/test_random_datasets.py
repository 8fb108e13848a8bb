"""Random Datasets: every coefficient is what plain Python says, and every question has one answer for lazy scores."""

import math
import os
import warnings
import zlib

import cases
import numpy as np
import preference_cases
import pytest
import reference
import xarray as xr
from helpers import LEVELS, rows

import xsumstat
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.dataset.drawn import COORDS

pytestmark = pytest.mark.slow
# How many Datasets each test draws; 2,000 for a night.
DRAWN = int(os.environ.get("XSUMSTAT_RANDOM_DATASETS", "40"))
OF_ANY_SCALE = tuple(name for name in COEFFICIENTS if name not in reference.OF_VALUES)


def drawn(ds):
    """Human scores of inputs that were drawn from strata; the others have weights to stand for them."""
    judges = ds.drop_sel(metric="human").fillna(0.0)
    n = max(4, 2 * ds.sizes["input"] // 3)
    sample = judges.meta.sample_inputs(n, metric="m0", strata="score", n_strata=2, rng=0)
    ds = ds.assign_coords({name: sample[name] for name in COORDS}).assign_attrs(sample.attrs)
    return ds.assign(score=ds.score.where((ds.metric != "human") | ds.drawn))


def topics(ds):
    """Inputs in clusters by the first letters of their labels."""
    return ds.assign_coords(topic=("input", [f"t{at // 3}" for at in range(ds.sizes["input"])]))


def later(ds):
    """The scores of another version of the metrics."""
    change = xr.DataArray(np.random.default_rng(5).normal(size=ds.sizes["input"]) / 5, dims="input")
    return ds.copy(data={"score": ds.score.where(ds.metric == "human", ds.score + change).transpose(*ds.score.dims)})


# Asked here alone.
HERE = {
    "drift": lambda d: later(d).meta.drift(d, "human", metric=["m0", "m1"]),
    "drift of ranks": lambda d: later(d).meta.drift(d, "human", metric="m0", level="input", coefficient="kendall"),
    "drift by clusters": lambda d: topics(later(d)).meta.drift(topics(d), "human", metric="m0", cluster="topic"),
    "ci by clusters": lambda d: topics(d).meta.ci("human", level="input", cluster="topic", rng=0),
    "ci by two clusters": lambda d: topics(d).meta.ci("human", level="global", cluster=("type", "topic"), **cases.FEW),
    "swaps by clusters": lambda d: topics(d).meta.perm_test("human", cluster="topic", resample="input", **cases.FEW),
    "compare_metrics by clusters": lambda d: topics(d).meta.compare_metrics("human", cluster="topic", resample="input"),
    "bias by clusters": lambda d: topics(d).meta.bias("human", given="m2", level="global", cluster="topic"),
    "equivalence by clusters": lambda d: topics(d).meta.equivalence(
        "human", other="m1", margin=0.1, cluster="topic", resample="input", **cases.FEW
    ),
    "drawn inputs, corr": lambda d: drawn(d).meta.corr("human", level="input"),
    "drawn inputs, ci": lambda d: drawn(d).meta.ci("human", method="jackknife", rng=0),
    "drawn inputs, ci of these systems": lambda d: drawn(d).meta.ci("human", resample="input", rng=0),
    "drawn inputs, ci of all outputs": lambda d: drawn(d).meta.ci("human", level="global", resample="input", rng=0),
    "drawn inputs, compare_metrics": lambda d: drawn(d).meta.compare_metrics("human", level="input", resample="input"),
    "drawn inputs, rank": lambda d: drawn(d).meta.rank("human", resample="input"),
    "drawn inputs, means": lambda d: drawn(d).meta.system_means("human", metric="m0"),
    "drawn inputs, ppi": lambda d: drawn(d).meta.compare_systems(gold="human", metric="m0", method="ppi"),
    "stability of other ranks": lambda d: xsumstat.rank_tasks(
        {"a": {"ds": d, "gold": "human"}, "b": {"ds": later(d), "gold": "human", "level": "input"}}, **cases.FEW
    ).meta.rank_stability(**cases.FEW),
    "missingness of people": lambda d: cases.refusing(d.sel(metric=["human", "m0"])).meta.missingness(
        "m0", metric="human", **cases.FEW
    ),
    "repeatability of outputs": lambda d: cases.again(d).meta.repeatability("human", level="input"),
}
ASKED = {**cases.ALL, **HERE}
# Questions that bring scores of their own, and those without a seed.
OWN = {
    *(name for name in cases.BESIDE if name not in HERE),
    *(name for name in cases.OTHERS if name.startswith("pooled")),
}
SEEDLESS = {"pairs that count", "ranks by pairs that count"}
# How often a question is asked in vain for each answer that is compared.
IN_VAIN = 8
# What needs all scores, and refuses lazy ones.
OF_ALL_SCORES = ("coverage", "power", "plan", "type I error", "drawn inputs", "stability of other ranks")
# Few systems are no pilot study.
OF_PILOTS = ("coverage", "power", "plan", "type I error")
# What lazy scores are refused for, as nobody knows yet what they lack; or, without labels, what eager ones are.
ALONE = ("ds.load()", "take them out of the lazy Dataset first", "need labels along")
# What follows from the number of systems by default, which lazy scores that lack some do not tell.
BY_NUMBER = ("resample", "level", "method")
# What is simulated or swapped, whose sums may be in another order.
ROUNDED = ("plan", "tasks", "subset of tasks", "ranks by level")
QUESTIONS = [name for name in ASKED if name not in {*OWN, *SEEDLESS, *cases.LACKS_A_PACKAGE}]
OF_PREFERENCES = {
    "position_bias": lambda d: d.meta.position_bias(),
    "preference_agreement": lambda d: d.meta.preference_agreement(),
    "preference_bias": lambda d: d.meta.preference_bias(given=["length", "family"]),
    "rank_systems": lambda d: d.meta.rank_systems(),
}


def values(generator, shape):
    """Scores that correlate, on a scale at random: any numbers, tenths or grades."""
    common = generator.normal(size=shape[1:]) * generator.uniform(0.2, 2)
    found = common + generator.normal(size=shape) * generator.uniform(0.2, 2)
    kind = generator.integers(3)
    return found if kind == 0 else np.round(found, 1) if kind == 1 else np.clip(np.round(found + 3), 1, 5)


def random_scores(seed, fewest=2):
    """Four metrics, gold among them, with gaps and units that do not vary, their labels and dims in any order."""
    generator = np.random.default_rng(seed)
    shape = 4, int(generator.integers(fewest, fewest + 7)), int(generator.integers(2, 13))
    score = values(generator, shape)
    for axis in (1, 2):  # a system, then an input, whose scores by one metric are all the same
        if generator.random() < 0.3:
            at = [int(generator.integers(4)), slice(None), slice(None)]
            at[axis] = int(generator.integers(shape[axis]))
            score[tuple(at)] = 2.0
    if generator.random() < 0.15:
        score[generator.integers(4)] = 3.0
    share = generator.choice([0.0, 0.0, 0.1, 0.4])
    score[generator.random(shape) < share] = np.nan
    if generator.random() < 0.2:
        score[generator.integers(3), generator.integers(shape[1])] = np.nan
    ds = cases.dataset(score)
    ds = ds.isel({dim: generator.permutation(size) for dim, size in ds.sizes.items()})
    return ds.transpose(*generator.permutation(["metric", "system", "input"]))


def plain(ds, metric):
    return rows(ds.score.sel(metric=metric).transpose("system", "input").values)


def quietly(function):
    """The answer, or the type and the text of a refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return function()
        except (ValueError, TypeError) as error:
            return type(error), str(error)


@pytest.mark.parametrize("name", OF_ANY_SCALE)
def test_every_coefficient_is_what_plain_python_says(name):
    """The first metric at one level of each Dataset, by either rule for gaps and for undefined groups."""
    compared = 0
    for seed in range(DRAWN):
        ds, generator = random_scores(seed), np.random.default_rng([seed, 1])
        level = str(generator.choice([each for each in LEVELS if each in COEFFICIENTS[name].levels]))
        rules = {"undefined": str(generator.choice(["drop", "zero"]))}
        got = quietly(lambda ds=ds, level=level, rules=rules: ds.meta.corr(
            "human", metric=["m0"], level=level, coefficient=name, **rules
        ))  # fmt: skip
        if isinstance(got, tuple):
            continue
        threshold = float(got["threshold"][0]) if "threshold" in got else got.attrs.get("threshold")
        want = reference.correlation(name, plain(ds, "m0"), plain(ds, "human"), level, threshold=threshold, **rules)
        value = float(got.correlation[0])
        same = math.isnan(value) and math.isnan(want) or math.isclose(value, want, abs_tol=1e-9)
        assert same, (seed, level, rules, value, want)
        compared += not math.isnan(want)
    assert compared > DRAWN / 4


def asked(question, ds):
    return quietly(lambda: computed(ASKED[question](ds)))


def for_each_dataset(question, check):
    """Check Datasets of its own for each question until enough answers were compared; fail where few are."""
    wanted, compared = max(2, DRAWN // 20), 0
    first = zlib.crc32(question.encode())
    fewest = 8 if question.startswith(OF_PILOTS) else 2
    for seed in range(first, first + IN_VAIN * wanted):
        compared += bool(check(question, random_scores(seed, fewest), seed))
        if compared == wanted:
            return
    pytest.fail(f"{compared} of {wanted} answers to {question!r} were compared, of {IN_VAIN * wanted} Datasets")


def has_numbers(answer):
    """Whether an answer, which is no refusal, has a number that could differ."""
    if isinstance(answer, tuple):
        return False
    values = [*answer.data_vars.values()] if isinstance(answer, xr.Dataset) else [answer]
    numbers = [each for each in values if each.dtype.kind == "f"] or values  # or verdicts alone
    return any(bool(each.notnull().any()) for each in numbers)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_has_one_answer_for_lazy_scores(question):
    """The same refusal, or the same numbers; what needs all scores says so."""
    for_each_dataset(question, check_lazy)


def check_lazy(question, ds, seed):
    """Whether numbers were compared: of what needs all scores, whether lazy ones were refused and others not."""
    eager, lazy = asked(question, ds), asked(question, ds.chunk(metric=1))
    if isinstance(lazy, tuple) and any(why in lazy[1] for why in ALONE):
        return (question.startswith(OF_ALL_SCORES) or "clusters" in question) and has_numbers(eager)
    if isinstance(eager, tuple) and any(why in eager[1] for why in ALONE):
        return False
    if isinstance(eager, tuple) or isinstance(lazy, tuple):
        assert isinstance(eager, tuple) and isinstance(lazy, tuple), (seed, eager, lazy)
        assert eager[1] == lazy[1], seed
        return False
    differ = [name for name in BY_NUMBER if eager.attrs.get(name) != lazy.attrs.get(name)]
    if differ or eager.sizes != lazy.sizes:
        assert any(str(name).startswith("dropped") for name in eager.attrs), seed
        return False
    if isinstance(eager, xr.Dataset):
        eager, lazy = eager.drop_attrs(), lazy.drop_attrs().reindex_like(eager)  # lazy ranks stay in their order
    if question.startswith(ROUNDED):
        xr.testing.assert_allclose(eager, lazy, rtol=1e-9, atol=1e-12)
    else:
        xr.testing.assert_identical(eager, lazy)
    return has_numbers(eager)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_has_one_answer_for_dims_in_any_order(question):
    """Datasets of the test before; also for questions that lazy scores are refused for."""
    for_each_dataset(question, check_order)


def check_order(question, ds, seed):
    """Whether numbers were compared."""
    one, other = asked(question, ds), asked(question, ds.transpose(*reversed(ds.score.dims)))
    if isinstance(one, tuple) or isinstance(other, tuple):
        assert isinstance(one, tuple) and one == other, (seed, one, other)
    else:
        dims = [*one.dims]
        xr.testing.assert_allclose(one.transpose(*dims), other.transpose(*dims), rtol=1e-9, atol=1e-12)
    return has_numbers(one)


@pytest.mark.parametrize("question", OF_PREFERENCES)
def test_every_question_of_preferences_has_one_answer_for_lazy_choices_and_any_order(question):
    compared = [check_preferences(question, seed) for seed in range(max(8, DRAWN // 5))]
    assert sum(compared) >= len(compared) / 4


def check_preferences(question, seed):
    """Whether numbers of lazy and of turned choices were compared."""
    generator = np.random.default_rng(seed)
    ds = preference_cases.preferences(
        seed,
        n_prompts=int(generator.integers(2, 15)),
        systems=("alpha", "beta", "gamma", "delta")[: generator.integers(2, 5)],
        pull=float(generator.choice([0.0, 0.5, 5.0])),
        both=bool(generator.integers(2)),
        gaps=float(generator.choice([0.0, 0.3])),
    )
    ask = OF_PREFERENCES[question]
    dims = list(ds["preference"].dims)
    one, compared = quietly(lambda: ask(ds)), 0
    for other in (ds.chunk(prompt=2), ds.transpose(*reversed(dims), ...)):
        found = quietly(lambda other=other: computed(ask(other)))
        if isinstance(found, tuple) and "ds.load()" in found[1]:
            continue
        if isinstance(one, tuple) or isinstance(found, tuple):
            assert isinstance(one, tuple) and one == found, (seed, one, found)
        else:
            xr.testing.assert_allclose(one, found.transpose(*one.dims), rtol=1e-9, atol=1e-12)
            compared += has_numbers(one)
    return compared == 2


def computed(found):
    return found.compute() if isinstance(found, xr.Dataset | xr.DataArray) else found

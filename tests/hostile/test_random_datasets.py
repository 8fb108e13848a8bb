"""Random Datasets: every coefficient is what plain Python says, and every question has one answer for lazy scores."""

import math
import os
import warnings

import cases
import numpy as np
import pytest
import reference
import xarray as xr
from helpers import LEVELS, rows

from xsumstat.coefficients.table import COEFFICIENTS

pytestmark = pytest.mark.slow
# How many Datasets each test draws; 2,000 for a night.
DRAWN = int(os.environ.get("XSUMSTAT_RANDOM_DATASETS", "40"))
OF_ANY_SCALE = tuple(name for name in COEFFICIENTS if name not in reference.OF_VALUES)
# Questions that bring scores of their own, and those without a seed.
OWN = {*cases.BESIDE, *(name for name in cases.OTHERS if name.startswith("pooled"))}
SEEDLESS = {"pairs that count", "ranks by pairs that count"}
# What lazy scores are refused for, as nobody knows yet what they lack; or, without labels, what eager ones are.
ALONE = ("ds.load()", "take them out of the lazy Dataset first", "need labels along")
QUESTIONS = [name for name in cases.ALL if name not in {*OWN, *SEEDLESS, *cases.LACKS_A_PACKAGE}]


def values(generator, shape):
    """Scores that correlate, on a scale at random: any numbers, tenths or grades."""
    common = generator.normal(size=shape[1:]) * generator.uniform(0.2, 2)
    found = common + generator.normal(size=shape) * generator.uniform(0.2, 2)
    kind = generator.integers(3)
    return found if kind == 0 else np.round(found, 1) if kind == 1 else np.clip(np.round(found + 3), 1, 5)


def random_scores(seed):
    """Four metrics, gold among them, with gaps and units that do not vary, their labels and dims in any order."""
    generator = np.random.default_rng(seed)
    shape = 4, int(generator.integers(2, 9)), int(generator.integers(2, 13))
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


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_has_one_answer_for_lazy_scores(question):
    """Some Datasets, others for each question; the same refusal, or the same numbers and attributes."""
    first = 1000 * QUESTIONS.index(question)
    for seed in range(first, first + max(1, DRAWN // 20)):
        ds = random_scores(seed)
        eager = quietly(lambda ds=ds: cases.ask(question, ds))
        lazy = quietly(lambda ds=ds: computed(cases.ask(question, ds.chunk(metric=1))))
        if any(isinstance(each, tuple) and any(why in each[1] for why in ALONE) for each in (eager, lazy)):
            continue
        if question == "metric_ci" and bool(ds.score.isnull().any()):
            continue  # of scores in memory each pair of metrics leaves out labels of its own
        if isinstance(eager, tuple) or isinstance(lazy, tuple):
            assert isinstance(eager, tuple) and isinstance(lazy, tuple), (seed, eager, lazy)
            assert eager[1] == lazy[1], seed
            continue
        if any(str(name).startswith("dropped") for name in eager.attrs):
            continue  # what is random by default follows from the number of systems, which lazy scores do not tell
        if isinstance(eager, xr.Dataset):
            eager, lazy = eager.drop_attrs(), lazy.drop_attrs().reindex_like(eager)  # lazy ranks stay in their order
        if question.startswith("plan"):  # simulated: sums in another order
            xr.testing.assert_allclose(eager, lazy, rtol=1e-9)
        else:
            xr.testing.assert_identical(eager, lazy)


def computed(found):
    return found.compute() if isinstance(found, xr.Dataset | xr.DataArray) else found

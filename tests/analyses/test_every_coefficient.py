"""Every analysis, asked with every coefficient and at every level: finite numbers, or a refusal in words."""

import inspect

import numpy as np
import pytest
import xarray as xr
from helpers import by_turns
from preference_cases import preferences

import xsumstat
from xsumstat.accessor import DatasetMeta
from xsumstat.catalogue import ANALYSES
from xsumstat.coefficients.record import LEVELS
from xsumstat.coefficients.table import COEFFICIENTS

# What keeps a call short, where an analysis has the argument.
SHORT = {"n_resamples": 19, "n_trials": 2, "n_simulations": 19, "rng": 0, "progress": False}
# What an analysis cannot do without, or takes less time with.
NEEDED = {
    "metric_ci": {"metric": ["a", "b"]},
    "perm_test": {"metric": "a", "other": "b"},
    "boot_test": {"metric": "a", "other": "b"},
    "corr_test": {"metric": "a", "other": "b"},
    "dominance": {"metric": "a", "other": "b"},
    "equivalence": {"metric": "a", "other": "b", "margin": 0.1},
    "margin_sensitivity": {"metric": "a", "other": "b", "margins": [0.1]},
    "top_k_corr": {"metric": "a", "k": [8, 6]},
    "human_ceiling": {"rating": "rating", "metric": "a"},
    "agreement": {"rating": "rating"},
    "alt_test": {"rating": "rating"},
    "compare_groups": {"by": "half"},
    "drift": {"anchor": "b", "metric": "a"},
    "bias": {"given": "b", "metric": "a"},
    "preference_bias": {"given": "length"},
    "system_means": {"metric": "a"},
    "range_drop": {"metric": ["human", "a", "b"], "above": 0.0},
    "close_corr": {"metric": "a", "gap": [0.5, 1.0]},
    "power": {"metric": "a", "noise": 1.0},
    "plan": {"metric": "a", "n_systems": 8, "n_inputs": 12},
    "coverage": {"metric": "a", "n_trials": 8, "intervals": {"both": {}}},  # halves of 4 have none by Fisher
}
# Arguments that a refusal may name: what was asked for, or what alone would allow it.
ASKED = ("coefficient", "level", "method", "interval", "tests", "intervals")
# Tasks come from elsewhere, and simulated scores from no scores.
OF_TASKS = ("rank_tasks", "ranks_by", "rank_stability")
OF_NO_SCORES = (*OF_TASKS, "simulate")


def scores(passes=False):
    """Eight systems on ten inputs, human scores from 0 to 100 with raters, and two metrics; ties, no gaps.

    Or passes and fails, 1 and 0.
    """
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(8, 1)) + rng.normal(size=(8, 10))
    x = np.round(np.stack([20 * (quality + noise * rng.normal(size=quality.shape)) for noise in (0.2, 0.8, 1.2)]))
    rating = np.round(20 * quality[..., None] + 10 * rng.normal(size=(8, 10, 3)))
    if passes:
        x, rating = (x > 0).astype(float), (rating > 0).astype(float)
    return xr.Dataset(
        {"score": (("metric", "system", "input"), x), "rating": (("system", "input", "rater"), rating)},
        {
            "metric": ["human", "a", "b"],
            "kind": ("metric", ["human", "automatic", "automatic"]),
            "system": [f"s{at}" for at in range(8)],
            "input": [f"i{at}" for at in range(10)],
            "rater": list("rtu"),
            "half": ("input", ["first", "second"] * 5),
        },
        {"gold": "human"},
    )


def asked(name, passes=False):
    """The analysis as a function of keywords, and which it has."""
    ds = preferences() if ANALYSES[name].group == "preferences" else scores(passes)
    if name == "repeatability":  # two runs, which differ where the inputs do
        ds = ds.assign(score=xr.concat([ds.score, ds.score.roll(input=1)], "run"))
    function = getattr(ds.meta, name) if hasattr(DatasetMeta, name) else getattr(xsumstat, name)
    own = inspect.signature(function).parameters
    data = [] if hasattr(DatasetMeta, name) or name in OF_NO_SCORES else [ds]
    short = {key: value for key, value in SHORT.items() if key in own}
    return lambda **keywords: function(*data, **{**short, **NEEDED.get(name, {}), **keywords}), own


def unanswered(found):
    """What of a result is no number, where nothing is declared to be missing."""
    main = next(each for each in ANALYSES[found.attrs["analysis"]].main if each in found)
    values = found[main]
    for one, two in (("metric", "other_metric"), ("system", "other_system"), ("half", "other_half")):
        if {one, two} <= set(values.dims):
            values = values.where(values[one] != values[two], 0.0)
    # A bin of scores may be empty.
    for count in {"n_pairs", "n_outputs"} & set(found.data_vars):
        values = values.where(found[count] > 0, 0.0)
    wrong = [] if np.isfinite(values).all() else [main]
    numbers = (each for each in found.data_vars if found[each].dtype.kind == "f" and each != "gap_high")
    return wrong + [each for each in numbers if np.isinf(found[each]).any()]


def pairs_of(name, own):
    """Each coefficient at one level, each analysis beginning with another; at its only level where it has one."""
    if "coefficient" not in own:
        return [{"level": level} for level in LEVELS] if "level" in own else [{}]
    if "level" not in own:
        return [{"coefficient": coefficient} for coefficient in COEFFICIENTS]
    start = list(ANALYSES).index(name)
    pairs = []
    for at, (coefficient, record) in enumerate(COEFFICIENTS.items()):
        turn = LEVELS[(start + at) % len(LEVELS)]
        levels = {turn: None, record.levels[0]: None} if len(record.levels) == 1 else [turn]
        pairs += [{"coefficient": coefficient, "level": level} for level in levels]
    return pairs


def faults(name, pairs):
    """Each pair that is neither answered in numbers nor refused in words, and how many are answered."""
    ask, of_passes = asked(name)[0], asked(name, passes=True)[0]
    wrong, answers = [], 0
    for pair in pairs:
        of_values = pair.get("coefficient") in COEFFICIENTS and COEFFICIENTS[pair["coefficient"]].scale is not None
        on_scale = of_values or name == "confusion"
        try:
            found = (of_passes if on_scale else ask)(**pair)
        except (ValueError, TypeError) as error:
            named = any(f"{argument}=" in str(error) or f"{argument} must" in str(error) for argument in ASKED)
            if not named or not any(str(each) in str(error) for each in pair.values()):
                wrong.append((pair, repr(error)))
        except Exception as error:
            wrong.append((pair, repr(error)))
        else:
            answers += 1
            wrong += [(pair, each) for each in unanswered(found)] if name != "simulate" else []
    return wrong, answers


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", by_turns([name for name in ANALYSES if name not in OF_TASKS]))
def test_every_coefficient_and_every_level(name):
    wrong, answers = faults(name, pairs_of(name, asked(name)[1]))
    assert not wrong and answers > 0


def has_both(name):
    function = getattr(DatasetMeta if hasattr(DatasetMeta, name) else xsumstat, name)
    return {"coefficient", "level"} <= set(inspect.signature(function).parameters)


HAVE_BOTH = [name for name in ANALYSES if name not in OF_TASKS and has_both(name)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", HAVE_BOTH)
def test_every_coefficient_at_every_level(name):
    pairs = [{"coefficient": coefficient, "level": level} for coefficient in COEFFICIENTS for level in LEVELS]
    wrong, answers = faults(name, pairs)
    assert not wrong and answers > sum(record.scale is None for record in COEFFICIENTS.values())


def test_a_model_without_a_value_is_a_refusal_that_names_what_power_has():
    with pytest.raises(
        ValueError, match="knows no correlation for coefficient='acc_eq'; use one of 'pearson', .*redraw"
    ):
        xsumstat.power(scores(), metric="a", other="b", coefficient="acc_eq", n_trials=2, rng=0)


@pytest.mark.ignore_codes("fell_back")
def test_the_best_systems_have_their_own_baseline():
    ds = scores()
    for name in ("pairwise_accuracy", "acc_eq", "spa"):
        found = ds.meta.top_k_corr(k=[8, 6], coefficient=name, n_resamples=19, rng=0)
        for k in (8, 6):
            want = ds.meta.top_k(k).meta.corr(coefficient=name)
            np.testing.assert_array_equal(found.baseline.sel(k=k), want.baseline)
            np.testing.assert_array_equal(found.baseline_constant.sel(k=k), want.baseline_constant)
        assert not {"baseline", "baseline_constant"} & set(ds.meta.metric_ci(coefficient="spa", n_resamples=19, rng=0))

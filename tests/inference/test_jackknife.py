"""The two-way jackknife: against its twin, by hand, and by what must leave it as it is."""

import math

import jackknife_twin as twin
import numpy as np
import pytest
import scipy.stats
from helpers import LEVELS, examples, pairwise, same, scores
from hypothesis import assume, example, given
from hypothesis import strategies as st

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import leave_one_out, table
from xsumstat.coefficients.leave_one_out import OfAny, OfCells, OfGroups, OfMeans, Share
from xsumstat.inference import jackknife

NAMES = ("pearson", "spearman", "kendall", "kendall_a", "kendall_c", "pairwise_accuracy")
BOTH, SYSTEM, INPUT = ("system", "input"), ("system",), ("input",)
KINDS = ("plain", "grades", "gaps", "graded gaps", "perfect", "perfectly wrong", "some undefined")
KEYS = ("estimate", "ci_low", "ci_high", "standard_error", "bias", "df", "fell_back")


def data(kind, seed=0, shape=(6, 5)):
    """Two metrics and gold."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=(shape[0], 1))
    x, y = s + rng.normal(size=shape), 0.5 * s + rng.normal(size=shape)
    z = s + 0.7 * x + rng.normal(size=shape)
    if kind in ("grades", "graded gaps"):
        x, y, z = np.rint(x), np.rint(2 * y), np.clip(np.rint(z + 3), 1, 5)
    if "gaps" in kind:
        z = np.where(rng.random(shape) < 0.25, np.nan, z)
        y = np.where(rng.random(shape) < 0.1, np.nan, y)
    if "perfect" in kind:
        z = (3 if kind == "perfect" else -1) * x
    if kind == "some undefined":
        x, z = np.rint(x), np.rint(z)
        x[:, 1], z[2] = 1.0, 4.0  # constant on an input, and of a system
    return x, y, z


def measure(name, level, undefined="drop"):
    made = checked_measure(level, name, "pairwise", undefined)
    return made.at(1.0) if name == "kendall_like" else made


def one(x, z, how, dims=BOTH):
    return jackknife.of_one(leave_one_out.of(x, z, how), how, dims)


def two(x, y, z, how, dims=BOTH):
    there = ~np.isnan(x + y + z)
    parts = [leave_one_out.of(np.where(there, each, np.nan), z, how) for each in (x, y)]
    ones = [jackknife.of_one(each, how, dims) for each in parts]
    return jackknife.of_two(parts, ones, dims, how.coefficient.stretch)


def numbers(found, confidence_level=0.95):
    limits = found.interval(confidence_level)
    return dict(
        zip(KEYS, (found.estimate, *limits, found.standard_error, found.bias, found.df, found.fell_back), strict=True)
    )


def agree(got, want, atol=1e-10, where=""):
    for name in KEYS:
        np.testing.assert_allclose(float(got[name]), float(want[name]), atol=atol, rtol=0, err_msg=f"{name} {where}")


# --- Against the twin ---


@pytest.fixture(scope="module", autouse=True)
def parts_made_once():
    """The twin leaves out anew for every interval; here, of the same scores, once."""
    known, make = {}, twin.parts

    def parts(x, z, *how):
        key = x.shape, x.tobytes(), z.tobytes(), how
        if key not in known:
            known[key] = make(x, z, *how)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twin, "parts", parts)
        yield


def unknown(x, y, z, how, dims):
    """What the twin has otherwise: one label of a dim, or of groups that are random one with a correlation.

    And coefficients, or their difference, that are defined without one label at most, of which the twin says that they
    do not vary.
    """
    there = ~np.isnan(x + y + z)
    systems = min((~np.isnan(each)).any(axis=1).sum() for each in (x + z, y + z, x + y + z))
    if how.level == "system" and systems < jackknife.LEAST_MEANS:
        return True  # with two systems each correlation is 1 or -1
    if how.level == "global":
        parts = [leave_one_out.of(np.where(there, each, np.nan), z, how) for each in (x, y)]
        by_dim = [[getattr(each, f"{dim}s") for each in parts] for dim in dims]
        without = [each for one, two in by_dim for each in (one, two, one - two)]
        return any((~np.isnan(each)).sum() < 2 for each in without) or (
            dims == BOTH and 1 in (there.any(axis=0).sum(), there.any(axis=1).sum())
        )
    if dims == BOTH and 1 in (there.any(axis=0).sum(), there.any(axis=1).sum()):
        return True
    parts = [leave_one_out.of(np.where(there, each, np.nan), z, how) for each in (x, y)]
    if how.level == "system" or {"input": "input", "within_system": "system"}[how.level] in dims:
        return how.level != "system" and min((~np.isnan(each.r)).sum() for each in parts) < 2
    return (~np.isnan(parts[0].averages - parts[1].averages)).sum() < 2


def battery(level, name, kinds, shapes, seeds):
    for kind in kinds:
        for shape in shapes:
            for seed in seeds:
                x, y, z = data(kind, seed, shape)
                for undefined in ("drop", "zero") if level in ("input", "within_system") else ("drop",):
                    for dims in (BOTH, SYSTEM, INPUT):
                        how, where = measure(name, level, undefined), (kind, shape, seed, undefined, dims)
                        if unknown(x, y, z, how, dims):
                            continue
                        with np.errstate(all="ignore"):
                            want = twin.interval(x, z, name, level, dims, 0.9, undefined)
                            gap = twin.difference(x, y, z, name, level, dims, 0.9, undefined)
                        agree(numbers(one(x, z, how, dims), 0.9), want, where=where)
                        agree(numbers(two(x, y, z, how, dims), 0.9), gap, where=where)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_intervals_are_the_twins(level, name):
    battery(level, name, KINDS, [(5, 4)], [0])


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_intervals_are_the_twins_for_more_scores(level, name):
    battery(level, name, KINDS, [(3, 6), (8, 12)], [1])
    battery(level, name, KINDS, [(4, 3), (13, 7)], [2])


@examples(150)
@given(
    *(3 * [scores((5, 4))]),
    st.sampled_from(NAMES),
    st.sampled_from(LEVELS),
    st.sampled_from([BOTH, SYSTEM, INPUT]),
    st.sampled_from(["drop", "zero"]),
)
@example(*(3 * [np.zeros((5, 4))]), "pairwise_accuracy", "system", BOTH, "drop")
def test_of_few_values_and_many_gaps_too(x, y, z, name, level, dims, undefined):
    """Ties, constants and gaps of every kind."""
    assume((~np.isnan(x + y + z)).any())
    how = measure(name, level, undefined)
    assume(not unknown(x, y, z, how, dims))
    with np.errstate(all="ignore"):
        want, gap = twin.interval(x, z, name, level, dims), twin.difference(x, y, z, name, level, dims)
    if undefined == "drop":
        agree(numbers(one(x, z, how, dims)), want)
        agree(numbers(two(x, y, z, how, dims)), gap, 1e-7)  # a root of what is 0 but for rounding


# --- What leaves it as it is ---


@examples(150)
@given(
    *(3 * [scores((6, 5))]),
    st.sampled_from(NAMES),
    st.sampled_from(LEVELS),
    st.sampled_from([BOTH, SYSTEM, INPUT]),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_an_interval_holds_the_estimate_and_a_mirrored_difference_is_mirrored(x, y, z, name, level, dims, confidence):
    how = measure(name, level)
    low_bound, high_bound = table.COEFFICIENTS[name].bounds
    found = one(x, z, how, dims)
    low, high = found.interval(confidence)
    if not np.isnan(x + z).all():
        assert same(found.estimate, how.estimator(x, z).value(), 0)  # to the bit
    if not math.isnan(low):
        assert low_bound - 1e-12 <= low <= found.estimate <= high <= high_bound + 1e-12
        wider = found.interval((1 + confidence) / 2)
        assert wider[0] <= low + 1e-12 and high - 1e-12 <= wider[1]
    gap, turned = two(x, y, z, how, dims), two(y, x, z, how, dims)
    (low, high), (turned_low, turned_high) = gap.interval(confidence), turned.interval(confidence)
    if not math.isnan(low):
        assert low <= gap.estimate <= high
    assert same([low, high, gap.bias, gap.estimate], [-turned_high, -turned_low, -turned.bias, -turned.estimate])
    assert same([gap.standard_error, gap.df], [turned.standard_error, turned.df], 1e-11)
    assert gap.fell_back == turned.fell_back


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_neither_order_nor_scale_matters(level, name):
    rng = np.random.default_rng(9)
    for kind in ("plain", "graded gaps"):
        x, y, z = data(kind, 3)
        how = measure(name, level)
        want, gap = numbers(one(x, z, how)), numbers(two(x, y, z, how))
        order = np.ix_(rng.permutation(6), rng.permutation(5))
        agree(numbers(one(x[order], z[order], how)), want, 1e-11)
        agree(numbers(two(x[order], y[order], z[order], how)), gap, 1e-11)
        for a, b in ((2.0, 0.0), (1e-9, 0.0), (1e12, 0.0), (3.0, 7.0), (10.0, -4.0)):
            agree(numbers(one(a * x + b, z, how)), want, 1e-9)
            agree(numbers(one(x, a * z + b, how)), want, 1e-9)
            agree(numbers(two(a * x + b, y, z, how)), gap, 1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", NAMES[:5])
def test_a_metric_the_other_way_round_has_the_other_interval(level, name):
    x, _, z = data("gaps", 4)
    found, turned = (numbers(one(sign * x, z, measure(name, level))) for sign in (1, -1))
    want = {**found, "estimate": -found["estimate"], "bias": -found["bias"]}
    agree(turned, {**want, "ci_low": -found["ci_high"], "ci_high": -found["ci_low"]}, 1e-11)


def test_within_system_is_input_level_of_turned_scores():
    x, y, z = data("gaps", 5)
    for dims, turned in ((BOTH, BOTH), (SYSTEM, INPUT), (INPUT, SYSTEM)):
        got = one(x, z, measure("kendall", "within_system"), dims)
        want = one(x.T, z.T, measure("kendall", "input"), turned)
        assert (got.estimate, got.standard_error, got.bias) == (want.estimate, want.standard_error, want.bias)


# --- The formulas, a few numbers each ---

RNG = np.random.default_rng(21)


def jackknifed(values):
    values = values[~np.isnan(values)]
    return values.var()


def test_variance_and_bias_of_any_statistic():
    """V_s + V_i; the bias of what leaves members out, none at system level."""
    systems, inputs = RNG.normal(0.5, 0.05, 6), RNG.normal(0.5, 0.02, 9)
    systems[2] = np.nan
    v_s = 5 / 6 * 5 * jackknifed(systems)  # 6 labels, of which 5 are defined
    v_i = 8 / 9 * 9 * jackknifed(inputs)
    b_s, b_i = 5 * (np.nanmean(systems) - 0.5), 8 * (inputs.mean() - 0.5)
    for level, bias in (
        ("system", (0, 0, 0)),
        ("input", (b_s, b_s, 0)),
        ("within_system", (b_i, 0, b_i)),
        ("global", (b_s + b_i, b_s, b_i)),
    ):
        parts = OfAny(0.5, systems, inputs, level)
        for dims, v, b in zip((BOTH, SYSTEM, INPUT), (v_s + v_i, v_s, v_i), bias, strict=True):
            assert jackknife.variance(parts, dims) == pytest.approx(v, rel=1e-12)
            assert jackknife.bias(parts, dims) == pytest.approx(b, abs=1e-12)
            assert jackknife.n_undefined(parts, dims) == (1 if "system" in dims else 0)


@pytest.mark.parametrize("of_ranks", [True, False])
@pytest.mark.parametrize("size", [0.01, 1.0])
def test_variance_of_means(of_ranks, size):
    """Ranks take what inputs add from Pearson, in proportion; noise of cells is taken out, never below nothing."""
    without, pearson = RNG.normal(0.5, 0.05, 5), RNG.normal(0.6, 0.04, 5)
    psi = size * RNG.normal(0, 0.02, (5, 7)) + RNG.normal(0, 0.01, 7)
    v_s, p_s = 4 * jackknifed(without), 4 * jackknifed(pearson)
    v_i, v_c = 7 / 6 * sum(psi.sum(axis=0) ** 2), 7 / 6 * 5 / 4 * (psi**2).sum()
    v_s *= (3 / 4) ** 2 if of_ranks else 1
    ratio = v_s / p_s if of_ranks else 1
    parts = OfMeans(0.5, without, pearson, psi, of_ranks)
    assert jackknife.variance(parts, SYSTEM) == pytest.approx(v_s, rel=1e-12)
    assert jackknife.variance(parts, INPUT) == pytest.approx(ratio * v_i, rel=1e-12)
    assert jackknife.variance(parts, BOTH) == pytest.approx(v_s + ratio * max(0, v_i - v_c), rel=1e-12)
    assert jackknife.bias(parts, BOTH) == 0


def test_no_noise_below_nothing():
    psi = np.diag([1.0, -1.0, 1.0, -1.0])
    parts = OfMeans(0.5, RNG.normal(size=4), RNG.normal(size=4), psi, False)
    assert jackknife.variance(parts, BOTH) == jackknife.variance(parts, SYSTEM)
    cells = OfCells(0.5, np.array([0.4, 0.5, 0.6]), np.array([0.5, 0.5]), np.ones((3, 2)), 6)
    assert jackknife.variance(cells, BOTH) == jackknife.variance(cells, SYSTEM)


def test_variance_and_bias_of_groups():
    """Three inputs, of which the last has no correlation; a member is absent from the second."""
    r = np.array([0.5, 0.7, np.nan])
    without = np.array([[0.4, 0.6, np.nan], [0.5, 0.9, np.nan], [0.6, 0.7, 0.1], [0.3, np.nan, np.nan]])
    there = ~np.isnan(without)
    there[:, 2] = True
    averages = np.array([0.5, 0.7, 0.65, 0.5])
    parts = OfGroups(0.6, r, without, averages, there, "system")
    v_i = (0.1**2 + 0.1**2) / (2 * 1)
    v_s = 3 / 4 * ((averages - averages.mean()) ** 2).sum()
    v_c = (3 / 4 * 4 * np.var([0.4, 0.5, 0.6, 0.3]) + 2 / 3 * 3 * np.var([0.6, 0.9, 0.7])) / 2**2
    assert jackknife.variance(parts, INPUT) == pytest.approx(v_i)
    assert jackknife.variance(parts, SYSTEM) == pytest.approx(v_s)
    assert jackknife.variance(parts, BOTH) == pytest.approx(v_s + max(0, v_i - v_c))
    want = (3 * (np.mean([0.4, 0.5, 0.6, 0.3]) - 0.5) + 2 * (np.mean([0.6, 0.9, 0.7]) - 0.7)) / 2
    assert jackknife.bias(parts, BOTH) == jackknife.bias(parts, SYSTEM) == pytest.approx(want)
    assert jackknife.bias(parts, INPUT) == 0
    assert jackknife.n_undefined(parts, BOTH) == 3  # of those that are there
    some = without.copy()
    some[0, 0] = np.nan  # that input's bias is not known
    assert jackknife.bias(OfGroups(0.6, r, some, averages, there, "system"), BOTH) == pytest.approx(
        2 * (np.mean([0.6, 0.9, 0.7]) - 0.7) / 2
    )


def test_the_variance_of_a_difference_is_of_the_groups_that_each_metric_has():
    """Two metrics that lack the correlation of other inputs, alone and in clusters of inputs."""
    rng = np.random.default_rng(0)
    r = rng.uniform(-1, 1, (2, 8))
    r[0, [1, 4]] = r[1, [2]] = r[:, 7] = np.nan
    there, clusters = np.full((5, 8), True), np.array([0, 0, 1, 1, 2, 2, 3, 3])
    without, averages = rng.uniform(-1, 1, (2, 5, 8)), np.zeros(5)
    without[np.isnan(r)[:, None, :].repeat(5, axis=1)] = np.nan

    def moved(r, names):
        """How far the average moves with each group or cluster, in plain Python."""
        own = [j for j in range(8) if not math.isnan(r[j])]
        mean, n = sum(r[own]) / len(own), len({names[j] for j in own})
        sums = {name: sum(r[j] - mean for j in own if names[j] == name) for name in names}
        return np.array([sums[name] * math.sqrt(n / (n - 1)) / len(own) for name in sorted(sums)])

    for names, each in ((range(8), None), (clusters.tolist(), clusters)):
        one, two = (
            OfGroups(np.nanmean(r[k]), r[k], without[k], averages, there, "system", each is not None, each)
            for k in (0, 1)
        )
        want = ((moved(r[0], names) - moved(r[1], names)) ** 2).sum()
        assert jackknife.variance(one.less(two), INPUT) == pytest.approx(want)


@pytest.mark.parametrize("level", LEVELS)
def test_degrees_of_freedom(level):
    fewer = level in ("global", "within_system")
    assert jackknife.degrees_of_freedom((9, 5), BOTH, level) == (4 if fewer else 8)
    assert jackknife.degrees_of_freedom((5, 9), BOTH, level) == 4
    assert jackknife.degrees_of_freedom((9, 5), SYSTEM, level) == 8
    assert jackknife.degrees_of_freedom((9, 5), INPUT, level) == 4
    assert math.isnan(jackknife.degrees_of_freedom((0, 0), BOTH, level))
    # Covariates take members: systems, or inputs within systems; of all cells they take none.
    of_systems, of_inputs = (jackknife.degrees_of_freedom((9, 9), dims, level, 2) for dims in (SYSTEM, INPUT))
    want = {"global": (8, 8), "within_system": (8, 6)}.get(level, (6, 8))
    assert (of_systems, of_inputs) == want


@pytest.mark.parametrize("n", [5, 9])
def test_an_interval_rests_on_a_system_beyond_fifteen_deviations_of_the_others(n):
    others = np.random.default_rng(n).normal(size=n - 1)
    farthest = others.mean() + 15 * others.std(ddof=1) * math.sqrt(n / (n - 1))
    for far, want in ((1 + 1e-9, n - 1), (1 - 1e-9, -1)):
        values = np.append(others, others.mean() + far * (farthest - others.mean()))
        assert jackknife.rests_on(OfAny(0.5, values, np.zeros(3), "input"), SYSTEM) == want


def test_quantiles_are_scipys():
    assert jackknife.t_quantile(0.9, 7) == pytest.approx(scipy.stats.t.ppf(0.95, 7))
    assert jackknife.t_quantile(0.95, 1e9) == pytest.approx(scipy.stats.norm.ppf(0.975), abs=1e-6)


# --- Too few, and statistics of other bounds ---


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", [*NAMES, "acc_eq", "spa"])
def test_too_few_labels_of_what_is_random_have_no_interval_and_of_what_is_fixed_any_number_will_do(level, name):
    if level not in table.COEFFICIENTS[name].levels:
        return
    how = measure(name, level)
    within = level == "within_system"
    ranked = level == "system" and name in NAMES[1:]  # whose variance is had by leaving out systems
    for systems, inputs, dims, enough in (
        (3, 9, INPUT, not ranked),
        (9, 3, INPUT, not within),
        (9, 3, SYSTEM, True),
        (3, 3, INPUT, level in ("system", "input") and not ranked),
        (3, 1, INPUT, False),
        (4, 4, BOTH, True),
        (3, 9, BOTH, False if not within else True),
        (9, 3, BOTH, not within),
        (4, 1, BOTH, not within),  # one label of a dim cannot vary: as if the other were named alone
        (1, 4, BOTH, within),
        (4, 1, SYSTEM, not within),
        (1, 4, INPUT, within or level == "global"),
        (1, 4, SYSTEM, False),
        (4, 2, INPUT, not within),
    ):
        if name == "spa" and systems < 2:
            continue
        rng = np.random.default_rng(systems)
        z = rng.normal(size=(systems, inputs))
        x = z + 0.4 * rng.normal(size=z.shape)
        found = one(x, z, how, dims)
        low, high = found.interval(0.95)
        assert math.isnan(low) == math.isnan(high) == (not enough), (systems, inputs, dims)
        assert same(found.estimate, how.estimator(x, z).value(), 0) and math.isnan(found.standard_error) != enough
        assert not found.fell_back or enough


def squared(x, z):
    """A function with values beyond 1."""
    return -float(np.mean((x - z) ** 2))


def weighed(x, z):
    """A function with values between -1 and 1."""
    return float(np.mean(np.sign(x) * np.sign(z)))


@pairwise(
    {
        "level": LEVELS,
        "name": ["acc_eq", "kendall_like", "spa", squared, weighed],
        "dims": [BOTH, SYSTEM, INPUT],
    }
)
def test_intervals_of_any_statistic_by_hand(level, name, dims):
    """V_s + V_i by leaving out; on the scale of arctanh, but for a function that passes 1."""
    if level not in table.get(name).levels:
        return
    x, y, z = data("grades", 8, (7, 5))
    how = measure(name, level)
    within = level == "within_system"

    def by_hand(x):
        value = how.estimator(x, z).value()
        left = {
            dim: np.array([how.estimator(np.delete(x, k, at), np.delete(z, k, at)).value() for k in range(x.shape[at])])
            for at, dim in enumerate(BOTH)
        }
        v = {dim: (len(of) - 1) / len(of) * ((of - of.mean()) ** 2).sum() for dim, of in left.items()}
        b = {dim: (len(of) - 1) * (of.mean() - value) for dim, of in left.items()}
        removed = {"system": (), "global": dims}.get(level, ("input",) if within else ("system",))
        return value, sum(v[dim] for dim in dims), sum(b[dim] for dim in removed if dim in dims), left

    sizes = {"system": 7, "input": 5}
    df = sizes[dims[0]] - 1 if len(dims) == 1 else (4 if level in ("global", "within_system") else 6)
    if level == "input" and dims == BOTH:
        value, whole, _, left = by_hand(x)
        v_s, v_i = ((len(left[dim]) - 1) * np.var(left[dim]) for dim in BOTH)
        df = min(6, max(4, whole**2 / (v_s**2 / 6 + v_i**2 / 4)))
    t = scipy.stats.t.ppf(0.95, df)

    def limits(x):
        value, v, bias, left = by_hand(x)
        scale = 2 if name in ("acc_eq", "spa") else 1
        r, se = scale * value - (scale - 1), scale * math.sqrt(v)
        c = r - scale * bias
        if name is squared:
            assert max(abs(np.concatenate([left["system"], left["input"]]))) > 1
            return value, math.sqrt(v), bias, c - t * se, c + t * se
        if 1 - abs(r) <= 1e-12 or se <= 1e-12:
            return value, 0.0, 0.0, value, value
        c = min(max(c, 1e-12 - 1), 1 - 1e-12)
        ends = [(np.tanh(np.arctanh(c) + sign * t * se / (1 - r * r)) + scale - 1) / scale for sign in (-1, 1)]
        return value, math.sqrt(v), (r - c) / scale, min(ends[0], value), max(ends[1], value)

    value, se, bias, low, high = limits(x)
    want = dict(zip(KEYS, (value, low, high, se, bias, df, se == 0), strict=True))
    agree(numbers(one(x, z, how, dims), 0.9), want, 1e-9)
    second = limits(y)
    if se > 0 and second[1] > 0:
        deleted = [by_hand(each)[3] for each in (x, y)]
        v = sum((sizes[dim] - 1) * np.var(deleted[0][dim] - deleted[1][dim]) for dim in dims)
        rho = (se**2 + second[1] ** 2 - v) / (2 * se * second[1])
        c_1, c_2 = value - bias, second[0] - second[2]
        down, up = c_1 - low, second[4] - c_2
        gap = numbers(two(x, y, z, how, dims), 0.9)
        assert gap["standard_error"] == pytest.approx(math.sqrt(v), abs=1e-10)
        want_low = c_1 - c_2 - math.sqrt(max(0, down**2 + up**2 - 2 * np.clip(rho, -1, 1) * down * up))
        assert gap["ci_low"] == pytest.approx(min(want_low, value - second[0]), abs=1e-9)


def test_a_function_that_does_not_vary():
    x, _, z = data("plain")
    found = one(x, z, measure(lambda x, z: 0.25, "input"))
    assert (*found.interval(0.95), found.standard_error, found.fell_back) == (0.25, 0.25, 0.0, True)


# --- Perfect correlations ---


@pytest.mark.parametrize("n", [4, 5, 12])
def test_the_perfect_side_is_open(n):
    """Fisher's standard error one step below 1, with t; a step is half of what a swap of two neighbours takes."""
    x, _, _ = data("plain", 1, (n, 6))
    for name, near, lost, factor in (
        ("kendall", 1 - 2 / (n * n - n), 4, lambda r: math.sqrt(0.437)),
        ("spearman", 1 - 6 / (n**3 - n), 3, lambda r: math.sqrt(1 + r * r / 2)),
    ):
        swapped = np.arange(n)
        swapped[:2] = 1, 0
        statistic = {"kendall": scipy.stats.kendalltau, "spearman": scipy.stats.spearmanr}[name]
        step = 1 - statistic(np.arange(n), swapped).statistic
        assert step == pytest.approx(2 * (1 - near))
        found = one(x, 3 * x, measure(name, "system"))
        low, high = found.interval(0.9)
        reach = scipy.stats.t.ppf(0.95, n - 1) * factor(near) / math.sqrt(n - lost) if n > lost else math.inf
        assert (found.estimate, high, found.fell_back) == (pytest.approx(1), pytest.approx(1), True)
        assert low == pytest.approx(math.tanh(math.atanh(near) - reach), abs=1e-12)
        turned = one(-x, 3 * x, measure(name, "system")).interval(0.9)
        assert turned == pytest.approx((-1, -low))
    for name, level in (("pearson", "system"), ("kendall", "input"), ("spearman", "global")):
        found = one(x, x, measure(name, level))
        assert found.interval(0.9) == (pytest.approx(1), pytest.approx(1)) and found.fell_back


def test_two_metrics_that_share_no_group_with_a_correlation():
    """Each is constant where the other is not: V_s is known, V_i is not."""
    x, y, z = data("plain", 2)
    x[:, :2], y[:, 2:] = 1.0, 1.0
    how = measure("spearman", "input")
    found = two(x, y, z, how)
    assert found.estimate == one(x, z, how).estimate - one(y, z, how).estimate
    assert found.standard_error == pytest.approx(two(x, y, z, how, SYSTEM).standard_error)
    low, high = found.interval(0.95)
    assert low < found.estimate < high
    only = one(np.where(np.arange(5) == 4, x, 1.0), z, how, INPUT)  # one group with a correlation
    assert math.isnan(only.standard_error) and np.isnan(only.interval(0.95)).all()


def test_the_fewer_degrees_of_freedom_of_two_metrics_and_the_mirrored_interval():
    """``missing="available"``: one metric lacks a system."""
    x, y, z = data("plain", 7)
    x[0] = np.nan
    how = checked_measure("system", "pearson", "available", "drop")
    parts = [leave_one_out.of(each, z, how) for each in (x, y)]
    ones = [jackknife.of_one(each, how, BOTH) for each in parts]
    gap, turned = (jackknife.of_two(parts[::way], ones[::way], BOTH) for way in (1, -1))
    assert gap.df == turned.df == 4
    assert gap.interval(0.9) == pytest.approx(tuple(-limit for limit in turned.interval(0.9)[::-1]), abs=1e-14)


def test_accuracies_have_the_bits_of_a_share():
    """Tenths, of five systems; limits are made on the scale 2p − 1, the estimate is not."""
    for order in ((0, 1, 2, 4, 3), (1, 0, 2, 4, 3), (2, 1, 0, 3, 4), (4, 3, 2, 0, 1), (3, 4, 2, 1, 0), (4, 1, 2, 3, 0)):
        x, z = np.arange(5.0)[:, None] + np.zeros(3), np.array(order, float)[:, None] + np.zeros(3)
        right = sum(order[a] < order[b] for a in range(5) for b in range(a + 1, 5))
        found = one(x, z, measure("pairwise_accuracy", "system"))
        assert found.estimate == right / 10
        low, high = found.interval(0.95)
        assert low <= right / 10 <= high


@pytest.mark.parametrize("level", LEVELS)
def test_one_label_of_a_dim_cannot_vary(level):
    for shape, dims in (((6, 1), SYSTEM), ((1, 6), INPUT)):
        x, y, z = data("plain", 3, shape)
        how = measure("pearson", level)
        for got, want in ((one(x, z, how), one(x, z, how, dims)), (two(x, y, z, how), two(x, y, z, how, dims))):
            if (shape, level) == ((1, 6), "global"):  # one system says nothing of new ones, its outputs of themselves
                assert got.about is None and want.about is not None
                continue
            assert same(*([*numbers(each).values()] for each in (got, want)), 0)


def test_a_constant_metric_orders_no_pair():
    """Its accuracy is 0, of which nothing varies, and Pearson's r is not defined: Fisher's interval, open to 0."""
    _, _, z = data("plain", 4)
    for dims in (BOTH, SYSTEM, INPUT):
        found = one(np.ones(z.shape), z, measure("pairwise_accuracy", "system"), dims)
        low, high = found.interval(0.95)
        assert found.fell_back and found.estimate == low == 0 and 0 < high < 1


def test_an_estimate_without_weight_takes_no_part_in_an_average():
    one, two = (jackknife.bounded(value, 0.01, error, df) for value, error, df in ((0.5, 0.1, 9), (0.2, 0.05, 7)))
    without = jackknife.Estimated(0.9, 0.0, math.nan, math.nan)
    t = float(scipy.stats.t.ppf(0.975, 9))
    found = jackknife.averaged([one, two, without], [0.25, 0.75, 0.0])
    expected = jackknife.averaged([one, two], [0.25, 0.75])
    assert found.about is not None and found.limits(t) == expected.limits(t)
    assert jackknife.averaged([one, two, without], [0.25, 0.5, 0.25]).about is None


def test_estimates_that_do_not_vary_have_a_point_and_the_least_degrees_of_freedom():
    one, two = (jackknife.bounded(value, 0.0, 0.0, df) for value, df in ((0.5, 9), (0.1, 7)))
    found = jackknife.averaged([one, two], [0.5, 0.5])
    assert found.df == 7 and found.fell_back and found.limits(2.0) == pytest.approx((0.3, 0.3))


def test_a_share_that_no_input_moves_has_wilsons_limits_of_all_cells():
    """Ten of 20 cells agree, two of four on each of five inputs."""
    parts = OfCells(0.5, np.full(4, 0.5), np.full(5, 0.5), np.zeros((4, 5)), 20, share=Share(20.0, 5, 3))
    found = jackknife.of_share(parts, parts.share, 0.0, 4.0)
    wanted = scipy.stats.binomtest(10, 20).proportion_ci(0.95, method="wilson")
    assert found.about(scipy.stats.norm.ppf(0.975)) == pytest.approx((wanted.low, wanted.high), rel=1e-12)
    assert found.standard_error == 0

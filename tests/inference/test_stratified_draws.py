"""Means and differences from inputs drawn from strata: all samples of tiny inputs, plain twins, and coverage."""

import itertools
from fractions import Fraction

import few_ratings_twin as twin
import numpy as np
import pytest

from xsumstat.inference import allocation
from xsumstat.inference.stratified_differences import stratified_differences
from xsumstat.inference.system_means import Strata, system_means

NAN = float("nan")
CODES = np.array([0, 0, 0, 1, 1, 1, 1])


def samples():
    """All ways to draw 2 of 3 and 3 of 4 inputs."""
    for one, two in itertools.product(itertools.combinations(range(3), 2), itertools.combinations(range(3, 7), 3)):
        drawn = np.zeros(7, dtype=bool)
        drawn[[*one, *two]] = True
        yield drawn


def test_over_all_samples_the_mean_is_unbiased_and_so_is_its_variance():
    """And each sample's mean is the Horvitz-Thompson estimate, in exact fractions."""
    z = np.array([3, 1, 4, 1, 5, 9, 2])
    probability = [Fraction(2, 3)] * 3 + [Fraction(3, 4)] * 4
    means, variances = [], []
    for drawn in samples():
        ratings = np.where(drawn, z, NAN)[None].astype(float)
        found = system_means(np.zeros((1, 7)), ratings, Strata(CODES, 2, own_spread=True), "these", 0.95)
        horvitz = sum(Fraction(int(z[j])) / probability[j] for j in np.flatnonzero(drawn)) / 7
        assert found["mean"][0] == pytest.approx(float(horvitz), rel=1e-14) == found["human_mean"][0]
        means.append(found["mean"][0])
        variances.append(found["standard_error"][0] ** 2)
    assert len(means) == 12
    assert np.mean(means) == pytest.approx(z.mean(), rel=1e-14)
    assert np.mean(variances) == pytest.approx(np.var(means), rel=1e-12)


def test_over_all_samples_the_difference_is_unbiased_and_so_is_its_variance():
    z = np.array([[3, 1, 4, 1, 5, 9, 2], [2, 7, 1, 8, 2, 8, 1]])
    found = []
    for drawn in samples():
        ratings = np.where(drawn, z, NAN)
        pair = np.array([[0, 1]])
        strata = Strata(CODES, 2, own_spread=True)
        found.append(stratified_differences(np.zeros((2, 7)), ratings, pair, strata, "these", 0.95))
    values = [each["difference"][0] for each in found]
    assert np.mean(values) == pytest.approx((z[0] - z[1]).mean(), rel=1e-14)
    assert np.mean([each["standard_error"][0] ** 2 for each in found]) == pytest.approx(np.var(values), rel=1e-12)


def case(n_systems, seed, kind="normal", n=24, m=60):
    """Scores, ratings of drawn inputs, codes and the ratings of all."""
    rng = np.random.default_rng(seed)
    unsure = rng.gamma(2, 0.5, m)
    f = rng.normal(size=(n_systems, m)) + 0.5 * rng.normal(size=m)
    z = 0.8 * f + unsure * rng.normal(size=(n_systems, m)) + 0.3 * unsure + np.arange(n_systems)[:, None] / 3
    z = np.clip(np.round(3 + z), 1, 5) if kind == "likert" else z
    codes = allocation.bins(unsure, 4)
    n_each = allocation.allocated(n, np.bincount(codes), allocation.rates(unsure, codes, 4))
    drawn = allocation.drawn(n_each, codes, rng)
    return f, np.where(drawn, z, NAN), codes, z


@pytest.mark.parametrize("target", ["new", "these"])
@pytest.mark.parametrize("n_systems", [1, 2, 5])
def test_means_are_those_of_the_definition(n_systems, target):
    for seed, kind in ((1, "normal"), (2, "likert")):
        f, ratings, codes, _ = case(n_systems, seed, kind)
        got = system_means(f, ratings, Strata(codes, 4, own_spread=True), target, 0.9)
        how = {"target": target, "level": 0.9, "groups": codes.tolist(), "own_spread": True}
        for at, expected in enumerate(twin.system_means(f.tolist(), ratings.tolist(), **how)):
            for name, value in expected.items():
                assert got[name][at] == pytest.approx(value, rel=1e-9, abs=1e-10), (at, name)


@pytest.mark.parametrize("own_spread", [True, False])
@pytest.mark.parametrize("n_systems", [2, 5])
def test_differences_are_those_of_the_definition(n_systems, own_spread):
    pairs = np.array(list(itertools.combinations(range(n_systems), 2)))
    for seed, target in ((3, "new"), (4, "these")):
        f, ratings, codes, _ = case(n_systems, seed)
        got = stratified_differences(f, ratings, pairs, Strata(codes, 4, own_spread), target, 0.9)
        for at, (a, c) in enumerate(pairs):
            want = twin.drawn_difference(
                f.tolist(), ratings.tolist(), a, c, codes.tolist(), own_spread, target=target, level=0.9
            )
            for name, value in want.items():
                assert got[name][at] == pytest.approx(value, rel=1e-9, abs=1e-10), (at, name)


def test_one_stratum_is_the_paired_difference_of_its_own_formula():
    """Of two systems with the same rated inputs there is no rest, and one stratum is none."""
    from xsumstat.inference.system_differences import system_differences

    f, ratings, codes, _ = case(4, 5)
    pairs = np.array([[0, 1], [2, 3], [1, 2]])
    for target in ("new", "these"):
        one = stratified_differences(f, ratings, pairs, Strata.none(codes.size), target, 0.95)
        two = system_differences(f, ratings, pairs, target, 0.95)
        for name in ("difference", "standard_error", "statistic", "n_inputs"):
            np.testing.assert_allclose(one[name], two[name], rtol=1e-10, err_msg=name)


def test_equal_ratings_have_limits_of_a_width_and_gaps_are_no_number():
    f, ratings, codes, _ = case(2, 6)
    ratings[:] = np.where(np.isnan(ratings), NAN, [[1.0], [2.0]])
    pairs = np.array([[0, 1]])
    found = stratified_differences(f, ratings, pairs, Strata(codes, 4, True), "new", 0.95)
    assert found["difference"][0] == -1 and found["ci_low"][0] < -1 < found["ci_high"][0]
    ratings[0, codes == 2] = NAN
    found = stratified_differences(f, ratings, pairs, Strata(codes, 4, True), "new", 0.95)
    assert np.isnan([found[name][0] for name in ("difference", "standard_error", "ci_low", "statistic")]).all()


@pytest.mark.parametrize("n", range(8, 51))
def test_allocation_has_its_sum_and_its_limits(n):
    sizes, rate = np.array([30, 4, 2, 14]), np.array([1.0, 9.0, 0.1, 3.0])
    found = allocation.allocated(n, sizes, rate)
    assert found.sum() == n and (found >= 2).all() and (found <= sizes).all()


def test_allocation_is_proportional_where_no_limit_holds():
    assert allocation.allocated(20, np.array([100, 100, 200]), np.array([1.0, 2.0, 0.5])).tolist() == [5, 10, 5]
    assert allocation.allocated(30, np.array([40, 30, 30]), np.ones(3)).tolist() == [12, 9, 9]


def test_rates_grow_with_what_is_unsure_and_none_is_starved():
    unsure, codes = np.array([0.0, 0.0, 1.0, 3.0]), np.array([0, 0, 1, 1])
    assert allocation.rates(unsure, codes, 2).tolist() == [0.25, 2.0]


@pytest.mark.slow
@pytest.mark.parametrize(("n_systems", "kind", "target"), [(1, "normal", "new"), (4, "likert", "these")])
def test_coverage(n_systems, kind, target):
    held = {"means": [], "differences": []}
    pairs = np.array(list(itertools.combinations(range(n_systems), 2))).reshape(-1, 2)
    for seed in range(600):
        f, ratings, codes, z = case(n_systems, [9, seed], kind, n=32, m=160)
        truth = z.mean(axis=1) if target == "these" else 0.3 + np.arange(n_systems) / 3
        found = system_means(f, ratings, Strata(codes, 4, True), target, 0.95)
        held["means"].append((found["ci_low"] <= truth) & (truth <= found["ci_high"]))
        if len(pairs):
            found = stratified_differences(f, ratings, pairs, Strata(codes, 4, True), target, 0.95)
            apart = truth[pairs[:, 0]] - truth[pairs[:, 1]]
            held["differences"].append((found["ci_low"] <= apart) & (apart <= found["ci_high"]))
    assert all(0.93 <= np.mean(each) <= 0.98 for each in held.values() if each)

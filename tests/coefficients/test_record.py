import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from helpers import for_each

from xsumstat.coefficients import arrays, table
from xsumstat.coefficients.record import Measure


def test_records_cannot_be_changed():
    with pytest.raises(AttributeError):
        table.get("pearson").name = "other"


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_p_values_are_scipys(name):
    x, z = np.round(np.random.default_rng(1).normal(size=(2, 12)))
    test = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr, "kendall": scipy.stats.kendalltau}[name]
    assert table.get(name).pvalue(x, z) == test(x, z).pvalue


def test_p_values_of_the_taus_are_one():
    x, z = np.random.default_rng(1).normal(size=(2, 12))
    assert len({table.get(name).pvalue(x, z) for name in ("kendall", "kendall_a", "kendall_c")}) == 1


def test_no_p_value_without_a_test_or_without_spread():
    x, z = np.random.default_rng(1).normal(size=(2, 12))
    assert np.isnan(table.get("pairwise_accuracy").pvalue(x, z))
    assert np.isnan(table.get(lambda x, z: 0.0).pvalue(x, z))
    assert np.isnan(table.get("kendall").pvalue(x, np.ones(12)))
    assert np.isnan(table.get("kendall").pvalue(x[:1], z[:1]))


def test_a_function_keeps_its_name():
    def cosine(x, z):
        return float(x @ z)

    assert table.get(cosine).name == "cosine"
    assert table.get(np.dot).name == "dot"


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(ValueError, match=r"coefficient must be one of .*got 'kendal'; did you mean 'kendall'\?"):
        table.get("kendal")
    with pytest.raises(ValueError, match="coefficient must be one of .* or a function"):
        table.get(3)


def test_infinite_scores_are_refused():
    rng = np.random.default_rng(6)
    x, z = rng.integers(0, 4, (5, 4)).astype(float), rng.integers(0, 3, (5, 4)).astype(float)
    measure = Measure(table.get("pearson"), "input")
    for spoilt, gold in ((np.where(x > 2, np.inf, x), z), (x, np.where(z > 1, -np.inf, z))):
        with pytest.raises(ValueError, match="infinite"):
            measure.estimator(spoilt, gold)
        with pytest.raises(ValueError, match="infinite"):
            measure.swapped(np.array([x, spoilt]), gold, ((0, 1),))


@for_each("name", [name for name, record in table.COEFFICIENTS.items() if set(record.levels) - {"system"}])
def test_differences_are_sums_of_signs_where_the_record_says_so(name):
    """Each of six outputs adds its own share for every way to swap, or not; classes are never said to do so."""
    record = replace(table.get(name), positive=(1.0,))
    level = "global" if "global" in record.levels else "input"
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 2, (3, 6, 1)).astype(float) if record.scale else rng.normal(size=(3, 6, 1))
    signs = np.array(list(itertools.product([False, True], repeat=6)))
    terms = np.where(signs, -1.0, 1.0)
    if record.calibrated:  # the threshold may change with each swap
        assert not Measure(record, level).linear_in_swaps
    measure = Measure(record.at(0.0) if record.threshold_of else record, level)
    (test,) = measure.swapped(scores[:2], scores[2], ((0, 1),))
    differences = test.differences(arrays.packed(signs[..., None]))[0]
    some = np.isfinite(differences)
    shares = np.linalg.lstsq(terms[some], differences[some], rcond=None)[0]
    is_linear = np.allclose(terms[some] @ shares, differences[some], atol=1e-9)
    assert some.sum() > 8 and measure.linear_in_swaps == (is_linear and not record.scale), name

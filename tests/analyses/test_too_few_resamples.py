"""Resamples so few that no p-value survives the correction: said before the first is drawn, with the number needed."""

import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import of_code, warns
from statsmodels.stats.multitest import multipletests

import xsumstat  # noqa: F401
from xsumstat.analyses import equivalence_tests, pair_tests, systems
from xsumstat.dataset import labelled

# The level, the resamples, the tests of a family, and the resamples needed.
FAR = r" {}\b.* {} .* {} .* {}$"


class DrawnError(Exception):
    """Something was drawn."""


@pytest.fixture
def no_draws(monkeypatch):
    """Whatever would draw raises an error, so that a warning which is seen came before."""

    def drawn(*args, **kwargs):
        raise DrawnError

    monkeypatch.setattr(labelled, "run", drawn)
    monkeypatch.setattr(pair_tests, "_drawn", drawn)
    monkeypatch.setattr(equivalence_tests, "drawn", drawn)
    monkeypatch.setattr(systems, "_tested", drawn)


def two_versions(small):
    return xr.concat([small.score, small.score + 0.1 * small.score**2], "language").assign_coords(language=["a", "b"])


# Tests of `small`'s metrics m1, m2, m3 (gold m0) or six systems; how many a family has; resamples that are too few.
ASKED = {
    "two-sided": (lambda ds, n: ds.meta.perm_test("m0", adjust="holm", n_resamples=n), 3),
    "one-sided": (lambda ds, n: ds.meta.perm_test("m0", alternative="greater", adjust="bonferroni", n_resamples=n), 6),
    "rows": (lambda ds, n: ds.meta.perm_test("m0", adjust="holm", within="other_metric", n_resamples=n), 2),
    "bootstrap": (lambda ds, n: ds.meta.boot_test("m0", adjust="holm", n_resamples=n), 3),
    "rank": (lambda ds, n: ds.meta.rank("m0", method="permutation", n_resamples=n), 6),
    "equivalence": (
        lambda ds, n: ds.meta.equivalence("m0", other=["m2", "m3"], margin=0.2, adjust="holm", n_resamples=n),
        3,
    ),
    "sensitivity": (
        lambda ds, n: ds.meta.margin_sensitivity("m0", other="m3", margins=[0.2], adjust="holm", n_resamples=n),
        2,
    ),
    "systems": (
        lambda ds, n: ds.meta.compare_systems(metric="m0", method="bootstrap", adjust="holm", n_resamples=n),
        15,
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_it_is_said_before_anything_is_drawn(small, no_draws, name):
    ask, tests = ASKED[name]
    needed = 20 * tests - 1
    with warns("few_resamples", FAR.format("0.05", needed - 1, tests, needed)), pytest.raises(DrawnError):
        ask(small, needed - 1)
    with pytest.raises(DrawnError):  # and no warning, which is an error
        ask(small, needed)


def test_the_number_is_the_least_that_does(small):
    """statsmodels corrects that many smallest p-values to .05, and one resample less to more."""
    for n, found in ((118, False), (119, True)):
        assert (multipletests(np.full(6, 1 / (n + 1)), method="holm")[1] <= 0.05 + 1e-12).any() == found


@pytest.mark.parametrize("name", ["two-sided", "rank", "systems"])
def test_it_is_said_once(small, name):
    ask, _ = ASKED[name]
    with pytest.warns(UserWarning) as told:
        ask(small, 19)
    assert len(of_code(told, "few_resamples")) == 1


def test_rank_looks_at_its_own_level(small, no_draws):
    with warns("few_resamples", FAR.format("0.01", 119, 6, 599)), pytest.raises(DrawnError):
        small.meta.rank("m0", method="permutation", adjust="holm", alpha=0.01, n_resamples=119)


def test_labels_that_are_pooled_say_it_after_the_first(small):
    both = xr.Dataset({"score": two_versions(small)})
    with warns("few_resamples", FAR.format("0.05", 19, 3, 59)) as told:
        both.meta.perm_test("m0", coefficient="pairwise_accuracy", pool="language", adjust="holm", n_resamples=19)
    assert len(of_code(told, "few_resamples")) == 1


def test_families_of_versions(small, no_draws):
    both = xr.Dataset({"score": two_versions(small)})
    gold = small.score.sel(metric="m0", drop=True)
    with warns("few_resamples", FAR.format("0.05", 58, 3, 59)), pytest.raises(DrawnError):
        both.drop_sel(metric="m0").meta.equivalence(
            gold, along="language", base="a", margin=0.1, adjust="holm", n_resamples=58
        )


def test_significant_says_it_for_its_own_level(small):
    found = small.meta.perm_test("m0", alternative="greater", n_resamples=119, rng=1)
    corrected = found.meta.adjust("holm")
    assert not corrected.meta.significant().all()
    with warns("few_resamples", FAR.format("0.01", 119, 6, 599)):
        corrected.meta.significant(alpha=0.01)
    with warns("few_resamples", r" 0\.005\b.* 119 .* 199$"):
        found.meta.significant(alpha=0.005)
    with warns("few_resamples", FAR.format("0.01", 119, 2, 199)):
        found.meta.adjust("holm", within="other_metric").meta.significant(alpha=0.01)


def test_what_all_tests_can_share_is_not_warned_of(small):
    """Where all p-values are the least, these methods leave them as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("bh", "maxt"):
            small.meta.perm_test("m0", adjust=method, n_resamples=19, rng=1)

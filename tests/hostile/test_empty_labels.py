"""A label without scores changes no number: a system, an input, a rater, and a group that nobody is in."""

import numpy as np
import pytest
import xarray as xr
from cases import FEW, STANDING, answer, ask, raters, rounded
from helpers import for_each

# What is drawn, or dealt out, depends on how many inputs there are; `plan` of `apart` scores spreads all systems.
DRAWS = ("range_drop", "calibrate", "refitted", *(name for name in STANDING if name.startswith("plan")))
ASKED = [name for name in STANDING if name not in DRAWS]
QUICK = (
    *("corr, input, spearman", "jackknife, global", "jackknife on own cells", "rank", "compare_groups"),
    *("bias of differences", "system_means", "ppi", "variances", "confusion", "metric_corr"),
)


def with_empty(ds, dim, **coords):
    """The same with one more label, of which nothing is known."""
    label = ds.isel({dim: [0]}).assign_coords({dim: ["zz"]})
    label = label.assign({name: each * np.nan for name, each in label.items()})
    return xr.concat([ds, label], dim).assign_coords(coords)


def same_numbers(got, want):
    """What is told of the labels of `want` is the same."""
    for name, each in want.data_vars.items():
        found = got[name].sel({dim: each[dim] for dim in each.dims if dim in each.indexes})
        found = found.isel({dim: slice(each.sizes[dim]) for dim in each.dims})
        xr.testing.assert_allclose(found.drop_attrs().variable, each.drop_attrs().variable, atol=1e-12)


def labelled(ds):
    return ds.assign_coords(input=list("uvwxyz"))


def check(question, dim):
    same_numbers(ask(question, with_empty(labelled(rounded(3)), dim)), answer(question))


@pytest.mark.slow
@for_each("question, dim", [(name, dim) for name in QUICK for dim in ("system", "input")])
def test_a_system_or_an_input_without_scores(question, dim):
    check(question, dim)


@pytest.mark.slow
@pytest.mark.parametrize("dim", ["system", "input"])
@pytest.mark.parametrize("question", [name for name in ASKED if name not in QUICK])
def test_a_system_or_an_input_without_scores_in_all_else(question, dim):
    check(question, dim)


OF_RATINGS = {
    "bias": lambda d, rating: d.meta.bias(rating, given="m2", metric=["m0", "m1"]),
    "variances": lambda d, rating: d.meta.variance_components(rating=rating, metric="m0"),
    "agreement": lambda d, rating: d.meta.agreement(rating, n_resamples=5, rng=0),
    "majority": lambda d, rating: d.meta.majority_vote(rating.round()),
    "alt_test": lambda d, rating: d.meta.alt_test(rating, metric="m0", scale="ranks", min_items=2),
    "ceiling": lambda d, rating: d.meta.human_ceiling(rating, metric="m0", level="input"),
    "ceiling, drawn": lambda d, rating: d.meta.human_ceiling(rating, metric="m0", **FEW),
    "noisiest": lambda d, rating: d.meta.drop_noisiest_rater(rating)[["score"]],
    "quantiles": lambda d, rating: d.meta.calibrate(rating, metric="m0", folds=2, rng=0, method="quantile")[["score"]],
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@for_each("question", list(OF_RATINGS))
def test_a_rater_who_rated_nothing(question):
    ds = rounded(3)
    rating = raters(ds).assign_coords(rater=list("abc")).rename("rating")
    rating = rating.where(rating != rating[2, 3, 0])
    some = xr.concat([rating, (rating.isel(rater=[0]) * np.nan).assign_coords(rater=["zz"])], "rater")
    same_numbers(OF_RATINGS[question](ds, some), OF_RATINGS[question](ds, rating))


def test_raters_without_ratings_are_named_and_make_no_gold_of_all_others():
    ds = rounded(3)
    rating = raters(ds).rename("rating")
    some = xr.concat([rating, rating.isel(rater=[0]) * np.nan], "rater")
    with pytest.warns(UserWarning, match=r"left out 1 rater without a rating: 3"):
        assert ds.meta.human_ceiling(some, metric="m0", level="input").sizes["rater"] == 3


@pytest.mark.filterwarnings("ignore::UserWarning")
@for_each("question", ["by", "compare_groups", "compare_groups of these"])
def test_a_group_without_scores(question):
    ds = with_empty(labelled(rounded(3)), "system", type=("system", [*"abababab", "c"]))
    same_numbers(ask(question, ds), answer(question))

"""How often intervals hold what they should: trials done again with the public functions, and what theory promises."""

import json

import jackknife_twin
import numpy as np
import pytest
import scipy.stats
import xarray as xr

import xsumstat
from xsumstat.resampling import draws
from xsumstat.simulation.given_scores import model_of

MODEL = {"agreement": {"a": 0.8, "b": 0.4}, "effects": {"system": 0.6, "input": 0.3, "cell": 1.0}}


def source(trial):
    """The source of chance of a trial, and the seed of its resamples once its scores are drawn."""
    return draws.generator(3, trial)


def by_twin(ds, confidence_level, *, metric, level, coefficient, other=None):
    """The jackknife's limits by its plain twin, as `ci` would lay them out."""
    z, how = ds.score.sel(metric="human").values, (coefficient, level, ("system", "input"), confidence_level)
    scores = {name: ds.score.sel(metric=name).values for name in ds.metric.values}
    if other is None:
        found = [jackknife_twin.interval(scores[name], z, *how) for name in metric]
    else:
        pairs = [(scores[a], scores[b]) for a in metric for b in other]
        found = [{} if a is b else jackknife_twin.difference(a, b, z, *how) for a, b in pairs]
    coords = {"metric": metric} if other is None else {"metric": metric, "other_metric": other}
    shape = [len(labels) for labels in coords.values()]
    return xr.Dataset(
        {
            name: xr.DataArray(np.reshape([each.get(name, np.nan) for each in found], shape), coords)
            for name in ("ci_low", "ci_high")
        }
    )


@pytest.mark.slow
@pytest.mark.ignore_codes("fell_back")
def test_a_trial_on_halves_is_what_ci_says_of_them(demo):
    """Two trials, done again with the public functions on the same halves."""
    settings = {"level": ["system", "input"], "coefficient": ["kendall", "pearson"], "metric": ["judge", "rouge"]}
    found = xsumstat.coverage(demo, "human", n_trials=2, n_resamples=1100, confidence_level=0.5, rng=3, **settings)
    assert found.coverage.dims == ("interval", "metric", "level", "coefficient")
    held, below, above, width = np.zeros((4, *found.coverage.shape))
    for trial in range(2):
        generator = source(trial)
        systems, inputs = generator.permutation(12), generator.permutation(30)
        one, two = (
            demo.isel(system=systems[part], input=inputs[p])
            for part, p in ((slice(6), slice(15)), (slice(6, 12), slice(15, 30)))
        )
        seed = int(generator.integers(2**63))
        other = {
            (level, name): two.meta.corr("human", metric=settings["metric"], level=level, coefficient=name).correlation
            for level in settings["level"]
            for name in settings["coefficient"]
        }
        for k, name in enumerate(found.interval.values):
            how = {name: {"method": "bootstrap", "interval": name} for name in ("bca", "corrected")}
            how = how.get(name, {"method": "bootstrap", "resample": str(name)})
            how = {"method": "fisher"} if name == "fisher" else how
            for i, level in enumerate(settings["level"]):
                for j, coefficient in enumerate(settings["coefficient"]):
                    asked = {"metric": settings["metric"], "level": level, "coefficient": coefficient}
                    drawn = {"n_resamples": 1100, "rng": seed} if how["method"] == "bootstrap" else {}
                    if name == "jackknife":
                        ci = by_twin(one, 0.5, **asked)
                    else:
                        ci = one.meta.ci("human", confidence_level=0.5, **drawn, **asked, **how)
                    r = other[level, coefficient]
                    held[k, :, i, j] += ((ci.ci_low <= r) & (r <= ci.ci_high)).values / 2
                    below[k, :, i, j] += (ci.ci_high < r).values / 2
                    above[k, :, i, j] += (ci.ci_low > r).values / 2
                    width[k, :, i, j] += (ci.ci_high - ci.ci_low).values / 2
    np.testing.assert_allclose(found.coverage, held, atol=1e-12)
    np.testing.assert_allclose(found.width, width, atol=1e-12)
    np.testing.assert_allclose(found.misses_low, below, atol=1e-12)
    np.testing.assert_allclose(found.misses_high, above, atol=1e-12)
    assert below.any() and above.any() and "relative_width" not in found
    # Of two trials that are alike Wilson's centre makes the error.
    z2 = scipy.stats.norm.ppf(0.975) ** 2
    centre = (2 * held + z2 / 2) / (2 + z2)
    certain = np.sqrt(centre * (1 - centre) / (2 + z2))
    error = np.where((held == 0) | (held == 1), certain, np.sqrt(held * (1 - held) / 2))
    np.testing.assert_allclose(found.mc_error, error, atol=1e-12)
    assert (found.n_undefined == 0).all()


@pytest.mark.slow
def test_published_coverage(mirror):
    """Table 1 of Deutsch et al. (2021), REALSumm and SummEval, QAEval-F1, Pearson; both sides are of 1,000 trials."""
    table = {
        ("realsumm-sacrerouge", "litepyramid_recall"): {
            "system": {"fisher": 0.85, "system": 0.80, "input": 0.68, "both": 0.94},
            "input": {"fisher": 1.00, "system": 0.72, "input": 0.62, "both": 0.88},
        },
        ("summeval", "expert_relevance"): {"system": {"input": 0.70, "both": 0.98}, "input": {"fisher": 1.00}},
    }
    intervals = {"fisher": {"method": "fisher"}, **{name: {"resample": name} for name in ("system", "input", "both")}}
    for (name, gold), by_level in table.items():
        ds = xsumstat.load_dataset(name)
        found = xsumstat.coverage(
            ds, gold, metric="qa-eval_f1", level=["system", "input"], intervals=intervals, n_resamples=500, rng=1
        )
        for level, values in by_level.items():
            for interval, theirs in values.items():
                cell = found.sel(level=level, interval=interval).squeeze()
                error = np.sqrt(2 * theirs * (1 - theirs) / 1000)
                assert float(cell.coverage) == pytest.approx(theirs, abs=3.5 * error + 0.006), (name, level, interval)


@pytest.mark.parametrize("n_trials, chance", [(80, 0.08), pytest.param(400, 0.0, marks=pytest.mark.slow)])
def test_intervals_hold_the_truth_of_a_population(n_trials, chance):
    """What theory promises: near the level with 40 systems, far below it where only inputs are drawn."""
    ds = xsumstat.simulate(40, 60, rng=0, **MODEL)
    found = xsumstat.coverage(
        ds, metric="a", truth="population", n_trials=n_trials, n_resamples=499, rng=1
    ).coverage.squeeze()
    assert 0.9 - chance <= float(found.sel(interval="fisher")) <= 0.98 + chance
    assert 0.93 - chance <= float(found.sel(interval="both")) <= 1.0
    assert 0.88 - chance <= float(found.sel(interval="corrected")) <= 0.98 + chance
    assert 0.91 - chance <= float(found.sel(interval="jackknife")) <= 0.99 + chance
    assert float(found.sel(interval="input")) < 0.8 + chance


def test_the_default_intervals_leave_fishers_out_where_there_is_none(demo):
    found = xsumstat.coverage(demo, metric="judge", coefficient="pairwise_accuracy", n_trials=2, n_resamples=30, rng=0)
    assert list(found.interval.values) == ["jackknife", "system", "input", "both", "bca", "corrected"]
    two = xsumstat.coverage(demo, metric="judge", other="rouge", n_trials=2, n_resamples=30, rng=0)
    assert list(two.interval.values) == list(found.interval.values)


@pytest.mark.ignore_codes("labels_without_cells")
def test_the_truth_of_all_scores_is_judged_as_such():
    """Where gold is missing, means over all of a metric's scores have a truth of their own."""
    ds = xsumstat.simulate(
        40, 8, agreement={"a": 0.8}, effects={"system": 0.3, "input": 0.4, "cell": 1.5}, missing=0.7, rng=1, truth=False
    )
    found = xsumstat.coverage(
        ds, truth="population", missing="available", n_systems=100, n_trials=60, n_resamples=199, rng=1,
        intervals={"both": {}, "system": {"resample": "system"}},
    )  # fmt: skip
    assert float(found.coverage.min()) > 0.75


def drawn_again(ds, shape, trial):
    """The scores of a trial, as a Dataset, and the seed of its resamples."""
    names, model = model_of(ds)
    generator = source(trial)
    scores, gold = model.draw(shape, generator)
    again = xr.Dataset({"score": (("metric", "system", "input"), [gold, *scores])}, {"metric": ["human", *names]})
    return again, int(generator.integers(2**63))


INTERVALS = {
    "percentile": {},
    "normal": {"interval": "normal", "resample": "system"},
    "jackknife": {"method": "jackknife"},
}


@pytest.mark.parametrize("other", [None, pytest.param(["b", "c"], marks=pytest.mark.slow)])
def test_a_trial_on_a_population_is_what_ci_says_of_it(other):
    """Sides that are missed, widths and the spread of estimates, of correlations or differences, done again."""
    agreement = {"a": 0.8, "b": 0.4, "c": -0.2}
    ds = xsumstat.simulate(10, 12, rng=0, agreement=agreement, system_df=4, truth=False)
    how = {"level": "input", "confidence_level": 0.6}
    found = xsumstat.coverage(
        ds, metric=["b", "a"], other=other, truth="population", intervals=INTERVALS, n_systems=9, n_trials=6,
        n_resamples=150, rng=3, **how,
    )  # fmt: skip
    name = "correlation" if other is None else "difference"
    # All effects of a metric agree alike, and so does their sum.
    truth = xr.DataArray([agreement[each] for each in ("b", "a")], {"metric": ["b", "a"]})
    if other is not None:
        truth = truth - xr.DataArray([agreement[each] for each in other], {"other_metric": other})
    told, estimates = [], []
    for trial in range(6):
        again, seed = drawn_again(ds, (9, 12), trial)
        rows = []
        for each in INTERVALS.values():
            asked = {"metric": ["b", "a"], "other": other, **how}
            if "method" in each:
                ci = by_twin(again, coefficient="pearson", **asked)
            else:
                ci = again.meta.ci("human", method="bootstrap", n_resamples=150, rng=seed, **asked, **each)
            low, high = ci.ci_high < truth, ci.ci_low > truth
            rows.append([~low & ~high, low, high, ci.ci_high - ci.ci_low])
        told.append(xr.concat([xr.concat(row, "number") for row in rows], "interval"))
        estimates.append(again.meta.ci("human", method="bootstrap", n_resamples=2, rng=0, **asked)[name])
    # A metric's difference from itself is none.
    mean = xr.concat(told, "trial").mean("trial").where(estimates[0].notnull())
    sd = xr.concat(estimates, "trial").std("trial", ddof=1)
    want = dict(zip(("coverage", "misses_low", "misses_high", "width"), mean.transpose("number", ...), strict=True))
    want["relative_width"] = want["width"] / (2 * scipy.stats.norm.ppf(0.8) * sd.where(sd > 0))
    dims = ["interval", "metric", *(["other_metric"] if other else [])]
    for variable, values in want.items():
        assert list(found[variable].dims) == dims
        np.testing.assert_allclose(found[variable], values.transpose(*dims), atol=1e-12, err_msg=variable)
    assert float(found.misses_low.max()) > 0 and float(found.misses_high.max()) > 0
    assert (found.n_undefined == 0).all() and found.coverage.isnull().sum() == (0 if other is None else 3)


def test_shares_of_trials_are_of_all_that_have_an_interval(demo):
    """Held, below and above are all there is."""
    found = xsumstat.coverage(demo, metric=["judge", "rouge"], n_trials=25, n_resamples=40, confidence_level=0.4, rng=1)
    np.testing.assert_allclose(found.coverage + found.misses_low + found.misses_high, 1)


def test_one_trial_has_no_spread():
    ds = xsumstat.simulate(8, 8, rng=0, truth=False, **MODEL)
    found = xsumstat.coverage(ds, truth="population", intervals={"both": {}}, n_trials=1, n_resamples=30, rng=1)
    assert found.relative_width.isnull().all() and found.width.notnull().all()


def test_keywords_are_told_as_they_were_completed(demo):
    intervals = {"a": {"method": "jackknife", "resample": "system"}, "b": {"interval": "basic"}}
    found = xsumstat.coverage(demo, metric="judge", intervals=intervals, n_trials=1, n_resamples=30, rng=1)
    assert json.loads(found.attrs["keywords"]) == {
        "a": {"method": "jackknife", "resample": ["system"]},
        "b": {"method": "bootstrap", "interval": "basic", "resample": ["system", "input"]},
    }


@pytest.mark.parametrize(
    "keywords, message",
    [
        (
            {"intervals": {"a": {"method": "auto"}}},
            r"intervals\['a'\]\['method'\] must be one of 'bootstrap', 'fisher'",
        ),
        (
            {"intervals": {"a": {"method": "jackknife", "interval": "bca"}}},
            r"intervals\['a'\]: interval= applies only to method='bootstrap'",
        ),
        (
            {"other": "rouge", "intervals": {"f": {"method": "fisher"}}},
            r"intervals\['f'\]: there is no Fisher interval for a difference \(other=\)",
        ),
        ({"metric": "judge", "other": "judge"}, "a difference needs two metrics: metric and other name only one"),
        ({"other": "rogue"}, "unknown other 'rogue'; did you mean 'rouge'"),
    ],
)
def test_bad_keywords(demo, keywords, message):
    with pytest.raises(ValueError, match=message):
        xsumstat.coverage(demo, "human", **{"n_trials": 2, "n_resamples": 20, **keywords})


def test_the_bootstrap_t_of_a_trial_is_that_of_ci():
    """One trial of a population, done again with `ci`; and where that interval is not for."""
    ds = xsumstat.simulate(8, 20, rng=2, **MODEL)
    settings = {"level": "input", "coefficient": "pearson"}
    intervals = {"t": {"interval": "studentized"}, "of systems": {"interval": "studentized", "resample": "system"}}
    kw = {"truth": "population", "n_trials": 1, "n_resamples": 199, "rng": 3}
    found = xsumstat.coverage(ds, "human", intervals=intervals, **kw, **settings)
    generator = source(0)
    names, model = model_of(ds)
    scores, gold = model.draw((8, 20), generator)
    seed = int(generator.integers(2**63))
    cube = xr.DataArray(
        np.concatenate([gold[None], scores]), {"metric": ["human", *names]}, ("metric", "system", "input")
    )
    for name, how in intervals.items():
        again = xr.Dataset({"score": cube}).meta.ci(
            "human", method="bootstrap", n_resamples=199, rng=seed, **how, **settings
        )
        np.testing.assert_allclose(found.width.sel(interval=name), again.ci_high - again.ci_low, rtol=1e-12)
    with pytest.raises(ValueError, match="interval='studentized' needs level='input'"):
        xsumstat.coverage(ds, "human", intervals=intervals, **kw, level="system")

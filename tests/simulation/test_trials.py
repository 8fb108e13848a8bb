"""What trials of intervals and of tests share: limits, designs, threads, seeds, and what is refused."""

import numpy as np
import pytest
import xarray as xr
from conftest import warns
from statsmodels.stats.proportion import proportion_confint

import xsumstat
from xsumstat.simulation import trials
from xsumstat.simulation.model import Model

MODEL = {"agreement": {"a": 0.8, "b": 0.4}, "effects": {"system": 0.6, "input": 0.3, "cell": 1.0}}


def test_designs_are_dims():
    ds = xsumstat.simulate(10, 10, rng=0, **MODEL)
    settings = {"truth": "population", "intervals": {"plain": {}}, "n_trials": 4, "n_resamples": 50, "rng": 1}
    found = xsumstat.coverage(ds, metric="b", n_systems=[6, 12], n_inputs=[5, 9, 20], **settings)
    assert dict(found.coverage.sizes) == {"interval": 1, "metric": 1, "n_systems": 2, "n_inputs": 3}
    one = xsumstat.coverage(ds, metric="b", n_systems=12, n_inputs=[9], **settings)
    assert one.attrs["n_systems"] == 12 and dict(one.coverage.sizes) == {"interval": 1, "metric": 1, "n_inputs": 1}
    xr.testing.assert_equal(one, found.sel(n_systems=12, n_inputs=[9]).drop_vars("n_systems"))
    assert found.attrs["level"] == "system" and found.attrs["analysis"] == "coverage"
    more = xsumstat.power(ds, redraw=True, n_inputs=[5, 9], noise=1, n_trials=3, n_resamples=50, rng=1)
    assert dict(more.power.sizes) == {"test": 3, "metric": 2, "n_inputs": 2} and more.attrs["noise"] == 1


@pytest.mark.parametrize("question", ["coverage", "power"])
def test_shares_of_trials_have_wilsons_limits(demo, question):
    """statsmodels' limits; at 0 and 100 % they are not the share itself, as its standard error has it."""
    settings = {"metric": ["judge", "rouge"], "level": "input", "n_trials": 30, "n_resamples": 50, "rng": 1}
    if question == "coverage":
        found = xsumstat.coverage(demo, **settings)
    else:
        found = xsumstat.power(demo, noise=[0.2, 3.0], **settings)
    share = found[question]
    n = 30 - found.n_undefined
    low, high = proportion_confint((share * n).round(), n, alpha=0.05, method="wilson")
    np.testing.assert_allclose(found.ci_low, low, atol=1e-12)
    np.testing.assert_allclose(found.ci_high, high, atol=1e-12)
    sure = share.isin([0, 1])
    assert bool(sure.any()) and bool((found.ci_high - found.ci_low).where(sure, 1).min() > 0.1)
    assert found.ci_low.dims == share.dims and bool(((found.ci_low <= share) & (share <= found.ci_high)).all())
    assert bool((found.ci_low >= 0).all()) and bool((found.ci_high <= 1).all())


def test_no_share_has_an_error_of_zero(demo):
    """Where all trials are alike the error is that of Wilson's centre; elsewhere it is as ever."""
    share, n = xr.DataArray([0.0, 0.5, 1.0, 0.1], dims="a"), xr.DataArray([20, 20, 20, 50], dims="a")
    z = 1.959963984540054
    alike = [(k + z**2 / 2) / (20 + z**2) for k in (0, 20)]
    errors = [np.sqrt(p * (1 - p) / (20 + z**2)) for p in alike]
    expected = [errors[0], np.sqrt(0.25 / 20), errors[1], np.sqrt(0.09 / 50)]
    np.testing.assert_allclose(trials.standard_error(share, n), expected, rtol=1e-9)
    asked = {"metric": "judge", "level": "input", "n_trials": 10, "rng": 1}
    always = xsumstat.power(
        demo, other="bleu", tests={"t": {"test": "perm_test"}}, n_resamples=99, n_inputs=500, **asked
    )
    assert float(always.power.squeeze()) in (0, 1) and float(always.mc_error.squeeze()) > 0.05


def test_no_trial_no_limits(demo):
    """A metric's own constant copy has no p-value: nothing is shared."""
    ds = demo.copy(deep=True)
    with warns("constant"):
        ds.score.loc[{"metric": "judge"}] = 1.0
        found = xsumstat.coverage(ds, "human", metric="judge", n_trials=5, n_resamples=20, rng=0)
    assert (found.n_undefined == 5).all()
    assert np.isnan(found.ci_low).all() and np.isnan(found.ci_high).all() and np.isnan(found.mc_error).all()


def test_any_number_of_threads_gives_the_same(demo, monkeypatch):
    settings = {"metric": "judge", "n_trials": 20, "n_resamples": 50, "rng": 5}
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "1")
    one = xsumstat.coverage(demo, **settings), xsumstat.power(demo, **settings)
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "3")
    for got, want in zip((xsumstat.coverage(demo, **settings), xsumstat.power(demo, **settings)), one, strict=True):
        assert got.identical(want)


def test_a_longer_run_begins_with_the_shorter_ones_trials():
    ds = xsumstat.simulate(8, 8, rng=0, **MODEL)
    settings = {"metric": "a", "truth": "population", "n_resamples": 60, "rng": 5}
    short, long = (xsumstat.coverage(ds, n_trials=n, **settings).coverage * n for n in (10, 30))
    assert bool(((long - short >= -1e-9) & (long - short <= 20 + 1e-9)).all())


def test_results_can_be_saved(demo, tmp_path):
    found = xsumstat.coverage(demo, metric="judge", n_trials=3, n_resamples=50, rng=1)
    found.to_netcdf(tmp_path / "coverage.nc")
    assert xr.load_dataset(tmp_path / "coverage.nc").identical(found)


@pytest.mark.parametrize(
    "function, keywords, error, message",
    [
        ("coverage", {"truth": "half"}, ValueError, "truth must be one of 'halves', 'population', got 'half'; did you"),
        ("power", {"other": "bleu", "noise": 1.0}, ValueError, "noise compares a metric with its noisy copy"),
        ("coverage", {"n_systems": 5}, ValueError, "n_systems and n_inputs need scores drawn anew"),
        ("coverage", {"intervals": ["both"]}, TypeError, "intervals must map names to keywords"),
        ("coverage", {"intervals": {"a": "both"}}, TypeError, r"intervals\['a'\] must map keywords to their values"),
        ("coverage", {"intervals": {"a": {"resampl": "both"}}}, ValueError, "did you mean 'resample'"),
        ("coverage", {"intervals": {"a": {"interval": "bc"}}}, ValueError, "must be one of .*did you mean 'bca'"),
        (
            "coverage",
            {"intervals": {"a": {"interval": "corrected", "resample": "input"}}},
            ValueError,
            r"intervals\['a'\]: interval='corrected' needs resample='both'",
        ),
        (
            "coverage",
            {"coefficient": "kendall_a", "intervals": {"f": {"method": "fisher"}}},
            ValueError,
            r"intervals\['f'\]: there is no Fisher interval for coefficient='kendall_a'",
        ),
        ("coverage", {"coefficient": []}, ValueError, "coefficient is an empty list"),
        (
            "power",
            {"tests": {"a": {"test": "perm_test", "crossed": 1}}},
            TypeError,
            r"tests\['a'\]\['crossed'\] must be",
        ),
        ("coverage", {"level": ["system", "input", "system"]}, ValueError, "level repeats "),
        ("coverage", {"level": []}, ValueError, "level is an empty list"),
        ("coverage", {"n_trials": 0}, ValueError, "n_trials must be at least 1, got 0"),
        ("coverage", {"n_resamples": 1}, ValueError, "n_resamples must be at least 2"),
        ("coverage", {"metric": "juge"}, ValueError, "did you mean 'judge'"),
        ("power", {"noise": 0}, ValueError, "noise must be above 0"),
        ("power", {"noise": [1, 1]}, ValueError, "noise repeats "),
        ("power", {"tests": {"a": {}}}, ValueError, r"tests\['a'\]\['test'\] must be one of 'perm_test', 'boot_test'"),
        ("power", {"tests": {"a": {"test": "perm_test", "method": "x"}}}, ValueError, "keywords of perm_test"),
        ("power", {"tests": {"a": {"test": "corr_test", "method": "x"}}}, ValueError, "must be one of 'williams'"),
        (
            "power",
            {"tests": {"a": {"test": "perm_test", "resample": "input", "crossed": True}}},
            ValueError,
            "crossed=True swaps over both dims",
        ),
        ("power", {"other": "bleu", "null": True}, ValueError, "null=True compares a metric with its noisy copy"),
        ("power", {"alpha": 5}, ValueError, "alpha must lie strictly between 0 and 1"),
        ("power", {"null": 1}, TypeError, "null must be True or False"),
    ],
)
def test_bad_keywords(demo, function, keywords, error, message):
    with pytest.raises(error, match=message):
        getattr(xsumstat, function)(demo, "human", **{"n_trials": 2, "n_resamples": 20, **keywords})


def test_what_takes_long_comes_after_the_arguments_were_checked(monkeypatch):
    ds = xsumstat.simulate(10, 20, likert=5, rng=1, truth=False)
    monkeypatch.setattr(Model, "population", lambda *_: pytest.fail("the truth was integrated first"))
    for keywords in (
        {"n_trials": 0},
        {"rng": "x"},
        {"progress": 1},
        {"n_systems": []},
        {"coefficient": lambda x, z: 0.0},
    ):
        with pytest.raises((ValueError, TypeError)):
            xsumstat.coverage(ds, truth="population", **keywords)
    with pytest.raises(ValueError, match="n_inputs is an empty list"):
        xsumstat.power(ds, redraw=True, n_inputs=range(0))
    with pytest.raises(ValueError, match="gold must be 'human', which the model draws, got 'good'"):
        xsumstat.coverage(ds, "good", metric="fair", truth="population")


@pytest.mark.ignore_codes("few_systems")
def test_scores_that_cannot_be_tried(demo):
    with pytest.raises(TypeError, match="ds must be a Dataset, got a DataArray"):
        xsumstat.coverage(demo.score)
    with pytest.raises(ValueError, match="at least 4 systems are needed, the scores have 3"):
        xsumstat.power(demo.isel(system=slice(3)))
    both = xr.concat([demo[["score"]], demo[["score"]]], "language").assign_coords(language=["en", "de"])
    with pytest.raises(ValueError, match=r"ha(?:s|ve) additional dims: 'language'; select one label of each"):
        xsumstat.coverage(both, "human")
    with pytest.raises(ValueError, match=r"are lazy, and every trial needs them: load them first, with ds.load\(\)"):
        xsumstat.coverage(demo.chunk(metric=1), "human")
    with pytest.raises(ValueError, match=r"splits systems and inputs, and needs 4 of each, got \(12, 3\)"):
        xsumstat.coverage(demo.isel(input=slice(3)), "human")
    ds = xsumstat.simulate(8, 8, rng=0, **MODEL)
    with pytest.raises(ValueError, match="knows no correlation"):
        xsumstat.coverage(ds, truth="population", coefficient=lambda x, z: 0.0, intervals={"both": {}})
    renamed = ds.assign_coords(metric=["human", "a", "c"])
    with pytest.raises(ValueError, match="unknown metric 'c'.*metrics that the model draws: 'a', 'b'"):
        xsumstat.coverage(renamed, truth="population")

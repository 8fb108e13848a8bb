"""How often tests find a difference: trials done again with the public functions, and what theory promises."""

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.resampling import draws
from xsumstat.simulation.power import _copies

MODEL = {"agreement": {"a": 0.8, "b": 0.4}, "effects": {"system": 0.6, "input": 0.3, "cell": 1.0}}


def source(trial):
    """The source of chance of a trial, and the seed of its resamples once its scores are drawn."""
    return draws.generator(3, trial)


@pytest.mark.parametrize("null", [False, True])
def test_copies_have_noise_of_the_size_that_is_asked_for(null):
    """In standard deviations of the metric: of the copy, and under the null hypothesis of both copies alike."""
    x = np.random.default_rng(0).normal(3, 5, size=(2, 40, 50))
    found = _copies(x, [0.5, 3.0], null, np.random.default_rng(1))
    assert found.shape == (2, 2, 2, 40, 50)
    noise = (found - x[:, None, None]) / x.std(axis=(1, 2))[:, None, None, None, None]
    sizes = noise.std(axis=(3, 4))
    np.testing.assert_allclose(sizes[:, :, 1], [[0.5, 3.0]] * 2, rtol=0.06)
    np.testing.assert_allclose(sizes[:, :, 0], [[0.5 * null, 3.0 * null]] * 2, rtol=0.06)
    np.testing.assert_allclose(noise[:, 1], 6 * noise[:, 0], atol=1e-9)


@pytest.mark.ignore_codes("average_for_single")
@pytest.mark.parametrize("null", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_trial_of_a_test_is_what_the_test_says(demo, null):
    """One trial at a time: the noisy copies, done again with the public functions."""
    tests = {
        "perm": {"test": "perm_test", "resample": "input"},
        "crossed": {"test": "perm_test", "crossed": True},
        "boot": {"test": "boot_test", "resample": "both"},
        "meng": {"test": "corr_test", "method": "meng"},
    }
    settings = {"metric": ["judge", "rouge"], "noise": [0.2, 1.5], "level": "input", "alpha": 0.3, "tests": tests}
    found = xsumstat.power(demo, "human", null=null, n_trials=3, n_resamples=99, rng=3, **settings)
    share = found["type_i_error" if null else "power"]
    assert share.dims == ("test", "metric", "noise")
    want = np.zeros(share.shape)
    x = demo.score.sel(metric=["judge", "rouge"])
    for trial in range(3):
        generator = source(trial)
        seed = int(generator.integers(2**63))
        spread = x.values.std(axis=(1, 2))[:, None, None]
        one, two = spread * generator.standard_normal((2, *x.shape))
        for k, keywords in enumerate(tests.values()):
            for i in range(2):
                for j, size in enumerate(settings["noise"]):
                    pair = np.array([x.values[i] + null * size * two[i], x.values[i] + size * one[i]])
                    score = np.concatenate([demo.score.sel(metric=["human"]).values, pair])
                    ds = xr.Dataset({"score": (demo.score.dims, score)}, {"metric": ["human", "one", "two"]})
                    asked = {"level": "input", "alternative": "greater", **keywords}
                    name = asked.pop("test")
                    drawn = {} if name == "corr_test" else {"n_resamples": 99, "rng": seed}
                    p = getattr(ds.meta, name)("human", metric="one", other="two", **asked, **drawn).pvalue.item()
                    want[k, i, j] += (p <= 0.3) / 3
    np.testing.assert_allclose(share, want, atol=1e-12)


@pytest.mark.parametrize(
    "level, n_trials",
    [("input", 60), *(pytest.param(level, 1000, marks=pytest.mark.slow) for level in ("system", "input"))],
)
def test_permutation_tests_keep_their_level(level, n_trials):
    """Copies with noise of their own are exchangeable: false findings at .05 lie in their binomial band."""
    ds = xsumstat.simulate(14, 20, rng=0, **MODEL)
    tests = {name: {"test": "perm_test", "resample": name} for name in ("both", "system", "input")}
    tests["crossed"] = {"test": "perm_test", "crossed": True}
    tests["boot"] = {"test": "boot_test"}
    found = xsumstat.power(
        ds,
        metric="a",
        null=True,
        redraw=True,
        noise=1.0,
        level=level,
        tests=tests,
        n_trials=n_trials,
        n_resamples=199,
        rng=2,
    ).type_i_error.squeeze()
    band = 3.5 * np.sqrt(0.05 * 0.95 / n_trials)
    for name in ("both", "system", "input", "crossed"):
        assert 0.05 - band <= float(found.sel(test=name)) <= 0.05 + band
    assert float(found.sel(test="boot")) <= 0.05 + band


@pytest.mark.slow
def test_more_noise_is_found_more_often(demo):
    found = xsumstat.power(demo, metric="judge", level="input", n_trials=100, n_resamples=199, rng=1)
    power = found.power.sel(test="perm_test").squeeze().values
    assert (np.diff(power) >= 0).all() and power[0] < power[-1] == 1
    assert bool((found.power.sel(test="williams") <= found.power.sel(test="perm_test")).all())
    assert found.attrs["seed"] == "1" and found.attrs["null"] == 0

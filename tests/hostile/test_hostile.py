"""Every public question on scores that are few, constant, infinite, enormous, tiny or missing.

Whatever comes, the answer is a result, or an error of ours that says what is wrong; never a warning of NumPy's, never
an infinite number, and never a change to what was given.
"""

import sys
import traceback
import warnings

import numpy as np
import pytest
import xarray as xr
from cases import BASE, IN_TURN, QUESTIONS, SCORES, STANDING, dataset, turn
from helpers import by_turns

INFINITE = ("gap_high",)  # no limit


def met(question):
    """The scores that a question meets: one of each of `IN_TURN`, and all others; or a third of them all.

    A third, where others have the same analysis at another level, or by another coefficient, and meet the rest.
    """
    chosen = [names[turn(question) % len(names)] for names in IN_TURN]
    chosen += [name for name in SCORES if name not in sum(IN_TURN, ())]
    if question not in STANDING:
        chosen = list(SCORES)[turn(question) % 3 :: 3]
    return {name: SCORES[name] for name in chosen}


@pytest.mark.parametrize("question", by_turns(QUESTIONS))
def test_an_answer_or_a_plain_error(question):
    if question == "agreement":
        pytest.importorskip("krippendorff")
    for name, score in met(question).items():
        ds = dataset(score)
        before = ds.copy(deep=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = QUESTIONS[question](ds)
            except (ValueError, TypeError) as error:
                found = None
                assert "/xsumstat/" in traceback.extract_tb(sys.exc_info()[2])[-1].filename, (name, error)
        foreign = [each for each in caught if not issubclass(each.category, UserWarning)]
        assert not foreign, (name, foreign[0])
        assert ds.identical(before), name
        for label, values in () if found is None else found.data_vars.items():
            # Where ratings are all noise Fieller's limits of a bias are infinite.
            unbounded = question == "bias of ratings" and label in ("ci_low", "ci_high")
            if values.dtype.kind == "f" and label not in INFINITE and label != "score" and not unbounded:
                assert not np.isinf(values).any(), (name, label)


def test_names_in_any_script(tmp_path):
    names = ["РУЖ", "メトリック", "📏", "human $x_1$ <b>"]
    ds = dataset(BASE).assign_coords(metric=names, system=[f"系统 {at}" for at in range(8)])
    table = ds.meta.rank(names[3], n_resamples=19, rng=0)
    assert set(table.metric.values) == set(names[:3])
    pytest.importorskip("netCDF4")
    table.to_netcdf(tmp_path / "table.nc")
    assert xr.load_dataset(tmp_path / "table.nc").metric.values.tolist() == table.metric.values.tolist()


@pytest.mark.slow
def test_a_thousand_metrics():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(6, 5))
    score = np.concatenate([z + rng.normal(size=(1000, 6, 5)), z[None]])
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, {"metric": [*range(1000), 1000]})
    found = ds.meta.ci(1000, n_resamples=199, rng=0)
    assert found.sizes["metric"] == 1000 and bool(found.ci_low.notnull().all())
    test = ds.meta.perm_test(1000, metric=[0, 1], other=list(range(1000)), n_resamples=19, rng=0)
    assert int(test.pvalue.notnull().sum()) == 2 * 999

"""Every public question on the same scores in another layout: other dtypes, orders of dims and labels, a further dim.

They come in by one entrance, which is the same at every level and for every coefficient.
"""

import sys
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from cases import BASE, QUESTIONS, STANDING, answer, ask, dataset, rounded, turn
from helpers import by_turns

ASKED = [name for name in STANDING if name != "agreement"]
LABELS = (
    lambda labels: np.array(labels, dtype=object),
    pd.CategoricalIndex,
    lambda labels: pd.Index(labels, dtype="string"),
)


def numbers(found):
    """The variables of a result, their dims in one order, without the attrs that say where labels were."""
    found = found[["score"]] if "score" in found else found
    return found.drop_attrs().transpose(*sorted(map(str, found.dims)))


def gappy():
    """Scores with tied means, gaps, an input of which the gold is constant, and a system and an input without gold."""
    score = np.round(BASE)
    score[:, 2] = score[:, 1]
    score[0, 3, 1:4] = score[1, 0, 0] = score[3, 5] = score[:, :, 5] = score[2, 1] = score[2, 0, 2:] = np.nan
    score[3, :, 4] = 3.0
    return dataset(score).assign_coords(input=list("uvwxyz"))


def told(question, ds):
    """The answer, or the error's text, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = QUESTIONS[question](ds)
        except (ValueError, TypeError) as error:
            assert "/xsumstat/" in traceback.extract_tb(sys.exc_info()[2])[-1].filename, error
            found = str(error)
    return found, [str(each.message) for each in caught]


@pytest.mark.parametrize("question", by_turns(ASKED, 1))
def test_neither_dtypes_nor_order_of_dims_nor_labels_nor_more_coords_matter(question):
    ds, core = gappy(), ("metric", "system", "input")
    plain = {dim: ds[dim].values.tolist() for dim in core}
    odd = {dim: LABELS[(turn(question) + at) % 3](plain[dim]) for at, dim in enumerate(core)}
    other = ds.transpose("input", "system", "metric").astype(np.float32)
    want, said = told(question, ds)
    got, texts = told(question, other.assign_coords(odd).assign_coords(note=("input", list("uvwxyz")), nothing=1))
    assert texts == said
    if isinstance(want, str):
        assert got == want
        return
    labels = {dim: got[dim].values.tolist() for dim in core if dim in got.coords}
    got = got.assign_coords(labels).drop_vars([name for name in got.coords if name not in want.coords])
    xr.testing.assert_allclose(numbers(got), numbers(want), atol=1e-9)


@pytest.mark.parametrize("question", by_turns([name for name in ASKED if name not in ("sample_inputs", "pca")]))
def test_each_label_of_a_further_dim_is_answered_as_if_alone(question):
    """Of whole numbers. The last label, as draws for it come last; of every third question the first, too."""
    first, last = rounded(4), rounded(3)
    both = xr.concat([first, last], xr.DataArray(["en", "de"], dims="language", name="language"))
    try:
        found = ask(question, both.astype(np.int64))
    except ValueError as error:
        assert "additional dim" in str(error) or "select one label" in str(error), error
        return
    alone = {"de": answer(question)} | ({} if turn(question) % 3 else {"en": ask(question, first)})
    for label, want in alone.items():
        got, want = numbers(found.sel(language=label, drop=True)), numbers(want)
        if "metric" in want.dims:
            got = got.sel(metric=want.metric)
        xr.testing.assert_allclose(got, want, atol=1e-9)

"""BLEU, chrF and TER of segments: exact cases, a plain chrF, and sacrebleu's own functions."""

import sys
from collections import Counter

import numpy as np
import pytest
import xarray as xr

import xsumstat
from xsumstat.io import lexical

WORDS = "the cat sat on the mat today"


def target(*rows):
    systems = [f"s{at}" for at in range(len(rows) - 1)]
    return xr.DataArray(
        np.array(rows, dtype=object), dims=("system", "input"), coords={"system": [*systems, "ref"], "input": [1, 2]}
    )


def chrf(text, reference, order=6, beta=2):
    """Popović (2015): F of the mean precision and recall of the n-grams of characters that both are long enough for."""
    text, reference = text.replace(" ", ""), reference.replace(" ", "")
    shares = []
    for n in range(1, order + 1):
        ours, theirs = (Counter(each[at : at + n] for at in range(len(each) - n + 1)) for each in (text, reference))
        if ours and theirs:
            common = (ours & theirs).total()
            shares.append((common / ours.total(), common / theirs.total()))
    precision, recall = np.mean(shares, axis=0)
    if precision + recall == 0:
        return 0.0
    return 100 * (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def test_exact_cases():
    pytest.importorskip("sacrebleu")
    same, one = [WORDS, "a b c d"], [WORDS, "a b c x"]
    found, signatures = lexical.scored(target(same, one, same), "ref", ["bleu", "chrf", "ter"])
    np.testing.assert_allclose(found.sel(system="s0"), [[100, 100], [100, 100], [0, 0]])
    assert float(found.sel(metric="ter", system="s1", input=2)) == 25  # one of four words is another
    assert found.sel(system="ref").isnull().all()
    assert found.higher_is_better.values.tolist() == [True, True, False]
    assert list(signatures) == ["bleu", "chrf", "ter"] and all("version:" in each for each in signatures.values())


def check_by_segment(score, target):
    """The functions of sacrebleu for a single sentence, and chrF by hand."""
    sacrebleu = pytest.importorskip("sacrebleu")
    for system in target.drop_sel(system="ref").system.values:
        for label in target.input.values:
            text, reference = (str(target.sel(system=each, input=label).item()) for each in (system, "ref"))
            one = score.sel(system=system, input=label)
            assert float(one.sel(metric="bleu")) == sacrebleu.sentence_bleu(text, [reference]).score
            assert float(one.sel(metric="chrf")) == pytest.approx(chrf(text, reference), rel=1e-9)
    assert score.sel(system="ref", metric=["bleu", "chrf"]).isnull().all()


def test_published_texts(mirror):
    """Every 100th segment."""
    pytest.importorskip("sacrebleu")
    part = xsumstat.load_dataset("wmt21-ted-ende").target.isel(input=slice(0, None, 100))
    check_by_segment(lexical.scored(part, "ref", ["chrf", "bleu"])[0], part)


@pytest.mark.slow
def test_published_texts_all(mirror):
    pytest.importorskip("sacrebleu")
    ds = xsumstat.load_dataset("wmt21-ted-ende", metrics=["chrf", "bleu"])
    assert ds.metric.values.tolist() == ["mqm", "chrf", "bleu"]
    assert ds.kind.values.tolist() == ["human", "automatic", "automatic"]
    check_by_segment(ds.score.isel(input=slice(0, None, 100)), ds.target.isel(input=slice(0, None, 100)))
    assert ds.score.sel(system="ref", metric=["bleu", "chrf"]).isnull().all()
    assert ds.score.drop_sel(system="ref").notnull().all()


@pytest.mark.slow
def test_ter_of_published_texts(mirror):
    sacrebleu = pytest.importorskip("sacrebleu")
    part = xsumstat.load_dataset("wmt21-ted-ende").target.sel(system=["Nemo", "ref"]).isel(input=slice(0, None, 25))
    found, signatures = lexical.scored(part, "ref", ["ter"])
    assert signatures["ter"].startswith("nrefs:1|")
    for label in part.input.values:
        text, reference = (str(part.sel(system=each, input=label).item()) for each in ("Nemo", "ref"))
        score = float(found.sel(metric="ter", system="Nemo", input=label))
        assert score == sacrebleu.sentence_ter(text, [reference]).score


def test_bad_metrics():
    with pytest.raises(ValueError, match="metrics must be one of 'bleu', 'chrf', 'ter', got 'bluE'"):
        xsumstat.load_dataset("wmt21-ted-ende", metrics=["bluE"])
    with pytest.raises(ValueError, match="metrics repeats .bleu."):
        xsumstat.load_dataset("wmt21-ted-ende", metrics=["bleu", "bleu"])
    with pytest.raises(ValueError, match="metrics are computed from texts, which 'wmt21-ted-ende' alone has"):
        xsumstat.load_dataset("demo", metrics="bleu")


def test_without_sacrebleu_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(ImportError, match=r'this needs sacrebleu, .*pip install "\.\[mt\]"'):
        lexical.scored(target([WORDS, WORDS], [WORDS, WORDS]), "ref", ["bleu"])

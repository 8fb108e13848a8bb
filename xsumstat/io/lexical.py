"""BLEU, chrF and TER of single translations, by sacrebleu."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from xsumstat.core import extras
from xsumstat.core.types import FloatArray
from xsumstat.io.cells import text

METRICS = ("bleu", "chrf", "ter")
_LOWER = "ter"


def scored(target: xr.DataArray, reference: str, names: list[str]) -> tuple[xr.DataArray, dict[str, str]]:
    """Scores (metric, system, input) of outputs against one reference system; and each metric's signature."""
    makers = _makers()
    systems = target["system"].values.tolist()
    outputs = target.transpose("system", "input").values.tolist()
    references = outputs[systems.index(reference)]
    cube = np.full((len(names), *np.shape(outputs)), np.nan)
    signatures = {}
    for at, name in enumerate(names):
        scorer = makers[name]
        for place, row in enumerate(outputs):
            if systems[place] != reference:
                cube[at, place] = _row(scorer, row, references)
        signatures[name] = str(scorer.get_signature())
    coords = {"metric": text(names), "system": target["system"], "input": target["input"]}
    coords["higher_is_better"] = ("metric", np.array([name != _LOWER for name in names]))
    return xr.DataArray(cube, dims=("metric", "system", "input"), coords=coords), signatures


def _makers() -> dict[str, Any]:
    """The metrics of sacrebleu; BLEU of a segment counts only n-grams that fit its length."""
    sacrebleu: Any = extras.optional("sacrebleu.metrics", "mt")
    return {"bleu": sacrebleu.BLEU(effective_order=True), "chrf": sacrebleu.CHRF(), "ter": sacrebleu.TER()}


def _row(scorer: Any, row: list[str], references: list[str]) -> FloatArray:
    return np.array([scorer.sentence_score(a, [b]).score for a, b in zip(row, references, strict=True)])

"""Changes between two versions of a judge on the same outputs: agreement, scores, systems."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat import _validate, judge_report
from xsumstat.dataset import facts
from xsumstat.dataset import scores as schema
from xsumstat.inference import prompts

NEW, OLD = "new", "old"


@dataclass(frozen=True)
class Anchored:
    """Scores (metric, version, system, input) of common outputs by both versions of the judges, with the new gold.

    `n_new` counts the outputs of the new file, with or without a partner.
    """

    ds: xr.Dataset
    gold: xr.DataArray
    judges: list[Hashable]
    n_new: int

    @classmethod
    def of(cls, new: xr.Dataset, old: xr.Dataset, gold: Any = None, metric: Any = None) -> Anchored:
        """Join two Datasets by labels; raises without common outputs, or for a judge missing in the old one."""
        about = judge_report.subject(new, gold, metric)
        now, then = schema.checked_scores(about.ds), schema.checked_scores(old).compute()
        further = [str(dim) for dim in (*now.dims, *then.dims) if dim not in facts.CORE]
        if further:
            raise ValueError(f"anchor must have scores by metric, system and input alone, got the dim {further[0]!r}")
        for label in about.judges:
            _validate.known("metric that anchor lacks:", label, list(then.indexes["metric"]), "metrics of the anchor")
        now, then = (each.sel(metric=about.judges).reset_coords(drop=True) for each in (now, then))
        if schema.texts_of(about.ds) != schema.texts_of(old):
            raise ValueError("anchor has other texts as labels than the scores: give all, the lowest first, by labels=")
        outputs = int(now.notnull().any("metric").sum())
        now, then = xr.align(now, then, join="inner")
        if not (now.notnull() & then.notnull()).any():
            raise ValueError("anchor shares no output with the scores: systems and inputs must have the same labels")
        both = xr.concat([now, then], "version").assign_coords(version=[NEW, OLD])
        people = about.people.values.reset_coords(drop=True).compute()
        human = people.reindex(system=now["system"], input=now["input"]).rename("human")
        ds = xr.Dataset({"score": both.transpose("metric", "version", "system", "input").astype(float)})
        if "higher_is_better" in about.ds["score"].coords:
            ds = ds.assign_coords(higher_is_better=about.ds["higher_is_better"].sel(metric=about.judges))
        return cls(ds, human, about.judges, outputs)

    def changes(self, judge: Hashable) -> xr.DataArray:
        """Change of each output's score."""
        score = self.ds["score"].sel(metric=judge, drop=True)
        return (score.sel(version=NEW, drop=True) - score.sel(version=OLD, drop=True)).transpose("system", "input")

    def agreement(self, judge: Hashable, margin: float, **how: Any) -> xr.Dataset:
        """Change of the judge's agreement for these systems, and whether it is within a margin (`equivalence`)."""
        base = {"along": "version", "base": OLD, "method": "jackknife", "resample": "input"}
        found: xr.Dataset = self.ds.meta.equivalence(self.gold, metric=[judge], margin=margin, **base, **how)
        return found.squeeze(["metric", "version"])

    def flips(self, judge: Hashable, level: float) -> tuple[float, float, float]:
        """Share of changed scores with limits; inputs are random, not single outputs."""
        change = self.changes(judge)
        there = change.notnull()
        counts = [each.sum("system").values for each in ((change != 0) & there, there)]
        sums = np.stack(counts, axis=1).astype(float)
        found = prompts.left_out(prompts.ratio(0, 1), sums, sums[:, 1])
        return (found.value, *found.of_share(level, float(sums[:, 1].sum())))

    def shifts(self, judge: Hashable, alpha: float) -> xr.Dataset:
        """Change of each system's mean, with paired t-tests over inputs (Holm over systems)."""
        score = self.ds["score"].sel(metric=judge, drop=True).rename(system="metric", version="system")
        one = xr.Dataset({"score": score.transpose("metric", "system", "input")})
        how = {"system": NEW, "other": OLD, "alpha": alpha, "adjust": "holm"}
        found: xr.Dataset = one.meta.compare_systems(**how, within=["metric", "system", "other_system"])
        return found.squeeze(["system", "other_system"]).rename(metric="system_label")

    def interaction(self, judge: Hashable, alpha: float) -> xr.Dataset:
        """Differences between systems in these changes, all pairs (Holm): they can change the order."""
        one = xr.Dataset({"score": self.changes(judge).expand_dims(metric=[str(judge)])})
        found: xr.Dataset = one.meta.compare_systems(alpha=alpha, adjust="holm")
        return found.squeeze("metric")

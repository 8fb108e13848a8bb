"""Questions and scores of simulations: levels and coefficients, halves and populations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.measure import checked_measure
from xsumstat.coefficients import table
from xsumstat.coefficients.record import Coefficient, Measure
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.resampling.jobs import Target
from xsumstat.simulation import given_scores
from xsumstat.simulation.empirical_model import EmpiricalModel
from xsumstat.simulation.model import Model

Scores = tuple[FloatArray, FloatArray]  # (metrics, systems, inputs) and gold
Design = tuple[int, int]  # systems, inputs
LIKE = "like the scores"  # attrs["model"] where new scores are drawn like those that are given


@dataclass(frozen=True)
class Questions:
    """Every level with every coefficient."""

    measures: list[list[Measure]]  # by level and coefficient
    missing: str
    undefined: str
    scalars: tuple[str, ...]

    @classmethod
    def of(cls, level: Any, coefficient: Any, missing: str, undefined: str) -> Questions:
        levels, names = validate.listed(level), validate.listed(coefficient)
        for each, values in (("level", levels), ("coefficient", names)):
            validate.different(each, values)
        measures = [[checked_measure(each, name, missing, undefined) for name in names] for each in levels]
        if values := [each.coefficient.name for each in measures[0] if each.coefficient.scale is not None]:
            raise ValueError(
                f"coefficient={values[0]!r} compares values on people's own scale, which simulated scores do not keep; "
                "use a correlation"
            )
        return cls(measures, missing, undefined, _single(level=level, coefficient=coefficient))

    @property
    def levels(self) -> list[str]:
        return [row[0].level for row in self.measures]

    @property
    def records(self) -> list[Coefficient]:
        return [each.coefficient for each in self.measures[0]]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.levels), len(self.records)

    def each(self) -> Iterator[tuple[tuple[int, int], Measure]]:
        for i, row in enumerate(self.measures):
            for j, each in enumerate(row):
                yield (i, j), each

    @property
    def attrs(self) -> dict[str, Any]:
        single: dict[str, Any] = {"level": self.levels[0], "coefficient": self.records[0].name}
        return {"missing": self.missing, "undefined": self.undefined, **{name: single[name] for name in self.scalars}}


def _sizes(name: str, value: Any, own: int, least: int) -> list[int]:
    """Sizes to try: those given, or that of the scores."""
    if value is None and own < least:
        raise ValueError(f"at least {least} {name[2:]} are needed, the scores have {own}")
    return validate.integers(name, own if value is None else value, least, validate.MOST_DRAWS)


def _single(**given: Any) -> tuple[str, ...]:
    """The names of values that are no lists, and make no dim of a result."""
    return tuple(name for name, value in given.items() if not validate.is_list(value))


@dataclass(frozen=True)
class Source:
    """Scores of all trials, or the model that draws them in each."""

    scores: FloatArray  # (metrics, systems, inputs)
    gold: FloatArray
    labels: list[Any]
    rows: list[int]  # the places of the metrics that are asked for, and of those that they are compared with
    columns: list[int] | None
    gold_name: str
    designs: list[Design]
    scalars: tuple[str, ...]  # what of the designs is no dim of the result
    model: Model | EmpiricalModel | None
    chosen: list[int]  # the metrics' places in the model

    @classmethod
    def of(
        cls,
        ds: xr.Dataset,
        gold: Any,
        metric: Any,
        questions: Questions,
        redrawn: bool,
        n_systems: Any,
        n_inputs: Any,
        other: Any = None,
    ) -> Source:
        """From a Dataset; `redrawn` scores come from its model, or are like its own, in each design."""
        first = questions.levels[0]
        found = given_scores.in_memory(
            ds, gold, metric, "every trial needs them", level=first, missing=questions.missing, other=other
        )
        labels = list(found.score.indexes["metric"])
        model: Model | EmpiricalModel | None = None
        chosen: list[int] = []
        if redrawn:
            unknown = [each.name for each in questions.records if each.name not in table.OF_POPULATIONS]
            if unknown:
                raise ValueError(
                    "scores drawn anew come from a model, which knows no correlation for "
                    f"coefficient={unknown[0]!r}; use one of {validate.listing(table.OF_POPULATIONS)}, or scores as "
                    "they are (truth='halves' of coverage; power with neither redraw nor other)"
                )
            model, chosen = given_scores.drawing_model(ds, found, labels)
        elif n_systems is not None or n_inputs is not None:
            raise ValueError("n_systems and n_inputs need scores drawn anew: truth='population', or redraw=True")
        sizes = [_sizes("n_systems", n_systems, found.shape[0], 4), _sizes("n_inputs", n_inputs, found.shape[1], 2)]
        designs = [(systems, inputs) for systems in sizes[0] for inputs in sizes[1]]
        columns = None if other is None else found.columns
        made = cls(
            *(found.score.values, found.gold.values, labels, found.rows, columns),
            *(found.gold_name, designs, _single(n_systems=n_systems, n_inputs=n_inputs), model, chosen),
        )
        if not made.targets:
            raise ValueError("a difference needs two metrics: metric and other name only one")
        return made

    @cached_property
    def targets(self) -> list[Target]:
        if self.columns is None:
            return [(at,) for at in self.rows]
        return [(a, b) for a in self.rows for b in self.columns if a != b]

    @property
    def like(self) -> EmpiricalModel | None:
        """The empirical model to draw from, if any."""
        return self.model if isinstance(self.model, EmpiricalModel) else None

    def check_likeness(self) -> None:
        """Warn where new scores differ from the given ones that they are drawn like."""
        if self.like is not None:
            given_scores.check_model(self.like, self.scores, self.gold, self.labels)

    @property
    def pairs(self) -> xr.DataArray:
        rows, columns = np.array(self.rows), np.array(self.columns)
        return xr.DataArray(rows[:, None] != columns, self.dims)

    @property
    def dims(self) -> dict[str, list[Any]]:
        found = {"metric": [self.labels[at] for at in self.rows]}
        return found if self.columns is None else {**found, "other_metric": [self.labels[at] for at in self.columns]}

    def laid_out(self, values: FloatArray) -> FloatArray:
        """Numbers of targets (..., targets) on `dims`, NaN on the diagonal."""
        if self.columns is None:
            return values
        out = np.full((*values.shape[:-1], len(self.rows), len(self.columns)), np.nan)
        out[..., self.pairs.values] = values
        return out

    @property
    def attrs(self) -> dict[str, Any]:
        numbers = {name: self.designs[0][name == "n_inputs"] for name in self.scalars}
        if self.model is None:
            return numbers
        return {**numbers, "model": json.dumps(asdict(self.model)) if isinstance(self.model, Model) else LIKE}

    def population(self, questions: Questions, design: Design) -> FloatArray:
        """True correlations, or differences, (levels, coefficients, targets)."""
        assert self.model is not None
        out = np.empty((*questions.shape, len(self.labels)))
        for at, level in enumerate(questions.levels):
            values, _ = self.model.population(level, questions.records, design[1], questions.missing)
            out[at] = values[:, self.chosen]
        first, *second = np.array(self.targets).T
        return out[..., first] - out[..., second[0]] if second else out[..., first]

    def drawn(self, design: Design, generator: np.random.Generator) -> Scores:
        assert self.model is not None
        scores, gold = self.model.draw(design, generator)
        return scores[self.chosen], gold

    def halves(self, generator: np.random.Generator) -> tuple[Scores, Scores]:
        """Half of the systems on half of the inputs, and the others on the others."""
        parts = []
        orders = [generator.permutation(size) for size in self.gold.shape]
        for part in range(2):
            cut = [order[part * (len(order) // 2) : (part + 1) * (len(order) // 2)] for order in orders]
            parts.append((self.scores[:, cut[0][:, None], cut[1]], self.gold[np.ix_(*cut)]))
        return parts[0], parts[1]

"""What the analyses of preferences share: their keywords, and results along raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import adjust as families
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import preferences as schema
from xsumstat.dataset import results
from xsumstat.inference import corrections


@dataclass(frozen=True)
class Asked:
    """Preferences, and what is asked of them."""

    choices: schema.Choices
    confidence_level: float
    adjust: str | None

    @classmethod
    def checked(cls, ds: xr.Dataset, confidence_level: float, adjust: str | None, cluster: str | None) -> Asked:
        """The same, checked."""
        level = validate.fraction("confidence_level", confidence_level)
        if adjust is not None:
            validate.choice("adjust", adjust, corrections.OF_PVALUES)
        return cls(schema.checked(ds, cluster), level, adjust)

    @property
    def alpha(self) -> float:
        """The significance level of tests that agree with the intervals."""
        return families.alpha_of(self.confidence_level)

    def result(
        self,
        numbers: Mapping[str, FloatArray],
        raters: Sequence[Any],
        analysis: str,
        dims: Mapping[str, Sequence[Any]] | None = None,
        **settings: Any,
    ) -> xr.Dataset:
        """A result along raters, and perhaps along further dims with these labels."""
        labels = {"rater": raters, **(dims or {})}
        coords = {dim: (dim, labels_of(each)) for dim, each in labels.items()}
        shape = tuple(len(each) for each in labels.values())
        ds = xr.Dataset(
            {name: (tuple(labels), np.asarray(values).reshape(shape)) for name, values in numbers.items()}, coords
        )
        return self.described(ds, analysis, **settings)

    def tested(self, result: xr.Dataset, variable: str, names: Sequence[str]) -> xr.Dataset:
        """A result along raters with corrected and decided p-values, its variables in the order of `names`."""
        warn_single(result, variable)
        return families.decided(families.adjusted(result, self.adjust, None), self.alpha, names)

    def described(self, ds: xr.Dataset, analysis: str, **settings: Any) -> xr.Dataset:
        """A result with what attrs say."""
        choices = self.choices
        kinds = {
            schema.PEOPLE: "human",
            **dict(zip(choices.raters, np.where(choices.human, "human", "judge").tolist(), strict=True)),
        }
        if "rater" in ds.dims:
            ds = ds.assign_coords(
                kind=(
                    "rater",
                    np.array([kinds.get(each, "both") for each in ds["rater"].values.tolist()], dtype=object),
                )
            )
        attrs: dict[str, Any] = {"method": "jackknife", "resample": ("prompt",)}
        attrs |= {"confidence_level": self.confidence_level, "alpha": self.alpha}
        attrs |= {"n_systems": len(choices.systems), "n_prompts": int(choices.values.shape[0])}
        attrs |= {"cluster": choices.cluster or None}
        return results.result(ds, None, analysis=analysis, **{**attrs, **settings})


def labels_of(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Labels as a coordinate."""
    return np.array(values, dtype=object) if any(isinstance(each, str) for each in values) else np.array(values)


def mean_verdicts(verdicts: FloatArray) -> FloatArray:
    """The mean over raters (prompts, pairs, raters), NaN without any."""
    some = ~np.isnan(verdicts)
    n = some.sum(axis=2)
    return np.where(n > 0, np.where(some, verdicts, 0.0).sum(axis=2) / np.maximum(n, 1), np.nan)


def warn_left_out(raters: Sequence[Any], noun: str, why: str) -> None:
    """Warn of raters without an answer: "2 judges" that "shared no pair with a human"."""
    if raters:
        validate.warn(
            f"{validate.counted(len(raters), noun)} {why}, left out: {validate.listing(raters)}", "labels_left_out"
        )


def warn_single(result: xr.Dataset, variable: str) -> None:
    """Warn of raters with an estimate and no interval."""
    lacking = result[variable].notnull() & result["ci_low"].isnull()
    if bool(lacking.any()):
        names = result["rater"].values[lacking.values.reshape(result.sizes["rater"], -1).any(axis=1)].tolist()
        validate.warn(
            f"no interval, which needs two prompts, and an estimate without each, for {validate.listing(names)}",
            "no_interval",
        )

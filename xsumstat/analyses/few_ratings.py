"""What analyses of few ratings and many scores of a metric share: their scores and warnings."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses import clustering
from xsumstat.analyses import groups as slices
from xsumstat.coefficients import arrays
from xsumstat.core import validate
from xsumstat.core.types import FloatArray
from xsumstat.dataset import (
    align,
    checks,
    chunking,
    directions,
    drawn,
    facts,
    golds,
    leakage,
    locate,
    metric_choice,
    wording,
)
from xsumstat.dataset.facts import Fact
from xsumstat.dataset.value_checks import Checks, by_metric, of_values
from xsumstat.inference.system_means import Strata

# Of more ratings than this share being one value, intervals may be too short.
ONE_VALUE = 0.6


@dataclass(frozen=True)
class FewRatings:
    """Scores (..., metric, system, input) as given, and ratings (..., system, input) of some of their inputs."""

    score: xr.DataArray
    gold: xr.DataArray
    gold_name: str
    signs: FloatArray
    gold_sign: int
    dropped: dict[str, list[Hashable]]
    later: Checks
    ties: None = None  # nothing is correlated
    single: None = None
    unpaired: None = None

    @property
    def gold_turned(self) -> bool:
        """Whether ratings are better when lower."""
        return self.gold_sign < 0

    @property
    def further(self) -> dict[str, int]:
        """The further dims and their sizes."""
        sizes = {str(dim): size for each in (self.score, self.gold) for dim, size in each.sizes.items()}
        return {dim: size for dim, size in sizes.items() if dim not in facts.CORE}

    @property
    def arrays(self) -> list[tuple[xr.DataArray, tuple[str, ...]]]:
        """Scores and ratings, each with its dims that are no further labels."""
        return [(self.score, facts.CORE), (self.gold, facts.CELLS)]

    @property
    def lazy(self) -> bool:
        """Whether any of them are."""
        return chunking.is_lazy(self.score) or chunking.is_lazy(self.gold)

    @property
    def metrics(self) -> list[Hashable]:
        """The metrics that help."""
        return list(self.score.indexes["metric"])


def prepared(ds: xr.Dataset, gold: Any, metric: Any) -> FewRatings:
    """Check scores and human scores of some inputs, and find the metrics that help."""
    score = locate.checked_scores(ds)
    human, name, own = golds.find_gold(ds, score, gold)
    if metric is None:
        there = metric_choice.judged(score, own)
        if len(there) != 1:
            raise ValueError(
                "metric is not given: name the metric whose scores help, or a list whose standardised mean does; "
                f"metrics: {validate.listing(there, 30)}"
            )
        metric = there
    chosen = metric_choice.choose(score, metric, "metric")
    score = score.isel(metric=chosen)
    if set(own) & set(score.indexes["metric"]):
        raise ValueError(f"metric {own[0]!r} is the gold itself, which cannot help itself; name another metric")
    signs = np.ones(len(chosen))
    if "higher_is_better" in score.coords:
        signs = np.where(directions.as_bool(score["higher_is_better"]).values, 1.0, -1.0)
    sign = -1 if "higher_is_better" in human.coords and not bool(human["higher_is_better"].all()) else 1
    score = score.transpose(..., *facts.CORE)
    human = align.beside(score, align.as_gold(human, score, "input"), ["input"])
    score, human, dropped = align.aligned(score, human)
    checks.check_sizes(score, None)
    later = Checks()
    later.make(checks.check_finite, of_values(facts.spread, human), "gold")
    later.make(checks.check_finite, by_metric(facts.spread_of_one, [score]), "score")
    clustering.warn_of_documents(
        score, ("input",), "compare_systems(method='paired_t', cluster={name!r}) keeps {unit}s together"
    )
    equal = by_metric(_equal, [score], human)
    leakage.warn_of_people(later, [equal], score, human, name, {}, [*own, *metric_choice.of_people(score)])
    return FewRatings(score, human, name, signs, sign, dropped, later)


def _equal(scores: list[xr.DataArray], gold: xr.DataArray) -> Fact:
    return facts.equal_to(scores[0], gold)


def combined(x: FloatArray, signs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The standardised mean of some metrics (metrics, systems, inputs), and the factor of each."""
    if len(x) == 1:
        return x[0], np.ones(1)
    there = ~np.isnan(x).any(axis=0)
    n = there.sum(axis=-1)
    means = np.divide(np.where(there, x, 0.0).sum(axis=-1), n, out=np.zeros(x.shape[:2]), where=n > 0)
    rest = np.where(there, x - means[..., None], 0.0)
    df = np.maximum(n - 1, 0).sum()
    spread = np.sqrt((rest**2).sum(axis=(1, 2)) / df) if df else np.zeros(len(x))
    size = np.abs(np.where(there, x, 0.0)).max(axis=(1, 2), initial=0.0)
    varies = spread > 1e-12 * size
    factors = np.divide(signs, len(x) * spread, out=np.zeros(len(x)), where=varies)
    return np.where(there, np.tensordot(factors, np.where(there, x, 0.0), axes=1), np.nan), factors


def completed(f: FloatArray, z: FloatArray, strata: Strata) -> FloatArray:
    """Scores (..., systems, inputs) in which rated outputs without a score get the system's mean score in their group.

    Any function of an output may help its rating. Without these ratings a metric that refuses the worst outputs would
    raise the mean.
    """
    there = ~np.isnan(f)
    overall = Strata.none(f.shape[-1]).means(f, there)
    means = strata.means(f, there)
    means = np.nan_to_num(np.where(np.isnan(means), overall, means))[..., strata.codes]
    return np.where(~there & ~np.isnan(z), means, f)


def in_range(x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, int, int]:
    """Scores and ratings brought to where squares of them are in range, and the powers of 2 that were taken out."""
    arrays.check_finite(x, z)  # of lazy ones, which may be computed before the checks of their Dataset are
    return arrays.scaled(x), arrays.scaled(z), arrays.exponent(x), arrays.exponent(z)


def one_value(z: FloatArray) -> FloatArray:
    """The share of each row's values, (systems, inputs), that its most frequent value has; 0 without values."""
    found = np.zeros(len(z))
    for at, row in enumerate(z):
        there = row[~np.isnan(row)]
        if len(there):
            found[at] = np.unique(there, return_counts=True)[1].max() / len(there)
    return found


# --- Inputs that were drawn ---


@dataclass(frozen=True)
class Groups:
    """The groups of inputs that ratings were drawn within.

    Attributes
    ----------
    strata : Strata
    names : list of str
        What the groups are called.
    argument : str
        Where they come from, for messages; empty for one group.
    """

    strata: Strata
    names: list[str]
    argument: str = ""

    def attrs(self, ds: xr.Dataset) -> dict[str, Any]:
        """What attrs of results say of a draw."""
        there = drawn.PROBABILITY in ds.coords
        own = {"strata": drawn.STRATUM} if self.argument == drawn.STRATUM else {}
        return {drawn.HOW: ds.attrs.get(drawn.HOW), **own} if there else own


def drawn_from(ds: xr.Dataset, scores: FewRatings, strata: str | None = None) -> tuple[FewRatings, Groups]:
    """The ratings of the inputs that were drawn, and the groups of inputs that they are a random sample within.

    The groups are those of the coordinate `strata`, else the strata of the Dataset's draw, else one.
    """
    draw = drawn.find(ds)
    own_spread = draw is not None and not draw.is_equal
    if strata is not None:
        codes, names = slices.of_every_label(ds, "strata", strata, "input")
        groups = Groups(Strata(codes, len(names), own_spread), names, f"strata={strata!r}")
    elif draw is not None and len(draw.names) > 1:
        codes = np.array([draw.names.index(each) for each in draw.strata], dtype=np.int64)
        groups = Groups(Strata(codes, len(draw.names), own_spread), draw.names, drawn.STRATUM)
    else:
        groups = Groups(Strata.none(scores.score.sizes["input"]), [])
    if draw is None:
        return scores, groups
    _check_equal_within(draw, groups)
    gold, lost = drawn.of_inputs(scores.gold, draw.drawn)
    scores.later.make(drawn.warn_not_drawn, lost)
    return replace(scores, gold=gold), groups


def _check_equal_within(draw: drawn.Draw, groups: Groups) -> None:
    """Inputs of a group were drawn with one probability; the rounding of a proportional allocation is let through."""
    for at, name in enumerate(groups.names):
        each = draw.probability[groups.strata.codes == at]
        if not drawn.about_equal(each):
            raise ValueError(
                f"{groups.argument}: inputs of {name!r} were drawn with probabilities from {each.min():.3g} to "
                f"{each.max():.3g} ({drawn.PROBABILITY}), so the rated ones are no random sample of it; leave out "
                f"strata=, which uses the coordinate {drawn.STRATUM!r}"
            )


def warn_of_groups(rated_in: xr.DataArray, rated: xr.DataArray, argument: str, what: str) -> None:
    """Name the groups, of an argument, with too few ratings of a rated system or pair; `rated_in` has dim "_group"."""
    way_out = "rate two or more inputs of each group, or give groups that are alike one name"
    for few, said in (
        (0, f"no rating in a group, so no {what}"),
        (1, "1 rating in a group, so no spread in it"),
    ):
        found = ((rated_in == few) & rated).transpose("_group", ...)
        checks.warn_where(found, f"{argument}: {said} ({way_out}), for group/system", "few_ratings")


# --- What is said ---


def warn_one_value(share: xr.DataArray, n: xr.DataArray) -> None:
    """Warn of systems whose ratings are mostly one value."""
    checks.warn_where(
        (share > ONE_VALUE) & (n >= 5),
        "more than 60 % of the ratings are equal: intervals may be too narrow, for",
        "one_value",
    )


def check_any(n_rated: xr.DataArray, without_score: xr.DataArray) -> None:
    """Refuse scores without any rated output that has a score, and say how many ratings have none beside them."""
    lost = int(without_score.sum())
    if not int(n_rated.sum()) > lost:
        raise ValueError("no output has both a gold score and a metric score; NaN is a missing score")
    if lost:
        validate.warn(
            f"the metric did not score {validate.counted(lost, 'rated output')}; their ratings count, beside the "
            "system's mean score",
            "no_score",
        )


def warn_not_random(pvalue: xr.DataArray) -> None:
    """Warn of rated inputs whose scores by the metric differ from the others'."""
    checks.warn_where(
        wording.rated_differ(pvalue),
        "the metric scores rated inputs differently from the others (p < .01, Bonferroni over systems): they may not "
        "be a random sample, for",
        "not_random",
    )

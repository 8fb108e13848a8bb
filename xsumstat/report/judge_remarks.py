"""What a judge report adds to the conclusions of its analyses: benchmarks, limits, and what a reader may overlook."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from xsumstat.analyses.adjust import decisive
from xsumstat.catalogue.raters import WINNING
from xsumstat.coefficients.table import get
from xsumstat.core.types import TOLERANCE, IntArray
from xsumstat.dataset import calibrated, wording
from xsumstat.dataset.wording import alpha_of
from xsumstat.narrative import findings_bias, turned
from xsumstat.report.judge_questions import BY_SYSTEM, CROWD_TEST, DIFFERENCES, EXPERTS, Ask
from xsumstat.report.judge_subject import People, Subject, graded_scores

_NO_RATER = "Each output has one human score, so there is no single rater to compare the judge with."
# What may explain a bias, besides noise.
ENDED = "the end of a scale"
# A judge that saves less than this share of the ratings adds little.
_LITTLE = 0.05


def after(ask: Ask, result: xr.Dataset, shown: Mapping[str, xr.Dataset], about: Subject, gold: Any) -> list[str]:
    """The sentences that follow those of the result, by the human scores `gold`; `shown` has the results so far."""
    people = about.people
    if ask.name == "human_ceiling":
        ties = [*_threshold(result), *_finer(result, about)]
        return [*_how_much_lower(result), *ties, *_reversed(falling(about, shown))]
    if ask.picture == "forest":
        return [
            *_threshold(result),
            *_finer(result, about),
            f"{people.few_of_two}, so the judge cannot be compared with a single rater."
            if people.n_raters > 1
            else _NO_RATER,
            *_reversed(falling(about, shown)),
        ]
    if ask.called == CROWD_TEST:
        return _other_margin(result)
    if ask.name == "alt_test":
        return [*_within_margin(result, shown), *_meaning(result)]
    if ask.called == BY_SYSTEM:
        return _favoured(result, people)
    if ask.name == "ci" and result.attrs.get("gold") == wording.MAJORITY:
        return _without_majority(people, gold)
    if ask.name == "system_means":
        return _saved(result)
    if ask.name == "plan" and "difference" in result.coords:
        return _differences(result, people)
    if ask.name == "confusion":
        return [*(_raters_alike(people) if "along" in result.attrs else []), *_mapped(result)]
    return []


def _how_much_lower(ceiling: xr.Dataset) -> list[str]:
    """What "no significant difference" leaves open, and with whom each is compared."""
    said = []
    if ceiling["difference"].dims == ("metric",):
        low, high = ceiling["difference_low"].values, ceiling["difference_high"].values
        open_ = np.flatnonzero((low < 0) & (high >= 0))
        each = [
            f"{wording.name(ceiling['metric'].values[at])} may agree up to {wording.number(-low[at])} less"
            for at in open_
        ]
        if each:
            said.append(f"This does not show that they agree equally well: {wording.listed(each)}.")
    if wording.scale_of(ceiling.attrs) in ("classes", "two"):
        return said
    return [
        *said,
        "Each judge and each rater is compared with the mean of the other raters on that rater's outputs. ci gives "
        "another number, because it uses the mean of all raters.",
    ]


def _meaning(test: xr.Dataset) -> list[str]:
    """The numbers of the alternative annotator test in words."""
    margin = wording.setting(float(test.attrs["margin"]))
    return [
        "For each output, the test asks who is nearer to the other raters, the judge or a rater. The advantage "
        "probability is the share of outputs on which the judge is nearer, or as near. The rater has such a share, "
        "too; outputs on which both are as near count in both shares. The judge wins against a rater if its share is "
        f"significantly higher than the rater's less the margin of {margin}, which allows for the judge's lower "
        "cost. It may replace a rater if it wins against at least half of the raters (winning rate)."
    ]


def _other_margin(test: xr.Dataset) -> list[str]:
    """The verdicts with the margin for crowd workers."""
    rates = test["winning_rate"]
    if rates.dims != ("metric",):
        return []
    raters = test["pvalue"].notnull().sum("rater").values
    each = [
        f"{wording.name(label)} {'may' if rate >= WINNING else 'may not'} (wins against {round(rate * n)} of {n})"
        for label, rate, n in zip(rates["metric"].values.tolist(), rates.values, raters, strict=True)
        if not math.isnan(rate)
    ]
    margin = wording.setting(float(test.attrs["margin"]))
    experts = f"The margin {wording.setting(EXPERTS)} is usual if the raters are experts."
    return [f"{experts} With {margin}, usual for crowd workers: {wording.listed(each)}."] if each else []


def _saved(means: xr.Dataset) -> list[str]:
    """How many ratings the judge saves, where it helps."""
    n, equal = (np.atleast_1d(means[name].values).astype(float) for name in ("n_rated", "n_effective"))
    usable = (n > 0) & np.isfinite(equal) & (equal > 0)
    if means.attrs["target"] == "these" or "helped_by" not in means.attrs or not usable.any():
        return []
    if bool((n == np.atleast_1d(means["n_inputs"].values))[usable].all()):
        return []
    saved = 1 - 1 / float(np.median((equal / n)[usable]))
    who = wording.shortened(means.attrs["helped_by"])
    if saved < _LITTLE:
        return [f"So {who} adds little to these means: it saves {100 * max(saved, 0):.0f} % of the ratings."]
    alone = "; for differences between systems it may save less" if means.sizes.get("system", 1) > 1 else ""
    return [f"So {who} saves {100 * saved:.0f} % of the ratings for a system's mean{alone}."]


def _differences(plan: xr.Dataset, people: People) -> list[str]:
    """Where the differences of a plan come from."""
    sd = float(people.values.std(ddof=1))
    found = [wording.setting(float(each)) for each in np.atleast_1d(plan["difference"].values)]
    shares = [wording.setting(share) for share in DIFFERENCES]
    return [
        f"The planned differences between two systems, {wording.listed(found)}, are {wording.listed(shares)} times the "
        f"standard deviation of the human scores ({wording.number(sd)}): a small and a medium difference."
    ]


def leaning(tests: xr.Dataset, label: Hashable, people: People) -> Leaning | None:
    """The systems that a judge scores too high and too low; None if nothing could be tested."""
    found: dict[str, list[str]] = {"high": [], "low": [], "noise": [], "ended": [], "untested": []}
    slopes: dict[str, float] = {}
    at, tested = tests["metric"].values.tolist().index(label), False
    systems = [str(each) for each in people.values.indexes["system"]]
    for covariate in tests["covariate"].values.tolist():
        one = tests.sel(covariate=covariate)
        p, slope = float(decisive(one)[at]), float(one["slope"][at])
        untestable = math.isnan(p) or (p > alpha_of(one) and findings_bias.unbounded(one)[at])
        tested |= not untestable
        if untestable:
            found["untested"].append(wording.shortened(str(covariate).removeprefix("system=")))
        if p <= alpha_of(one):
            own = str(covariate).removeprefix("system=")
            if len(systems) == 2 and slope < 0:  # the second is compared with the first: a test of both
                own, slope = next(each for each in systems if each != own), -slope
            ended = bool(findings_bias.at_ceiling(one)[at])
            noisy = not math.isnan(findings_bias.explained_below(one)[at])
            found["ended" if ended else "noise" if noisy else "high" if slope > 0 else "low"].append(
                wording.shortened(own)
            )
            slopes[wording.shortened(own)] = abs(slope)
    for side in ("high", "low"):
        found[side].sort(key=lambda name: -slopes[name])
    low_first = bool(found["high"] and found["low"]) and slopes[found["low"][0]] > slopes[found["high"][0]]
    if not tested:
        return None
    sides = ("favourably", "harshly") if turned.sentence(tests.sel(metric=[label])) else ("high", "low")
    return Leaning(**found, low_first=low_first, beside="the other system" + "s" * (len(systems) > 2), sides=sides)


@dataclass(frozen=True)
class Leaning:
    """Systems that a judge scores too high, too low, or one of these if it is not the noise of human scores.

    What a judge gives to one system, it takes from the others by comparison: the side with the largest slope is first.
    """

    high: list[str]
    low: list[str]
    noise: list[str]
    ended: list[str]  # perhaps the end of a scale
    untested: list[str]
    low_first: bool
    beside: str
    sides: tuple[str, str]  # what follows "too": of scores that are better when lower, high is no side

    def told(self) -> str:
        """What follows the judge's name; empty if nothing is significant."""
        high, low = self.sides
        sides = [(self.high, high), (self.low, low)]
        parts = [(names, side) for names, side in (sides[::-1] if self.low_first else sides) if names]
        said = []
        if parts:
            first, side = parts[0]
            said.append(f"scores {wording.listed(first)} too {side}, compared with {self.beside} at equal human scores")
        if len(parts) > 1:
            second, side = parts[1]
            said[0] += f" ({wording.listed(second)} too {side}, which may be the same by comparison)"
        for doubtful, why in ((self.noise, "noise in the human scores"), (self.ended, ENDED)):
            if doubtful:
                names = wording.listed(doubtful)
                said.append(f"seems to score {names} too {high} or too {low}, which {why} may explain")
        return "; it ".join(said)

    @property
    def not_tested(self) -> str:
        """The systems that could not be tested, in words; empty if all were."""
        return f"no bias can be tested for {wording.listed(self.untested)}" if self.untested else ""


def _favoured(tests: xr.Dataset, people: People) -> list[str]:
    """Which systems each judge scores too high or too low."""
    said: list[str] = []
    none: dict[tuple[str, str], list[str]] = {}
    untested: list[str] = []
    for label in tests["metric"].values.tolist():
        found = leaning(tests, label, people)
        untested += [found.not_tested] if found is not None and found.not_tested else []
        if found is not None and found.told():
            said.append(f"{wording.name(label)} {found.told()}.")
        elif found is not None:
            none.setdefault(found.sides, []).append(wording.name(label))
    for (high, low), names in none.items():
        said.append(
            f"{wording.listed(names)} {'scores' if len(names) == 1 else 'score'} no system significantly too {high} or "
            f"too {low}. This does not show equal treatment."
        )
    return [*said, *(f"{wording.capitalised(each)}." for each in dict.fromkeys(untested))]


def _raters_alike(people: People) -> list[str]:
    """How often two raters give one output the same grade."""
    alike, pairs = (int(each.sum()) for each in equal_pairs(people))
    if not pairs:
        return []
    return [
        f"Two raters give the same grade in {alike:,} of {pairs:,} pairs of ratings of an output "
        f"({100 * alike / pairs:.0f} %)."
    ]


def _mapped(counts: xr.Dataset) -> list[str]:
    """What grades of calibrated judges cannot show."""
    found = calibrated.labels(counts)
    if not found:
        return []
    one = len(found) == 1
    return [
        f"The grades of {wording.listed(map(wording.name, found))} were fitted to those of raters: they cannot show "
        f"whether {'it grades' if one else 'these judges grade'} higher or lower than raters."
    ]


def equal_pairs(people: People) -> tuple[IntArray, IntArray]:
    """Of each input, the pairs of ratings of one output that are equal, and all such pairs."""
    ratings = people.each if people.n_raters else people.each.expand_dims("rater")
    values = ratings.transpose("input", ..., "rater").values
    values = values.reshape(len(values), -1, values.shape[-1])
    rising, n = np.sort(values, axis=-1), (~np.isnan(values)).sum(axis=-1)
    alike, run = np.zeros(n.shape, dtype=int), np.zeros(n.shape, dtype=int)
    for at in range(1, values.shape[-1]):
        run = np.where(rising[..., at - 1] == rising[..., at], run + 1, 0)
        alike += run  # a value equals each of the run before it
    return alike.sum(axis=1), (n * (n - 1) // 2).sum(axis=1)


def equal_to_raters(about: Subject, judges: list[Hashable]) -> dict[Hashable, tuple[IntArray, IntArray]]:
    """Of each judge and input, the ratings that equal the judge's grade, and all ratings beside a grade."""
    score, each = xr.broadcast(graded_scores(about), about.people.each)
    dims = ("metric", "input", ...)
    x, z = (values.transpose(*dims).sel(metric=judges).values for values in (score, each))
    there, equal = ~np.isnan(x) & ~np.isnan(z), np.abs(x - z) <= TOLERANCE
    beside = tuple(range(2, there.ndim))
    return dict(zip(judges, zip(equal.sum(axis=beside), there.sum(axis=beside), strict=True), strict=True))


def _without_majority(people: People, majority: xr.DataArray) -> list[str]:
    """How many outputs the majority leaves out: those on which raters disagree, usually the hardest."""
    rated = int(people.each.notnull().any("rater").sum())
    tied = rated - int(majority.notnull().sum())
    if not tied:
        return []
    return [
        f"This leaves out {tied:,} of {rated:,} outputs, on which the raters disagree without a majority. Such outputs "
        "are usually the hardest, so the agreement on all outputs is probably lower."
    ]


def falling(about: Subject, shown: Mapping[str, xr.Dataset]) -> list[Hashable]:
    """Judges that fall where human scores rise, by their agreement; accuracies do not show it, correlations do."""
    found = shown.get("human_ceiling", shown.get("ci"))
    if found is None or get(found.attrs["coefficient"]).of_constants:
        found = about.within_systems
    if found is None or found["ci_high"].dims != ("metric",):
        return []
    falls = found["metric"].values[found["ci_high"].values < 0].tolist()
    return [label for label in about.judges if label in falls]


def _threshold(result: xr.Dataset) -> list[str]:
    """Which scores are ties, where accuracy counts ties."""
    if result.attrs["coefficient"] not in ("acc_eq", "tau_eq"):
        return []
    return [
        "Scores that differ by at most a threshold count as ties. Each judge has the threshold that gives it the "
        "highest accuracy on these data."
    ]


def _finer(result: xr.Dataset, about: Subject) -> list[str]:
    """Why Pearson's r, where judges have a finer scale than raters."""
    if result.attrs["coefficient"] != "pearson" or result.attrs["level"] != "input" or not about.finer:
        return []
    shares = dict(zip(about.judges, about.tied_pairs[0].tolist(), strict=True))
    each = [
        f"{wording.name(label)} gives two systems the same score in {100 * shares[label]:.0f} % of the pairs"
        for label in about.finer
    ]
    of_people = about.usual_ties == about.tied_pairs[1]
    who = "a rater" if about.people.n_raters > 1 else "the human scores" if of_people else "judges with grades"
    return [
        f"{wording.joined(each)}, {who} in {100 * about.usual_ties:.0f} %. For that alone Kendall's τ-b would be "
        "lower; Pearson's r hardly depends on it."
    ]


def _reversed(falls: list[Hashable]) -> list[str]:
    """What to do about judges that fall where human scores rise, as if lower were better."""
    if not falls:
        return []
    one = len(falls) == 1
    names = wording.listed(map(wording.name, falls))
    return [
        f"{names} {'correlates' if one else 'correlate'} negatively with the human scores. If lower is better, "
        f"declare it: lower_is_better={falls!r} in to_scores, --lower-is-better on the command line. If low human "
        "scores are good, as for errors, declare these instead."
    ]


def _within_margin(test: xr.Dataset, shown: Mapping[str, xr.Dataset]) -> list[str]:
    """Why judges that agree less than a rater may replace one."""
    high = shown["human_ceiling"]["difference_high"] if "human_ceiling" in shown else None
    rates = test["winning_rate"]
    if high is None or rates.dims != ("metric",) or high.dims != ("metric",):
        return []
    found = [
        label for label in rates["metric"].values if rates.sel(metric=label) >= WINNING and high.sel(metric=label) < 0
    ]
    if not found:
        return []
    names = wording.listed(map(wording.name, found))
    return [
        f"{names} may do so although {'it agrees' if len(found) == 1 else 'they agree'} less with the raters than a "
        f"rater does: the test allows a margin of {wording.setting(float(test.attrs['margin']))}, as it costs less. "
        "alt_test(margin=0) allows none."
    ]

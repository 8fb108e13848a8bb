"""Preferences for tests, and plain-Python twins of what is asked of them; imports nothing of the package's insides."""

import itertools
import math

import numpy as np
import pandas as pd

import xsumstat

SYSTEMS = ("alpha", "beta", "gamma")


def rows(
    seed=0, n_prompts=20, systems=SYSTEMS, people=("ann", "ben"), judges=("gpt",), *, pull=0.0, both=True, gaps=0.0
):
    """A frame of choices: quality of outputs, noise of each rater, shared within a prompt, and a pull to the first."""
    rng = np.random.default_rng(seed)
    found = []
    better = np.linspace(0.6, -0.6, len(systems))
    for prompt in range(n_prompts):
        quality = better + rng.normal(size=len(systems))
        for rater in (*people, *judges):
            seen = quality + 0.7 * rng.normal(size=len(systems))
            for one, two in itertools.combinations(range(len(systems)), 2):
                for order in (0, 1)[: 2 if both and rater in judges else 1]:
                    if rng.random() < gaps:
                        continue
                    gap = seen[one] - seen[two] + 0.3 * rng.normal() + (pull if order == 0 else -pull)
                    left, right = (one, two) if order == 0 else (two, one)
                    word = "tie" if abs(gap) < 0.3 else systems[one if gap > 0 else two]
                    found.append((f"p{prompt}", systems[left], systems[right], word, rater))
    return pd.DataFrame(found, columns=["prompt", "left", "right", "choice", "rater"])


def preferences(seed=0, **how):
    """The same as a Dataset, with the lengths of outputs and a family of each system."""
    people = how.get("people", ("ann", "ben"))
    ds = xsumstat.to_preferences(rows(seed, **how), rater="rater", kind={"human": list(people)})
    rng = np.random.default_rng(seed + 1)
    systems = sorted(set(ds["left"].values) | set(ds["right"].values))
    length = rng.integers(10, 99, (ds.sizes["prompt"], len(systems))).astype(float)
    ds = ds.assign_coords(system=systems, topic=("prompt", [f"t{at // 2}" for at in range(ds.sizes["prompt"])]))
    ds = ds.assign(length=(("prompt", "system"), length))
    return ds.assign_coords(family=("system", ["own" if at == 0 else "other" for at in range(len(systems))]))


def choices(ds):
    """Each choice that there is, as a dict."""
    found = []
    for at in np.ndindex(ds["preference"].shape):
        value = float(ds["preference"].values[at])
        if not math.isnan(value):
            labels = {dim: ds[dim].values[place] for dim, place in zip(ds["preference"].dims, at, strict=True)}
            found.append({**labels, "value": value})
    return found


def verdicts(ds):
    """One choice for both orders, by (prompt, pair, rater)."""
    every = {}
    for each in choices(ds):
        every.setdefault((each["prompt"], each["pair"], each["rater"]), []).append(each["value"])
    return {key: values[0] if len(set(values)) == 1 else 0.0 for key, values in every.items()}


def moves(ds, rater):
    """By prompt: +1 for each pair that moves to the first, -1 to the second, 0 for one that stays."""
    seen = {}
    for each in choices(ds):
        if each["rater"] == rater:
            seen.setdefault((each["prompt"], each["pair"]), {})[each["order"]] = each["value"]
    found = {}
    for (prompt, _), both in seen.items():
        if len(both) == 2:
            gap = both["left first"] - both["right first"]
            found.setdefault(prompt, []).append((gap > 0) - (gap < 0))
    return found


def sign_pvalue(sums):
    """The share of all sign changes of the sums whose total is as far from 0."""
    observed = abs(sum(sums))
    totals = [abs(sum(sign * each for sign, each in zip(signs, sums, strict=True)))
              for signs in itertools.product((1, -1), repeat=len(sums))]  # fmt: skip
    return sum(total >= observed for total in totals) / len(totals)


def deleted(statistic, keys):
    """The jackknife's standard error of a statistic of a set of keys, by leaving out each."""
    keys = list(keys)
    without = [statistic([other for other in keys if other != key]) for key in keys]
    mean = sum(without) / len(without)
    return math.sqrt((len(keys) - 1) / len(keys) * sum((each - mean) ** 2 for each in without))

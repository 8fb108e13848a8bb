"""The answer that an expression of a list of spoilings gives, in full, to be compared before and after a change."""

import importlib
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import xsumstat

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from preference_cases import preferences  # noqa: E402
from versions_of_a_judge import versions  # noqa: E402


def of(module):
    """A module of the package: of("inference.alpha")."""
    return importlib.import_module(f"xsumstat.{module}")


def scores(seed=0, metrics=4, systems=8, inputs=6, *, ties=False, gaps=0.0):
    """Random scores with the gold "human" last, named m0 m1 ... s0 s1 ... i0 i1 ...."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(metrics, systems, inputs)) + rng.normal(size=(1, systems, 1))
    values = np.round(values) if ties else values
    values[rng.random(values.shape) < gaps] = np.nan
    labels = {
        "metric": [*(f"m{at}" for at in range(metrics - 1)), "human"],
        "system": [f"s{at}" for at in range(systems)],
        "input": [f"i{at}" for at in range(inputs)],
    }
    return xr.Dataset({"score": (("metric", "system", "input"), values)}, labels)


def drifted(**settings):
    """What changed between two versions of a judge, of which the new one favours a system."""
    new, old = versions(noise=1.0, shift=(0.7,), prompts=30)
    return new.meta.drift(old, **settings)


def passed(data):
    """The same scores as 0 and 1."""
    return data.assign(score=(data.score > 0).where(data.score.notnull()) * 1.0)


def graded(data):
    """The same scores as whole grades from 1 to 5."""
    return data.assign(score=data.score.round().clip(-2, 2) + 3)


def ratings(data, raters=3, *, gaps=0.0, seed=1):
    """Ratings of the gold's outputs by several raters, who differ in strictness."""
    rng = np.random.default_rng(seed)
    gold = data.score.sel(metric="human", drop=True)
    shape = (raters, *gold.shape)
    noise = 0.7 * rng.normal(size=shape) + 0.3 * np.arange(raters)[:, None, None]
    noise[rng.random(shape) < gaps] = np.nan
    return (gold + xr.DataArray(noise, {"rater": list("abcdefg"[:raters])}, ("rater", *gold.dims))).rename("rating")


def report(data, **settings):
    """All that the page about judges says: text, data, code."""
    page = of("report.judge_report").make_report(data, "x", **settings)
    return [page.text(), page.data, page.code, page.notes]


def gate(text, data, **settings):
    """A requirement's verdict."""
    module = of("cli.gate")
    return module.check(data, module.requirement(text), **settings)


def result(analysis, data, coords, **attrs):
    """A result of given numbers, for what is said of it."""
    attrs = {"analysis": analysis, "gold": "human", "coefficient": "pearson", "level": "system", **attrs}
    return xr.Dataset(data, coords, attrs)


def warned(call):
    """What a call warns of, instead of what it gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught]


def refused(call):
    """How a call is refused."""
    try:
        return call()
    except (ValueError, TypeError) as error:
        return str(error)


def artists(ax):
    """What a picture shows: texts, lines, colours, places."""
    ax.figure.canvas.draw()
    found = []
    for each in ax.figure.findobj():
        found.append(type(each).__name__)
        for what in (
            "get_text",
            "get_xydata",
            "get_facecolor",
            "get_offsets",
            "get_array",
            "get_clim",
            "get_extent",
            "get_segments",
        ):
            if hasattr(each, what):
                try:
                    found.append((what, getattr(each, what)()))
                except (TypeError, ValueError, RuntimeError, NotImplementedError):
                    pass
    return found


def in_full(answer):
    """All of an answer as text."""
    if isinstance(answer, xr.Dataset | xr.DataArray):
        return str(answer.compute().to_dict())
    if isinstance(answer, pd.DataFrame | pd.Series):
        return answer.to_csv()
    if isinstance(answer, np.ndarray):
        return str(answer.tolist())
    if isinstance(answer, dict):
        return str({key: in_full(value) for key, value in answer.items()})
    if isinstance(answer, list | tuple):
        return str([in_full(each) for each in answer])
    return str(answer)


_HELPERS = (
    *(of, scores, passed, graded, ratings, preferences, versions, drifted),
    *(report, gate, result, warned, refused, artists),
)


def main(expression):
    """Print what it gives."""
    if ROOT not in Path(xsumstat.__file__).parents:
        print(f"xsumstat is that of {xsumstat.__file__}")
        sys.exit(2)
    warnings.simplefilter("ignore")
    names = {
        **{
            "np": np,
            "pd": pd,
            "xr": xr,
            "xsumstat": xsumstat,
            "Path": Path,
            "nan": np.nan,
            "FEW": {"n_resamples": 99, "rng": 0},
        },
        **{each.__name__: each for each in _HELPERS},
        "demo": xsumstat.load_dataset("demo"),
    }
    print(in_full(eval(expression, names)))


if __name__ == "__main__":
    main(sys.argv[1])

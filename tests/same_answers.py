"""Does a change leave every answer alone? Asks all questions of `cases`, of scores in memory and of lazy ones.

    python tests/same_answers.py save FILE       with the code as it was
    python tests/same_answers.py compare FILE    with the code as it is: what differs in each answer, then a count

An answer is the numbers to the last bit, names, order of dims, attrs, categories and texts of warnings, what the result
says (conclusion, methods, tables), or how the question was refused. Save on the machine that compares.
"""

import argparse
import pickle
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import xarray as xr
from cases import ALL, OF_DEMO, rounded

import xsumstat

FRESH = np.random.default_rng
WORDS = {
    "conclusion": lambda result: result.meta.conclusion(),
    "methods": lambda result: result.meta.methods(),
    "table": lambda result: result.meta.to_markdown(),
    "frame": lambda result: result.meta.to_frame().to_csv(),
}


def asked(ask):
    """What a call gives, or how it is refused, and of what it warns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = ask()
            found = found.compute() if hasattr(found, "compute") else found
        except Exception as error:
            found = (type(error).__name__, getattr(error, "code", None), str(error))
    said = sorted(
        (each.category.__name__, str(getattr(each.message, "code", "")), str(each.message)) for each in caught
    )
    return found, said


def answer(ask):
    """All that a question is answered with, by kind."""
    found, said = asked(ask)
    parts = {"warnings": said}
    if isinstance(found, tuple):
        return parts | {"refusal": found}
    if isinstance(found, xr.DataArray):
        found = found.to_dataset(name="array")
    if not isinstance(found, xr.Dataset):
        return parts | {"text": str(found)}
    parts |= {name: asked(lambda say=say: say(found)) for name, say in WORDS.items()}
    layout = {name: (values.dims, str(values.dtype), dict(values.attrs)) for name, values in found.variables.items()}
    return parts | {"numbers": found, "layout": layout, "attrs": dict(found.attrs)}


def answers():
    """Every answer, by question and scores."""
    found, demo = {}, xsumstat.load_dataset("demo")
    np.random.default_rng = lambda rng=None: FRESH(0 if rng is None else rng)  # for what is asked without a seed
    for name, ask in ALL.items():
        found[name, "eager"] = answer(lambda ask=ask: ask(rounded(3)))
        found[name, "lazy"] = answer(lambda ask=ask: ask(rounded(3).chunk()))
    for name, ask in OF_DEMO.items():
        found[name, "demo"] = answer(lambda ask=ask: ask(demo.copy(deep=True)))
    return found


def differing(one, other):
    """The kinds in which two answers differ."""
    kinds = {*one, *other}
    return sorted(
        kind
        for kind in kinds
        if (kind not in one or kind not in other)
        or (not one[kind].identical(other[kind]) if kind == "numbers" else one[kind] != other[kind])
    )


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("command", choices=["save", "compare"])
    reader.add_argument("file", type=Path)
    given = reader.parse_args()
    found = answers()
    if given.command == "save":
        given.file.write_bytes(pickle.dumps(found))
        print(len(found), "answers saved")
        return 0
    before = pickle.loads(given.file.read_bytes())
    differ = {name: differing(each, found.get(name, {})) for name, each in before.items()}
    differ = {name: kinds for name, kinds in differ.items() if kinds}
    for name, kinds in differ.items():
        print("differs:", *name, "in", ", ".join(kinds))
        for kind in kinds:
            if kind not in ("numbers", "layout"):
                print("   before:", before[name].get(kind), "\n   now:   ", found.get(name, {}).get(kind))
    print(f"{len(before) - len(differ)} of {len(before)} identical")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

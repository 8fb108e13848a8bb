"""What scripts that store rows have in common: their options, the JSON of their name, their section of the page."""

import argparse
import json
import math
import multiprocessing
import os
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from calibration import into_page

HERE = Path(__file__).parent


def run(
    script: str,
    about: str | None,
    rows: Callable[[Namespace], Iterable[dict]],
    page: Callable[[list[dict]], str] | None = None,
    **options: dict[str, Any],
) -> None:
    """Measure rows and keep them after each; then (with --page only) write the section that `page` makes of them."""
    # `script` is the `__file__`, `about` the `__doc__` of who asks; `options` are keywords of `add_argument`, by name.
    path = Path(script).resolve()
    stored = path.with_suffix(".json")
    parser = argparse.ArgumentParser(
        prog=f"python benchmarks/{path.name}", description=(about or "").partition("\n")[0]
    )
    for name, how in options.items():
        parser.add_argument(f"--{name}", **how)
    parser.add_argument("--output", type=Path, default=stored, help="the JSON to write")
    if page is not None:
        parser.add_argument("--page", action="store_true", help="write the page only")
    asked = parser.parse_args()
    os.environ.setdefault("XSUMSTAT_NUM_THREADS", "1")  # read at every call
    warnings.simplefilter("ignore")
    if page is None or not asked.page:
        found: list[dict] = []
        for row in rows(asked):
            print(row, flush=True)
            found.append(row)
            asked.output.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")
    if page is not None and asked.output == stored:
        into_page(path.stem.replace("_", " "), page(json.loads(stored.read_text())))


def known(asked: Namespace) -> list[dict]:
    """Rows that the output has already."""
    return json.loads(asked.output.read_text()) if asked.output.exists() else []


def two_at_a_time(row: Callable[..., dict], cases: Iterable[Any], *settings: Any) -> Iterator[dict]:
    """A row of each case, in order; `row` takes the case's place, the case and further settings."""
    with multiprocessing.get_context("spawn").Pool(2, warnings.simplefilter, ("ignore",)) as pool:
        waiting = [pool.apply_async(row, (at, case, *settings)) for at, case in enumerate(cases)]
        for each in waiting:
            yield each.get()


def band(share: float, trials: int) -> tuple[float, float]:
    """What 99 % of measured shares of so many trials are, if this share is true."""
    error = 2.576 * math.sqrt(share * (1 - share) / trials)
    return max(0.0, share - error), min(1.0, share + error)


def cell(share: float, low: float, high: float) -> str:
    """A share in percent, bold outside its band."""
    text = f"{100 * share:.1f} %"
    return text if low <= share <= high else f"**{text}**"

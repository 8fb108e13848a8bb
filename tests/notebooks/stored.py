"""Notebooks as they are stored: run and compared with what is stored, or stored anew.

    python tests/notebooks/stored.py check notebooks/*.ipynb
    python tests/notebooks/stored.py write notebooks/*.ipynb

"check" fails where an output is missing, differs, or where a picture looks different. Text is compared whole, but for
what differs between two runs of the same code (`VARIES`); of HTML it is the text that is compared, as its markup
changes with releases of xarray and pandas; pictures are compared where the same release of matplotlib drew them.
"""

from __future__ import annotations

import argparse
import base64
import copy
import difflib
import io
import itertools
import os
import re
import sys
import time
import uuid
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.testing.compare import calculate_rms
from PIL import Image
from PIL.PngImagePlugin import PngInfo

# jsonschema's grammar of IRIs, which no notebook is asked for, takes two seconds to load.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import nbformat  # noqa: E402
from nbclient import NotebookClient  # noqa: E402

MOST_BYTES = 600_000  # of a file
COLOURS = 256  # of a stored picture
TOLERANCE = 1.0  # root mean square of the differences of a picture's pixels, as in tests/plots
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
README = "# This is the picture in the README, intervals.png."
WIDGET = "application/vnd.jupyter.widget-view+json"
VARIES = [
    (r"/tmp/ipykernel_\d+/\d+\.py", "<cell>"),
    (r"(xsumstat(?:_version)?\W{1,5})\d+\.\d+[\w.+]*", r"\g<1>VERSION"),
    (r"0x[0-9a-f]{6,}", "ADDRESS"),
]
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def executed(path: Path) -> Any:
    """The notebook with the outputs that its code gives now."""
    notebook = nbformat.read(path, as_version=4)
    os.environ["XSUMSTAT_QUIET"] = "1"
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", record_timing=False, resources={"metadata": {"path": path.parent}}
    ).execute()
    return notebook


def tidied(notebook: Any, name: str) -> Any:
    """The notebook without progress bars, file names of the kernel and metadata; pictures with fewer colours."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL})
    ids: dict[str, str] = {}
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type != "code":
            continue
        cell.outputs = _joined([each for each in cell.outputs if WIDGET not in each.get("data", {})])
        for output in cell.outputs:
            if output.output_type == "stream":
                output.text = re.sub(*VARIES[0], output.text)
            data = output.get("data", {})
            if "text/html" in data:
                for found in UUID.findall(data["text/html"]):
                    ids.setdefault(found, str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name} {len(ids)}")))
                data["text/html"] = UUID.sub(lambda found: ids[found[0]], data["text/html"])
            if "image/png" in data:
                data["image/png"] = _fewer_colours(data["image/png"])
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """Outputs with the parts of one stream, which come in any number, as one."""
    joined: list[Any] = []
    for output in outputs:
        if joined and output.output_type == "stream" and output.get("name") == joined[-1].get("name"):
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _picture(encoded: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(encoded)))


def _fewer_colours(encoded: str) -> str:
    picture = _picture(encoded)
    if picture.mode == "P":
        return encoded
    about = PngInfo()
    about.add_text("Software", picture.info.get("Software", ""))
    opaque = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture.convert("RGBA")).convert("RGB")
    file = io.BytesIO()
    opaque.quantize(COLOURS, dither=Image.Dither.NONE).save(file, "png", optimize=True, pnginfo=about)
    return base64.b64encode(file.getvalue()).decode()


def complaints(stored: Any, fresh: Any) -> list[str]:
    """What of the outputs that are stored is not as it comes out now."""
    found = []
    for at, (old, new) in enumerate(zip(stored.cells, fresh.cells, strict=True)):
        if old.cell_type != "code":
            continue
        if old.execution_count is None and old.source.strip():
            found.append(f"cell {at}: stored without having been run")
        outputs = [_in_order(cell.outputs) for cell in (old, new)]
        kinds = [[_kind(output) for output in each] for each in outputs]
        if kinds[0] != kinds[1]:
            found.append(f"cell {at}: stored are the outputs {kinds[0]}, and there should be {kinds[1]}")
            continue
        for before, after in zip(*outputs, strict=True):
            found += [f"cell {at}: {each}" for each in _differences(before, after)]
    return found


def _in_order(outputs: Any) -> list[Any]:
    """Streams that follow each other by name, each as one: which of a process's two came first is chance."""
    runs = itertools.groupby(copy.deepcopy(outputs), key=lambda output: output.output_type == "stream")
    return [output for printed, run in runs for output in (_joined(sorted(run, key=_kind)) if printed else run)]


def _kind(output: Any) -> str:
    return " ".join([output.output_type, output.get("name", ""), *sorted(output.get("data", {}))])


def _differences(before: Any, after: Any) -> list[str]:
    if before.output_type == "stream":
        return _of_text(before.text, after.text)
    found = []
    for kind, old in before.get("data", {}).items():
        new = after.data[kind]
        if kind == "image/png":
            found += _of_pictures(old, new)
        elif kind == "text/html":
            found += _of_text(_shown(old), _shown(new))
        else:
            found += _of_text(str(old), str(new))
    return found


def _of_text(old: str, new: str) -> list[str]:
    for pattern, word in VARIES:
        old, new = re.sub(pattern, word, old), re.sub(pattern, word, new)
    if old == new:
        return []
    return ["\n".join(difflib.unified_diff(old.splitlines(), new.splitlines(), "stored", "now", n=0, lineterm=""))]


def _of_pictures(old: str, new: str) -> list[str]:
    pictures = _picture(old), _picture(new)
    if pictures[0].info.get("Software") != pictures[1].info.get("Software"):
        return []
    if pictures[0].size != pictures[1].size:
        return [f"a picture of {pictures[0].size} pixels is stored, and now it has {pictures[1].size}"]
    rms = calculate_rms(*(np.asarray(each.convert("RGB")).astype(float) for each in pictures))
    return [f"the picture looks different: RMS {rms:.1f}, allowed {TOLERANCE}"] if rms > TOLERANCE else []


class _Words(HTMLParser):
    """The text of a page without its styles and symbols."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in {"style", "svg", "script"}

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in {"style", "svg", "script"}

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words += data.split()


def _shown(html: str) -> str:
    words = _Words()
    words.feed(html)
    return "\n".join(words.words)


def picture_of_readme(path: Path) -> bytes | None:
    """The picture of the cell that says it is README's, which `write` stores beside the notebook as intervals.png."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.source.startswith(README):
            return base64.b64decode(next(each.data["image/png"] for each in cell.outputs if "image/png" in each.data))
    return None


def checked(path: Path) -> list[str]:
    """Complaints about a notebook, which is run for them."""
    stored, fresh = (tidied(each, path.stem) for each in (nbformat.read(path, as_version=4), executed(path)))
    return complaints(stored, fresh)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["check", "write"])
    parser.add_argument("notebooks", nargs="+", type=Path)
    asked = parser.parse_args(arguments)
    failed = False
    for path in asked.notebooks:
        began = time.perf_counter()
        if asked.what == "write":
            nbformat.write(tidied(executed(path), path.stem), path)
            if (picture := picture_of_readme(path)) is not None:
                path.with_name("intervals.png").write_bytes(picture)
            found = []
        else:
            found = checked(path)
        if path.stat().st_size > MOST_BYTES:
            found.append(f"{path.stat().st_size} bytes, and at most {MOST_BYTES} are allowed")
        took = time.perf_counter() - began
        print(f"{path}: {'; '.join(['', *found])[2:] or 'ok'} ({took:.0f} s, {path.stat().st_size / 1000:.0f} kB)")
        failed |= bool(found)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

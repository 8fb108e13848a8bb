"""The pages of the API, made of the tables in `xsumstat.narrative.available`: a name each, in groups."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xsumstat
from xsumstat.accessor import DatasetMeta, FrameMeta, Plots
from xsumstat.catalogue import ANALYSES
from xsumstat.narrative import available

# The guide to each group of questions; a group that is not here fails the build.
GUIDES = {
    "agreement with human scores": "agreement",
    "better, or equally good": "better",
    "among metrics": "among_metrics",
    "parts of the scores": "parts",
    "systems and inputs": "systems_and_inputs",
    "raters and judges": "raters_and_judges",
    "preferences": "preferences",
    "all at once": "report",
    "as a table or files": "report",
}
# Questions that have a guide other than their group's.
OTHER_GUIDES = {
    **dict.fromkeys(("agreement", "human_ceiling", "drop_noisiest_rater", "majority_vote"), "raters"),
    "drift": "judge_checks",
}
SIMULATION = ("simulate", "coverage", "power", "plan")
TASKS = ("shared_task", "rank_tasks", "wmt_tasks", "wmt_info")
_DATASET, _FRAME = "xarray.Dataset.meta.", "pandas.DataFrame.meta."


@dataclass(frozen=True)
class Entry:
    """One public name: how users type it, the object that documents it, and the guide to it."""

    typed: str
    target: str
    guide: str
    documented: Any

    @property
    def name(self) -> str:
        """The name itself."""
        return self.typed.rpartition(".")[2]

    @property
    def is_picture(self) -> bool:
        """Whether it draws."""
        return ".plot." in self.typed

    @property
    def role(self) -> str:
        """What refers to it."""
        return "py:func" if self.typed.startswith("xsumstat.") else "py:meth"

    @property
    def summary(self) -> str:
        """The first paragraph of its docstring, in one line."""
        return " ".join((self.documented.__doc__ or "").strip().split("\n\n")[0].split())


def groups() -> dict[str, list[Entry]]:
    """All public names, each in one group."""
    found = {title: [_question(name) for name in names] for title, names in available.QUESTIONS.items()}
    asked = {name for names in available.QUESTIONS.values() for name in names}
    of_results = [name for name in (*available.OF_RESULTS, *available.OF_TESTS) if name not in asked]
    found["asked of results"] = [
        Entry(f"result.meta.{name}", _DATASET + name, "report", getattr(DatasetMeta, name)) for name in of_results
    ]
    found["pictures"] = [_picture(name) for name in vars(Plots) if not name.startswith("_")]
    found["scores in"] = [
        *(
            Entry(f"df.meta.{name}", _FRAME + name, "scores_in", getattr(FrameMeta, name))
            for name in available.OF_FRAMES
        ),
        *(_function(name) for name in xsumstat.__all__ if name not in (*SIMULATION, *TASKS)),
    ]
    found["over several tasks"] = [
        *map(_function, TASKS),
        *(
            Entry(f"result.meta.{name}", _DATASET + name, "shared_tasks", getattr(DatasetMeta, name))
            for name in available.OF_TASKS
        ),
    ]
    found["simulation"] = [_function(name) for name in SIMULATION]
    return found


def _question(name: str) -> Entry:
    return Entry(f"ds.meta.{name}", _DATASET + name, _guide(name), getattr(DatasetMeta, name))


def drawn_by(name: str) -> list[str]:
    """The analyses whose results a picture draws."""
    return [analysis for analysis, about in ANALYSES.items() if name in about.pictures]


def _picture(name: str) -> Entry:
    of_scores = name in available.PICTURES
    place, guide = ("ds", "systems_and_inputs") if of_scores else ("result", _guide(drawn_by(name)[0]))
    return Entry(f"{place}.meta.plot.{name}", f"{_DATASET}plot.{name}", guide, getattr(Plots, name))


def _function(name: str) -> Entry:
    return Entry(f"xsumstat.{name}", f"xsumstat.{name}", _guide(name), getattr(xsumstat, name))


def _guide(name: str) -> str:
    """The guide to a question or to a function of the package."""
    group = next((title for title, names in available.QUESTIONS.items() if name in names), None)
    others = {**dict.fromkeys(TASKS, "shared_tasks"), **dict.fromkeys(SIMULATION, "simulation")}
    return OTHER_GUIDES.get(name, GUIDES[group]) if group else others.get(name, "scores_in")


def script(docs: Path, name: str) -> Path:
    """The gallery's script that draws a picture."""
    found = sorted((docs / "gallery").glob(f"*/plot_{name}.py"))
    if len(found) != 1:
        raise FileNotFoundError(f"docs/gallery must have one plot_{name}.py, there are {len(found)}")
    return found[0].relative_to(docs.parent)


def write(docs: Path) -> None:
    """A page for each name, and the lists of the groups; only what differs is written, for Sphinx goes by dates."""
    folder = docs / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {f"{entry.typed}.rst": _page(docs, entry) for entries in groups().values() for entry in entries}
    pages["groups.md"] = "\n".join(_group(title, entries) for title, entries in groups().items())
    for each in folder.iterdir():
        if each.name not in pages:
            shutil.rmtree(each) if each.is_dir() else each.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _group(title: str, entries: list[Entry]) -> str:
    heading = title[0].upper() + title[1:]
    lines = [f"{{{each.role}}}`{each.typed} <{each.target}>`\n: {each.summary}\n" for each in entries]
    pages = [f"{each.typed} <generated/{each.typed}>" for each in entries]
    return "\n".join([f"## {heading}\n", *lines, ":::{toctree}", ":hidden:", f":caption: {heading}\n", *pages, ":::\n"])


def _page(docs: Path, entry: Entry) -> str:
    directive = "autofunction" if entry.role == "py:func" else "autoaccessormethod"
    parts = [entry.typed, "=" * len(entry.typed), "", f".. {directive}:: {entry.target}", ""]
    links = [f"Guide: :doc:`/guides/{entry.guide}`."]
    drawn = [_picture(name) for name in _pictures_of(entry)]
    if drawn:
        links.append("Pictures: " + ", ".join(f":py:meth:`{each.typed} <{each.target}>`" for each in drawn) + ".")
    if entry.is_picture and drawn_by(entry.name):
        links.append("Draws results of " + ", ".join(map(_reference, drawn_by(entry.name))) + ".")
    parts += [".. rubric:: Where to read on", "", " ".join(links), ""]
    examples = [script(docs, name) for name in ([entry.name] if entry.is_picture else _pictures_of(entry))]
    if examples:
        parts += [".. rubric:: In the gallery", "", f".. minigallery:: {' '.join(f'../{each}' for each in examples)}"]
    return "\n".join(parts) + "\n"


def _pictures_of(entry: Entry) -> tuple[str, ...]:
    """The pictures of what a question, or a function, gives."""
    asked = entry.typed.startswith(("ds.meta.", "xsumstat.")) and not entry.is_picture
    return ANALYSES[entry.name].pictures if asked and entry.name in ANALYSES else ()


def _reference(analysis: str) -> str:
    entry = _function(analysis) if analysis in xsumstat.__all__ else _question(analysis)
    return f":{entry.role}:`{entry.typed} <{entry.target}>`"

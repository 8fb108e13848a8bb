"""What mt-metrics-eval's `EvalSet` demands of a folder, in plain Python, after its `data.py` reads it.

It is written from the behaviour of mt_metrics_eval/data.py in github.com/google-research/mt-metrics-eval, of which no
line is here. `strict=True` raises where a metric scores not all systems; otherwise 0 is filled in, as there.
"""

from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

LEVELS = ("sys", "domain", "doc", "seg")
ABSENT = "[No translation supplied]"


class Refused(Exception):
    """The toolkit would not open the folder."""


def demand(holds, text):
    if not holds:
        raise Refused(text)


def matching(folder, pattern):
    """A shell's pattern does not match hidden files, and a folder that is not there has none."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return [folder / name for name in names if fnmatchcase(name, pattern) and not name.startswith(".")]


def text(path):
    demand(path.is_file(), f"no {path}")
    with path.open(encoding="utf-8") as stream:
        return [None if line.rstrip() == ABSENT else line.rstrip() for line in stream]


def number(word):
    return None if word == "None" else float(word)


def scores(path, domains):
    """The scores of each system, in the order of the domains or of the lines."""
    found = {}
    by_domain = path.name.split(".")[-2] == "domain"
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        words = line.split()
        demand(len(words) == (3 if by_domain else 2), f"{path}: {line!r}")
        if by_domain:
            demand(words[0] in domains, f"{path}: unknown domain {words[0]}")
            found.setdefault(words[1], [None] * len(domains))[domains.index(words[0])] = number(words[2])
        else:
            found.setdefault(words[0], []).append(number(words[1]))
    return found


def listed(path):
    """Documents and domains, as the list of documents has them: blocks of documents must be in one piece."""
    lines = [line.split() for line in text(path)]
    demand(lines and all(len(words) >= 2 for words in lines), f"{path} has lines without domain and document")
    documents = [name for name, _ in groupby(words[1] for words in lines)]
    demand(len(documents) == len(set(documents)), f"{path}: a document is in two places")
    return documents, sorted({words[0] for words in lines}), [words[0] for words in lines]


def references_of(metric, known):
    demand("-" in metric, f"{metric} is not called NAME-REF")
    last = metric.split("-")[-1]
    return set(known) if last == "all" else set() if last == "src" else set(last.split("."))


class EvalSet:
    """Everything that is read, or `Refused`."""

    def __init__(self, name, pair, path, *, reference, gold, strict=True):
        root = Path(path, name)
        self.documents, self.domains, self.domain_of = listed(root / "documents" / f"{pair}.docs")
        self.sources = text(root / "sources" / f"{pair}.txt")
        demand(len(self.domain_of) == len(self.sources), "documents and sources have different lengths")
        self.references = {}
        for file in matching(root / "references", f"{pair}.*.*"):
            called = file.name.split(".")[-2]
            demand("-" not in called and called not in ("all", "src"), f"a reference is called {called}")
            demand(called not in self.references, f"two references are called {called}")
            self.references[called] = text(file)
        outputs = matching(root / "system-outputs" / pair, "*.*")
        self.outputs = {file.name[: -len(file.suffix)]: text(file) for file in outputs}
        for lines in (*self.references.values(), *self.outputs.values()):
            demand(len(lines) == len(self.sources), "a reference or an output is not as long as the source")
        self.scores = {level: {} for level in LEVELS}
        self.human, self.metrics = set(), set()
        for file in matching(root / "human-scores", f"{pair}.*.score"):
            parts = file.name.split(".")
            demand(len(parts) >= 4 and parts[0] == pair, f"bad name {file.name}")
            self.human.add(called := ".".join(parts[1:-2]))
            self.take(file, called, parts[-2], None)
        for file in matching(root / "metric-scores" / pair, "*.score"):
            called, level, _ = file.name.rsplit(".", 2)
            demand(level in LEVELS, f"bad level in {file.name}")
            own = references_of(called, self.references)
            demand(own <= set(self.references), f"{called} has references that are not there")
            self.metrics.add(called)
            self.take(file, called, level, own, strict)
        demand(reference in self.references, f"no standard reference {reference}")
        for level, called in gold.items():
            demand(called in self.scores[level], f"no standard scores {called} of {level}")

    def take(self, file, called, level, own, strict=True):
        """The scores of a file; those of a metric must be of all systems but its references."""
        demand(called not in self.scores[level], f"{called} is there twice")
        found = self.scores[level][called] = scores(file, self.domains)
        size = {"sys": 1, "domain": len(self.domains), "doc": len(self.documents), "seg": len(self.sources)}[level]
        for system, values in found.items():
            demand(system in self.outputs, f"{file.name} has the unknown system {system}")
            demand(len(values) == size, f"{file.name} has {len(values)} scores of {system}, and not {size}")
            demand(own is None or None not in values, f"{file.name} has None")
        for system in self.outputs if own is not None else ():
            if system not in found and system not in own:
                demand(not strict, f"{file.name} has no scores of {system}")
                found[system] = [0] * size

"""A folder in the shape of WMT24, written line by line, and one's own metric in a file beside it."""

import numpy as np

PAIRS = {"en-de": ("refA", "refB"), "en-es": ("refA",), "ja-zh": ("refA",)}
STANDARD = {"en-de": "refB", "en-es": "refA", "ja-zh": "refA"}
MACHINES = ("Claude", "GPT", "Online-B", "Unbabel", "MSLC")
BASES = {"BLEU": 2.0, "COMET-22": 0.7, "XCOMET": 0.4}
SEGMENTS = 12


def lines(scores):
    """`SYSTEM SCORE`, each system's in the order of the segments."""
    return "".join(f"{system}\t{value}\n" for system, values in scores.items() for value in values)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make(folder, test_set="wmt24", pairs=PAIRS, gold="mqm", seed=0, files=True):
    """The folder, and by pair the scores by metric as lists, as they stand in its files."""
    rng = np.random.default_rng(seed)
    root, told = folder / test_set, {}
    for pair, references in pairs.items():
        systems = [*MACHINES, *references]
        quality = {system: rng.normal() + rng.normal(size=SEGMENTS) for system in systems}
        human = {system: [round(float(each), 1) for each in values] for system, values in quality.items()}
        human = {system: [None if at == 3 else each for at, each in enumerate(row)] for system, row in human.items()}
        told[pair] = {gold: human}
        for reference in references:
            for base, noise in BASES.items():
                told[pair][f"{base}-{reference}"] = {
                    system: [round(float(each), 2) for each in values + noise * rng.normal(size=SEGMENTS)]
                    for system, values in quality.items() if system != reference
                }  # fmt: skip
        told[pair]["CometKiwi-src"] = {
            system: [round(float(each), 2) for each in values + rng.normal(size=SEGMENTS)]
            for system, values in quality.items()
        }
        for name, scores in told[pair].items():
            place = f"human-scores/{pair}.{name}" if name == gold else f"metric-scores/{pair}/{name}"
            write(root / f"{place}.seg.score", lines(scores))
            if files:
                means = {system: [mean(values)] for system, values in scores.items()}
                write(root / f"{place}.sys.score", lines(means))
        docs = "".join(f"{('news', 'social')[at >= 6]}\td{at // 3}\n" for at in range(SEGMENTS))
        write(root / "documents" / f"{pair}.docs", docs)
        for reference in references:
            write(root / "references" / f"{pair}.{reference}.txt", "text\n" * SEGMENTS)
    return root, told


def mean(values):
    there = [each for each in values if each is not None]
    return sum(there) / len(there)


def own(folder, told, name="NEW-{}.seg.score", seed=9, pairs=tuple(PAIRS)):
    """One's own metric, a folder for each pair: the human scores with some noise, on all outputs."""
    rng = np.random.default_rng(seed)
    found = {}
    for pair in pairs:
        reference = STANDARD.get(pair, "refA")
        gold = next(iter(told[pair].values()))
        found[pair] = {
            system: [round(float((each or 0) + 0.3 * rng.normal()), 2) for each in values]
            for system, values in gold.items() if system != reference
        }  # fmt: skip
        write(folder / pair / name.format(reference), lines(found[pair]))
    return found

"""The first use of a statistical or technical term on a page is a link to the glossary."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    *(DOCS / f"{name}.md" for name in ("own_csv", "install", "which", "get_started")),
    *sorted((DOCS / "guides").glob("*.md")),
]

# Glossary entries that newcomers look up, and the words of the text that stand for them.
TERMS = {
    "metric": r"metrics?",
    "system": r"systems?(?! level)",
    "input": r"inputs?(?! level)",
    "human scores": r"human scores",
    "rater": r"raters?",
    "Likert": r"Likert",
    "MQM": r"MQM",
    "tie": r"tied|ties?",
    "system level": r"system level",
    "input level": r"input level",
    "global level": r"global level",
    "within-system level": r"within-system level",
    "confidence interval": r"confidence intervals?",
    "coverage": r"coverage",
    "jackknife": r"jackknife",
    "bootstrap": r"bootstrap",
    "permutation test": r"permutation tests?",
    "p-value": r"p-values?",
    "significance level": r"significance level",
    "exchangeable": r"exchangeable",
    "equivalence": r"equivalence|equivalent",
    "TOST": r"TOST",
    "margin": r"margins?",
    "family": r"famil(?:y|ies) of tests",
    "Holm": r"Holm",
    "Bonferroni": r"Bonferroni",
    "clusters": r"clusters?",
    "reliability": r"reliability|reliabilities",
    "human ceiling": r"human ceiling",
    "pilot": r"pilots?",
}

# Where the word means something else, or where a link would be in the way.
EXCEPTIONS = {
    ("install", "clusters"),  # of computers
    ("own_csv", "clusters"),
    ("guides/preferences", "tie"),  # a choice of neither output
}

TERM = re.compile(r"\{term\}`(?:[^`<]*<([^`>]*)>|([^`<]*))`")
BLOCKS = re.compile(
    r"\A---\n.*?\n---\n"  # front matter
    r"|^ *(?P<fence>`{3,}).*?^ *(?P=fence) *$"
    r"|<!--.*?-->"
    r"|^(?:\#+ |%|:[\w-]+:|\([\w-]+\)=)[^\n]*$",  # headings, comments, options, labels
    re.DOTALL | re.MULTILINE,
)
PARTS = re.compile(
    r"\{(?P<role>[\w:-]+)\}`[^`]*`"
    r"|(?P<ticks>`+)(?!`)(?:(?!\n\n).)+?(?<!`)(?P=ticks)(?!`)"  # code
    r"|!?\[[^\]]*\]\([^)]*\)"
    r"|https?://\S+"
    r"|<[^<>\n]*>"
    r"|\*\*[^*]+\*\*",  # beginnings of paragraphs that serve as headings
    re.DOTALL,
)


def blank(found):
    """Spaces in place of what is no sentence; links to the glossary stay."""
    return found[0] if found.groupdict().get("role") == "term" else re.sub(r"[^\n]", " ", found[0])


def readable(text):
    """The page with everything except its sentences blanked; positions stay."""
    return PARTS.sub(blank, BLOCKS.sub(blank, text))


def unlinked(text):
    """The (term, position) of each first use that is no link."""
    text = readable(text)
    links = [(found[1] or found[2], found.start(), found.end()) for found in TERM.finditer(text)]
    prose = TERM.sub(lambda found: " " * len(found[0]), text)
    for term, words in TERMS.items():
        used = re.search(rf"(?<![\w-])(?:{words})(?![\w-])", prose, re.IGNORECASE)
        linked = min((start for name, start, _ in links if name.strip() == term), default=len(text))
        if used and used.start() < linked:
            yield term, used.start(), used.end()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_first_uses_are_links(page):
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(DOCS).with_suffix("").as_posix()
    found = [
        f"line {text.count(chr(10), 0, start) + 1}: {term}"
        for term, start, _ in unlinked(text)
        if (name, term) not in EXCEPTIONS
    ]
    assert not found, f"{name}: link the first use with {{term}}: {found}"


def test_terms_are_in_the_glossary():
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert [term for term in TERMS if f"\n{term}\n" not in glossary] == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("A jackknife.", ["jackknife"]),
        ("A {term}`jackknife`; the jackknife.", []),
        ("A jackknife; the {term}`jackknife`.", ["jackknife"]),
        ("{term}`Two jackknives <jackknife>` and `jackknife`.", []),
        ("# The jackknife\n\n[jackknife](a.md) {py:func}`jackknife`", []),
        ("```{code-cell} ipython3\njackknife\n```\n\nMargin", ["margin"]),
    ],
)
def test_the_check_sees_sentences_only(text, terms):
    assert [term for term, *_ in unlinked(text)] == terms

"""Messages, sentences, docstrings and pages avoid the words that readers stumbled over."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "xsumstat"
MADE = ("generated", "pictures", "notebooks", "_build")  # folders of docs/ that are written when the site is built
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if not set(MADE) & set(page.parts)),
]
WORD_LISTS = ("synonyms.py", "method_synonyms.py", "options.py", "citations.py")  # what users may type, works cited

# What must not be written, and what to write instead.
BANS = {
    r"\b(?:told|tells?|telling) (?:\w+ ){0,4}apart\b": "distinguish, separate, no significant difference",
    r"\bh[oe]lds? the truth\b": "coverage is ... %",
    r"\bis said\b": "the library warns, raises or reports",
    r"\bof which\b": "two sentences",
    r"\bwhoever\b": "users who ..., to ..., use ...",
    r"\bas good as\b": "equally good, equivalent",
    r"\bby itself\b": "alone, automatically",
    r"\bhas none\b": "name what is missing",
    r"\bmeets itself\b": "the diagonal",
    r"\bthe former\b": "repeat the noun",
    r"\bstands? in\b": "is used instead",
    r"\bmet with\b": "the library raises, suggests",
    r"\bremarked\b": "the library warns",
    r"\bso that\b": "so, which, to",
    r", but for\b": "except",
    r"\brooms?\b": "subpackage, space",
    r"\ba row a\b": "one row per",
    r"\b(?:is|are) of (?!course)": "describes, covers, has, applies to",
    r"\w\(s\)": "validate.counted, validate.named",
    r"(?-i:\bsds\b)": "SDs",
}
# Uses that are meant, by file and the words around them.
MEANT = {"CONTRIBUTING.md": ('("is said"',)}  # the rule itself


def texts_of(path):
    """The docstrings of a file, and its other texts of three words or more, f-strings with "{}" for their values."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings, pieces = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node):
            docstrings.add(node.body[0].value)
        if isinstance(node, ast.JoinedStr):
            pieces.update(node.values)
    for node in ast.walk(tree):
        if node in pieces:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if len(re.findall(r"[A-Za-z]{2,}", text)) > 2:
            yield node in docstrings or path.name == "docstrings.py", node.lineno, " ".join(text.split())


def prose_of(path):
    """The lines of a page outside code, without names of code."""
    code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, re.sub(r"`[^`]*`", "``", line)


def banned(file, number, text):
    """What a text says that it must not, with the words around it and the way out."""
    for ban, better in BANS.items():
        for found in re.finditer(ban, text, re.IGNORECASE):
            around = text[max(0, found.start() - 40) : found.end() + 30]
            if not any(meant in around for meant in MEANT.get(file, ())):
                yield f"{file}:{number}: …{around}… -> {better}"


def in_code(docstrings):
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name in WORD_LISTS:
            continue
        file = path.relative_to(ROOT).as_posix()
        for is_docstring, number, text in texts_of(path):
            if is_docstring == docstrings:
                yield from banned(file, number, text)


@pytest.mark.slow
def test_messages_and_sentences():
    assert list(in_code(docstrings=False)) == []


@pytest.mark.slow
def test_docstrings():
    assert list(in_code(docstrings=True)) == []


def test_pages():
    found = [
        words
        for path in PAGES
        for number, line in prose_of(path)
        for words in banned(path.relative_to(ROOT).as_posix(), number, line)
    ]
    assert found == []


def test_pictures_of_pages_have_alternative_texts():
    """Two words or more between the brackets, or in the option of a figure."""
    images = [
        (path.relative_to(ROOT).as_posix(), alt)
        for path in PAGES
        for alt in re.findall(r"!\[([^\]]*)\]\(", path.read_text(encoding="utf-8"))
    ]
    assert images and [image for image in images if len(image[1].split()) < 2] == []

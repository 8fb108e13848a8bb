"""Each row of the table of coefficients is spoken of where users look."""

from pathlib import Path

import xsumstat  # noqa: F401  (the accessors)
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import docstrings
from xsumstat.narrative import methods
from xsumstat.narrative.citations import REFERENCES

DOCS = Path(__file__).parents[2] / "docs"
OF_TEXTBOOKS = {"pearson", "spearman", "kendall", "kendall_a", "kendall_c", "tau_eq"}  # tau_eq has acc_eq's source
OF_TEXTBOOKS |= {"accuracy", "f1", "sensitivity", "specificity"}


def test_their_names_are_on_pages():
    """docs/which.md, docs/coefficients.md (which the docstrings name) and the glossary."""
    places = {
        page: (DOCS / page).read_text(encoding="utf-8") for page in ("which.md", "coefficients.md", "glossary.md")
    }
    missing = {(place, name) for place, text in places.items() for name in COEFFICIENTS if name not in text}
    assert missing == set()
    assert 'documentation, "Coefficients"' in docstrings.ENTRIES["coefficient"]


def test_their_sources_are_cited():
    """In `methods._COEFFICIENTS`, by a key of `citations.REFERENCES`."""
    keys = {name: methods._COEFFICIENTS[name].split(", ") for name in COEFFICIENTS if name not in OF_TEXTBOOKS}
    assert {name: each for name, each in keys.items() if not each or set(each) - set(REFERENCES)} == {}

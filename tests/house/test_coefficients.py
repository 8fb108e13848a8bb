"""Each row of the table of coefficients is spoken of where users look."""

from pathlib import Path

import pytest

import xsumstat  # noqa: F401  (the accessors)
from xsumstat import docstrings, methods
from xsumstat.analyses.correlation import corr
from xsumstat.citations import REFERENCES
from xsumstat.coefficients.table import COEFFICIENTS

DOCS = Path(__file__).parents[2] / "docs"
OF_TEXTBOOKS = {"pearson", "spearman", "kendall", "kendall_a", "kendall_c", "tau_eq"}  # tau_eq has acc_eq's source


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_its_name_stands_in_docstrings_and_pages(name):
    """`{coefficient}` of docstrings.py, the Notes of `corr`, docs/which.md and the glossary."""
    assert f'"{name}"' in docstrings.ENTRIES["coefficient"]
    assert name in corr.__doc__.partition("Notes")[2]
    for page in ("which.md", "glossary.md"):
        assert name in (DOCS / page).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("name", [name for name in COEFFICIENTS if name not in OF_TEXTBOOKS])
def test_its_source_is_cited(name):
    """In `methods._COEFFICIENTS`, by a key of `citations.REFERENCES`."""
    keys = methods._COEFFICIENTS[name].split(", ")
    assert keys and set(keys) <= set(REFERENCES)

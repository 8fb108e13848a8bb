"""Sphinx builds the site from this folder: ``python -m sphinx -W --keep-going docs docs/_build/html``."""

import os
import shutil
import sys
from pathlib import Path

import matplotlib

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import alternative_texts  # noqa: E402 - these four lie beside this file
import api_links  # noqa: E402
import api_pages  # noqa: E402
import lookup_tables  # noqa: E402

import xsumstat  # noqa: E402
from xsumstat.accessor import DatasetMeta, Plots  # noqa: E402

matplotlib.use("agg")
os.environ["XSUMSTAT_QUIET"] = "1"  # pages do not say that something is compiled
# `plot` is an attribute of instances; autodoc goes from class to class, as in `xarray.Dataset.meta.plot.forest`.
DatasetMeta.plot = Plots

project = "xsumstat"
# The address of the public repository, such as "https://github.com/OWNER/xsumstat"; "" shows no link.
REPOSITORY = ""
author = "The xsumstat developers"
copyright = f"2026, {author}"
version = release = xsumstat.__version__

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_nb",
    "sphinx_autosummary_accessors",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    *("_build", "gallery", "api/generated/groups.md"),
    *(
        "pictures/**/*.ipynb",
        "pictures/**/sg_execution_times.rst",
        "pictures/sg_execution_times.rst",
        "sg_execution_times.rst",
    ),
    "pictures/backreferences",
]

# The API: what `xsumstat.narrative.available` lists, a page each.
autodoc_typehints = "none"  # docstrings say types in plain words
add_module_names = False
maximum_signature_line_length = 70
default_role = "py:obj"
numpydoc_show_class_members = False
toc_object_entries = False

# Pages with cells are executed, notebooks are shown with the outputs that they are stored with.
nb_execution_mode = "cache"
nb_execution_excludepatterns = ["notebooks/*"]
nb_execution_in_temp = True  # pages write files
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
nb_ipywidgets_js = {}  # which would come from another host
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "pictures",
    "thumbnail_size": (640, 440),
    "backreferences_dir": "pictures/backreferences",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "matplotlib_animations": False,
    "download_all_examples": False,
    "capture_repr": (),
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "abort_on_example_error": True,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = f"xsumstat {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 5,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if REPOSITORY:
    html_theme_options["icon_links"] = [{"name": "Repository", "url": REPOSITORY, "icon": "fa-solid fa-code-branch"}]
html_sidebars = {"index": []}


def _copy_notebooks():
    """The stored notebooks, with what they show, beside the page that lists them."""
    for old in (HERE / "notebooks").glob("*.ipynb"):
        old.unlink()
    for each in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        shutil.copy2(each, HERE / "notebooks")


def _links_of_the_repository(app, relative_path, parent, content):
    """Pages that are included from the repository's root name files there; here they are pages."""
    for name, page in {"ARCHITECTURE.md": "how_it_works.md", "CONTRIBUTING.md": "contributing.md"}.items():
        content[0] = content[0].replace(f"]({name})", f"]({page})")


def setup(app):
    """Make the pages that Sphinx then reads."""
    _copy_notebooks()
    lookup_tables.write(HERE.parent / "benchmarks", HERE / "calibration")
    api_pages.write(HERE)
    app.connect("include-read", _links_of_the_repository)
    app.connect("doctree-read", alternative_texts.add)
    app.connect("missing-reference", api_links.reference)
    app.connect("object-description-transform", api_links.name_as_typed)

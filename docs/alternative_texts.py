"""What a figure shows, for readers who do not see it, where the page does not say so itself.

Pages give a text to a figure with ``:mystnb: {image: {alt: "..."}}`` in its cell. Notebooks and the gallery have none.
There the summary of the method that drew the figure is used, or else the paragraph before the cell.
"""

import re

from docutils import nodes

from xsumstat.accessor import Plots

_DRAWN = re.compile(r"\.plot\.(\w+)\(")


def add(app, doctree):
    """Give a text to each figure of a cell, or of a script of the gallery, that has none."""
    if app.env.docname.startswith("pictures/"):
        _describe(_images(doctree), _drawn(doctree))
        return
    for cell in doctree.findall(nodes.container):
        if "cell" in cell.get("classes", ()):
            images = [image for image in _images(cell) if not image.get("alt")]
            _describe(images, _drawn(cell) or _paragraph_before(cell))


def _describe(images, texts):
    """The texts in their order; the last one for all images that follow."""
    for number, image in enumerate(images):
        if texts:
            image["alt"] = texts[min(number, len(texts) - 1)]


def _images(node):
    return [each for each in node.findall() if each.tagname in ("image", "imgsgnode")]


def _drawn(node):
    """The first paragraph of the docstring of each method that draws in the code."""
    code = "\n".join(block.astext() for block in node.findall(nodes.literal_block))
    docs = [getattr(Plots, name).__doc__ or name for name in _DRAWN.findall(code) if hasattr(Plots, name)]
    return [_line(text.strip().split("\n\n")[0]) for text in docs]


def _paragraph_before(cell):
    before = cell.parent.children[: cell.parent.index(cell)]
    found = [each for each in before if isinstance(each, nodes.paragraph)]
    return [_line(found[-1].astext())] if found else []


def _line(text):
    return " ".join(text.split()).replace("`", "").rstrip(".")

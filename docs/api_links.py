"""How the site writes names of the API, and what leads to their pages."""

from __future__ import annotations

from inspect import signature
from typing import Any

import api_pages
from docutils import nodes
from sphinx import addnodes
from sphinx.util.nodes import make_refnode


def _parameters() -> set[str]:
    """Names of parameters, which docstrings write as they write names of methods."""
    return {
        each
        for entries in api_pages.groups().values()
        for entry in entries
        for each in signature(entry.documented).parameters
    }


def reference(app: Any, env: Any, node: addnodes.pending_xref, shown: nodes.Node) -> nodes.Node | None:
    """What docstrings call `ci`, or ``ds.meta.ci``, leads to its page; parameters of the same name do not."""
    target = str(node.get("reftarget", "")).removesuffix("()")
    entries = [entry for listed in api_pages.groups().values() for entry in listed]
    found = [entry for entry in entries if target == entry.typed]
    if not found and target not in _parameters():
        found = [entry for entry in entries if target == entry.name and not entry.is_picture]
    if not found or not node.get("refdoc"):
        return None
    page = f"api/generated/{found[0].typed}"
    return make_refnode(app.builder, node["refdoc"], page, found[0].target, shown, found[0].typed)


def name_as_typed(app: Any, domain: str, objtype: str, node: addnodes.desc_content) -> None:
    """Signatures begin as users type them: ``ds.meta.``, and not ``Dataset.meta.``."""
    typed = {entry.target: entry.typed for entries in api_pages.groups().values() for entry in entries}
    for line in node.parent.findall(addnodes.desc_signature):
        name = next((typed[each] for each in line.get("ids", []) if each in typed), None)
        if name is None:
            continue
        for place in list(line.findall(addnodes.desc_addname)):
            place.parent.remove(place)
        before = name.rpartition(".")[0] + "."
        line.insert(0, addnodes.desc_addname(before, before))

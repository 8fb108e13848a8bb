"""Write the methods of `xsumstat/accessor.py` anew: each with the signature and the first paragraph of its function.

    python tests/make_accessor.py

What a class there lists as ``@_of("module")`` with a name is kept, in its order; to add a method, write these two lines
with an empty ``def`` and run this.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from xsumstat import accessor
from xsumstat.core import docstrings

FILE = Path(accessor.__file__)
_METHOD = re.compile(r'    @_of\("([\w.]+)"\)\n    def (\w+)\(.*?(?=\n\n(?!        )|\Z)', re.DOTALL)


def method(module: str, name: str) -> str:
    """The text of a method, as it stands within its class."""
    function = getattr(importlib.import_module(f"xsumstat.{module}"), name)
    signature = docstrings.signature(function)
    data, *rest = signature.parameters.values()
    parameters = [str(each).replace("'", '"') for each in rest]
    if any(each.kind is each.KEYWORD_ONLY for each in rest):
        parameters.insert([each.kind is each.KEYWORD_ONLY for each in rest].index(True), "*")
    listed = "".join(f"\n        {each}," for each in ["self", *parameters]) + "\n    " if parameters else "self"
    first = docstrings.without(function.__doc__, data.name).strip().split("\n\n")[0]
    summary = " ".join(first.split())
    head = f'    @_of("{module}")\n    def {name}({listed}) -> {signature.return_annotation!r}:\n'
    return f'{head}        """{summary}"""'


def written(text: str) -> str:
    """The file with all methods anew."""
    return _METHOD.sub(lambda found: method(found[1], found[2]), text)


if __name__ == "__main__":
    FILE.write_text(written(FILE.read_text(encoding="utf-8")), encoding="utf-8")

"""How far can an automatic evaluation metric be trusted? Importing registers `ds.meta` and `df.meta`."""

from typing import Any

import lazy_loader as _lazy

from xsumstat import accessor as _accessor  # noqa: F401 - registers the accessors

# The functions are those of the stub beside this file; each is loaded when it is first used.
_get, _, _NAMES = _lazy.attach_stub(__name__, __file__)
__all__ = [name for name in _NAMES if not name.endswith("Warning")]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return _get(name)
    if name.startswith("__") and name != "__version__":
        raise AttributeError(name)
    try:
        if name == "__version__":
            return _accessor.module("core.extras").package_version()
        return _accessor.module(name)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
    raise AttributeError(
        name if name.startswith("_") else _accessor.module("narrative.available").unknown_to(__name__, __all__, name)
    )

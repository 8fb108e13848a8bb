"""Optional packages, how to install them, and our version."""

from __future__ import annotations

import functools
import importlib
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType


def installing(extra: str) -> str:
    """The command that installs an extra, as in the README."""
    return f'in a clone of xsumstat, run: pip install ".[{extra}]"'


def optional(module: str, extra: str) -> ModuleType:
    """An optional dependency; the error names the extra that brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"this needs {package}, which is not installed; {installing(extra)}", name=package) from error


@functools.cache
def package_version() -> str:
    try:
        return version("xsumstat")
    except PackageNotFoundError:
        return "unknown"

"""Kernels before their first call: numba is loaded only then, because loading it takes long."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Seconds that a process may still compile until it says why nothing happens.
_patience = 1.0
# Whether it has printed its one line.
_printed = False
_WAIT = (
    "xsumstat: compiling this method (once, a few seconds). To compile all methods now, run: python -m xsumstat compile"
)


def watched() -> bool:
    """Whether the process has a terminal or a notebook."""
    shell = sys.modules.get("IPython")
    notebook = shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"
    return notebook or (sys.stderr is not None and sys.stderr.isatty())


@contextmanager
def announced() -> Iterator[None]:
    """Print a line if a process compiles for more than a second in all."""
    global _patience
    if _patience <= 0.0 or os.environ.get("XSUMSTAT_QUIET"):
        yield
        return
    start = time.monotonic()
    timer = threading.Timer(_patience, print_once, [_WAIT])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _patience -= time.monotonic() - start


def print_once(line: str) -> None:
    """Print a line to stderr once in a process, unless XSUMSTAT_QUIET is set."""
    global _printed
    if not (_printed or sys.stderr is None or os.environ.get("XSUMSTAT_QUIET")):
        _printed = True
        print(line, file=sys.stderr, flush=True)


class Kernel:
    def __init__(self, function: Callable[..., Any], make: Callable[[], Any]):
        functools.update_wrapper(self, function)
        self.py_func: Any = function
        self._make = make

    def __call__(self, *args: Any) -> Any:
        return self.ready(*args)

    def __reduce__(self) -> str:
        return str(self.py_func.__qualname__)

    @functools.cached_property
    def ready(self) -> Any:
        """The compiled kernel, after the kernels it calls; it replaces this object in its module."""
        with _LOCK:
            names = self.py_func.__globals__
            called = {name: names.get(name) for name in self.py_func.__code__.co_names}
            names |= {name: each.ready for name, each in called.items() if isinstance(each, Kernel)}
            made = self._make()
            if names.get(self.py_func.__name__) is self:
                names[self.py_func.__name__] = made
            return made


def is_ready(kernel: Any) -> bool:
    """Whether a kernel, as its module holds it, has been loaded."""
    return not isinstance(kernel, Kernel)


# All kernels, in the order in which their files were read.
KERNELS: list[Kernel] = []
_LOCK = threading.RLock()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    made = Kernel(function, lambda: importlib.import_module("xsumstat.kernels.compiler").compiled(function))
    KERNELS.append(made)
    return made


def intrinsic(make: Callable[[], Any]) -> Callable[..., Any]:
    """Something that kernels call and that `make` tells numba how to compile."""
    made = Kernel(make, make)
    KERNELS.append(made)
    return made


def compiled() -> list[Any]:
    return [each.ready for each in KERNELS if hasattr(each.ready, "stats")]

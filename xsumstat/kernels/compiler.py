"""How numba compiles a kernel, and when compiled code on disk may be used again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

from xsumstat.kernels import jit

# numba looks at one file's time and size, but kernels of one file call those of another.
_STAMP = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's cache, keyed by the text of all kernels; a cache that cannot be written is no error."""

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), _STAMP)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except OSError:
            return None
        # Two processes that compile at once may give one file name to two signatures.
        same = found is not None and tuple(found.signature.args) == tuple(normalize_signature(sig)[0])
        return found if same else None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:  # a full disk, a folder that became read-only
            pass


class _Linked(JITCodeLibrary):  # type: ignore[misc]
    """Code that is only linked into its callers: optimised, but without machine code of its own."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _KernelCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, with a message where compiling takes long."""

    def compile_extra(self, func: Any) -> Any:
        with jit.announced():
            return super().compile_extra(func)


class _CalleeCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler without what only Python calls need: wrappers and machine code."""

    def __init__(self, typingctx: Any, targetctx: Any, _: Any, args: Any, return_type: Any, flags: Any, names: Any):
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        linked = _Linked(targetctx.codegen(), "callee")
        super().__init__(typingctx, targetctx, linked, args, return_type, flags, names)


class _Callee(CPUDispatcher):  # type: ignore[misc]
    """A kernel as other kernels call it."""

    def add_overload(self, cres: Any) -> None:
        found = cres._replace(entry_point=object())  # by which numba knows it
        self.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
        self.overloads[tuple(found.signature.args)] = found


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel as Python calls it; other kernels call its twin, `_Callee`."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        super().__init__(function, targetoptions=options | {"no_cfunc_wrapper": True}, pipeline_class=_KernelCompiler)
        self._callee = _Callee(function, targetoptions=options, pipeline_class=_CalleeCompiler)
        try:
            self._cache = _Cache(function)
        except RuntimeError:  # numba found no folder to write to
            pass

    @property
    def _numba_type_(self) -> Any:
        return self._callee._numba_type_


def compiled(function: Callable[..., Any]) -> Any:
    """A kernel compiled and cached at the first call, without the GIL and with NumPy's division."""
    if config.DISABLE_JIT:
        return function
    return _Kernel(function, {"nopython": True, "nogil": True, "error_model": "numpy"})

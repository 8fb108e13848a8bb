"""Pickles of plain data: containers, strings, numbers and NumPy scalars; everything else is refused."""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_MOST_BYTES = 100_000_000
# A pickle longer than this has at least so many bytes to each list, mapping or tuple, an empty one of which takes 60 to
# 200 bytes in memory and one in the file.
_LONG, _LEAST_EACH = 2**20, 8
_LARGEST_TUPLE = 1_000  # values in it, all levels counted: Python hashes a tuple level by level, on the stack of C


def load(file: Path) -> Any:
    """Content of a pickle; nothing in it is run, and memory stays in proportion to the file's size."""
    size = file.stat().st_size
    if size > _MOST_BYTES:
        raise pickle.UnpicklingError(f"it has {size:,} bytes, and {_MOST_BYTES:,} are the most that are read")
    content = file.read_bytes()
    _check(content)
    return _PlainUnpickler(io.BytesIO(content)).load()


@dataclass(frozen=True)
class _Opcode:
    """Properties of an opcode before its argument is read."""

    name: str
    width: int  # bytes of its argument, or of the argument's length
    is_sized: bool  # whether the argument follows its length
    lines: int  # lines of its argument, where it is written as text
    taken: int  # objects that it takes from the stack,
    to_mark: bool  # after all above the last mark
    put: int  # objects that it leaves there


def _known(opcode: Any) -> _Opcode:
    size = opcode.arg.n if opcode.arg else 0
    widths = {
        pickletools.TAKEN_FROM_ARGUMENT1: 1,
        pickletools.TAKEN_FROM_ARGUMENT4: 4,
        pickletools.TAKEN_FROM_ARGUMENT4U: 4,
        pickletools.TAKEN_FROM_ARGUMENT8U: 8,
    }
    lines = 0
    if size == pickletools.UP_TO_NEWLINE:
        lines, size = 1 + (opcode.arg is pickletools.stringnl_noescape_pair), 0
    before = opcode.stack_before
    to_mark = pickletools.markobject in before
    taken = before.index(pickletools.markobject) if to_mark else len(before)
    return _Opcode(opcode.name, widths.get(size, size), size in widths, lines, taken, to_mark, len(opcode.stack_after))


_OPCODES = {ord(opcode.code): _known(opcode) for opcode in pickletools.opcodes}
_TUPLES = frozenset({"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"})
_CONTAINERS = _TUPLES | {"EMPTY_DICT", "EMPTY_LIST", "EMPTY_SET", "LIST", "DICT", "FROZENSET"}
_PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"})
_GETS = frozenset({"GET", "BINGET", "LONG_BINGET"})
# The opcodes that most of a pickle consists of, with the widths of their arguments.
_FREQUENT_PUTS = {code: each.width for code, each in _OPCODES.items() if each.name in ("BINPUT", "LONG_BINPUT")}
_FREQUENT_GETS = {code: each.width for code, each in _OPCODES.items() if each.name in ("BINGET", "LONG_BINGET")}
_NUMBERS = {code: each.width for code, each in _OPCODES.items() if each.name in ("BINFLOAT", "BININT", "BININT1")}
_STRINGS = {code: each.width for code, each in _OPCODES.items() if each.name in ("BINUNICODE", "SHORT_BINUNICODE")}


def _check(content: bytes) -> None:
    """Refuse what would end the process, by walking through the opcodes without executing them."""
    stack: list[int] = []
    marks: list[int] = []
    memo: dict[int, int] = {}
    at, end = 0, len(content)
    containers, most = 0, max(_LONG, end) // _LEAST_EACH
    while at < end:
        code, start = content[at], at + 1
        if code in _FREQUENT_PUTS:
            at = start + _FREQUENT_PUTS[code]
            _put(memo, int.from_bytes(content[start:at], "little"), stack[-1])
        elif code in _FREQUENT_GETS:
            at = start + _FREQUENT_GETS[code]
            stack.append(memo[int.from_bytes(content[start:at], "little")])
        elif code in _NUMBERS:
            at = start + _NUMBERS[code]
            stack.append(1)
        elif code in _STRINGS:
            at = start + _STRINGS[code]
            at += int.from_bytes(content[start:at], "little")
            stack.append(1)
        elif code in _OPCODES:
            opcode = _OPCODES[code]
            if opcode.name == "STOP":
                return
            containers += opcode.name in _CONTAINERS
            if containers > most:
                raise pickle.UnpicklingError(
                    f"it has more than {most:,} lists and mappings in {end:,} bytes, which would take far more memory "
                    "than the file: it may be damaged, or made to exhaust memory"
                )
            at = _after(opcode, content, start)
            _apply(opcode, content[start:at], stack, marks, memo)
            if opcode.name == "FRAME" and int.from_bytes(content[start:at], "little") > end - at:
                break
        else:
            raise pickle.UnpicklingError(f"its byte {at} is no opcode")
    raise pickle.UnpicklingError("it has fewer bytes than it announces")


def _put(memo: dict[int, int], number: int, size: int) -> None:
    if number > len(memo):
        raise pickle.UnpicklingError(
            f"it numbers its object {len(memo)} as {number}, and memory would be taken for all between"
        )
    memo[number] = size


def _after(opcode: _Opcode, content: bytes, start: int) -> int:
    after = start + opcode.width
    if opcode.is_sized:
        after += int.from_bytes(content[start:after], "little")
    for _ in range(opcode.lines):
        after = content.index(b"\n", after) + 1
    return after


def _apply(opcode: _Opcode, argument: bytes, stack: list[int], marks: list[int], memo: dict[int, int]) -> None:
    if opcode.name in _PUTS:
        _put(memo, len(memo) if opcode.name == "MEMOIZE" else int(argument), stack[-1])
    elif opcode.name in _GETS:
        stack.append(memo[int(argument)])
    elif opcode.name == "DUP":
        stack.append(stack[-1])
    elif opcode.name == "MARK":
        marks.append(len(stack))
    elif opcode.name == "POP" and marks and marks[-1] == len(stack):
        marks.pop()
    else:
        start = marks.pop() if opcode.to_mark else len(stack) - opcode.taken
        size = 1 + sum(stack[start:]) if opcode.name in _TUPLES else 1
        if size > _LARGEST_TUPLE:
            raise pickle.UnpicklingError(
                f"it has a tuple of more than {_LARGEST_TUPLE:,} values, those of tuples within it counted"
            )
        if opcode.to_mark:
            start -= opcode.taken
        if start < 0:
            raise pickle.UnpicklingError(f"its opcode {opcode.name} takes more than there is")
        stack[start:] = [size] * opcode.put


class _PlainDtype:
    """Replaces numpy.dtype while a pickle is read: only a number's format and byte order."""

    def __init__(self, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or not re.fullmatch(r"[fiu][1248]|b1", code):
            raise pickle.UnpicklingError(f"it asks for a NumPy scalar of type {code!r}, which is not a number")
        self.code = code
        self.dtype = np.dtype(code)

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, tuple) or len(state) < 2 or state[1] not in ("<", ">", "=", "|"):
            raise pickle.UnpicklingError("a NumPy type in it is malformed")
        self.dtype = np.dtype(state[1] + self.code)


def _plain_scalar(dtype: Any, data: Any) -> Any:
    """Replaces NumPy's constructor of scalars while a pickle is read."""
    if not isinstance(dtype, _PlainDtype) or not isinstance(data, bytes):
        raise pickle.UnpicklingError("a NumPy scalar in it is malformed")
    return np.frombuffer(data, dtype.dtype, count=1)[0].item()


def _plain_bytes(text: Any, encoding: Any) -> bytes:
    """Replaces codecs.encode, through which pickles of protocol 2 write bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError("a piece of binary data in it is malformed")
    return text.encode("latin1")


class _Callable:
    """A function that a pickle may call, but not set attributes of."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("it would change a function")


class _PlainUnpickler(pickle.Unpickler):
    """Builds containers, strings, numbers and NumPy scalars, and refuses everything else."""

    _ALLOWED: Mapping[tuple[str, str], Any] = {
        ("numpy", "dtype"): _PlainDtype,
        ("numpy.core.multiarray", "scalar"): _Callable(_plain_scalar),
        ("numpy._core.multiarray", "scalar"): _Callable(_plain_scalar),
        ("_codecs", "encode"): _Callable(_plain_bytes),
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module[:80]}.{name[:80]}, which is not plain data")
        return self._ALLOWED[module, name]

"""Texts and bytes into a file, whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; a link stays, and what it points at is written."""
    target = followed(path)
    try:
        if target.exists() and not target.is_file():  # a device or a pipe, of which there is no other
            target.write_bytes(_bytes(content))
        else:
            _replace(target, _bytes(content))
    except OSError as error:  # which names no file where a disk is full, and elsewhere the temporary one
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def write_all(folder: Path, contents: Mapping[Path, str | bytes]) -> None:
    """Write files by their paths within a folder, all of them or none."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".xsumstat-") as scratch:
        for number, content in enumerate(contents.values()):
            (Path(scratch) / str(number)).write_bytes(_bytes(content))
        for number, path in enumerate(contents):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(Path(scratch) / str(number), folder / path)


def followed(path: Path) -> Path:
    """The file that a path leads to, whether there is one or not."""
    try:
        target = path.resolve()
    except RuntimeError:  # how Python before 3.13 says that links form a loop
        target = path
    if target.is_symlink():
        raise OSError(f"{path}: its links form a loop")
    return target


def _bytes(content: str | bytes) -> bytes:
    """A text as UTF-8, with the line ends of the system."""
    return content.replace("\n", os.linesep).encode() if isinstance(content, str) else content


def _replace(path: Path, content: bytes) -> None:
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".xsumstat-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current

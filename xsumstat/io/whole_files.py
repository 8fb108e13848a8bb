"""Write text to a file whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all; a link stays, and its target is written."""
    target = path.resolve()
    try:
        if target.exists() and not target.is_file():  # a device or a pipe, of which there is no other
            target.write_text(text, encoding="utf-8")
        else:
            _replace(target, text)
    except OSError as error:  # which names no file where a disk is full, and elsewhere the temporary one
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def _replace(path: Path, text: str) -> None:
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".xsumstat-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current

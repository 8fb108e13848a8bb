"""Blocks of work on threads, with a progress bar, until interrupted."""

from __future__ import annotations

import contextvars
import importlib.util
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from xsumstat.core import arguments, extras
from xsumstat.kernels import jit

# No kernel should run longer than this many nanoseconds before somebody can stop it.
_PATIENCE = 3e8
# Seconds before a progress bar that was not requested, or a line in a log, appears.
_DELAY = 1.0

Bar = Callable[[], object]
# What moves the bar of the whole, by a share of the run that is under way, where several runs have one bar.
_WHOLE: ContextVar[Callable[[float], object] | None] = ContextVar("whole", default=None)


def n_threads() -> int:
    """Number of threads: XSUMSTAT_NUM_THREADS, else NUMBA_NUM_THREADS, else the available cores."""
    value = os.environ.get("XSUMSTAT_NUM_THREADS", "")
    if not value:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return int(os.environ.get("NUMBA_NUM_THREADS") or cores)
    if not value.isdecimal() or int(value) < 1:
        raise ValueError(f"XSUMSTAT_NUM_THREADS must be a whole number of at least 1, got {value!r}")
    return int(value)


def _watched() -> bool:
    """Whether there is a terminal or notebook, and tqdm."""
    return jit.watched() and importlib.util.find_spec("tqdm") is not None


@contextmanager
def progress_bar(total: int, progress: bool | None, *, desc: str = "resampling", unit: str = "block") -> Iterator[Bar]:
    """A function to call after each of `total` steps, which moves a tqdm bar (the common one within `one_bar`)."""
    whole = _WHOLE.get()
    if whole is not None:
        yield lambda: whole(1 / total)
        return
    with _shown(total, progress, desc=desc, unit=unit) as advance:
        yield lambda: advance(1)


@contextmanager
def one_bar(
    n_runs: int, progress: bool | None, *, desc: str = "resampling"
) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """One bar for several runs: yields what to enter around each run."""
    outer = _WHOLE.get()
    if outer is not None:
        yield lambda: _part(lambda share: outer(share / n_runs))
        return
    bare = "{l_bar}{bar}| [{elapsed}<{remaining}]"
    with _shown(n_runs, progress, desc=desc, bar_format=bare) as advance:
        yield lambda: _part(advance)


@contextmanager
def _part(advance: Callable[[float], object]) -> Iterator[None]:
    """One run of several; it counts as complete at its end, however many bars it had."""
    done = 0.0

    def move(share: float) -> None:
        nonlocal done
        share = min(share, 1.0 - done)
        done += share
        advance(share)

    token = _WHOLE.set(move)
    try:
        yield
    finally:
        _WHOLE.reset(token)
    move(1.0)


@contextmanager
def _shown(total: int, progress: bool | None, **style: str) -> Iterator[Callable[[float], object]]:
    if progress is not None and not progress:
        yield lambda n: None
        return
    if progress is None and not _watched():
        yield _line_in_a_log(total, style["desc"])
        return
    tqdm = extras.optional("tqdm.auto", "progress").tqdm
    if progress:
        with tqdm(total=total, **style) as bar:
            yield bar.update
        return
    late = _LateBar(lambda: tqdm(total=total, **style))
    try:
        yield late.update
    finally:
        late.close()


def _line_in_a_log(total: int, desc: str) -> Callable[[float], object]:
    """A function that counts steps, and prints progress at the first step after a second."""
    start, done = time.monotonic(), 0.0

    def count(n: float) -> None:
        nonlocal done
        done += n
        passed = time.monotonic() - start
        if passed >= _DELAY and done < total:
            shown = arguments.only_in_python(" (progress=True shows a bar)")
            jit.print_once(f"xsumstat: {desc}, {done / total:.0%} done after {passed:.1f} s{shown}")

    return count


class _LateBar:
    """A bar that appears after some seconds, even before the first step ends."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._bar: Any = None
        self._start = time.time()
        self._waiting: float = 0
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._clock = threading.Thread(target=contextvars.copy_context().run, args=(self._tick,), daemon=True)
        self._clock.start()

    def update(self, n: float) -> None:
        with self._lock:
            self._waiting += n
            self._show()

    def _tick(self) -> None:
        """Show the bar when it is time, then update the elapsed time each second."""
        wait = _DELAY
        while not self._closed.wait(wait):
            with self._lock:
                self._show()
                if self._bar is not None:
                    self._bar.refresh()
            wait = min(1.0, max(_DELAY, 0.1))

    def _show(self) -> None:
        if self._bar is None and time.time() - self._start >= _DELAY:
            self._bar = self._make()
            self._bar.start_t = self._bar.last_print_t = self._start
        if self._bar is not None and self._waiting:
            self._bar.update(self._waiting)
            self._waiting = 0

    def close(self) -> None:
        self._closed.set()
        self._clock.join()
        if self._bar is not None:
            self._bar.close()


def over_blocks(work: Callable[[int, threading.Event], None], n_blocks: int, bar: Bar) -> None:
    """Call ``work(block, stop)`` for every block on threads; on Ctrl-C set `stop`, wait and raise."""
    stop = threading.Event()
    threads = max(1, min(n_threads(), n_blocks))
    try:
        if threads > 1:
            _on_threads(work, n_blocks, bar, stop, threads)
            return
        for block in range(n_blocks):  # on this thread, with the settings of NumPy that a new one has
            contextvars.Context().run(work, block, stop)
            bar()
    except BaseException:
        stop.set()
        raise


def _on_threads(
    work: Callable[[int, threading.Event], None], n_blocks: int, bar: Bar, stop: threading.Event, threads: int
) -> None:
    def unless_stopped(block: int) -> None:
        if not stop.is_set():
            work(block, stop)

    pending: set[Future[None]] = set()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for block in range(n_blocks + 1):
                # A few blocks wait in line, and not all: there may be a million.
                while pending and (block == n_blocks or len(pending) >= 4 * threads):
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
                        bar()
                if block < n_blocks:
                    pending.add(pool.submit(unless_stopped, block))
        except BaseException:
            stop.set()  # before the pool waits for what runs
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def pieces(rows: int, cost: float, stop: threading.Event | None) -> Iterator[slice]:
    """Rows of a block in short pieces, until interrupted."""
    step = max(1, min(rows, int(_PATIENCE / max(cost, 1.0))))
    for start in range(0, rows, step):
        if stop is not None and stop.is_set():
            return
        yield slice(start, min(rows, start + step))

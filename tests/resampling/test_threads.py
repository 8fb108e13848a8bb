"""Work on threads: their number, errors, Ctrl-C, and progress bars."""

import re
import signal
import sys
import threading
import time

import numpy as np
import pytest

from xsumstat.kernels import jit
from xsumstat.resampling import draws, threads


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5"])
def test_a_bad_number_of_threads_is_named(monkeypatch, value):
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", value)
    with pytest.raises(ValueError, match=f"XSUMSTAT_NUM_THREADS must be a whole number.*'{value}'"):
        threads.n_threads()


def test_an_error_in_a_block_reaches_the_caller():
    def work(block, stop):
        if block == 3:
            raise RuntimeError("block 3")

    with pytest.raises(RuntimeError, match="block 3"):
        threads.over_blocks(work, 10, lambda: None)


def test_numpys_settings_are_those_of_a_new_thread(demo):
    """On one thread too, which is the caller's own."""
    usual = demo.meta.ci("human", level="input", coefficient="kendall")
    with np.errstate(all="raise"):
        assert demo.meta.ci("human", level="input", coefficient="kendall").identical(usual)
        seen = []
        threads.over_blocks(lambda block, stop: seen.append(np.geterr()["invalid"]), 1, lambda: None)
    assert seen == ["warn"]


@pytest.mark.parametrize("number", ["1", "2"])
def test_ctrl_c_stops_soon_and_leaves_the_session_usable(number, monkeypatch):
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", number)
    started = threading.Event()
    finished = []

    def work(block, stop):
        started.set()
        for _ in range(200):
            if stop.is_set():
                return
            time.sleep(0.01)
        finished.append(block)

    def interrupt():
        started.wait()
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
    try:
        thread.start()
        before = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            threads.over_blocks(work, 100, lambda: None)
        thread.join()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert time.monotonic() - before < 1.0
    assert not finished
    done = []
    threads.over_blocks(lambda block, stop: done.append(block), 10, lambda: None)
    assert sorted(done) == list(range(10))


@pytest.mark.parametrize("method, blocks", [("ci", 1), ("boot_test", 3), ("perm_test", 3)])
def test_a_progress_bar_counts_blocks_and_changes_nothing(demo, capsys, method, blocks):
    call = getattr(demo.meta, method)
    settings = {"level": "input", "n_resamples": 2 * draws.BLOCK + 1, "rng": 1}
    quiet = call("human", **settings)
    assert capsys.readouterr().err == ""
    shown = call("human", progress=True, **settings)
    last = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]
    assert last.startswith("resampling: 100%") and f"{blocks}/{blocks}" in last
    assert shown.identical(quiet)


def test_a_bar_without_tqdm_names_the_extra(demo, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[progress\]"'):
        demo.meta.ci("human", n_resamples=9, rng=1, progress=True)


@pytest.mark.parametrize("delay, shown", [(60.0, False), (0.0, True)])
def test_a_bar_that_nobody_asked_for_comes_late_and_is_not_made_before(demo, capsys, monkeypatch, delay, shown):
    """Not made, and not only not shown: in a notebook it would leave its widgets there."""
    tqdm = pytest.importorskip("tqdm.auto")
    made, bar = [], tqdm.tqdm

    def noted(*args, **keywords):
        made.append(bar(*args, **keywords))
        return made[-1]

    monkeypatch.setattr(tqdm, "tqdm", noted)
    monkeypatch.setattr(threads, "_watched", lambda: True)
    monkeypatch.setattr(threads, "_DELAY", delay)
    settings = {"level": "input", "n_resamples": 2 * draws.BLOCK + 1, "rng": 1}
    demo.meta.ci("human", method="bootstrap", **settings)
    said = capsys.readouterr().err
    assert len(made) == shown and ("100%" in said and "3/3" in said) == shown == bool(said)


def test_a_bar_comes_before_the_first_step_is_done(capsys, monkeypatch):
    """What takes long in one go shows that it is at work, and how long it has been."""
    pytest.importorskip("tqdm")
    monkeypatch.setattr(threads, "_watched", lambda: True)
    monkeypatch.setattr(threads, "_DELAY", 0.2)
    with threads.progress_bar(4, None) as bar:
        time.sleep(0.1)
        assert capsys.readouterr().err == ""
        time.sleep(0.6)
        said = capsys.readouterr().err
        assert "resampling:   0%" in said and "0/4" in said
        for _ in range(4):
            bar()
    assert "4/4" in capsys.readouterr().err


def test_a_bar_that_failed_stops_its_clock(monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(threads, "_watched", lambda: True)
    monkeypatch.setattr(threads, "_DELAY", 3600.0)
    before = threading.active_count()
    with pytest.raises(ValueError, match="work"), threads.progress_bar(4, None):
        assert threading.active_count() == before + 1
        raise ValueError("work")
    assert threading.active_count() == before


def test_a_log_gets_one_line_once_in_a_process(capsys, monkeypatch):
    monkeypatch.setattr(threads, "_watched", lambda: False)
    monkeypatch.setattr(threads, "_DELAY", 0.05)
    monkeypatch.setattr(jit, "_printed", False)

    def said(progress=None):
        with threads.progress_bar(4, progress) as bar:
            bar()
            time.sleep(0.3)
            bar()
            bar()
        return capsys.readouterr().err

    assert said() == ""  # XSUMSTAT_QUIET
    monkeypatch.delenv("XSUMSTAT_QUIET")
    assert said(progress=False) == ""
    line = r"xsumstat: resampling, 50% done after \d\.\d s \(progress=True shows a bar\)\n"
    assert re.fullmatch(line, said())
    assert said() == ""

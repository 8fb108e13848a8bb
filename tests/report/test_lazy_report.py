"""The report of scores that are left in their file: the same text, of less memory."""

import subprocess
import sys
import types
from pathlib import Path

import dask
import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from dask.callbacks import Callback

from xsumstat.cli import main as cli
from xsumstat.core.caveats import MetaEvaluationWarning
from xsumstat.io import frames
from xsumstat.report import metric_report
from xsumstat.resampling import threads

mpl.use("Agg")


def run(capsys, *arguments):
    status = cli.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def saved(ds, path):
    if path.suffix == ".nc":
        ds.to_netcdf(path)
    else:
        one = {"chunks": (1, *(ds.sizes[dim] for dim in ds.score.dims[1:]))}
        ds.to_zarr(path, zarr_format=2, encoding={"score": one})
    return path


@pytest.fixture
def store(tmp_path, demo):
    return saved(demo[["score"]], tmp_path / "scores.zarr")


@pytest.fixture
def seen(monkeypatch):
    """Whether the scores that reports were made of were lazy."""
    found, make = [], metric_report.make_report

    def looked_at(ds, *args, **kwargs):
        found.append(ds.score.chunks is not None)
        return make(ds, *args, **kwargs)

    monkeypatch.setattr(metric_report, "make_report", looked_at)
    return found


def warned(err):
    return sorted(line for line in err.splitlines() if "warning:" in line)


# --- The same text ---


@pytest.mark.parametrize(
    "name, arguments",
    [
        pytest.param("scores.zarr", [], marks=pytest.mark.slow),
        ("scores.nc", ["--level", "input", "--adjust", "by"]),
        pytest.param(
            "scores.zarr",
            ["--coefficient", "spa", "--metric", "judge", "rouge", "--seed", 4],
            marks=pytest.mark.slow,
        ),
        ("scores.zarr", ["--metric", "judge", "length", "--lower-is-better", "length", "--resample", "input"]),
        pytest.param("scores.zarr", ["--metric", "judge"], marks=pytest.mark.slow),
    ],
)
def test_the_report_is_the_same_to_the_character(capsys, tmp_path, demo, seen, name, arguments):
    path = saved(demo, tmp_path / name)
    given = [path, "--n-resamples", 99, *arguments]
    status, out, err = run(capsys, *given)
    lazily, lazy_out, lazy_err = run(capsys, *given, "--dask")
    assert status == lazily == 0 and out == lazy_out and seen == [False, True]
    assert warned(err) == warned(lazy_err)


@pytest.mark.slow
def test_further_dims_gaps_and_constants_are_told_of_alike(capsys, tmp_path, demo, seen):
    gaps = demo.score.where(~((demo.metric == "rouge") & (demo.input == "doc-03")))
    flat = gaps.where(demo.metric != "bleu", 1.0)
    path = saved(
        xr.concat([gaps, flat], "language").assign_coords(language=["en", "de"]).to_dataset(), tmp_path / "a.nc"
    )
    given = [path, "--gold", "human", "--n-resamples", 999]
    status, out, err = run(capsys, *given)
    lazily, lazy_out, lazy_err = run(capsys, *given, "--dask")
    assert status == lazily == 0 and out == lazy_out and seen == [False, True]
    assert warned(err) == warned(lazy_err) and len(warned(err)) > 1


@pytest.mark.slow
def test_systems_and_inputs_without_scores_are_counted_alike(demo):
    """Only a task knows which they are; reports compute it beside their results."""
    there = (demo.system != "extractor-1") & ~demo.input.isin(["doc-05", "doc-08"])
    ds = demo[["score"]].where(there)
    ds = xr.concat([ds, ds.isel(system=[0]).assign_coords(system=["ours alone"])], "system")
    human = demo.score.sel(metric="human").where(there)
    with pytest.warns(MetaEvaluationWarning):
        eager, lazy = (
            metric_report.make_report(each, "demo", gold=human, metric=["judge", "rouge"], progress=False)
            for each in (ds, ds.chunk(metric=1))
        )
    assert eager.text() == lazy.text() and "For these 11 systems on inputs like these" in lazy.text()
    assert lazy.intervals.attrs == eager.intervals.attrs and lazy.tests.attrs == eager.tests.attrs
    assert lazy.tests_of_these.attrs == eager.tests_of_these.attrs
    assert (lazy.tests.attrs["n_systems"], lazy.tests.attrs["dropped_input"]) == (11, "doc-05, doc-08")
    assert lazy.tests.attrs["dropped_system"] == "ours alone, extractor-1"


@pytest.mark.slow
def test_the_page_is_the_same(capsys, tmp_path, monkeypatch, store):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    mpl.rcParams["svg.hashsalt"] = "same"
    pages = [tmp_path / "eager.html", tmp_path / "lazy.html"]
    given = [store, "--coefficient", "spa", "--metric", "judge", "rouge", "--n-resamples", 99, "--output"]
    assert run(capsys, *given, pages[0])[0] == run(capsys, *given, pages[1], "--dask")[0] == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()


@pytest.mark.slow
def test_bad_scores_are_refused_alike(capsys, tmp_path, demo):
    flat = saved(demo[["score"]].where(demo.metric != "human", 1.0), tmp_path / "flat.zarr")
    said = [run(capsys, flat, "--gold", "human", "--n-resamples", 99, *more) for more in ([], ["--dask"])]
    for status, out, err in said:
        assert status == 2 and out == ""
        assert err.splitlines()[-1] == "xsumstat: error: gold 'human' is constant: its correlations are undefined"


@pytest.mark.slow
def test_intervals_and_tests_are_computed_in_one_go(store):
    runs, scores = [], frames.read_scores(store, chunks={"metric": 1})
    with Callback(start=lambda graph: runs.append(len(graph))), dask.config.set(scheduler="sync"):
        made = metric_report.make_report(scores, "demo", gold="human", n_resamples=999)
    assert len(runs) == 1
    assert made.intervals.correlation.chunks is None and made.tests.pvalue_adjusted.chunks is None


# --- What is lazy, and where it is computed ---


def test_large_scores_are_lazy_by_themselves(capsys, monkeypatch, store, seen):
    arguments = [store, "--gold", "human", "--n-resamples", 20]
    size = 8 * 7 * 12 * 30
    monkeypatch.setattr("distributed.system.MEMORY_LIMIT", 4 * size)
    _, out, err = run(capsys, *arguments)
    assert "a metric at a time" not in err  # these are few bytes, whatever the memory
    monkeypatch.setattr(cli, "_FEW_BYTES", 1)
    assert "a metric at a time" not in run(capsys, *arguments)[2]
    monkeypatch.setattr("distributed.system.MEMORY_LIMIT", 4 * size - 1)
    _, lazy_out, err = run(capsys, *arguments)
    assert (
        "scores.zarr: 0.0 GB are more than a quarter of this machine's memory, so xsumstat reads one metric at" in err
    )
    assert out == lazy_out and seen == [False, False, True]


def test_large_scores_without_dask_are_read_at_once(capsys, monkeypatch, store, seen):
    pytest.importorskip("distributed")  # whole, before a part of it is hidden
    monkeypatch.setattr(cli, "_FEW_BYTES", 1)
    monkeypatch.setitem(sys.modules, "distributed.system", None)
    status, _, err = run(capsys, store, "--gold", "human", "--n-resamples", 20)
    assert status == 0 and seen == [False]
    assert "are read at once; to read a metric at a time, this needs distributed, which is not installed; " in err


def test_threads_are_as_many_as_were_asked_for(monkeypatch):
    monkeypatch.setenv("XSUMSTAT_NUM_THREADS", "3")
    with cli._workers(True):
        assert dask.config.get("scheduler") == "threads" and dask.config.get("num_workers") == threads.n_threads() == 3
    assert dask.config.get("num_workers", None) is None


@pytest.mark.slow
def test_stores_of_several_metrics_in_a_chunk_are_told(capsys, tmp_path, demo):
    demo[["score"]].to_zarr(tmp_path / "a.zarr", zarr_format=2, encoding={"score": {"chunks": (3, 12, 30)}})
    status, _, err = run(capsys, tmp_path / "a.zarr", "--gold", "human", "--n-resamples", 20, "--dask")
    assert status == 0 and "a.zarr holds 3 metrics in each chunk" in err and "stored chunks" not in err


@pytest.mark.slow
def test_the_bar_is_beside_the_answer(capsys, demo):
    lazy = demo.chunk(metric=1)
    metric_report.make_report(lazy, "demo", metric=["judge"], n_resamples=20, progress=True)
    out, err = capsys.readouterr()
    assert "100%" in err and out == ""
    metric_report.make_report(lazy, "demo", metric=["judge"], n_resamples=20)
    assert capsys.readouterr().err == ""


# --- What is refused ---


@pytest.mark.parametrize("given", ["demo", "scores.csv", "folder"])
def test_what_is_read_whole_cannot_be_lazy(capsys, tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text("system,input,human\na,1,2\n")
    (tmp_path / "folder").mkdir()
    status, out, err = run(capsys, given, "--gold", "human", "--dask")
    assert status == 2 and out == ""
    assert err == f"xsumstat: error: --dask is for .nc and .zarr, which can be read in parts; {given} is read whole\n"


def test_bad_addresses(capsys, monkeypatch, store):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cli, "_PATIENCE", 0.3)
    for address, message in (("tcp://127.0.0.1:1", "Timed out trying to connect"), ("no://host", "unknown address")):
        status, out, err = run(capsys, store, "--gold", "human", "--dask", address)
        assert status == 2 and out == "" and message in err and "Traceback" not in err
        with pytest.raises(ValueError, match="No clients found"):  # nothing of it stays
            distributed.default_client()
    with pytest.raises(SystemExit) as error:
        cli.main(["--dask", str(store)])
    assert error.value.code == 2
    err = capsys.readouterr().err
    assert "must be a scheduler's address, e.g. tcp://host:8786" in err and "--dask alone follows SCORES" in err


@pytest.mark.parametrize("package, arguments", [("dask", []), ("distributed", ["tcp://127.0.0.1:1"])])
def test_the_extra_is_named_where_it_is_not_installed(capsys, monkeypatch, store, package, arguments):
    pytest.importorskip(package)  # whole, before it is hidden
    monkeypatch.setitem(sys.modules, package, None)
    status, out, err = run(capsys, store, "--gold", "human", "--dask", *arguments)
    assert status == 2 and out == ""
    command = 'in a clone of xsumstat, run: pip install ".[dask]"'
    assert err == f"xsumstat: error: this needs {package}, which is not installed; {command}\n"


def test_files_that_are_not_there_or_hold_no_scores(capsys, tmp_path):
    status, _, err = run(capsys, tmp_path / "none.zarr", "--dask")
    assert status == 2 and "error: no such file or folder" in err
    xr.Dataset({"other": ("metric", [1.0])}, attrs={"gold": "h"}).to_netcdf(tmp_path / "a.nc")
    for more in ([], ["--dask"]):
        status, _, err = run(capsys, tmp_path / "a.nc", *more)
        assert status == 2 and "error: the Dataset has no variable 'score'" in err


def test_a_cluster_that_gives_up_is_one_line(capsys, monkeypatch, store):
    distributed = pytest.importorskip("distributed")

    class Client:
        def __init__(self, address, timeout, set_as_default=True):
            assert address == "tcp://host:1" and timeout == cli._PATIENCE

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

        @classmethod
        def current(cls, **_):
            raise ValueError("no client")

    def dies(*_, **__):
        raise distributed.KilledWorker("task", types.SimpleNamespace(address="tcp://worker:1"), 3)

    monkeypatch.setattr(distributed, "Client", Client)
    monkeypatch.setattr(metric_report, "make_report", dies)
    status, out, err = run(capsys, store, "--gold", "human", "--dask", "tcp://host:1")
    assert status == 2 and out == "" and "error: the cluster at tcp://host:1 gave up: " in err


# --- Larger than a test should be ---


def large(path, inputs):
    rng = np.random.default_rng(0)
    score = rng.normal(size=(24, 25, 1)) + rng.normal(size=(24, 25, inputs))
    score += 2 * rng.normal(size=(25, 1))
    ds = xr.Dataset({"score": (("metric", "system", "input"), score)}, attrs={"gold": "human"})
    return saved(ds.assign_coords(metric=["human", *(f"m{at}" for at in range(1, 24))]), path)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="says what a process took at most")
def test_the_scores_are_never_in_memory_together(tmp_path):
    """Beside what the program itself takes, which that of tiny scores shows."""
    paths = [large(tmp_path / "small.zarr", 20), large(tmp_path / "large.zarr", 16_000)]
    code = (  # as if these scores were too many to be shared by tasks
        "import re, sys; from pathlib import Path; from xsumstat.cli import main as cli; "
        "from xsumstat.resampling import tasks; "
        "tasks.SHARED = 0; status = cli.main(sys.argv[1:]); "
        "status_of = Path('/proc/self/status').read_text(); "
        "print(re.search(r'VmHWM:\\s+(\\d+)', status_of)[1], file=sys.stderr); sys.exit(status)"
    )

    def peak(path, *more):
        arguments = [sys.executable, "-c", code, str(path), "--n-resamples", "20", *more]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        return int(done.stderr.split()[-1]) / 1024, done.stdout

    peak(paths[0])  # compiles
    (without, _), (lazily_without, _) = peak(paths[0]), peak(paths[0], "--dask")
    (eager, eager_text), (lazy, lazy_text) = peak(paths[1]), peak(paths[1], "--dask")
    assert eager_text == lazy_text
    assert lazy - lazily_without < 0.75 * (eager - without), (without, lazily_without, eager, lazy)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster's own
def test_a_cluster_gives_the_same_report(capsys, store):
    distributed = pytest.importorskip("distributed")
    given = [store, "--gold", "human", "--n-resamples", 999]
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster:
        status, out, _ = run(capsys, *given, "--dask", cluster.scheduler_address)
    assert status == 0 and out == run(capsys, *given)[1]

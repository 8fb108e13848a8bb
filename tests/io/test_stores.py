import numpy as np
import pytest
import xarray as xr

from xsumstat.io import frames, stores


@pytest.fixture(params=[".nc", ".zarr"])
def saved(tmp_path, demo, request):
    path = tmp_path / f"scores{request.param}"
    if request.param == ".nc":
        demo.to_netcdf(path)
    else:
        demo.to_zarr(path, zarr_format=2, encoding={"score": {"chunks": (1, 6, 30)}, "truth": {"chunks": (1, 4)}})
    return path


def test_chunks_leave_the_scores_in_the_file(saved, demo):
    with frames.read_scores(saved, chunks={"metric": 1}) as ds:
        assert ds.score.chunks[0] == (1,) * 7
        assert ds.score.chunks[1:] == (((6, 6) if saved.suffix == ".zarr" else (12,)), (30,))
        assert all(coord.chunks is None for coord in ds.coords.values()) and ds.attrs["gold"] == "human"
        xr.testing.assert_identical(ds.compute(), frames.read_scores(saved))
    assert frames.read_scores(saved).score.chunks is None
    np.testing.assert_array_equal(frames.read_scores(saved).score, demo.score)


def test_what_is_lazy_is_found_from_another_folder(saved, monkeypatch, tmp_path, demo):
    monkeypatch.chdir(saved.parent)
    with frames.read_scores(saved.name, chunks={}) as ds:
        (tmp_path / "other").mkdir()
        monkeypatch.chdir(tmp_path / "other")
        np.testing.assert_array_equal(ds.score.compute(), demo.score)


def test_bytes_are_counted_without_reading(saved, demo):
    assert stores.bytes_in_memory(saved) == 8 * (demo.score.size + demo.truth.size)
    small = saved.with_name("small.nc")
    demo.score.astype(np.float32).to_dataset().to_netcdf(small)
    assert stores.bytes_in_memory(small) == 8 * demo.score.size  # answers are had from double precision


def test_metrics_that_are_stored_together_are_counted(tmp_path, demo):
    paths = []
    for size in (1, 3):
        paths.append(tmp_path / f"{size}.zarr")
        demo[["score"]].to_zarr(paths[-1], zarr_format=2, encoding={"score": {"chunks": (size, 12, 30)}})
    assert [stores.stored_together(xr.open_zarr(path)) for path in paths] == [1, 3]
    demo.to_netcdf(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc") as contiguous:
        assert stores.stored_together(contiguous) == stores.stored_together(contiguous.drop_vars("score")) == 1


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "folder"])
def test_tables_cannot_be_left_in_their_files(tmp_path, name):
    path = tmp_path / name
    path.mkdir() if name == "folder" else path.write_text("metric,system,input,score\n")
    with pytest.raises(
        ValueError, match=rf"chunks=.* needs a file that can be read in parts \('.nc', '.zarr'\), got {name}"
    ):
        frames.read_scores(path, chunks={"metric": 1})


@pytest.mark.parametrize("name", ["a.nc", "a.zarr"])
def test_stores_that_cannot_be_read_are_named(tmp_path, name):
    path = tmp_path / name
    path.mkdir() if name == "a.zarr" else path.write_bytes(b"no netCDF")
    for ask in (stores.bytes_in_memory, lambda path: frames.read_scores(path, chunks={})):
        with pytest.raises((ValueError, OSError), match=f"cannot read {name} as"):
            ask(path)

"""A report of too few systems: nothing on it speaks of intervals as if there were some."""

import warnings

import pytest

import xsumstat
from xsumstat.report import metric_report


def made(systems, metric):
    demo = xsumstat.load_dataset("demo").isel(system=slice(systems))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return metric_report.make_report(demo, "few", metric=metric, level="system", resample="both")


@pytest.mark.parametrize("metric", [["judge"], ["judge", "rouge"]])
def test_where_there_are_no_intervals_none_is_explained(metric):
    few, page = made(3, metric), " ".join(made(3, metric).html().split())
    assert "interval" not in few.about() and few.about().endswith("xsumstat " + xsumstat.__version__ + ".")
    for text in (
        "An interval shows",
        "with its interval",
        "density of plausible values",
        ">Intervals<",
        "no interval)",
    ):
        assert text not in page, text
    assert ">Correlations<" in page and "<p></p>" not in page
    assert ("A metric beats another" in page) == (len(metric) > 1)


def test_where_there_are_some_they_are():
    few, page = made(8, ["judge"]), " ".join(made(8, ["judge"]).html().split())
    assert "95 % jackknife intervals" in few.about()
    for text in ("An interval shows", "with its interval", "density of plausible values", ">Intervals<"):
        assert text in page, text

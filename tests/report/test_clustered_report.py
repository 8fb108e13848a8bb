"""`cluster=` of a report reaches its intervals and its tests of both scopes; reports of judges say what takes it."""

import numpy as np
import pytest
import xarray as xr
from helpers import by_turns

from xsumstat.cli import main as cli


@pytest.fixture
def ds(demo):
    family, document = ([f"{at // size}" for at in range(n)] for n, size in ((12, 2), (30, 3)))
    return demo.assign_coords(family=("system", family), document=("input", [f"d{each}" for each in document]))


@pytest.mark.parametrize("cluster", by_turns([("document",), (("family", "document"),)]))
def test_its_intervals_and_tests_are_those_with_clusters(ds, cluster):
    report = ds.meta.report("human", metric=["judge", "rouge", "bleu"], cluster=cluster)
    asked = {"metric": ["judge", "rouge", "bleu"], "cluster": cluster}
    xr.testing.assert_identical(report.intervals, ds.meta.ci("human", **asked))
    xr.testing.assert_identical(report.tests, ds.meta.compare_metrics("human", **asked))
    xr.testing.assert_identical(report.tests_of_these, ds.meta.compare_metrics("human", resample="input", **asked))
    again = {"ds": ds}
    exec(report.code, again)  # noqa: S102
    np.testing.assert_array_equal(again["intervals"].ci_low, report.intervals.ci_low)
    np.testing.assert_array_equal(again["tests_of_these"].pvalue, report.tests_of_these.pvalue)
    words = " and ".join([cluster] if isinstance(cluster, str) else cluster)
    assert f"left out in turn, clustered by {words})" in report.about() and f"clustered by {words}" in str(report)


def test_the_command_line_takes_it_and_names_it_in_the_warning(ds, tmp_path, capsys):
    frame = ds.score.to_series().unstack("metric")[["human", "judge", "rouge"]].reset_index()
    frame = frame.assign(document=frame.input.map(dict(zip(ds.input.values, ds.document.values, strict=True))))
    frame.to_csv(tmp_path / "a.csv", index=False)
    asked = [str(tmp_path / "a.csv"), "--gold", "human"]
    assert cli.main(asked) == 0
    assert "30 inputs come from 10 documents" in (err := capsys.readouterr().err)
    assert "--cluster document keeps documents together" in err
    assert cli.main([*asked, "--cluster", "document"]) == 0
    out, err = capsys.readouterr()
    assert "clustered by document" in out and "come from 10 documents" not in err
    assert cli.main([*asked, "--cluster", "doc"]) == 2
    assert "did you mean 'document'?" in capsys.readouterr().err
    for more, told in ((["--judge"], "--judge"), (["--require", "kendall >= .1"], "--require")):
        assert cli.main([*asked, "--cluster", "document", *more]) == 2
        assert f"reports of metrics, and {told} takes inputs as independent" in capsys.readouterr().err


def test_reports_of_judges_say_what_takes_it(ds):
    with pytest.raises(ValueError, match="cluster='document' is for kind='metrics'"):
        ds.meta.report("human", kind="judge", metric="judge", cluster="document")
    for name in ("document", "doc_id"):
        told = f"from 10 documents.*; ci, bias and compare_systems take cluster='{name}'"
        with pytest.warns(UserWarning, match=told):
            ds.rename(document=name).meta.report("human", kind="judge", metric="judge")


@pytest.mark.slow
def test_reports_of_judges_do_not_propose_families(ds):
    copied = ds.score.isel(system=[0]).assign_coords(system=["copy"])
    copies = xr.concat([ds.score, copied], "system", coords="minimal", compat="override").to_dataset(name="score")
    with pytest.warns(UserWarning, match="near-copies among the systems: .* keep one of each$"):
        copies.drop_vars("document").meta.report("human", kind="judge", metric="judge")
    with pytest.warns(UserWarning, match="keep one of each, or name families .* pass cluster='family'"):
        copies.drop_vars("document").meta.report("human", metric="judge")


def test_a_report_has_a_conclusion(ds):
    report = ds.meta.report("human", metric=["judge", "rouge"], cluster="document")
    lines = report.conclusion().splitlines()
    assert len(lines) == 3 and lines[0].startswith("judge has the highest") and "For these 12 systems" in lines[2]

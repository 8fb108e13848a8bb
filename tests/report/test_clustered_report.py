"""`cluster=` of a report reaches its intervals and tests, those of judges and of rules, too."""

import re

import numpy as np
import pytest
import xarray as xr
from helpers import by_turns

from xsumstat.cli import main as cli
from xsumstat.core import validate
from xsumstat.dataset import wording
from xsumstat.report import judge_report

MARGINS = [at / 50 for at in range(20)]


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


@pytest.fixture
def rated(ds):
    """Three raters and two judges of six systems, whose errors the inputs of a document share."""
    rng = np.random.default_rng(0)
    few = ds.isel(system=slice(6))
    human = few.score.sel(metric="human", drop=True)
    shared = np.repeat(rng.normal(size=(5, 6, 10)), 3, axis=2)
    made = (3 + (human.values - 55) / 12 + 0.7 * shared + 0.3 * rng.normal(size=shared.shape)).round().clip(1, 5)
    score = xr.DataArray(made[:2], dims=("metric", "system", "input"), coords={"metric": ["one", "two"]})
    rating = (("rater", "system", "input"), made[2:])
    found = xr.Dataset({"score": score, "rating": rating}).assign_coords(human.coords)
    return found.assign_coords(length=(("system", "input"), rng.normal(size=human.shape)))


def test_reports_of_judges_keep_documents_together(rated):
    """Each call of the page is the one that its code shows."""
    page = rated.meta.report("rating", kind="judge", cluster=("family", "document"))
    asked = {"cluster": ("family", "document")}
    xr.testing.assert_identical(page.results["agreement"], rated.meta.agreement("rating", rng=0, **asked))
    ceiling = page.results["human_ceiling"]
    how = {name: ceiling.attrs[name] for name in ("level", "coefficient")}
    xr.testing.assert_identical(
        ceiling, rated.meta.human_ceiling("rating", metric=["one", "two"], rng=0, **how, **asked)
    )
    alone = rated.meta.alt_test("rating", metric=["one", "two"], cluster="document")
    xr.testing.assert_identical(page.results["alt_test"], alone)
    for name in ("compare_metrics", "ci weighted_kappa", "bias"):
        assert page.results[name].attrs["cluster"] == "family document", name
    assert page.results["bias_by_system"].attrs["cluster"] == "document"
    people = rated.rating.mean("rater").expand_dims(metric=["human"]).to_dataset(name="score")
    tests = people.meta.compare_systems(metric="human", method="paired_t", cluster="document", adjust="holm")
    np.testing.assert_array_equal(page.results["compare_systems"].pvalue, tests.pvalue)
    assert "system_means" not in page.results and "plan" not in page.results
    assert "because they take inputs as independent" in " ".join(str(page).split())
    assert "clustered by family and document" in str(page) and "clustered by document" in str(page)
    again = {"ds": rated}
    exec(page.code, again)  # noqa: S102
    for name, result in page.results.items():
        xr.testing.assert_identical(again[name.replace(" ", "_")], result)


@pytest.mark.ignore_codes("documents")
def test_reports_of_judges_name_it(rated):
    with pytest.warns(UserWarning, match="from 10 documents.*; cluster='doc_id' keeps documents together"):
        rated.rename(document="doc_id").meta.report("rating", kind="judge", metric="one")
    with pytest.raises(ValueError, match="cluster must be a coordinate .* got 'doc'; did you mean"):
        rated.meta.report("rating", kind="judge", cluster="doc")
    other = rated.assign_coords(genre=("input", np.arange(30) % 2))
    with pytest.raises(ValueError, match="cluster names two coordinates of inputs, 'document' and 'genre'; name one"):
        other.meta.report("rating", kind="judge", cluster=("document", "genre"))


@pytest.mark.ignore_codes("documents")
@pytest.mark.slow
def test_clusters_are_no_groups(rated):
    """Three documents of ten inputs each could be groups, whose inputs would be one cluster."""
    few = rated.assign_coords(document=("input", np.repeat(["x", "y", "z"], 10)))
    page = few.meta.report("rating", kind="judge", metric="one", cluster="document")
    assert not any("compare_groups" in name for name in page.results)
    page = few.meta.report("rating", kind="judge", metric="one")
    assert any("compare_groups" in name for name in page.results)


def test_an_older_version_is_compared_by_documents(rated):
    anchor = rated.assign(score=rated.score + 0.1 * np.random.default_rng(1).normal(size=rated.score.shape))
    with validate.kept_warnings():
        page = judge_report.make_report(rated, "s", gold="rating", metric=["one"], anchor=anchor, cluster="document")
    found = next(each for each in page.results.values() if each.attrs["analysis"] == "drift")
    assert found.attrs["cluster"] == "document"


@pytest.mark.slow
def test_rules_keep_documents_together(rated, tmp_path, capsys):
    """The lower limit, the verdict of the test and the bias are those with clusters."""
    columns = {name: rated.score.sel(metric=name, drop=True) for name in ("one", "two")}
    columns |= {f"r{at}": rated.rating.isel(rater=at, drop=True) for at in range(3)} | {"length": rated.length}
    frame = xr.Dataset(columns).to_dataframe().reset_index()[["system", "input", "document", *columns]]
    frame.to_csv(tmp_path / "a.csv", index=False)
    asked = [str(tmp_path / "a.csv"), "--raters", "r0", "r1", "r2", "--metric", "one", "--level", "input"]
    want = rated.meta.ci(rated.rating.mean("rater"), metric="one", level="input", coefficient="pearson",
                         cluster="document")  # fmt: skip
    low = float(want.ci_low[0])
    assert low != float(rated.drop_vars("document").meta.ci(rated.rating.mean("rater"), metric="one", level="input",
                                                            coefficient="pearson").ci_low[0])  # fmt: skip
    for bound, status in ((low - 1e-6, 0), (low + 1e-6, 1)):
        rule = ["--require", f"pearson >= {bound:.9f}", "--cluster", "document"]
        assert cli.main([*asked, *rule]) == status
    capsys.readouterr()
    rules = [part for rule in ("alt_test", "bias") for part in ("--require", rule)]

    def winning(margin, **how):
        return float(rated.meta.alt_test("rating", metric="one", margin=margin, **how).winning_rate[0])

    alone = rated.drop_vars("document")
    by_item = {at: alone.meta.alt_test("rating", metric="one", margin=at).winning_rate.item() for at in MARGINS}
    margin = next(at for at, rate in by_item.items() if winning(at, cluster="document") != rate)
    asked += ["--margin", str(margin)]
    assert cli.main([*asked, "--judge", *rules, "--cluster", "document"]) in (0, 1)
    out, err = capsys.readouterr()
    for rule in ("alt_test", "bias"):
        assert re.search(rf"^{rule}: .*\(clustered by document\)\. ", out, re.MULTILINE)
    slope = rated.meta.bias("rating", metric="one", given="length", cluster="document")
    estimate = wording.estimate(*(float(slope[name].squeeze()) for name in ("slope", "ci_low", "ci_high")))
    assert f"one: length {estimate}" in out
    assert f"one wins against {100 * winning(margin, cluster='document'):.0f} % of the raters" in out
    assert "--cluster document keeps" not in err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("of", ["label", "variable", "array"])
@pytest.mark.slow
def test_systems_are_compared_by_any_human_scores(rated, of):
    """Of errors the system with fewest is best."""
    errors = 5 - rated.rating.isel(rater=0, drop=True)
    ds = rated.drop_vars("rating").assign(errors=errors)
    if of == "label":
        whole = xr.concat(
            [ds.score, errors.expand_dims(metric=["errors"])], "metric", coords="minimal", compat="override"
        )
        ds = whole.to_dataset(name="score").assign_coords(higher_is_better=("metric", [True, True, False]))
    asked = {"label": "errors", "variable": "errors", "array": errors}[of]
    page = ds.meta.report(asked, kind="judge", metric=["one"], cluster="document")
    found = page.results["compare_systems"]
    want = (5 - errors if of == "label" else errors).mean("input")
    best = found.difference.isel(metric=0).sum("other_system").values.argmax()
    assert best == want.values.argmax()
    again = {"ds": ds, "gold": errors}
    exec(page.code, again)  # noqa: S102
    xr.testing.assert_identical(again["compare_systems"], found)


@pytest.mark.ignore_codes("documents")
def test_a_class_is_for_a_coefficient_of_classes(rated):
    """`positive` is not ignored."""
    with pytest.raises(ValueError, match="positive needs a coefficient of classes"):
        rated.meta.report("rating", kind="judge", positive=5)
    one = rated.rating.isel(rater=0, drop=True)
    page = rated.drop_vars("rating").meta.report(one, kind="judge", positive=4, coefficient="f1", level="global")
    want = rated.meta.ci(one, positive=4, coefficient="f1", level="global")
    np.testing.assert_array_equal(page.results["ci"].ci_low, want.ci_low)


def test_a_report_has_a_conclusion(ds):
    report = ds.meta.report("human", metric=["judge", "rouge"], cluster="document")
    lines = report.conclusion().splitlines()
    assert len(lines) == 3 and lines[0].startswith("judge has the highest") and "For these 12 systems" in lines[2]

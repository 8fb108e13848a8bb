"""Figures and commands that pages and messages quote are those of the code, the benchmarks and pyproject.toml."""

import json
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from xsumstat.analyses import metric_tests
from xsumstat.coefficients.table import COEFFICIENTS
from xsumstat.core import extras
from xsumstat.io import frames

ROOT = Path(__file__).parents[2]
IN_WORDS = dict(
    enumerate("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(), 10)
)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
# What a package that messages ask for comes with.
BROUGHT_BY = {"cloudpickle": "dask", "scipy": None}


def test_readme_counts_the_coefficients_of_the_table():
    said = re.search(r"correlations at four levels with (\w+) coefficients", (ROOT / "README.md").read_text("utf-8"))
    assert said[1] == IN_WORDS[len(COEFFICIENTS)]


def test_how_often_swaps_of_decisions_find_a_difference_is_what_was_measured():
    """In the warning, the calibration, the changelog and the page on migration: the least and the greatest share."""
    rows = json.loads((ROOT / "benchmarks" / "sizes.json").read_text("utf-8"))
    shares = [
        row["found"] / row["trials"]
        for row in rows
        if row["test"] == "perm_test, acc_eq" and row["settings"].startswith("swap='decisions'")
        if row["level"] == "input" and row["null"] == "noise" and row["found"] is not None
    ]
    assert len(shares) == 6
    figure = f"{100 * min(shares):g} to {100 * max(shares):g} %"
    assert figure == metric_tests._FOUND
    assert figure in " ".join((ROOT / "docs" / "calibration.md").read_text("utf-8").split())
    for page in ("CHANGELOG.md", "docs/migration.md"):
        quoted = re.findall(r"[\d.]+ to [\d.]+ % (?:of tests )?at \.05", (ROOT / page).read_text("utf-8"))
        assert quoted and all(each.startswith(figure) for each in quoted), page


def test_sizes_of_the_comparison_of_metrics_are_what_was_measured():
    """On the page of choices: at system, input and global level, but for the method that the page warns of."""
    rows = json.loads((ROOT / "benchmarks" / "sizes.json").read_text("utf-8"))
    lines = [line for line in (ROOT / "docs" / "which.md").read_text("utf-8").splitlines() if line.startswith("| ")]

    def range_of(resample, kind):
        shares = [
            100 * row["found"] / row["trials"]
            for row in rows
            if row["test"] == "compare_metrics" and row["settings"].startswith(f"resample='{resample}'")
            if row["level"] in ("system", "input", "global") and "method=" not in row["settings"]
            if kind(row["null"]) and row["found"] is not None
        ]
        return f"{min(shares):.0f} to {max(shares):.0f} %"

    (general,) = [line for line in lines if "`ds.meta.compare_metrics(h)`" in line]
    own = range_of("both", lambda null: null.startswith("own effects") and "outlying" not in null)
    outlying = range_of("both", lambda null: null == "own effects, outlying")
    copies = range_of("both", lambda null: null == "noise")
    assert f"| false positives {own} for equal metrics" in general and f"{outlying} where single systems" in general
    assert f"{copies} for copies" in general
    (here,) = [line for line in lines if '`ds.meta.compare_metrics(h, resample="input")`' in line]
    assert (
        f"| false positives {range_of('input', lambda null: null.startswith(('own effects, of these', 'noise')))},"
        in here
    )


def test_false_claims_of_equivalence_are_what_was_measured():
    """On the page of choices, for `resample="input"`: as claims about these systems, and about new ones."""
    rows = json.loads((ROOT / "benchmarks" / "sizes.json").read_text("utf-8"))
    text = (ROOT / "docs" / "which.md").read_text("utf-8")

    def range_of(null, levels):
        shares = [
            100 * row["found"] / row["trials"]
            for row in rows
            if row["test"] == "equivalence" and "method='tost', resample='input'" in row["settings"]
            if row["null"] == null and row["level"] in levels
        ]
        return f"{min(shares):.0f} to {max(shares):.0f} %"

    assert f"for these systems: {range_of('margin, of these', ['system'])} (system level, 4 to 25 systems)" in text
    assert f"about new systems: {range_of('margin', ['system', 'input', 'global'])} |" in text


def test_coverage_of_few_systems_and_of_agreement_and_sizes_of_bias_are_those_of_the_calibration():
    """What the page of choices says are the summaries of the tables on the page of the calibration."""
    text = (ROOT / "docs" / "which.md").read_text("utf-8")
    measured = "".join(
        (ROOT / "docs" / page).read_text("utf-8") for page in ("calibration.md", "calibration/judges.md")
    )
    few = re.search(r"Coverage is ([\d.]+) % on average, lowest", measured)
    agree = re.search(r"mean coverage ([\d.]+) %, least ([\d.]+) %, most ([\d.]+) %", measured)
    bias = re.search(r"p ≤ \.05 in (0\.\d+) of sets on average \(least (0\.\d+), most (0\.\d+)\)", measured)
    assert f"coverage {few[1]} % on average" in text
    assert f"coverage {agree[1]} % on average ({agree[2]} to {agree[3]} %; one to four" in text
    mean, least, most = (f"{100 * float(each):.2g}" for each in bias.groups())
    assert f"{mean} % on average ({least} to {most} %) for unbiased judges" in text


def test_sizes_of_the_comparison_of_groups_are_what_was_measured():
    """On the page of choices: shares of sets without a difference in which one was found, and of sets with one."""
    rows = json.loads((ROOT / "benchmarks" / "groups.json").read_text("utf-8"))
    text = " ".join((ROOT / "docs" / "which.md").read_text("utf-8").split())

    def sizes(kind, of, **wanted):
        some = [row for row in rows if row["kind"] == kind and all(row[name] in each for name, each in wanted.items())]
        return [row[of] / row["tested"] for row in some]

    kinds = {row["kind"] for row in rows} - {"power", "documents, no cluster="}
    null = [size for kind in sorted(kinds) for size in sizes(kind, "found")]
    kendall = [size for kind in kinds for size in sizes(kind, "found", coefficient=["kendall"], resample=["both"])]
    said = f"{100 * np.mean(null):.0f} % for metrics that agree equally well in all groups (mean of {len(null)} designs"
    assert said in text and f"{100 * min(null):.0f} to {100 * max(null):.0f} %); Kendall" in text and max(null) < 0.1
    assert f"at input level {100 * np.mean(kendall):.0f} %" in text
    asked = {"resample": ["input"], "n_groups": [3]}
    for kind, words in (("documents, no cluster=", "of sets without a difference"), ("documents, cluster=", "(three")):
        low, high = (100 * end(sizes(kind, "found", **asked)) for end in (min, max))
        assert f"{low:.0f} to {high:.0f} % {words}" in text
    for levels in (["input", "global"], ["system"]):
        found = sizes("power", "found", level=levels, coefficient=["pearson"])
        assert f"{100 * min(found):.0f} to {100 * max(found):.0f} % of sets at" in text or levels == ["system"]
        assert f"{100 * min(found):.0f} to {100 * max(found):.0f} %" in text


def asked():
    """Each optional package and its extra, as the sources ask for them."""
    found = set()
    for path in sorted((ROOT / "xsumstat").rglob("*.py")):
        text = path.read_text("utf-8")
        found |= set(re.findall(r'optional\(f?"(\w+)[^"]*", "(\w+)"\)', text))
    return sorted(found)


def test_an_extra_that_a_message_names_brings_the_package():
    assert len(asked()) > 8
    for package, extra in asked():
        package = BROUGHT_BY.get(package, package)
        if package is None:
            continue
        named = {re.match(r"[\w-]+", each)[0].lower() for each in EXTRAS[extra]}
        assert package.lower() in named, (package, extra)


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_command_that_a_message_gives_is_readmes(extra):
    """No package index has the name yet, so that only a clone can be installed."""
    command = re.search(r'pip install "\.\[(\w+)\]"$', extras.installing(extra))
    assert command[1] == extra
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "From a clone, `pip install .`" in readme and f"`{extra}`" in readme


@pytest.mark.parametrize("suffix, packages", [(".nc", ["netCDF4", "h5netcdf"]), (".zarr", ["zarr"])])
def test_a_store_without_its_package_names_the_extra(monkeypatch, tmp_path, demo, suffix, packages):
    """Where xarray says that no "IO backends" match, which names no command."""
    path = tmp_path / f"scores{suffix}"
    demo.to_netcdf(path) if suffix == ".nc" else demo.to_zarr(path, zarr_format=2)
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r'this needs \w+, which is not installed; .*pip install "\.\[data\]"'):
        frames.read_scores(path)

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def shares(name, values, **coords):
    """A result of a simulation with given shares."""
    share = xr.DataArray(values, {dim: list(labels) for dim, labels in coords.items()})
    error = np.sqrt(share * (1 - share) / 100)
    return xr.Dataset({name: share, "mc_error": error}, attrs={"confidence_level": 0.9, "alpha": 0.05})


@pytest.fixture
def coverage():
    values = np.linspace(0.5, 0.95, 12).reshape(2, 2, 3)
    return shares("coverage", values, interval=["both", "bca"], n_systems=[10, 25], n_inputs=[30, 100, 300])


def drawn(ax):
    """The values of each line with points, in order."""
    return [line.get_ydata() for line in ax.lines if line.get_marker() not in ("None", "")]


def test_coverage_has_a_line_for_each_interval_and_a_panel_for_each_design(coverage):
    axes = coverage.meta.plot.coverage()
    assert [ax.get_title() for ax in axes] == ["10 systems", "25 systems"]
    for ax, systems in zip(axes, (10, 25), strict=True):
        np.testing.assert_allclose(drawn(ax), coverage.coverage.sel(n_systems=systems))
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["30", "100", "300"]
        reference = [line.get_ydata() for line in ax.lines if line.get_linestyle() == "--"]
        assert [list(each) for each in reference] == [[0.9, 0.9]]
    assert [text.get_text() for text in axes[0].figure.legends[0].get_texts()] == [
        "both",
        "bca",
        "as it should be: 0.9",
    ]
    assert axes[0].get_xlabel() == "inputs" and axes[0].get_ylabel() == "coverage (share of trials)"


def test_error_bars_are_two_standard_errors(coverage):
    one = coverage.isel(interval=[0], n_systems=0)
    ax = one.meta.plot.coverage()
    (segments,) = [each.get_segments() for each in ax.collections]
    half = [(high - low) / 2 for (_, low), (_, high) in segments]
    np.testing.assert_allclose(half, 2 * one.mc_error.values.ravel())


def test_limits_of_the_simulation_are_drawn_where_the_result_has_them(coverage):
    one = coverage.isel(n_systems=0)
    one = one.assign(ci_low=one.coverage - 0.03, ci_high=one.coverage + 0.01, mc_error=0 * one.mc_error)
    ax = one.meta.plot.coverage()
    for lines, interval in zip(ax.collections, ("both", "bca"), strict=True):
        here = one.sel(interval=interval)
        limits = [segment[:, 1] for segment in lines.get_segments()]
        np.testing.assert_allclose(limits, np.array([here.ci_low, here.ci_high]).T)


def test_limits_of_false_findings_are_inside_the_picture():
    none = shares("type_i_error", [[0.0, 0.0]], test=["perm_test"], noise=[0.5, 1.0])
    none = none.assign(ci_low=none.type_i_error, ci_high=none.type_i_error + 0.28)
    assert 0.28 < none.meta.plot.power().get_ylim()[1] < 0.5


@pytest.mark.parametrize("least, bottom", [(0.93, 0.9), (0.88, 0.85), (0.62, 0.6), (0.02, 0.0)])
def test_coverage_begins_below_the_lowest_limit(coverage, least, bottom):
    """At a twentieth; no limit lies outside the picture."""
    one = coverage.isel(n_systems=0) * 0 + 0.97
    one = one.assign(ci_low=one.coverage * 0 + 0.95, ci_high=one.coverage * 0 + 0.99).assign_attrs(
        confidence_level=0.95
    )
    one.ci_low[1, 2] = least
    low, high = one.meta.plot.coverage().get_ylim()
    assert bottom - 0.03 < low < bottom and high > 1


def test_a_metric_has_no_panel_beside_itself():
    values = np.linspace(0.8, 0.95, 8).reshape(2, 2, 2)
    values[:, 1, 1] = np.nan  # rouge and rouge
    pairs = {"metric": ["judge", "rouge"], "other_metric": ["length", "rouge"]}
    axes = shares("coverage", values, interval=["both", "bca"], **pairs).meta.plot.coverage()
    assert [ax.get_title() for ax in axes] == ["judge, vs length", "judge, vs rouge", "rouge, vs length"]
    np.testing.assert_allclose(drawn(axes[2])[0], values[:, 1, 0])


def test_without_designs_the_intervals_stand_side_by_side(coverage):
    ax = coverage.isel(n_systems=0, n_inputs=0).meta.plot.coverage()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["both", "bca"]
    np.testing.assert_allclose(drawn(ax), [[0.5, coverage.coverage.values[1, 0, 0]]])
    axes = coverage.meta.plot.coverage(x="n_systems")
    assert [ax.get_title() for ax in axes] == ["30 inputs", "100 inputs", "300 inputs"]


def test_power_over_noise_and_false_findings_beside_their_level():
    found = shares("power", [[0.1, 0.5], [0.0, 0.2]], test=["perm_test", "boot_test"], noise=[0.5, 1.0])
    _, given = plt.subplots()
    ax = found.meta.plot.power(ax=given)
    assert ax is given and ax.get_ylabel() == "power (share of trials)" and ax.get_ylim()[1] > 1
    np.testing.assert_allclose(drawn(ax), found.power)
    assert not [line for line in ax.lines if line.get_linestyle() == "--"]
    false = found.rename(power="type_i_error") / 10
    ax = false.assign_attrs(alpha=0.05).meta.plot.power()
    assert ax.get_ylabel() == "type-I error (share of trials)" and ax.get_ylim()[1] < 0.5
    assert [list(line.get_ydata()) for line in ax.lines if line.get_linestyle() == "--"] == [[0.05, 0.05]]


def test_the_wrong_result_is_said(coverage):
    with pytest.raises(ValueError, match="no power; this draws what power gives"):
        coverage.meta.plot.power()
    with pytest.raises(ValueError, match="no coverage; this draws what coverage gives"):
        coverage.rename(coverage="power").meta.plot.coverage()
    with pytest.raises(ValueError, match="unknown x 'inputs'; did you mean 'n_inputs'"):
        coverage.meta.plot.coverage(x="inputs")


def test_panels_of_metrics_in_order_and_what_the_picture_says_below():
    values = np.array([[0.5, 0.9, 0.7], [0.6, 0.8, 0.7]])
    result = shares("coverage", values, interval=["both", "bca"], metric=["a", "c", "b"]).assign_attrs(n_trials=1000)
    titles = {
        "given": ["a", "c", "b"],
        "value": ["c", "b", "a"],
        "name": ["a", "b", "c"],
        ("b", "a"): ["b", "a"],
    }
    for order, want in titles.items():
        axes = result.meta.plot.coverage(order=list(order) if isinstance(order, tuple) else order)
        assert [ax.get_title() for ax in axes] == want
        for ax in axes:
            np.testing.assert_allclose(drawn(ax)[0], result.coverage.sel(metric=ax.get_title()))
    ax = result.meta.plot.coverage(metric="c", title="Coverage of c", figsize=(6, 3))
    assert ax.figure.get_suptitle() == "Coverage of c" and list(ax.figure.get_size_inches()) == [6, 3]
    assert any("1,000 trials" in text.get_text() for text in ax.figure.texts)
    with pytest.raises(ValueError, match="unknown metric 'd'"):
        result.meta.plot.coverage(metric="d")


def test_legend_and_notes_belong_to_the_axes_that_are_given(coverage):
    figure, (left, right) = plt.subplots(1, 2)
    coverage.isel(n_systems=0).meta.plot.coverage(ax=left, title="left")
    assert figure.legends == [] and figure.texts == [] and right.get_legend() is None
    assert left.get_title() == "left" and len(left.get_legend().get_texts()) == 3


def test_the_wanted_coverage_is_not_hidden_by_the_grid(coverage):
    ax = coverage.isel(n_systems=0).meta.plot.coverage()
    (reference,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert ax.yaxis.get_zorder() < reference.get_zorder()  # the grid is drawn with its axis

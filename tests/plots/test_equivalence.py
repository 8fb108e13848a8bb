import itertools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
import xarray as xr  # noqa: E402
from cases import of_demo  # noqa: E402
from scipy import stats  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def curve():
    share = xr.DataArray(
        np.linspace(0, 1, 12).reshape(3, 2, 2),
        {"margin": [0.01, 0.05, 0.2], "quality": ["x", "y"], "level": ["system", "input"]},
    )
    return xr.Dataset({"share": share})


@pytest.fixture
def languages(demo):
    both = xr.concat([demo[["score"]], demo[["score"]] ** 3], "language").assign_coords(language=["en", "de"])
    return both.sel(metric=["human", "judge", "rouge", "bleu"])


def test_sensitivity_has_a_line_for_each_label(curve):
    axes = curve.meta.plot.sensitivity(order="given")
    assert [ax.get_title() for ax in axes] == ["system", "input"]
    for ax, level in zip(axes, ("system", "input"), strict=True):
        for line, quality in zip(ax.lines, ("x", "y"), strict=True):
            np.testing.assert_allclose(line.get_xydata().T[1], curve["share"].sel(level=level, quality=quality))
            np.testing.assert_allclose(line.get_xdata(), curve.margin)
    assert [text.get_text() for text in axes[0].figure.legends[0].get_texts()] == ["x", "y"]
    others = curve.meta.plot.sensitivity(hue="level", order="given")
    assert [ax.get_title() for ax in others] == ["x", "y"]
    for ax, quality in zip(others, ("x", "y"), strict=True):
        drawn = np.array([line.get_ydata() for line in ax.lines])
        np.testing.assert_allclose(drawn, curve["share"].sel(quality=quality).transpose("level", "margin"))
    single = curve.isel(quality=0, level=0).meta.plot.sensitivity()
    assert len(single.lines) == 1 and single.get_xlabel() == "margin of equivalence"
    assert single.get_xlim() == (0, 0.2) and single.get_ylim() == (0, 1)


def test_sensitivity_says_what_the_margin_is_of_and_which_tests(demo):
    found = demo.meta.margin_sensitivity("human", other=["rouge", "bleu"], margins=[0.1, 0.4], n_resamples=99, rng=1)
    axis = found.meta.plot.sensitivity()
    assert axis.get_xlabel() == "margin of equivalence\n(difference in Pearson's r with human)"
    note = " ".join(axis.figure.texts[0].get_text().split())
    assert "two one-sided bootstrap tests" in note and "99 resamples" in note and "alpha 0.05" in note
    assert f"{int(found.n_tests[0])} tests a point" in note


def test_lines_that_meet_are_told_apart_without_colour(curve):
    both = curve.isel(level=0)
    axis = both.meta.plot.sensitivity()  # the largest share first
    assert [text.get_text() for text in axis.figure.legends[0].get_texts()] == ["y", "x"]
    assert len({(line.get_linestyle(), str(line._dash_pattern)) for line in axis.lines}) == 2


def points_of(axis):
    """Places of points, line by line."""
    return np.concatenate([line.get_xydata() for line in axis.lines if line.get_marker() not in ("None", "")])


def unit_of_ranks(found):
    """The root of the sum of squares of the ranks 1 to n around their mean, by plain sums."""
    n = int(found.n_cells)
    return sum((rank - (n + 1) / 2) ** 2 for rank in range(1, n + 1)) ** 0.5


def test_distances_of_points_show_spearman(demo):
    """With as many components as points, 1 − d²/2 is the correlation of ranks, as scores have no ties."""
    three = demo.sel(metric=["judge", "bleu", "perplexity"])
    found = three.meta.pca(n_components=3)
    places = found.coordinate.transpose("metric", "component").values / unit_of_ranks(found)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        signs = [1 if three.higher_is_better[each] else -1 for each in (a, b)]
        rho = stats.spearmanr(three.score[a].values.ravel(), three.score[b].values.ravel()).statistic
        rho *= signs[0] * signs[1]
        assert 1 - ((places[a] - places[b]) ** 2).sum() / 2 == pytest.approx(rho, abs=1e-3)


def test_pca_shows_every_point_with_its_label_by_kind(demo):
    found = of_demo("pca")
    ax = found.meta.plot.pca()
    want = found.coordinate.transpose("metric", "component") / unit_of_ranks(found)
    np.testing.assert_allclose(points_of(ax), want)  # people come first
    assert [text.get_text() for text in ax.texts] == list(demo.metric.values)
    assert ax.get_xlabel() == f"component 1 ({float(found.explained[0]):.0%} of the variance)"
    legend = ax.figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["human", "automatic"]
    assert legend.get_title().get_text() == "kind"
    people, others = (line for line in ax.lines if line.get_marker() not in ("None", ""))
    assert len(people.get_xdata()) == 1 and len(others.get_xdata()) == 6
    assert people.get_color() != others.get_color()
    plain = found.drop_vars("kind").meta.plot.pca()
    assert not plain.figure.legends and len(points_of(plain)) == 7
    two = found.meta.plot.pca(metric=["judge", "bleu"], hue="metric", order="name")
    np.testing.assert_allclose(points_of(two), found.coordinate.sel(metric=["bleu", "judge"]) / unit_of_ranks(found))
    with pytest.raises(ValueError, match="unknown hue 'kid'; did you mean 'kind'"):
        found.meta.plot.pca(hue="kid")


def test_pca_of_further_labels(languages):
    found = languages.meta.pca()
    ax = found.meta.plot.pca()
    drawn = np.array([[found.sel(metric=m, language=each).coordinate for each in ("en", "de")] for m in found.metric])
    np.testing.assert_allclose(points_of(ax), drawn.reshape(-1, 2) / unit_of_ranks(found))
    labels = [text.get_text() for text in ax.texts]
    assert set(labels) <= {"en", "de"} and labels.count("en") == labels.count("de") == 4
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == list(languages.metric.values)


def test_pca_is_to_scale():
    ax = of_demo("pca").meta.plot.pca()
    ax.figure.canvas.draw()
    inches = ax.transData.transform([(0, 0), (100, 0), (0, 100)])
    assert inches[1, 0] - inches[0, 0] == pytest.approx(inches[2, 1] - inches[0, 1], rel=1e-3)  # pixels
    assert ax.get_xlim()[0] < points_of(ax)[:, 0].min() and ax.get_ylim()[1] > points_of(ax)[:, 1].max()


@pytest.mark.parametrize("n", [6, 18, pytest.param(40, marks=pytest.mark.slow)])
def test_labels_of_points_do_not_lie_on_each_other(n):
    rng = np.random.default_rng(0)
    names = [f"organisation/judge with a long name {at:02d}" for at in range(n)]
    places = xr.DataArray(rng.normal(size=(n, 2)), {"metric": names, "component": [1, 2]})
    found = xr.Dataset({"coordinate": places, "explained": ("component", [0.5, 0.2])})
    ax = found.meta.plot.pca()
    ax.figure.canvas.draw()
    frame = ax.get_window_extent().padded(2)
    *words, last = ax.texts
    left_out = int(last.get_text().split()[0]) if "left out" in last.get_text() else 0
    words = words if left_out else [*words, last]
    boxes = [word.get_window_extent() for word in words]
    assert not [pair for pair in itertools.combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    assert len(words) + left_out == n and left_out <= n / 4
    assert min(word.get_fontsize() for word in ax.texts) >= 7


def test_labels_lie_at_the_same_places_each_time():
    found = of_demo("pca")
    first, second = ([text.get_position() for text in found.meta.plot.pca().texts] for _ in range(2))
    assert first == second


def test_shifts_are_set_against_each_other(languages):
    settings = {"along": "language", "level": "input", "threshold": 0.6, "n_resamples": 99, "rng": 1}
    gold = languages.score.sel(metric="human", language="en", drop=True)
    ds = languages.drop_sel(metric="human")
    one = ds.meta.dominance(gold, base="en", **settings)
    two = one.assign(mean_shift=one.mean_shift / 2)
    ax = one.meta.plot.shifts(two, labels=("there", "and back"))
    (points,) = [line.get_xydata() for line in ax.lines if line.get_marker() == "o"]
    want = float(one.mean_shift.sel(language="de"))
    np.testing.assert_allclose(points, [[want, want / 2]])
    assert [text.get_text() for text in ax.texts] == ["de"]
    assert ax.get_xlabel() == "mean change of the probability, there"
    assert ax.get_ylabel() == "mean change of the probability, and back"
    assert ax.get_xlim() == ax.get_ylim() and ax.get_xlim()[0] < 0 < ax.get_xlim()[1]


@pytest.fixture
def shifted(languages):
    gold = languages.score.sel(metric="human", language="en", drop=True)
    rng = np.random.default_rng(0)
    noisy = languages.sel(language="de").assign_coords(language="fr")
    noisy = noisy.assign(score=noisy.score + 20 * rng.normal(size=noisy.score.shape))
    versions = xr.concat([languages, noisy], "language").drop_sel(metric="human")
    return versions.meta.dominance(
        gold, along="language", base="en", level="input", threshold=0.6, n_resamples=99, rng=1
    )


def test_shifts_of_one_change_are_rows(shifted):
    ax = shifted.meta.plot.shifts(order="given")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["de", "fr"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first on top
    *small, mean, _ = [line.get_xydata() for line in ax.lines]
    np.testing.assert_allclose(
        mean, [[float(shifted.mean_shift.sel(language=label)), at] for at, label in enumerate(["de", "fr"])]
    )
    for at, (points, label) in enumerate(zip(small, ["de", "fr"], strict=True)):
        of_pairs = shifted.probability_shift.sel(language=label).values.ravel()
        points = points[~np.isnan(points[:, 0])]
        np.testing.assert_allclose(sorted(points[:, 0]), sorted(of_pairs[~np.isnan(of_pairs)]))
        assert (points[:, 1] == at).all() and len(points) >= 2
        np.testing.assert_allclose(points[:, 0].mean(), mean[at, 0])
    assert ax.get_xlabel() == "change of the probability that a metric is better,\nfrom en"
    assert "99 resamples" in ax.figure.texts[0].get_text()


def test_the_largest_shift_is_on_top(shifted):
    best = shifted.mean_shift.sel(language=["de", "fr"]).to_series().sort_values(ascending=False).index.tolist()
    ax = shifted.meta.plot.shifts()
    assert [tick.get_text() for tick in ax.get_yticklabels()] == best
    few = shifted.meta.plot.shifts(metric=["judge", "bleu"], order=["fr"])
    assert [tick.get_text() for tick in few.get_yticklabels()] == ["fr"]
    small, mean, _ = [line.get_xdata() for line in few.lines]
    assert np.isfinite(small).sum() <= 2 and mean.tolist() == [float(shifted.mean_shift.sel(language="fr"))]


def test_shifts_of_further_labels_have_panels(shifted):
    both = xr.concat([shifted, shifted / 2], "quality", combine_attrs="override").assign_coords(quality=["x", "y"])
    axes = both.meta.plot.shifts(order="given")
    assert [ax.get_title() for ax in axes] == ["x", "y"]
    means = [next(line for line in ax.lines if line.get_markersize() == 6).get_xdata() for ax in axes]
    np.testing.assert_allclose(means[1], means[0] / 2)
    np.testing.assert_allclose(means[0], shifted.mean_shift.sel(language=["de", "fr"]))


def test_verdicts_on_versions_are_a_matrix(languages):
    gold = languages.score.sel(metric="human", language="en", drop=True)
    ds = languages.drop_sel(metric="human")
    found = ds.meta.equivalence(
        gold, along="language", base="en", margin=0.3, level="input", adjust="by", n_resamples=199, rng=1
    )
    ax = found.meta.plot.pvalues()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["de"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["bleu", "rouge", "judge"]
    assert ax.figure.legends[0].get_title().get_text() == "is it equally good with en?"
    pairs = ds.isel(language=0).meta.equivalence(
        gold, other=["rouge", "bleu"], margin=0.3, level="input", n_resamples=99, rng=1
    )
    assert pairs.meta.plot.pvalues().figure.legends[0].get_title().get_text() == "are the two equally good?"


def test_the_wrong_result_is_said(curve, demo):
    with pytest.raises(ValueError, match="draws a result of ds.meta.margin_sensitivity"):
        demo.meta.plot.sensitivity()
    with pytest.raises(ValueError, match="unknown hue 'qualit'; did you mean 'quality'"):
        curve.meta.plot.sensitivity(hue="qualit")
    with pytest.raises(ValueError, match="no two components; this draws what pca gives"):
        demo.meta.pca(n_components=1).meta.plot.pca()
    with pytest.raises(ValueError, match="no shifts; this draws what dominance gives with along="):
        curve.meta.plot.shifts(curve)

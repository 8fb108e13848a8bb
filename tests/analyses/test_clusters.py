"""Systems and inputs that belong together: `cluster=` against a plain twin, and what its intervals hold."""

import contextlib
import math
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import of_code, warns
from scipy import stats

import xsumstat  # noqa: F401
from xsumstat.analyses import clustering
from xsumstat.resampling.plans import DrawPlan, SwapPlan

CORRELATION = {
    "pearson": lambda x, z: stats.pearsonr(x, z).statistic,
    "spearman": lambda x, z: stats.spearmanr(x, z).statistic,
    "kendall": lambda x, z: stats.kendalltau(x, z).statistic,
}


def scores(seed, sizes=(2, 3, 1, 2, 2), inputs=9, gaps=0.0):
    """Systems of families, whose members are alike, and inputs of documents of two or three."""
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(len(sizes)), sizes)
    document = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4])[:inputs]
    quality = rng.normal(size=(len(sizes), 1))[family] + 0.2 * rng.normal(size=(len(family), inputs))
    made = [quality + 1.2 * rng.normal(size=quality.shape) for _ in range(3)]
    values = np.array([quality, *made])
    values[rng.random(values.shape) < gaps] = np.nan
    order = rng.permutation(len(family))
    ds = xr.Dataset({"score": (("metric", "system", "input"), values)}, {"metric": ["human", "a", "b", "c"]})
    ds = ds.assign_coords(
        system=[f"s{at}" for at in range(len(family))],
        input=[f"i{at}" for at in range(inputs)],
        family=("system", [f"f{at}" for at in family]),
        document=("input", [f"d{at}" for at in document]),
    )
    return ds.isel(system=order)


# --- A twin in plain Python ---


def groups(x, z, f):
    """The correlation within each input."""
    found = []
    for at in range(x.shape[1]):
        there = ~np.isnan(x[:, at]) & ~np.isnan(z[:, at])
        a, b = x[there, at], z[there, at]
        found.append(f(a, b) if len(a) > 1 and np.ptp(a) and np.ptp(b) else math.nan)
    return np.array(found)


def estimate(x, z, level, f):
    if level == "input":
        return np.nanmean(groups(x, z, f))
    there = ~np.isnan(x) & ~np.isnan(z)
    if level == "global":
        return f(x[there], z[there])
    kept = there.any(axis=1)
    means = [np.array([row[here].mean() for row, here in zip(each[kept], there[kept], strict=True)]) for each in (x, z)]
    return f(*means)


def twin(x, z, level, f, family, document):
    """Variance, degrees of freedom and bias of one correlation at input level, families and documents left out."""
    value = estimate(x, z, level, f)
    families, documents = np.unique(family), np.unique(document)
    g = len(families)
    without = np.array([estimate(x[family != each], z[family != each], level, f) for each in families])
    r = groups(x, z, f)
    defined = ~np.isnan(r)
    m = defined.sum()
    r_without = np.array([groups(x[family != each], z[family != each], f) for each in families])
    there = np.array([[(~np.isnan(x[family == each, at]) & ~np.isnan(z[family == each, at])).any()
                       for at in range(x.shape[1])] for each in families])  # fmt: skip
    # A family that is not on an input leaves its correlation as it is.
    values = np.where(there, r_without, r)
    without = np.array([np.nanmean(row[~np.isnan(row)]) for row in values])
    v_s = (g - 1) / g * ((without - value) ** 2).sum()
    d = len(np.unique(document[defined]))
    v_i = d / (d - 1) * sum((r[defined & (document == each)] - value).sum() ** 2 for each in documents) / m**2
    v_c, bias = 0.0, []
    for each in documents:
        here = [at for at in np.flatnonzero((document == each) & defined)]
        if not here:
            continue
        off = np.zeros(g)
        n = 0
        for at in here:
            own = there[:, at] & ~np.isnan(r_without[:, at])
            mean = r_without[own, at].mean()
            off[own] += r_without[own, at] - mean
            n = max(n, there[:, at].sum())
        v_c += (n - 1) / n * (off**2).sum() / m**2
    for at in np.flatnonzero(defined):
        own = there[:, at]
        whole = not np.isnan(r_without[own, at]).any()
        bias.append((own.sum() - 1) * (r_without[own, at].mean() - r[at]) if whole else 0.0)
    return value, v_s, v_i, v_c, np.mean(bias), g, d


@pytest.mark.parametrize("coefficient", CORRELATION)
@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("clusters", [("family",), ("family", "document"), ("document",)])
def test_input_level_is_what_plain_python_finds(coefficient, gaps, clusters):
    ds = scores(3, gaps=gaps)
    x, z = (ds.score.sel(metric=name).values for name in ("a", "human"))
    family = ds.family.values if "family" in clusters else np.arange(x.shape[0])
    document = ds.document.values if "document" in clusters else np.arange(x.shape[1])
    value, v_s, v_i, v_c, bias, g, d = twin(x, z, "input", CORRELATION[coefficient], family, document)
    how = {"metric": "a", "level": "input", "coefficient": coefficient, "cluster": clusters}
    of_both = v_s + max(0.0, v_i - v_c)
    satterthwaite = of_both**2 / (v_s**2 / (g - 1) + v_i**2 / (d - 1))
    for resample, variance, df in (
        ("both", of_both, g - 1 if d >= g else min(g - 1, max(d - 1, satterthwaite))),
        ("system", v_s, g - 1),
        ("input", v_i, d - 1),
    ):
        got = ds.meta.ci("human", resample=resample, **how)
        assert float(got.correlation.item()) == pytest.approx(value, abs=1e-12)
        assert float(got.standard_error.item()) == pytest.approx(math.sqrt(variance), rel=1e-9)
        assert float(got.df.item()) == pytest.approx(df)
        off = 0.0 if resample == "input" else bias
        taken = min(max(off, -(1 - value) / 2), (1 + value) / 2)
        step = {"pearson": 1e-12, "spearman": 6 / (g**3 - g), "kendall": 2 / (g**2 - g)}[coefficient]
        centre = min(max(1 - step, value), value - taken) if resample != "input" else value
        middle = np.arctanh(centre) - (off - taken) / (1 - centre**2)
        assert float(got.bias.item()) == pytest.approx(value - np.tanh(middle), abs=1e-12)
        limits = np.tanh(middle + np.array([-1, 1]) * stats.t.ppf(0.975, df) * math.sqrt(variance) / (1 - value**2))
        limits = min(limits[0], value), max(limits[1], value)
        np.testing.assert_allclose([got.ci_low.item(), got.ci_high.item()], limits, atol=1e-9)


@pytest.mark.parametrize("coefficient", CORRELATION)
@pytest.mark.parametrize("level", ["system", "global"])
def test_other_levels_leave_out_whole_families(level, coefficient):
    """Over systems alone the variance is that of the values without each family, about the value itself."""
    ds = scores(5)
    x, z = (ds.score.sel(metric=name).values for name in ("a", "human"))
    f, family = CORRELATION[coefficient], ds.family.values
    value = estimate(x, z, level, f)
    without = np.array([estimate(x[family != each], z[family != each], level, f) for each in np.unique(family)])
    g = len(without)
    variance = (g - 1) / g * ((without - value) ** 2).sum()
    if level == "system" and coefficient != "pearson":
        variance *= ((g - 2) / (g - 1)) ** 2
    how = {"metric": "a", "level": level, "coefficient": coefficient, "cluster": "family"}
    got = ds.meta.ci("human", resample="system", **how)
    assert float(got.standard_error.item()) == pytest.approx(math.sqrt(variance), rel=1e-9)
    assert float(got.df.item()) == g - 1
    both = ds.meta.ci("human", resample="both", **how)
    assert float(both.standard_error.item()) >= float(got.standard_error.item()) * (1 - 1e-12)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
def test_few_families_leave_the_estimate_at_the_centre(coefficient):
    """Three families of four systems: the limits are about the estimate, however near to 1, and so are differences."""
    rng = np.random.default_rng(0)
    z = np.arange(12.0)[:, None] + 0.1 * rng.normal(size=(12, 8))
    x = z + np.array([0, 0, 0, 0, 0, 0, 0, 0, 2.5, 0, 0, 0])[:, None]
    y = z + np.array([0, 2.5, 0, 0, 0, 3.5, 0, 0, 0, 4, 0, 0])[:, None]
    ds = xr.Dataset({"score": (("metric", "system", "input"), np.array([z, x, y]))}, {"metric": ["human", "a", "b"]})
    ds = ds.assign_coords(system=np.arange(12), family=("system", list("aaaabbbbcccc")))
    how = {"coefficient": coefficient, "resample": "system", "cluster": "family"}
    f, family = CORRELATION[coefficient], ds.family.values
    for name, scores_of in (("a", x), ("b", y)):
        means, human = scores_of.mean(axis=1), z.mean(axis=1)
        value = f(means, human)
        without = np.array([f(means[family != each], human[family != each]) for each in "abc"])
        error = math.sqrt(2 / 3 * ((without - value) ** 2).sum()) / 2
        reach = stats.t.ppf(0.975, 2) * error / (1 - value**2)
        got = ds.meta.ci("human", metric=name, **how)
        assert 0.75 < value < 1 and float(got.bias.item()) == pytest.approx(0, abs=1e-12)
        limits = np.tanh(np.arctanh(value) + np.array([-reach, reach]))
        np.testing.assert_allclose([got.ci_low.item(), got.ci_high.item()], limits, atol=1e-9)
    apart = ds.meta.compare_metrics("human", metric="a", other="b", **how)
    assert float(apart.pvalue.item()) < 1 and float(apart.bias.item()) == pytest.approx(0, abs=1e-12)


def centred_twice(values):
    rest = values - values.mean(axis=1, keepdims=True)
    return rest - rest.mean(axis=0)


def summed(values, family, document):
    """Sums over each family and document."""
    rows = [values[family == each].sum(axis=0) for each in np.unique(family)]
    return np.array([[row[document == each].sum() for each in np.unique(document)] for row in rows])


def second_order(x, z, document):
    """``G/(G−1)·Σ_{g≠h} F_gh²/2``, F the second differences of Pearson's r by the noise of documents g and h."""
    each, m = np.unique(document), x.shape[1]
    noise = [np.array([centred_twice(v)[:, document == one].sum(axis=1) for one in each]) / m for v in (x, z)]

    def r(weights):
        return np.corrcoef(*(v.mean(axis=1) + weights @ own for v, own in zip((x, z), noise, strict=True)))[0, 1]

    unit, total = 1e-3 * np.eye(len(each)), 0.0
    for g, h in np.ndindex(len(each), len(each)):
        if g != h:
            corners = [a * b * r(a * unit[g] + b * unit[h]) for a in (1, -1) for b in (1, -1)]
            total += (sum(corners) / 4e-6) ** 2 / 2
    return len(each) / (len(each) - 1) * total


@pytest.mark.parametrize("coefficient, seed, apart", [*((each, 5, 0.0) for each in CORRELATION), ("pearson", 6, 0.5)])
def test_means_over_families_and_documents(coefficient, seed, apart):
    """What documents add is the influence of their outputs on Pearson's r, less the noise of families in documents."""
    ds = scores(seed)
    ds["score"] = ds.score + apart * np.arange(10.0)[:, None]
    x, z = (ds.score.sel(metric=name).values for name in ("a", "human"))
    family, document, f = ds.family.values, ds.document.values, CORRELATION[coefficient]
    n, m = x.shape
    g, d = len(np.unique(family)), len(np.unique(document))

    def without(of):
        values = np.array([estimate(x[family != e], z[family != e], "system", of) for e in np.unique(family)])
        return (g - 1) / g * ((values - estimate(x, z, "system", of)) ** 2).sum()

    own, of_pearson = without(f), without(CORRELATION["pearson"])
    own *= 1 if coefficient == "pearson" else ((g - 2) / (g - 1)) ** 2
    a, b = ((each.mean(axis=1) - each.mean()) / each.mean(axis=1).std() for each in (x, z))
    s_x, s_z = (each.mean(axis=1).std() for each in (x, z))
    r = (a * b).mean()
    psi = ((b - r * a) / (n * s_x))[:, None] * centred_twice(x) + ((a - r * b) / (n * s_z))[:, None] * centred_twice(z)
    blocks = summed(psi / m, family, document)
    of_inputs = d / (d - 1) * (blocks.sum(axis=0) ** 2).sum()
    of_cells = d / (d - 1) * g / (g - 1) * (blocks**2).sum()
    added = max(0.0, of_inputs - of_cells)
    added *= 1 if coefficient == "pearson" else own / of_pearson
    how = {"metric": "a", "coefficient": coefficient, "cluster": ("family", "document")}
    got = ds.meta.ci("human", resample="both", **how)
    assert float(got.standard_error.item()) == pytest.approx(math.sqrt(own + added), rel=1e-9)
    if coefficient == "pearson":
        got = ds.meta.ci("human", resample="input", **how)
        bent = second_order(x, z, document)
        assert (0.01 * of_inputs < bent < of_inputs / 2) == (apart > 0)
        wanted = max(of_inputs - bent, of_inputs / 2)
        assert float(got.standard_error.item()) == pytest.approx(math.sqrt(wanted), rel=1e-5)
        assert float(got.df.item()) == d - 1


def test_all_outputs_over_families_and_documents():
    ds = scores(5)
    x, z = (ds.score.sel(metric=name).values for name in ("a", "human"))
    family, document, f = ds.family.values, ds.document.values, CORRELATION["pearson"]
    value = f(x.ravel(), z.ravel())
    variances = []
    for labels, axis in ((family, 0), (document, 1)):
        each = np.unique(labels)
        kept = [np.compress(labels != one, np.stack([x, z]), axis + 1) for one in each]
        without = np.array([f(*(part.ravel() for part in parts)) for parts in kept])
        variances.append((len(each) - 1) / len(each) * ((without - value) ** 2).sum())
    a, b = standardised(x), standardised(z)
    influence = a * b - value * (a**2 + b**2) / 2
    of_cells = (summed(influence, family, document) ** 2).sum() / x.size**2
    got = ds.meta.ci("human", metric="a", level="global", cluster=("family", "document"))
    wanted = variances[0] + max(0.0, variances[1] - of_cells)
    assert float(got.standard_error.item()) == pytest.approx(math.sqrt(wanted), rel=1e-9)


def test_clusters_of_one_label_each_change_the_centre_of_the_variance_alone():
    """Values without each label are those that are known; of clusters their variance is about the value itself."""
    ds = scores(6)
    own = ds.assign_coords(family=("system", [f"f{at:02}" for at in range(10)]))
    for level in ("system", "input", "global"):
        x, z = (ds.score.sel(metric=name).values for name in ("a", "human"))
        f = CORRELATION["kendall"]
        value = estimate(x, z, level, f)
        without = np.array([estimate(np.delete(x, at, 0), np.delete(z, at, 0), level, f) for at in range(10)])
        factor = (8 / 9) ** 2 if level == "system" else 1
        how = {"metric": "a", "level": level, "coefficient": "kendall", "resample": "system"}
        got = own.meta.ci("human", cluster="family", **how)
        about = 0.9 * factor * ((without - value) ** 2).sum()
        assert float(got.standard_error.item()) == pytest.approx(math.sqrt(about), rel=1e-9)


@pytest.mark.ignore_codes("documents")
def test_a_difference_is_of_the_same_clusters():
    ds = scores(7)
    got = ds.meta.compare_metrics("human", metric="a", other="b", level="input", cluster="family")
    want = ds.meta.ci("human", metric="a", other="b", level="input", cluster="family")
    for name in ("difference", "standard_error", "df", "bias"):
        np.testing.assert_array_equal(got[name], want[name])
    assert float(got.df.item()) == 4 and got.attrs["cluster"] == "family"
    assert got.meta.conclusion().startswith("For systems and inputs like these, clustered by family, ")
    ranks = ds.meta.rank("human", level="input", cluster="family")
    assert ranks.attrs["cluster"] == "family" and "clustered by family" in ranks.meta.methods()
    plain = ds.meta.compare_metrics("human", metric="a", other="b", level="input")
    assert 8 <= float(plain.df.item()) < 9  # 10 systems, 9 inputs


def test_neither_order_nor_names_of_clusters_matter():
    ds = scores(8)
    how = {"level": "input", "cluster": ("family", "document")}
    want = ds.meta.ci("human", **how)
    turned = ds.isel(system=slice(None, None, -1), input=slice(None, None, -1))
    numbered = turned.assign_coords(family=("system", [int(name[1:]) * 7 for name in turned.family.values]))
    for each in (turned, numbered):
        np.testing.assert_allclose(each.meta.ci("human", **how).ci_low, want.ci_low, rtol=1e-10)


def test_a_system_without_a_family_is_one_of_its_own():
    ds = scores(9)
    lacking = ds.assign_coords(family=("system", [None if name == "f2" else name for name in ds.family.values]))
    with pytest.warns(UserWarning, match="without family"):
        got = lacking.meta.ci("human", level="input", cluster="family")
    np.testing.assert_allclose(got.ci_low, ds.meta.ci("human", level="input", cluster="family").ci_low, rtol=1e-12)


def test_three_clusters_have_an_interval_and_unequal_ones_are_told():
    assert np.isfinite(scores(1, (3, 3, 3)).meta.ci("human", level="input", cluster="family").ci_low).all()
    with warns("no_interval"):
        assert np.isnan(scores(1, (4, 4)).meta.ci("human", level="input", cluster="family").ci_low).all()
    told = r"clusters of systems have unequal sizes \(1 to 9\): 95 % intervals cover about 90 %"
    with pytest.warns(UserWarning, match=told):
        scores(1, (9, 1, 1, 1, 1, 1)).meta.ci("human", level="input", cluster="family")


@pytest.mark.parametrize(
    "asked, message",
    [
        ({"cluster": "familiy"}, "cluster must be a coordinate that describes .* did you mean 'family'"),
        ({"cluster": ("family", "type")}, "names two coordinates of systems"),
        ({"cluster": "family", "given": "b"}, "cluster='family' does not go with given"),
        ({"cluster": "family", "missing": "available"}, "cluster='family' does not go with missing='available'"),
        ({"cluster": "family", "method": "fisher"}, "does not go with method='fisher'"),
        ({"cluster": "family", "interval": "bca"}, "does not go with interval='bca'"),
        ({"cluster": "family", "resample": "cell", "level": "global"}, "does not go with resample='cell'"),
        ({"cluster": 3}, "cluster must"),
    ],
)
def test_what_is_refused(asked, message):
    ds = scores(2)
    ds = ds.assign_coords(type=("system", ["x"] * ds.sizes["system"]))
    with pytest.raises((ValueError, TypeError), match=message):
        ds.meta.ci("human", **asked)


# --- Draws and swaps ---


def standardised(x):
    return (x - x.mean()) / x.std()


@pytest.mark.parametrize("resample, units", [("system", "family"), ("input", "document")])
def test_whole_clusters_trade_places(resample, units):
    """Every swap of whole clusters is listed, by hand and by the test."""
    ds = scores(4, (2, 2, 1, 3), inputs=9)
    x, y, z = (ds.score.sel(metric=name).values for name in ("a", "b", "human"))
    x, y = standardised(x), standardised(y)
    codes = np.unique(ds[units].values, return_inverse=True)[1]
    differences = []
    for signs in np.ndindex(*[2] * (codes.max() + 1)):
        swap = np.array(signs, bool)[codes]
        swap = swap[:, None] if resample == "system" else swap[None]
        one, two = np.where(swap, y, x), np.where(swap, x, y)
        differences.append(estimate(one, z, "system", CORRELATION["pearson"])
                           - estimate(two, z, "system", CORRELATION["pearson"]))  # fmt: skip
    observed = differences[0]
    want = np.mean(np.abs(differences) >= abs(observed) - 1e-12)
    with warns("few_resamples") if 2 / len(differences) > 0.05 else nothing():
        got = ds.meta.perm_test("human", metric="a", other="b", resample=resample, cluster=units)
    assert got.attrs["exact"] and got.attrs["n_resamples"] == len(differences)
    assert float(got.difference.item()) == pytest.approx(observed) and float(got.pvalue.item()) == pytest.approx(want)


def nothing():
    return contextlib.nullcontext()


def test_a_cell_of_clusters_is_swapped_whole():
    systems, inputs = np.array([0, 1, 0, 2, 1]), np.array([1, 0, 0, 2, 3, 3, 1, 2, 0])
    plan = SwapPlan.of((5, 9), ("system", "input"), False, 40, 1, (systems, inputs))
    bits = np.concatenate([each for _, each in plan.pieces(0)])
    np.testing.assert_array_equal(bits, plan.block(0))
    swaps = np.unpackbits(bits, axis=2, count=9, bitorder="little")
    assert swaps.shape == (40, 5, 9) and 0.3 < swaps.mean() < 0.7
    for one, other in np.argwhere(systems[:, None] == systems):
        np.testing.assert_array_equal(swaps[:, one], swaps[:, other])
    for one, other in np.argwhere(inputs[:, None] == inputs):
        np.testing.assert_array_equal(swaps[:, :, one], swaps[:, :, other])
    assert len(np.unique(swaps[:, [0, 1, 3]][:, :, [0, 1, 3, 4]].reshape(40, -1), axis=0)) > 30


def test_whole_clusters_are_drawn():
    systems, inputs = np.array([0, 1, 0, 2, 1]), np.arange(9)
    plan = DrawPlan((5, 9), ("system", "input"), 50, 1, clusters=(systems, inputs))
    draw = plan.block(0)
    assert draw.systems.shape == (50, 5) and draw.inputs.shape == (50, 9)
    assert (draw.systems[:, [0, 1, 3]].sum(axis=1) == 3).all() and (draw.inputs.sum(axis=1) == 9).all()
    np.testing.assert_array_equal(draw.systems[:, [0, 1]], draw.systems[:, [2, 4]])


@pytest.mark.parametrize("cluster", ["family", ("family", "document")])
def test_the_bootstrap_is_of_drawn_clusters(cluster):
    """Its samples are the correlations of scores in which clusters stand as often as they were drawn."""
    ds = scores(6)
    how = {"metric": "a", "level": "input", "n_resamples": 20, "rng": 3}
    got = ds.meta.ci("human", method="bootstrap", keep_samples=True, cluster=cluster, **how).samples.squeeze().values
    codes = [np.unique(ds[name].values, return_inverse=True)[1] for name in ("family", "document")]
    codes[1] = codes[1] if cluster != "family" else np.arange(ds.sizes["input"])
    draw = DrawPlan((10, 9), ("system", "input"), 20, 3, clusters=tuple(codes)).block(0)
    for at in range(20):
        drawn = ds.isel(
            system=np.repeat(np.arange(10), draw.systems[at]), input=np.repeat(np.arange(9), draw.inputs[at])
        )
        x, z = (drawn.score.sel(metric=name).values for name in ("a", "human"))
        assert got[at] == pytest.approx(estimate(x, z, "input", CORRELATION["pearson"]), abs=1e-12)
    test = ds.meta.boot_test("human", other="b", cluster=cluster, **how)
    assert test.attrs["cluster"] == (cluster if isinstance(cluster, str) else " ".join(cluster))


# --- Equivalence, dominance ---


def test_equivalence_leaves_out_the_same_clusters():
    ds = scores(7)
    how = {"metric": "a", "other": "b", "level": "input", "cluster": ("family", "document")}
    test = ds.meta.equivalence("human", **how, method="jackknife", margin=0.4, alpha=0.1)
    ci = ds.meta.ci("human", **how, confidence_level=0.8)
    for name in ("difference", "ci_low", "ci_high"):
        assert float(test[name].item()) == pytest.approx(float(ci[name].item()), abs=1e-12)
    assert test.attrs["cluster"] == "family document" and "clustered by family and document" in test.meta.conclusion()
    versions = xr.concat([ds.sel(metric=[each]).assign_coords(metric=["judge"]) for each in "ab"], "month")
    versions = versions.assign_coords(month=["new", "old"])
    human = ds.score.sel(metric="human", drop=True)
    how |= {"method": "jackknife", "margin": 0.4, "alpha": 0.1, "along": "month", "base": "old"}
    for name in ("metric", "other"):
        del how[name]
    along = versions.meta.equivalence(human, **how)
    for name in ("difference", "ci_low", "ci_high", "pvalue"):
        assert float(along[name].item()) == pytest.approx(float(test[name].item()), abs=1e-12)


def test_draws_for_equivalence_and_dominance_are_of_the_same_clusters():
    ds = scores(6)
    how = {"metric": "a", "other": "b", "level": "input", "n_resamples": 199, "rng": 3, "cluster": "family"}
    drawn = ds.meta.ci("human", method="bootstrap", keep_samples=True, **how).samples.values.ravel()
    test = ds.meta.equivalence("human", margin=0.3, **how)
    wanted = (1 + max((drawn >= 0.3).sum(), (drawn <= -0.3).sum())) / 200
    assert float(test.pvalue.item()) == pytest.approx(wanted)
    grid = ds.meta.margin_sensitivity("human", margins=[0.1, 0.3, 0.9], **how)
    shares = [(1 + max((drawn >= at).sum(), (drawn <= -at).sum())) / 200 <= 0.05 for at in (0.1, 0.3, 0.9)]
    assert grid.share.values.ravel().tolist() == shares and shares[-1]
    ahead = ds.meta.dominance("human", **how)
    assert float(ahead.probability.item()) == pytest.approx((drawn > 0).mean())
    assert ahead.attrs["cluster"] == grid.attrs["cluster"] == "family"
    with pytest.raises(ValueError, match="cluster='family' does not go with method='anderson_hauck'"):
        ds.meta.equivalence("human", metric="a", other="b", margin=0.3, method="anderson_hauck", cluster="family")


def test_what_swaps_cannot_do_is_refused():
    ds = scores(6)
    for asked, message in (
        ({"method": "analytic", "level": "input", "coefficient": "kendall_a"}, "does not go with method='analytic'"),
        ({"coefficient": "acc_eq", "level": "input", "swap": "decisions"}, "does not go with swap='decisions'"),
    ):
        with pytest.raises(ValueError, match=message):
            ds.meta.perm_test("human", cluster="family", **asked)


def test_lazy_scores_are_refused():
    pytest.importorskip("dask")
    with pytest.raises(ValueError, match=r"needs scores in memory: ds.load\(\)"):
        scores(2).chunk().meta.compare_metrics("human", cluster="family")


@pytest.mark.slow
@pytest.mark.parametrize("level", ["input", "system"])
def test_intervals_of_families_of_two_hold_the_truth(level):
    """12 systems in 6 families of near-copies; leaving out single systems the intervals hold far too little."""

    def drawn(families, rng, size=2, inputs=40):
        family = np.repeat(np.arange(families), size)
        shape = (families * size, inputs)
        effects = rng.normal(size=(families, 2))[family] + 0.15 * rng.normal(size=(len(family), 2))
        cells = rng.normal(size=(2, families, inputs))[:, family]
        z = 0.8 * effects[:, :1] + 0.4 * rng.normal(size=(1, inputs)) + 0.8 * cells[0]
        x = 0.8 * (0.6 * effects[:, :1] + 0.8 * effects[:, 1:]) + 0.4 * rng.normal(size=(1, inputs))
        x = x + 0.8 * (0.5 * cells[0] + math.sqrt(0.75) * cells[1])
        values = np.array([z, x]) + 0.3 * rng.normal(size=(2, *shape))
        names = {"metric": ["human", "m"], "family": ("system", [f"f{at}" for at in family])}
        return xr.Dataset({"score": (("metric", "system", "input"), values)}, names)

    rng = np.random.default_rng(5)
    truth = np.mean([drawn(400, rng, 1).meta.corr("human", level=level).correlation.item() for _ in range(12)])
    held = {None: 0, "family": 0}
    for _ in range(200):
        ds = drawn(6, rng)
        for cluster in held:
            got = ds.meta.ci("human", level=level, cluster=cluster)
            held[cluster] += int(got.ci_low.item() <= truth <= got.ci_high.item())
    assert 182 <= held["family"] <= 199 and held[None] < 178, held


@pytest.mark.parametrize(("largest", "told"), [(5, False), (6, False), (7, True)])
def test_clusters_as_unequal_as_half_their_number_are_not_told(largest, told):
    """Of five, with four of one label, n²/Σ size² is 5/2 where the largest has six."""
    codes = np.array([0, 1, 2, 3, *[4] * largest])
    assert (len(codes) ** 2 / (4 + largest**2) < 5 / 2) == told
    with warns("unequal_clusters") if told else contextlib.nullcontext():
        clustering._warn_unequal(codes, "system")


@pytest.mark.parametrize("name", ["ci", "compare_metrics"])
def test_groups_of_one_cluster_say_that_they_need_more(name):
    ds = xsumstat.load_dataset("demo").assign_coords(topic=("input", ["a"] * 10 + ["b"] * 20))
    with warns("no_interval") as warned:
        getattr(ds.meta, name)("human", level="input", resample="input", by="topic", cluster="topic")
    assert any("which needs more than 1 cluster of inputs" in str(each.message) for each in warned)


@pytest.mark.parametrize(
    "ask",
    [
        lambda m, **how: m.ci(level="input", **how),
        lambda m, **how: m.compare_metrics(level="input", **how),
        lambda m, **how: m.perm_test(n_resamples=19, rng=1, **how),
        lambda m, **how: m.bias(given="length", level="input", **how),
        lambda m, **how: m.compare_groups(by="half", level="input", **how),
    ],
)
def test_inputs_of_common_documents_are_warned_of(ask):
    rng = np.random.default_rng(0)
    coords = {
        "metric": ["human", "a", "b", "length"],
        "system": list("uvwxyz"),
        "input": np.arange(24),
        "document": ("input", np.arange(24) // 3),
        "half": ("input", ["first"] * 12 + ["second"] * 12),
    }
    ds = xr.Dataset({"score": (("metric", "system", "input"), rng.normal(size=(4, 6, 24)))}, coords)
    ds = ds.assign_attrs(gold="human")
    with warns("documents", "^24 inputs come from 8 documents"):
        ask(ds.meta)
    alone = ds.assign_coords(document=("input", np.arange(24)))
    for each, how in ((ds, {"cluster": "document"}), (alone, {}), (ds.drop_vars("document"), {})):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ask(each.meta, **how)
        assert not of_code(caught, "documents")


def test_swaps_of_documents_are_told():
    rng = np.random.default_rng(0)
    coords = {"metric": ["human", "a", "b"], "document": ("input", np.arange(24) // 3)}
    ds = xr.Dataset({"score": (("metric", "system", "input"), rng.normal(size=(3, 6, 24)))}, coords)
    test = ds.meta.perm_test("human", cluster="document", n_resamples=19, rng=1)
    assert "these 6 systems, clustered by document" in test.meta.conclusion()
    assert "clustered by document" in test.meta.methods()

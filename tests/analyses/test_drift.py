"""`drift`: two versions of a judge on the same outputs, by plain twins and SciPy."""

import math

import numpy as np
import pytest
import scipy.stats
import xarray as xr
from helpers import for_each
from versions_of_a_judge import plain, versions

from xsumstat.core.caveats import LeftOutWarning
from xsumstat.inference import drift as engine


def of(new, old, **how):
    return new.meta.drift(old, **how).squeeze("metric", drop=True)


def score_limits(share, without, n, level=0.95):
    """Wilson's limits with as many cases as have the jackknife's variance, and Student's t over prompts."""
    j = len(without)
    v = (j - 1) / j * ((without - np.mean(without)) ** 2).sum()
    z2 = scipy.stats.t.ppf((1 + level) / 2, j - 1) ** 2 * max(v / (share * (1 - share)), 1 / n)
    middle, half = share + z2 / 2, math.sqrt(z2 * share * (1 - share) + z2**2 / 4)
    return (middle - half) / (1 + z2), (middle + half) / (1 + z2)


def verdicts_of(x):
    """The order of each two systems on each prompt, in plain Python; None where a score lacks."""
    systems, prompts = x.shape
    pairs = [(a, b) for a in range(systems) for b in range(a + 1, systems)]
    return [
        [None if np.isnan(x[a, j] + x[b, j]) else int(np.sign(x[a, j] - x[b, j])) for j in range(prompts)]
        for a, b in pairs
    ]


@for_each("name", ["flip", "reversal", "changed"])
def test_shares_are_counted_and_their_limits_leave_prompts_out(name):
    new, old = versions(noise=1.0)
    found = of(new, old, alpha=0.1)
    a, b = plain(new), plain(old)
    if name == "changed":
        there = ~np.isnan(a + b)
        hit = there & (a != b)
    else:
        one, two = verdicts_of(np.where(np.isnan(b), np.nan, a)), verdicts_of(np.where(np.isnan(a), np.nan, b))
        there = np.array([[each is not None for each in row] for row in one])
        turned = [
            [x is not None and x * y == -1 for x, y in zip(*rows, strict=True)] for rows in zip(one, two, strict=True)
        ]
        other = [[x is not None and x != y for x, y in zip(*rows, strict=True)] for rows in zip(one, two, strict=True)]
        hit = np.array(turned if name == "reversal" else other)
    share, n = hit.sum() / there.sum(), there.sum()
    assert float(found[f"{name}_share"]) == share
    assert int(found["n_outputs" if name == "changed" else "n_pairs"]) == n
    without = np.array([np.delete(hit, at, 1).sum() / np.delete(there, at, 1).sum() for at in range(hit.shape[1])])
    limits = [float(found[f"{name}_{end}"]) for end in ("low", "high")]
    assert limits == pytest.approx(score_limits(share, without, n, 0.9))


def test_shifts_of_systems_are_paired_t_tests_over_inputs():
    new, old = versions(shift=(1.0,))
    found = of(new, old)
    tests = [scipy.stats.ttest_rel(a, b, nan_policy="omit") for a, b in zip(plain(new), plain(old), strict=True)]
    np.testing.assert_allclose(found["system_shift"], np.nanmean(plain(new) - plain(old), axis=1))
    np.testing.assert_allclose(found["system_shift_pvalue"], [each.pvalue for each in tests])
    for end in ("low", "high"):
        limits = [getattr(each.confidence_interval(), end) for each in tests]
        np.testing.assert_allclose(found[f"system_shift_{end}"], limits)
    p = np.array([each.pvalue for each in tests])
    order = np.argsort(p)
    holm = np.empty(4)
    holm[order] = np.minimum(1, np.maximum.accumulate(p[order] * [4, 3, 2, 1]))
    np.testing.assert_allclose(found["system_shift_pvalue_adjusted"], holm)


def test_the_mean_shift_and_what_exceeds_it_are_t_tests_of_contrasts():
    new, old = versions(shift=(1.0,), gaps=False)
    found = of(new, old)
    change = plain(new) - plain(old)
    overall = scipy.stats.ttest_1samp(change.mean(axis=0), 0)
    assert float(found["shift"]) == pytest.approx(change.mean())
    assert float(found["shift_pvalue"]) == pytest.approx(overall.pvalue)
    assert float(found["shift_low"]) == pytest.approx(overall.confidence_interval().low)
    beyond = [scipy.stats.ttest_1samp(change[at] - np.delete(change, at, 0).mean(axis=0), 0) for at in range(4)]
    np.testing.assert_allclose(found["excess_pvalue"], [each.pvalue for each in beyond])
    np.testing.assert_allclose(found["excess_high"], [each.confidence_interval().high for each in beyond])


def test_the_interaction_is_hotellings_test():
    new, old = versions(shift=(0.3,), noise=1.0, gaps=False, seed=2)
    found = of(new, old)
    apart = (plain(new) - plain(old))[1:] - (plain(new) - plain(old))[0]
    n, k = apart.shape[1], len(apart)
    t2 = n * apart.mean(axis=1) @ np.linalg.solve(np.cov(apart), apart.mean(axis=1))
    f = t2 * (n - k) / (k * (n - 1))
    assert float(found["heterogeneity"]) == pytest.approx(f)
    assert [float(found[f"df_{each}"]) for each in ("numerator", "denominator")] == [k, n - k]
    assert float(found["heterogeneity_pvalue"]) == pytest.approx(scipy.stats.f.sf(f, k, n - k))


def test_of_two_systems_the_interaction_is_one_t_test():
    new, old = versions(systems=2, shift=(0.5,), noise=1.0, gaps=False)
    found = of(new, old)
    change = plain(new) - plain(old)
    p = scipy.stats.ttest_rel(change[0], change[1]).pvalue
    assert float(found["heterogeneity_pvalue"]) == pytest.approx(p)
    np.testing.assert_allclose(found["excess_pvalue_adjusted"], [p, p])


def test_with_gaps_variances_are_of_the_prompts_that_a_system_has():
    new, old = versions(noise=1.0, seed=3)
    new.score[0, 2, 10:20] = np.nan
    found = of(new, old)
    change = plain(new) - plain(old)
    n = (~np.isnan(change)).sum(axis=1)
    mean = np.nanmean(change, axis=1)
    covariance = np.zeros((4, 4))
    for s in range(4):
        for t in range(4):
            both = ~np.isnan(change[s] + change[t])
            products = (change[s] - mean[s])[both] @ (change[t] - mean[t])[both]
            covariance[s, t] = products / math.sqrt(n[s] * (n[s] - 1) * n[t] * (n[t] - 1))
    weights = np.array([1, -1 / 3, -1 / 3, -1 / 3])
    half = scipy.stats.t.ppf(0.975, n.min() - 1) * math.sqrt(weights @ covariance @ weights)
    assert float(found["excess_low"][0]) == pytest.approx(weights @ mean - half)
    apart = np.hstack([np.full((3, 1), -1.0), np.eye(3)])
    t2 = (apart @ mean) @ np.linalg.solve(apart @ covariance @ apart.T, apart @ mean)
    f = t2 * (n.min() - 3) / (3 * (n.min() - 1))
    assert float(found["heterogeneity"]) == pytest.approx(f)


def test_ranks_are_by_means_and_the_direction():
    new, old = versions(shift=(5.0,), gaps=False)
    found = of(new, old)
    for name, ds in (("", new), ("old_", old)):
        mean = plain(ds).mean(axis=1)
        np.testing.assert_allclose(found[f"{name}mean"], mean)
        np.testing.assert_array_equal(found[f"{name}rank"], scipy.stats.rankdata(-mean, "min"))
    lower = [ds.assign_coords(higher_is_better=("metric", [False, True])) for ds in (new, old)]
    turned = of(*lower)
    np.testing.assert_array_equal(turned["rank"], scipy.stats.rankdata(plain(new).mean(axis=1), "min"))
    np.testing.assert_allclose(turned["system_shift"], found["system_shift"])
    np.testing.assert_allclose(turned["difference"], -found["difference"])


def test_where_nothing_changed_there_is_no_doubt():
    new, old = versions(noise=0, gaps=False)
    found = of(new, old)
    for name in ("flip_share", "reversal_share", "changed_share", "shift", "difference", "heterogeneity"):
        assert float(found[name]) == 0
    assert float(found["heterogeneity_pvalue"]) == float(found["shift_pvalue"]) == 1
    assert bool(found["equivalent"]) and 0.02 < float(found["changed_high"]) < 0.2


@pytest.mark.slow
@for_each("level, systems", [("global", 1), ("global", 4), ("input", 4), ("system", 8)])
def test_a_version_that_changed_no_score_agrees_as_before(level, systems):
    """Limits of a correlation lie unevenly about it, so those of the difference had a width (.31 at system level)."""
    new, old = versions(systems, noise=0, gaps=systems > 1)
    found = of(new, old, level=level, margin=1e-3)
    assert [float(found[name]) for name in ("difference", "ci_low", "ci_high", "pvalue")] == [0, 0, 0, 0]
    assert bool(found["equivalent"])
    lazy = of(new.chunk(input=7), old.chunk(input=5), level=level, margin=1e-3).compute()
    assert bool(lazy["equivalent"]) and float(lazy["ci_high"]) == 0


@pytest.mark.slow
@for_each("dims", [("metric", "system", "input"), ("input", "system", "metric"), ("input", "metric", "system")])
def test_any_layout_gives_the_same_bits_also_lazily(dims):
    """Means of scores that lie otherwise in memory were added in another order."""
    new, old = versions(6, prompts=60, noise=1.0)
    new, old = (each.assign(score=each.score / 3) for each in (new, old))
    found = of(new, old)
    laid = [each.transpose(*dims).copy(deep=True) for each in (new, old)]
    xr.testing.assert_identical(of(*laid), found)
    xr.testing.assert_identical(of(*(each.chunk(input=7, system=2) for each in laid)).compute(), found)


def test_a_constant_shift_of_one_system_is_certain():
    new, old = versions(noise=0, shift=(2.0,), gaps=False)
    found = of(new, old)
    assert float(found["heterogeneity"]) == math.inf and float(found["heterogeneity_pvalue"]) == 0
    assert found["system_shift"].values.tolist() == [2, 0, 0, 0]
    assert found["system_shift_pvalue"].values.tolist() == [0, 1, 1, 1]
    alike, before = versions(noise=0, shift=(2.0,) * 4, gaps=False)
    assert float(of(alike, before)["heterogeneity_pvalue"]) == 1


@pytest.mark.ignore_codes("few_systems")
@for_each("level", ["global", "input", "system", "within_system"])
def test_agreement_is_compared_on_outputs_that_both_scored(level):
    new, old = versions(noise=2.0)
    found = of(new, old, level=level, alpha=0.1, margin=0.3)
    both = xr.concat([new, old], "version").assign_coords(version=["a", "b"])
    both["score"] = both.score.where(both.score.notnull().all("version"))
    how = {"level": level, "method": "jackknife", "resample": "input", "margin": 0.3, "alpha": 0.1}
    judge = both.score.sel(metric=["judge"]).to_dataset()
    human = new.score.sel(metric="human", drop=True)
    twin = judge.meta.equivalence(human, along="version", base="b", **how).squeeze()
    for name in ("difference", "ci_low", "ci_high", "pvalue", "equivalent"):
        assert float(found[name]) == pytest.approx(float(twin[name]), nan_ok=True)
    assert float(found["difference"]) == pytest.approx(float(found["new_correlation"] - found["old_correlation"]))


def test_agreement_is_the_difference_of_two_correlations():
    new, old = versions(gaps=False, noise=2.0)
    human = new.score.sel(metric="human").values
    found = of(new, old, level="input")
    r = [np.mean([np.corrcoef(x[:, j], human[:, j])[0, 1] for j in range(40)]) for x in (plain(new), plain(old))]
    assert float(found["difference"]) == pytest.approx(r[0] - r[1])
    assert [float(found[f"{each}_correlation"]) for each in ("new", "old")] == pytest.approx(r)


@for_each("lazy", [False, True])
def test_an_output_that_is_left_out_counts_once(lazy):
    """24 of 160: 10 by one version, 9 by the other (2 by both) and 7 without human scores."""
    new, old = versions(gaps=False)
    new.score[0, 0, :10] = old.score[0, 0, 8:17] = np.nan
    for ds in (new, old):
        ds.score[1, 1, :7] = np.nan
    if lazy:
        new = new.chunk(input=40)
    with pytest.warns(UserWarning) as told:
        found = new.meta.drift(old, "human").compute().isel(metric=0)
    counted = [int(found[name]) for name in ("n_outputs", "n_only_new", "n_only_old")]
    assert counted == [160 - 17, 7, 8]  # whether or not there are human scores
    texts = [str(each.message) for each in told if each.category is LeftOutWarning]
    assert len(texts) == 1 and texts[0].startswith("outputs left out of the agreement, as a version or the human")
    assert "judge (24 of 160)" in texts[0]


def test_two_metrics_of_one_dataset_are_two_versions():
    new, old = versions(noise=1.0)
    both = xr.concat([new, old.sel(metric=["judge"]).assign_coords(metric=["before"])], "metric")
    xr.testing.assert_equal(both.meta.drift("before", "human"), new.meta.drift(old))
    with pytest.raises(ValueError, match="name the new one by metric="):
        both.assign(more=both.score * 2).meta.drift("before", "human", metric=["judge", "before"])
    with pytest.raises(ValueError, match="'befor'; did you mean 'before'"):
        both.meta.drift("befor", "human", metric="judge")


@pytest.mark.filterwarnings("ignore")
def test_labels_that_only_one_has_are_named_and_left_out():
    new, old = versions(gaps=False)
    with pytest.warns(UserWarning, match="anchor and score differ along 'input': left out 9 labels that"):
        part = new.meta.drift(old.isel(input=slice(30, None, -1)))
    alone = ["n_only_old", "n_only_new"]
    fewer = new.isel(input=slice(31)).meta.drift(old)
    xr.testing.assert_allclose(part.drop_vars(alone), fewer.drop_vars(alone))
    lost = 9 * new.sizes["system"]
    assert [int(part[name][0]) for name in alone] == [0, lost] and [int(fewer[name][0]) for name in alone] == [lost, 0]


@pytest.mark.filterwarnings("ignore")
def test_further_dims_broadcast_and_lazy_scores_stay_so():
    pairs = [versions(noise=1.0, seed=seed) for seed in (0, 1)]
    new, old = (
        xr.concat(list(each), "language").assign_coords(language=["en", "de"]) for each in zip(*pairs, strict=True)
    )
    found = new.meta.drift(old)
    for at, (one, other) in enumerate(pairs):
        alone = one.meta.drift(other)
        xr.testing.assert_allclose(found.isel(language=at, drop=True), alone)
    lazy = new.chunk(language=1).meta.drift(old.chunk(input=7))
    assert lazy.chunks
    xr.testing.assert_identical(lazy.compute(), found)


def test_human_scores_of_several_qualities_have_a_result_each():
    new, old = versions(noise=1.0, gaps=False)
    noise = np.random.default_rng(1).normal(size=(4, 40))
    human = new.score.sel(metric="human", drop=True)
    both = xr.concat([human, human + noise], "quality").assign_coords(quality=["a", "b"])
    found = new.meta.drift(old, both.rename("rated"), metric="judge")
    assert found["difference"].dims == ("metric", "quality") and found["system_shift"].dims == ("metric", "system")
    second = new.meta.drift(old, (human + noise).rename("rated"), metric="judge")
    xr.testing.assert_allclose(found.sel(quality="b", drop=True), second)
    assert "rated" in found.meta.conclusion()


def test_what_cannot_be_compared():
    new, old = versions()
    with pytest.raises(ValueError, match="shares no output"):
        new.meta.drift(old.assign_coords(input=[f"x{at}" for at in range(40)]))
    with pytest.raises(ValueError, match="anchor must hold scores as ds does: the Dataset has no variable 'score'"):
        new.meta.drift(old.rename(score="odd"))
    with pytest.raises(ValueError, match="no output has a score by both"):
        new.meta.drift(old.assign(score=old.score * np.nan))
    with pytest.raises(ValueError, match="metric that anchor lacks"):
        new.meta.drift(old.assign_coords(metric=["grader", "human"]))
    with pytest.raises(ValueError, match="only one of them has 'run'"):
        new.meta.drift(old.expand_dims(run=["a", "b"]))
    with pytest.raises(ValueError, match="other texts as labels"):
        new.assign_attrs(labels=("fail", "pass")).meta.drift(old)
    with pytest.raises(ValueError, match="margin must be above 0"):
        new.meta.drift(old, margin=0.0)
    with pytest.raises(ValueError, match="alpha must be below 0.5"):
        new.meta.drift(old, alpha=0.6)


def test_too_few_inputs_have_no_test_of_the_interaction():
    new, old = versions(systems=5, prompts=5, noise=1.0, gaps=False)
    assert math.isfinite(float(of(new, old)["heterogeneity_pvalue"]))
    new, old = versions(systems=6, prompts=5, noise=1.0, gaps=False)
    found = new.meta.drift(old)
    assert np.isnan(found["heterogeneity_pvalue"].values).all()
    assert "No test of different shifts could be made" in found.meta.conclusion()


def test_changes_of_a_few_prompts_alone_are_tested_within_what_varies():
    new, old = versions(systems=4, noise=0, gaps=False)
    new.score[0, :, 3] += np.array([1.0, 0, 0, 0])
    found = of(new, old)
    assert float(found["df_numerator"]) == 1
    assert float(found["heterogeneity"]) == pytest.approx(1.0)  # one change of 40 has t = 1
    assert float(found["heterogeneity_pvalue"]) == pytest.approx(scipy.stats.f.sf(1.0, 1, 39))


def test_scores_of_any_size_have_the_same_numbers():
    new, old = versions(noise=1.0)
    usual = engine.changes(plain(new), plain(old), 1.0, 0.95)
    for power in (900, -900):
        large = engine.changes(np.ldexp(plain(new), power), np.ldexp(plain(old), power), 1.0, 0.95)
        for name, one, other in zip(engine.OF_ALL, usual[0], large[0], strict=True):
            unit = power if name in engine._OF_SCORES else 0
            assert np.ldexp(other, -unit) == pytest.approx(one), name


def test_a_system_without_shared_outputs_takes_no_part():
    new, old = versions(noise=1.0, gaps=False)
    found = engine.changes(plain(new), plain(old), 1.0, 0.95)
    more = [np.vstack([plain(ds), np.full(40, np.nan)]) for ds in (new, old)]
    whole = engine.changes(*more, 1.0, 0.95)
    np.testing.assert_allclose(whole[0], found[0])
    np.testing.assert_allclose(whole[1][:, :4], found[1])
    none = dict(zip(engine.OF_SYSTEM, whole[1][:, 4], strict=True))
    assert none["rank"] == 0 and math.isnan(none["system_shift"]) and math.isnan(none["excess_pvalue_adjusted"])


# --- Inputs that belong together ---


def with_documents(*sets, sizes=(3, 1, 5, 2, 2, 4, 1, 6, 3, 2, 5, 1, 2, 3)):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return [ds.assign_coords(document=("input", [f"d{at}" for at in codes])) for ds in sets], codes


def covariance_by(change, codes):
    """Covariance of systems' mean changes by whole documents, and the least number of documents of a system."""
    moved, counts = np.zeros((4, codes.max() + 1)), []
    for s in range(4):
        there = ~np.isnan(change[s])
        names = sorted(set(codes[there].tolist()))
        counts.append(len(names))
        for each in names:
            own = there & (codes == each)
            moved[s, each] = (change[s, own] - change[s, there].mean()).sum() / there.sum()
        moved[s] *= math.sqrt(counts[-1] / (counts[-1] - 1))
    return moved @ moved.T, min(counts)


@pytest.mark.ignore_codes("documents")
def test_documents_are_the_units():
    """Variances of systems' shifts by the residuals of whole documents, and limits that leave documents out."""
    (new, old), codes = with_documents(*versions(noise=1.0, shift=(0.5,)))
    found = of(new, old, cluster="document", alpha=0.1)
    assert found.attrs["cluster"] == "document"
    change = plain(new) - plain(old)
    for s in range(4):
        there = ~np.isnan(change[s])
        mean, n = change[s, there].mean(), there.sum()
        residuals = [(change[s] - mean)[there & (codes == each)].sum() for each in np.unique(codes[there])]
        k = len(residuals)
        error = math.sqrt(k / (k - 1) * np.square(residuals).sum()) / n
        half = scipy.stats.t.ppf(0.95, k - 1) * error
        assert float(found["system_shift"][s]) == pytest.approx(mean)
        assert float(found["system_shift_low"][s]) == pytest.approx(mean - half)
        assert float(found["system_shift_pvalue"][s]) == pytest.approx(2 * scipy.stats.t.sf(abs(mean) / error, k - 1))
    covariance, units = covariance_by(change, codes)
    apart = np.hstack([np.full((3, 1), -1.0), np.eye(3)])
    moved = apart @ np.nanmean(change, axis=1)
    t2 = moved @ np.linalg.solve(apart @ covariance @ apart.T, moved)
    assert float(found["heterogeneity"]) == pytest.approx(t2 * (units - 3) / (3 * (units - 1)))
    assert [float(found[f"df_{each}"]) for each in ("numerator", "denominator")] == [3, units - 3]
    there, hit = ~np.isnan(change), np.abs(change) > 0
    without = np.array([hit[:, codes != each].sum() / there[:, codes != each].sum() for each in range(14)])
    limits = [float(found[f"changed_{end}"]) for end in ("low", "high")]
    assert limits == pytest.approx(score_limits(hit.sum() / there.sum(), without, there.sum(), 0.9))
    plainly = of(new, old, alpha=0.1)
    for name in ("flip_share", "shift", "difference", "changed_share"):
        assert float(found[name]) == float(plainly[name])
    assert float(found["ci_low"]) != float(plainly["ci_low"])
    assert "clustered by document" in new.meta.drift(old, cluster="document").meta.conclusion()


def test_documents_of_copies_are_as_their_single_inputs():
    new, old = versions(noise=1.0, shift=(0.4,), gaps=False)
    thrice = []
    for ds in (new, old):
        at = np.repeat(np.arange(40), 3)
        copied = ds.isel(input=at).assign_coords(document=("input", ds.input.values[at]))
        thrice.append(copied.assign_coords(input=np.arange(120)))
    alone, together = of(new, old, level="input"), of(*thrice, level="input", cluster="document")
    # A share of hardly dependent cases has at least the limits of that many independent ones.
    of_numbers = {"n_pairs", "n_outputs", "fell_back", "changed_low", "changed_high"}
    for name in set(alone.data_vars) - of_numbers:
        np.testing.assert_allclose(together[name], alone[name], rtol=1e-9, err_msg=name)


def test_documents_of_one_input_change_nothing():
    new, old = versions(noise=1.0)
    named = [ds.assign_coords(document=("input", ds.input.values)) for ds in (new, old)]
    found, want = of(*named, cluster="document"), of(new, old)
    about_the_value = ["ci_low", "ci_high", "pvalue"]  # of the difference; alone inputs vary about their mean
    xr.testing.assert_allclose(found.drop_vars(about_the_value), want.drop_vars(about_the_value))
    for name in about_the_value:
        assert float(found[name]) == pytest.approx(float(want[name]), rel=0.01)


def test_a_cluster_is_a_coordinate_of_inputs():
    new, old = versions()
    kinds = new.assign_coords(kind=("system", list("aabb")))
    for ds, cluster in ((new, "document"), (kinds, "kind")):
        with pytest.raises(ValueError, match="cluster must be a coordinate that describes each input, got"):
            ds.meta.drift(old, cluster=cluster)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_limits_by_documents_hold_the_truth():
    """30 documents of 1 to 7 inputs that change alike; taken one by one, inputs promise far too much."""
    rng = np.random.default_rng(4)
    held = {True: [], False: []}
    for _ in range(400):
        codes = np.repeat(np.arange(30), rng.integers(1, 8, size=30))
        old = rng.normal(size=(3, len(codes)))
        new = old + 0.2 + 0.5 * rng.normal(size=30)[codes] + 0.5 * rng.normal(size=(3, len(codes)))
        for by, units in ((True, codes), (False, None)):
            found = dict(zip(engine.OF_ALL, engine.changes(new, old, 1.0, 0.95, units)[0], strict=True))
            held[by].append(found["shift_low"] <= 0.2 <= found["shift_high"])
    assert scipy.stats.binomtest(int(np.sum(held[True])), 400, 0.945).pvalue > 1e-3
    assert np.mean(held[False]) < 0.8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@for_each("design", [(2, 60, 0.0), (3, 60, 0.05), (6, 120, 0.05)])
def test_limits_hold_the_truth_and_alike_shifts_seldom_differ(design):
    """Both versions shift all systems alike; inputs are drawn anew, and outputs of one input hang together."""
    systems, prompts, gaps = design
    rng = np.random.default_rng(systems)
    held, differs, flips = [], [], []

    def both(n):
        quality = rng.normal(size=n) + rng.normal(size=(systems, n))
        return [np.round(2 * (quality + rng.normal(size=(systems, n)) + by)) for by in (0.2, 0.0)]

    truth = dict(zip(engine.OF_ALL, engine.changes(*both(40_000), 1.0, 0.95)[0], strict=True))
    for _ in range(400):
        new, old = (np.where(rng.random(each.shape) < gaps, np.nan, each) for each in both(prompts))
        found = dict(zip(engine.OF_ALL, engine.changes(new, old, 1.0, 0.95)[0], strict=True))
        held.append(found["shift_low"] <= 0.4 <= found["shift_high"])
        flips.append(found["flip_low"] <= truth["flip_share"] <= found["flip_high"])
        differs.append(found["heterogeneity_pvalue"] <= 0.05)
    for share, at in ((held, 0.95), (flips, 0.95), (differs, 0.05)):
        assert scipy.stats.binomtest(int(np.sum(share)), 400, at).pvalue > 1e-4


def test_two_prompts_have_a_paired_t_test_and_one_has_none():
    rng = np.random.default_rng(5)
    new, old = rng.normal(size=(2, 3, 4))
    new[0, 2:], new[1, 1:] = np.nan, np.nan
    shifts = engine.Shifts.of(new, np.where(np.isnan(new), np.nan, old), np.arange(4))
    found = shifts.of_systems(0.95)
    test = scipy.stats.ttest_rel(new[0, :2], old[0, :2])
    assert [float(found[f"system_shift{end}"][0]) for end in ("_low", "_high", "_pvalue")] == pytest.approx(
        [*test.confidence_interval(), test.pvalue]
    )
    assert float(found["system_shift"][1]) == pytest.approx(new[1, 0] - old[1, 0])
    assert all(np.isnan(found[f"system_shift{end}"][1]) for end in ("_low", "_high", "_pvalue"))
    # The test of different shifts is that of the two systems that have a variance; n is that of the fewer prompts.
    change, n = new - old, np.array([2, 4])
    variances = [np.var(change[0, :2], ddof=1) / 2, np.var(change[2], ddof=1) / 4]
    products = (change[0, :2] - change[0, :2].mean()) @ (change[2, :2] - change[2].mean())
    both = products / math.sqrt(np.prod(n * (n - 1)))
    t2 = (change[0, :2].mean() - change[2].mean()) ** 2 / (sum(variances) - 2 * both)
    tested = shifts.interaction()
    assert float(tested["heterogeneity"]) == pytest.approx(t2) and float(tested["df_denominator"]) == 1
    assert float(tested["heterogeneity_pvalue"]) == pytest.approx(scipy.stats.f.sf(t2, 1, 1))


def test_versions_without_labels_need_as_many_outputs():
    new, old = (each.drop_vars("input") for each in versions(noise=1.0))
    assert np.isfinite(float(of(new, old).changed_share))
    with pytest.raises(ValueError, match="anchor has 1 label along 'input', but the scores have"):
        of(new, old.isel(input=[0]))


def test_one_cluster_of_prompts_has_shifts_and_no_variance():
    """Residuals add up to what rounding leaves, which is no spread."""
    rng = np.random.default_rng(0)
    old = np.round(rng.normal(size=(5, 3)), 1)
    new = old + rng.normal(size=3)
    shifts = engine.Shifts.of(new, old, np.zeros(3, dtype=int))
    np.testing.assert_allclose(shifts.values, (new - old).mean(axis=1))
    assert not len(shifts.known) and np.isnan(shifts.covariance).all()
    value, *limits = shifts.contrast(np.full(5, 0.2), 0.95)
    assert value == pytest.approx((new - old).mean()) and np.isnan(limits).all()


def test_clusters_of_prompts_are_units_and_prompts_alone_are_none():
    new, old = (each.drop_vars("input") for each in versions(noise=1.0, gaps=False))
    ask = {"cluster": "topic"}
    found = of(*(each.assign_coords(topic=("input", np.arange(40) // 4)) for each in (new, old)), **ask)
    change = (plain(new) - plain(old)).mean(axis=0).reshape(10, 4).mean(axis=1)
    assert float(found["shift"]) == pytest.approx(change.mean())
    half = scipy.stats.t.ppf(0.975, 9) * change.std(ddof=1) / math.sqrt(10)
    assert float(found["shift_high"] - found["shift"]) == pytest.approx(half)
    alone = of(*(each.assign_coords(topic=("input", np.arange(40))) for each in (new, old)), **ask)
    for name in ("shift", "shift_low", "shift_high", "shift_pvalue", "changed_low", "flip_high"):
        assert float(alone[name]) == pytest.approx(float(of(new, old)[name]), rel=1e-12), name

"""Does a judge prefer long outputs, or some systems, more than people do."""

import numpy as np
import pytest
import xarray as xr
from preference_cases import deleted, preferences, verdicts
from scipy import stats


def differences(ds, higher):
    """By prompt: the judge's share less people's of each pair, `higher` (prompt, pair) being 1, -1 or 0."""
    every = {}
    for (prompt, pair, rater), value in verdicts(ds).items():
        people, judge = every.setdefault((prompt, pair), ([], []))
        (judge if rater == "gpt" else people).append(value)
    found = {}
    for (prompt, pair), (people, judge) in every.items():
        sign = higher(prompt, pair)
        if people and judge and sign:
            found.setdefault(prompt, []).append(sign * (judge[0] - np.mean(people)) / 2)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_length_against_the_plain_twin(seed):
    ds = preferences(seed, n_prompts=15, gaps=0.2)
    lengths = ds["length"].to_pandas()

    def higher(prompt, pair):
        left, right = pair.split(" | ")
        return int(np.sign(lengths.loc[prompt, left] - lengths.loc[prompt, right]))

    found = ds.meta.preference_bias(given="length").isel(rater=0, covariate=0)
    each = differences(ds, higher)

    def mean(prompts):
        return np.mean(sum((each[prompt] for prompt in prompts), []))

    assert float(found.difference) == pytest.approx(mean(each)) and found.n_pairs == sum(map(len, each.values()))
    error, df = deleted(mean, each), len(each) - 1
    assert float(found.standard_error) == pytest.approx(error)
    assert float(found.pvalue) == pytest.approx(2 * stats.t.sf(abs(mean(each)) / error, df))
    assert float(found.ci_high) == pytest.approx(mean(each) + stats.t.ppf(0.975, df) * error)
    assert float(found.share - found.human_share) == pytest.approx(mean(each))


@pytest.mark.parametrize("seed", [0, 3])
def test_a_family_against_the_plain_twin(seed):
    """One judge prefers its own family more than people do, the other less."""
    ds = preferences(seed, n_prompts=15)
    found = ds.meta.preference_bias(given="family")
    assert found.covariate.values.tolist() == ["family=own"] and found.is_group.values.tolist() == [True]

    def higher(prompt, pair):  # alpha alone is of the family
        return 1 if pair.startswith("alpha |") else 0

    each = sum(differences(ds, higher).values(), [])
    assert float(found.difference[0, 0]) == pytest.approx(np.mean(each)) and found.n_pairs.item() == len(each)
    assert np.sign(np.mean(each)) == (1 if seed == 0 else -1)


def test_several_covariates_and_groups():
    ds = preferences(6, n_prompts=15).assign_coords(maker=("system", ["a", "b", "c"]), size=("system", [1.0, 2.0, 3.0]))
    ds = ds.assign_coords(tuned=("system", [True, False, False]))
    found = ds.meta.preference_bias(given=["length", "maker", "size", "tuned"])
    assert found.covariate.values.tolist() == ["length", "maker=a", "maker=b", "maker=c", "size", "tuned"]
    assert found.is_group.values.tolist() == [False, True, True, True, False, True]
    one, two = (found.sel(covariate=each).difference.item() for each in ("maker=a", "tuned"))
    assert one == pytest.approx(two) and one > 0.1
    array = ds["length"].rename("words")
    assert ds.meta.preference_bias(given=array).covariate.values.tolist() == ["words"]


def test_a_judge_equal_to_people_is_not_flagged():
    ds = preferences(1, n_prompts=20, people=("ann",), both=False)
    same = ds.preference.sel(rater="ann", drop=True)
    ds = ds.assign(preference=(ds.preference * 0 + same).transpose(*ds.preference.dims))
    found = ds.meta.preference_bias(given="length").isel(rater=0, covariate=0)
    assert float(found.difference) == 0 and float(found.pvalue) == 1
    assert float(found.ci_low) < 0 < float(found.ci_high)


def lengths_matter(seed, pull, n_prompts=80):
    """People and a judge who both prefer long outputs, for these are better; the judge by `pull` more."""
    rng = np.random.default_rng(seed)
    length = rng.normal(size=(n_prompts, 2))
    gap = 0.8 * (length[:, 0] - length[:, 1]) + rng.normal(size=n_prompts)
    human = np.sign(gap + 0.7 * rng.normal(size=n_prompts))
    judge = np.sign(gap + 0.7 * rng.normal(size=n_prompts) + pull * (length[:, 0] - length[:, 1]))
    values = np.stack([human, judge], axis=1)[:, None, None, :]
    return xr.Dataset(
        {"preference": (("prompt", "pair", "order", "rater"), values), "length": (("prompt", "system"), length)},
        {"prompt": range(n_prompts), "pair": ["x | y"], "order": ["left first"], "rater": ["ann", "gpt"],
         "left": ("pair", ["x"]), "right": ("pair", ["y"]), "kind": ("rater", ["human", "judge"]),
         "system": ["x", "y"]},
    )  # fmt: skip


@pytest.mark.slow
def test_size_where_long_outputs_are_better():
    """A judge as good as people is flagged in 5 % of sets, though it prefers the longer output in 70 % of pairs."""
    p, share = [], []
    for seed in range(150):
        found = lengths_matter(seed, 0.0).meta.preference_bias(given="length", adjust=None)
        p.append(found.pvalue.item())
        share.append(found.share.item())
    assert np.mean(share) > 0.65 and 0.01 <= np.mean(np.array(p) <= 0.05) <= 0.1
    power = [lengths_matter(seed, 1.5).meta.preference_bias(given="length").pvalue.item() <= 0.05 for seed in range(20)]
    assert np.mean(power) > 0.6


def test_refusals():
    ds = preferences(1)
    with pytest.raises(ValueError, match="preference_bias needs given, a variable such as 'length'"):
        ds.meta.preference_bias()
    with pytest.raises(ValueError, match="given must be a variable or coordinate of systems.*did you mean 'length'"):
        ds.meta.preference_bias(given="lenght")
    bare = preferences(1).drop_vars("length").assign_coords(house=("system", ["x", "y", "z"]))
    bare = bare.drop_vars("system", errors="ignore")
    with pytest.raises(
        ValueError, match=r"given='house' has no labels of systems: name them, as in ds.assign_coords\(sys"
    ):
        bare.meta.preference_bias(given="house")
    with pytest.raises(ValueError, match="has no value for the systems 'gamma'"):
        ds.meta.preference_bias(given=ds["length"].isel(system=[0, 1]))
    with pytest.raises(ValueError, match="must have the dims system, or prompt and system"):
        ds.meta.preference_bias(given=ds["length"].mean("system"))
    with pytest.raises(ValueError, match="has the one value 'x'"):
        ds.assign_coords(maker=("system", list("xxx"))).meta.preference_bias(given="maker")
    with pytest.raises(ValueError, match="no pair whose outputs differ in 'length'"):
        ds.assign(length=ds["length"] * 0).meta.preference_bias(given="length")


def test_what_it_says():
    found = lengths_matter(3, 1.5, 150).meta.preference_bias(given="length")
    said = found.meta.conclusion()
    assert said.startswith(
        "For these 2 systems on prompts like these, gpt chooses the output of higher length (ties count "
    )
    assert "noise" not in said and "Dubois et al., 2024)" in found.meta.methods()
    noisy = lengths_matter(3, -0.6, 150).meta.preference_bias(given="length")
    assert (
        "nearer to 50 % than the human share, which noise in its choices alone can explain" in noisy.meta.conclusion()
    )

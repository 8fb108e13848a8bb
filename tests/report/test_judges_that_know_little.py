"""What the page says of judges that know little, of severe raters, and of few ratings by two raters."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import xarray as xr
from judged_outputs import PEOPLE, scores, shown, table, tau

import xsumstat  # noqa: F401
from xsumstat.report import judge_questions, judge_subject

pytestmark = pytest.mark.filterwarnings("ignore")


def coarse(seed=6, prompts=150):
    """Grades of two raters and two judges: one is a third rater, the other says whether that third gave 4 or 5."""
    frame = table(seed, prompts, judges=("third",)).drop(columns=["eve", "length"]).dropna()
    return frame.assign(verdict=(frame["third"] >= 4) * 1.0)


def plain_accuracy(frame, x, z):
    """Share of pairs of systems ordered alike, ties included, averaged over prompts."""
    shares = []
    for _, one in frame.groupby("input"):
        pairs = [(a, b) for a in range(len(one)) for b in range(a)]
        alike = [np.sign(one[x].iloc[a] - one[x].iloc[b]) == np.sign(one[z].iloc[a] - one[z].iloc[b]) for a, b in pairs]
        shares += [np.mean(alike)] if pairs else []
    return np.mean(shares)


@pytest.mark.slow
def test_a_judge_that_knows_less_than_a_rater_does_not_agree_more():
    frame = coarse()
    ds = frame.reset_index().meta.to_scores(wide=True, ratings=["ann", "bob"])
    by_tau = ds.meta.human_ceiling("rating", level="input", coefficient="kendall")["correlation"].to_series()
    assert by_tau["verdict"] > by_tau["third"]  # it has lost information, and ties are left out
    page = ds.meta.report(kind="judge")
    found = page.results["human_ceiling"]["correlation"].to_series()
    assert found["verdict"] < found["third"] and page.results["human_ceiling"].attrs["coefficient"] == "acc_eq"
    r = (
        page.results["ci"]
        if "ci" in page.results
        else ds.meta.ci(ds.rating.mean("rater").rename("human"), level="input", coefficient="acc_eq", threshold=0)
    )
    want = plain_accuracy(frame.assign(human=frame[["ann", "bob"]].mean(axis=1)), "verdict", "human")
    assert abs(r.correlation.sel(metric="verdict").item() - want) < 1e-9
    shares = []
    for name in ("verdict", "ann", "bob"):
        pairs = [
            one[name].iloc[a] == one[name].iloc[b]
            for _, one in frame.groupby("input")
            for a in range(len(one))
            for b in range(a)
        ]
        shares.append(np.mean(pairs))
    told = f"verdict gives two systems the same score in {100 * shares[0]:.0f} % of the pairs, a rater in "
    assert told + f"{100 * np.mean(shares[1:]):.0f} % (accuracy with ties counts them)" in page.conclusion()
    threshold = "Each judge has the threshold that gives it the highest accuracy on these data."
    assert threshold in " ".join(page.text().split())
    fine = frame.drop(columns="verdict").reset_index().meta.to_scores(wide=True, ratings=["ann", "bob"])
    assert "threshold" not in fine.meta.report(kind="judge").text()


@pytest.mark.slow
def test_a_judge_of_two_grades_beside_a_finer_one_is_compared_with_ties():
    frame = coarse().assign(human=lambda each: each[["ann", "bob"]].mean(axis=1)).drop(columns=["ann", "bob"])
    for judges, used in ((["third", "verdict"], "acc_eq"), (["third"], "kendall"), (["verdict"], "kendall")):
        ds = frame[["human", *judges]].reset_index().meta.to_scores(wide=True)
        assert ds.meta.report("human", kind="judge").results["ci"].attrs["coefficient"] == used


def same_errors(seed, prompts=120):
    """Three raters and a judge, on their scale and, with the same errors, from 0 to 100."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(3, prompts)) + np.array([[0], [0.5], [0.1]])
    errors = 0.6 * rng.normal(size=quality.shape)
    rated = {name: np.clip(np.round(3 + quality + 0.65 * rng.normal(size=quality.shape)), 1, 5) for name in PEOPLE}
    judges = {
        "five": np.clip(np.round(3 + quality + errors), 1, 5),
        "fine": np.clip(60 + 15 * (quality + errors), 0, 100),
    }
    frame = pd.DataFrame({name: values.ravel() for name, values in {**rated, **judges}.items()})
    return frame.assign(system=np.repeat(list("abc"), prompts), input=np.tile(np.arange(prompts), 3))


@pytest.mark.slow
def test_judges_on_scales_of_their_own_are_compared_by_pearsons_r():
    frame = same_errors(0)
    for gold in (PEOPLE, None):
        given = frame if gold else frame.assign(human=frame[PEOPLE].mean(axis=1)).drop(columns=PEOPLE)
        ds = given.meta.to_scores(wide=True, **({"ratings": gold} if gold else {}))
        page = ds.meta.report(kind="judge") if gold else ds.meta.report("human", kind="judge")
        found = page.results["human_ceiling" if gold else "ci"]
        assert found.attrs["coefficient"] == "pearson" and found.attrs["level"] == "input"
        shares = {
            name: np.mean([frame[name][one.index[a]] == frame[name][one.index[b]] for _, one in frame.groupby("input")
                           for a, b in ((0, 1), (0, 2), (1, 2))])
            for name in ("five", "fine", *PEOPLE)
        }  # fmt: skip
        usual, who = (
            (np.mean([shares[name] for name in PEOPLE]), "a rater") if gold else (shares["five"], "judges with grades")
        )
        told = f"fine gives two systems the same score in {100 * shares['fine']:.0f} % of the pairs, {who} in "
        told += f"{100 * usual:.0f} %. For that alone Kendall's τ-b would be lower"
        assert told in " ".join(page.text().split())
    five = frame.drop(columns="fine").meta.to_scores(wide=True, ratings=PEOPLE).meta.report(kind="judge")
    assert five.results["human_ceiling"].attrs["coefficient"] == "kendall" and "Pearson" not in five.text()


@pytest.mark.slow
def test_a_scale_alone_makes_no_judge_better():
    """By Kendall's tau-b the coarser scale won in 11 of 40 sets, by accuracy with ties the finer one in 40 of 40."""
    wins = {"five": 0, "fine": 0}
    for seed in range(40):
        ds = same_errors(seed).meta.to_scores(wide=True, ratings=PEOPLE)
        test = ds.meta.compare_metrics("human", coefficient="pearson", level="input")
        one = test.sel(metric="fine", other_metric="five")
        if float(one.pvalue) <= 0.05:
            wins["fine" if float(one.difference) > 0 else "five"] += 1
    assert sum(wins.values()) <= 6, wins


def test_verdicts_beside_grades_from_0_are_no_grades():
    frame = coarse()
    frame[["ann", "bob"]] -= 1  # grades from 0 to 4
    page = frame.reset_index().meta.to_scores(wide=True, ratings=["ann", "bob"]).meta.report(kind="judge")
    names = page.results["confusion"]["metric"].values.tolist()
    assert "verdict (calibrated)" in names and "third" in " ".join(names)
    assert "verdict: Its grade" not in page.conclusion()


@pytest.mark.slow
def test_the_labels_of_a_judge_are_no_range_of_ratings():
    frame = coarse()
    ds = frame.reset_index().meta.to_scores(wide=True, ratings=["ann", "bob"]).assign_attrs(labels="fail\npass")
    page = ds.meta.report(kind="judge")
    means = page.results["system_means"]
    human = frame[["ann", "bob"]].mean(axis=1).groupby("system").mean()
    assert np.allclose(means["human_mean"].to_series(), human) and "scale_low" not in means.attrs


def test_the_judge_that_helps_correlates_most_within_systems():
    frame = coarse().assign(human=lambda each: each[["ann", "bob"]].mean(axis=1))
    ds = frame.drop(columns="human").reset_index().meta.to_scores(wide=True, ratings=["ann", "bob"])
    page = ds.meta.report(kind="judge")
    r = {
        name: np.mean([scipy.stats.pearsonr(one[name], one["human"])[0] for _, one in frame.groupby("system")])
        for name in ("third", "verdict")
    }
    assert r["third"] > r["verdict"] and page.results["system_means"].attrs["helped_by"] == "third"
    told = f"(Pearson's r: third {shown(r['third'])} and verdict {shown(r['verdict'])})"
    assert told in " ".join(page.text().split())


def severity_twin(frame, people):
    """Raters' offsets by least squares on outputs and raters: of each against the mean of the others, and on means."""
    long = frame[people].reset_index().melt(["system", "input"]).dropna()
    outputs = pd.get_dummies(long["system"] + long["input"].astype(str)).to_numpy(float)
    raters = pd.get_dummies(long["variable"])[people].to_numpy(float)
    offset = np.linalg.lstsq(np.hstack([outputs, raters]), long["value"], rcond=None)[0][-len(people) :]
    apart = [offset[at] - np.delete(offset, at).mean() for at in range(len(people))]
    long["offset"] = raters @ offset
    of_system = long.groupby(["system", "input"])["offset"].mean().groupby("system").mean()
    return apart, of_system.max() - of_system.min()


@pytest.mark.parametrize("uneven", [True, False])
def test_a_severe_rater_is_named_and_what_it_does_to_means(uneven):
    frame = table(5, 80, judges=("near",)).drop(columns="length")
    rng = np.random.default_rng(9)
    frame["eve"] -= 1
    often = frame.index.get_level_values("system") == "b" if uneven else np.ones(len(frame), bool)
    frame["eve"] = frame["eve"].where(rng.random(len(frame)) < np.where(often, 0.9, 0.1))
    frame["bob"] = frame["bob"].where(rng.random(len(frame)) < np.where(often & uneven, 0.3, 0.9))
    apart, moved = severity_twin(frame, PEOPLE)
    page = frame.reset_index().meta.to_scores(wide=True, ratings=PEOPLE).meta.report(kind="judge")
    said = " ".join(page.text().split())
    assert f"The rater eve grades {shown(-apart[2])} lower than the others." in said
    told = f"moves the systems' means by up to {shown(moved)} against each other"
    sd = frame[PEOPLE].mean(axis=1).std()
    assert (moved > 0.1 * sd) == uneven and (told in page.conclusion()) == uneven == (
        f"{told}; means and tests" in said
    )


@pytest.mark.parametrize("overlap", [0.0, 0.05, 0.5])
def test_outputs_with_one_rating_each_have_no_raters_to_compare(overlap):
    frame = table(7, 60, judges=("near",)).drop(columns="length").fillna(3.0)
    rng = np.random.default_rng(2)
    who = rng.integers(0, 3, len(frame))
    also = np.where(rng.random(len(frame)) < overlap, (who + 1) % 3, who)
    for at, name in enumerate(PEOPLE):
        frame[name] = frame[name].where((who == at) | (also == at))
    ds = frame.reset_index().meta.to_scores(wide=True, ratings=PEOPLE)
    page = ds.meta.report(kind="judge")
    text = " ".join(page.text().split())
    assert ("human_ceiling" in page.results) == ("alt_test" in page.results) == (overlap == 0.5)
    few = {0.0: "No output has", 0.05: "Hardly any output has"}.get(overlap)
    assert few is None or f"{few} ratings by two raters, so human agreement is unknown." in text
    assert ("ratings by two raters" in text) == (overlap < 0.5) == ("ci" in page.results)
    if overlap < 0.5:
        r = tau(frame, frame["near"], frame[PEOPLE].mean(axis=1))
        assert f"near: Its agreement with the human scores is {shown(r)} [" in page.summary[0]
    if not overlap:
        for name in ("human_ceiling", "alt_test"):
            with pytest.raises(ValueError, match="no output has ratings by two raters along 'rater'"):
                getattr(ds.meta, name)("rating")


def test_a_rater_without_ratings_hides_no_severe_one():
    frame = table(5, 80, judges=("near",)).drop(columns="length")
    frame["eve"] -= 1
    apart, _ = severity_twin(frame, PEOPLE)
    ds = frame.assign(zoe=1.0).reset_index().meta.to_scores(wide=True, ratings=[*PEOPLE, "zoe"])
    ds = ds.assign(rating=ds.rating.where(ds.rater != "zoe"))
    found = judge_subject.subject(ds, None, None).severity
    assert found.rater == "eve" and abs(found.above - apart[2]) < 1e-9


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("judges", [("near",), ("near", "wild")])
def test_one_prompt_has_a_report_without_tests_of_systems(judges):
    ds = scores(table(2, 60, judges=judges)).isel(input=[0])
    page = ds.meta.report(kind="judge")
    assert "system_means" in page.results and "bias_by_system" not in page.results
    assert "there is only 1 prompt" in page.conclusion()
    assert judge_questions.by_system(judge_subject.subject(ds, None, None), 0.05) is None


def test_human_scores_of_systems_alone_have_a_report():
    demo = xsumstat.load_dataset("demo").isel(system=slice(4))
    people = demo.score.sel(metric="human", drop=True).mean("input").rename("people")
    page = demo.drop_sel(metric="human").meta.report(people, kind="judge")
    assert page.results and page.conclusion().startswith("judge: ")


def of_three(*, constant=False, reverse=False, runs=0):
    """Ratings by three raters, and two judges, of whom one may give one grade or be reversed; or several runs."""
    rng = np.random.default_rng(4)
    quality = rng.normal(size=(4, 60))
    coords = {"metric": ["judge", "weak"], "system": list("abcd"), "input": np.arange(60), "rater": list("xyz")}
    scores = np.array([quality + rng.normal(size=quality.shape) for _ in range(2)])
    scores[1] = quality + 3 * rng.normal(size=quality.shape)
    if constant:
        scores[1] = 3.0
    if reverse:
        scores[1] = -quality + 0.2 * rng.normal(size=quality.shape)
    score = (("metric", "system", "input"), scores)
    if runs:
        score = ((*score[0], "run"), np.stack([scores + 0.1 * at for at in range(runs)], axis=-1))
    ratings = quality + 0.7 * rng.normal(size=(3, 4, 60))
    return xr.Dataset({"score": score, "rating": (("rater", "system", "input"), ratings)}, coords)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_judge_of_one_grade_does_not_change_the_coefficient_of_others():
    plain, beside = (of_three(constant=each).meta.report(kind="judge") for each in (False, True))
    found = [each.results["human_ceiling"] for each in (plain, beside)]
    assert [each.attrs["coefficient"] for each in found] == ["kendall", "kendall"]
    assert found[0]["correlation"].sel(metric="judge") == found[1]["correlation"].sel(metric="judge")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_reversed_judge_helps_as_much_as_its_correlation_is_strong():
    ds = of_three(reverse=True)
    ds["rating"][:, :, 30:] = np.nan
    told = " ".join(ds.meta.report(kind="judge").text().split())
    assert "Of the judges weak is used, because its scores correlate most strongly" in told


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_verdicts_that_single_runs_lack_are_counted():
    ds = of_three(runs=3).sel(metric=["judge"])
    ds["score"][0, 0, :7, 1] = np.nan
    ds["score"][0, 1, 0] = np.nan  # no run scored it
    n = 3 * (4 * 60 - 1)
    page = ds.meta.report(kind="judge")
    for told in (page.text(), page.html()):
        assert f"7 of {n} verdicts are missing in single runs" in " ".join(told.split())


@pytest.mark.slow
def test_raters_who_deviate_in_both_directions_are_named():
    frame = table(5, 80, judges=("near",)).drop(columns="length")
    frame["eve"], frame["bob"] = frame["eve"] - 1, frame["bob"] + 0.9
    apart, _ = severity_twin(frame, PEOPLE)
    (_, above), (first, most) = sorted(zip(PEOPLE, apart, strict=True), key=lambda each: abs(each[1]))[1:]
    other, way = ("bob", ("lower", "higher")) if first == "eve" else ("eve", ("higher", "lower"))
    page = frame.reset_index().meta.to_scores(wide=True, ratings=PEOPLE).meta.report(kind="judge")
    told = f"The rater {first} grades {shown(abs(most))} {way[0]} than the others, and {other} "
    told += f"{shown(abs(above))} {way[1]}."
    assert told in " ".join(page.text().split())

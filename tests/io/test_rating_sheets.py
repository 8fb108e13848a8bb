"""Inputs that are drawn, the file that raters fill, and what is reported when it comes back."""

import json
import re
import warnings

import few_ratings_twin as twin
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import xsumstat
from xsumstat.dataset import drawn as draws
from xsumstat.io import drawn_ratings

COORDS = list(draws.COORDS)


@pytest.fixture(scope="module")
def full():
    """Two judges and human scores of 4 systems on 40 inputs."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(4, 40)) + rng.normal(size=40)
    score = np.stack([z + rng.normal(size=z.shape), z + 2 * rng.normal(size=z.shape), np.round(3 + z, 2)])
    return xr.Dataset(
        {"score": (("metric", "system", "input"), score)},
        {
            "metric": ["judge", "other", "human"],
            "system": list("abcd"),
            "input": [f"{at:03}" for at in range(40)],
            "topic": ("input", np.resize(["code", "mail", "chat", "mail"], 40)),
            "doubt": ("input", rng.random(40)),
        },
    )


@pytest.fixture(scope="module")
def judged(full):
    return full.sel(metric=["judge", "other"])


def filled(ds, full, path, drop=lambda rows: rows):
    """The ratings of the file, as raters write them."""
    suffix = path.suffix
    read = {
        ".csv": lambda: pd.read_csv(path, dtype={"input": str}),
        ".tsv": lambda: pd.read_csv(path, sep="\t", dtype={"input": str}),
        ".xlsx": lambda: pd.read_excel(path, dtype={"input": str}),
        ".jsonl": lambda: pd.DataFrame([json.loads(line) for line in path.read_text("utf-8").splitlines()]),
    }
    rows = read[suffix]()
    assert rows["human"].isna().all()
    human = full.score.sel(metric="human")
    rows["human"] = [float(human.sel(system=s, input=i)) for s, i in zip(rows.system, rows.input, strict=True)]
    rows = drop(rows)
    if suffix == ".xlsx":
        rows.to_excel(path, index=False)
    elif suffix == ".jsonl":
        rows.to_json(path, orient="records", lines=True)
    else:
        rows.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".jsonl"])
def test_there_and_back(judged, full, tmp_path, suffix):
    path = tmp_path / f"rate{suffix}"
    before = judged.copy(deep=True)
    ds = judged.meta.sample_inputs(12, strata="score", path=path, rng=1)
    xr.testing.assert_identical(judged, before)
    xr.testing.assert_identical(ds.drop_vars(COORDS), judged.assign_attrs(ds.attrs))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        joined = xsumstat.add_gold(ds, filled(ds, full, path))
    expected = full.score.sel(metric="human").where(ds.drawn)
    xr.testing.assert_allclose(
        joined.score.sel(metric="human").reset_coords(drop=True), expected.reset_coords(drop=True), atol=1e-12
    )
    joined.to_netcdf(tmp_path / "joined.nc")
    again = xr.load_dataset(tmp_path / "joined.nc")
    one, two = draws.find(joined), draws.find(again)
    assert one.strata == two.strata and again.drawn.dtype == bool
    np.testing.assert_array_equal(one.probability, two.probability)
    means = [each.meta.system_means(metric="judge")["mean"].values for each in (joined, again)]
    np.testing.assert_array_equal(*means)


def test_the_file_has_whole_inputs_in_random_order_and_no_scores(judged, tmp_path):
    texts = pd.DataFrame(
        [(i, s, f"={s}+{i}", 7) for i in judged.input.values for s in "abcd"],
        columns=["prompt", "model", "output", "seen"],
    )
    for suffix in (".csv", ".xlsx"):
        path = tmp_path / f"x{suffix}"
        ds = judged.meta.sample_inputs(10, path=path, texts=texts, column=["ann_1", "ann_2"], rng=5)
        rows = pd.read_csv(path, dtype=str) if suffix == ".csv" else pd.read_excel(path, dtype=str)
        assert list(rows.columns) == ["input", "system", "output", "seen", "ann_1", "ann_2"]
        assert (rows.output == "=" + rows.system + "+" + rows.input).all() and rows.ann_1.isna().all()
        order = rows.input.drop_duplicates().tolist()
        assert rows.input.tolist() == [each for each in order for _ in range(4)]
        assert sorted(order) == ds.input.values[ds.drawn.values].tolist() != order
        assert len({"".join(part) for _, part in rows.groupby("input").system}) > 1
    rows["ann_1"], rows["ann_2"] = 3, 4
    path = tmp_path / "back.xlsx"
    rows.to_excel(path, index=False)
    joined = xsumstat.add_gold(ds, path)  # the column "seen" has numbers and is no rating
    assert joined.rating.rater.values.tolist() == ["ann_1", "ann_2"]
    assert float(joined.score.sel(metric="human").max()) == 3.5


def test_probabilities_are_how_often_inputs_are_drawn(judged):
    how = {"strata": "unsure", "unsure": "doubt", "n_strata": 3}
    counts = np.zeros(40)
    for seed in range(120):
        ds = judged.meta.sample_inputs(15, rng=seed, **how)
        assert int(ds.drawn.sum()) == 15
        counts += ds.drawn.values
    p = ds.inclusion_probability.values
    assert p.sum() == pytest.approx(15) and p.max() > 2 * p.min()
    assert (np.abs(counts / 120 - p) < 4.5 * np.sqrt(p * (1 - p) / 120)).all()
    by_doubt = p[np.argsort(ds.doubt.values)]
    assert (np.diff(by_doubt) >= 0).all()  # the surer, the rarer


@pytest.mark.parametrize(
    ("keywords", "strata", "equal"),
    [
        ({}, {"all": 40}, True),
        ({"strata": "topic"}, {"chat": 10, "code": 10, "mail": 20}, True),
        ({"strata": "score", "n_strata": 2}, {"score 1 of 2": 20, "score 2 of 2": 20}, True),
        ({"strata": "topic", "allocation": "unsure", "unsure": "doubt"}, {"chat": 10, "code": 10, "mail": 20}, None),
        ({"strata": "unsure", "unsure": "metrics", "n_strata": 2}, {"unsure 1 of 2": 20, "unsure 2 of 2": 20}, False),
        ({"strata": "unsure", "unsure": "systems", "n_strata": 2}, {"unsure 1 of 2": 20, "unsure 2 of 2": 20}, None),
    ],
)
def test_strata_and_what_they_are_called(judged, keywords, strata, equal):
    ds = judged.meta.sample_inputs(16, rng=2, **keywords)
    names = pd.Series(ds.draw_stratum.values)
    assert names.value_counts().to_dict() == strata
    drawn = pd.Series(ds.drawn.values).groupby(names).mean()
    np.testing.assert_allclose(ds.inclusion_probability.values, drawn[names].values)
    assert equal is None or draws.find(ds).is_equal == equal
    assert "random sample of 16 of 40 inputs" in ds.attrs["drawn_by"] and ds.attrs["draw_seed"] == "2"


def test_what_makes_a_judge_unsure(judged):
    """The bins are those of plain standard deviations."""
    x = judged.score.values
    x = (x - x.mean(axis=(1, 2), keepdims=True)) / x.std(axis=(1, 2), keepdims=True)
    across, apart = x.std(axis=0).mean(axis=0), -x.std(axis=1).mean(axis=0)
    runs = xr.concat([judged.score, judged.score + np.linspace(0, 3, 40) ** 2], "run").to_dataset()
    for ds, of, values in (
        (judged, "metrics", across),
        (judged, "systems", apart),
        (judged, "doubt", judged.doubt.values),
        (runs, "run", np.arange(40)),
    ):
        found = ds.meta.sample_inputs(12, strata="unsure", unsure=of, n_strata=2, rng=0)
        high = found.draw_stratum.values == "unsure 2 of 2"
        assert sorted(np.flatnonzero(high)) == sorted(np.argsort(values)[20:]), of


def test_seeds(judged, tmp_path):
    one, two, three = (judged.meta.sample_inputs(9, rng=seed).drawn.values.tolist() for seed in (1, 1, 2))
    assert one == two != three
    generator = np.random.default_rng(4)
    first = judged.meta.sample_inputs(9, rng=generator)
    assert first.drawn.values.tolist() != judged.meta.sample_inputs(9, rng=generator).drawn.values.tolist()


@pytest.mark.parametrize(
    ("keywords", "kind", "message"),
    [
        ({"n": 1}, ValueError, "n must be at least 2, got 1"),
        ({"n": 41}, ValueError, "n must be at most 40, the number of inputs, got 41"),
        ({"n": 5, "strata": "score"}, ValueError, "n must be at least 8, 2 for each of 4 strata, got 5"),
        ({"n": 9, "strata": "subject"}, ValueError, "strata must be a coordinate that describes each input"),
        ({"n": 9, "allocation": "unsure"}, ValueError, 'allocation="unsure" needs strata'),
        ({"n": 9, "strata": "score", "allocation": "equal"}, ValueError, "allocation must be one of"),
        ({"n": 9, "unsure": "doubt"}, ValueError, "unsure='doubt' is for strata=\"unsure\""),
        ({"n": 9, "strata": "unsure", "unsure": "topic"}, ValueError, "unsure must be 'metrics', 'systems'"),
        (
            {"n": 9, "strata": "unsure", "unsure": "metrics", "metric": "judge"},
            ValueError,
            "at least 2 labels of 'metric'",
        ),
        ({"n": 9, "n_strata": 3}, ValueError, 'n_strata=3 is for strata="score"'),
        ({"n": 9, "strata": "score", "n_strata": 30}, ValueError, "n_strata=30 is too many for 40 inputs"),
        ({"n": 9, "n_means": 3}, ValueError, "n_means= is for a draw by bins, without n; got n=9"),
        ({"strata": "score"}, ValueError, "strata= needs n"),
        ({"n": 9, "texts": pd.DataFrame()}, ValueError, "give path="),
        ({"n": 9, "path": "rate.ods"}, ValueError, "path must end in .csv, .tsv, .xlsx, .jsonl, got 'rate.ods'"),
        ({"n": 9, "path": "none/rate.csv"}, FileNotFoundError, "no such folder"),
        ({"n": 9, "column": ["system"]}, ValueError, "column must name empty columns"),
        ({"n": 9, "column": ["a", "a"]}, ValueError, "column repeats 'a'; each must be unique"),
    ],
)
def test_bad_arguments(judged, keywords, kind, message):
    with pytest.raises(kind, match=message):
        judged.meta.sample_inputs(**keywords)


def test_what_cannot_be_drawn_from(judged):
    ds = judged.meta.sample_inputs(9, rng=1)
    with pytest.raises(ValueError, match="ds holds a draw already"):
        ds.meta.sample_inputs(9)
    hole = judged.copy(deep=True)
    hole.score[1, :, 3] = np.nan
    with pytest.raises(ValueError, match="1 input without a score of 'judge', 'other', e.g. '003'"):
        hole.meta.sample_inputs(9)
    hole.score[1, 0, 3] = 1.0
    assert int(hole.meta.sample_inputs(9, rng=1).drawn.sum()) == 9
    runs = xr.concat([judged[["score"]], judged[["score"]]], "run")
    with pytest.raises(ValueError, match="unsure='run'"):
        runs.meta.sample_inputs(9)
    with pytest.raises(ValueError, match="unsure='run' is 0 for every input"):
        runs.meta.sample_inputs(9, strata="unsure", unsure="run")
    named = judged.assign_coords(systems=("input", np.arange(40)))
    with pytest.raises(ValueError, match="unsure='systems' also names a coordinate of ds"):
        named.meta.sample_inputs(9, strata="unsure", unsure="systems")


def test_files_are_not_overwritten_and_texts_are_whole(judged, tmp_path):
    path = tmp_path / "rate.csv"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="may hold ratings"):
        judged.meta.sample_inputs(9, path=path)
    assert path.read_text() == "mine"
    texts = pd.DataFrame({"input": judged.input.values, "question": "why?"})
    for frame, message in (
        (texts.iloc[:3], "texts has no row of .* drawn output"),
        (pd.concat([texts, texts]), "more than one row of 000"),
        (texts.assign(judge=1.0), "a metric's scores, which raters should not see"),
        (texts.assign(human=1.0), "the column 'human', which raters fill"),
        (texts[["question"]].rename(columns={"question": "words"}), "no column that names the input"),
        (texts[["input"]], "no column of texts"),
    ):
        with pytest.raises(ValueError, match=message):
            judged.meta.sample_inputs(9, path=tmp_path / "new.csv", texts=frame, rng=1)
        assert not (tmp_path / "new.csv").exists()
    with pytest.raises(ValueError, match="a control character"):
        judged.meta.sample_inputs(9, path=tmp_path / "new.xlsx", texts=texts.assign(question="a\x01b"), rng=1)
    assert not (tmp_path / "new.xlsx").exists()
    chosen = judged.meta.sample_inputs(n_means=2, n_spreads=2, path=tmp_path / "bins.csv", rng=1)
    assert set(pd.read_csv(tmp_path / "bins.csv", dtype=str).input) == set(chosen.input.values)


# --- the file that comes back ---


def said(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return {each.message.code: str(each.message) for each in caught}


def test_bad_files(judged, full, tmp_path):
    path = tmp_path / "rate.csv"
    ds = judged.meta.sample_inputs(9, path=path, rng=1)
    rows = pd.read_csv(filled(ds, full, path), dtype={"input": str})

    def changed(**columns):
        return rows.assign(**columns)

    first = f"{rows.input[0]}"
    for frame, message in (
        (pd.concat([rows, rows.iloc[:2]]), "2 repeated outputs, e.g. ./" + first),
        (changed(system="a b c d".split()[0] + "x"), r"1 system label without scores, e.g. 'ax' \(row 1\)"),
        (changed(input="999"), "1 input label without scores, e.g. '999'"),
        (changed(human=["4,5", *rows.human[1:]]), r"column 'human' has '4,5' in row 1, which is not a number"),
        (changed(human=np.nan), "has no rating: 'human' is empty in all rows"),
        (rows.drop(columns="input"), "no column that names the input"),
    ):
        frame.to_csv(path, index=False)
        with pytest.raises(ValueError, match=message):
            xsumstat.add_gold(ds, path)
    with pytest.raises(FileNotFoundError):
        xsumstat.add_gold(ds, tmp_path / "none.csv")
    with pytest.raises(ValueError, match="human must be a table"):
        (tmp_path / "x.pdf").write_text("")
        xsumstat.add_gold(ds, tmp_path / "x.pdf")
    (tmp_path / "x.xlsx").write_text("no workbook")
    with pytest.raises(ValueError, match="cannot read x.xlsx as .xlsx"):
        xsumstat.add_gold(ds, tmp_path / "x.xlsx")


def test_a_draw_with_two_columns_is_saved_and_filled(judged, full, tmp_path):
    path, store = tmp_path / "rate.csv", tmp_path / "drawn.nc"
    ds = judged.meta.sample_inputs(9, path=path, column=["ann", "ben"], rng=1)
    ds.to_netcdf(store, engine="scipy")
    rows = pd.read_csv(path, dtype={"input": str}).assign(ann=1.0, ben=2.0)
    rows.to_csv(path, index=False)
    joined = xsumstat.add_gold(xr.load_dataset(store, engine="scipy"), path)
    assert joined.rating.rater.values.tolist() == ["ann", "ben"]
    assert np.unique(joined.rating.sel(rater="ben").dropna("input", how="all")).tolist() == [2.0]


def test_labels_in_words(judged, full, tmp_path):
    path = tmp_path / "rate.csv"
    ds = judged.meta.sample_inputs(9, path=path, rng=1)
    rows = pd.read_csv(filled(ds, full, path), dtype={"input": str})
    rows["human"] = np.where(rows.human > 3, "pass", "fail")
    rows.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r'labels=\["fail", "pass"\]'):
        xsumstat.add_gold(ds, path)
    joined = xsumstat.add_gold(ds, path, labels=["fail", "pass"])
    assert set(np.unique(joined.score.sel(metric="human").values)[:2]) == {0.0, 1.0}


def test_who_was_drawn_and_who_was_rated(judged, full, tmp_path):
    path = tmp_path / "rate.csv"
    ds = judged.meta.sample_inputs(12, path=path, rng=1)
    undrawn = ds.input.values[~ds.drawn.values][:2].tolist()

    def some(rows):
        more = pd.DataFrame({"input": undrawn, "system": ["a", "b"], "human": [1.0, 2.0]})
        return pd.concat([rows.iloc[3:], more])

    filled(ds, full, path, some)
    texts = said(lambda: xsumstat.add_gold(ds, path))
    assert re.match("3 of 48 drawn outputs have no human score, e.g. ", texts["not_rated"])
    assert texts["not_drawn"].startswith(f"2 inputs with human scores, but not drawn: {undrawn[0]!r}, {undrawn[1]!r}")
    assert set(texts) == {"not_rated", "not_drawn"}


def test_raters_who_leave_out_what_the_judge_scores_low_are_noticed(full, tmp_path):
    path = tmp_path / "rate.csv"
    ds = full.sel(metric=["judge"]).meta.sample_inputs(32, path=path, rng=1)
    judge = full.score.sel(metric="judge")
    middle = float(judge.mean("system").median())
    filled(ds, full, path, lambda rows: rows[[float(judge.mean("system").sel(input=i)) > middle for i in rows.input]])
    texts = said(lambda: xsumstat.add_gold(ds, path))
    assert texts["not_random"].startswith("rated inputs have other scores than the drawn ones without ratings")
    assert "judge (higher by" in texts["not_random"]
    path.unlink()
    ds = full.sel(metric=["judge"]).meta.sample_inputs(32, path=path, rng=1)
    apart = judge - judge.mean("input")

    def best(rows):
        middle = apart.median("system")
        here = [
            apart.sel(input=i, system=s) > middle.sel(input=i) for i, s in zip(rows.input, rows.system, strict=True)
        ]
        return rows[[bool(each) for each in here]]

    filled(ds, full, path, best)
    assert "rated outputs of an input have other scores" in said(lambda: xsumstat.add_gold(ds, path))["not_random"]


@pytest.mark.parametrize(("p", "told"), [(0.0049, True), (0.0051, False)])
def test_who_rated_is_compared_at_a_corrected_hundredth(full, monkeypatch, p, told):
    """Two judges make two tests."""
    monkeypatch.setattr(drawn_ratings, "_tests", lambda *_: {"rated inputs": (1.0, p), "outputs": (1.0, np.nan)})
    ds = full.sel(metric=["judge", "other"]).meta.sample_inputs(12, metric="judge", rng=1)
    gold = full.score.sel(metric="human", drop=True).where(ds.drawn).reset_coords(drop=True)
    assert ("not_random" in said(lambda: xsumstat.add_gold(ds, gold))) == told


@pytest.mark.parametrize(("n", "tested"), [(4, False), (5, True)])
def test_five_rated_inputs_are_compared_with_the_others(n, tested):
    x = np.random.default_rng(0).normal(size=(3, 20))
    rated = np.broadcast_to(np.arange(20) < n, x.shape)
    draw = draws.Draw(np.full(20, 0.9), np.ones(20, dtype=bool), ["all"] * 20)
    assert ("rated inputs" in drawn_ratings._tests(x, rated, np.ones(x.shape, dtype=bool), draw)) == tested


@pytest.mark.slow
def test_ratings_that_are_missing_by_chance_are_seldom_noticed():
    noticed, rng = 0, np.random.default_rng(1)
    for _ in range(1000):
        x = rng.normal(size=(3, 60)) + rng.normal(size=60)
        rated = np.broadcast_to(rng.random(60) < 0.8, x.shape) & (rng.random(x.shape) < 0.9)
        draw = draws.Draw(np.full(60, 0.9), np.ones(60, dtype=bool), ["one", "two"] * 30)
        found = drawn_ratings._tests(x, rated, np.ones(x.shape, dtype=bool), draw)
        noticed += min(p for _, p in found.values()) * len(found) < 0.05
    assert noticed < 75  # of 50


# --- analyses that speak of all inputs ---


def joined_draw(full, n=16, **how):
    ds = full.sel(metric=["judge"]).meta.sample_inputs(n, rng=6, **how)
    gold = full.score.sel(metric="human", drop=True).where(ds.drawn).reset_coords(drop=True)
    return xsumstat.add_gold(ds, gold)


UNEQUAL = {"strata": "unsure", "unsure": "doubt", "n_strata": 3}


@pytest.mark.parametrize("target", ["new", "these"])
def test_means_are_the_horvitz_thompson_estimate_and_those_of_the_definition(full, target):
    ds = joined_draw(full, **UNEQUAL)
    found = ds.meta.system_means(metric="judge", target=target)
    z = ds.score.sel(metric="human")
    np.testing.assert_allclose(found.human_mean, (z / ds.inclusion_probability).sum("input") / 40, rtol=1e-12)
    codes = np.unique(ds.draw_stratum.values, return_inverse=True)[1].tolist()
    f, z = ds.score.sel(metric="judge").values.tolist(), z.values.tolist()
    for at, each in enumerate(twin.system_means(f, z, target=target, groups=codes, own_spread=True)):
        for name, value in each.items():
            assert found[name].isel(system=at).item() == pytest.approx(value, rel=1e-9), name
    assert found.attrs["strata"] == "draw_stratum" and found.attrs["drawn_by"] == ds.attrs["drawn_by"]
    said = (
        "The rated inputs are a random sample of 16 of 40 inputs from 3 strata by how unsure the metrics are, more "
        "where the metrics are unsure. Strata are weighted by their shares of all inputs."
    )
    compared = ds.meta.compare_systems(method="ppi", metric="judge")
    assert said in found.meta.conclusion() and said in compared.meta.conclusion()
    assert "The rated inputs were a random sample of 16 of 40" in found.meta.methods()


@pytest.mark.parametrize("lazy", [False, True])
def test_differences_are_those_of_the_definition(full, lazy):
    ds = joined_draw(full, **UNEQUAL)
    codes = np.unique(ds.draw_stratum.values, return_inverse=True)[1].tolist()
    f, z = ds.score.sel(metric="judge").values.tolist(), ds.score.sel(metric="human").values.tolist()
    if lazy:
        pytest.importorskip("dask")
        ds = ds.chunk(metric=1)
    found = ds.meta.compare_systems(method="ppi", metric="judge").compute().squeeze("metric")
    means = ds.meta.system_means(metric="judge")["mean"].compute()
    for a, c in ((0, 1), (2, 3)):
        want = twin.drawn_difference(f, z, a, c, codes, True)
        for name, value in want.items():
            assert found[name].isel(system=a, other_system=c).item() == pytest.approx(value, rel=1e-9), name
        apart = (means[a] - means[c]).item()
        assert found.mean_difference.isel(system=a, other_system=c).item() == pytest.approx(apart, rel=1e-9)


def test_a_simple_random_sample_changes_nothing(full):
    ds = joined_draw(full)
    plain = ds.drop_vars(COORDS)
    for ask in (
        lambda d: d.meta.system_means(metric="judge"),
        lambda d: d.meta.compare_systems(method="ppi", metric="judge"),
    ):
        one, two = ask(ds), ask(plain)
        for name in two.data_vars:
            np.testing.assert_array_equal(one[name], two[name], err_msg=str(name))


def test_ratings_of_inputs_that_were_not_drawn_are_left_out(full):
    ds = joined_draw(full, **UNEQUAL)
    more = ds.copy(deep=True)
    at = np.flatnonzero(~ds.drawn.values)[:3]
    more.score[ds.metric.values.tolist().index("human"), :, at] = 100.0
    for ask in (
        lambda d: d.meta.system_means(metric="judge"),
        lambda d: d.meta.compare_systems(method="ppi", metric="judge"),
    ):
        with pytest.warns(xsumstat.LeftOutWarning, match="3 inputs with human scores, but not drawn"):
            got = ask(more)
        for name in got.data_vars:
            np.testing.assert_array_equal(got[name], ask(ds)[name], err_msg=str(name))


def test_refusals(full):
    ds = joined_draw(full, **UNEQUAL)
    for made, message in (
        (ds.sel(input=ds.drawn), "the Dataset seems to hold the drawn inputs alone"),
        (ds.drop_vars("draw_stratum"), "lacks 'draw_stratum', so its draw is not known"),
        (ds.assign_coords(inclusion_probability=ds.inclusion_probability * 0), "above 0 and at most 1, got 0"),
        (ds.assign_coords(inclusion_probability=("input", np.linspace(0.1, 0.9, 40))), "one number within each"),
        (ds.assign_coords(inclusion_probability=ds.inclusion_probability * 0 + 1), "has inclusion_probability 1 and"),
        (ds.assign_coords(draw_stratum=("input", [None] * 40)), "is missing for 40 inputs"),
    ):
        with pytest.raises(ValueError, match=message):
            made.meta.system_means(metric="judge")
    with pytest.raises(ValueError, match="strata='topic': inputs of .* were drawn with probabilities from"):
        ds.meta.system_means(metric="judge", strata="topic")
    with pytest.raises(ValueError, match="method='ridge' takes all inputs as equally likely to be rated"):
        ds.meta.system_means(metric="judge", method="ridge")
    few = ds.copy(deep=True)
    few.score[1, 0] = few.score[1, 0].where(ds.draw_stratum != "unsure 3 of 3")
    texts = said(lambda: few.meta.system_means(metric="judge"))
    assert texts["few_ratings"].startswith("draw_stratum: no rating in a group, so no mean")
    texts = said(lambda: few.meta.compare_systems(method="ppi", metric="judge"))
    assert texts["few_ratings"].startswith("draw_stratum: no rating in a group, so no difference")


IGNORED = {
    "corr": lambda d: d.meta.corr(level="global", coefficient="spearman"),
    "ci": lambda d: d.meta.ci(level="input", method="bootstrap", n_resamples=99),
    "compare_metrics": lambda d: d.meta.compare_metrics(
        metric=["judge", "twice"], level="input", method="permutation", n_resamples=99
    ),
    "bias": lambda d: d.meta.bias(given="doubt", level="global"),
    "calibrate": lambda d: d.meta.calibrate(metric="judge"),
    "compare_systems": lambda d: d.meta.compare_systems(metric="human"),
    "variance_components": lambda d: d.meta.variance_components(),
    "agreement": lambda d: d.meta.agreement("rating"),
}


@pytest.mark.parametrize("question", IGNORED)
def test_analyses_that_ignore_unequal_probabilities_warn(full, question):
    def asked(ds):
        twice = ds.score.sel(metric=["judge"]).assign_coords(metric=["twice"]) ** 3
        ds = xr.Dataset({"score": xr.concat([ds.score, twice], "metric")}, attrs=ds.attrs)
        two = ds.score.sel(metric="human", drop=True)
        noise = np.random.default_rng(0).normal(size=two.shape)
        rating = xr.concat([two, two + noise], "rater").assign_coords(rater=["x", "y"])
        return said(lambda: IGNORED[question](ds.assign(rating=rating.transpose("system", "input", "rater"))))

    ds = joined_draw(full, **UNEQUAL)
    ds = ds.assign_coords(kind=("metric", ["judge", "human"]))
    text = asked(ds)["unequal_probabilities"]
    assert text.startswith("inputs were drawn with unequal probabilities (inclusion_probability from ")
    assert 'use ds.meta.system_means() or ds.meta.compare_systems(method="ppi")' in text
    assert "unequal_probabilities" in asked(ds.sel(input=ds.drawn))
    alike = joined_draw(full, strata="topic").assign_coords(kind=("metric", ["judge", "human"]))
    rated = ds.copy(deep=True)
    rated.score[1] = full.score.sel(metric="human").values
    for other in (ds.drop_vars(COORDS), alike, rated):
        assert "unequal_probabilities" not in asked(other)


def test_labels_with_blanks_around_them_find_their_ratings(tmp_path):
    """A table is read without these blanks; ratings of such prompts found no output and were left out."""
    score = np.random.default_rng(0).normal(size=(1, 2, 3))
    labels = {"metric": ["judge"], "system": ["a", " b "], "input": ["x ", "y\n", "z"]}
    drawn = xr.Dataset({"score": (("metric", "system", "input"), score)}, labels).meta.sample_inputs(
        3, path=tmp_path / "a.csv", rng=0
    )
    rows = pd.DataFrame([(s, i) for s in labels["system"] for i in labels["input"]], columns=["system", "input"])
    rows.assign(human=[1, 2, 3, 4, 5, 6]).to_csv(tmp_path / "b.csv", index=False)
    with pytest.warns(xsumstat.LeftOutWarning, match="blanks around labels"):
        found = xsumstat.add_gold(drawn, tmp_path / "b.csv").score.sel(metric="human")
    assert found.transpose("system", "input").values.tolist() == [[1, 2, 3], [4, 5, 6]]

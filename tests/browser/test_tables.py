"""The tables of web pages sort in a real browser, by a click or a key."""

import pytest

import xsumstat

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ranked():
    scores = {"ds": xsumstat.load_dataset("demo"), "gold": "human"}
    tasks = {"systems": scores, "outputs": {**scores, "level": "input", "coefficient": "acc_eq"}}
    return xsumstat.rank_tasks(tasks, n_resamples=99, rng=1)


def metrics(page, at=0):
    return page.locator("table").nth(at).locator("tbody tr td:first-child").all_inner_texts()


def test_columns_sort_by_numbers_and_names(look, ranked):
    gone = ranked.assign(average_score=ranked.average_score.where(ranked.metric != "bleu"))
    html = gone.meta.to_html(caption=True) + ranked.isel(metric=slice(2)).meta.to_html()
    page = look(f"<!DOCTYPE html><html lang='en'><title>t</title><body>{html}</body></html>")
    given = metrics(page)
    assert given[0] == "judge" and given[-1] == "bleu"  # without an average
    average = page.get_by_role("button", name="average score over tasks").first
    average.click()
    assert metrics(page) == given  # numbers begin with the largest
    average.click()
    assert metrics(page) == [*given[-2::-1], "bleu"]  # what has no number stays last
    page.get_by_role("button", name="metric", exact=True).first.focus()
    page.keyboard.press("Enter")
    assert metrics(page) == sorted(given)
    heads = page.locator("table").first.locator("th")
    assert [each.get_attribute("aria-sort") for each in heads.all()] == ["ascending", *[None] * (heads.count() - 1)]
    foot = page.locator("tfoot tr td:first-child").all_inner_texts()
    assert metrics(page, 1) == given[:2] and len(foot) % 2 == 0

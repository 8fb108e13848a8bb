"""The lists of spoilings: each entry still names one place of the package, and tests that are there."""

from collections import Counter

from spoilings import run


def test_each_spoiling_names_one_place():
    wrong = {
        f"{each['id']} in tests/spoilings/{each['list']}": fault
        for each in run.entries()
        if (fault := run.faults(each))
    }
    assert not wrong, "renew these entries, by what the changed file says now, or take them out"


def test_spoilings_have_names_of_their_own_and_say_what_changes():
    found = run.entries()
    assert [name for name, count in Counter(each["id"] for each in found).items() if count > 1] == []
    assert [each["id"] for each in found if not each.get("shows")] == []
    assert {each["file"].rpartition("/")[0] for each in found} <= set(run.ROOMS)

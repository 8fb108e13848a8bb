"""Which resamples a plan gives: what trades places together, and what has draws of its own."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from helpers import unpacked

from xsumstat.coefficients.pairs import Draw
from xsumstat.resampling.plans import DecisionPlan, DrawPlan, SwapPlan

BOTH = ("system", "input")


def test_units_that_are_swapped():
    n = 2000
    of = SwapPlan.of
    plan = {c: unpacked(of((8, 7), ("system", "input"), c, n, 0).block(0), 7) for c in (False, True)}
    by_system = unpacked(of((30, 7), ("system",), False, n, 0).block(0), 7)
    by_input = unpacked(of((8, 30), ("input",), False, n, 0).block(0), 30)
    assert (by_system == by_system[:, :, :1]).all() and 0 < by_system.mean() < 1
    assert (by_input == by_input[:, :1, :]).all() and 0 < by_input.mean() < 1
    crossed = plan[True] ^ plan[True][:, :1, :]  # taking out the inputs' coins leaves one coin a system
    assert (crossed == crossed[:, :, :1]).all()
    assert not (plan[False] ^ plan[False][:, :1, :] == (plan[False] ^ plan[False][:, :1, :])[:, :, :1]).all()
    for swaps in (*plan.values(), by_system, by_input):
        assert swaps.mean() == pytest.approx(0.5, abs=0.05)


PLANS = {
    "both drawn": DrawPlan((7, 6), BOTH, 2500, 3),
    "cells drawn": DrawPlan((42, 1), ("cell",), 2500, 3),
    "layers drawn": DrawPlan((7, 6), ("reference", "rater"), 2500, 3, (5, 5)),
    "systems swapped": SwapPlan.of((12, 6), ("system",), False, 2500, 3),
    "inputs swapped": SwapPlan.of((7, 12), ("input",), False, 2500, 3),
    "cells swapped": SwapPlan.of((7, 6), BOTH, False, 2500, 3),
    "crossed swaps": SwapPlan.of((7, 6), BOTH, True, 2500, 3),
    "decisions swapped": DecisionPlan.of((7, 6), "input", False, 2500, 3),
    "their groups swapped": DecisionPlan.of((7, 12), "input", True, 2500, 3),
}


def parts(draw):
    """The arrays of counts, or the one of coins."""
    return [draw.systems, draw.inputs, *draw.layers] if isinstance(draw, Draw) else [draw]


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_each_block_and_each_seed_has_draws_of_its_own(plan):
    first, second, other = (parts(each) for each in (plan.block(0), plan.block(1), replace(plan, seed=4).block(0)))
    for one, two, three in zip(first, second, other, strict=True):
        if len(one) > 1:
            assert np.mean([a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True)]) < 0.1
            assert np.mean([a.tobytes() == b.tobytes() for a, b in zip(one, three, strict=True)]) < 0.1
    assert len(plan.block(2)) == 2500 - 2048


LISTED = {
    "all swaps": SwapPlan.of((5, 2), BOTH, False, 2500, 3),
    "all groups": DecisionPlan.of((2, 11), "input", True, 2500, 3),
}


@pytest.mark.parametrize("plan", (PLANS | LISTED).values(), ids=PLANS | LISTED)
def test_pieces_of_a_block_are_the_block(plan, monkeypatch):
    monkeypatch.setattr("xsumstat.resampling.draws._AT_ONCE", 999)
    for block in (0, 2)[: 1 + (plan.n_resamples > 2048)]:
        found = list(plan.pieces(block))
        assert len(found) > 1 or plan.exact or block
        start = 0
        for at, draw in found:
            assert at.start == start and at.stop - at.start == len(draw)
            start = at.stop
        whole = plan.block(block)
        assert start == len(whole)
        for place, want in enumerate(parts(whole)):
            got = [parts(draw)[place] for _, draw in found]
            np.testing.assert_array_equal(np.concatenate(got) if len(want) > 1 else got[0], want)


def test_each_dim_has_draws_of_its_own():
    """Dims of one size share neither their counts nor, where swaps are crossed, their coins."""
    draw = DrawPlan((5, 5), (*BOTH, "reference", "rater"), 500, 3, (5, 5)).block(0)
    for one, two in itertools.combinations(parts(draw), 2):
        assert (one == two).all(axis=1).mean() < 0.1
    crossed = unpacked(SwapPlan.of((8, 8), BOTH, True, 1000, 3).block(0), 8)
    assert crossed[:, range(8), range(8)].mean() == pytest.approx(0.5, abs=0.05)  # all 0 were the coins the same


def test_all_swaps_are_listed_from_the_very_number_on():
    of = SwapPlan.of
    assert of((6, 5), ("system",), False, 64, 0).exact and not of((6, 5), ("system",), False, 63, 0).exact
    assert of((6, 5), ("input",), False, 32, 0).exact and not of((6, 5), ("input",), False, 31, 0).exact
    assert (
        of((6, 5), ("system", "input"), True, 2048, 0).exact
        and not of((6, 5), ("system", "input"), True, 2047, 0).exact
    )
    assert (
        of((3, 3), ("system", "input"), False, 512, 0).exact
        and not of((3, 3), ("system", "input"), False, 511, 0).exact
    )
    of_decisions = DecisionPlan.of  # of 2 systems on 5 inputs: one a group
    assert of_decisions((2, 5), "input", False, 32, 0).exact and not of_decisions((2, 5), "input", False, 31, 0).exact
    assert of_decisions((4, 5), "input", True, 32, 0).exact and not of_decisions((4, 5), "input", True, 31, 0).exact

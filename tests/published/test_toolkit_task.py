"""A task's values beside those of mt-metrics-eval's own functions, for files in WMT24's shape and for the TED talks.

The toolkit's `tau_optimization` (acc_23) and `compute_one_minus_pce` (1,000 swaps, seed 4) were run on the same files,
and on the systems that WMT24 ranks. Its accuracy is exact. Its soft pairwise accuracy draws the swaps that are summed
here, so it has an error of its own.
"""

import warnings

import numpy as np
import pytest
import task_folders

import xsumstat

# By language pair and metric: soft pairwise accuracy of systems, and accuracy with ties of segments.
TOOLKIT = {
    ("en-de", "BLEU"): (0.912900, 0.7272727272727274),
    ("en-de", "COMET-22"): (0.917000, 0.8636363636363636),
    ("en-de", "XCOMET"): (0.973700, 0.890909090909091),
    ("en-de", "CometKiwi"): (0.893400, 0.8636363636363638),
    ("en-de", "NEW"): (0.956000, 0.9363636363636364),
    ("en-es", "BLEU"): (0.910000, 0.5606060606060607),
    ("en-es", "COMET-22"): (0.934333, 0.8333333333333335),
    ("en-es", "XCOMET"): (0.912000, 0.8939393939393938),
    ("en-es", "CometKiwi"): (0.937333, 0.8484848484848484),
    ("en-es", "NEW"): (0.956333, 0.9393939393939393),
    ("ja-zh", "BLEU"): (0.650333, 0.6666666666666667),
    ("ja-zh", "COMET-22"): (0.863500, 0.8484848484848484),
    ("ja-zh", "XCOMET"): (0.962333, 0.9393939393939394),
    ("ja-zh", "CometKiwi"): (0.889333, 0.7727272727272727),
    ("ja-zh", "NEW"): (0.966000, 0.9090909090909091),
}
TED = {"bleu": (0.669038, 0.4802966409771695), "chrf": (0.668821, 0.4802966409771693)}
# Of 1,000 swaps that all pairs of systems share; with more pairs the error is smaller.
OF_SWAPS = 0.012


@pytest.fixture(autouse=True)
def _small():
    """Few systems, of which is warned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def compared(table, pair, metric, toolkit):
    soft, tied = (table.sel(task=f"{pair} {task}", metric=metric).item() for task in ("sys spa", "seg acc_eq"))
    assert tied == pytest.approx(toolkit[1], abs=1e-12), (pair, metric)
    assert soft == pytest.approx(toolkit[0], abs=OF_SWAPS), (pair, metric)


def test_a_folder_in_the_shape_of_wmt24(tmp_path):
    root, told = task_folders.make(tmp_path)
    task_folders.own(tmp_path / "mine", told)
    answers = xsumstat.shared_task(root, tmp_path / "mine", n_resamples=9)
    table = answers.table.correlation
    assert {(pair, metric) for pair in task_folders.PAIRS for metric in table.metric.values} == set(TOOLKIT)
    for (pair, metric), toolkit in TOOLKIT.items():
        compared(table, pair, metric, toolkit)
    of_toolkit = [each for (_, metric), values in TOOLKIT.items() if metric == "NEW" for each in values]
    assert answers.table.average_score.sel(metric="NEW").item() == pytest.approx(np.mean(of_toolkit), abs=OF_SWAPS)


@pytest.mark.slow
def test_the_ted_talks(mirror, tmp_path):
    pytest.importorskip("sacrebleu")
    ted = xsumstat.load_dataset("wmt21-ted-ende", metrics=["bleu", "chrf"])
    ted = ted.drop_sel(system="ref").assign_coords(reference=("metric", ["", "refA", "refA"]))
    path = ted.meta.to_mtme(tmp_path, "ted", "en-de")
    table = xsumstat.shared_task(path, rules="wmt24", n_resamples=9).table.correlation
    for metric, toolkit in TED.items():
        compared(table, "en-de", metric, toolkit)

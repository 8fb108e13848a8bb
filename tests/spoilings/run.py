"""Do the tests notice? Spoils the package at one point at a time, and runs the tests that should fail.

    python tests/spoilings/run.py                all, on two cores some hour; goes on where it was stopped
    python tests/spoilings/run.py --only ID ...  some; file names such as words.toml name all in them
    python tests/spoilings/run.py --own          own files of tests alone: what these do not notice stays open
    python tests/spoilings/run.py --again        those that no test noticed the last time, too
    python tests/spoilings/run.py --prove        no tests: whether the answer of each changes

The lists are the files *.toml beside this one. An entry has an `id`, the `file` (below xsumstat/), the text `old`,
which stands once in that file, what stands there instead (`new`), an expression that `shows` the changed answer (its
names: `showing.py`), and, where others than `OWN` should notice, the `tests`. First an entry's own files are run, then
the folders of `ROOMS`; slow tests never. What no test notices must change the answer that it `shows`; else it is void.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
_RESULTS = ["tests/narrative/test_conclusions.py", "tests/narrative/test_methods.py"]
# What can notice what happens in a room, beside the room of the same name; "" is the face.
ROOMS = {
    "kernels": ["tests/kernels", "tests/coefficients"],
    "coefficients": ["tests/coefficients", "tests/analyses/test_correlation.py"],
    "inference": ["tests/inference", "tests/analyses"],
    "resampling": ["tests/resampling", "tests/analyses"],
    "catalogue": [
        "tests/catalogue",
        "tests/dataset",
        "tests/narrative/test_conclusions.py",
        "tests/narrative/test_methods.py",
    ],
    "dataset": [
        "tests/dataset",
        "tests/narrative/test_conclusions.py",
        "tests/narrative/test_methods.py",
        "tests/analyses",
    ],
    "analyses": ["tests/analyses"],
    "simulation": ["tests/simulation"],
    "plots": ["tests/plots"],
    "io": ["tests/io"],
    "core": ["tests/core", "tests/hostile"],
    "narrative": ["tests/narrative"],
    "report": ["tests/report"],
    "cli": ["tests/cli"],
    "": [f"tests/{path.name}" for path in sorted((ROOT / "tests").glob("test_*.py"))],
}
_WORDS = ["tests/narrative/test_sentences.py", *_RESULTS]
_LITTLE = "tests/report/test_judges_that_know_little.py"
_OF_SYSTEMS = ["tests/analyses/test_system_means.py", "tests/analyses/test_system_differences.py"]
# The tests of files that no file of tests is called after; an entry's `tests` are tried beside them.
OWN = {
    **dict.fromkeys([f"narrative/findings{what}" for what in ("", "_tests", "_plans", "_groups", "_outputs")], _WORDS),
    **dict.fromkeys(("narrative/conclusions", "narrative/methods", "dataset/wording", "dataset/scope"), _WORDS),
    "narrative/findings_preferences": [
        "tests/narrative/test_sentences_preferences.py",
        "tests/analyses/test_position_bias.py",
        "tests/analyses/test_preference_agreement.py",
        "tests/analyses/test_preference_bias.py",
        "tests/analyses/test_system_strengths.py",
    ],
    "narrative/findings_drift": ["tests/narrative/test_sentences_drift.py"],
    "inference/drift": ["tests/analyses/test_drift.py"],
    "cli/gate": ["tests/cli/test_gate.py", "tests/report/test_judge_report.py", "tests/cli/test_command_line.py"],
    "kernels/values": ["tests/coefficients/test_values.py", "tests/coefficients/test_table.py"],
    "kernels/cell_ties": ["tests/coefficients/test_cell_ties.py"],
    "kernels/correlation": ["tests/coefficients/test_table.py"],
    "kernels/jackknife": ["tests/coefficients/test_leave_one_out.py"],
    "kernels/outputs": ["tests/analyses/test_disagreement.py"],
    "kernels/pair_differences": ["tests/coefficients/test_pair_differences.py"],
    "coefficients/sorted_ranks": ["tests/coefficients/test_correlations.py"],
    "coefficients/curvature": ["tests/inference/test_jackknife_mends.py", "tests/coefficients/test_leave_one_out.py"],
    "coefficients/clusters": ["tests/analyses/test_clusters.py", "tests/inference/test_clustered.py"],
    "coefficients/partial_swaps": ["tests/coefficients/test_partial.py"],
    "coefficients/chance": ["tests/analyses/test_chance.py"],
    "inference/prompts": ["tests/analyses/test_position_bias.py"],
    "inference/rater_offsets": ["tests/inference/test_noisy_gold.py"],
    "inference/system_means": _OF_SYSTEMS[:1],
    "inference/system_differences": _OF_SYSTEMS[1:],
    "resampling/ceiling": ["tests/analyses/test_judges.py"],
    "resampling/group_jackknife": ["tests/analyses/test_group_comparison.py"],
    "dataset/preferences": ["tests/analyses/test_preference_agreement.py", "tests/analyses/test_position_bias.py"],
    "dataset/scale_checks": ["tests/coefficients/test_values.py"],
    "dataset/facts": ["tests/dataset/test_scores.py", "tests/dataset/test_checks.py", "tests/dataset/test_leakage.py"],
    "dataset/masks": ["tests/dataset/test_scores.py", "tests/dataset/test_checks.py"],
    "dataset/discordance": ["tests/dataset/test_directions.py"],
    "dataset/directions": ["tests/analyses/test_sentinels.py"],
    "dataset/covariates": ["tests/analyses/test_given.py"],
    "analyses/few_ratings": _OF_SYSTEMS,
    "analyses/equivalence_tests": ["tests/analyses/test_equivalence.py"],
    "analyses/systems": ["tests/analyses/test_system_tests.py", *_OF_SYSTEMS[1:]],
    "analyses/output_pairs": ["tests/analyses/test_disagreement.py"],
    "analyses/bootstrap_wins": ["tests/analyses/test_verdicts.py"],
    "analyses/normalised_scores": ["tests/analyses/test_disagreement.py"],
    "analyses/clustering": ["tests/analyses/test_clusters.py"],
    "analyses/task_averages": ["tests/analyses/test_tasks.py"],
    "analyses/input_bins": ["tests/analyses/test_inputs.py"],
    "inference/signed_ranks": ["tests/analyses/test_signed_ranks.py", "tests/analyses/test_system_tests.py"],
    "core/levels": ["tests/analyses/test_correlation.py"],
    "io/mtme_names": ["tests/io/test_mtme.py", "tests/io/test_clauses_of_mtme.py"],
    "report/judge_questions": ["tests/report/test_judge_report.py", "tests/report/test_judge_summary.py", _LITTLE],
    "report/judge_remarks": ["tests/report/test_judge_report.py", "tests/report/test_judge_summary.py", _LITTLE],
    "narrative/findings_judges": ["tests/narrative/test_sentences_judges.py"],
    "analyses/wmt_data": ["tests/analyses/test_wmt_tasks.py"],
    "simulation/model": ["tests/simulation/test_systems.py", "tests/simulation/test_simulate.py"],
    "simulation/designs": ["tests/simulation/test_trials.py", "tests/simulation/test_coverage.py"],
    "simulation/plan_designs": ["tests/simulation/test_plan.py"],
    "simulation/plan_raters": ["tests/simulation/test_plan_budget.py"],
    "simulation/plan_systems": ["tests/simulation/test_plan_budget.py", "tests/simulation/test_plan_raters.py"],
    "io/result_tables": ["tests/io/test_paper_tables.py"],
    "io/rows": ["tests/io/test_frames.py"],
    "io/eval_cases": ["tests/io/test_eval_results.py"],
    "plots/pvalues": ["tests/plots/test_metrics.py", "tests/plots/test_systems.py"],
    "plots/forest": ["tests/plots/test_metrics.py"],
    "plots/matrices": ["tests/plots/test_outputs.py"],
    "plots/biases": ["tests/analyses/test_bias.py"],
    "plots/bars": ["tests/plots/test_metrics.py"],
    "plots/scores": ["tests/plots/test_outputs.py"],
    "plots/distributions": ["tests/plots/test_outputs.py"],
    "plots/plans": ["tests/plots/test_simulation.py"],
    "plots/components": ["tests/plots/test_simulation.py"],
}
SECONDS = 600


def entries() -> list[dict]:
    """All spoilings, each with the list that has it."""
    found = []
    for path in sorted(HERE.glob("*.toml")):
        found += [each | {"list": path.name} for each in tomllib.loads(path.read_text(encoding="utf-8"))["spoiling"]]
    return found


def faults(entry: dict, root: Path = ROOT) -> str:
    """What is wrong with an entry, as where its file has changed; empty where nothing is."""
    path = root / "xsumstat" / entry["file"]
    if not path.exists():
        return f"there is no xsumstat/{entry['file']}"
    count = path.read_text(encoding="utf-8").count(entry["old"])
    lost = [name for name in entry.get("tests", ()) if not (root / name).exists()]
    if count != 1:
        return f"its `old` stands {count} times in xsumstat/{entry['file']}, and must once"
    return f"there is no {lost[0]}" if lost else "`new` is `old`" if entry["new"] == entry["old"] else ""


def stages(entry: dict) -> list[list[str]]:
    """The test files that are run, and those that are run where they notice nothing."""
    file = entry["file"].removesuffix(".py")
    room, _, name = file.rpartition("/")
    own = ROOT / "tests" / room / f"test_{name}.py"
    first = [*entry.get("tests", []), *OWN.get(file, []), *([own.relative_to(ROOT).as_posix()] if own.exists() else [])]
    rooms = [each for each in ROOMS[room] if each not in first]
    return [stage for stage in (list(dict.fromkeys(first)), rooms) if stage]


class Copy:
    """A copy of the tree, with kept kernels of its own."""

    def __init__(self, folder: Path):
        self.root, self.kept, self.own = folder / "tree", folder / "kernels", folder / "spoiled_kernels"
        listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
        wanted = {name for name in names if name and (ROOT / name).is_file()}
        for name in wanted:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)
        for path in (self.root / "xsumstat").rglob("*.py"):  # of a run that was stopped, with a tree that has changed
            if path.relative_to(self.root).as_posix() not in wanted:
                path.unlink()

    def spoil(self, entry: dict) -> None:
        """Put `new` in the place of `old`."""
        path = self.root / "xsumstat" / entry["file"]
        text = path.read_text(encoding="utf-8").replace(entry["old"], entry["new"])
        compile(text, str(path), "exec")
        path.write_text(text, encoding="utf-8")
        self._forget(path)

    def mend(self, entry: dict) -> None:
        """The file as it was, with its time, by which numba and Python know what they have kept."""
        path = self.root / "xsumstat" / entry["file"]
        shutil.copy2(ROOT / "xsumstat" / entry["file"], path)
        self._forget(path)
        shutil.rmtree(self.own, ignore_errors=True)

    @staticmethod
    def _forget(path: Path) -> None:
        for kept in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            kept.unlink()

    def run(self, entry: dict, *command: str) -> tuple[int | None, str]:
        """A Python of its own in the copy: how it ended (None: it was stopped), and what it said."""
        own = entry["file"].startswith("kernels/")
        environment = os.environ | {
            "PYTHONPATH": str(self.root),
            "NUMBA_CACHE_DIR": str(self.own if own else self.kept),
            "OPENBLAS_NUM_THREADS": "1",
            "XSUMSTAT_NUM_THREADS": "1",
            "XSUMSTAT_QUIET": "1",
        }
        with tempfile.TemporaryFile("w+") as said:
            running = subprocess.Popen(
                [sys.executable, *command],
                **{"cwd": self.root, "env": environment, "start_new_session": True},
                **{"stdout": said, "stderr": subprocess.STDOUT},
            )
            try:
                ended = running.wait(SECONDS)
            except subprocess.TimeoutExpired:
                ended = None
            finally:
                if running.poll() is None:
                    os.killpg(running.pid, signal.SIGKILL)
                    running.wait()
            said.seek(0)
            return ended, said.read()

    def changes(self, entry: dict) -> bool:
        """Whether the answer changes, be it into an error; the copy is spoiled afterwards."""
        self.mend(entry)
        before = self.run(entry, "tests/spoilings/showing.py", entry["shows"])
        if before[0] != 0:
            raise RuntimeError(f"`shows` fails before the change: {before[1][-2000:]}")
        self.spoil(entry)
        return self.run(entry, "tests/spoilings/showing.py", entry["shows"]) != before

    def tested(self, entry: dict, own: bool = False) -> dict:
        """Which test notices, if any does; `own` asks those of its own files alone."""
        for stage in stages(entry)[: 1 if own else None]:
            ended, said = self.run(entry, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *stage)
            if ended is None:
                return {"verdict": "noticed", "by": f"not ended after {SECONDS} s: {' '.join(stage)}"}
            if ended < 0:
                return {"verdict": "noticed", "by": f"crashed, by signal {-ended}: {' '.join(stage)}"}
            if ended == 1:
                failed = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
                return {"verdict": "noticed", "by": failed[0].split(" - ")[0].split(" ", 1)[1] if failed else "?"}
            if ended != 0:
                errors = [line for line in said.splitlines() if line.startswith("ERROR ")]
                return {"verdict": "noticed" if errors else "broken", "by": errors[0] if errors else said[-1000:]}
        return {"verdict": "open" if own else "survived" if self.changes(entry) else "void", "by": ""}


def campaign(chosen: list[dict], jobs: int, work: Path, results: Path, prove: bool, own: bool) -> None:
    """Each entry in one of the copies; each result is written as soon as it is there."""
    copies: SimpleQueue[Copy] = SimpleQueue()
    for at in range(jobs):
        copies.put(Copy(work / f"{at}"))
    lock = threading.Lock()

    def one(entry: dict) -> None:
        copy, start = copies.get(), time.monotonic()
        try:
            if prove:
                found = {"verdict": "changes" if copy.changes(entry) else "void", "by": ""}
            else:
                copy.spoil(entry)
                found = copy.tested(entry, own)
        except (RuntimeError, SyntaxError) as error:
            found = {"verdict": "broken", "by": str(error)}
        finally:
            copy.mend(entry)
            copies.put(copy)
        seconds = round(time.monotonic() - start, 1)
        with lock:
            print(f"{found['verdict']:<9} {seconds:6.1f} s  {entry['id']:<40} {found['by']}", flush=True)
            if not prove and found["verdict"] != "open":
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"entry": keyed(entry), **found, "seconds": seconds}) + "\n")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, chosen))


def keyed(entry: dict) -> list[str]:
    """By what a result is known: an entry that was changed is run again."""
    return [entry[key] for key in ("id", "file", "old", "new")]


def wilson(count: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's interval of a share."""
    middle = (count + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * math.sqrt(count * (n - count) / n + z**2 / 4)
    return middle - half, middle + half


def _share(counts: Counter[str]) -> str:
    """How many of those that were tried were noticed, with Wilson's interval."""
    n = counts["noticed"] + counts["survived"]
    if not n:
        return "  0 of   0"
    low, high = wilson(counts["noticed"], n)
    return f"{counts['noticed']:>3} of {n:>3}, {counts['noticed'] / n:.0%} ({low:.0%} to {high:.0%})"


def table(chosen: list[dict], done: dict[tuple[str, ...], dict]) -> str:
    """How many were noticed, by room, and which were not."""
    lines, whole = [], Counter()
    for room in sorted({each["list"] for each in chosen}):
        of_room = [each for each in chosen if each["list"] == room]
        counts = Counter(done.get(tuple(keyed(each)), {"verdict": "not run"})["verdict"] for each in of_room)
        whole += counts
        rest = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if verdict != "noticed")
        lines.append(f"{room.removesuffix('.toml'):<14} {_share(counts):<32}{rest}")
    lines.append(f"{'all':<14} {_share(whole)}")
    for each in chosen:
        found = done.get(tuple(keyed(each)), {"verdict": "not run"})["verdict"]
        if found not in ("noticed", "not run"):
            lines.append(f"  {found}: {each['id']} (xsumstat/{each['file']})")
    return "\n".join(lines)


def read(results: Path) -> dict[tuple[str, ...], dict]:
    """The last result of each entry."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {tuple(each["entry"]): each for each in map(json.loads, lines)}


def main() -> int:
    """What the first lines of this file say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="ID", help="ids, or lists such as words.toml")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--own", action="store_true", help="run an entry's own files of tests alone")
    parser.add_argument("--again", action="store_true", help="run those again that were not noticed")
    parser.add_argument("--fresh", action="store_true", help="forget former results of those that are run")
    parser.add_argument("--prove", action="store_true", help="run no tests, but show that answers change")
    parser.add_argument("--table", action="store_true", help="run nothing")
    usual = Path(tempfile.gettempdir()) / f"xsumstat-spoilings-{os.getuid()}"
    parser.add_argument("--work", type=Path, default=usual, help="folder of copies and results (%(default)s)")
    asked = parser.parse_args()
    chosen = [each for each in entries() if not asked.only or {each["id"], each["list"]} & set(asked.only)]
    wrong = [f"{each['id']} in {each['list']}: {fault}" for each in chosen if (fault := faults(each))]
    if wrong or not chosen:
        sys.exit("\n".join(wrong or ["no such entry"]))
    asked.work.mkdir(parents=True, exist_ok=True)
    results = asked.work / "results.jsonl"
    done = {} if asked.fresh or asked.prove else read(results)
    known = ("noticed",) if asked.again else ("noticed", "survived")
    left = [each for each in chosen if done.get(tuple(keyed(each)), {"verdict": ""})["verdict"] not in known]
    if left and not asked.table:
        campaign(left, min(asked.jobs, len(left)), asked.work, results, asked.prove, asked.own)
    if not asked.prove:
        print(table(chosen, read(results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The gate of the command line for two versions of a judge: `--anchor old.csv --require "drift <= .05"`."""

import pandas as pd
import pytest
from versions_of_a_judge import versions

from xsumstat.cli import gate
from xsumstat.cli import main as cli

ASKED = {"metric": "judge", "level": "input", "coefficient": "pearson"}


@pytest.mark.filterwarnings("ignore")
def test_the_gate_asks_for_equivalence_within_the_bound():
    new, old = versions(noise=0.6)
    found = new.meta.drift(old, margin=0.1, **ASKED)
    far = max(-float(found["ci_low"][0]), float(found["ci_high"][0]))
    check = {"anchor": old, **ASKED}
    wide = gate.check(new, gate.Requirement("d", "drift", 1.02 * far), **check)
    narrow = gate.check(new, gate.Requirement("d", "drift", 0.98 * far), **check)
    assert [wide.status, narrow.status] == [gate.MET, gate.NOT_MET]
    assert wide.line.startswith("d: met. On 158 of 159 outputs that judge scored: For these 4 systems")
    assert "of 158 scores changed" in wide.line and "do not differ significantly" in wide.line
    shifted = gate.check(versions(shift=(1.0,))[0], gate.requirement("drift <= .5"), **check)
    assert "significantly for s0" in shifted.line and "which can change their order" in shifted.line


def test_what_the_gate_refuses():
    new, old = versions(gaps=False)
    with pytest.raises(ValueError, match="must be allowed to be above 0"):
        gate.requirement("drift <= 0")
    asked = gate.requirement("drift <= .1")
    assert gate.check(new, asked).status == gate.UNKNOWN
    elsewhere = gate.check(new, asked, anchor=old.assign_coords(input=[f"x{at}" for at in range(40)]))
    assert elsewhere.status == gate.UNKNOWN and "shares no output" in elsewhere.line


@pytest.mark.filterwarnings("ignore")
def test_the_command_line(tmp_path, capsys):
    for name, ds in zip(("new", "old"), versions(gaps=False), strict=True):
        frame = ds.score.to_series().unstack("metric").reset_index()
        pd.DataFrame(frame).to_csv(tmp_path / f"{name}.csv", index=False)
    asked = [str(tmp_path / "new.csv"), "--gold", "human", "--level", "input", "--anchor", str(tmp_path / "old.csv")]
    assert cli.main([*asked, "--require", "drift <= .5"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("drift <= .5: met. On 160 of 160 outputs that judge scored: ")
    assert "the agreement of judge with the human scores changed by " in last
    assert cli.main([*asked, "--require", "drift <= .0001"]) == 1
    assert cli.main([*asked, "--require", "drift <= .5", "--require", "pearson >= .99"]) == 1
    capsys.readouterr()
    assert cli.main(asked) == 2
    assert "--anchor and --require 'drift <= .05' need each other" in capsys.readouterr().err
    assert cli.main([*asked[:-2], "--require", "drift <= .5"]) == 2

"""Stored notebooks: none without outputs, and what the check of CI (`stored.py`) calls out of date."""

import base64
import copy
import io
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import stored  # noqa: E402

import nbformat  # noqa: E402  isort: skip
from nbformat import v4  # noqa: E402  isort: skip

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
EACH = pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)


def drawn(title, size=(3, 2)):
    from matplotlib.figure import Figure

    figure = Figure(figsize=size)
    figure.subplots().set_title(title)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return base64.b64encode(file.getvalue()).decode()


@pytest.fixture
def notebook():
    """One cell of each kind: printed, shown, drawn."""
    shown = {"text/plain": "   r\n0  0.71", "text/html": "<style>p {}</style><table><td>0</td><td>0.71</td></table>"}
    outputs = [
        v4.new_output("stream", name="stdout", text="judge is ahead\n"),
        v4.new_output("execute_result", data=shown, execution_count=2),
        v4.new_output("display_data", data={"image/png": drawn("agreement"), "text/plain": "<Figure>"}),
    ]
    cells = [v4.new_code_cell("pass", execution_count=at, outputs=[each]) for at, each in enumerate(outputs, 1)]
    return stored.tidied(v4.new_notebook(cells=[v4.new_markdown_cell("# Title"), *cells]), "name")


def test_what_is_the_same_passes(notebook):
    fresh = copy.deepcopy(notebook)
    assert stored.complaints(notebook, fresh) == []
    fresh.cells[2].outputs[0].data["text/html"] = (
        "<style>p {color: red}</style><table><tr><td>0</td><td>0.71</td></tr></table>"
    )
    assert stored.complaints(notebook, fresh) == []  # other markup of the same text


@pytest.mark.parametrize(
    ("cell", "kind", "text"),
    [
        (1, None, "judge is last\n"),
        (2, "text/plain", "   r\n0  0.72"),
        (2, "text/html", "<table><td>0</td><td>0.72</td></table>"),
    ],
)
def test_a_spoiled_text_fails(notebook, cell, kind, text):
    spoiled = copy.deepcopy(notebook)
    output = spoiled.cells[cell].outputs[0]
    if kind is None:
        output.text = text
    else:
        output.data[kind] = text
    (complaint,) = stored.complaints(spoiled, notebook)
    assert complaint.startswith(f"cell {cell}: ")


@pytest.mark.parametrize("cell", [1, 2, 3])
def test_a_missing_output_fails(notebook, cell):
    spoiled = copy.deepcopy(notebook)
    spoiled.cells[cell].outputs = []
    (complaint,) = stored.complaints(spoiled, notebook)
    assert complaint.startswith(f"cell {cell}: stored are the outputs []")
    (complaint,) = stored.complaints(notebook, spoiled)  # one too many
    assert "there should be []" in complaint


def test_the_streams_of_a_cell_come_in_any_order(notebook):
    both = [v4.new_output("stream", name=name, text=f"of {name}\n") for name in ("stderr", "stdout")]
    shown = copy.deepcopy(notebook.cells[3].outputs)
    one, other = copy.deepcopy(notebook), copy.deepcopy(notebook)
    for before, after in ((both, both[::-1]), ([*both, *shown], [*both[::-1], *shown])):
        one.cells[1].outputs, other.cells[1].outputs = before, after
        assert stored.complaints(one, other) == []
    other.cells[1].outputs = [both[0], *shown, both[1]]  # after the picture is no chance
    assert len(stored.complaints(one, other)) == 1
    one.cells[1].outputs = both
    other.cells[1].outputs = [both[1], v4.new_output("stream", name="stderr", text="of none\n")]
    (complaint,) = stored.complaints(one, other)
    assert "+of none" in complaint


def test_a_cell_that_was_never_run_fails(notebook):
    spoiled = copy.deepcopy(notebook)
    spoiled.cells[1].execution_count = None
    assert stored.complaints(spoiled, notebook) == ["cell 1: stored without having been run"]


@pytest.mark.parametrize("picture", [drawn("agreemen"), drawn("agreement", (3, 2.2))], ids=["a letter", "the size"])
def test_a_spoiled_picture_fails(notebook, picture):
    spoiled = copy.deepcopy(notebook)
    spoiled.cells[3].outputs[0].data["image/png"] = picture
    (complaint,) = stored.complaints(stored.tidied(spoiled, "name"), notebook)
    assert complaint.startswith("cell 3: ") and "picture" in complaint


def test_pictures_of_another_matplotlib_only_have_to_be_there(notebook, monkeypatch):
    spoiled = copy.deepcopy(notebook)
    with monkeypatch.context() as patch:
        patch.setattr("matplotlib.backends.backend_agg.mpl.__version__", "0.1")
        spoiled.cells[3].outputs[0].data["image/png"] = drawn("agreemen")
    assert stored.complaints(stored.tidied(spoiled, "name"), notebook) == []
    del spoiled.cells[3].outputs[0].data["image/png"]
    assert len(stored.complaints(spoiled, notebook)) == 1


def test_what_must_vary_may_vary(notebook):
    varied = copy.deepcopy(notebook)
    for each, said in (
        (notebook, "/tmp/ipykernel_12/34.py:2: UserWarning: used xsumstat 0.1.0 at 0x7f00aa11"),
        (varied, "/tmp/ipykernel_99/88.py:2: UserWarning: used xsumstat 0.2.0.dev1 at 0x7f33bb22"),
    ):
        each.cells[1].outputs[0].text = said
    assert stored.complaints(stored.tidied(notebook, "name"), stored.tidied(varied, "name")) == []


def test_tidied_has_no_progress_bars_and_the_same_ids_each_time(notebook):
    ids = "11111111-2222-3333-4444-555555555555", "99999999-2222-3333-4444-555555555555"
    made = []
    for each in ids:
        other = copy.deepcopy(notebook)
        other.metadata["widgets"] = {}
        bar = v4.new_output("display_data", data={stored.WIDGET: {}, "text/plain": "  0%"})
        other.cells[2].outputs.insert(0, bar)
        other.cells[2].outputs[1].data["text/html"] = f"<input id='{each}'><label for='{each}'>score</label>"
        made.append(stored.tidied(other, "name"))
    assert made[0] == made[1]
    assert len(set(stored.UUID.findall(made[0].cells[2].outputs[0].data["text/html"]))) == 1
    assert list(made[0].metadata) == ["kernelspec"]


def test_a_notebook_is_run_and_compared(notebook, tmp_path, monkeypatch, capsys):
    fresh = copy.deepcopy(notebook)
    monkeypatch.setattr(stored, "executed", lambda path: copy.deepcopy(fresh))
    path = tmp_path / "some.ipynb"
    nbformat.write(notebook, path)
    assert stored.main(["check", str(path)]) == 0
    fresh.cells[1].outputs[0].text = "judge is last\n"
    assert stored.main(["check", str(path)]) == 1
    assert "+judge is last" in capsys.readouterr().out
    assert stored.main(["write", str(path)]) == 0 and stored.main(["check", str(path)]) == 0
    monkeypatch.setattr(stored, "MOST_BYTES", 100)
    assert stored.main(["check", str(path)]) == 1


@EACH
def test_notebooks_are_stored_whole(path):
    notebook = nbformat.read(path, as_version=4)
    assert path.stat().st_size <= stored.MOST_BYTES
    assert dict(notebook.metadata) == {"kernelspec": stored.KERNEL}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert not any(output.output_type == "error" or stored.WIDGET in output.get("data", {}) for output in outputs)
    noise = [output.text for output in outputs if output.get("name") == "stderr"]
    assert all(re.match(r"<cell>:\d+: \w+Warning: ", text) for text in noise)
    drawn_by = [cell for cell in code if re.search(r"meta\.plot\.|drawn\(\"", cell.source)]
    assert all(any("image/png" in output.get("data", {}) for output in cell.outputs) for cell in drawn_by)


@EACH
def test_notebooks_say_where_to_read_on(path):
    last = nbformat.read(path, as_version=4).cells[-1]
    assert last.cell_type == "markdown"
    ends = last.source.split("\n\n")[-1]
    assert ends.startswith("Where to read on: ")
    for linked in re.findall(r"\]\(([^)]+\.ipynb)\)", ends):
        assert (path.parent / linked).exists()


def test_the_readme_shows_a_picture_of_a_notebook():
    shown = stored.picture_of_readme(NOTEBOOKS / "01_intervals_and_tests.ipynb")
    assert (NOTEBOOKS / "intervals.png").read_bytes() == shown

"""The check of notebooks finds outputs that are missing or out of date."""

import copy

import nbformat
import numpy as np
import pytest

pytest.importorskip("nbclient")
pytest.importorskip("matplotlib")

from notebooks import stored  # noqa: E402 - lies beside this file

CELLS = [
    "import matplotlib.pyplot as plt\nprint('one')",
    "import pandas as pd\npd.DataFrame({'metric': ['judge'], 'correlation': [0.9]})",
    "plt.plot([0, 1], [0, 1]);",
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("notebooks") / "small.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    nbformat.write(notebook, path)
    assert stored.main(["write", str(path)]) == 0
    return path


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


def test_what_is_written_passes(path, capsys):
    assert stored.main(["check", str(path)]) == 0
    assert "ok" in capsys.readouterr().out


def test_an_output_that_is_missing_is_named(notebook):
    fresh = copy.deepcopy(notebook)
    notebook.cells[1].outputs = []
    (found,) = stored.complaints(notebook, fresh)
    assert found.startswith("cell 1: stored are the outputs []")


def test_a_cell_that_was_not_run_is_named(notebook):
    fresh = copy.deepcopy(notebook)
    notebook.cells[0].execution_count = None
    assert stored.complaints(notebook, fresh) == ["cell 0: stored without having been run"]


@pytest.mark.parametrize("at, old, new", [(0, "one", "two"), (1, "0.9", "0.8")])
def test_an_output_that_differs_is_shown(notebook, at, old, new):
    fresh = copy.deepcopy(notebook)
    output = notebook.cells[at].outputs[0]
    if at == 0:
        output.text = output.text.replace(old, new)
    else:
        output.data = {kind: text.replace(old, new) for kind, text in output.data.items()}
    found = stored.complaints(notebook, fresh)
    assert found and all(f"cell {at}: " in each and new in each for each in found)


def test_a_picture_that_looks_different_is_found(notebook):
    fresh = copy.deepcopy(notebook)
    data = notebook.cells[2].outputs[0].data
    picture = stored._picture(data["image/png"]).convert("RGB")
    spoiled = np.asarray(picture).copy()
    spoiled[: len(spoiled) // 2] = 0
    data["image/png"] = _encoded(spoiled, stored._picture(data["image/png"]).info["Software"])
    (found,) = stored.complaints(notebook, fresh)
    assert "the picture looks different" in found


def test_a_large_file_is_refused(path, monkeypatch, capsys):
    monkeypatch.setattr(stored, "MOST_BYTES", 1000)
    assert stored.main(["check", str(path)]) == 1
    assert "at most 1000 are allowed" in capsys.readouterr().out


def _encoded(pixels, software):
    import base64
    import io

    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    about = PngInfo()
    about.add_text("Software", software)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png", pnginfo=about)
    return base64.b64encode(file.getvalue()).decode()

import inspect
import pickle
import re
import sys

import make_accessor
import xarray as xr

import xsumstat
from xsumstat import accessor
from xsumstat.analyses import correlation, intervals

# A method is a function of the package that is asked of the accessor's data.
METHODS = {
    (owner, name): getattr(owner, name)
    for owner in (accessor.DatasetMeta, accessor.FrameMeta, accessor.Plots)
    for name, method in vars(owner).items()
    if callable(method) and not name.startswith("_")
}
FUNCTIONS = {key: inspect.unwrap(method) for key, method in METHODS.items()}


def test_a_method_is_the_function_of_its_name():
    assert len(FUNCTIONS) > 60
    for (owner, name), function in FUNCTIONS.items():
        assert function.__name__ == name and function is not METHODS[owner, name]
        assert function.__module__.startswith("xsumstat.plots.") == (owner is accessor.Plots), name


def test_methods_have_the_signature_and_the_text_of_their_function():
    for key, method in METHODS.items():
        function = getattr(sys.modules[FUNCTIONS[key].__module__], FUNCTIONS[key].__name__)
        ours, theirs = (list(inspect.signature(each).parameters.values())[1:] for each in (method, function))
        assert ours == theirs, key
        assert inspect.signature(method).return_annotation == inspect.signature(function).return_annotation, key
        data = next(iter(inspect.signature(function).parameters))
        own = method.__doc__.splitlines()
        assert [line for line in function.__doc__.splitlines() if line not in own][0].startswith(data), key
        assert not re.search(rf"^{data}\b", method.__doc__, re.MULTILINE), key
        assert function.__doc__.endswith(method.__doc__[method.__doc__.index("\nReturns\n") :]), key


def test_the_accessor_is_what_its_script_writes():
    """After a change of a signature or of a first line: python tests/make_accessor.py."""
    text = make_accessor.FILE.read_text(encoding="utf-8")
    assert make_accessor.written(text) == text


def test_a_method_has_its_whole_text_wherever_it_is_looked_at(demo):
    for method in (demo.meta.ci, accessor.DatasetMeta.ci, xr.Dataset.meta.ci, demo.meta.plot.heatmap):
        assert callable(method) and "\nParameters\n" in method.__doc__
        assert "metric" in inspect.signature(method).parameters
    assert pickle.loads(pickle.dumps(demo.meta.corr))("human").identical(demo.meta.corr("human"))


def test_everything_after_the_data_and_the_gold_is_keyword_only():
    for function in FUNCTIONS.values():
        _, *rest = inspect.signature(function).parameters.values()
        free = [p.name for p in rest if p.kind is not p.KEYWORD_ONLY]
        where = ["folder", "test_set", "language_pair"]
        assert free in (
            [],
            ["gold"],
            ["method"],
            ["other"],
            ["k"],
            ["n"],
            ["rating"],
            ["variable"],
            ["task"],
            ["by"],
            where,
            ["anchor", "gold"],
        )
        assert not [p.name for p in rest if p.kind is p.VAR_KEYWORD]


def test_accessor_equals_function(demo):
    assert demo.meta.corr("human").identical(correlation.corr(demo, "human"))
    drawn = {"method": "bootstrap", "n_resamples": 20, "rng": 0}
    assert demo.meta.ci("human", **drawn).identical(intervals.ci(demo, "human", **drawn))


def test_the_accessor_keeps_no_state(demo):
    before = dict(vars(demo.meta))
    demo.meta.ci("human", n_resamples=20, rng=0)
    assert {**vars(demo.meta)} == before and list(before) == ["_obj", "plot"]


def test_public_names():
    for name in xsumstat.__all__:
        assert inspect.getdoc(getattr(xsumstat, name))
    assert xsumstat.__version__.count(".") == 2

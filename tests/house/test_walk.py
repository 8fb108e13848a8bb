"""The walk of scores through the room of the entrance: how often a reader goes back to a file already left."""

import ast
from dataclasses import dataclass, field

from house.test_layout import FILES, as_file, parsed


def functions(file):
    return {node.name: node for node in parsed(file).body if isinstance(node, ast.FunctionDef)}


def names_of(file):
    """What the names of a file stand for: its functions, imported ones, and modules."""
    known = {name: (file, name) for name in FUNCTIONS[file]}
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("xsumstat"):
            for alias in node.names:
                module = as_file(f"{node.module}.{alias.name}")
                known[alias.asname or alias.name] = module or (as_file(node.module), alias.name)
    return known


ENTRANCE = [file for file in FILES if file.startswith(("dataset/", "analyses/intervals"))]
FUNCTIONS = {file: functions(file) for file in ENTRANCE}
NAMES = {file: names_of(file) for file in ENTRANCE}


def function_of(file, node):
    """The function of the package that an expression names, as (file, name), or None."""
    found = None
    if isinstance(node, ast.Name):
        found = NAMES[file].get(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = NAMES[file].get(node.value.id)
        found = (module, node.attr) if isinstance(module, str) else None
    return found if isinstance(found, tuple) and found[1] in FUNCTIONS.get(found[0], {}) else None


def named(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def statements(body):
    """All statements in the order in which they stand, those of inner functions among them."""
    for node in body:
        if not isinstance(node, ast.FunctionDef):
            yield node
        for part in ("body", "handlers", "orelse", "finalbody"):
            yield from statements(getattr(node, part, []))


def parts(node):
    """What a statement computes itself, without the statements in it."""
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr | ast.withitem | ast.keyword)]


def calls(node):
    """The calls in an expression, those of arguments first."""
    inner = [call for each in ast.iter_child_nodes(node) for call in calls(each)]
    return [*inner, node] if isinstance(node, ast.Call) else inner


@dataclass
class Walk:
    """Functions of a room in the order in which scores first reach them."""

    room: str
    reached: list[tuple[str, str]] = field(default_factory=list)

    def enter(self, file, name, scores):
        """Read a function whose arguments `scores` hold scores or what was made of them."""
        if (file, name) in self.reached:
            return
        self.reached.append((file, name))
        scores = set(scores)
        for statement in statements(FUNCTIONS[file][name].body):
            for part in parts(statement):
                for node in ast.walk(part):
                    if isinstance(node, ast.comprehension) and named(node.iter) & scores:
                        scores |= named(node.target)
                    elif isinstance(node, ast.NamedExpr) and named(node.value) & scores:
                        scores |= named(node.target)
                for call in calls(part):
                    self.follow(file, call, scores)
            source = getattr(statement, "value", None) or getattr(statement, "iter", None)
            if source is not None and named(source) & scores:
                for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
                    scores |= named(target) if target is not None else set()

    def follow(self, file, call, scores):
        """Enter what a call with scores calls, and the functions that it hands on beside them."""
        arguments = [*call.args, *(each.value for each in call.keywords)]
        if not any(named(each) & scores for each in [*arguments, call.func]):
            return
        if (called := function_of(file, call.func)) and called[0].startswith(f"{self.room}/"):
            own = FUNCTIONS[called[0]][called[1]].args
            places = [each.arg for each in (*own.posonlyargs, *own.args)]
            whole = any(isinstance(each, ast.Starred) and named(each) & scores for each in call.args)
            given = {place for place, each in zip(places, call.args, strict=False) if whole or named(each) & scores}
            given |= set(places) if whole else {own.vararg.arg} if own.vararg else set()
            self.enter(*called, given | {each.arg for each in call.keywords if each.arg and named(each.value) & scores})
        for at, each in enumerate(arguments):
            if (handed := function_of(file, each)) and handed[0].startswith(f"{self.room}/"):
                places = [place.arg for place in FUNCTIONS[handed[0]][handed[1]].args.args]
                after = zip(places, arguments[at + 1 :], strict=False)
                self.enter(*handed, {place for place, other in after if named(other) & scores})

    @property
    def stays(self):
        """Files in the order in which they are read."""
        files = [file for file, _ in self.reached]
        return [file for at, file in enumerate(files) if at == 0 or files[at - 1] != file]

    @property
    def returns(self):
        return len(self.stays) - len(set(self.stays))


def test_the_entrance_is_read_from_file_to_file():
    walk = Walk("dataset")
    walk.enter("analyses/intervals", "ci", {"ds"})
    assert len(walk.stays) > 20, "the walk has lost its way"
    assert {"dataset/locate", "dataset/align", "dataset/masks", "dataset/facts", "dataset/checks"} <= set(walk.stays)
    assert walk.returns <= 12, walk.stays


def test_stages_of_the_entrance_do_not_call_the_later_ones():
    """Each is called by `scores.prepare`; rules get facts, and no stage knows the rules."""
    stages = ("locate", "golds", "covariates", "metric_choice", "align", "masks", "facts", "discordance", "checks")
    for at, stage in enumerate(stages):
        later = {f"dataset/{each}" for each in (*stages[at + 1 :], "scores", "leakage")}
        called = {function_of(f"dataset/{stage}", node) for node in ast.walk(parsed(f"dataset/{stage}"))}
        assert not {each[0] for each in called if each} & later, stage

"""Models that have no variables yet."""

from __future__ import annotations

import ast

from ...linter.rule_api.model import Assignment, Call, ClassSite, FunctionSite

_SHAPES = frozenset({"input_shape", "input_dim", "batch_input_shape", "batch_shape", "shape", "input_tensor"})
_INPUTS = frozenset({"Input", "InputLayer"})
_HARMLESS = frozenset({"compile", "summary", "add"})
"""Methods of a model that create no variables of one whose input is not known."""
_OVERRIDES = ("fit", "compile", "summary", "add", "__new__", "__call__")
_BUILDS = frozenset({"build", "predict", "evaluate", "train_on_batch", "load_weights", "build_from_config"})


def is_of_keras2(maker: Call) -> bool:
    """Whether what a call makes is of tf_keras, whichever Keras the program uses otherwise."""
    bases = (text for entity in maker.found if entity.kind == "class" for text in maker.file.project.mro(entity.key)[1])
    return any(text.startswith("tf_keras.") for text in (*(name.spelled for name in maker.names), *bases))


def made_before(call: Call, name: str) -> Assignment | None:
    """The last assignment to a name before a call of the same function, if the call surely comes after it."""
    around = call.file.assignments_by_function.get(call.scope.function().id, [])
    made = [one for one in around if one.path == name and one.line < call.line]
    if not made or made[-1].augmented:
        return None
    surely = next(level for level in made[-1].block.chain() if level.kind != "with")
    return made[-1] if surely in call.block.chain() else None


def is_unbuilt(maker: Call, name: str, end: int, given: ast.AST | None = None) -> bool:
    """Whether what `maker` gives, which is kept as `name`, has no variables yet in a line of the same function.

    ``given`` is an expression in which the name may be read, as by what only keeps the model.
    """
    if not _is_left_alone(maker, name, end, given):
        return False
    if len(maker.found) == 1 and maker.found[0].kind == "function" and maker.found[0].file == maker.file.key:
        return _gives_unbuilt(maker.file.function_of(maker.file.index.scopes[maker.found[0].scope]))
    return _is_unbuilt_class(maker, name, end)


def _is_unbuilt_class(maker: Call, name: str, end: int) -> bool:
    if {found.canonical for found in maker.names} == {"keras.Sequential"}:
        first = _first_layer(maker, name, end)
        return first is not None and _makes_no_input(maker, first)
    if len(maker.found) != 1 or maker.found[0].kind != "class" or maker.found[0].file != maker.file.key:
        return False
    cls = ClassSite(maker.file, maker.file.index.scopes[maker.found[0].scope])
    return _is_plain_subclass(cls) and not {"inputs", "outputs"} & set(maker.keywords)


def _gives_unbuilt(function: FunctionSite) -> bool:
    """Whether a function returns a new model that is not built."""
    returns = [node for node in function.statements if isinstance(node, ast.Return)]
    if len(returns) != 1 or function.body.decorators:
        return False
    given, end, name = returns[0].value, returns[0].lineno, ""
    made = function.file.call_at(given)
    if isinstance(given, ast.Name):
        assigned = [one for one in function.assignments if one.path == given.id]
        made, name = assigned[0].value_call if len(assigned) == 1 else None, given.id
    return made is not None and _is_left_alone(made, name, end) and _is_unbuilt_class(made, name, end)


def _is_left_alone(maker: Call, name: str, end: int, given: ast.AST | None = None) -> bool:
    """Whether nothing but harmless methods is asked of the model up to a line."""
    home = maker.scope.function()
    between = [one for one in maker.file.calls_by_function.get(home.id, []) if maker.end_line < one.line < end]
    known = all(one.found and all(entity.kind == "external" for entity in one.found) for one in between)
    kept = () if given is None else tuple(map(id, ast.walk(given)))
    for reference in maker.file.references:
        head, _, rest = (reference.path or "").partition(".")
        found = maker.file.index.lookup(reference.scope, head) if head == name else None
        if found is None or found[0].function() is not home:
            continue
        asked = rest.partition(".")[0]
        if reference.scope.function() is not home:
            if known:
                continue
            return False
        if id(reference.syntax) in kept or not maker.end_line < reference.line < end:
            continue
        if asked not in _HARMLESS or not reference.called:
            return False
    return True


def _first_layer(maker: Call, name: str, end: int) -> ast.expr | None:
    """The first layer of a `Sequential`, from its list or the first `add`."""
    given = maker.value("layers", 0)
    if isinstance(given, ast.List | ast.Tuple) and given.elts:
        return given.elts[0]
    if maker.has_stars or (given is not None and not isinstance(given, ast.List)):
        return None
    for other in maker.file.calls_by_function.get(maker.scope.function().id, []):
        if other.path == f"{name}.add" and maker.line < other.line < end:
            return other.value("layer", 0) if other.block is maker.block else None
    return None


def _makes_no_input(site: Call, layer: ast.expr) -> bool:
    """Whether a layer surely is one of Keras that is told nothing of its input."""
    made = site.file.call_at(layer)
    if made is None or made.has_stars or not made.names or any(entity.kind != "external" for entity in made.found):
        return False
    for name in made.names:
        module, _, last = name.canonical.rpartition(".")
        if module != "keras.layers" or not last[0].isupper() or last in _INPUTS:
            return False
    return not any(isinstance(node, ast.keyword) and node.arg in _SHAPES for node in ast.walk(made.call))


def _is_plain_subclass(cls: ClassSite) -> bool:
    """Whether a class is a `Model` that is made of no inputs and outputs, and does not build itself."""
    if set(cls.public_bases) != {"keras.Model"} or not cls.knows_bases or any(map(cls.defines, _OVERRIDES)):
        return False
    if any(file != cls.file.key for file, _ in cls.project_bases):
        return False
    bases = [ClassSite(cls.file, cls.file.index.scopes[scope]) for _, scope in cls.project_bases]
    makers = [base.methods["__init__"] for base in bases if "__init__" in base.methods]
    return not cls.file.assignments_to(cls.body, "built") and not any(
        _may_build(cls, call) for maker in makers for call in maker.calls
    )


def _may_build(cls: ClassSite, call: Call) -> bool:
    """Whether a call in a constructor may build the model, or make it a functional one."""
    if call.method == "__init__":
        return len(call.call.args) > 1 or bool({"inputs", "outputs"} & set(call.keywords))
    head, _, asked = (call.path or "").partition(".")
    if call.class_of_self(head) is not None and (not asked or asked in _BUILDS or cls.defines(asked)):
        return True
    return call.path != "super" and any(
        isinstance(node, ast.Name) and call.class_of_self(node.id) is not None for node in call.arguments
    )

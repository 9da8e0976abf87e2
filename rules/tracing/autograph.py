"""What the rules on AutoGraph share: where it rewrites Python, and what surely is a tensor there.

AutoGraph turns the ``if``, ``while`` and ``for`` of a `tf.function` into operations where they test or go through a
tensor. Keras 3 switches it off for all that it traces; no comprehension is ever rewritten [run].
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ...linter.rule_api.model import (
    Block,
    Context,
    File,
    FunctionSite,
    Known,
    Site,
    Target,
    path_of,
)
from .traces import Trace, fit_trace_of, trace_of

_TRACER = "tensorflow.function"
_NO_CONVERSION = frozenset(
    {"tensorflow.autograph.experimental.do_not_convert", "tensorflow.python.autograph.impl.api.do_not_convert"}
)
_SEVERAL = frozenset(
    {
        "batch_normalization", "broadcast_static_shape", "clip_by_global_norm", "ctc_beam_search_decoder",
        "ctc_greedy_decoder", "decode_csv", "depthwise", "dynamic_partition", "dynamic_rnn", "eig", "eigh", "frexp",
        "function", "gradients", "hessians", "identity_n", "fused_batch_norm", "approx_max_k", "lu", "meshgrid",
        "max_pool_with_argmax", "moments", "normalize", "normalize_moments", "weighted_moments", "numpy_function",
        "parallel_stack", "parse_example", "parse_sequence_example", "parse_single_example",
        "parse_single_sequence_example", "py_func", "py_function", "qr", "sample_distorted_bounding_box",
        "self_adjoint_eig", "setdiff1d", "listdiff", "shape_n", "slogdet", "split", "stateless_split",
        "static_rnn", "sufficient_statistics", "svd", "top_k", "tuple", "unique", "unique_with_counts", "unstack",
        "non_max_suppression_with_scores", "combined_non_max_suppression", "while_loop", "map_fn", "scan", "foldl",
        "foldr", "grad_pass_through", "vectorized_map", "bidirectional_dynamic_rnn", "raw_rnn",
        "static_bidirectional_rnn", "boundaries", "get", "serialize", "deserialize",
    }
)  # fmt: skip
"""Operations that give several tensors, or what they are given."""
_ONE_TENSOR = (
    "tensorflow.math.", "tensorflow.nn.", "tensorflow.linalg.", "tensorflow.random.", "tensorflow.image.",
    "tensorflow.signal.", "tensorflow.strings.", "tensorflow.bitwise.",
)  # fmt: skip
_BACKEND = frozenset(
    {
        "sum", "mean", "max", "min", "prod", "any", "all", "abs", "square", "sqrt", "exp", "log", "equal", "not_equal",
        "greater", "greater_equal", "less", "less_equal", "argmax", "argmin", "cast", "dot", "constant", "zeros",
        "ones",
    }
)  # fmt: skip
"""Functions of ``keras.backend`` and ``keras.ops`` that give one tensor of a symbolic one."""
_ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ARITHMETIC = (ast.Sub, ast.Div, ast.Pow, ast.FloorDiv, ast.MatMult)
_DEEP = 4
_SURE = frozenset({Known.TENSOR, Known.VARIABLE})


@dataclass(frozen=True, slots=True)
class Test:
    """A place where Python asks for the truth of a value."""

    site: Site
    """Where the value stands; its syntax is the value."""
    clause: ast.comprehension | None
    """The clause of a comprehension that asks; None for everything else."""

    @property
    def value(self) -> ast.expr:
        """What is asked."""
        assert isinstance(self.site.syntax, ast.expr)
        return self.site.syntax


def _reaches_through_tf_function(site: Site) -> bool:
    """Whether the method of Keras by which `fit` leads here is a `tf.function` of its own, or in its own class."""
    steps = site.file.project.trail((site.file.key, site.scope.function().id), int(Context.FIT))
    if not steps:
        return False
    name, key, _ = steps[0]
    return site.file.once(f"a tf.function leads to {name} of {key}", lambda: _is_tf_function(site.file, name, key))


def _is_tf_function(file: File, name: str, key: str) -> bool:
    """Whether a method of Keras, as a trail names it, is a `tf.function`."""
    owner, _, method = name.partition(" ")[0].rpartition(".")
    project = file.project
    summary = project.summaries.get(key)
    return summary is None or any(
        function["name"] == method
        and (function["cls"] < 0 or summary["classes"][str(function["cls"])]["name"] == owner.rpartition(".")[2])
        and any(
            public.removesuffix("()") == _TRACER
            for text in function["decorators"]
            for public in project.canonical_names(key, text)
        )
        for function in summary["functions"].values()
    )


def converted_trace_of(site: Site) -> Trace | None:
    """How a place is traced where AutoGraph rewrites it; None where it is not traced, or surely or maybe as it is."""
    if _is_left_alone(site) or (site.target is Target.KERAS3 and site.runs(Context.TRACED | Context.FIT)):
        return None
    return trace_of(site)


def unconverted_trace_of(site: Site) -> Trace | None:
    """How a place is traced where AutoGraph does not rewrite it; None where it is not traced, or is rewritten."""
    if _is_left_alone(site):
        return trace_of(site)
    if site.target is not Target.KERAS3 or not site.runs(Context.TRACED | Context.FIT):
        return None
    return None if _reaches_through_tf_function(site) else fit_trace_of(site)


def _is_left_alone(site: Site) -> bool:
    """Whether the function around a place is traced as it is, by its decorators."""
    function = site.function
    while function is not None:
        for name, node in _decorators(function):
            if name in _NO_CONVERSION:
                return True
            if name == _TRACER:
                return isinstance(node, ast.Call) and any(
                    k.arg == "autograph" and isinstance(k.value, ast.Constant) and k.value.value is False
                    for k in node.keywords
                )
        function = function.function if function.scope.function().is_function else None
    return False


def _decorators(function: FunctionSite) -> Iterator[tuple[str, ast.expr]]:
    for node in function.body.decorators:
        for name in function.file.names(function.scope, path_of(node)):
            yield name.canonical.removesuffix("()"), node


def tests_in(function: FunctionSite) -> list[Test]:
    """Where a function asks for the truth of a value, but for ``assert``: the operands of its tests, in no order."""
    return _asked(function.file)[0].get(function.body.id, [])


def loops_in(function: FunctionSite) -> list[tuple[Site, ast.For | ast.comprehension]]:
    """What the ``for`` loops and comprehensions of a function go through, with each of them."""
    return _asked(function.file)[1].get(function.body.id, [])


_Asked = tuple[dict[int, list[Test]], dict[int, list[tuple[Site, ast.For | ast.comprehension]]]]


def _asked(file: File) -> _Asked:
    return file.once("tests and loops", lambda: _work_out(file))


def _work_out(file: File) -> _Asked:
    inner = {
        id(generator): (scope, position)
        for scope in file.index.comprehensions
        for position, generator in enumerate(getattr(scope.node, "generators", ()))
    }
    tests: dict[int, list[Test]] = {}
    loops: dict[int, list[tuple[Site, ast.For | ast.comprehension]]] = {}
    seen: set[int] = set()
    for block in file.index.blocks:
        function = block.scope.function()
        if block.parent is None or not function.is_function or id(block.node) in seen:
            continue
        if block.kind == "loop" and isinstance(block.node, ast.For | ast.comprehension):
            scope, position = inner.get(id(block.node), (block.scope, 0))
            around = scope.parent if position == 0 and scope is not block.scope else scope
            site = Site(file, block.node.iter, around or scope, block.parent)
            loops.setdefault(function.id, []).append((site, block.node))
        elif block.kind in ("if", "else") and isinstance(block.node, ast.expr):
            clause = _clause(block)
            scope = block.scope if clause is None else inner[id(clause)][0]
            for value in operands(block.node):
                if id(value) not in seen or value is block.node:
                    seen.add(id(value))
                    test = Test(Site(file, value, scope, block.parent), clause)
                    tests.setdefault(function.id, []).append(test)
        seen.add(id(block.node))
    return tests, loops


def _clause(block: Block) -> ast.comprehension | None:
    """The clause of a comprehension whose test a block is for."""
    for level in block.holders():
        if level.kind == "loop":
            return level.node if isinstance(level.node, ast.comprehension) and block.node in level.node.ifs else None
    return None


def _is_asked(file: File, node: ast.AST) -> bool | None:
    """Whether nothing that is asked before keeps a value from being asked; None where it is not asked at all."""
    first = True
    while True:
        around = file.parent_of(node)
        if isinstance(around, ast.BoolOp):
            first = first and around.values[0] is node
            if around.values[-1] is not node:
                return first
        elif not (isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not)):
            tested = getattr(around, "test", None) is node and not isinstance(around, ast.Assert)
            clause = isinstance(around, ast.comprehension) and node in around.ifs
            return first if tested or clause else None
        elif not isinstance(node, ast.BoolOp):
            return first
        node = around


def asked_tensors_in(function: FunctionSite) -> Iterator[tuple[Test, bool]]:
    """The tensors whose truth a function asks for, but for ``assert``; and whether another value is asked before."""
    lines: set[int] = set()
    for test in tests_in(function):
        if test.site.line not in lines and is_tensor(test.site, test.value):
            asked = _is_asked(function.file, test.value)
            if asked is not None:
                lines.add(test.site.line)
                yield test, not asked


def is_conditional(site: Site) -> bool:
    """Whether a Python value may keep a place from being traced; of a tensor's `if` both branches are."""
    return any(
        level.kind in ("case", "except")
        or (
            level.kind in ("if", "else")
            and isinstance(level.node, ast.expr)
            and level.parent is not None
            and not is_tensor(Site(site.file, level.node, level.scope, level.parent), level.node)
        )
        for level in site.block.chain()
    )


def operands(node: ast.expr) -> Iterator[ast.expr]:
    """The values whose truth Python asks for in a test: the operands of ``and``, ``or`` and ``not``."""
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.BoolOp):
            stack.extend(reversed(node.values))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            stack.append(node.operand)
        else:
            yield node


def is_tensor(site: Site, node: ast.expr | None, depth: int = 0) -> bool:
    """Whether an expression surely is one symbolic tensor or variable, and no list or dict of them."""
    if node is None or depth > _DEEP:
        return False
    if isinstance(node, ast.Compare):
        return _is_compared(site, node, depth)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and is_tensor(site, node.operand, depth + 1)
    if site.is_tensor(node) not in _SURE:
        return False
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _ARITHMETIC) or any(
            is_tensor(site, part, depth + 1) for part in (node.left, node.right)
        )
    if isinstance(node, ast.Call):
        return _gives_one(site, node)
    if isinstance(node, ast.Subscript):
        return is_tensor(site, node.value, depth + 1)
    if isinstance(node, ast.Name):
        return _is_local(site, node, depth)
    return isinstance(node, ast.Attribute) and _is_variable(site, node)


def _is_compared(site: Site, node: ast.Compare, depth: int) -> bool:
    """Whether a comparison gives a tensor: an order of lists and numbers would raise, an equality would not."""
    values = (node.left, *node.comparators)
    if site.is_tensor(node) is not Known.TENSOR or any(isinstance(v, ast.Tuple | ast.List | ast.Dict) for v in values):
        return False
    if any(isinstance(value, ast.Constant) and isinstance(value.value, str | bool) for value in values):
        return False
    if all(isinstance(op, _ORDERING) for op in node.ops) and any(site.is_tensor(v) is Known.TENSOR for v in values):
        return True
    return any(is_tensor(site, value, depth + 1) for value in values)


def _gives_one(site: Site, node: ast.Call) -> bool:
    names = [name.canonical for name in site.names_of(node.func)]
    if not names or any(entity.kind != "external" for entity in site.entities(path_of(node.func))):
        return False
    return all(map(_is_operation, names))


def _is_operation(name: str) -> bool:
    module, _, last = name.rpartition(".")
    if "(" in name or last in _SEVERAL:
        return False
    if module in ("keras.backend", "keras.ops"):
        return last in _BACKEND
    return module == "tensorflow" or (name.startswith(_ONE_TENSOR) and name.count(".") == 2)


def _is_local(site: Site, node: ast.Name, depth: int) -> bool:
    """Whether all that a name is given in its function is a tensor, or its annotation says so."""
    function = site.function
    if function is None:
        return False
    if _is_variable(site, node):
        return True
    values = site.file.changes.values(site.scope.function(), node.id)
    if values and node.id not in function.parameters:
        binds = site.scope.function().binds.get(node.id, [])
        return len(binds) <= len(values) and all(is_tensor(site, value, depth + 1) for value in values)
    if not values and node.id in function.parameters:
        binds = function.body.binds.get(node.id, [])
        return node.id not in function.optional_parameters and any(bind.kind == "annotation" for bind in binds)
    return False


def _is_variable(site: Site, node: ast.expr) -> bool:
    names = site.names_of(node)
    path = path_of(node) or ""
    head, _, attribute = path.partition(".")
    cls = site.file.index.class_of_self(site.scope, head) if attribute else None
    values = site.file.attribute_values(cls, attribute) if cls is not None else []
    if attribute and not (values and all(isinstance(value, ast.Call) for value in values)):
        return False  # it may be a list of them
    return bool(names) and all(
        name.canonical in ("tensorflow.Variable()", "tensorflow.get_variable()", "keras.Variable()")
        or (name.canonical.startswith("keras.") and name.canonical.endswith(".add_weight()"))
        for name in names
    )

"""A TF1 program is made one that runs under TF2 with the numbers of TF1: by ``tensorflow.compat.v1``.

The import is renamed, and with it every name that is read through it.
The script that is run switches the behaviour of TF2 off before anything is built, and chooses the Keras that TF1 had.
What `tf.contrib` held is taken from where it is today; see `contrib`.
What a name was is asked of the analysis, and libcst changes the nodes where it stands: all other text stays as it is.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from ..analysis.eras import Era
from ..analysis.index import CallFact
from ..analysis.names import below, canonical
from ..analysis.public_names import has
from ..analysis.ragged import RAGGED, Raggedness
from ..finding import Edit, Target
from ..rule_api.contrib import Successor, code_of, successor, takes, written_name
from .edits import applied
from .programs import Programs, is_of_both, programs_of
from .rewriting import GONE, Binding, Wanted, rewritten

if TYPE_CHECKING:
    from ..rule_api.model import File, Import, Name, Reference, Scope

_V1 = "tensorflow.compat.v1"
_CONTRIB = "tensorflow.contrib"
_KEPT = ("tensorflow.python", "tensorflow.core", "tensorflow.examples", "tensorflow.compat", "tensorflow.tools")
_LEGACY = "TF_USE_LEGACY_KERAS"
_NO_BUILDING = ("tensorflow.app.flags", "tensorflow.flags", "tensorflow.logging", "tensorflow.__version__")
_XAVIER = frozenset({"xavier_initializer", "xavier_initializer_conv2d"})
_NUMPY = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "complex": "complex",
    "object": "object",
    "str": "str",
    "long": "int",
    "unicode": "str",
    "float_": "{}.float64",
    "complex_": "{}.complex128",
    "unicode_": "{}.str_",
    "string_": "{}.bytes_",
    "Inf": "{}.inf",
    "Infinity": "{}.inf",
    "infty": "{}.inf",
    "PINF": "{}.inf",
    "NaN": "{}.nan",
    "NAN": "{}.nan",
    "product": "{}.prod",
    "cumproduct": "{}.cumprod",
    "alltrue": "{}.all",
    "sometrue": "{}.any",
    "row_stack": "{}.vstack",
}
"""What numpy has no longer, and what it was; in braces is numpy."""
_OF_ROWS = {"numpy.array": "rows_array", "numpy.asarray": "rows_asarray"}
"""What is written out for rows of unlike lengths."""
_DOTTED = re.compile(r"\w+(?:\.\w+)*")
_REPAIR = """\
# tf_slim 1.1.0 looks for these names in modules that TensorFlow has taken them out of.
{slim}.layers.normalization_layers = {tf}.layers
{slim}.layers.ops.Tensor, {slim}.layers.ops.IndexedSlices = {tf}.Tensor, {tf}.IndexedSlices
{slim}.layers.array_ops.stack, {slim}.layers.array_ops.unstack = {tf}.stack, {tf}.unstack
{slim}.layers.variable_scope.variable = {tf}.Variable
{slim}.layers.utils.control_flow_ops.case = {tf}.case
{slim}.layers.utils.control_flow_ops.cond = {tf}.cond
{slim}.layers.utils.control_flow_ops.while_loop = {tf}.while_loop
{slim}.layers.utils.control_flow_ops.Assert = {tf}.Assert
"""


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """What a person has to know of a file, or of a place that was left as it is."""

    line: int
    """1-based."""
    message: str


@dataclass(frozen=True, slots=True)
class Converted:
    """A file's new text, and what is to be said of it."""

    text: str
    edits: tuple[Edit, ...] = ()
    notes: tuple[Note, ...] = ()


def converted(file: File) -> Converted:
    """The file as a part of a program that runs under ``compat.v1``; never raises.

    The text is the file's own where nothing is to be changed, or nothing can be for sure.
    """
    before = file.source.text
    if file.key not in file.project.summaries:
        return Converted(before)
    programs = programs_of(file.project)
    why = _why_left(file, programs)
    if why is not None:
        return Converted(before, notes=(Note(1, why),) if why else ())
    try:
        result = _Plan(file, programs).carried_out()
        ast.parse(result.text)
    except (cst.ParserSyntaxError, cst.CSTValidationError, SyntaxError, ValueError, RecursionError) as error:
        return Converted(before, notes=(Note(1, f"this file could not be rewritten: {str(error).splitlines()[0]}"),))
    return result


def _why_left(file: File, programs: Programs) -> str | None:
    """Why a file is not converted: an empty text if there is nothing to say, None if it is converted."""
    imports = [one.absolute for one in file.imports]
    own = any(name.partition(".")[0] == "tensorflow" for name in imports)
    if not programs.reaches_tensorflow(file.key) and not own:
        users = programs.reaching(file.key) - {file.key}
        eras = {Era(file.project.era(one)[0]) for one in users if programs.reaches_tensorflow(one)}
        return None if eras == {Era.TF1} else ""
    era, told = file.project.era(file.key)
    if programs.runs_eagerly(file.key):
        return "this program is eager: compat.v1 is for programs that build a graph" if own else ""
    if told == file.key:
        if era == Era.TF1 or (era == Era.MIXED and is_of_both(programs.names(file.key))):
            return None
        return "some names in this file are TF2's: it is no TF1 program" if era == Era.MIXED else ""
    around = programs.era_around(file.project, file.key)
    if around is Era.TF1:
        return None
    return "nothing in this file tells whether it is written for TF1" if own and around is not Era.TF2 else ""


class _Plan:
    """What is to become of a file, worked out before anything is changed."""

    def __init__(self, file: File, programs: Programs) -> None:
        self._file = file
        self._programs = programs
        self._notes: list[Note] = []
        tree = file.index.module.node
        assert isinstance(tree, ast.Module)
        self._body = tree.body
        self._live_imports = [one for one in file.imports if not file.is_dead(one.block, one.line)]
        self._real = any(
            isinstance(one.statement, ast.Import) and not one.alias.asname and below(one.absolute, "tensorflow.python")
            for one in self._live_imports
        )
        """Whether ``tensorflow`` has to stay the package itself, since a private module is read through it."""
        self._edits: set[Edit] = set()
        """Of expressions."""
        self._used: dict[str, int] = {}
        """Written-out code that is needed, and the first line that needs it."""
        self._added: dict[str, int] = {}
        """The statements that are to be added for what is read, likewise."""
        self._unsolved: set[int] = set()
        """Ids of import statements' aliases through which something is read that has no successor."""
        self._repairs = 0
        """The first line that reads what tf_slim has to be repaired for; 0 for none."""
        self._repair_by = 0
        """The line after an import of such a name, likewise."""
        self._imports = self._planned_imports()
        for reference in file.references:
            if not file.is_dead(reference.block, reference.line):
                self._reference(reference)
        self._repairs = self._repairs or self._repair_by
        if "type(" in file.source.text:
            self._type_tests()
        self._reshapes()
        self._ragged_arrays()
        self._settle_imports()

    # -- names -------------------------------------------------------------------------------------------------------

    def _note(self, line: int, message: str) -> None:
        self._notes.append(Note(line, message))

    def _name_of(self, wanted: str, scope: Scope, line: int) -> str:
        """What the package `wanted` is called at a place; it is imported at the top of the module where it is not."""
        index = self._file.index
        for one in self._live_imports:
            new = self._imports.get(id(one.alias))
            if new is None or new.module or new.name != wanted or one.scope is not index.module:
                continue
            if one.statement not in self._body or (scope.function() is index.module and one.line >= line):
                continue
            found = index.lookup(scope, new.bound)
            if found is not None and found[0] is index.module and all(bind.kind == "import" for bind in found[1]):
                return new.bound
        name = self._free_name("tf" if wanted == _V1 else "tf_slim")
        code = Binding("", wanted, name).code
        self._added[code] = min(line, self._added.get(code, line))
        return name

    def _free_name(self, name: str) -> str:
        """A name that nothing in the file binds but imports of TensorFlow."""
        index = self._file.index
        binds = [bind for one in (*index.scopes, *index.comprehensions) for bind in one.binds.get(name, ())]
        if all(bind.kind == "import" and bind.text in ("tensorflow", _V1, "tf_slim") for bind in binds):
            return name
        return f"{name}_v1" if name == "tf" else f"{name}_"

    def _put(self, node: ast.expr, text: str, new: str) -> None:
        """Let another text stand where a name does."""
        if text != new:
            self._put_between(self._begin(node), self._end(node), re.escape(text), new)

    def _put_between(self, begin: tuple[int, int], end: tuple[int, int], pattern: str, new: str) -> bool:
        """Let another text stand between two places of a line, where a pattern does now; whether it can."""
        line = self._file.lines[begin[0] - 1]
        if begin[0] != end[0] or not re.fullmatch(pattern, line[begin[1] - 1 : end[1] - 1]):
            # It goes over several lines, or is in an f-string, whose parts Python 3.11 has elsewhere.
            self._note(begin[0], "a name in this line could not be rewritten")
            return False
        self._edits.add(Edit(*begin, *end, new))
        return True

    def _begin(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        return node.lineno, self._file.character_at(node.lineno, node.col_offset) + 1

    def _end(self, node: ast.expr) -> tuple[int, int]:
        line = node.end_lineno or node.lineno
        return line, self._file.character_at(line, node.end_col_offset or 0) + 1

    def _reference(self, reference: Reference) -> None:
        path = reference.path or ""
        if not _DOTTED.fullmatch(path) or not isinstance(reference.syntax, ast.Name | ast.Attribute):
            return
        index = self._file.index
        head = path.partition(".")[0]
        found = index.lookup(reference.scope, head)
        if found is None or not found[1] or any(bind.kind != "import" for bind in found[1]):
            if any(one is not None and one.needs_repair for one in map(successor, map(_spelled, reference.names))):
                self._repairs = self._repairs or reference.line  # by a variable, as after `slim = tf.contrib.slim`
            return
        texts = index.resolve(reference.scope, path)
        if any(below(text, _CONTRIB) for text in texts):
            if len(texts) == 1:
                self._contrib(reference, path, texts[0])
            else:
                self._left(reference, path)
        elif len(texts) == 1 and below(texts[0], "numpy"):
            old = texts[0].removeprefix("numpy.").partition(".")[0]
            depth = len(path.split(".")) - len(texts[0].removeprefix("numpy").split(".")) + 1
            if old in _NUMPY and depth == 1:
                node = _shortened(reference.syntax, path.count(".") - 1)
                self._put(node, f"{head}.{old}", _NUMPY[old].format(head))
        elif len(texts) == 1 and below(texts[0], "tensorflow"):
            self._plain(reference, path, texts[0])

    def _plain(self, reference: Reference, path: str, text: str) -> None:
        """A name of TensorFlow itself, that is read through an import which is renamed."""
        if any(below(text, kept) for kept in _KEPT):
            return
        whole = text.removeprefix("tensorflow").lstrip(".")
        if whole and has(f"{_V1}.{whole}", Target.KERAS2) is False:
            self._note(reference.line, f"`{path}` is not in tensorflow.compat.v1")
        if self._real and path.partition(".")[0] == "tensorflow":
            first = _shortened(reference.syntax, path.count("."))  # type: ignore[arg-type]
            self._put(first, "tensorflow", _V1)

    def _contrib(self, reference: Reference, path: str, text: str) -> None:
        """A name below `tf.contrib`."""
        found = successor(text)
        written = path.split(".")
        around = self._file.parent_of(reference.syntax)
        keywords = [one.arg for one in around.keywords] if isinstance(around, ast.Call) else []
        if found is None or not takes(text, keywords):
            self._left(reference, path)
            return
        rest = text.count(".") - 1 - found.parts
        if found.kind == "module" and rest:
            rest -= 1
        if rest >= len(written):
            return  # the import itself names something below it
        node = _shortened(reference.syntax, rest)  # type: ignore[arg-type]
        old = ".".join(written[: len(written) - rest])
        head = self._imports.get(id(self._alias_of(reference, written[0])))
        line = reference.line
        if found.needs_repair or (not found.name and self._reads_repaired(text)):
            self._repairs = self._repairs or line
        if found.kind == "slim" and head is not None and head.name == "tf_slim" and not head.module:
            new = f"{written[0]}.{found.name}".rstrip(".")
            if not found.name.startswith("nets."):
                self._put(node, old, new)
                return
        if old == written[0] and found.kind != "code":
            return  # it is bound by an import of its own
        if found.kind == "tf" and head is not None and head is not GONE:
            whole = [head.module, head.name, *written[1 : len(written) - rest]]
            if ".".join(filter(None, whole)) == f"{_V1}.{found.name}":
                return  # what is imported in its place has the name as well
        new = self._expression(found, reference, text)
        self._put(node, old, new)

    @staticmethod
    def _reads_repaired(text: str) -> bool:
        return any(part in ("batch_norm", "optimize_loss") for part in text.split("."))

    def _expression(self, found: Successor, reference: Reference, text: str) -> str:
        line, scope = reference.line, reference.scope
        if found.kind == "code":
            name = written_name(found.name)
            self._used[name] = min(line, self._used.get(name, line))
            self._name_of(_V1, self._file.index.module, line)
            return name
        if found.kind == "module":
            last = text.split(".")[2 + found.parts :][:1]
            statement = Binding(found.name, *last, *last).code if last else f"import {found.name}"
            self._added[statement] = min(line, self._added.get(statement, line))
            return last[0] if last else found.name
        if found.kind == "tf":
            return f"{self._name_of(_V1, scope, line)}.{found.name}"
        if found.name in _XAVIER and self._is_plain_call(reference):
            return f"{self._name_of(_V1, scope, line)}.glorot_uniform_initializer"
        if found.name.startswith("nets."):
            statement = f"import tf_slim.{found.name}"
            self._added[statement] = min(line, self._added.get(statement, line))
            return f"tf_slim.{found.name}"
        return f"{self._name_of('tf_slim', scope, line)}.{found.name}".rstrip(".")

    def _is_plain_call(self, reference: Reference) -> bool:
        """Whether an initializer is made with nothing but a seed: it is `tf.glorot_uniform_initializer` then."""
        around = self._file.parent_of(reference.syntax)
        return (
            isinstance(around, ast.Call)
            and around.func is reference.syntax
            and not around.args
            and all(one.arg == "seed" for one in around.keywords)
        )

    def _left(self, reference: Reference, path: str) -> None:
        alias = self._alias_of(reference, path.partition(".")[0])
        texts = self._texts(reference)
        if alias is not None and "." in path and len(texts) == 1 and path.partition(".")[0] != "tensorflow":
            # It fails where it is reached, and not the whole program where contrib would be imported.
            if below(texts[0], _CONTRIB) and not path.endswith(texts[0].removeprefix("tensorflow")):
                tf = self._name_of(_V1, reference.scope, reference.line)
                assert isinstance(reference.syntax, ast.Attribute)
                self._put(reference.syntax, path, tf + texts[0].removeprefix("tensorflow"))
        elif alias is not None:
            self._unsolved.add(id(alias))
        if path.partition(".")[0] != path or reference.called:
            self._note(reference.line, f"`{path}` has no successor in TF2: it is left")
        else:
            self._note(reference.line, f"`{path}` is handed on here: what is read of it is not known")

    def _alias_of(self, reference: Reference, head: str) -> ast.alias | None:
        """The import that binds the first name of a reference."""
        found = self._file.index.lookup(reference.scope, head)
        for one in self._live_imports if found is not None else ():
            if found is not None and one.scope is found[0] and one.bound == head:
                return one.alias
        return None

    def _type_tests(self) -> None:
        """``type(x) is tf.Tensor``: the tensors of a graph are of a class below it today."""
        references = {id(one.syntax): one for one in self._file.references}
        for node in ast.walk(self._file.index.module.node):
            if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.left, ast.Call)):
                continue
            call, kind = node.left, references.get(id(node.comparators[0]))
            function = references.get(id(call.func))
            if kind is None or function is None or len(call.args) != 1 or call.keywords:
                continue
            texts = self._file.index.resolve(kind.scope, kind.path or "")
            if [canonical(text) for text in texts] != ["tensorflow.Tensor"]:
                continue
            if self._file.index.resolve(function.scope, "type") != ("builtins.type",) or function.path != "type":
                continue
            if not isinstance(node.ops[0], ast.Is | ast.Eq | ast.IsNot | ast.NotEq):
                continue
            inverted = isinstance(node.ops[0], ast.IsNot | ast.NotEq)
            end = self._end(node.comparators[0])
            between = self._end(call.args[0]), self._begin(node.comparators[0])
            if self._put_between(*between, r"\s*,?\s*\)\s*(==|!=|is(\s+not)?)\s*", ", "):
                self._put(call.func, "type", "not isinstance" if inverted else "isinstance")
                self._put_between(end, end, "", ")")

    def _reshapes(self) -> None:
        """``np.reshape(x, newshape=...)``: numpy has that keyword no longer, and every numpy takes it by position."""
        for call in self._file.calls if "newshape" in self._file.source.text else ():
            texts = self._file.index.resolve(call.scope, call.path) if call.path else ()
            node = call.syntax
            if texts != ("numpy.reshape",) or not isinstance(node, ast.Call) or len(node.args) != 1:
                continue
            if node.keywords and node.keywords[0].arg == "newshape" and not isinstance(node.args[0], ast.Starred):
                keyword = node.keywords[0]
                self._put_between(self._begin(keyword), self._begin(keyword.value), r"newshape\s*=\s*", "")

    def _ragged_arrays(self) -> None:
        """``np.array(rows)``: of rows of unlike lengths it was an array of objects, and it raises since numpy 1.24."""
        rows = Raggedness(self._is_given_ragged, self._appended)
        for call in self._file.calls:
            node = call.syntax
            if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or not call.path:
                continue
            helper = _OF_ROWS.get(next(iter(self._file.index.resolve(call.scope, call.path)), ""))
            if helper and rows.holds(node.args[0], call.scope):
                self._used[helper] = min(call.line, self._used.get(helper, call.line))
                self._put(node.func, call.path, helper)

    def _is_given_ragged(self, function: Scope, parameter: str) -> bool:
        return function.is_function and RAGGED in self._file.project.arguments((self._file.key, function.id), parameter)

    @cached_property
    def _appending(self) -> dict[str, list[CallFact]]:
        """The calls of methods ``append``, by how they are written."""
        found = defaultdict(list)
        for call in self._file.index.calls:
            if call.path and call.path.endswith(".append"):
                found[call.path].append(call)
        return found

    def _appended(self, owner: Scope, name: str) -> Iterator[ast.expr]:
        for call in self._appending.get(f"{name}.append", ()):
            if call.scope.function() is owner.function() and len(call.node.args) == 1:
                yield call.node.args[0]

    # -- imports -----------------------------------------------------------------------------------------------------

    def _planned_imports(self) -> dict[int, Binding]:
        """What becomes of each imported name of TensorFlow, by the id of its alias; the others stay."""
        found: dict[int, Binding] = {}
        for one in self._live_imports:
            new = self._planned(one)
            if new is not None:
                found[id(one.alias)] = new
        return found

    def _planned(self, one: Import) -> Binding | None:
        absolute, bound = one.absolute, one.bound
        if not below(absolute, "tensorflow"):
            return None
        if below(absolute, "tensorflow.examples"):
            self._note(one.line, f"`{absolute}` is gone from TensorFlow, and nothing stands for it: it is left")
        if any(below(absolute, kept) for kept in _KEPT):
            return None
        is_from = isinstance(one.statement, ast.ImportFrom)
        if below(absolute, _CONTRIB):
            return self._planned_contrib(one, absolute, bound)
        whole = absolute.removeprefix("tensorflow").lstrip(".")
        if not whole or (not is_from and one.alias.asname is None):
            return None if self._real else Binding("", _V1, bound)
        if below(whole, "keras") and not is_from:
            return Binding("", f"{_V1}.{whole}", bound)
        parent, _, last = whole.rpartition(".")
        if parent == "app" and last == "flags":
            parent = ""
        if not one.is_star and has(f"{_V1}.{whole}", Target.KERAS2) is False:
            self._note(one.line, f"`{absolute}` is not in {_V1}")
        return Binding(f"{_V1}.{parent}".rstrip("."), last, "" if one.is_star else bound)

    def _planned_contrib(self, one: Import, absolute: str, bound: str) -> Binding | None:
        if one.is_star:
            self._note(one.line, f"`from {absolute.removesuffix('.*')} import *` is left: what it gives is not known")
            return None
        if isinstance(one.statement, ast.Import) and one.alias.asname is None:
            return None  # it binds `tensorflow`; see `_settle_imports`
        found = successor(absolute)
        rest = absolute.count(".") - 1 - found.parts if found is not None else 0
        if found is None or found.kind == "code" or rest > (found.kind == "module"):
            return None
        if found.kind == "module":
            return Binding(found.name, absolute.rpartition(".")[2], bound) if rest else Binding("", found.name, bound)
        if found.needs_repair:
            self._repair_by = one.line + 1
        if found.kind == "slim" and not found.name:
            return Binding("", "tf_slim", bound)
        base = _V1 if found.kind == "tf" else "tf_slim"
        parent, _, last = found.name.rpartition(".")
        return Binding(f"{base}.{parent}".rstrip("."), last, bound)

    def _settle_imports(self) -> None:
        """Imports of contrib that nothing needs any longer go; where something is left, they stay."""
        reads = {id(one.syntax): one for one in self._file.references}
        for one in self._live_imports:
            absolute, bound = one.absolute, one.bound
            if not below(absolute, _CONTRIB) or one.is_star or id(one.alias) in self._imports:
                continue
            is_top = isinstance(one.statement, ast.Import) and one.alias.asname is None
            if id(one.alias) in self._unsolved or (not is_top and self._is_read_elsewhere(one, bound)):
                self._note(one.line, f"`{absolute}` has no successor as a whole: this import is left")
                continue
            others = [
                ref
                for ref in reads.values()
                if (ref.path or "").partition(".")[0] == bound and self._alias_of(ref, bound) is not None
            ]
            plain = any(not below(text, _CONTRIB) for ref in others for text in self._texts(ref)) and is_top
            self._imports[id(one.alias)] = Binding("", _V1, bound) if plain else GONE

    def _texts(self, reference: Reference) -> Sequence[str]:
        return self._file.index.resolve(reference.scope, reference.path or "")

    def _is_read_elsewhere(self, one: Import, bound: str) -> bool:
        file = self._file
        return one.scope is file.index.module and file.project.is_read_elsewhere(file.key, bound)

    # -- the script that is run --------------------------------------------------------------------------------------

    def _is_entry(self) -> bool:
        """Whether the file is run and not imported: by its name or place, or by what it does at its top."""
        file, index = self._file, self._file.index
        if file.source.notebook is not None or file.key.rpartition("/")[2] == "__main__.py":
            return True
        if any(_asks_for_main(block.node) for block in index.blocks if block.scope is index.module):
            return True
        imported = bool(self._programs.importers(file.key))
        if file.is_test and not imported:
            return file.key.rpartition("/")[2] not in ("__init__.py", "conftest.py")
        statements = {id(one.value) for one in self._body if isinstance(one, ast.Expr)}
        for call in file.calls:
            if call.scope.function() is not index.module:
                continue
            texts = index.resolve(call.scope, call.path) if call.path else ()
            if "tensorflow.app.run" in map(canonical, texts):
                return True
            if id(call.syntax) in statements and any(text.startswith("@") for text in texts):
                return True  # it calls a function of its own for what that does
            if not imported and any(self._builds(text) for text in texts):
                return True
        return False

    def _builds(self, text: str) -> bool:
        """Whether what is called may build a part of a graph: it is TensorFlow's, or the project's own."""
        if text.startswith("tensorflow"):
            return not any(below(canonical(text), quiet) for quiet in _NO_BUILDING)
        return any(entity.kind in ("function", "class", "instance") for entity in self._file.resolve(text))

    def _reaching_tensorflow(self, own_only: bool = False) -> Iterator[int]:
        """The places of the statements at the top of the module whose imports reach TensorFlow."""
        file = self._file
        for at, statement in enumerate(self._body):
            for one in file.imports:
                if (
                    not statement.lineno <= one.line <= (statement.end_lineno or 0)
                    or one.scope is not file.index.module
                ):
                    continue
                ours = [key for key in self._modules_of(one) if self._programs.reaches_tensorflow(key)]
                library = one.absolute.partition(".")[0] in ("tensorflow", "keras", "tf_keras", "tf_slim")
                if ours or (library and not own_only):
                    yield at
                    break

    def _modules_of(self, one: Import) -> Iterator[str]:
        """The files of the project that an import runs."""
        yield from self._programs.imported_by(self._file.key, one.absolute)

    # -- carrying it out ---------------------------------------------------------------------------------------------

    def carried_out(self) -> Converted:
        """The new text."""
        wanted = Wanted(self._imports, self._edits)
        if self._is_entry() and self._programs.reaches_tensorflow(self._file.key):
            self._switch(wanted.before, wanted.after)
        self._add(wanted.before)
        edits = rewritten(self._file, wanted)
        text = applied(self._file.source.text, edits)
        if "tf_slim" in text and "tf_slim" not in self._file.source.text:
            self._note(1, "tf_slim stands for what tf.contrib held: tf-slim belongs into the requirements")
        return Converted(text, edits, tuple(sorted(set(self._notes))))

    def _first_tensorflow(self) -> tuple[int, str] | None:
        """Where the module imports TensorFlow for sure, and as what."""
        for at, statement in enumerate(self._body):
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    new = self._imports.get(id(alias))
                    if new is not None and new.name == _V1 and not new.module:
                        return at, new.bound
        return None

    def _switch(self, before: dict[int, list[str]], after: dict[int, list[str]]) -> None:
        """Choose the Keras and switch the behaviour of TF2 off, where this file is run."""
        file = self._file
        reached = next(self._reaching_tensorflow(), len(self._body))
        if self._programs.needs_keras2(file.key) and _LEGACY not in file.source.text:
            has_os = any(
                isinstance(one, ast.Import) and any(a.name == "os" and not a.asname for a in one.names)
                for one in self._body[:reached]
            )
            lines = [] if has_os else ["import os\n"]
            before.setdefault(self._after_head(reached), []).extend([*lines, f'os.environ["{_LEGACY}"] = "1"\n'])
            self._note(1, f"{_LEGACY}=1 takes the Keras that TF1 had: tf-keras belongs into the requirements")
        names = {canonical(name) for name in self._programs.names(file.key)}
        if "tensorflow.disable_v2_behavior" in names:
            return
        found = self._first_tensorflow()
        ours = next(self._reaching_tensorflow(own_only=True), len(self._body))
        used = min((at for at, one in enumerate(self._body) if self._uses_tensorflow(one)), default=len(self._body))
        if found is not None and found[0] < min(ours, used) and not self._goes_on(found[0]):
            after.setdefault(found[0], []).append(f"{found[1]}.disable_v2_behavior()\n")
            return
        name = self._free_name("tf")
        at = self._after_head(min(reached, used))
        code = Binding("", _V1, name).code
        before.setdefault(at, []).extend([f"{code}\n", f"{name}.disable_v2_behavior()\n"])

    def _goes_on(self, at: int) -> bool:
        """Whether another statement follows one in its line."""
        return at + 1 < len(self._body) and self._body[at + 1].lineno == self._body[at].end_lineno

    def _uses_tensorflow(self, statement: ast.stmt) -> bool:
        """Whether a statement that is no import, def or class reads a name of TensorFlow."""
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
            return False
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        return any(
            first <= ref.line <= last and any(below(text, "tensorflow") for text in self._texts(ref))
            for ref in self._file.references
        )

    def _after_head(self, at: int) -> int:
        """The same place, or the first after the docstring and the imports from ``__future__``.

        For a place at the end of the file it is the one after its first imports.
        """
        head = 0
        for statement in self._body:
            is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            is_import = isinstance(statement, ast.Import | ast.ImportFrom) and at == len(self._body)
            if not (is_future or is_text or is_import):
                break
            head += 1
        return head if at == len(self._body) else max(at, head)

    def _add(self, before: dict[int, list[str]]) -> None:
        """Add the imports and the code that rewritten names need."""
        if self._repairs:
            top = self._file.index.module
            slim, tf = self._name_of("tf_slim", top, self._repairs), self._name_of(_V1, top, self._repairs)
        needing = [*self._added.values(), *self._used.values(), *([self._repairs] if self._repairs else [])]
        if not needing:
            return
        places = (at for at, one in enumerate(self._body) if (one.end_lineno or 0) >= min(needing))
        first = next(places, len(self._body))
        found = self._first_tensorflow()
        at = 0
        if self._body and found is not None and found[0] < first:
            at = found[0] + 1
            while at < first and isinstance(self._body[at], ast.Import | ast.ImportFrom):
                at += 1
        else:
            at = max(self._after_head(0), first)
        lines = [f"{code}\n" for code in sorted(self._added)]
        if self._repairs:
            lines.append(_REPAIR.format(slim=slim, tf=tf))
        lines += [f"\n\n{code}" for code in code_of(set(self._used)).values()]
        before.setdefault(at, []).extend(lines)


def _spelled(name: Name) -> str:
    return name.spelled.partition("(")[0]


def _shortened(node: ast.expr, parts: int) -> ast.expr:
    """A dotted name without its last parts."""
    for _ in range(parts):
        assert isinstance(node, ast.Attribute)
        node = node.value
    return node


def _asks_for_main(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and any(
        isinstance(one, ast.Name) and one.id == "__name__" for one in (node.left, *node.comparators)
    )

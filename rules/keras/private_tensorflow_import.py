"""TF308: modules that TensorFlow and Keras keep for themselves."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...linter.rule_api.model import File, Import, Target, all_there
from ...linter.rule_api.rewriting import with_imports
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from ..tf1_api.api_status import has_all
from .private_places import SAME

if TYPE_CHECKING:
    import libcst

PUBLIC = {
    "tensorflow.python.client.device_lib": "tf.config.list_physical_devices",
    "tensorflow.python.data.ops.dataset_ops": "tf.data.Dataset",
    "tensorflow.python.eager.backprop": "tf.GradientTape",
    "tensorflow.python.eager.def_function": "tf.function",
    "tensorflow.python.framework.dtypes": "tf.dtypes",
    "tensorflow.python.framework.errors": "tf.errors",
    "tensorflow.python.framework.load_library": "tf.load_op_library",
    "tensorflow.python.framework.tensor_shape": "tf.TensorShape",
    "tensorflow.python.framework.test_util": "tf.test",
    "tensorflow.python.keras": "tf.keras",
    "tensorflow.python.layers": "tf.keras.layers",
    "tensorflow.python.lib.io.file_io": "tf.io.gfile",
    "tensorflow.python.lib.io.tf_record": "tf.io.TFRecordWriter",
    "tensorflow.python.module.module": "tf.Module",
    "tensorflow.python.ops.linalg_ops": "tf.linalg",
    "tensorflow.python.ops.lookup_ops": "tf.lookup",
    "tensorflow.python.ops.nn": "tf.nn",
    "tensorflow.python.ops.nn_ops": "tf.nn",
    "tensorflow.python.ops.random_ops": "tf.random",
    "tensorflow.python.ops.sparse_ops": "tf.sparse",
    "tensorflow.python.ops.string_ops": "tf.strings",
    "tensorflow.python.ops.tensor_array_ops": "tf.TensorArray",
    "tensorflow.python.ops.variables": "tf.Variable",
    "tensorflow.python.platform.gfile": "tf.io.gfile",
    "tensorflow.python.platform.test": "tf.test",
    "tensorflow.python.platform.tf_logging": "tf.get_logger",
    "tensorflow.python.saved_model": "tf.saved_model",
    "tensorflow.python.training.checkpoint_utils": "tf.train.load_checkpoint",
    "tensorflow.python.training.moving_averages": "tf.train.ExponentialMovingAverage",
    "tensorflow.python.util.nest": "tf.nest",
}
"""The public name of what a private module holds."""
_COPY = "tensorflow.python.keras"
_FOLDERS = {
    "engine": ("layers", "models"), "layers": ("layers",), "optimizer_v2": ("optimizers",), "utils": ("utils",),
}  # fmt: skip
"""Parts of the copy whose modules define what a public module has."""
_OTHERS = tuple(
    f"layers.{name}"
    for name in ("normalization.BatchNormalization", "recurrent.GRU", "recurrent.GRUCell", "recurrent.LSTM",
                 "recurrent.LSTMCell")
)  # fmt: skip
"""Of TF1, where the public name is another class of TF2."""
_UTILITIES = ("tensorflow.python.keras.utils", "tensorflow.python.keras.keras_parameterized",
              "tensorflow.python.keras.testing_utils")  # fmt: skip


class PrivateTensorflowImport(Rule):
    """A module that is private to TensorFlow or Keras is imported.

    ## Why
    Nothing below `tensorflow.python` and `keras.src` is promised: 330 modules and some 5,000 names of TF 1.15 are not
    there any more in TF 2.21, and importing one raises ModuleNotFoundError or ImportError.
    What is still there is told as info, once for each file that is no test.
    `tensorflow.python.keras` is no part of Keras: it is an old copy, whose layers and models are none to `tf.keras`.
    With Keras 3 a model refuses such a layer, and on TF 2.21 the copy's own `fit` raises AttributeError.

    ## Example
    ```python
    from tensorflow.python.keras.layers import Dense
    from tensorflow.python.eager import execution_callbacks
    ```

    ## Fix
    ```python
    from tensorflow.keras.layers import Dense
    ```

    ## Fix safety
    Safe where what is imported is the very object that has a public name, which was compared on TensorFlow 2.21.
    Unsafe where it is of the old copy of Keras, since layers, models and optimizers have to be of one Keras in all
    files; and where it is a whole module, of which other files may read more.
    There is no fix where nothing public is known for a name, nor for `import` without `from`.

    ## Source
    - https://www.tensorflow.org/guide/versions#what_is_covered
    - https://keras.io/guides/migrating_to_keras_3/
    """

    code = "TF308"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL

    def on_file(self, file: File) -> Iterator[Diagnostic]:
        """See `Rule.on_file`."""
        told: set[int] = set()
        there: list[Import] = []
        for statement in file.imports:
            if _root_of(statement.absolute) and id(statement.statement) not in told and not statement.version_checked:
                said = self._import(statement)
                if said is None:
                    there.append(statement)
                else:
                    told.add(id(statement.statement))
                    yield said
        there = [one for one in there if id(one.statement) not in told]
        if there and not file.is_test:
            yield self._still(there)

    def _import(self, statement: Import) -> Diagnostic | None:
        """What an import raises, or what is the matter with what it gives; None where it works."""
        private = statement.absolute.removesuffix(".*")
        root, node = _root_of(private), statement.statement
        instead = _instead(private)
        module = private if isinstance(node, ast.Import) else node.module or ""
        if root == "keras.src" and statement.target is Target.KERAS2:
            return None  # it is Keras 2's, or 3's
        if not _is_there(root, module):
            return self.report(statement, f"Importing `{module}` raises ModuleNotFoundError: it is gone.{instead}")
        if isinstance(node, ast.ImportFrom) and statement.alias.name in _gone(module):
            return self.report(
                statement,
                f"`{statement.alias.name}` is gone from `{module}`: importing it raises ImportError.{instead}",
            )
        is_copy = private == _COPY or private.startswith(f"{_COPY}.")
        if is_copy and not private.startswith(_UTILITIES):
            return self.report(
                statement,
                f"`{private}` is TensorFlow's own old copy of Keras: its `fit` raises AttributeError on TF 2.21, and "
                f"its layers are none to `tf.keras`.{instead}",
                Severity.WARNING,
            )
        return None

    def fix(self, node: libcst.CSTNode, site: Import) -> Replacement | None:
        """Import what is public: only the same objects where the site has one."""
        beside = [one for one in site.file.imports if one.statement is site.statement]
        moved = {one.absolute: _moved(one) for one in beside}
        name, reason = moved[site.absolute]
        chosen = {old: new for old, (new, why) in moved.items() if new and (reason or not why)}
        new = with_imports(node, chosen) if name else None
        if new is None:
            return None
        return Replacement(new, Applicability.UNSAFE if reason else Applicability.SAFE, reason)

    def _still(self, there: list[Import]) -> Diagnostic:
        """Say once for a file what is private and still works."""
        private = there[0].absolute.removesuffix(".*")
        names = {one.absolute for one in there}
        more = f", like {len(names) - 1} more that this file imports" if len(names) > 1 else ""
        whose = "TensorFlow" if private.startswith("tensorflow") else "Keras"
        return self.report(
            there[0],
            f"`{private}` is private to {whose}{more}, and may be gone with any release.{_instead(private)}",
            Severity.INFO,
            consequence=Consequence.LEGACY,
        )


def _moved(site: Import) -> tuple[str, str]:
    """The public name for an imported one, and what a person has to look at then; an empty text for none."""
    private = site.absolute
    below = private.removeprefix("tensorflow.python.")
    if below == private or site.is_star:
        return "", ""
    module, _, name = below.rpartition(".")
    for public, names in SAME.get(module, ()):
        if name in names.split():
            return ".".join(filter(None, ("tensorflow", public, name))), ""
    reads = _reads(site)
    for public, names in SAME.get(below, ()):
        if public and reads and reads <= set(names.split()):
            return f"tensorflow.{public}", "other files may read more of this module, by way of this one"
    new = _of_keras(site) if private.startswith(_COPY) else ""
    return new, "all files of a program have to take layers, models and optimizers from one Keras" if new else ""


def _reads(site: Import) -> frozenset[str]:
    """What the file reads of an imported module: an empty text for the module itself."""
    below = f"{site.absolute}."
    reads = site.file.references_to(lambda names: any(f"{one.spelled}.".startswith(below) for one in names))
    return frozenset(re.split(r"[.(\[]", name.spelled[len(below) :])[0] for read in reads for name in read.names)


def _of_keras(site: Import) -> str:
    """The name below `tf.keras` for one of the old copy."""
    rest = site.absolute.removeprefix(_COPY).removeprefix(".")
    parts = rest.split(".")
    candidates = [rest]
    if len(parts) == 3 and rest not in _OTHERS:
        candidates += [f"{public}.{parts[-1]}" for public in _FOLDERS.get(parts[0], ())]
    for candidate in candidates:
        parent, _, last = f"tensorflow.keras.{candidate}".rstrip(".").rpartition(".")
        if all_there(parent, re.escape(last), site.target) and has_all(site, f"{parent}.{last}"):
            return f"{parent}.{last}"
    return ""


def _root_of(absolute: str) -> str:
    """The private package that a name is below; Estimators have a rule of their own."""
    if absolute.startswith("tensorflow.python.estimator"):
        return ""
    return next((root for root in _roots() if absolute == root or absolute.startswith(f"{root}.")), "")


def _instead(private: str) -> str:
    public = _public(private)
    return f" Use `{public}`." if public else " Use a public name."


def _public(private: str) -> str:
    """The public name for a private one, for its module or for a package around it."""
    parts = private.split(".")
    names = (".".join(parts[:size]) for size in range(len(parts), 2, -1))
    found = next((name for name in names if name in PUBLIC), "")
    public = PUBLIC.get(found, "")
    return public + private[len(found) :] if found == _COPY else public


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_name("private_names.json").read_text(encoding="utf-8"))
    return table


def _roots() -> tuple[str, ...]:
    return "tensorflow.python", "keras.src", "tf_keras.src"


@cache
def _modules(root: str) -> frozenset[str]:
    return frozenset(_table()["modules"][root].split())


def _is_there(root: str, module: str) -> bool:
    return module == root or module[len(root) + 1 :] in _modules(root)


def _gone(module: str) -> frozenset[str]:
    return frozenset(_table()["gone"].get(module, "").split())

"""TF405: tf.contrib, which TF2 does not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...linter.rule_api.contrib import Successor, successor, takes
from ...linter.rule_api.model import Import, Name, Reference, Target
from ...linter.rule_api.rewriting import expression
from ...linter.rule_api.rule import Applicability, Consequence, Diagnostic, Effort, Replacement, Rule, Severity
from .api_status import is_eager, moved, standing

if TYPE_CHECKING:
    import libcst

_ROOTS = ("tensorflow.contrib", "tensorflow.compat.v1.contrib")
WRITTEN_OUT = "code that `--fix --via compat.v1` writes out"
SUCCESSORS = {
    "bayesflow": "tensorflow_probability",
    "checkpoint": "`tf.train`",
    "cluster_resolver": "`tf.distribute.cluster_resolver`",
    "crf": WRITTEN_OUT,
    "cudnn_rnn": "`tf.keras.layers.LSTM` or `GRU`, which use cuDNN by themselves",
    "cudnn_rnn.CudnnCompatibleGRUCell": "`tf.keras.layers.GRU` with `reset_after=True`",
    "cudnn_rnn.CudnnCompatibleLSTMCell": "`tf.keras.layers.LSTM`",
    "cudnn_rnn.CudnnGRU": "`tf.keras.layers.GRU`, one for each of its layers, which use cuDNN by themselves",
    "cudnn_rnn.CudnnLSTM": "`tf.keras.layers.LSTM`, one for each of its layers, which use cuDNN by themselves",
    "data": "`tf.data`",
    "distribute": "`tf.distribute`",
    "distributions": "tensorflow_probability",
    "eager": "`tf` itself, which is eager",
    "eager.Checkpoint": "`tf.train.Checkpoint`",
    "eager.Iterator": "the dataset itself, which can be iterated",
    "eager.Saver": "`tf.train.Checkpoint`",
    "eager.defun": "`tf.function`",
    "eager.metrics": "`tf.keras.metrics`",
    "framework": "tf_slim",
    "gan": "tensorflow_gan",
    "image": "tensorflow_addons (only before TF 2.16)",
    "keras": "`tf.keras`",
    "layers": "tf_slim, or `tf.keras` for new code",
    "learn": "`tf.keras`",
    "legacy_seq2seq": WRITTEN_OUT,
    "lite": "`tf.lite`",
    "lookup": "`tf.lookup`",
    "losses": "tf_slim",
    "metrics": "tf_slim",
    "opt": "tensorflow_addons (only before TF 2.16)",
    "quantize": "tensorflow_model_optimization",
    "rnn": "`tf.keras.layers`, as the recipe `rnn` has it (`tf.compat.v1.nn.rnn_cell` needs Keras 2)",
    "saved_model": "`tf.saved_model`",
    "seq2seq": WRITTEN_OUT,
    "slim": "tf_slim",
    "summary": "`tf.summary`",
    "tensorrt": "`tf.experimental.tensorrt`",
    "tpu": "`tf.tpu` and `tf.distribute.TPUStrategy`",
    "training.HParams": "`tensorboard.plugins.hparams`",
}
_AS_A_WHOLE = (".slim", ".layers", ".losses", ".metrics")
"""Modules of which nearly all lives on in one place."""
_SHOWN = 3
"""Names of a module that are told one by one."""
_BESIDE_CODE = {
    "learn.preprocessing.VocabularyProcessor": ", and that reads what it saved; `tf.keras.layers.TextVectorization` "
    "does neither, and gives words other numbers"
}

_REASON = "tf-slim belongs into the requirements, and its layers need a graph, or the shim"


class Contrib(Rule):
    """The module `tf.contrib` does not exist in TF2.

    ## Why
    TensorFlow 2.0 dropped contrib without a compat.v1 copy: an import of it, or an attribute of `tf.contrib`, raises at
    once.
    What was maintained moved to packages of its own, such as tf_slim; the rest has no successor.
    The upgrade script says nothing about `from tensorflow.contrib import slim` (tensorflow issue 44103).
    One finding stands at each import statement and at each direct use, none at the uses of what was imported.
    An import whose failure the program handles is info.

    ## Example
    ```python
    from tensorflow.contrib import slim

    def net(images):
        return slim.conv2d(images, 8, [3, 3], scope="conv")
    ```

    ## Fix
    ```python
    import tf_slim as slim

    def net(images):
        return slim.conv2d(images, 8, [3, 3], scope="conv")
    ```

    ## Fix safety
    Safe, and offered where `tf.contrib` is read itself: what stands there today is the same function under another
    name, or computes the same, eagerly as well.
    Unsafe for an import of slim or of contrib's layers with Keras 2, where tf_slim has all that is read of it.
    What needs a graph, Keras 2 or another package has no fix: `--via compat.v1` takes it from there.

    ## Source
    https://www.tensorflow.org/guide/migrate/migrate_tf2
    https://github.com/tensorflow/tensorflow/issues/44103
    """

    code = "TF405"
    severity = Severity.ERROR
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF406",)
    beside = ("TF903",)  # the names behind the star are unknown, wherever they come from then
    imports = references = (
        "tensorflow.contrib", "tensorflow.contrib.*", "slim", "slim.*",
        "tensorflow.nn.rnn_cell", "tensorflow.nn.rnn_cell.*", "keras", "keras.*",
    )  # fmt: skip

    def on_import(self, statement: Import) -> Iterator[Diagnostic]:
        """See `Rule.on_import`."""
        module = _module(statement.names)
        first = next(
            (
                other
                for other in statement.file.imports
                if other.statement is statement.statement and _module(other.names)
            ),
            statement,
        )
        if module is None or first.alias is not statement.alias:
            return
        if statement.version_checked:
            yield self.report(
                statement,
                f"`tensorflow.contrib{module}` cannot be imported on TF2; the program handles that, so this branch is "
                "for TF1 alone.",
                Severity.INFO,
                consequence=Consequence.LEGACY,
            )
        else:
            yield self.report(
                statement,
                f"Importing `tensorflow.contrib{module}` raises ModuleNotFoundError on TF2"
                f"{_successor(module) if module in _AS_A_WHOLE else _successors(statement, module)}.",
            )

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """See `Rule.on_reference`."""
        module = _module(reference.names)
        if module is None or _module(reference.origin) is not None or reference.version_checked:
            return
        yield self.report(
            reference, f"`tf.contrib{module}` raises AttributeError on TF2, which has no contrib{_successor(module)}."
        )

    def fixed_part(self, site: Import | Reference) -> ast.expr | ast.stmt | None:
        """The import, or the name."""
        return site.statement if isinstance(site, Import) else super().fixed_part(site)

    def fix(self, node: libcst.CSTNode, site: Import | Reference) -> Replacement | None:
        """Import tf_slim, or read what stands for a name today, where that computes eagerly what the name did."""
        import libcst

        if isinstance(site, Import):
            if not isinstance(node, libcst.SimpleStatementLine) or not _is_slim(site):
                return None
            alias = libcst.ImportAlias(libcst.Name("tf_slim"), libcst.AsName(libcst.Name(site.bound)))
            return Replacement(node.with_changes(body=[libcst.Import([alias])]), Applicability.UNSAFE, _REASON)
        name = _today(site) if len(site.names) == 1 else ""
        written = site.importable(name) if name else None
        return None if written is None else Replacement(expression(written[0]), imports=written[1])


def _successors(statement: Import, module: str) -> str:
    """What is said of a module, or of several in one statement: what stands for each name that is read of them."""
    of_statement = [one for one in statement.file.imports if one.statement is statement.statement]
    bound = {one.bound: _module(one.names) or "" for one in of_statement}
    read: dict[str, None] = {}
    for reference in statement.file.references:
        own = bound.get((reference.path or "").partition(".")[0])
        path = None if own is None else _module(reference.names)
        if own is not None and path is not None and len(path) > len(own):
            read[path[1:]] = None
    told, without = [], []
    for path in read:
        found = successor(f"{_ROOTS[0]}.{path}")
        instead = "" if found is None else _named(found, statement.target)
        if instead:
            told.append(f"`{path}` is {instead}")
        else:
            without.append(f"`{path}`")
    if not told:
        return _successor(module)
    lost = f"; nothing stands for {_some(without)}" if without else ""
    return f"; of what is read here, {_some(told)}{lost}"


def _named(found: Successor, target: Target) -> str:
    """What stands for a name, by its name of today; empty where only a module does."""
    if found.kind == "code":
        return f"written out by `--fix --via compat.v1`{_BESIDE_CODE.get(found.name, '')}"
    if found.kind == "module" or not found.name:
        return ""
    if found.kind == "slim":
        return f"now `tf_slim.{found.name}`"
    name = f"tensorflow.{found.name}"
    for keras in dict.fromkeys((target, Target.KERAS2)):
        new = name if standing(name, keras).status == "ok" else moved(name, keras)
        if new:
            return f"now `tf{new[10:]}`{'' if keras is target else ', which needs Keras 2'}"
    return ""


def _some(texts: Sequence[str]) -> str:
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _is_slim(site: Import) -> bool:
    """Whether an import binds a module that tf_slim stands for as a whole, for all that the file reads of it."""
    file, module = site.file, site.spelled
    if site.target is not Target.KERAS2 or len(site.statement.names) != 1 or site.bound == "tensorflow":
        return False
    if module not in ("tensorflow.contrib.slim", "tensorflow.contrib.layers") or site.is_star:
        return False
    if site.scope is file.index.module and file.project.is_read_elsewhere(file.key, site.bound):
        return False
    for reference in file.references:
        path = reference.path or ""
        if path.partition(".")[0] != site.bound or not any(name.spelled.startswith(module) for name in reference.names):
            continue
        found = successor(reference.spelled) if len(reference.names) == 1 and "." in path else None
        if found is None or found.kind != "slim" or found.needs_repair or found.name != path.split(".")[1]:
            return False
    return True


def _today(site: Reference) -> str:
    """The absolute name of what stands for a name of contrib; empty where nothing does that works eagerly."""
    around = site.file.parent_of(site.syntax)
    keywords = [one.arg for one in around.keywords] if isinstance(around, ast.Call) else []
    spelled = site.spelled.replace(_ROOTS[1], _ROOTS[0])
    found = successor(spelled)
    if found is None or found.kind != "tf" or not takes(spelled, keywords):
        return ""
    parts = spelled.split(".")[2 + found.parts :]
    new = ".".join(["tensorflow", found.name, *parts])
    name = moved(new, site.target) or (new if standing(new, site.target).status == "ok" else "")
    return name if is_eager(name) else ""


def _module(names: Sequence[Name]) -> str | None:
    """What follows ``contrib`` where every meaning lies below it; None where one does not."""
    found = ""
    for name in names:
        root = next((r for r in _ROOTS if name.spelled == r or name.spelled.startswith(f"{r}.")), None)
        if root is None:
            return None
        found = found or name.spelled[len(root) :]
    return re.split(r"[(\[*]", found)[0].rstrip(".") if names else None


def _successor(module: str) -> str:
    """What is said of a name: what stands for itself where that is known, and else what became of its module."""
    path = module[1:]
    found = successor(f"{_ROOTS[0]}.{path}") if path else None
    if found is not None and found.kind == "code":
        also = _BESIDE_CODE.get(found.name, "")
        return f"; `--fix --via compat.v1` writes out what it did{also}"
    became = instead(path)
    if "." in path and became == WRITTEN_OUT:
        return "; it has no successor"
    if path.startswith("learn."):
        return f"; {became} does such things in its own way"
    broken = "; tf_slim's raises until `--fix --via compat.v1` repairs it" if found and found.needs_repair else ""
    return f"; it lives on in {became}{broken}" if became else "; most of it has no successor"


def instead(path: str) -> str:
    """What became of a name below `tf.contrib`, or of its module, as a message has it; empty where nothing did."""
    return SUCCESSORS.get(path) or SUCCESSORS.get(path.partition(".")[0], "")

"""The code of the official migration guides gives the findings that a person gives it.

The guides are translated texts with plain Python between the paragraphs; each becomes one module, its cells in order.
They are not part of this project: without them beside the checkout these tests are skipped.
"""

from __future__ import annotations

import ast
import codeop
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from migrate_lint.linter.finding import Severity, Target

from .pages import HERE, find_all

if TYPE_CHECKING:
    from migrate_lint.linter.finding import Finding

GUIDES = HERE.parents[1].parent / "shared" / "guides"
LONGEST_CELL = 150
STATEMENTS = (
    *(ast.Import, ast.ImportFrom, ast.Assign, ast.AugAssign, ast.Assert),
    *(ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.With, ast.Try),
)

SHIM = "@tf.compat.v1.keras.utils.track_tf1_style_variables"
TOOL = "random_tool = v1.keras.utils.DeterministicRandomTestTool()"
COUNTING_TOOL = "random_tool = v1.keras.utils.DeterministicRandomTestTool(mode='num_random_ops')"


@dataclass(frozen=True, slots=True)
class Expected:
    """What one guide trips; a line is its text, a group of codes is written as its first.

    `errors` are all findings of severity error but those of TF409 and TF904.
    """

    errors: frozenset[tuple[str, str]]
    keras3_errors: frozenset[tuple[str, str]]
    estimator: frozenset[str] = frozenset()
    present: frozenset[tuple[str, str]] = frozenset()
    """Findings of any severity."""
    silent: frozenset[str] = frozenset()
    conflict: bool = True
    """Whether the guide needs Keras 2, so that keras3 as the target is a conflict: TF904, once."""

    def errors_of(self, target: Target) -> frozenset[tuple[str, str]]:
        return self.errors | self.keras3_errors if target is Target.KERAS3 else self.errors


TRAINING_PIPELINE = Expected(
    errors=frozenset(
        {
            ("TF205", "self.logs['layer_out'].append(layer_wise_out)"),
            ("TF205", "self.logs['lr'].append(self.optimizer.learning_rate(step).numpy())"),
            ("TF205", "self.logs['loss'].append(loss.numpy())"),
            ("TF205", "self.logs['grads'].append(grads)"),
            ("TF205", "self.logs['weights'].append(self.trainable_weights)"),
        }
    ),
    keras3_errors=frozenset(
        {
            ("TF410", "out_1 = tf.compat.v1.layers.dense(features, units=params['layer_1_size'])"),
            ("TF410", "out_2 = tf.compat.v1.layers.dense(out_1, units=params['layer_2_size'])"),
            ("TF410", "logits = tf.compat.v1.layers.dense(out_2, units=params['num_classes'])"),
            ("TF410", COUNTING_TOOL),
        }
    ),
    estimator=frozenset(
        {
            "if mode == tf.estimator.ModeKeys.PREDICT:",
            "if mode == tf.estimator.ModeKeys.EVAL:",
            "assert mode == tf.estimator.ModeKeys.TRAIN",
            "return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)",
            "spec = model_tf1.model_fn(inputs, labels, tf.estimator.ModeKeys.TRAIN, params)",
            "spec = self.model_tf1.model_fn(inputs, labels, tf.estimator.ModeKeys.TRAIN, params)",
        }
    ),
    present=frozenset(
        {
            ("TF201", "print(num)"),
            # the guide calls train_step itself, eagerly: only under fit do these raise
            ("TF208", "step = self.optimizer.iterations.numpy()"),
            ("TF208", "self.logs['lr'].append(self.optimizer.learning_rate(step).numpy())"),
            ("TF208", "self.logs['loss'].append(loss.numpy())"),
        }
    ),
    silent=frozenset({"TF103", "TF106", "TF402", "TF403"}),
)

EQUIVALENCE = Expected(
    errors=frozenset(
        {
            ("TF101", "var = tf.Variable(initial_value=2.0)"),
            ("TF101", "bias = tf.Variable(initial_value=2.0, name='bias')"),
        }
    ),
    keras3_errors=frozenset(
        {
            ("TF109", "self.var = tf.Variable(initial_value=2.0)"),
            ("TF109", "self.bias = tf.Variable(initial_value=2.0, name='bias')"),
            ("TF410", SHIM),
            ("TF410", TOOL),
            ("TF410", COUNTING_TOOL),
        }
    ),
    silent=frozenset({"TF104", "TF106", "TF110", "TF201", "TF205", "TF402", "TF403"}),
)

FAULT_TOLERANCE = Expected(
    errors=frozenset({("TF502", "tf.train.load_checkpoint(save_path)")}),
    keras3_errors=frozenset(),
    estimator=frozenset(
        {
            "config = tf1.estimator.RunConfig(save_summary_steps=1,",
            "classifier = tf1.estimator.DNNClassifier(",
            "train_input_fn = tf1.estimator.inputs.numpy_input_fn(",
        }
    ),
    present=frozenset(
        {
            ("TF501", "config = tf1.estimator.RunConfig(save_summary_steps=1,"),
            ("TF507", "save_path = checkpoint_manager.save()"),
            ("TF512", "backup_restore_callback = tf.keras.callbacks.BackupAndRestore("),
            ("TF512", "checkpoint_manager = tf.train.CheckpointManager("),
        }
    ),
    silent=frozenset({"TF101", "TF201", "TF205", "TF208", "TF410", "TF506"}),
    conflict=False,
)

EXPECTED = {
    "000": TRAINING_PIPELINE,
    "001": TRAINING_PIPELINE,
    "002": EQUIVALENCE,
    "003": replace(
        TRAINING_PIPELINE,
        keras3_errors=TRAINING_PIPELINE.keras3_errors
        | {("TF313", "self.optimizer = tf.keras.optimizers.legacy.SGD(learning_rate_fn)")},
    ),
    "004": FAULT_TOLERANCE,
}

GROUPS = {"TF203": "TF208", "TF209": "TF205"}
"""Two rules that may each claim the same line of a guide, the catalogue's "TF208/TF203" and "TF205/TF209"."""


def cells(text: str) -> Iterator[str]:
    """Yield the top-level statements that stand between the paragraphs of `text`, without notebook output."""
    lines = text.split("\n")
    start = 0
    while start < len(lines):
        end = _end_of_statement(lines, start)
        if end is None:
            start += 1
            continue
        source = "\n".join(lines[start:end]).rstrip()
        if _is_program(ast.parse(source).body[0]):
            yield source
        start = end


def _end_of_statement(lines: list[str], start: int) -> int | None:
    if not lines[start].isascii() or re.match(r"[A-Za-z_@(\[{]", lines[start]) is None:
        return None
    end = None
    for stop in range(start + 1, min(len(lines), start + LONGEST_CELL) + 1):
        source = "\n".join([*lines[start:stop], ""])
        try:
            statements = ast.parse(source).body
        except SyntaxError:
            if end is None and not _is_unfinished(source):
                return None
            if end is not None and re.match(r"(?!else|elif|except|finally)\S", lines[stop - 1]):
                return end
            continue
        if len(statements) > 1:
            return end
        end = stop
    return end


def _is_unfinished(source: str) -> bool:
    try:
        return codeop.compile_command(source, symbol="exec") is None
    except SyntaxError:
        return False


def _is_program(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=func)):
            return ast.unparse(func) not in {"Tensor", "array"}  # what a notebook printed
        case _:
            return isinstance(statement, STATEMENTS)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_cells_are_told_from_prose_and_output() -> None:
    """Prose that happens to parse, printed values and shell lines are left out; a cell keeps its blank lines."""
    text = "\n".join(
        [
            *("pdb", "पीडीबी", "0", "RuntimeError:Interruption", "!pip install x", "tf.print"),
            *("class A:", "  def f(self):", "    self.x = {", "        'a': 1}", "", "  def g(self):", "    pass", ""),
            *("Some prose, in words.", "  1. an item", "f(1,", "  2)", "[[-0.3]", " [-0.1]]", '  warnings.warn("x")'),
            *("@tf.function", "def h(n):", "  return n", 'Tensor("add:0", shape=(1,))', "Loss: 1.2"),
            *("if a:", "  b()", "else:", "  c()"),
        ]
    )

    assert [
        "class A:\n  def f(self):\n    self.x = {\n        'a': 1}\n\n  def g(self):\n    pass",
        "f(1,\n  2)",
        "@tf.function\ndef h(n):\n  return n",
        "if a:\n  b()\nelse:\n  c()",
    ] == list(cells(text))


@pytest.fixture(params=sorted(EXPECTED))
def guide(request: pytest.FixtureRequest) -> tuple[Expected, str]:
    """The expectations of one guide, and its code."""
    number: str = request.param
    path = next(GUIDES.glob(f"{number}_*.txt"), None)
    if path is None:
        pytest.skip("the official guides' texts are not beside this checkout")
    return EXPECTED[number], "\n".join([*cells(path.read_text("utf-8")), ""])


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("target", list(Target))
def test_guide(guide: tuple[Expected, str], target: Target, tmp_path: Path) -> None:
    """Exactly the hazards that the catalogue names for this guide are errors, and its silences hold."""
    expected, code = guide
    lines = code.split("\n")

    def line(finding: Finding) -> str:
        return lines[finding.line - 1].strip()

    found = find_all([("guide.py", code)], tmp_path, target)
    seen = {(GROUPS.get(item.code, item.code), line(item)) for item in found}
    errors = {
        (GROUPS.get(item.code, item.code), line(item))
        for item in found
        if item.severity is Severity.ERROR and item.code not in {"TF409", "TF904"}
    }

    assert expected.errors_of(target) == errors
    assert expected.estimator == {line(item) for item in found if item.code == "TF409"}
    assert expected.present <= seen
    assert [] == [(item.code, line(item)) for item in found if item.code in expected.silent]
    assert [] == [line(item) for item in found if item.code == "TF401" and item.severity is not Severity.INFO]
    assert (expected.conflict and target is Target.KERAS3) == [item.code for item in found].count("TF904")

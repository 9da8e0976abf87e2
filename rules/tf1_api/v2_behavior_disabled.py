"""TF414: v2 behaviour is switched off, or TensorFlow 1 asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...linter.rule_api.model import Call, literal_string
from ...linter.rule_api.rule import Consequence, Diagnostic, Rule, Severity
from .api_status import is_plain

_EFFECTS = {
    "disable_v2_behavior": "the whole program runs as TF1, without eager execution",
    "disable_eager_execution": "the whole program builds graphs and needs sessions",
    "disable_resource_variables": "variables become reference variables, whose reads and writes race",
    "disable_tensor_equality": "`==` compares tensors by identity again",
    "disable_v2_tensorshape": "dimensions of a shape are `Dimension` objects again",
    "disable_control_flow_v2": "loops and conditions use TF1's control flow, which `tf.function` does not support well",
}
_MAGIC = "get_ipython().run_line_magic"
_SHELL = ("get_ipython().system", "get_ipython().getoutput")
_INSTALLERS = re.compile(r"(?:.*/)?(?:pip[\d.]*|conda|mamba)")
_TENSORFLOW_1 = re.compile(
    r"(?<![\w./-])tensorflow(?:[-_](?:gpu|cpu|mkl))?(?:[<>=!~]+\s*[\w.*]+,)*\s*"
    r"(?:(?:={1,3}|~=|<=?)\s*1\b[\w.*]*|<\s*2(?:\.0)*(?![\w.]))"
)


class V2BehaviorDisabled(Rule):
    """A behaviour of TF2 is switched off for the whole process, or a notebook asks for TensorFlow 1.

    ## Why
    `disable_v2_behavior` and its parts keep a TF1 program alive; they do not migrate it.
    They hold for the process, so Keras, and every library that is written for TF2, runs in a mode that it is not
    tested in: with Keras 3 `fit` then fails, since "tf.data.Dataset only supports Python-style iteration in eager mode
    or within tf.function."
    Where a file switches eager execution off, the findings about sessions, placeholders and collections are info.
    Tests, which compare with the old behaviour, are not reported.

    In a notebook, `%tensorflow_version 1.x` and `!pip install tensorflow==1.15` ask for TensorFlow 1 itself.
    Colab refuses the one with "Tensorflow 1 is unsupported in Colab.", other front ends do not know it;
    the other finds no release for Python 3.8 or later.

    ## Example
    ```python
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    ```

    ## Fix
    ```python
    import tensorflow as tf

    with tf.Graph().as_default():
        build_the_old_model()
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/compat/v1/disable_v2_behavior
    https://www.tensorflow.org/guide/migrate/migrate_tf2
    https://github.com/tensorflow/tensor2tensor/issues/1915
    https://pypi.org/project/tensorflow/1.15.5/#files
    """

    code = "TF414"
    severity = Severity.WARNING
    consequence = Consequence.LEGACY
    supersedes = ("TF406",)
    calls = tuple(f"tensorflow.{name}" for name in _EFFECTS)
    methods = ("run_line_magic", "system", "getoutput")

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """See `Rule.on_call`."""
        if call.file.is_test:
            return
        if call.path is not None and call.path.startswith("get_ipython()"):
            yield from self._of_notebook(call)
            return
        if call.name.rpartition(".")[2] not in _EFFECTS:
            return
        name = call.name.rpartition(".")[2]
        if is_plain(call) and not call.version_checked:
            yield self.report(
                call,
                f"`tf.{name}` raises AttributeError on TF2, where it is `tf.compat.v1.{name}`; and with it "
                f"{_EFFECTS[name]}.",
                Severity.ERROR,
                consequence=Consequence.BREAKS,
            )
        else:
            yield self.report(
                call,
                f"After `{name}()` {_EFFECTS[name]}; this hides what is left to migrate, and TF2 code in the same "
                "process may fail. Put what needs it into `tf.Graph().as_default()`, or migrate it.",
            )

    def _of_notebook(self, call: Call) -> Iterator[Diagnostic]:
        """Judge a magic or a shell line; in a notebook's cell they read as the calls that IPython makes of them."""
        words = [literal_string(argument) or "" for argument in call.arguments]
        if call.path == _MAGIC and words[:1] == ["tensorflow_version"] and words[-1].startswith("1"):
            yield self.report(
                call,
                "`%tensorflow_version 1.x` raises: Colab has no TensorFlow 1 any more, and other front ends do not "
                "know the magic. Delete the line, and migrate what follows to TensorFlow 2.",
                Severity.ERROR,
                consequence=Consequence.BREAKS,
            )
        elif call.path in (_MAGIC, *_SHELL) and (requirement := _installed(" ".join(words))) is not None:
            yield self.report(
                call,
                f"`{requirement}` is TensorFlow 1, which has no release for Python 3.8 or later: this fails "
                "on a current kernel, and on an old one all that follows runs as TensorFlow 1. Install TensorFlow 2.",
                consequence=Consequence.BREAKS,
            )


def _installed(command: str) -> str | None:
    """The requirement of TensorFlow 1 that a command installs."""
    words = command.split()
    if "install" not in words or not any(map(_INSTALLERS.fullmatch, words)):
        return None
    found = _TENSORFLOW_1.search(command)
    return None if found is None else found[0]

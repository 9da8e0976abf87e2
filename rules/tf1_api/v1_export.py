"""TF426: models that are saved, frozen and converted out of a session."""

from __future__ import annotations

from collections.abc import Iterator

from ...linter.rule_api.model import Assignment, Call, Reference
from ...linter.rule_api.rule import Consequence, Diagnostic, Effort, Rule, Severity
from .api_status import is_plain, written
from .contexts import certainty
from .graph_calls import judged, named

_SAVE, _LOAD = "use `tf.saved_model.save`", "use `tf.saved_model.load`, and call its signatures"
_FREEZE = "save with `tf.saved_model.save`, which needs no frozen graph"
_CONVERT = "use `tf.lite.TFLiteConverter.from_saved_model` or `from_keras_model`"
_IN_GRAPHS = {
    "saved_model.build_tensor_info": _SAVE,
    "saved_model.simple_save": _SAVE,
    "saved_model.utils.build_tensor_info": _SAVE,
}
"""What raises in eager execution."""
_NAMES = {
    "graph_util.convert_variables_to_constants": _FREEZE,
    "graph_util.extract_sub_graph": _FREEZE,
    "graph_util.remove_training_nodes": _FREEZE,
    "lite.TocoConverter": _CONVERT,
    "lite.toco_convert": _CONVERT,
    "saved_model.Builder": _SAVE,
    "saved_model.build_signature_def": _SAVE,
    "saved_model.builder.SavedModelBuilder": _SAVE,
    "saved_model.loader.load": _LOAD,
    "saved_model.loader.maybe_saved_model_directory": "use `tf.saved_model.contains_saved_model`",
    "saved_model.predict_signature_def": _SAVE,
    "saved_model.signature_def_utils.build_signature_def": _SAVE,
    "saved_model.signature_def_utils.predict_signature_def": _SAVE,
}
_CONVERTERS = tuple(
    f"tensorflow.lite.TFLiteConverter.from_{name}" for name in ("frozen_graph", "keras_model_file", "session")
)
_OPEN = "tensorflow.saved_model.load"
_IMPORTS = ("tensorflow.import_graph_def", "tensorflow.graph_util.import_graph_def")


class V1Export(Rule):
    """A model is saved, frozen, loaded or converted as a graph and its session.

    ## Why
    `simple_save`, `SavedModelBuilder`, `loader.load`, `convert_variables_to_constants` and the converters
    `from_session` and `from_frozen_graph` left `tf`: reading one raises AttributeError.
    Through `tf.compat.v1` they are there, and take a session; in eager execution `simple_save` and `build_tensor_info`
    raise RuntimeError.
    `tf.saved_model.load` kept its name, and raises TypeError where it is given a session.
    `import_graph_def` raises nothing in eager execution: its nodes come into a graph that no eager code runs.

    A converter of TF2 takes `post_training_quantize = True` without a word and quantizes nothing: a layer of 200 x 100
    has 81000 bytes, and 22256 with `optimizations = [tf.lite.Optimize.DEFAULT]`.

    ## Example
    ```python
    import tensorflow as tf

    builder = tf.saved_model.builder.SavedModelBuilder("export")
    converter = tf.lite.TFLiteConverter.from_saved_model("export")
    converter.post_training_quantize = True
    ```

    ## Fix
    ```python
    import tensorflow as tf

    tf.saved_model.save(module, "export")
    converter = tf.lite.TFLiteConverter.from_saved_model("export")
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    ```

    ## Source
    - https://www.tensorflow.org/guide/migrate/saved_model
    - https://www.tensorflow.org/guide/migrate/tflite
    """

    code = "TF426"
    severity = Severity.WARNING
    consequence = Consequence.BREAKS
    effort = Effort.LOCAL
    supersedes = ("TF406", "TF407", "TF408")
    calls = (_OPEN, *_IMPORTS, *_CONVERTERS, *(f"tensorflow.{name}" for name in _IN_GRAPHS))
    references = tuple(f"tensorflow.{name}" for name in (*_NAMES, *_IN_GRAPHS))
    assigns = ("attribute",)

    def on_reference(self, reference: Reference) -> Iterator[Diagnostic]:
        """Speak of a name that only a program with sessions has a use for."""
        known = _NAMES | _IN_GRAPHS if is_plain(reference) else _NAMES
        advice = {known.get(one.canonical.removeprefix("tensorflow."), "") for one in reference.names}
        if len(advice) == 1 and "" not in advice:
            yield from named(self, reference, "takes a session and its graph", *advice)

    def on_call(self, call: Call) -> Iterator[Diagnostic]:
        """Judge what needs a graph, and what kept its name."""
        if {one.canonical for one in call.names} != {call.name}:
            return
        if call.name in _IMPORTS:
            yield from self._import(call)
        elif call.name == _OPEN:
            yield from self._open(call)
        elif call.name in _CONVERTERS:
            yield from self._convert(call)
        elif not is_plain(call):
            yield from judged(self, call, "RuntimeError", _SAVE)

    def _convert(self, call: Call) -> Iterator[Diagnostic]:
        if not call.is_compat_v1 and not call.version_checked and all(one.kind == "external" for one in call.found):
            name = written(call.names[0])
            yield self.report(call, f"`{name}` raises AttributeError on TF2: {_CONVERT}.", Severity.ERROR)

    def _open(self, call: Call) -> Iterator[Diagnostic]:
        if call.version_checked or call.is_compat_v1 or any(entity.kind != "external" for entity in call.found):
            return
        if "sess" in call.keywords or len(call.call.args) > 2 or _is_session(call):
            yield self.report(
                call,
                "`tf.saved_model.load` takes no session any more: that raises TypeError. Give it the folder alone, "
                "and call the signatures of what it returns.",
                Severity.ERROR,
            )

    def _import(self, call: Call) -> Iterator[Diagnostic]:
        severity = certainty(call)
        if severity is None or call.in_trace or any(entity.kind != "external" for entity in call.found):
            return
        yield self.report(
            call,
            f"`{call.path}` in eager execution silently puts nodes into a graph that nothing runs. Import it in a "
            "function that `tf.compat.v1.wrap_function` wraps.",
            Severity.INFO if severity is Severity.INFO else Severity.WARNING,
            consequence=Consequence.CHANGES,
        )

    def on_assignment(self, assignment: Assignment) -> Iterator[Diagnostic]:
        """Judge a setting that the converters of TF2 do not look at."""
        if not (assignment.path or "").endswith(".post_training_quantize"):
            return
        names = assignment.file.names(assignment.scope, assignment.path)
        if not names or assignment.version_checked or any(one.is_compat_v1 for one in names):
            return
        if all(one.canonical.startswith("tensorflow.lite.TFLiteConverter.from_") for one in names):
            yield self.report(
                assignment,
                "A converter of TF2 does not look at `post_training_quantize`: it silently quantizes nothing. Set "
                "`optimizations = [tf.lite.Optimize.DEFAULT]`.",
                consequence=Consequence.CHANGES,
                subject="tf.lite.TFLiteConverter.post_training_quantize",
            )


def _is_session(call: Call) -> bool:
    """Whether the first argument is a session that the file makes."""
    if not call.call.args:
        return False
    names = call.names_of(call.call.args[0])
    return bool(names) and all(
        one.canonical in ("tensorflow.Session()", "tensorflow.InteractiveSession()") for one in names
    )

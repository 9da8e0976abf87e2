"""What a project does with its models: saves and loads them whole, or only their weights."""

from __future__ import annotations

import ast
import re

from ...linter.rule_api.model import Call, File, Project, literal_string, path_of

_MODELS = ("keras.Model()", "keras.Sequential()")
_LOADS = (
    "keras.models.load_model",
    "keras.saving.load_model",
    "keras.models.model_from_json",
    "keras.models.model_from_yaml",
    "keras.models.model_from_config",
)
_SAVES = ("keras.models.save_model", "keras.saving.save_model", *(f"{model}.save" for model in _MODELS))
_WEIGHTS = (
    *(f"{model}.{method}" for model in _MODELS for method in ("save_weights", "load_weights")),
    "tensorflow.train.Checkpoint",
    "tensorflow.train.CheckpointManager",
)
_MADE = re.compile(
    r"keras\.(?:Model|Sequential|models\.(?:load_model|clone_model|model_from_json)|applications\.[\w.]+)\(\)"
)
"""What gives a model, called."""
_FIELD = re.compile(r"%(?:\([\w.]*\))?[-+ #\d.]*[a-z]|\{[^{}]*\}")
_UNSAFE = "keras.config.enable_unsafe_deserialization"


def saves_whole_models_in(project: Project, file: str) -> bool:
    """Whether one file saves or loads whole models, and none by its weights."""
    return file in project.files_using(*_LOADS, *_SAVES) and file not in project.files_using(*_WEIGHTS)


def keeps_weights_only(project: Project) -> bool:
    """Whether the project saves or loads weights, and no file of it whole models."""
    return project.uses(*_WEIGHTS) and not project.uses(*_LOADS, *_SAVES)


def handles_whole_models(file: File) -> list[Call]:
    """The calls of one file that save or load a whole model."""
    return [call for call in file.calls if call.name in _LOADS or call.name in _SAVES or _saves_literally(call)]


def keeps_weights_only_here(file: File) -> bool:
    """Whether one file saves or loads weights, and no whole model."""
    return any(call.method in ("save_weights", "load_weights") for call in file.calls) and not handles_whole_models(
        file
    )


def is_hdf5(call: Call) -> bool:
    """Whether such a call certainly reads or writes HDF5, and not the format of Keras 3."""
    texts = [literal_string(argument) for argument in call.arguments]
    return any(text is not None and (text == "h5" or text.endswith((".h5", ".hdf5"))) for text in texts)


def allows_lambdas(file: File) -> bool:
    """Whether the program says that it trusts the code in its model files."""
    return file.project.uses(_UNSAFE) or any(call.literal("safe_mode") is False for call in file.calls)


def _saves_literally(call: Call) -> bool:
    """``anything.save("x.keras")``: nothing but a Keras model is saved under such a name."""
    if call.method != "save" or not call.call.args:
        return False
    text = literal_string(call.call.args[0])
    return text is not None and text.endswith((".keras", ".h5", ".hdf5"))


def other_end(call: Call, path: ast.expr | None, endings: tuple[str, ...]) -> str:
    """What the name of a file surely ends in, where that is none of `endings`; else an empty text."""
    end = None if path is None else _end_of(call, path)
    if not end or end.endswith(endings) or any(ending.endswith(end) for ending in endings):
        return ""
    return end.removeprefix("/")[-24:]


def last_text(path: ast.expr | None) -> ast.Constant | None:
    """The text that ends the name of a file, where it is written out beside what is before it."""
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Add | ast.Div):
        return last_text(path.right)
    if isinstance(path, ast.Call) and path.args and (path_of(path.func) or "").endswith(("path.join", "Path", "str")):
        return last_text(path.args[-1])
    return path if isinstance(path, ast.Constant) and isinstance(path.value, str) else None


def is_model(call: Call) -> bool:
    """Whether the receiver is surely a model of Keras: one that the code makes, or a model's own ``self``."""
    receiver = call.path.rpartition(".")[0] if call.path else ""
    owner = call.class_of_self(receiver) if receiver.isidentifier() else None
    if owner is not None:
        return "model" in owner.kinds and not owner.defines(call.method)
    names = [name.canonical for name in call.names]
    return bool(names) and all(_MADE.fullmatch(name.rpartition(".")[0]) for name in names)


def _end_of(call: Call, path: ast.expr, depth: int = 4) -> str | None:
    """What a name of a file surely ends in; None or an empty text where the end is not written out.

    One that is known as a whole, or from a slash on, begins with a slash.
    """
    text = literal_string(path)
    if text is not None:
        *before, end = _FIELD.split(text)
        return end if before else f"/{end}"
    if isinstance(path, ast.JoinedStr) and path.values:
        return literal_string(path.values[-1])
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Add | ast.Div):
        end = _end_of(call, path.right, depth)
        return end.removeprefix("/") if end and isinstance(path.op, ast.Add) else end
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Mod):
        return _end_of(call, path.left, depth)
    if isinstance(path, ast.Call) and path.args and (path_of(path.func) or "").endswith(("path.join", "Path", "str")):
        return _end_of(call, path.args[-1], depth)
    if isinstance(path, ast.Call) and isinstance(path.func, ast.Attribute) and path.func.attr == "format":
        return _end_of(call, path.func.value, depth)
    if isinstance(path, ast.Name) and depth:
        function = call.scope.function()
        made = [one.value for one in call.file.assignments_by_function.get(function.id, []) if one.path == path.id]
        return _end_of(call, made[0], depth - 1) if len(made) == 1 and made[0] is not None else None
    return None

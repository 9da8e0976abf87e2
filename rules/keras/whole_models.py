"""What a project does with its models: saves and loads them whole, or only their weights."""

from __future__ import annotations

from ...linter.rule_api.model import Call, File, Project, literal_string

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

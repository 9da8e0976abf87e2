"""From a place such as ``train.py:model_fn`` to what is found there. Nothing is imported or run."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from ..analysis.index import Scope
from ..analysis.names import PLACEHOLDERS
from ..analysis.public_names import has
from ..finding import Finding, Target
from ..rule_api.model import File
from ..run.imports import reached_from, root_around
from ..source.discovery import display_path
from ..source.parsing import SourceFile
from ..source.reading import read_source
from .estimators import find_model_fn, read_model_fn
from .found import Found, Missing
from .keras_models import Tf2, find_maker, missing_arguments, outside_functions, read_keras, read_tf2
from .sessions import read_session
from .tracing import Program

__all__ = ["NotReadError", "read_tf1", "read_tf2_side"]

_STOOD_FOR = ("tensorflow.estimator", "tensorflow.compat.v1.estimator")
"""What the recorder puts in place where TensorFlow has it no more."""


class NotReadError(ValueError):
    """There is nothing to read; the text says why."""


def read_tf1(file: str, name: str | None, target: Target) -> Found:
    """Read a TF1 program.

    Args:
        file: its absolute path.
        name: a function or class in it; None for the script, or what it has of an Estimator or of Keras.
        target: the TF2 that is moved to.

    Raises:
        NotReadError: if the file cannot be read or parsed, or has no such name.
    """
    root, folder = root_around(file), os.path.dirname(file)
    program, main = _program(file, root, target)
    outside = any(not os.path.join(root, key).startswith(os.path.join(folder, "")) for key in program.files)
    found = Found("session", file, root=root if outside else "")
    has_placeholders = any(call.name in PLACEHOLDERS for call in program.calls())
    entry = main.index.module if name is None else _scope(main, name)
    if name is None:
        maker = find_model_fn(program, main)
        keras = None if maker is not None else find_maker(program, main)
    else:
        is_network = entry.is_function and bool(entry.parameters) and not has_placeholders
        maker = entry if is_network and not find_maker(program, main, entry) else None
        keras = entry if maker is None and find_maker(program, main, entry) else None
    if maker is not None:
        read_model_fn(program, main, maker, found)
    elif keras is not None:
        read_keras(program, main, keras, found)
    else:
        if not has_placeholders and (where := outside_functions(main)):
            raise NotReadError(
                f"{where}: this makes a Keras model outside of a function; put it into one that returns the model, "
                f"compiled, and name that: --tf1 {main.display}:build"
            )
        _called(main, entry, name, found)
        read_session(program, main, entry, found)
        if found.models and found.kind == "session" and not found.told:
            return _one_of(found.models, file, main, target)
    if found.kind == "session" and not (found.runs or found.given):
        if has_placeholders:
            raise NotReadError(
                f"{main.display}: nothing in it, or in what it imports, trains what its placeholders are for or runs a "
                "session: name the file that does"
            )
        raise NotReadError(f"{main.display} has no session, no placeholder, no Estimator and no Keras model")
    read = (one.spelled for file in program.files.values() for one in file.references)
    old = sorted({f"tf{one.removeprefix('tensorflow')}" for one in read if _is_gone(one)})
    if old:
        some = ", ".join(f"`{one}`" for one in old[:3])
        found.told.append(
            f"TF2 has no {some}{' and others' if len(old) > 3 else ''}: run the pair with --python-tf1 of a TF 1.15, "
            "or let --fix --via compat.v1 rewrite the program first"
        )
    if name is None:
        found.options = list(_options(program))
    found.not_understood += program.unread
    for one in found.given:
        if (one.dtype or "").startswith(("int", "uint")) and one.role == "input" and not (one.bound or one.is_length):
            found.not_understood.append(f"{one.where} which numbers `{one.name}` may hold; 0 and 1 are taken")
    return found


def _one_of(models: list[str], file: str, main: File, target: Target) -> Found:
    """Read the class that a file is about; of several the user has to name one."""
    own, _, name = models[0].rpartition(":")
    if len(models) == 1 and own == main.display:
        return read_tf1(file, name, target)
    some = ", ".join(models[1:4])
    others = f" or another: {some}{', ...' if len(models) > 4 else ''}" if some else ""
    raise NotReadError(
        f"{main.display}: which of {len(models)} classes that train it comes to, if any, only running it tells: name "
        f"one, as in --tf1 {models[0]}{others}"
    )


def read_tf2_side(file: str, name: str | None, target: Target) -> Tf2:
    """Read what makes the TF2 side.

    Raises:
        NotReadError: as `read_tf1`.
    """
    program, main = _program(file, root_around(file), target)
    return read_tf2(program, main, None if name is None else _scope(main, name))


def _is_gone(spelled: str) -> bool:
    """Whether the TensorFlow 2 that records TF1 sides, with Keras 2, lacks a name."""
    return (
        spelled.startswith("tensorflow.")
        and "(" not in spelled
        and not spelled.startswith(_STOOD_FOR)
        and has(spelled, Target.KERAS2) is False
    )


def _options(program: Program) -> Iterator[tuple[str, Missing]]:
    """What a command line has to have, by argparse, absl or ``sys.argv``."""
    words = {number: where for file in program.files.values() for number, where in _words(file)}
    for number in sorted(words):
        yield "", Missing(f"word {number} of the command line, {words[number]}")
    for call in program.calls():
        first = call.call.args[0] if call.call.args else None
        word = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
        if word is None:
            continue
        where = f"{call.file.display}:{call.line}"
        if call.method.endswith("mark_flag_as_required"):
            yield f"--{word}", Missing(f"the flag --{word}, {where}")
        elif call.method == "add_argument":
            is_option = word.startswith("-")
            if call.literal("required") is True or (not is_option and call.value("nargs") is None):
                choices = call.value("choices")
                among = "" if choices is None else f", one of {ast.unparse(choices)}"
                yield word if is_option else "", Missing(f"the argument {word}, {where}{among}")


def _words(file: File) -> Iterator[tuple[int, str]]:
    """The numbered words of ``sys.argv`` that a file reads."""
    for reference in file.references:
        whole = file.parent_of(reference.syntax)
        if reference.path == "sys.argv" and isinstance(whole, ast.Subscript) and whole.value is reference.syntax:
            number = whole.slice.value if isinstance(whole.slice, ast.Constant) else None
            if isinstance(number, int) and number > 0:
                yield number, f"{file.display}:{whole.lineno}"


def _program(file: str, root: str, target: Target) -> tuple[Program, File]:
    if not file.endswith(".py"):
        raise NotReadError(f"{display_path(file, os.getcwd())}: a notebook is no script that a pair can run; export it")
    sources: dict[str, SourceFile] = {}
    for path in [file, *reached_from(file)]:
        shown = display_path(path, os.getcwd())
        source = read_source(Path(path), shown)
        if isinstance(source, SourceFile):
            sources[os.path.relpath(path, root).replace(os.sep, "/")] = source
        elif path == file:
            raise NotReadError(f"{shown}: {source.message}" if isinstance(source, Finding) else shown)
    program = Program(sources, target)
    main = program.files.get(os.path.relpath(file, root).replace(os.sep, "/"))
    if main is None:
        raise NotReadError(program.unread[0] if program.unread else f"{file} cannot be read")
    return program, main


def _scope(file: File, name: str) -> Scope:
    scope = file.index.module
    for part in name.split("."):
        inner = next(
            (bind.scope for bind in scope.binds.get(part, ()) if bind.scope is not None and bind.kind == "scope"), None
        )
        if inner is None:
            known = sorted(one for one, binds in scope.binds.items() if any(bind.kind == "scope" for bind in binds))
            raise NotReadError(f"{file.display} has no function or class {name}; it has {', '.join(known) or 'none'}")
        scope = inner
    return scope


def _called(file: File, entry: Scope, name: str | None, found: Found) -> None:
    """What is called, and which of its parameters the pair has to give."""
    found.built = "by the script" if name is None else f"in the function {name}"
    if name is None:
        return
    found.call = name
    if entry.kind == "class":
        found.is_class, found.built = True, f"in the class {name}"
    found.missing_arguments = missing_arguments(file, entry)

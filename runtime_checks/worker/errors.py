"""What an exception says, in short: without what TensorFlow and Keras wrap around it."""

from __future__ import annotations

import ast
import contextlib
import re

__all__ = ["cause_of", "essence", "one_line", "text_of"]

_WIDTH = 300
_END = 110

_ADDRESS = re.compile(r"(?<=\w) at 0x[0-9a-fA-F]+")
_GENERATED = re.compile(r"\bouter_factory\.<locals>\.inner_factory\.<locals>\.(?:tf__)?")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_USER_CODE = re.compile(r'in user code:\s*(?:\n\s*(?:File "[^"]*", line \d+, in .*)\n.*)+\s*\n', re.MULTILINE)
_KERAS = re.compile(r"Exception encountered when calling [^\n]*\n+")
_QUOTED = re.compile(r"""(['"])Exception encountered when calling .*\1\s*\Z""", re.DOTALL)
_ARGUMENTS = re.compile(r"\n+\s*(?:Call arguments received|Arguments received) by .*", re.DOTALL)
_OPERATION = re.compile(
    r"Graph execution error:\s*"
    r"(?:Detected at node [^\n]*\n(?:(?:[ \t]+|<stack traces )[^\n]*\n|\n)*)*"
    r"(?:Node: [^\n]*\n)?"
)
_NODE = re.compile(r"\s*\[\[\{*node [^\n]*\]\]|\{\{function_node [^{}]*\}\} ?|\s*\[Op:\w+\](?: name:[^\n]*)?")
_MADE_AT = re.compile(
    r"\n+(?:Original stack trace for |Errors may have originated from an input operation).*", re.DOTALL
)
_VALUES = re.compile(r"(<tf\.(?:Tensor|Variable)[^<>]*?), numpy=[^<>]*>")
"""What an eager tensor or variable holds; its shape and dtype stand before."""
_ANEW = "MultilineMessage"
"""How AutoGraph names the class of a KeyError that it raises anew."""
_TYPE = re.compile(r"[\w.]*(?:Error|Exception|Warning): ")


def text_of(error: BaseException) -> str:
    """The message of an exception, empty where making it raises."""
    try:
        return str(error)
    except Exception:
        return ""


def _of_argparse(error: BaseException) -> str:
    """What a parser of a command line, which ended the program, said that it wants; empty where there was none."""
    at = error.__traceback__ if isinstance(error, SystemExit) else None
    while at is not None:
        frame = at.tb_frame
        if frame.f_code.co_name == "error" and frame.f_globals.get("__name__") == "argparse":
            return f": {frame.f_locals.get('message')}"
        at = at.tb_next
    return ""


def one_line(text: object) -> str:
    """Text without line breaks and of bearable length: its middle is left out, since a cause may stand at the end."""
    words = " ".join(str(text).split())
    return words if len(words) <= _WIDTH else words[: _WIDTH - _END - 3] + " … " + words[-_END:]


def cause_of(error: BaseException) -> BaseException | None:
    """What the program itself said that an exception comes from, unless its text repeats that."""
    said, met = text_of(error), {id(error)}
    cause = error.__cause__
    while cause is not None and cause.__cause__ is not None and id(cause) not in met:
        met.add(id(cause))
        cause = cause.__cause__
    return None if cause is None or text_of(cause) in said else cause


def essence(error: BaseException) -> str:
    """Type and message of an exception, without AutoGraph's stack and names, Keras' arguments, values and addresses.

    Both put the original message, and AutoGraph the original type too, behind an introduction of their own. Running
    graphs put the stack that made an operation before and behind the message. The text of a KeyError is a quoted one.
    ``argparse`` writes what is wrong with a command line, and exits with a number alone.
    """
    text = text_of(error) + _of_argparse(error)
    quoted = _QUOTED.search(text)
    if quoted is not None:
        with contextlib.suppress(SyntaxError, ValueError):
            text = text[: quoted.start()] + str(ast.literal_eval(quoted[0].strip()))
    text = _GENERATED.sub("", _ADDRESS.sub("", _ESCAPE.sub("", text)))
    before = None
    while before != text:
        before = text
        for introduction in (_USER_CODE, _KERAS):
            found = introduction.search(text)
            if found is not None:
                text = text[found.end() :]
    text = _NODE.sub("", _MADE_AT.sub("", _OPERATION.sub("", _ARGUMENTS.sub("", text)))).strip()
    text = _VALUES.sub(r"\1>", text)
    name = type(error).__name__.replace(_ANEW, "")
    if not text:
        return name
    return text if _TYPE.match(text) else f"{name}: {text!r}" if quoted is not None else f"{name}: {text}"

"""The words of ``--strategy``, as a worker takes them."""

from __future__ import annotations

import re
from typing import Any

from . import interpreter

__all__ = ["POSSIBLE", "is_of_cpus", "parse"]

POSSIBLE = "one:CPU:0, mirrored:N, multiworker:N, ps:W+P or tpu"
_MOST = 64
"""Replicas: each is a device or a process of this machine."""
_COUNTED = re.compile(r"(mirrored|multiworker):(\d+)|(ps):(\d+)\+(\d+)")


def parse(text: str) -> dict[str, Any]:
    """The strategy that a text names, as `worker.strategies` takes it.

    ``text`` is its one spelling, ``kind`` is ``one``, ``mirrored``, ``multiworker``, ``ps`` or ``tpu``, ``replicas``
    how many there are (0 for ``tpu``, which knows itself), ``servers`` how many parameter servers, ``device`` the
    device of ``one`` and else empty.

    Raises:
        ValueError: if the text names none.
    """
    word = text.strip().lower()
    if word == "tpu":
        return _strategy("tpu", "tpu")
    if word.startswith("one:"):
        try:
            device = interpreter.device(word[len("one:") :])
        except ValueError:
            raise _refused(text) from None
        return _strategy(f"one:{device}", "one", 1, device=device)
    match = _COUNTED.fullmatch(word)
    if match is None:
        raise _refused(text)
    kind, count, servers = match[1] or match[3], int(match[2] or match[4]), int(match[5] or 0)
    if not 1 <= count <= _MOST or not (kind != "ps" or 1 <= servers <= _MOST):
        raise ValueError(f"--strategy {text}: a number is from 1 to {_MOST}")
    plus = f"+{servers}" if kind == "ps" else ""
    return _strategy(f"{kind}:{count}{plus}", kind, count, servers)


def is_of_cpus(strategy: dict[str, Any]) -> bool:
    """Whether a machine with nothing but a CPU has it: several devices may be parts of one CPU."""
    return strategy["kind"] != "tpu" and strategy["device"][:3] in ("", "CPU")


def _strategy(text: str, kind: str, replicas: int = 0, servers: int = 0, device: str = "") -> dict[str, Any]:
    return {"text": text, "kind": kind, "replicas": replicas, "servers": servers, "device": device}


def _refused(text: str) -> ValueError:
    return ValueError(f"--strategy {text}: a strategy is written {POSSIBLE}, with numbers for N, W and P")

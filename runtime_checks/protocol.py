"""What the host tells a worker, and how a result looks: the JSON keys of a job, in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..linter.finding import Finding, Target
from .locate import Located

__all__ = ["job"]


def job(
    *,
    target: Target,
    device: str | None,
    located: Located,
    inputs: Mapping[str, str] | None,
    shapes: Sequence[Sequence[int | None]],
    dtypes: Sequence[str],
    roots: Sequence[str],
    memory_limit: int | None,
    findings: Sequence[tuple[int, str, Finding]],
) -> dict[str, Any]:
    """A worker's job as JSON data.

    Args:
        target: which Keras ``tf.keras`` is to be.
        device: such as ``CPU:1``; None leaves placement to TensorFlow.
        located: what to run.
        inputs: ``file`` and ``name`` of sample inputs, or None.
        shapes: sample inputs by shape; None is an unknown dimension.
        dtypes: their dtypes by name.
        roots: folders whose files are the user's.
        memory_limit: bytes of address space, None for no limit.
        findings: number, real path and finding, of what is to be judged.
    """
    return {
        "target": target.value,
        "device": device,
        "file": located.file,
        "module": located.module,
        "attribute": located.attribute,
        "search_path": list(located.search_path),
        "inputs": None if inputs is None else dict(inputs),
        "shapes": [list(shape) for shape in shapes],
        "dtypes": list(dtypes),
        "roots": list(roots),
        "files": sorted({path for _, path, _ in findings} | ({located.file} if located.file else set())),
        "memory_limit": memory_limit,
        "findings": [
            {
                "id": number,
                "code": finding.code,
                "slug": finding.slug,
                "path": path,
                "line": finding.line,
                "end_line": finding.end_line,
                "statement": finding.statement or (finding.line, *[max(finding.line, finding.end_line)] * 2),
                "function": finding.function,
                "subject": finding.subject,
            }
            for number, path, finding in findings
        ],
    }

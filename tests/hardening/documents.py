"""Changes of JSON documents: of types, of members, of texts and numbers, and of the bytes that they are written in."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

from .mutations import damaged

HOSTILE = (
    "", "x", "\x1b[31m", "::error file=x::y", "##[error]z", "##vso[task.complete]z", "a\n::warning::b",
    "\r::add-mask::q", "</script><script>x()</script>", "]]>", "&amp;<!--", "\x00", "\ud800", "\u2028", "\u202e",
    "'\"\\", "%0A::error::", '42\nimport os; os.system("PWNED")', '"""\nPWNED = 1\n"""', "{PWNED}", "$PWNED",
    "../../../../etc/passwd", "/etc/shadow", "x" * 5000, "9" * 4400, "1e400", "__class__", "a/b\\c", "CON", "-", "--",
    "~", "nan",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, -(2**64), 10**400, 0.5, float("nan"), float("inf"), -0.0, 1e308, [],
    {}, [[]], [None], {"": None}, "", [1, "a", None, {}], {"a": {"b": []}},
)  # fmt: skip


_NO_DOCUMENTS = (b"", b"[" * 100_000, b'{"a":' * 50_000, b"9" * 5000, b"null", b"\0" * 1000)


def value(random: Random) -> Any:
    """Any value."""
    return random.choice(HOSTILE) if random.random() < 0.5 else copy.deepcopy(random.choice(_VALUES))


def _places(document: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        one = waiting.pop()
        for key, inner in one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ():
            found.append((one, key))
            waiting.append(inner)
    return found


def changed(random: Random, document: Any) -> Any:
    """The document with some of its values changed."""
    document = copy.deepcopy(document)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        places = _places(document)
        if not places:
            return value(random)
        holder, key = random.choice(places)
        match random.randrange(6):
            case 0 | 1:
                holder[key] = value(random)
            case 2:
                del holder[key]
            case 3:
                other, name = random.choice(places)
                if name in other if isinstance(other, dict) else name < len(other):
                    holder[key] = copy.deepcopy(other[name])
            case 4 if isinstance(holder, list):
                holder.insert(random.randint(0, len(holder)), copy.deepcopy(holder[key]))
            case 4:
                holder[random.choice(HOSTILE)] = holder.pop(key) if random.random() < 0.5 else value(random)
            case _:
                inner = holder[key]
                if isinstance(inner, str):
                    at = random.randint(0, len(inner))
                    holder[key] = inner[:at] + random.choice(HOSTILE) + inner[at:]
                elif isinstance(inner, int | float):
                    number = float(max(min(inner, 2**63), -(2**63)))
                    holder[key] = random.choice((-inner, inner + 1, inner * 10**9, str(inner), number, [inner]))
                else:
                    holder[key] = [inner]
    return document


def written(random: Random, document: Any) -> bytes:
    """A changed document as bytes, which now and then are no JSON."""
    chosen = random.random()
    if chosen < 0.7:
        data = json.dumps(changed(random, document)).encode("utf-8", "surrogatepass")
    else:
        data = json.dumps(document).encode()
    if chosen > 0.65:
        data = damaged(random, data)
    if chosen > 0.97:
        other = data.decode("utf-8", "replace").encode("utf-16")
        return random.choice((*_NO_DOCUMENTS, b"\xef\xbb\xbf" + data, other, data * 2))
    return data

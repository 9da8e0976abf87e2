"""Changes of programs: of bytes, tokens, lines, blocks, trees, spellings and encodings."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Callable
from functools import cache
from random import Random

from . import corpus

_NOT_REFUSED = 0.85
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_NAMES = re.compile(r"\b[a-zA-Z_]\w*\b")
_ODD = (
    "\x00", "\x0c", "\x1b[31m", "\ufeff", "\u2028", "\u202e", "\ud800", "\U0001f600", "\u00b5", "\u212b", "\ufb01",
    "\x85", "\xa0", "\r", "\t", "\\\n", "\\", '"""', "'''", "f'{", "}}", "#", ";", ":=", "->", "...", "@", "`", "$",
    "\x1a", "\u0301", "1_000", "0x", "1e999", "1" * 5000, "lambda: ", "await ", "yield ", "async ", "*", "**", "(",
    "[", "{", ")", "]", "}", "print >>f, x\n", "exec 'x'\n", "import tensorflow as tf\n",
    "from tensorflow import *\n", "tf = tf.compat.v1\n", "# noqa", "# noqa: TF101", "# migrate-lint: disable=",
    "# migrate-lint: disable=ALL", "# migrate-lint: disable-file=TF101,TF4", "# -*- coding: latin-1 -*-\n", "%time ",
    "!pip install tensorflow==1.15\n", "type X = int\n", "match x:\n  case _: pass\n", "except* E:", "global tf\n",
    "nonlocal x\n", "del tf\n",
)  # fmt: skip
_WRAPS = (
    "def f(self, x):\n{}", "class C(tf.keras.layers.Layer):\n{}", "if tf:\n{}", "for x in y:\n{}", "while x:\n{}",
    "try:\n{}\nexcept E as tf:\n    pass", "try:\n    import tf\nexcept ImportError:\n{}",
    "with tf.Graph().as_default():\n{}", "@tf.function\ndef g(a):\n{}", "async def h():\n{}",
    "match x:\n    case tf:\n    {}", "if True:\n    pass\nelse:\n{}", "class D(D):\n    def call(self, x):\n    {}",
    "def f():\n    def g():\n    {}\n    return g", "try:\n    pass\nfinally:\n{}",
    "class M(tf.keras.Model):\n    def call(self, x, training=None):\n    {}", "for tf in tf:\n    break\nelse:\n{}",
)  # fmt: skip
_ENCODINGS = (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "utf-7", "koi8-r", "utf-32", "shift_jis",
)  # fmt: skip
_COOKIES = (
    *_ENCODINGS, "rot13", "hex", "zlib", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "utf8",
    "undefined", "no-such", "x" * 300, "mbcs", "base64", "unknown\x00", "utf-8-unix",
)  # fmt: skip
_CHAINS = (
    "({})", "[{}]", "-{}", "not {}", "f({})", "{}.a", "{}[0]", "{}()", "lambda: {}", "{{1: {}}}", "{} + 1", "1 + {}",
    "{} if x else y", "x if {} else y", "await {}", "*{},", "{} or x", "{} < x", "tf.identity({})", "{}.layers",
    "f'{{{}}}'", "[x for x in {}]", "{}.compat.v1", "(yield {})", "({} := 1)",
)  # fmt: skip


def seed_text(random: Random) -> str:
    """A small program, or a part of a large one."""
    if random.random() < 0.8:
        return random.choice(corpus.texts())
    lines = random.choice(corpus.real()).split("\n")
    first = random.randrange(len(lines))
    part = textwrap.dedent("\n".join(lines[first : first + random.randint(5, 60)]))
    return "import tensorflow as tf\n" * random.choice((0, 1, 1)) + part + "\n"


def _position(random: Random, text: str) -> int:
    return random.randint(0, len(text))


def characters(random: Random, text: str) -> str:
    """Insert, take out or repeat characters."""
    for _ in range(random.randint(1, 4)):
        at, length = _position(random, text), random.choice((0, 0, 1, 2, 10))
        text = (
            text[:at] + random.choice(("", random.choice(_ODD), chr(random.randrange(1, 0x3000)))) + text[at + length :]
        )
    return text


def of_tokens(random: Random, text: str) -> str:
    """Replace, take out, repeat or swap tokens."""
    found = _TOKEN.findall(text)
    for _ in range(random.randint(1, 6)):
        if not found:
            break
        at = random.randrange(len(found))
        match random.randrange(4):
            case 0:
                found[at] = random.choice(corpus.tokens())
            case 1:
                del found[at]
            case 2:
                found.insert(at, random.choice(found))
            case _:
                other = random.randrange(len(found))
                found[at], found[other] = found[other], found[at]
    return "".join(found)


def lines(random: Random, text: str) -> str:
    """Take out, repeat, move or shift lines."""
    found = text.split("\n")
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(found))
        match random.randrange(5):
            case 0 if len(found) > 1:
                del found[at]
            case 1:
                found.insert(random.randint(0, len(found)), found[at])
            case 2:
                found.insert(random.randint(0, len(found) - 1), found.pop(at))
            case 3:
                found[at] = " " * random.choice((1, 2, 4, 8)) + found[at]
            case _:
                found[at] = found[at].lstrip() if random.random() < 0.5 else found[at].replace("    ", "\t", 1)
    return "\n".join(found)


def blocks(random: Random, text: str) -> str:
    """Put the program below another statement."""
    inner = textwrap.indent(text, "    ")
    for _ in range(random.randint(1, 3)):
        wrap = random.choice(_WRAPS)
        deep = textwrap.indent(inner, "    ") if "    {}" in wrap else inner
        inner = wrap.replace("    {}", "{}").replace("{}", "\n" + deep + "\n")
        text, inner = inner, textwrap.indent(inner, "    ")
    return random.choice(("import tensorflow as tf\n", "", "from tensorflow.compat.v1 import *\n")) + text


def spliced(random: Random, text: str) -> str:
    """Put a part of another program into this one."""
    ours, others = text.split("\n"), seed_text(random).split("\n")
    start, end = sorted(random.randint(0, len(others)) for _ in range(2))
    at = random.randint(0, len(ours))
    kept = random.choice((at, at, len(ours)))
    width = len(ours[at - 1]) - len(ours[at - 1].lstrip()) if at else 0
    part = textwrap.indent(textwrap.dedent("\n".join(others[start:end])), " " * random.choice((width, width + 4, 0)))
    return "\n".join([*ours[:at], part, *ours[kept:]])


def renamed(random: Random, text: str) -> str:
    """Give names to what has others: aliases become circles, functions their own arguments."""
    names = sorted(set(_NAMES.findall(text)))
    if len(names) < 2:
        return text
    swaps = {
        random.choice(names): random.choice((*names, "tf", "self", "call", "keras"))
        for _ in range(random.randint(1, 3))
    }
    return _NAMES.sub(lambda match: swaps.get(match[0], match[0]), text)


def nested(random: Random, text: str) -> str:
    """Nest an expression deeply."""
    depth = random.choice((3, 10, 30, 30, 90, 250, 1200))
    inner, chain = random.choice(("tf", "tf.Session()", "x", "tf.layers.dense(x, 1)")), random.choice(_CHAINS)
    before, _, after = chain.replace("{{", "{").replace("}}", "}").partition("{}")
    if "{{{" in chain:
        before, after, depth = "f'{", "}'", min(depth, 3)
    expression = before * depth + inner + after * depth
    found = text.split("\n")
    at = random.randint(0, len(found))
    width = len(found[at - 1]) - len(found[at - 1].lstrip()) if at else 0
    return "\n".join(
        [*found[:at], " " * width + random.choice(("x = ", "", "return ", "tf = ")) + expression, *found[at:]]
    )


@cache
def _parts(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
    """Where the expressions of a program begin and end, and the lines of its statements, with their indentation."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return [], []
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    expressions, statements = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and text.isascii():
            assert node.end_lineno is not None and node.end_col_offset is not None
            end = starts[node.end_lineno - 1] + node.end_col_offset
            expressions.append((starts[node.lineno - 1] + node.col_offset, end))
        elif isinstance(node, ast.stmt):
            assert node.end_lineno is not None
            statements.append((node.lineno - 1, node.end_lineno, node.col_offset))
    return expressions, statements


def trees(random: Random, text: str) -> str:
    """Swap expressions and statements of two pages, whose parts are known; most stay programs."""
    text = text if text in _pages() else random.choice(corpus.texts())
    expressions, statements = _parts(text)
    if expressions and random.random() < 0.7:
        for start, end in sorted(random.choices(expressions, k=random.choice((1, 1, 2, 3))), reverse=True):
            donor = random.choice(corpus.texts())
            others = _parts(donor)[0]
            if others and end <= len(text):
                first, last = random.choice(others)
                text = f"{text[:start]}({donor[first:last]}){text[end:]}"
        return text
    if statements:
        donor = random.choice(corpus.texts())
        others = _parts(donor)[1]
        (start, end, width), lines_of = random.choice(statements), text.split("\n")
        first, last, _ = random.choice(others) if others else (0, 0, 0)
        part = textwrap.indent(textwrap.dedent("\n".join(donor.split("\n")[first:last])), " " * width)
        lines_of[start : random.choice((start, end))] = part.split("\n")
        return "\n".join(lines_of)
    return text


@cache
def _pages() -> frozenset[str]:
    return frozenset(corpus.texts())


_OF_TEXT: dict[str, tuple[float, Callable[[Random, str], str]]] = {
    "characters": (1.0, characters),
    "tokens": (2.0, of_tokens),
    "lines": (1.5, lines),
    "blocks": (1.5, blocks),
    "splices": (1.5, spliced),
    "names": (2.0, renamed),
    "nesting": (0.3, nested),
    "trees": (3.0, trees),
}


def mutated(random: Random) -> tuple[str, bytes]:
    """A changed program, and the kind of the last change; most of those that Python refuses are changed anew."""
    kind, data = _mutated(random)
    while random.random() < _NOT_REFUSED and not _parses(data):
        kind, data = _mutated(random)
    return kind, data


def _parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _mutated(random: Random) -> tuple[str, bytes]:
    text = seed_text(random)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        kind = random.choices(list(_OF_TEXT), [weight for weight, _ in _OF_TEXT.values()])[0]
        text = _OF_TEXT[kind][1](random, text)[:20_000]
    if random.random() < 0.06:
        return "encodings", encoded(random, text)
    data = text.encode("utf-8", "surrogatepass")
    if random.random() < 0.05:
        return "bytes", damaged(random, data)
    return kind, data


def encoded(random: Random, text: str) -> bytes:
    """Another encoding, declaration or end of lines."""
    if random.random() < 0.4:
        text = text.replace("\n", random.choice(("\r\n", "\r", "\x0c\n", "\n\r", "\x0b", "\x85")))
    if random.random() < 0.7:
        text = f"{random.choice(('', '#!x' + chr(10), chr(10)))}# -*- coding: {random.choice(_COOKIES)} -*-\n{text}"
    if random.random() < 0.3:
        text = text.replace("x", random.choice("äЖ日µ\u0301ﬁ"))
    return text.encode(random.choice(_ENCODINGS), random.choice(("replace", "ignore", "backslashreplace")))


def damaged(random: Random, data: bytes) -> bytes:
    """Bytes changed, taken out, put in, repeated or cut off."""
    found = bytearray(data or b"\0")
    for _ in range(random.randint(1, 5)):
        at = random.randrange(len(found)) if found else 0
        match random.randrange(6):
            case 0 if found:
                found[at] = random.randrange(256)
            case 1:
                del found[at : at + random.choice((1, 2, 8, 64, 1000))]
            case 2:
                found[at:at] = random.choice(
                    (b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\n", b"\r", b'"', b"9" * 4400, b"[" * 300)
                )
            case 3:
                part = found[at : at + random.choice((4, 32, 300))]
                found[at:at] = part
            case 4 if found:
                found[at] ^= 1 << random.randrange(8)
            case _:
                if random.random() < 0.2:
                    del found[at:]
    return bytes(found)

"""From the text of a notebook's cell to Python: what IPython reads and Python does not is replaced, line by line.

A magic whose operand is Python (``%time fit()``) leaves that operand; any other magic, shell line or question for help
becomes a statement that does nothing.
Lines that speak of TensorFlow become the call that IPython makes of them, as in a notebook exported to a script, so
that rules can judge them.
IPython's own transformation reads the same syntax, but keeps no columns, and importing it takes longer than linting.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

_PYTHON_CELLS = frozenset({"capture", "debug", "memit", "prun", "python", "python3", "time", "timeit"})
_SHELL_CELLS = frozenset({"!", "bash", "script", "sh", "shell", "system"})
_OPTIONS = {
    "time": ("", ""),
    "timeit": ("tcqov", "nrp"),
    "prun": ("rq", "lsTD"),
    "memit": ("cio", "rt"),
    "mprun": ("rc", "fT"),
    "lprun": ("rsz", "fmTDuo"),
}
"""Magics whose operand is a statement: the letters of their options without a value, and of those with one."""

_CELL_MAGIC = re.compile(r"%%(!|[\w.]+)")
_ESCAPE = re.compile(r"[ \t]*(?P<mark>%%?|!!?|\?|,|;|/)[ \t]*(?P<name>[\w.]*)")
_ASSIGNED = re.compile(
    r"""[ \t]*[^\W\d](?:[^=!<>%'"#\n(]|'[^'\n]*'|"[^"\n]*")*"""
    r"""(?:=[ \t]*[^\W\d](?:[^=!<>%'"#\n(]|'[^'\n]*'|"[^"\n]*")*)*=[ \t]*(?P<mark>[%!])[ \t]*(?P<name>[\w.]*)"""
)
_HELP = re.compile(r"[^'\"#\n]*\?[ \t]*$", re.M)
_AUTOMATIC = re.compile(
    r"[ \t]*(?P<mark>)(?P<name>pip3?|conda|mamba|cd|ls|ll|mkdir|rmdir|rm|cat|cp|mv|less|more|man|pwd|env|matplotlib|"
    r"load_ext|run|time|timeit|tensorflow_version)(?=[ \t]*$|[ \t]+[^\s=(\[,:+*%&|^<>@])",
    re.M,
)
_COMMENT = re.compile(r"(?<![ \t])[ \t]*#\s*(?:migrate-lint:|noqa\b)", re.I)
_TOKEN = re.compile(r"#[^\n]*|\"\"\"|'''|[\"'()\[\]{}\n]|\\\n")
_STRING_END = {
    '"""': re.compile(r'(?:[^\\]|\\.)*?"""', re.S),
    "'''": re.compile(r"(?:[^\\]|\\.)*?'''", re.S),
    '"': re.compile(r'(?:[^\\\n"]|\\.)*"?', re.S),
    "'": re.compile(r"(?:[^\\\n']|\\.)*'?", re.S),
}


@dataclass(frozen=True, slots=True)
class Edit:
    """In line `row`, `text` stands for what stood from column `start` to column `end`; all are 0-based."""

    row: int
    start: int
    end: int
    text: str


def to_python(lines: list[str], automatic: bool = False) -> list[Edit]:
    """The edits that make Python of a cell, in order; the number of lines stays.

    With `automatic`, the names of common magics are magics without a percent sign, too, as in ``pip install x``.
    """
    cell = _Cell(lines)
    start = cell.head()
    if start is not None:
        cell.dedent(start)
        cell.escapes(start, automatic)
    return [edit for row in sorted(cell.edits) for edit in sorted(cell.edits[row], key=lambda edit: edit.start)]


class _Cell:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.text = "\n".join(lines)
        self.edits: dict[int, list[Edit]] = {}
        self.starts = [0]
        for line in lines[:-1]:
            self.starts.append(self.starts[-1] + len(line) + 1)

    # -- the cell as a whole -----------------------------------------------------------------------------------------

    def head(self) -> int | None:
        """Take off cell magics; the row where Python begins, None if the cell is in another language."""
        after = 0
        for row, line in enumerate(self.lines):
            plain = line.strip()
            if not plain or plain.startswith("#"):
                continue
            magic = _CELL_MAGIC.match(plain)
            if magic is None:
                return after
            name = magic[1]
            if name not in _PYTHON_CELLS:
                self._other_language(row, name)
                return None
            self._replace(row, 0, len(line), "")
            after = row + 1
            if name == "timeit" and (body := self._operand(name, line.index("%%") + 8, line)) is not None:
                self.edits[row] = [Edit(row, 0, body, "")]
        return after

    def _other_language(self, first: int, name: str) -> None:
        for row, line in enumerate(self.lines):
            command = line.strip()
            if row > first and name in _SHELL_CELLS and _speaks(command) and not command.startswith("#"):
                self.edits[row] = [Edit(row, 0, len(line), _call("system", command))]
            else:
                self.edits[row] = [Edit(row, 0, len(line), "")]

    def dedent(self, start: int) -> None:
        """Take off the indentation of the first line from every line that has it, as IPython does."""
        first = next((line for line in self.lines[start:] if line.strip()), "")
        indent = first[: len(first) - len(first.lstrip(" \t"))]
        for row in range(start, len(self.lines)) if indent else ():
            if self.lines[row].startswith(indent):
                self._replace(row, 0, len(indent), "")

    # -- its logical lines -------------------------------------------------------------------------------------------

    def escapes(self, start: int, automatic: bool) -> None:
        """Replace what is not Python wherever a statement may begin."""
        if not automatic and not re.search(r"^[ \t]*[%!?,;/]|=[ \t]*[%!]|\?[ \t]*$", self.text, re.M):
            return
        position = self.starts[start] if start < len(self.lines) else len(self.text)
        while position < len(self.text):
            found = _ASSIGNED.match(self.text, position) or _ESCAPE.match(self.text, position)
            if found is None and automatic:
                found = _AUTOMATIC.match(self.text, position)
            if found is not None:
                position = self._escape(found)
            elif _HELP.match(self.text, position):
                position = self._ignore(position)
            else:
                position = self._end_of_statement(position)

    def _escape(self, found: re.Match[str]) -> int:
        """Replace one escape; where to read on: at its operand, if that is Python."""
        at, mark, name = found.start("mark"), found["mark"], found["name"]
        row, column = self._place(at)
        if mark in {"%", ""} and name in _OPTIONS:
            body = self._operand(name, found.end() - self.starts[row], self.lines[row])
            if body is not None and not self.lines[row].rstrip().endswith("?"):
                self._replace(row, column, body, "")
                return self.starts[row] + body
        is_assigned = bool(self.text[found.start() : at].strip())
        last = self._last_row(row)
        comment = _COMMENT.search(self.lines[row], column) if last == row else None
        end = comment.start() if comment is not None else len(self.lines[row])
        written = [self.lines[row][column + len(mark) : end], *self.lines[row + 1 : last + 1]]
        line = re.sub(r"\\\n[ \t]*", "", "\n".join(written)).strip()
        self._replace(row, column, end, _replacement(mark, line, is_assigned))
        for other in range(row + 1, last + 1):
            self.edits[other] = [Edit(other, 0, len(self.lines[other]), "")]
        return self._after(last)

    def _ignore(self, position: int) -> int:
        row, column = self._place(position)
        line = self.lines[row]
        start = len(line) - len(line[column:].lstrip(" \t"))
        self._replace(row, start, len(line), "pass")
        return self._after(row)

    def _operand(self, name: str, after: int, line: str) -> int | None:
        """The column where the operand of a magic begins, None where there is none."""
        flags, valued = _OPTIONS[name]
        options = rf"-[{flags}]+(?=[ \t])|-[{valued}][ \t]*\S+" if flags or valued else r"--no-raise-error(?=[ \t])"
        found = re.compile(rf"(?:[ \t]+(?:{options}))*[ \t]+(?=[^\s#])").match(line, after)
        return None if found is None else found.end()

    def _end_of_statement(self, position: int) -> int:
        """The offset behind the line end that ends a logical line: one outside strings and brackets."""
        depth = 0
        while (token := _TOKEN.search(self.text, position)) is not None:
            text, position = token[0], token.end()
            if text == "\n" and depth <= 0:
                return position
            if text in _STRING_END:
                string = _STRING_END[text].match(self.text, position)
                if string is None:
                    break
                position = string.end()
            elif text in "([{":
                depth += 1
            elif text in ")]}":
                depth -= 1
        return len(self.text)

    # -- places ------------------------------------------------------------------------------------------------------

    def _place(self, position: int) -> tuple[int, int]:
        row = bisect_right(self.starts, position) - 1
        return row, position - self.starts[row]

    def _last_row(self, row: int) -> int:
        """The last line of an escape: a backslash continues it."""
        while row + 1 < len(self.lines) and self.lines[row].endswith("\\"):
            row += 1
        return row

    def _after(self, row: int) -> int:
        return self.starts[row + 1] if row + 1 < len(self.lines) else len(self.text)

    def _replace(self, row: int, start: int, end: int, text: str) -> None:
        self.edits.setdefault(row, []).append(Edit(row, start, end, text))


def _replacement(mark: str, line: str, is_assigned: bool) -> str:
    """The Python that stands for a magic or a shell line."""
    if mark in {"?", ",", ";", "/"} or not (is_assigned or _speaks(line)):
        return "pass"
    if not mark.startswith("!"):
        name, _, operand = line.partition(" ")
        return _call("run_line_magic", name, operand.strip())
    return _call("getoutput" if is_assigned else "system", line)


def _speaks(line: str) -> bool:
    return "tensorflow" in line.lower()


def _call(method: str, *arguments: str) -> str:
    return f"get_ipython().{method}({', '.join(map(ascii, arguments))})"

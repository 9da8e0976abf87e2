"""A small project that is edited at random, and what is then known and new in it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

DUPLICATED = "session = tf.Session()"
"""A statement that stands in several functions."""


@dataclass
class Function:
    """A function; a line that is no comment or filler is a hazard."""

    name: str
    lines: list[str]

    def text(self) -> str:
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def {self.name}(x):\n{body}    return x\n"


@dataclass
class Tree:
    """Files by their paths, each a list of functions or methods."""

    random: random.Random
    files: dict[str, list[Function]] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=lambda: count(1))

    @classmethod
    def made(cls, seed: int) -> Tree:
        tree = cls(random.Random(seed))
        for number in range(4):
            functions = tree.files[f"pkg/m{number}.py"] = [tree.function() for _ in range(4)]
            functions[number % 2].lines.append(DUPLICATED)
            functions[2].lines.append(DUPLICATED)
        return tree

    def function(self) -> Function:
        return Function(f"build{next(self.numbers)}", [self.hazard() for _ in range(self.random.randint(2, 4))])

    def hazard(self) -> str:
        number = next(self.numbers)
        return f'x = tf.layers.dense(x, {number}, name="h{number}")'

    def write(self, folder: Path) -> None:
        """Make the folder hold these files and no other Python."""
        for path in folder.rglob("*.py"):
            path.unlink()
        for path, functions in self.files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            text = "\n\n".join(function.text() for function in functions)
            file.write_text(f"import tensorflow as tf\n\n\n{text}")

    def hazards(self) -> Counter[str]:
        """How often each hazard stands in the project."""
        return Counter(
            line
            for functions in self.files.values()
            for function in functions
            for line in function.lines
            if line.startswith(("x = tf.", "session"))
        )

    def edit(self) -> str:
        """Do one edit, and name it."""
        edits: list[Callable[[], object]] = [
            self.insert_above, self.insert_filler, self.insert_hazard, self.insert_again, self.insert_function,
            self.move_in_file, self.move_to_file, self.move_line, self.move_to_new_file, self.rename_function,
            self.rename_file, self.delete_line, self.delete_function, self.delete_file, self.reformat,
        ]  # fmt: skip
        chosen = self.random.choice(edits)
        chosen()
        return chosen.__name__

    def _file(self) -> tuple[str, list[Function]]:
        path = self.random.choice([path for path, functions in self.files.items() if functions])
        return path, self.files[path]

    def _function(self) -> Function:
        return self.random.choice(self._file()[1])

    def _position(self, items: list[str] | list[Function]) -> int:
        return self.random.randint(0, len(items))

    def insert_above(self) -> None:
        self._file()[1].insert(0, Function(f"other{next(self.numbers)}", ["y = x"] * self.random.randint(1, 9)))

    def insert_filler(self) -> None:
        lines = self._function().lines
        lines.insert(self._position(lines), self.random.choice(["y = x", "# a comment", "print(x)"]))

    def insert_hazard(self) -> None:
        lines = self._function().lines
        lines.insert(self._position(lines), self.hazard())

    def insert_again(self) -> None:
        """A statement twice; of those in several functions nobody could say which is the new one."""
        lines = self._function().lines
        if again := [line for line in lines if line != DUPLICATED]:
            lines.insert(self._position(lines), self.random.choice(again))

    def insert_function(self) -> None:
        functions = self._file()[1]
        functions.insert(self._position(functions), self.function())

    def move_in_file(self) -> None:
        self.random.shuffle(self._file()[1])

    def move_to_file(self) -> None:
        functions = self._file()[1]
        self.files[self._file()[0]].append(functions.pop(self.random.randrange(len(functions))))

    def move_to_new_file(self) -> None:
        functions = self._file()[1]
        self.files[f"pkg/new{next(self.numbers)}.py"] = [functions.pop(self.random.randrange(len(functions)))]

    def move_line(self) -> None:
        """From one function to another of the file."""
        functions = self._file()[1]
        lines = self.random.choice(functions).lines
        if lines:
            self.random.choice(functions).lines.append(lines.pop(self.random.randrange(len(lines))))

    def rename_function(self) -> None:
        self._function().name = f"renamed{next(self.numbers)}"

    def rename_file(self) -> None:
        path, functions = self._file()
        del self.files[path]
        self.files[f"lib/moved{next(self.numbers)}.py"] = functions

    def delete_line(self) -> None:
        lines = self._function().lines
        if lines:
            lines.pop(self.random.randrange(len(lines)))

    def delete_function(self) -> None:
        functions = self._file()[1]
        functions.pop(self.random.randrange(len(functions)))

    def delete_file(self) -> None:
        if len(self.files) > 3:
            del self.files[self._file()[0]]

    def reformat(self) -> None:
        lines = self._function().lines
        lines[:] = [line.replace(", name=", ",\n        name=") if "\n" not in line else line for line in lines]

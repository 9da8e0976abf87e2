"""How much memory a byte of source takes, of generated files, in an interpreter of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak of a process is read from /proc"),
]

_SIZE = 1_000_000
_LINT = """
import sys
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config
result = lint([sys.argv[1]], Config(base=sys.argv[1], target="keras3"))
assert not [finding for finding in result.findings if finding.code in ("TF900", "TF909")], result.findings[:3]
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def _program() -> str:
    """Code as people write it: this project's own modules."""
    top = Path(__file__).parents[2]
    paths = sorted([*top.glob("linter/*/*.py"), *top.glob("rules/*/*.py")])
    lines = [line for path in paths for line in path.read_text("utf-8").split("\n")]
    return "\n".join(line for line in lines if not line.startswith("from __future__")) + "\n"


def _plain(text: str) -> str:
    for word in ("tensorflow", "keras", "tf_slim", "sonnet"):
        text = text.replace(word, "numpy")
    return text


def _model() -> str:
    return (
        "class Net(tf.keras.layers.Layer):\n"
        "    def __init__(self, units, name=None):\n"
        "        super().__init__(name=name)\n"
        "        self.dense = tf.keras.layers.Dense(units, activation='relu')\n\n"
        "    def call(self, inputs, training=False):\n"
        "        if training:\n"
        "            inputs = tf.nn.dropout(inputs, 0.5)\n"
        "        return self.dense(inputs) + tf.Variable(1.0)\n\n\n"
    )


def _filled(text: str) -> str:
    return text * (_SIZE // len(text) + 1)


_NUMBERS = f"x = [{'0,' * (_SIZE // 2)}]\n"
_STRINGS = f"x = [{_filled(chr(34) + 'ab' + chr(34) + ', ')}]\n"
_TF = "import tensorflow as tf\n"


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The peak of linting an empty file."""
    return _peak(tmp_path_factory.mktemp("before") / "empty", {"m.py": ""})


def _peak(folder: Path, files: dict[str, str]) -> int:
    """Resident bytes, at most, of linting files."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    made = subprocess.run(
        [sys.executable, "-c", _LINT, str(folder)], capture_output=True, text=True, check=True, timeout=600
    )
    return int(made.stdout) * 1024


@pytest.mark.parametrize(
    ("text", "most"),
    [
        pytest.param(_filled(_plain(_program())), 120, id="code"),
        pytest.param(_filled("x = f(a, b)\n"), 120, id="short-statements"),
        pytest.param(_NUMBERS, 120, id="numbers"),
        pytest.param(_STRINGS, 120, id="strings"),
        pytest.param(_TF + _filled(_program()), 300, id="code-with-tensorflow"),
        pytest.param(_TF + _filled(_model()), 300, id="models"),
        pytest.param(_TF + _filled("x = tf.placeholder(1)\n"), 300, id="findings"),
        pytest.param(_TF + _NUMBERS, 300, id="numbers-with-tensorflow"),
    ],
)
def test_memory_a_byte(tmp_path: Path, before: int, text: str, most: int) -> None:
    """Above that of linting an empty file."""
    peak = _peak(tmp_path / "full", {"m.py": text})

    assert most * len(text.encode()) > peak - before


def test_many_files_are_not_held_at_once(tmp_path: Path, before: int) -> None:
    """Files without TensorFlow are parsed one after the other."""
    text = _plain(_program())
    peak = _peak(tmp_path / "full", {f"m{number}.py": text for number in range(10)})

    assert 120 * len(text) > peak - before


_LIMITED = """
import resource, sys
from migrate_lint.linter.run.pipeline import lint
from migrate_lint.linter.settings.config import Config
import migrate_lint.linter.run.engine, migrate_lint.linter.rule_api.model
resource.setrlimit(resource.RLIMIT_AS, (300_000_000, 300_000_000))
for finding in lint([sys.argv[1]], Config(base=sys.argv[1], target="keras3")).findings:
    print(finding.code, finding.message)
"""


def test_too_little_memory_is_told_as_such(tmp_path: Path) -> None:
    """Of the file that needs it; it is not blamed on nesting."""
    (tmp_path / "large.py").write_text(_TF + "x = f(a, b)\n" * 200_000)
    (tmp_path / "small.py").write_text(_TF + "tf.placeholder(1)\n")

    made = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(tmp_path)], capture_output=True, text=True, check=True, timeout=600
    )

    assert "TF900 there is not enough memory to read this file" in made.stdout
    assert "nested" not in made.stdout
    assert "TF909" not in made.stdout

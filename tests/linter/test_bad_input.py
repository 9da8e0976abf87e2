"""Bad input, through the real command line: reported where it lies, and never in the way of the other files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from migrate_lint.linter.cli.main import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with one good file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "p").mkdir()
    monkeypatch.chdir(tmp_path / "p")
    Path("good.py").write_text("import tensorflow as tf\n\nx = tf.constant(1)\n")


def lint(capsys: Captured, *words: str, status: int = 1) -> dict[str, list[tuple[int, str, str]]]:
    """Line, code and message of every finding by its file."""
    assert status == main(["--output-format", "json", "--jobs", "1", "--isolated", *(words or ["."])])
    printed = capsys.readouterr()
    assert "" == printed.err
    found: dict[str, list[tuple[int, str, str]]] = {}
    document: dict[str, Any] = json.loads(printed.out)
    for one in document["findings"]:
        found.setdefault(one["path"], []).append((one["line"], one["code"], one["message"]))
    return found


def test_a_missing_path_is_2(capsys: Captured) -> None:
    """Although there is another one that is fine."""
    assert 2 == main(["gone.py", "good.py"])
    assert "gone.py: there is no such file or folder" in capsys.readouterr().err


def test_what_is_no_file_is_a_finding(capsys: Captured) -> None:
    """Dangling links, links to themselves, FIFOs and devices, found or given; nobody waits for a FIFO."""
    Path("dangling.py").symlink_to("nowhere.py")
    Path("itself.py").symlink_to("itself.py")
    Path("zero.py").symlink_to("/dev/zero")
    os.mkfifo("fifo.py")
    expected = {
        "dangling.py": "link to a missing file",
        "fifo.py": "FIFO",
        "itself.py": "symbolic links",
        "zero.py": "device",
    }

    of_a_walk = expected | {"zero.py": "link out of the project"}
    for found, reasons in ((lint(capsys), of_a_walk), (lint(capsys, *expected), expected)):
        assert sorted(expected) == sorted(found)
        for path, reason in reasons.items():
            ((line, code, message),) = found[path]
            assert (1, "TF900") == (line, code)
            assert reason in message


def test_odd_folders_are_walked(capsys: Captured) -> None:
    """A folder named like a file, and links in a circle."""
    Path("x.py").mkdir()
    Path("x.py/bad.py").write_text("def f(:\n")
    Path("x.py/loop").symlink_to("..")
    Path("x.py/loop.py").symlink_to("..")

    assert ["x.py/bad.py"] == list(lint(capsys))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"\xef\xbb\xbfx = 1\n",
        b"\xef\xbb\xbf",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
        b"\x0cx = 1\n\x0c\ndef f():\n\x0c    return 1\n",
        b"def f():\n\tif x:\n\t\treturn 1\n",
        b"# coding: latin-1\nx = '\xe9'\n",
        "x = '\u2028\x85'\n".encode(),
        "größe = 1\n".encode(),
        b"x = '\\N{BULLET}'",
        b"x = 1  # no newline at the end",
        b"if x:\\\n  y\n",
    ],
)
def test_unusual_but_valid_files_are_clean(data: bytes, capsys: Captured) -> None:
    """Python reads them, so they are read."""
    Path("m.py").write_bytes(data + b"\nimport tensorflow\n" if b"import" in data else data)

    assert {} == lint(capsys, status=0)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_marks_do_not_shift_findings(start: bytes, end: bytes, capsys: Captured) -> None:
    """Form feeds and Unicode separators count no line either."""
    lines = ["import tensorflow as tf", "x = '\u2028'\x0c", "y = 1  # noqa: TF7777"]
    Path("m.py").write_bytes(start + end.join(line.encode() for line in lines) + end)

    assert {"m.py": [(3, "TF901", "TF7777 is no rule")]} == {
        path: [(line, code, message.partition(";")[0]) for line, code, message in found]
        for path, found in lint(capsys).items()
    }


@pytest.mark.parametrize(
    ("data", "code", "line", "part"),
    [
        (b"x = 1\n\0\n", "TF900", 2, "NUL"),
        (b"x = 1\ny = '\xe9'\n", "TF900", 2, "declare the file's encoding"),
        (b"# coding: klingon\n", "TF900", 1, "klingon"),
        (b"x = 1\nprint 'a'\n", "TF902", 2, "2to3"),
        (b"try:\n    pass\nexcept ValueError, e:\n    pass\n", "TF902", 3, "except X, e"),
        (b"x = 1\ndef f(:\n", "TF900", 2, "cannot be parsed"),
        (b"x = 1\n    y = 2\n", "TF900", 2, "indent"),
        (b"x = 1\n" + b"(" * 2000 + b")" * 2000, "TF900", 2, "nested"),
        (b"x = " + b"[" * 2000 + b"]" * 2000, "TF900", 1, "nested"),
        (b"x = " + b"-" * 50_000 + b"1", "TF900", 1, "nested"),
    ],
)
def test_a_bad_file_is_a_finding_in_that_file(data: bytes, code: str, line: int, part: str, capsys: Captured) -> None:
    """At its line, with what to do; the others are still linted."""
    Path("bad.py").write_bytes(b"")
    Path("also.py").write_text("y = 1  # noqa: TF7777\n")
    Path("bad.py").write_bytes(data)

    found = lint(capsys)

    assert ["also.py", "bad.py"] == sorted(found)
    ((at, which, message),) = found["bad.py"]
    assert (line, code) == (at, which)
    assert part in message


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
@pytest.mark.parametrize("text", ["type X = int\n", "def f[T](x: T): ...\n", 'f"{x["a"]}"\n'])
def test_newer_syntax_names_the_version(text: str, capsys: Captured) -> None:
    """And the one that is running."""
    Path("new.py").write_text(f"x = 1\n{text}")

    ((line, code, message),) = lint(capsys)["new.py"]

    assert (2, "TF900") == (line, code)
    assert "needs Python 3.12" in message


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join(["tf.constant(1)"] * 2000),
        "x = tf" + ".a" * 2000,
        "x = tf.constant(1)" + ".a()" * 2000,
        "".join(f"if x == {n}:\n    pass\nel" for n in range(1000)) + "se:\n    pass",
        "x = " + "".join(f"{n} if y == {n} else " for n in range(1500)) + "0",
        "x = {" + ", ".join(f"'{n}': tf.zeros({n})" for n in range(5000)) + "}",
        "def f():\n" + "".join(" " * n + "if x:\n" for n in range(1, 90)) + " " * 90 + "pass",
    ],
    ids=["sum", "attributes", "calls", "branches", "conditionals", "literal", "blocks"],
)
def test_long_and_deep_code_is_linted(text: str, capsys: Captured) -> None:
    """As machines write it."""
    Path("m.py").write_text(f"import tensorflow as tf\n{text}\ny = 1  # noqa: TF7777\n")
    found = lint(capsys)["m.py"]

    if sys.version_info[:2] == (3, 12) and found[0][1] == "TF900":  # the first releases have a limit of their own
        assert ".a()" in text
        assert "Python 3.12 began with a fixed limit" in found[0][2]
    else:
        assert ["TF901"] == [code for _, code, _ in found]


@pytest.mark.slow
def test_a_hundred_thousand_lines_are_linted(capsys: Captured) -> None:
    """The finding in the last of them is found."""
    Path("m.py").write_text("import tensorflow as tf\n" + "x = tf.constant(1)\n" * 100_000 + "y = 1  # noqa: TF7777\n")

    assert [(100_002, "TF901")] == [(line, code) for line, code, _ in lint(capsys)["m.py"]]


def test_names_that_have_many_values_are_followed_once(capsys: Captured) -> None:
    """Of sixty branches each, a name after the other: there are 60 ** 5 ways from the last one to the first."""
    branches = [f"    if x:\n        v{at} = v{at - 1}\n" * 60 for at in range(1, 6)]
    body = ["    v0 = x.get_shape()\n", *branches, "    return v5[0].value\n"]
    Path("m.py").write_text("".join(["import tensorflow as tf\n\n\ndef f(x):\n", *body]))

    assert ["TF417"] == [code for _, code, _ in lint(capsys)["m.py"]]


def test_a_file_that_changes_while_it_is_read_does_no_harm(capsys: Captured) -> None:
    """Whichever text was seen, the run ends and the report is whole."""
    stop = threading.Event()

    def change() -> None:
        texts = ["import tensorflow as tf\n" * 500, "def f(:\n", "", "x = 1\n" * 2000]
        while not stop.is_set():
            for text in texts:
                Path("m.py").write_text(text)

    Path("m.py").write_text("")
    writer = threading.Thread(target=change)
    writer.start()
    try:
        for _ in range(5):
            assert main(["--output-format", "json", "--jobs", "1", "."]) in {0, 1}
            json.loads(capsys.readouterr().out)
    finally:
        stop.set()
        writer.join()


def test_a_file_that_vanishes_is_a_finding(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the walk and the reading."""
    from migrate_lint.linter.run import pipeline as run
    from migrate_lint.linter.source.discovery import discover as found

    Path("m.py").write_text("")

    def discover(*words: Any, **options: Any) -> Any:
        result = found(*words, **options)
        Path("m.py").unlink()
        return result

    monkeypatch.setattr(run, "discover", discover)

    ((_, code, message),) = lint(capsys)["m.py"]
    assert "TF900" == code
    assert "no such file" in message


@pytest.mark.parametrize(
    "name", ["a\nb.py", "a\x1b[31mb.py", "a\rb.py", b"a\xff.py".decode("utf-8", "surrogateescape")]
)
@pytest.mark.parametrize("style", ["text", "concise", "github", "json"])
def test_a_name_is_never_printed_raw(name: str, style: str, capsys: Captured) -> None:
    """Line ends and escape sequences in a name, or in a line that is shown, stay what they are: text."""
    try:
        Path(name).write_bytes(b"print 'x\x1b[2J\x07'\n")
    except OSError:
        pytest.skip("this file system has no such names")

    assert 1 == main(["--output-format", style, "."])
    assert 2 == main([f"{name}.gone"])

    printed = capsys.readouterr()
    for text in (printed.out, printed.err):
        assert not {"\x1b", "\r", "\x07", "\udcff"} & set(text)
        assert "\nb.py" not in text


@pytest.mark.parametrize(
    ("words", "config", "message"),
    [
        (["--select", "TF9O1"], "", "unknown rule TF9O1; did you mean TF901?"),
        (["rule", "unparsable-fil"], "", "did you mean unparsable-file?"),
        ([], "slect = []\n", "migrate-lint.toml:1: unknown key slect; did you mean select?"),
        ([], "select = ['TF9O1']\n", "unknown rule TF9O1; did you mean TF901?"),
        ([], "select = [\n", "migrate-lint.toml:2: this is not TOML"),
        ([], "\n" * 20_000 + "slect = []\n", "migrate-lint.toml:20001: unknown key slect"),
        ([], f"select = []\n\njobs = {'9' * 5000}\n", "migrate-lint.toml:3: this is not TOML: Exceeds the limit"),
        ([], f"target = 0x{'f' * 9000}\n", "migrate-lint.toml:1: target is to be one of auto, keras2, keras3\n"),
        ([], f"target{'.a' * 150} = 1\n", "migrate-lint.toml:1: target is to be one of"),
        ([], f"\n{'a.' * 30_000}a = 1\n", "migrate-lint.toml:2: this key has more than 200 parts"),
        ([], f"a = {'[' * 100_000}\n", "this is not TOML"),
    ],
    ids=lambda value: None if isinstance(value, str) and len(value) > 80 else str(value)[:40],
)
def test_unknown_rules_and_keys_are_2(words: list[str], config: str, message: str, capsys: Captured) -> None:
    """With the nearest that there is."""
    Path("migrate-lint.toml").write_text(config)

    assert 2 == main(words)
    assert message in capsys.readouterr().err


def test_a_number_that_cannot_be_written_is_linted(capsys: Captured) -> None:
    """Python reads a hexadecimal number of any length, and writes it in decimal digits up to 4,300."""
    for number in (f"0x{'f' * 9000}", f"0b{'1_' * 20_000}1", f"-0o{'7' * 5000}"):
        Path("setup.py").write_text(f"import os\nos.environ['TF_USE_LEGACY_KERAS'] = {number}\n")
        Path("a.py").write_text(
            "import tensorflow as tf\nimport numpy as np\n\n@tf.function\ndef f(x):\n"
            f"    return np.sum({number})\n\ny = tf.Session({number}).run({number})\nfor i in range({number}):\n"
            f"    tf.function(lambda: {number})\ntf.get_variable('x', partitioner={number})\n"
        )

        found = lint(capsys)

        assert ["a.py"] == list(found)
        assert {"TF401", "TF406"} <= {code for _, code, _ in found["a.py"]}
        assert "TF909" not in {code for _, code, _ in found["a.py"]}


DATA = {
    "requirements.txt": "tensorflow>=2.4,<2.11 ; python_version >= '3.9'\nkeras==2.3.*\ntf_keras\n",
    "poetry.lock": '[[package]]\nname = "tensorflow"\nversion = "2.12.0"\n',
    "Pipfile.lock": '{"default": {"tensorflow": {"hashes": [1], "version": "==2.12.0"}}}',
    "Pipfile": '[packages]\nkeras = {version = "^2.3", extras = ["x"]}\n',
    "environment.yml": "dependencies:\n  - tensorflow=2.15.*\n  - pip:\n    - keras>=3\n",
    "setup.py": "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nsetup(install_requires=['tensorflow<2.11'])\n",
    "setup.cfg": "[options]\ninstall_requires =\n    tf-keras\n    tensorflow>=2.0\n",
    ".env": "TF_USE_LEGACY_KERAS=1\n",
    "Dockerfile": "ENV TF_USE_LEGACY_KERAS 1\nRUN pip install tensorflow==2.9\n",
    "pyproject.toml": '[project]\ndependencies = ["tensorflow>=2.16"]\n[tool.migrate-lint]\nselect = ["TF1"]\n'
    'jobs = 1\n[tool.migrate-lint.per-file-ignores]\n"tests/*" = ["TF1"]\n',
    ".gitignore": "*.pyc\nbuild/\n!a.py\n[a-z]x\n",
    "base.json": '{"version": 1, "initial": 3, "findings": [{"path": "a", "code": "TF402", "scope": "", "text": ""}]}',
    "model.ipynb": '{"cells": [{"cell_type": "code", "source": ["%timeit -n 3 x = 1"]}], "nbformat": 4}',
    "bad.py": "import tensorflow as tf  # noqa: TF402\ny = tf.placeholder(1)  # migrate-lint: disable=TF101\n",
}
DAMAGE = [
    *("9" * 5000, "1e999", "NaN", "-1", "1" * 4000, f"0x{'f' * 9000}", "2.*.*", "^", "[z-a]", "null", "[]", "{}", '""'),
    *("[" * 100_000, '{"a":' * 20_000, "[" * 300 + "]" * 300, "a." * 150),
    *("\0", "\\ud800", "\r", "\ufeff", "\x1b[2J", "'''", '"'),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
def test_no_data_ends_a_run(name: str, capsys: Captured) -> None:
    """Whatever a value is replaced by: the other files are linted, or the file that stands in the way is named."""
    for file, text in DATA.items():
        Path(file).write_text(text)
    values = list(re.finditer(r'"[^"\n]*"|\d+|\w+', DATA[name]))
    texts = [
        f"{DATA[name][: value.start()]}{damage}{DATA[name][value.end() :]}".encode()
        for value in values[:: max(len(values) // 4, 1)]
        for damage in DAMAGE
    ]
    encoded = [DATA[name].encode(encoding) for encoding in ("utf-16", "utf-32", "utf-8-sig", "utf-7")]
    for data in [*texts, *encoded, DATA[name].encode().replace(b"\n", b"\r\n\xff")]:
        Path(name).write_bytes(data)

        status = main(["--no-cache", "--baseline", "base.json", "--output-format", "concise", "--jobs", "1", "."])

        printed = capsys.readouterr()
        said = printed.err.replace(f"{os.getcwd()}/", "")
        assert "internal error" not in said, data
        assert "TF909" not in printed.out, data
        assert status in {0, 1} or (status == 2 and f"migrate-lint: {name}" in said), data


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_linting_never_runs_what_it_lints(jobs: str, tmp_path: Path) -> None:
    """Neither a file, nor what it imports, nor a project's own settings leave a mark."""
    mark = tmp_path / "mark"
    leave = f"open({str(mark)!r}, 'w').close()\n"
    for name in ("m", "setup", "conftest", "sitecustomize", "tensorflow", "libcst", "json", "ast", "tomllib", "rich"):
        Path(f"{name}.py").write_text(f"import tensorflow as tf\n{leave}")
    for number in range(10):
        Path(f"m{number}.py").write_text(f"import tensorflow as tf, conftest\n{leave}")
    program = str(Path(sys.executable).with_name("migrate-lint"))

    done = subprocess.run([program, "--jobs", jobs, "."], capture_output=True, text=True, check=False, timeout=900)

    assert ("", True) == (done.stderr, done.returncode in {0, 1})
    assert not mark.exists()


def test_the_module_does_not_import_from_the_working_folder(tmp_path: Path) -> None:
    """`python -m` puts it first on the path; what is linted may have a json.py of its own."""
    mark = tmp_path / "mark"
    for name in ("json", "tensorflow", "argparse", "ast", "tomllib", "hashlib", "sqlite3", "fnmatch", "rich"):
        Path(f"{name}.py").write_text(f"import tensorflow as tf\nopen({str(mark)!r}, 'w').close()\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, "-m", "migrate_lint", "--output-format", "json", "."]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=environment)

    assert ("", 0) == (done.stderr, done.returncode)
    assert 10 == json.loads(done.stdout)["summary"]["files"]
    assert not mark.exists()


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"a{n} = a{(n + 1) % 3_000}\n" for n in range(3_000)),
        "".join(f"a{n} = a{n + 1}.keras\n" for n in range(3_000)) + "a3000 = tf\n",
        "".join(f"class A{n}(A{(n + 1) % 2_000}, A{n * 7 % 2_000}): pass\n" for n in range(2_000)),
        "".join(f"class A{n}(A{n + 1}): pass\n" for n in range(2_000)) + "class A2000(tf.keras.Model): pass\n",
        "def f(x):\n  if x: pass\n" + "".join(f"  elif x == {n}: tf.Variable(1)\n" for n in range(4_500)),
    ],
    ids=["circle of names", "names before what they stand for", "circle of classes", "classes before bases", "elif"],
)
@pytest.mark.slow
def test_what_leads_to_each_other_a_thousand_times_is_no_crash(text: str, capsys: Captured) -> None:
    """No recursion is as deep as the code is long."""
    Path("long.py").write_text(f"import tensorflow as tf\n{text}a0.placeholder(1)\ntf.placeholder(1)\n")

    found = lint(capsys)["long.py"]

    assert found
    assert not [message for _, code, message in found if code in ("TF900", "TF909")]

"""What stands around the code: the configuration, the words of the command line, requirements and .gitignore.

A file with one finding is linted beside each; whatever stands there is refused with its name, or the finding is told.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from . import documents
from .commands import judged, ran
from .mutations import damaged
from .tally import Tally

WEIGHT = 2.0

_FILE = "m.py"
_CODE = "import tensorflow as tf\n\ntf.Session()\n"
_FOUND = "m.py:3:1: TF401"
_KEYS = (
    "select", "ignore", "extend-select", "exclude", "per-file-ignores", "target", "output-format", "jobs", "rules",
    "baseline",
)  # fmt: skip
_VALUES = (
    '"ALL"', '["TF1"]', '["ALL", "TF9"]', '["lambda-layer"]', "[]", "{}", '""', "1", "-1", "0", "true", "1e400",
    "nan", '"keras2"', '"both"', '"json"', "1979-05-27T07:32:00Z", '{ "**" = ["TF4"] }', '{ "[z-a]" = ["TF1"] }',
    '["[z-a]"]', '["a*a*a*a*a*a*b/**"]', '"../../x"', '["\\u0000"]', "9" * 4400, '"' + "x" * 9000 + '"', '[["TF1"]]',
    '["TF1"', "'''", "0x" + "f" * 5000, "inf", '["no-such"]', '["tf101"]', '["TFl01"]', '["' + "*" * 500 + '"]',
    '"\\ud800"', "[" * 900, '["build/"]', '["/"]', '["."]',
)  # fmt: skip
_HEADS = (
    "[tool.migrate-lint]", "[tool.migrate-lint]", '[tool."migrate-lint"]', "[ tool . migrate-lint ]",
    "[[tool.migrate-lint]]", "[tool]",
)  # fmt: skip
_NAMES = (
    "tensorflow", "tensorflow-gpu", "tf_keras", "tf-keras", "keras", "Keras", "tensorflow_cpu", "tensorflow_addons",
)  # fmt: skip
_SPECS = (
    "", "==1.15", ">=2.15,<2.16", "~=2.12", "^2.9", "==2.*", "= 2.15", ">=2.16", "<3", "[and-cuda]>=2",
    "==" + "9" * 4400, ">=1." + "0." * 2000 + "1", "==2.15+local", "===x", " ; python_version < '3.8'",
    " @ git+https://x/y", "\\\n>=2", "!=2.0", "==1e9", "==-1", "==v2.16rc1", "==2.16.*.*", "<=2.15.post1",
    ">=999999999999999999999.1", "==\u0662.\u0661", "," * 3000, "=" * 3000, " " * 20000, "==2" + " " * 20000 + "x",
    "==1!2.15", "(>=2.15)", ': "2.15"', ' = {version = "^2.15", extras = ["x"]}',
)  # fmt: skip
_MANIFESTS = (
    "requirements.txt", "requirements-dev.in", "constraints.txt", "setup.py", "setup.cfg", "pyproject.toml",
    "Pipfile", "environment.yml", "conda-x.yaml", "tox.ini", ".env", ".env.x", "Dockerfile", "Dockerfile.gpu",
    "requirements/base.txt", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "train.py",
)  # fmt: skip
_LINES = (
    "{name}{spec}", "  - {name}{spec}", '{name} = "{spec}"', 'name = "{name}"\nversion = "{spec}"', "[project]",
    "[tool.poetry.dependencies]", 'dependencies = ["{name}{spec}", "numpy"]', "TF_USE_LEGACY_KERAS=1",
    "ENV TF_USE_LEGACY_KERAS 1", "TF_USE_LEGACY_KERAS{pad}x", "RUN pip install {name}{spec} && x", "# {name}{spec}",
    "-r other.txt", '"{name}": {{"version": "=={spec}"}},', "os.environ['TF_USE_LEGACY_KERAS'] = '1'",
    'name = "{name}"\n' * 40, '"{name}": {{' + "x" * 3000, "[project.optional-dependencies]", "[[package]]", "{pad}",
    "{name}[{pad}", "{name} ({spec}",
)  # fmt: skip
_PATTERNS = (
    "*.pyc", "/build", "**/a/", "a*" * 12 + "b", "**/a/" * 14, "[z-a]", "[!a-z]*", "[", "[]", "[]]", "[[:alpha:]]",
    "[a-", "\\", "\\\\", "\\ ", "!", "!m.py", "!*", "**", "***", "**/", "/**", "/", "//", "a/**/b", "?" * 50,
    "*" * 500, "#x", "\\#x", " ", "a\x00b", "[\\]]", "\udcff", "x" * 9000, "[^]", "[[]", "{a,b}", "(a+)+$", "(", ")",
    "+", "a|b", "$", "^m", "m.py", "*.py", "[z-a]m", "[\\d]", "[a\\]",
)  # fmt: skip
_WORDS = (
    "--select", "--ignore", "--extend-select", "--target", "--output-format", "--output-file", "--statistics",
    "--exclude", "--force-exclude", "--config", "--isolated", "--show-settings", "--stdin-filename", "--exit-zero",
    "--no-cache", "--jobs", "--color", "-q", "-v", "--version", "--baseline", "--no-baseline", "--write-baseline",
    "--prune-baseline", "--diff-base", "--add-noqa", "--inputs", "--input-shape", "--device", "--timeout",
    "--memory-limit", "--trust-runtime", "rule", "check", "--all", "--completion", "m.py", ".", "--", "-h",
    "--python", "-x",
)  # fmt: skip
_GIVEN = (
    "TF1", "ALL", "keras2", "json", "out.txt", "-", "x", "", "m.py", "1", "0", "-1", "auto", "1e400", "nan", "inf",
    "9" * 4400, "\udcff", "[z-a]", "*", "a\nb", "\x1b[31m", "::error::x", "always", "bash", "both", "2,3", "?",
    "HEAD", "--upload-pack=x", "TF101,TF999", "x" * 5000, "gone/x", "a,b,,c", "CPU:0", "sarif", "html", "\u0663",
    "1_0", " 1", "base.json", "pyproject.toml", "..", "\x00",
)  # fmt: skip


def run(tally: Tally, seed: int, until: Callable[[], bool]) -> None:
    """One of the kinds at a time, each in a folder of its own."""
    random = Random(seed)
    top = os.path.realpath(tempfile.mkdtemp(prefix="configuration-"))
    while not until():
        for kind, attempt in _KINDS.items():
            folder = Path(top, "p")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            os.chdir(folder)
            Path("setup.cfg").touch()
            Path(_FILE).write_text(_CODE)
            data, problem, seconds = attempt(random)
            judged(tally, kind, data, problem, seconds)


_Attempt = tuple[bytes, str, float]


def _lint(*words: str) -> tuple[int | None, str, str, float, str]:
    done = ran("--no-cache", "--jobs", "1", "--output-format", "concise", *words)
    return done.status, done.output, done.errors, done.seconds, done.wrong(0, 1, 2)


def _configured(random: Random) -> _Attempt:
    name = random.choice(("pyproject.toml", "migrate-lint.toml"))
    lines = [random.choice(_HEADS)] if name == "pyproject.toml" or random.random() < 0.2 else []
    if random.random() < 0.1:
        lines = ["\n" * random.choice((1, 3000)), *lines]
    for _ in range(random.randint(0, 4)):
        key = random.choice(
            (*_KEYS, *_KEYS, "foo", '"select"', "per-file-ignores.x", "tool.x", "\u00e4", '""', "a.b.c")
        )
        lines.append(f"{key} = {random.choice(_VALUES)}")
    if random.random() < 0.3:
        lines += [f"[tool.migrate-lint.{random.choice(_KEYS)}]", f'"*" = {random.choice(_VALUES)}']
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    if random.random() < 0.3:
        data = damaged(random, data)
    Path(name).write_bytes(data)
    status, output, errors, seconds, problem = _lint(_FILE)
    if not problem and status == 2 and name not in errors and "there is no such baseline" not in errors:
        problem = f"refused without the name of the file: {errors[:300]}"
    if not problem and status == 2 and _FOUND in output:
        problem = "status 2 with findings"
    return name.encode() + b"\n" + data, problem, seconds


def _kept(problem: str, status: int | None, output: str, errors: str) -> str:
    """What is wrong where nothing may hide the finding."""
    return problem or ("" if status == 1 and _FOUND in output else f"the finding is lost: {status}, {errors[:300]}")


def _required(random: Random) -> _Attempt:
    name = random.choice(_MANIFESTS)
    lines = []
    for _ in range(random.randint(1, 8)):
        line = random.choice(_LINES)
        pad = random.choice((" ", "\t", "=", '"', "[")) * random.choice((1, 3, 20_000))
        lines.append(line.format(name=random.choice(_NAMES), spec=random.choice(_SPECS), pad=pad))
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    if random.random() < 0.3:
        data = damaged(random, data)
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    words = (_FILE,) if name != "pyproject.toml" else (_FILE, "--isolated")
    status, output, errors, seconds, problem = _lint(*words)
    return name.encode() + b"\n" + data, _kept(problem, status, output, errors), seconds


def _ignored(random: Random) -> _Attempt:
    lines = [random.choice(_PATTERNS) for _ in range(random.randint(1, 6))]
    for index, line in enumerate(lines):
        if random.random() < 0.3:
            at = random.randint(0, len(line))
            lines[index] = line[:at] + random.choice("*?[]!\\/-^ \tab") * random.choice((1, 2, 9)) + line[at:]
    data = random.choice(("\n", "\r\n", "\r")).join(lines).encode("utf-8", "surrogateescape")
    if random.random() < 0.2:
        data = damaged(random, data)
    for name in ("a" * 60 + ".py", "a/" * 15 + "x.py", "b].py"):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_CODE)
    random.choice((Path(".gitignore"), Path("a/.gitignore"))).write_bytes(data)
    status, output, errors, seconds, problem = _lint(_FILE)
    problem = _kept(problem, status, output, errors)
    walked = _lint(".")
    return data, problem or walked[4], max(seconds, walked[3])


def _worded(random: Random) -> _Attempt:
    Path("base.json").write_text('{"version": 1, "initial": 0, "findings": []}')
    words = [random.choice(_WORDS if random.random() < 0.6 else _GIVEN) for _ in range(random.randint(1, 6))]
    if random.random() < 0.2:
        words = [
            "verify",
            *(random.choice((*_GIVEN, "--compare", "--gen-test", "--policy", "--until")) for _ in range(3)),
        ]
    if "-" in words:
        words = [word for word in words if word != "-"]  # standard input is this process's
    done = ran(*words)
    return "\0".join(words).encode("utf-8", "surrogatepass"), done.wrong(0, 1, 2, 3, 4), done.seconds


def _baselined(random: Random) -> _Attempt:
    row = {"path": _FILE, "code": "TF401", "scope": "", "text": "tf.Session()"}
    document = {
        "version": 1,
        "initial": 3,
        "findings": [row, {**row, "code": "TF101", "origin": "runtime"}, {**row, "path": "gone.py"}],
    }
    data = documents.written(random, document)
    Path("base.json").write_bytes(data)
    action = random.choice(((), ("--prune-baseline",), ("--write-baseline",)))
    status, _, errors, seconds, problem = _lint(_FILE, "--baseline", "base.json", *action)
    if not problem and status == 2:
        if "base.json" not in errors:
            problem = f"refused without the name of the file: {errors[:300]}"
        elif Path("base.json").read_bytes() != data:
            problem = "a baseline that is refused is written"
    if not problem and status != 2 and action and (again := _lint(_FILE, "--baseline", "base.json"))[0] not in (0, 1):
        problem = f"what was written is refused: {again[2][:300]}"
    return data, problem, seconds


_KINDS: dict[str, Callable[[Random], _Attempt]] = {
    "configuration: files": _configured,
    "configuration: words": _worded,
    "configuration: requirements": _required,
    "configuration: .gitignore": _ignored,
    "baselines": _baselined,
}

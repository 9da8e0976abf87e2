"""Who may import whom, and who may print: read from the source with the standard library alone."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINTER = sorted((ROOT / "linter").rglob("*.py"))
RULES = sorted((ROOT / "rules").rglob("*.py"))
WORKER = sorted((ROOT / "runtime_checks" / "worker").rglob("*.py"))
HOST = sorted((ROOT / "runtime_checks").glob("*.py"))
COMPARISON = sorted((ROOT / "runtime_checks" / "comparison").rglob("*.py"))
FRAMEWORKS = {"tensorflow", "keras", "tf_keras", "tf_slim", "numpy"}
FRAMEWORKS_BESIDE = {("in_process", "tensorflow"), ("in_tests", "tensorflow"), ("verifying", "numpy")}
"""Host modules that import one when they are asked for what needs it."""
RECORDING = "migrate_lint.runtime_checks.worker.recording"
READING = "migrate_lint.runtime_checks.worker.atomic"
ROOMS = [
    pytest.param(
        ROOT / "linter",
        [
            "atomic finding", "runtime_report", "source",
            "analysis", "settings", "rule_api", "fixing registry", "result", "run", "adoption pairs",
            "reporters", "cli", ".",
        ],
        id="linter",
    ),
    pytest.param(
        ROOT / "runtime_checks" / "worker" / "recording",
        [
            "tensors", "pairs", "format", "values", "watching", "randomness mutations", "float64 pipelines", "tf1 tf2",
            ".",
        ],
        id="recording",
    ),
    pytest.param(
        ROOT / "runtime_checks" / "comparison",
        [
            "results distributions passes points", "wording", "judging",
            "batches divergence draws excerpts float64 initial_values metrics pipelines precision rates replicas "
            "resume settings vacuity",
            "causes reporters", "trying", "report training", "climb", "variants", "rungs", ".",
        ],
        id="comparison",
    ),
]
"""Folders whose own folders are rooms, from the lowest up; rooms in one line know nothing of each other, and what
lies beside the rooms is called ``.`` unless it is named itself."""
SHARED = {"migrate_lint.linter.finding", "migrate_lint.linter.runtime_report"}
"""Plain data that the linter and the host of a run hand to each other."""
REPORTING = {
    f"migrate_lint.linter.{name}"
    for name in ("atomic", "finding", "reporters.junit_xml", "reporters.page", "reporters.printable")
}
"""What the linter lends to other reports: it needs nothing but the standard library."""
RULE_API = {f"migrate_lint.linter.rule_api.{name}" for name in ("rule", "model", "rewriting", "contrib")}


def _module(path: Path) -> list[str]:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ["migrate_lint", *(parts[2:] if parts[:2] == ["linter", "package"] else parts)]


def _imports(path: Path, text: str | None = None) -> Iterator[str]:
    """Absolute dotted names of all that `path` imports, wherever in the file it does."""
    here = _module(path)
    for node in ast.walk(ast.parse(path.read_text("utf-8") if text is None else text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*here[: -node.level], *filter(None, [node.module])] if node.level else [node.module or ""]
            yield from (".".join([*base, alias.name]) for alias in node.names)


def _within(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _offences(paths: list[Path], forbidden: set[str]) -> list[tuple[str, str]]:
    return [
        (str(path.relative_to(ROOT)), name) for path in paths for name in _imports(path) if _within(name, forbidden)
    ]


def _edges(paths: Iterable[Path]) -> dict[str, set[str]]:
    """The modules among `paths` that each of them imports, wherever in the file it does."""
    names = {".".join(_module(path)).removesuffix(".__init__"): path for path in paths}

    def known(name: str) -> str:
        return name if name in names or "." not in name else known(name.rpartition(".")[0])

    return {name: {known(other) for other in _imports(path)} & names.keys() - {name} for name, path in names.items()}


def _upward(folder: Path, levels: Sequence[str]) -> list[tuple[str, str]]:
    """The imports from one room of a folder into one that does not lie below it; rooms that no level names, too.

    ``package`` is no room: what lies there is `migrate_lint` itself.
    """
    modules = [path for path in folder.rglob("*.py") if "package" not in path.relative_to(folder).parts]
    paths = {".".join(_module(path)): path.relative_to(folder).parts for path in modules}
    height = {room: at for at, level in enumerate(levels) for room in level.split()}
    rooms = {
        name.removesuffix(".__init__"): parts[0] if parts[1:] else next(iter(height.keys() & {parts[0][:-3]}), ".")
        for name, parts in paths.items()
    }
    return [
        (one, other)
        for one, others in _edges(modules).items()
        for other in [one, *others]
        if rooms[one] not in height
        or (rooms[one] != rooms[other] and height[rooms[one]] <= height.get(rooms[other], len(levels)))
    ]


def _circle(paths: Iterable[Path]) -> list[str]:
    """Modules that import each other in a circle."""
    try:
        graphlib.TopologicalSorter(_edges(paths)).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def _prints(path: Path, text: str | None = None) -> Iterator[int]:
    """Lines of `path` that print or name a standard stream."""
    for node in ast.walk(ast.parse(path.read_text("utf-8") if text is None else text)):
        match node:
            case (
                ast.Call(func=ast.Name(id="print")) | ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr")
            ):
                yield node.lineno


def test_there_is_something_to_read() -> None:
    """A moved folder must not turn every assertion below into an empty one."""
    assert len(LINTER) > 5
    assert len(RULES) > 5
    assert len(HOST) > 5
    assert len(COMPARISON) > 5
    assert len(WORKER) > 5


def test_imports_are_resolved_as_installed() -> None:
    """Relative imports count from where a file is installed, not from where it lies."""
    text = "from ...linter.rule_api.rule import Rule\nfrom . import a\nimport os.path"

    assert ["migrate_lint.linter.rule_api.rule.Rule", "migrate_lint.rules.keras.a", "os.path"] == list(
        _imports(ROOT / "rules" / "keras" / "x.py", text)
    )
    assert ["migrate_lint.linter.cli.main.main"] == list(
        _imports(ROOT / "linter" / "package" / "__main__.py", "from .linter.cli.main import main")
    )


def test_prints_are_seen() -> None:
    """Both spellings count, a method named print does not."""
    text = "print(1)\nconsole.print(2)\nsys.stderr.write('x')"

    assert [1, 3] == sorted(_prints(Path(), text))


def test_upward_imports_and_circles_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also late ones, and rooms that nobody has listed."""
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    files = {"low/a.py": "", "low/b.py": "def f():\n    from ..high import c", "high/c.py": "from ..low.b import f"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    b, c = "migrate_lint.low.b", "migrate_lint.high.c"

    assert [(b, c)] == _upward(tmp_path, ["low", "high"])
    assert {(b, c), (c, b)} == set(_upward(tmp_path, ["low high"]))
    assert {(b, c), (c, b), (c, c)} == set(_upward(tmp_path, ["low"]))
    assert {b, c} == set(_circle(tmp_path.rglob("*.py")))
    assert [] == _circle([tmp_path / "low" / "a.py", tmp_path / "low" / "b.py"])


@pytest.mark.parametrize(("folder", "levels"), ROOMS)
def test_rooms_import_what_lies_below_them(folder: Path, levels: list[str]) -> None:
    """The folder tree is the architecture."""
    assert [] == _upward(folder, levels)


@pytest.mark.parametrize("folder", ["linter", "rules", "runtime_checks"])
def test_no_modules_import_each_other_in_a_circle(folder: str) -> None:
    """Neither late nor for a type."""
    assert [] == _circle((ROOT / folder).rglob("*.py"))


def test_nothing_here_imports_a_framework() -> None:
    """The linter runs where TensorFlow cannot."""
    assert [] == _offences(LINTER + RULES, FRAMEWORKS)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in RULES])
def test_rule_imports_the_rule_api_alone(path: Path) -> None:
    """A rule sees the modules of the rule API, stdlib, libcst, and modules of vocabulary without a rule."""
    known = RULE_API | {".".join(_module(other)) for other in RULES if "(Rule):" not in other.read_text("utf-8")}
    foreign = [
        name
        for name in _imports(path)
        if name.split(".")[0] not in sys.stdlib_module_names | {"libcst"} and not _within(name, known)
    ]

    assert [] == foreign


def test_only_the_registry_imports_rules() -> None:
    """Everything else gets rules handed in."""
    assert {"linter/registry/registry.py"} >= {path for path, _ in _offences(LINTER, {"migrate_lint.rules"})}


def test_only_the_commands_import_the_runtime_checks() -> None:
    """Linting does not pay for what it does not do."""
    commands = {f"linter/cli/{name}.py" for name in ("main", "proving", "resume_command", "verify_command")}

    assert {*commands, "linter/pytest_plugin.py"} >= {
        path for path, _ in _offences(LINTER + RULES, {"migrate_lint.runtime_checks"})
    }


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in HOST])
def test_the_host_side_imports_findings_alone(path: Path) -> None:
    """It needs neither the rest of the linter nor anything that is installed."""
    foreign = [
        name
        for name in _imports(path)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not _within(name, SHARED | {"migrate_lint.runtime_checks"})
    ]

    assert [] == [name for name in foreign if (path.stem, name) not in FRAMEWORKS_BESIDE]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in HOST])
def test_the_host_side_sees_of_the_worker_what_it_records(path: Path) -> None:
    """The two scopes, what runs in the caller's process, and how files are read are the exceptions."""
    seen = [name for name in _imports(path) if ".worker" in name and not _within(name, {RECORDING, READING})]

    assert path.stem in ("__init__", "in_process", "in_tests") or [] == seen


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in COMPARISON])
def test_the_comparison_needs_numpy_alone(path: Path) -> None:
    """It compares recordings where no TensorFlow is, and reads them by the worker's own code."""
    foreign = [
        name
        for name in _imports(path)
        if name.split(".")[0] not in sys.stdlib_module_names | {"numpy"}
        and not _within(name, REPORTING | {"migrate_lint.runtime_checks.comparison", RECORDING, READING})
    ]

    assert [] == foreign


def test_importing_the_runtime_checks_imports_no_framework() -> None:
    """A name that needs one imports it when it is asked for."""
    script = (
        "import sys, migrate_lint.runtime_checks as m; "
        "print(sorted({'numpy', 'tensorflow', 'libcst', 'migrate_lint.linter'} & set(sys.modules)), sorted(m.__all__))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    names = ["Converter", "Pair", "Spec", "assert_no_variable_creations", "catch_and_raise_created_variables"]
    more = ["compare", "keras_spec", "record", "to_fill", "until_session", "verify"]
    assert f"[] {[*names, *more]}" == done.stdout.strip()


@pytest.mark.parametrize("path", [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in WORKER])
def test_the_worker_needs_nothing_but_the_models_own_libraries(path: Path) -> None:
    """It runs where only the standard library, numpy and some TensorFlow are, and there as a package of its own."""
    foreign = [
        name
        for name in _imports(path)
        if name.split(".")[0] not in sys.stdlib_module_names | FRAMEWORKS | {"_migrate_lint_worker"}
        and not _within(name, {"migrate_lint.runtime_checks.worker"})
    ]

    assert [] == foreign


@pytest.mark.parametrize("path", [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in WORKER])
def test_the_worker_is_python_3_7_and_imports_tensorflow_late(path: Path) -> None:
    """A model's interpreter may be that old, and who imports the scopes has not asked for TensorFlow yet."""
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 7))
    early = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]

    assert [] == [
        name for node in early for name in _imports(path, ast.unparse(node)) if _within(name, FRAMEWORKS - {"numpy"})
    ]


def test_findings_know_nothing_of_their_makers() -> None:
    """`finding.py` is plain data: it imports nothing of ours."""
    assert [] == _offences([ROOT / "linter" / "finding.py"], {"migrate_lint"})


def test_inside_the_imports_are_relative() -> None:
    """A relative import is true on disk and installed, so an editor opens the real file."""
    absolute = [
        (str(path.relative_to(ROOT)), node.lineno)
        for path in LINTER + RULES + HOST + COMPARISON + WORKER
        if (ROOT / "linter" / "package") not in path.parents
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").startswith("migrate_lint"))
        or (isinstance(node, ast.Import) and any(alias.name.startswith("migrate_lint") for alias in node.names))
    ]

    assert [] == absolute


def test_only_the_command_line_and_reporters_print() -> None:
    """Every other stage hands data on."""
    everything = LINTER + RULES + HOST + COMPARISON + WORKER
    printing = {path.relative_to(ROOT).as_posix() for path in everything if any(_prints(path))}

    allowed = {"linter/cli/main.py", "linter/cli/console.py", "linter/cli/language_server.py"}
    assert set() == {path for path in printing - allowed if not path.startswith("linter/reporters/")}

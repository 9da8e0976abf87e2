"""What a project's files say about the TF2 that it moves to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from migrate_lint.linter.finding import Target
from migrate_lint.linter.settings.target import decide_target


def decide(root: Path, **files: str) -> tuple[str, str]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    target, reason = decide_target(root)
    return target.value, reason


def test_without_evidence_it_is_keras3(tmp_path: Path) -> None:
    """The default of today's TensorFlow."""
    assert ("keras3", "no evidence in the project") == decide(tmp_path)


def test_what_is_configured_counts(tmp_path: Path) -> None:
    """Whatever the files say."""
    (tmp_path / "requirements.txt").write_text("tf_keras\n")

    assert (Target.KERAS3, "as configured") == decide_target(tmp_path, "keras3")


@pytest.mark.parametrize(
    ("name", "text", "target", "reason"),
    [
        ("requirements.txt", "numpy\ntf_keras\n", "keras2", "tf_keras in requirements.txt:2"),
        ("requirements.txt", "tf-keras==2.16\n", "keras2", "tf-keras in requirements.txt:1"),
        ("requirements.txt", "tensorflow<2.16\n", "keras2", "tensorflow<2.16 in requirements.txt:1"),
        ("requirements.txt", "tensorflow >= 1.15, < 2.16  # old\n", "keras2", "tensorflow>= 1.15, < 2.16"),
        ("requirements.txt", "tensorflow-gpu==2.8.0\n", "keras2", "tensorflow-gpu==2.8.0"),
        ("requirements.txt", "tensorflow[and-cuda]~=2.12\n", "keras2", "tensorflow~=2.12"),
        ("requirements.txt", "tensorflow>=2.16\n", "keras3", "tensorflow>=2.16 in requirements.txt:1"),
        ("requirements.txt", "tensorflow==2.17.1 ; python_version >= '3.9'\n", "keras3", "tensorflow==2.17.1"),
        ("requirements.txt", "keras>=3\n", "keras3", "keras>=3 in requirements.txt:1"),
        ("requirements.txt", "keras<3\n", "keras2", "keras<3"),
        ("requirements.txt", "tensorflow==1.15.0\nkeras==2.2.4\n", "keras3", "no evidence"),
        ("requirements.txt", "tensorflow>=1.15,<2\n", "keras3", "no evidence"),
        ("requirements.txt", "tensorflow>=2.0\ntensorflow-datasets<2\n", "keras3", "no evidence"),
        ("requirements.txt", "# tf_keras\n", "keras3", "no evidence"),
        ("requirements.txt", "-r tf_keras.txt\n", "keras3", "no evidence"),
        ("requirements/base.txt", "tf_keras\n", "keras2", "requirements/base.txt:1"),
        ("requirements-dev.in", "tf_keras\n", "keras2", "requirements-dev.in:1"),
        ("constraints.txt", "tensorflow==2.15.1\n", "keras2", "constraints.txt:1"),
        ("setup.py", "setup(install_requires=['numpy', 'tensorflow>=2.4,<2.11'])\n", "keras2", "setup.py:1"),
        ("setup.cfg", "[options]\ninstall_requires =\n    tf-keras\n", "keras2", "setup.cfg:3"),
        ("pyproject.toml", '[project]\ndependencies = ["tensorflow>=2.16"]\n', "keras3", "pyproject.toml:2"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "~2.15"\n', "keras2", "pyproject.toml:2"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "^2.12"\n', "keras3", "no evidence"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = {version = "2.15.0"}\n', "keras2", "2.15.0"),
        ("pyproject.toml", '[project.optional-dependencies]\nold = ["tf-keras"]\n', "keras3", "no evidence"),
        ("Pipfile", '[packages]\ntensorflow = "==2.15.*"\n', "keras2", "Pipfile:2"),
        ("Pipfile.lock", '{"default": {"tensorflow": {"index": "pypi", "version": "==2.15.0"}}}', "keras2", "2.15.0"),
        ("poetry.lock", '[[package]]\nname = "tensorflow"\nversion = "2.18.0"\n', "keras3", "poetry.lock:2"),
        ("uv.lock", '[[package]]\nname = "tensorflow"\nversion = "2.14.0"\n', "keras2", "uv.lock:2"),
        ("environment.yml", "dependencies:\n  - tensorflow=2.15\n", "keras2", "environment.yml:2"),
        ("environment.yml", "variables:\n  TF_USE_LEGACY_KERAS: 1\n", "keras2", "environment.yml:2"),
        (".env", "TF_USE_LEGACY_KERAS=1\n", "keras2", "TF_USE_LEGACY_KERAS=1 in .env:1"),
        (".env", "TF_USE_LEGACY_KERAS=0\n", "keras3", "no evidence"),
        ("Dockerfile", "FROM x\nENV TF_USE_LEGACY_KERAS 1\n", "keras2", "Dockerfile:2"),
        ("Dockerfile", "RUN pip install tensorflow==2.15.0\n", "keras2", "Dockerfile:1"),
        ("tox.ini", "[testenv]\nsetenv =\n    TF_USE_LEGACY_KERAS = 1\n", "keras2", "tox.ini:3"),
        ("README.md", "tf_keras\n", "keras3", "no evidence"),
        ("sub/requirements.txt", "tf_keras\n", "keras3", "no evidence"),
    ],
)
def test_requirements_are_read(tmp_path: Path, name: str, text: str, target: str, reason: str) -> None:
    """The reason names file and line."""
    decided, why = decide(tmp_path, **{name: text})

    assert target == decided
    assert reason in why


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n", "keras2"),
        ("import os\nos.environ.setdefault('TF_USE_LEGACY_KERAS', 'True')\n", "keras2"),
        ("import os\nos.environ.update(TF_USE_LEGACY_KERAS='1')\n", "keras2"),
        ("import os\nos.environ.update({'A': '0', 'TF_USE_LEGACY_KERAS': '1'})\n", "keras2"),
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '0'\n", "keras3"),
        ("import os\nos.environ.get('TF_USE_LEGACY_KERAS', '1')\n", "keras3"),
        ("import os\nx = os.environ['TF_USE_LEGACY_KERAS'] == '1'\n", "keras3"),
        ('"""Set os.environ["TF_USE_LEGACY_KERAS"] = "1"."""\n', "keras3"),
        ("# TF_USE_LEGACY_KERAS = '1'\n", "keras3"),
        ("TF_USE_LEGACY_KERAS = (\n", "keras3"),
    ],
)
def test_code_that_sets_the_flag_counts(tmp_path: Path, text: str, target: str) -> None:
    """Reading it or writing about it does not."""
    decided, why = decide(tmp_path, **{"pkg/start.py": text})

    assert target == decided
    assert ("pkg/start.py:2" in why) == (target == "keras2")


def test_the_stronger_evidence_decides(tmp_path: Path) -> None:
    """A flag works whatever is installed; a locked tf-keras may be another package's wish."""
    assert "keras3" == decide(tmp_path, **{"requirements.txt": "tensorflow>=2.16\nkeras>=3\n"})[0]
    lock = '[[package]]\nname = "tf-keras"\nversion = "2.18.0"\n'
    assert "keras3" == decide(tmp_path, **{"poetry.lock": lock})[0]
    assert "keras2" == decide(tmp_path, **{"run.py": "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n"})[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.py", "setup(description='a toolkit for tf.keras', install_requires=['tensorflow>=2.17'])\n"),
        ("setup.py", 'setup(long_description="""\ntf_keras\n""", keywords=["keras<3", "tf-keras"])\n'),
        ("setup.py", '"""Pins tensorflow==2.15."""\nTEXT = "tensorflow<2.16"\nsetup(name="tf-keras")\n'),
        ("setup.py", "setup(entry_points={'x': ['tf_keras']}, url='https://x/tf-keras')  # tensorflow<2.16\n"),
        ("setup.cfg", "[metadata]\ndescription = layers for\n    tf.keras\nkeywords = keras, tf-keras\n"),
        ("pyproject.toml", '[project]\nname = "tf-keras"\ndescription = "tensorflow==2.15"\n'),
        ("pyproject.toml", '[project]\nkeywords = ["tf.keras", "keras<3"]\n'),
        ("pyproject.toml", '[tool.x]\nhelp = """\ntf_keras\nTF_USE_LEGACY_KERAS=1\n"""\n'),
        ("environment.yml", "name: tf-keras\nchannels:\n  - tensorflow=2.15\ndependencies:\n  - python\n"),
        ("meta.yaml", "about:\n  summary: tf.keras\n  description: |\n    dependencies:\n      - tf-keras\n"),
        ("recipe/meta.yaml", "test:\n  imports:\n    - tf_keras\n  commands:\n    - tf-keras\n"),
        ("tox.ini", "[testenv]\ndescription = tests with tf_keras\n    TF_USE_LEGACY_KERAS=1\n"),
        ("Dockerfile", "# tensorflow==2.15\nLABEL description=tf.keras\nENV ABOUT tf_keras\nCOPY tf-keras /x\n"),
        (".env", "ABOUT=tensorflow==2.15\n# TF_USE_LEGACY_KERAS=1\n"),
        ("requirements.txt", "keras is what we use\n# tensorflow<2.16\n-r tf-keras.txt\n--find-links tf_keras\n"),
        ("poetry.lock", '[[package]]\nname = "x"\nversion = "1"\ndescription = "tensorflow 2.15 for tf-keras"\n'),
    ],
)
def test_prose_is_no_evidence(tmp_path: Path, name: str, text: str) -> None:
    """A description, a keyword, a name, a comment: none of them requires anything."""
    decided, why = decide(tmp_path, **{name: text})

    assert "keras3" == decided
    assert ("tensorflow>=2.17" if ">=2.17" in text else "no evidence in the project") in why


@pytest.mark.parametrize(
    ("name", "text", "target", "reason"),
    [
        ("setup.py", "REQ = ['numpy']\nREQ += ['tensorflow<2.16']\nsetup(install_requires=REQ)\n", "keras2", ":2"),
        ("setup.py", "a = []\na.append('tf-keras')\nsetup(install_requires=['x', *a])\n", "keras2", ":2"),
        ("setup.py", "V = '2.15'\nsetup(install_requires=[f'tensorflow=={V}'])\n", "keras2", "tensorflow==2.15"),
        ("setup.py", "V = '2.15'\nsetup(install_requires=['tensorflow==' + V])\n", "keras2", "tensorflow==2.15"),
        ("setup.py", "c = {'install_requires': ('tf_keras',)}\nsetup(**c)\n", "keras2", "setup.py:1"),
        ("setup.py", "c = {}\nc['install_requires'] = ['tf_keras']\nsetup(**c)\n", "keras2", "setup.py:2"),
        ("setup.py", 'setup(**dict(install_requires="""numpy\ntf_keras\n"""))\n', "keras2", "tf_keras"),
        ("setup.py", "def r():\n  return ['tf_keras']\nsetup(install_requires=r())\n", "keras2", "setup.py:2"),
        ("setup.py", "E = {'gpu': ['tensorflow-gpu<2.10']}\nsetup(extras_require=E)\n", "keras2", "gpu<2.10"),
        ("setup.py", "setup(extras_require={'old': ['tf-keras']})\n", "keras3", "no evidence"),
        ("setup.py", "a = a\nsetup(install_requires=a)\n", "keras3", "no evidence"),
        ("setup.py", "setup(install_requires=open('r').read() +\n", "keras3", "no evidence"),
        ("setup.cfg", "[options.extras_require]\ntf =\n    tensorflow<2.16\n", "keras2", "setup.cfg:3"),
        ("setup.cfg", "[tool:pytest]\nenv =\n    TF_USE_LEGACY_KERAS=1\n", "keras2", "setup.cfg:3"),
        ("pyproject.toml", '[project]\ndependencies = [\n  "x",\n  "tf_keras",\n]\n', "keras2", ":4"),
        ("pyproject.toml", '[project.optional-dependencies]\ntf = ["tensorflow<2.16"]\n', "keras2", "2.16"),
        ("pyproject.toml", '[tool.poetry.group.dev.dependencies]\ntf-keras = "*"\n', "keras3", "no evidence"),
        ("pyproject.toml", '[tool.pytest.ini_options]\nenv = ["TF_USE_LEGACY_KERAS=1"]\n', "keras2", ":2"),
        ("Pipfile", '[dev-packages]\ntf-keras = "*"\n', "keras3", "no evidence"),
        ("environment.yml", "dependencies:\n- pip:\n  - tf-keras<1\n- tensorflow=2.15=gpu_1\n", "keras2", ":4"),
        ("environment.yaml", "dependencies: [python, 'conda-forge::tensorflow=2.15']\n", "keras2", ":1"),
        ("meta.yaml", "requirements:\n  run:\n    - tensorflow 2.15.*  # [linux]\n", "keras2", "meta.yaml:3"),
        ("conda/meta.yaml", "requirements:\n  run_constrained:\n    - tf-keras\n", "keras3", "no evidence"),
        ("conda-lock.yml", "package:\n- name: tensorflow\n  version: 2.15.0\n", "keras2", "conda-lock.yml:2"),
        ("Dockerfile", "FROM tensorflow/tensorflow:2.15.0-gpu AS base\n", "keras2", "tensorflow==2.15.0"),
        ("Dockerfile", "FROM x\nRUN apt-get install y && \\\n pip install 'tensorflow<2.16' x\n", "keras2", ":2"),
        ("Dockerfile", "ENV A=1 TF_USE_LEGACY_KERAS=1\n", "keras2", "Dockerfile:1"),
        ("tox.ini", "[testenv]\ndeps =\n    tensorflow<2.16\n", "keras2", "tox.ini:3"),
        ("requirements.txt", "tensorflow==2.15.0 \\\n    --hash=sha256:00\n", "keras2", "requirements.txt:1"),
        ("requirements.txt", "tf-keras @ https://x/y.whl\n", "keras2", "requirements.txt:1"),
    ],
)
def test_each_format_is_read_by_its_structure(tmp_path: Path, name: str, text: str, target: str, reason: str) -> None:
    """Through the variables of a script, tables, sections and lists."""
    decided, why = decide(tmp_path, **{name: text})

    assert (target, True) == (decided, reason in why), why


@pytest.mark.filterwarnings("error")
def test_a_script_that_python_warns_of_is_read_in_silence(tmp_path: Path) -> None:
    """And one that is too large for a script is not read."""
    text = "x = '\\d' is 1\nsetup(install_requires=['tf_keras'])\n"

    assert "keras2" == decide(tmp_path, **{"setup.py": text})[0]
    assert "keras3" == decide(tmp_path, **{"setup.py": text + "#" * 500_000})[0]


def test_an_unsaved_text_sets_the_flag(tmp_path: Path) -> None:
    """As a conversion does in a file that is not yet written."""
    path = tmp_path / "train.py"
    path.write_text("")
    text = b'import os\nos.environ["TF_USE_LEGACY_KERAS"] = "1"\n'

    assert decide_target(tmp_path, "auto", [str(path)])[0] is Target.KERAS3
    assert decide_target(tmp_path, "auto", [str(path)], {str(path): text})[0] is Target.KERAS2


def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    """A FIFO named like a requirements file does not stop the run."""
    os.mkfifo(tmp_path / "requirements.txt")
    (tmp_path / "setup.py").mkdir()

    assert "keras3" == decide(tmp_path)[0]

"""A name is looked up by import and attributes, without the side effects of either where it can be helped."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from migrate_lint.runtime_checks.worker import lookup
from migrate_lint.runtime_checks.worker.lookup import look_up


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A package `acme_lookup` with a submodule that nobody has imported."""
    folder = tmp_path / "acme_lookup"
    folder.mkdir()
    (folder / "__init__.py").write_text("class Kind:\n    MEMBER = 1\n", "utf-8")
    (folder / "later.py").write_text("value = 1\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(lookup, "_found", {})
    import acme_lookup  # type: ignore[import-not-found]

    for name in [name for name in sys.modules if name.partition(".")[0] == "acme_lookup"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "acme_lookup", acme_lookup)
    module: ModuleType = acme_lookup
    return module


def test_a_name_that_is_there_has_no_error(package: ModuleType) -> None:
    """Members of a class are public names too."""

    assert "" == look_up("acme_lookup.Kind.MEMBER").error


def test_a_missing_name_has_the_error_of_reading_it(package: ModuleType) -> None:
    """The text is what the user's line would raise."""

    assert "AttributeError: module 'acme_lookup' has no attribute 'gone'" == look_up("acme_lookup.gone.deeper").error


def test_a_missing_package_has_the_error_of_its_import() -> None:
    """Such as tensorflow_estimator, which ended with TensorFlow 2.15."""

    assert "ModuleNotFoundError: No module named 'acme_nowhere'" == look_up("acme_nowhere.estimator").error


def test_a_submodule_is_there_before_anybody_imported_it(package: ModuleType) -> None:
    """An import statement would find it."""

    assert "" == look_up("acme_lookup.later.value").error


def test_what_follows_a_call_is_not_looked_up(package: ModuleType) -> None:
    """Only its value could tell."""

    assert "acme_lookup.Kind" == look_up("acme_lookup.Kind().run").name


def test_an_attribute_of_an_object_is_not_looked_up(package: ModuleType) -> None:
    """What a flags object or an enumeration of the program holds is no public name."""
    vars(package)["FLAGS"] = SimpleNamespace()

    assert ("acme_lookup.FLAGS", "") == look_up("acme_lookup.FLAGS.rate")


def test_a_missing_name_is_found_once_the_program_brings_it(package: ModuleType) -> None:
    """Programs put shims into tensorflow, and the lookup before their import must not be the last word."""
    before = look_up("acme_lookup.shim").error
    vars(package)["shim"] = 1

    assert (True, "") == (bool(before), look_up("acme_lookup.shim").error)


def test_a_star_import_is_of_the_module(package: ModuleType) -> None:
    """``from acme_lookup.later import *`` needs the module."""

    assert ("acme_lookup.later", "") == look_up("acme_lookup.later.*")


def test_tensorflow_is_written_as_tf() -> None:
    """As in every message of the linter."""

    assert "tf.Session" == lookup._written(["tensorflow", "Session"])


def test_a_lookup_warns_nobody(package: ModuleType) -> None:
    """Deprecated names warn when they are read; warnings are errors in these tests."""

    def read(name: str) -> int:
        import warnings

        warnings.warn("deprecated", DeprecationWarning, stacklevel=1)
        return 1

    vars(package)["__getattr__"] = read

    assert "" == look_up("acme_lookup.old").error

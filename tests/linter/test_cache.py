from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from migrate_lint.linter.cli.main import main
from migrate_lint.linter.run import cache as cache_module
from migrate_lint.linter.run.cache import FILE, Cache, default_folder, troubles

DAY = 86400


@pytest.fixture(autouse=True)
def _nothing_said() -> None:
    troubles()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def stored(folder: Path, version: str = "v") -> dict[str, object]:
    with Cache(folder, version) as cache:
        return cache.get("facts", ["a", "b", "c"])


def query(folder: Path, statement: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(folder / FILE)
    try:
        with connection:
            return connection.execute(statement).fetchall()
    finally:
        connection.close()


def test_a_later_run_finds_what_an_earlier_one_put(folder: Path) -> None:
    """Values come back decoded, and unknown keys are absent."""
    value = {"imports": ["tf", 1, None, 0.5], "text": "é\ud800\x00"}
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": value, "b": []})

    assert stored(folder) == {"a": value, "b": []}


def test_the_text_is_the_json_that_was_stored(folder: Path) -> None:
    """The hot path reads text and decodes nothing."""
    with Cache(folder, "v") as cache:
        cache.put("findings", {"a": {"x": [1, 2]}})

        assert cache.get_text("findings", ["a", "z"]) == {"a": '{"x":[1,2]}'}


def test_kind_and_version_are_part_of_the_key(folder: Path) -> None:
    """A value is found only under the kind and the version that it was put under."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
        assert cache.get("findings", ["a"]) == {}

    assert stored(folder, "w") == {}
    assert stored(folder, "v") == {"a": 1}


def test_a_later_value_replaces_an_earlier_one(folder: Path) -> None:
    """One key has one value."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
        cache.put("facts", {"a": 2})

    assert stored(folder) == {"a": 2}
    assert query(folder, "SELECT (SELECT count(*) FROM uses), (SELECT count(*) FROM texts)") == [(1, 1)]


def test_forty_thousand_keys_in_one_call(folder: Path) -> None:
    """No limit of sqlite on variables is met."""
    entries = {f"{number:064x}": number for number in range(40_000)}
    with Cache(folder, "v") as cache:
        cache.put("facts", entries)

        assert cache.get("facts", list(entries)) == entries


def test_a_repeated_key_is_found_once(folder: Path) -> None:
    """Two files of equal content have one key."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})

        assert cache.get("facts", ["a", "a"]) == {"a": 1}


def test_without_a_folder_nothing_is_kept() -> None:
    """`--no-cache` is a cache that knows nothing."""
    with Cache(None, "v") as cache:
        cache.put("facts", {"a": 1})

        assert not cache.enabled
        assert cache.get("facts", ["a"]) == {}


def test_without_a_folder_sqlite_is_not_imported() -> None:
    """Importing the module, and a disabled cache, cost nothing."""
    code = (
        "import sys; from migrate_lint.linter.run.cache import Cache\n"
        "Cache(None, 'v').close(); sys.exit('sqlite3' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("content", [b"not a database " * 1000, b"SQLite format 3\0" + b"\xff" * 5000, b"x"])
def test_a_broken_file_is_replaced(folder: Path, content: bytes) -> None:
    """A file that sqlite cannot read gives way to a new store, in the same run."""
    folder.mkdir(mode=0o700)
    (folder / FILE).write_bytes(content)
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})

    assert stored(folder) == {"a": 1}


def test_a_file_that_breaks_in_its_middle_is_replaced(folder: Path) -> None:
    """Damage that only a read meets ends the caching of this run, and the next one starts anew."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {str(number): "x" * 500 for number in range(2000)})
    path = folder / FILE
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (size - 8192))
    with Cache(folder, "v") as cache:
        cache.get("facts", [str(number) for number in range(2000)])
        cache.put("facts", {"a": 1})
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 2})

    assert stored(folder) == {"a": 2}


def test_a_truncated_file_is_replaced(folder: Path) -> None:
    """A store cut short is no error either."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {str(number): "x" * 5000 for number in range(200)})
    os.truncate(folder / FILE, 20_000)
    with Cache(folder, "v") as cache:
        cache.get("facts", [str(number) for number in range(200)])
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 2})

    assert stored(folder) == {"a": 2}


def test_a_foreign_database_is_left_alone(folder: Path) -> None:
    """Someone else's sqlite file is neither read nor changed."""
    folder.mkdir(mode=0o700)
    connection = sqlite3.connect(folder / FILE)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = (folder / FILE).read_bytes()
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
        assert not cache.enabled

    assert (folder / FILE).read_bytes() == before
    assert [f"{folder / FILE}: this is not the cache that it is to be, so nothing is kept"] == troubles()


def test_a_store_without_its_tables_is_replaced(folder: Path) -> None:
    """Our number without our tables is a broken store."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
    query(folder, "DROP TABLE texts")
    with Cache(folder, "v") as cache:
        assert cache.get("facts", ["a"]) == {}
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 3})

    assert stored(folder) == {"a": 3}


def test_a_store_whose_number_was_changed_is_replaced(folder: Path) -> None:
    """With our tables it is ours, and a foreign one would be left alone for ever."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
    query(folder, "PRAGMA application_id = 7")

    assert {} == stored(folder)
    assert [f"{folder / FILE}: this cache was damaged and has been removed; nothing else is lost"] == troubles()
    assert [] == troubles()


def damaged(good: bytes, chance: random.Random) -> bytes:
    """A store with some bytes changed, most often of its schema, or cut short."""
    data = bytearray(good)
    schema = good.index(b"CREATE TABLE")
    start, end = chance.choice([(0, 100), (100, 4096), *[(schema - 60, schema + 260)] * 3, (0, len(data))])
    for _ in range(chance.choice((1, 1, 3, 200))):
        data[chance.randrange(start, end)] = chance.randrange(256)
    return bytes(data[: chance.randrange(len(data))] if chance.random() < 0.1 else data)


@pytest.mark.slow
def test_no_damage_ends_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The findings are those of a run without a store, damage is told at most once, and the next run is a usual one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    Path("a.py").write_text("import tensorflow as tf\nimport b\ny = tf.placeholder(b.f)\n")
    Path("b.py").write_text("import tensorflow as tf\ndef f(x):\n    return tf.Variable(1.0) * x\n")
    store = tmp_path / "migrate-lint" / FILE

    def run() -> tuple[int, str, str]:
        return (main(["--output-format", "concise", "--jobs", "1", "."]), *capsys.readouterr())

    cold = run()
    good = store.read_bytes()
    told = f"migrate-lint: {store}: this cache was damaged and has been removed; nothing else is lost\n"
    chance = random.Random(4)
    said = 0
    for _ in range(300):
        for file in store.parent.iterdir():
            file.unlink()
        store.write_bytes(damaged(good, chance))
        runs = [run() for _ in range(3)]
        said += any(error for _, _, error in runs)

        assert [cold[:2]] * 3 == [outcome[:2] for outcome in runs]
        assert {told, ""} >= {error for _, _, error in runs}
        assert [error for _, _, error in runs].count(told) <= 1
    assert said > 30


@pytest.mark.parametrize("text", ["'{\"x\": '", "x'ff22'", "cast(x'22ff22' AS TEXT)", "7"])
def test_a_row_that_is_not_json_is_ignored(folder: Path, text: str) -> None:
    """One bad row hides no other."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
    query(folder, f"UPDATE texts SET text = {text}")
    with Cache(folder, "v") as cache:
        cache.put("facts", {"b": 2})

    assert {key: value for key, value in stored(folder).items() if key != "a" or text != "7"} == {"b": 2}


def test_a_text_that_the_disk_changed_is_ignored(folder: Path) -> None:
    """A number that became another one is JSON still."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": {"line": 41}, "b": 2})
    query(folder, "UPDATE texts SET text = replace(text, '41', '47')")

    assert stored(folder) == {"b": 2}


def test_a_row_of_another_key_with_the_same_number_is_ignored(folder: Path) -> None:
    """The whole digest is compared, not only the half that is the row's number."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
    query(folder, "UPDATE uses SET rest = x'0000000000000000'")

    assert stored(folder) == {}


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    """A file in the way means a run without cache."""
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with Cache(folder, "v") as cache:
            cache.put("facts", {"a": 1})
            assert not cache.enabled


def test_a_folder_in_the_place_of_the_file_is_no_error(folder: Path) -> None:
    """A store that cannot be opened means a run without cache."""
    (folder / FILE).mkdir(parents=True)
    with Cache(folder, "v") as cache:
        assert not cache.enabled


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_folder_that_others_may_write_is_not_used(folder: Path) -> None:
    """Anyone could have put a store there that hides findings."""
    folder.mkdir()
    folder.chmod(0o777)
    with Cache(folder, "v") as cache:
        assert not cache.enabled


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_new_folder_is_private(folder: Path) -> None:
    """What is cached tells about the user's code."""
    with Cache(folder, "v"):
        assert folder.stat().st_mode & 0o077 == 0


def test_what_was_put_is_there_at_once(folder: Path) -> None:
    """A value can be got before it is written, and another process gets it once the store is closed."""
    with Cache(folder, "v") as cache, Cache(folder, "v") as other:
        cache.put("facts", {"a": 1})

        assert {"a": 1} == cache.get("facts", ["a"])
        assert {} == cache.get("other facts", ["a"])

        cache.close()

        assert {"a": 1} == other.get("facts", ["a"])


def test_a_store_that_may_not_be_written_is_still_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing write of the day of use loses no value."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
    query(folder, "UPDATE uses SET day = day - 3")
    real = sqlite3.connect

    def read_only(path: Path, **options: object) -> sqlite3.Connection:
        return real(f"file:{path}?mode=ro", uri=True, timeout=0.05, isolation_level=None)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    with Cache(folder, "v") as cache:
        assert cache.get("facts", ["a"]) == {"a": 1}
        cache.put("facts", {"b": 1})
        cache.write()
        assert not cache.enabled


def test_a_locked_store_is_given_up_soon(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock held by another is waited for once, for two seconds, and is no error."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
    holder = sqlite3.connect(folder / FILE, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    real, waits = sqlite3.connect, []

    def connect(path: Path, timeout: float, **options: object) -> sqlite3.Connection:
        waits.append(timeout)
        return real(path, timeout=timeout, **options)

    monkeypatch.setattr(sqlite3, "connect", connect)
    with Cache(folder, "v") as cache:
        assert cache.get("facts", ["a"]) == {}
        cache.put("facts", {"b": 1})
        assert not cache.enabled
    holder.close()
    monkeypatch.undo()

    assert [2.0] == waits
    assert stored(folder) == {"a": 1}


def test_a_value_that_is_not_json_leaves_the_store_usable(folder: Path) -> None:
    """A caller's mistake is the caller's error, and nothing stays locked."""
    with Cache(folder, "v") as cache:
        with pytest.raises(TypeError):
            cache.put("facts", {"a": object()})
        cache.put("facts", {"b": 1})

    assert stored(folder) == {"b": 1}


WRITER = """
import sys
from pathlib import Path
from migrate_lint.linter.run.cache import Cache
name, folder = sys.argv[1], Path(sys.argv[2])
for round in range(15):
    with Cache(folder, "v") as cache:
        cache.put("facts", {f"{name}{round}-{number}": "x" * 2000 for number in range(100)})
        cache.get("facts", [f"{other}{round}-{number}" for other in "pq" for number in range(100)])
        if not cache.enabled:
            sys.exit("disabled")
"""


def test_two_processes_writing_at_once_lose_nothing(folder: Path) -> None:
    """Both write into a store that neither finds at its start."""
    command = [sys.executable, "-W", "error", "-c", WRITER]
    both = [subprocess.Popen([*command, name, str(folder)], stderr=subprocess.PIPE) for name in "pq"]
    errors = [process.communicate()[1] for process in both]

    assert errors == [b"", b""]
    with Cache(folder, "v") as cache:
        keys = [f"{name}{number}-{entry}" for name in "pq" for number in range(15) for entry in range(100)]
        assert len(cache.get_text("facts", keys)) == 3000


def test_a_run_that_is_killed_leaves_a_sound_store(folder: Path) -> None:
    """What was put before stays."""
    with Cache(folder, "v") as cache:
        cache.put("facts", {"a": 1})
    code = WRITER.replace("sys.exit", "print").replace("range(15)", "range(10**6)")
    process = subprocess.Popen([sys.executable, "-c", code, "p", str(folder)])
    time.sleep(0.6)
    process.kill()
    process.wait()

    assert stored(folder) == {"a": 1}


class TestOldEntries:
    def age(self, folder: Path, days: int, where: str = "1") -> None:
        query(folder, f"UPDATE uses SET day = day - {days} WHERE {where}")
        query(folder, "PRAGMA user_version = 0")

    def test_unused_for_long_are_dropped(self, folder: Path) -> None:
        """More than thirty days without a use is too long."""
        with Cache(folder, "v") as cache:
            cache.put("facts", {"a": 1, "b": 2})
        self.age(folder, cache_module.KEPT_DAYS)
        with Cache(folder, "v") as cache:
            cache.get("facts", ["b"])
        self.age(folder, 1)
        Cache(folder, "v").close()

        assert stored(folder) == {"b": 2}
        assert query(folder, "SELECT count(*) FROM texts") == [(1,)]

    def test_the_longest_unused_go_where_there_are_too_many(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The store is kept below its size, and the file shrinks."""
        monkeypatch.setattr(cache_module, "KEPT_BYTES", 250_000)
        with Cache(folder, "v") as cache:
            cache.put("facts", {"a": "x" * 200_000})
        self.age(folder, 2)
        with Cache(folder, "v") as cache:
            cache.put("facts", {"b": "x" * 200_000})
            cache.write()
            size = (folder / FILE).stat().st_size

        assert list(stored(folder)) == ["b"]
        assert (folder / FILE).stat().st_size <= size - 150_000

    def test_are_looked_for_once_a_day(self, folder: Path) -> None:
        """A second run on the same day drops nothing."""
        with Cache(folder, "v") as cache:
            cache.put("facts", {"a": 1})
        query(folder, "UPDATE uses SET day = 0")
        Cache(folder, "v").close()

        assert query(folder, "SELECT count(*) FROM uses") == [(1,)]


class TestDefaultFolder:
    def test_follows_xdg(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """An absolute XDG_CACHE_HOME is where it is."""
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

        assert default_folder() == tmp_path / "migrate-lint"

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX home")
    @pytest.mark.parametrize("value", ["", "cache", "./cache"])
    def test_is_never_relative(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str) -> None:
        """A relative XDG_CACHE_HOME would lie in the linted tree."""
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        monkeypatch.setenv("HOME", str(tmp_path))

        assert default_folder().is_relative_to(tmp_path)

    @pytest.mark.parametrize(
        ("platform", "below"), [("linux", ".cache/migrate-lint"), ("darwin", "Library/Caches/migrate-lint")]
    )
    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX home")
    def test_is_where_the_platform_keeps_caches(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, below: str
    ) -> None:
        """Linux and macOS differ."""
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setattr(sys, "platform", platform)

        assert default_folder() == tmp_path / below

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX home")
    def test_is_absolute_without_a_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A container's user may have no home."""
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setenv("HOME", "")

        assert default_folder().is_absolute()

"""What earlier runs found out, kept by content in the user's cache folder.

The store only ever saves time: one that is missing, locked, read-only, unreadable, foreign or broken
makes a run slower and changes nothing else. A broken one is removed, and `troubles` says so.
Values are JSON text; a store is never in the linted tree, where a stranger's could hide findings.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import sqlite3

FILE = "cache-1.sqlite3"
"""The number is the layout's: another layout is another file."""

KEPT_DAYS = 30
KEPT_BYTES = 512 * 1024 * 1024

_APPLICATION = 0x4D4C4E54
_TIMEOUT_SECONDS = 2.0
_KEYS_A_QUERY = 500  # older sqlite takes 999 variables at most
_BYTES_A_TRANSACTION = 2 * 1024 * 1024  # a writer must let others in well within their timeout

_OF_THE_PLACE = frozenset(
    {"PERM", "BUSY", "LOCKED", "NOMEM", "READONLY", "INTERRUPT", "IOERR", "FULL", "CANTOPEN", "PROTOCOL", "NOLFS"}
)
"""What sqlite reports of a sound store that cannot be used here and now; all else that goes wrong is the store's."""

_troubles: dict[str, None] = {}

# The texts have a table of their own: noting a use or adding up sizes must not rewrite or read them.
_LAYOUT = f"""
PRAGMA auto_vacuum = INCREMENTAL;
BEGIN IMMEDIATE;
PRAGMA application_id = {_APPLICATION};
CREATE TABLE IF NOT EXISTS uses
    (id INTEGER PRIMARY KEY, rest BLOB NOT NULL, day INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
COMMIT;
"""


def default_folder() -> Path:
    """Name the user's cache folder for this program; nothing is created."""
    name = "migrate-lint"
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # A relative one would lie in the linted tree; the XDG specification says to ignore it.
    if os.path.isabs(chosen):
        return Path(chosen, name)
    local = os.environ.get("LOCALAPPDATA", "")
    if sys.platform == "win32" and os.path.isabs(local):
        return Path(local, name, "Cache")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        import tempfile

        return Path(tempfile.gettempdir(), f"{name}-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    if sys.platform == "darwin":
        return Path(home, "Library", "Caches", name)
    return Path(home, ".cache", name)


class Cache:
    """A store of JSON values by kind, key and version, used by one thread.

    Several processes may use one folder at once.
    No method raises because of the store; when it fails it is closed and `enabled` is false from then on.
    """

    def __init__(self, folder: Path | None, version: str) -> None:
        """Open the store in `folder`, creating it where needed; without a folder nothing is kept.

        `version` is a digest of everything but the key that a value depends on: the rules, the engine, Python.
        """
        self._version = version
        self._today = int(time.time() // 86400)
        self._connection: sqlite3.Connection | None = None
        self._path: Path | None = None
        self._waiting: dict[int, tuple[bytes, str]] = {}
        """What was put and is not written yet: each transaction waits for the disk."""
        self._waiting_size = 0
        if folder is None or not _is_ours(folder):
            return
        self._path = folder / FILE
        if not self._open() and self._path is not None:
            self._open()

    @property
    def enabled(self) -> bool:
        """Whether values are kept."""
        return self._connection is not None

    def get(self, kind: str, keys: Sequence[str]) -> dict[str, Any]:
        """Return the values of those keys that are known."""
        found = {}
        for key, text in self.get_text(kind, keys).items():
            with contextlib.suppress(ValueError, RecursionError):
                found[key] = json.loads(text)
        return found

    def get_text(self, kind: str, keys: Sequence[str]) -> dict[str, str]:
        """Return the values of those keys that are known, as the JSON text that was stored."""
        found: dict[str, str] = {}
        if self._connection is None:
            return found
        stale: list[int] = []
        wanted = dict(self._identities(kind, keys))
        identities = []
        for identity, (key, own_rest) in wanted.items():
            waiting = self._waiting.get(identity)
            if waiting is not None and waiting[0] == own_rest:
                found[key] = waiting[1]
            else:
                identities.append(identity)
        with self._failing_quietly():
            for start in range(0, len(identities), _KEYS_A_QUERY):
                part = identities[start : start + _KEYS_A_QUERY]
                rows = self._connection.execute(
                    "SELECT id, rest, day, text FROM uses JOIN texts USING (id) "
                    f"WHERE id IN ({','.join('?' * len(part))})",
                    part,
                )
                for identity, rest, day, text in rows:
                    key, own_rest = wanted[identity]
                    if rest != own_rest or not isinstance(text, bytes) or text[:8] != _checksum(rest, text[8:]):
                        continue
                    found[key] = text[8:].decode()
                    if day != self._today:
                        stale.append(identity)
        self._note_use(stale)
        return found

    def put(self, kind: str, entries: Mapping[str, Any]) -> None:
        """Keep the values, replacing earlier ones; one that is not JSON is a TypeError.

        They are written by and by, the last of them by `close`.
        """
        if self._connection is None:
            return
        for (identity, (_, rest)), value in zip(self._identities(kind, entries), entries.values(), strict=True):
            text = json.dumps(value, separators=(",", ":"))
            self._waiting[identity] = rest, text
            self._waiting_size += len(text) + 100
            if self._waiting_size >= _BYTES_A_TRANSACTION:
                self.write()

    def write(self) -> None:
        """Write what was put so far, in one short transaction."""
        waiting, self._waiting, self._waiting_size = self._waiting, {}, 0
        if not waiting:
            return
        with self._transaction() as connection:
            if connection is None:
                return
            uses = ((identity, rest, self._today, len(text)) for identity, (rest, text) in waiting.items())
            texts = (
                (identity, _checksum(rest, text.encode()).decode() + text) for identity, (rest, text) in waiting.items()
            )
            connection.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?)", texts)
            connection.executemany("INSERT OR REPLACE INTO uses VALUES (?, ?, ?, ?)", uses)

    def close(self) -> None:
        """Write what was put, drop old entries, at most once a day, and let go of the store."""
        self.write()
        if self._connection is not None:
            self._prune()
        self._drop_connection()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> bool:
        assert self._path is not None
        try:
            import sqlite3
        except ImportError:  # Python can be built without it
            self._path = None
            return False
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            self._path = None
            return False
        with self._failing_quietly():
            connection = sqlite3.connect(self._path, timeout=_TIMEOUT_SECONDS, isolation_level=None)
            self._connection = connection
            # Invalid UTF-8 in one row would otherwise end the whole query.
            connection.text_factory = bytes
            # In this order: another process may lay the tables, with the number, between the two questions.
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                connection.executescript(_LAYOUT)
            elif connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
                ours = "SELECT count(*) FROM sqlite_master WHERE name IN ('uses', 'texts')"
                if connection.execute(ours).fetchone()[0] == 2:
                    raise sqlite3.DatabaseError("its number was changed")
                self._drop_connection()
                _troubles[f"{self._path}: this is not the cache that it is to be, so nothing is kept"] = None
                self._path = None
                return False
            # The journal stays the default one: a write-ahead log fails in a read-only folder and on network drives.
            connection.execute("PRAGMA synchronous = NORMAL")
        return self._connection is not None

    @contextlib.contextmanager
    def _failing_quietly(self) -> Iterator[None]:
        """Close the store when it fails, and remove it when it is broken."""
        import sqlite3

        try:
            yield
        # Of a damaged schema sqlite3 raises what its damage leads to, such as UnicodeDecodeError.
        except Exception as error:
            self._drop_connection()
            unknown = sqlite3.SQLITE_NOMEM if isinstance(error, MemoryError) else sqlite3.SQLITE_CORRUPT
            code = getattr(error, "sqlite_errorcode", unknown) & 0xFF
            if code in {getattr(sqlite3, f"SQLITE_{name}") for name in _OF_THE_PLACE}:
                self._path = None
            elif self._path is not None:
                self._remove()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection | None]:
        """Hold the write lock; None where the store is closed."""
        connection = self._connection
        if connection is None:
            yield None
            return
        begun = False
        with self._failing_quietly():
            connection.execute("BEGIN IMMEDIATE")
            begun = True
        if not begun:  # another process held the lock for too long
            yield None
            return
        with self._failing_quietly():
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.execute("COMMIT")

    def _note_use(self, identities: Sequence[int]) -> None:
        if not identities or self._connection is None:
            return
        import sqlite3

        # A store that may be read but not written is still worth reading.
        with contextlib.suppress(sqlite3.Error, ValueError):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(
                    "UPDATE uses SET day = ? WHERE id = ?", [(self._today, identity) for identity in identities]
                )
            finally:
                self._connection.execute("COMMIT")

    def _prune(self) -> None:
        connection = self._connection
        assert connection is not None
        # Losing the race or the right to write only means that another run prunes.
        with self._failing_quietly():
            if connection.execute("PRAGMA user_version").fetchone()[0] == self._today:
                return
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA user_version = {self._today}")
            old = connection.execute("SELECT id FROM uses WHERE day < ?", (self._today - KEPT_DAYS,)).fetchall()
            connection.executemany("DELETE FROM uses WHERE id = ?", old)
            excess = connection.execute("SELECT coalesce(sum(size), 0) FROM uses").fetchone()[0] - KEPT_BYTES
            if excess > 0:
                for identity, size in connection.execute("SELECT id, size FROM uses ORDER BY day, id").fetchall():
                    if excess <= 0:
                        break
                    old.append((identity,))
                    excess -= size
                connection.executemany("DELETE FROM uses WHERE id = ?", old)
            connection.executemany("DELETE FROM texts WHERE id = ?", old)
            connection.execute("COMMIT")
            if old:
                connection.executescript("PRAGMA incremental_vacuum")  # `execute` would free a single page

    def _identities(self, kind: str, keys: Iterable[str]) -> Iterator[tuple[int, tuple[str, bytes]]]:
        """Yield the row number of each key, with the key and the half of its digest that the number does not hold."""
        start = blake2b(f"{self._version}\0{kind}\0".encode(errors="surrogatepass"), digest_size=16)
        for key in keys:
            digest = start.copy()
            digest.update(key.encode(errors="surrogatepass"))
            whole = digest.digest()
            yield int.from_bytes(whole[:8], signed=True), (key, whole[8:])

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            import sqlite3

            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def _remove(self) -> None:
        """Delete a broken store; its journal too, which would be played into the next one."""
        assert self._path is not None
        try:
            self._path.with_name(f"{FILE}-journal").unlink(missing_ok=True)
            self._path.unlink(missing_ok=True)
            _troubles[f"{self._path}: this cache was damaged and has been removed; nothing else is lost"] = None
        except OSError as error:
            _troubles[f"{self._path}: this cache is damaged and cannot be removed: {error.strerror or error}"] = None
            self._path = None


def troubles() -> list[str]:
    """What is to be said of stores that this process could not use, since the last time that it was asked."""
    said = list(_troubles)
    _troubles.clear()
    return said


def digest_of(*parts: str) -> str:
    """A name for what depends on these texts and nothing else."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _checksum(rest: bytes, text: bytes) -> bytes:
    """Eight digits that go before a text: sqlite does not notice when a disk changes what lies within a page."""
    from zlib import crc32

    return b"%08x" % crc32(text, crc32(rest))


def _is_ours(folder: Path) -> bool:
    """Tell whether nobody else can have put a store there; a folder that does not exist yet is ours."""
    if sys.platform == "win32":
        return True
    try:
        status = folder.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWOTH

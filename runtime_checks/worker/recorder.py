"""What happened while the user's program ran: events, each with the user's lines that led to it.

The hooks that make events are the modules of ``hooks/``: each patches one part of TensorFlow, never raises into the
user's program and puts everything back.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Callable, Iterator, Mapping, Sequence

from .frames import Frame, UserCode
from .lines import context_now
from .phases import Phase

__all__ = ["Event", "Recorder"]


@dataclass(frozen=True, eq=False)
class Event:
    """One thing that happened.

    ``kind`` is the hook's word for it, ``context`` as in `lines`, ``frames`` the user's stack, innermost first;
    ``detail`` and ``subject`` belong to the kind.
    """

    kind: str
    phase: Phase
    context: str
    frames: tuple[Frame, ...]
    detail: Mapping[str, Any]
    subject: Any


class Recorder:
    """Collects events; hooks call `record`."""

    def __init__(self, code: UserCode) -> None:
        self.code = code
        self.events: list[Event] = []
        self._by_kind: dict[str, list[Event]] = {}
        self.wanted: Sequence[Any] = ()
        """The findings, for hooks that patch nothing where none asks for it."""
        self.phase: Phase | None = None
        """The running phase; outside of one nothing is recorded."""
        self._busy = threading.local()

    def record(self, kind: str, make: Callable[[], tuple[Sequence[Frame], dict[str, Any], Any]]) -> Event | None:
        """Add an event and give it back; `make` gives its frames, detail and subject.

        What goes wrong in `make` is the hook's own trouble and stays out of the user's program, and what `make` itself
        sets off is not recorded.
        """
        if self.phase is None or getattr(self._busy, "on", False):
            return None
        self._busy.on = True
        try:
            frames, detail, subject = make()
            event = Event(kind, self.phase, context_now(), tuple(frames), MappingProxyType(detail), subject)
        except Exception:
            return None
        finally:
            self._busy.on = False
        self._by_kind.setdefault(event.kind, []).append(event)
        self.events.append(event)
        return event

    def of_kind(self, *kinds: str) -> list[Event]:
        """The events of some kinds so far; those of each kind in order."""
        return [event for kind in kinds for event in self._by_kind.get(kind, ())]

    def add(self, events: Sequence[Event]) -> None:
        """Take in events that were recorded before."""
        for event in events:
            self._by_kind.setdefault(event.kind, []).append(event)
            self.events.append(event)

    def cut(self, first: int) -> list[Event]:
        """Forget the events from that number on, and give them back."""
        before, later = self.events[:first], self.events[first:]
        self.events = []
        self._by_kind.clear()
        self.add(before)
        return later

    @contextlib.contextmanager
    def hooked(self, hooks: Sequence[Any]) -> Iterator[None]:
        """Run the body with every hook in place; a hook is a module with ``patches(recorder)``."""
        with contextlib.ExitStack() as stack:
            for hook in hooks:
                for patch in hook.patches(self):
                    stack.enter_context(patch)
            yield

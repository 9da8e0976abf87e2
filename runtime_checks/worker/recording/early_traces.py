"""Traces of TensorFlow 1.15 in the format of later ones, since no present TensorBoard reads the earlier format.

Both formats are protocol buffers: ``Trace`` of ``trace_events.proto`` becomes ``XSpace`` of ``xplane.proto``. That
TensorFlow brings the classes of neither, so fields are read and written by their numbers.
"""

from __future__ import annotations

from typing import Iterator, Union

__all__ = ["xspace"]

_Field = Union[int, bytes]


def xspace(trace: bytes) -> bytes:
    """A serialized ``XSpace`` with the devices, resources and events of a serialized ``Trace``.

    Raises:
        ValueError: if it is no such message.
    """
    devices: dict[int, tuple[bytes, dict[int, bytes]]] = {}
    events: dict[tuple[int, int], list[tuple[bytes, int, int]]] = {}
    for number, value in _fields(trace):
        if number == 1:
            key, device = _entry(value)
            parts = list(_fields(device))
            resources = [_entry(part) for at, part in parts if at == 3]
            names = {resource: _first(one, 1) for resource, one in resources}
            devices[key] = (_first(device, 1), names)
        elif number == 4:
            event = dict(_fields(value))
            place = _whole(event.get(1, 0)), _whole(event.get(2, 0))
            times = _whole(event.get(9, 0)), _whole(event.get(10, 0))
            events.setdefault(place, []).append((_bytes(event.get(3, b"")).strip(), *times))
    return b"".join(_message(1, _plane(key, name, names, events)) for key, (name, names) in sorted(devices.items()))


def _plane(
    key: int, name: bytes, resources: dict[int, bytes], events: dict[tuple[int, int], list[tuple[bytes, int, int]]]
) -> bytes:
    """An ``XPlane``: a line for each resource of a device, its names once."""
    numbers: dict[bytes, int] = {}
    lines = b""
    for (device, resource), found in sorted(events.items()):
        if device != key:
            continue
        line = _number(1, resource) + _message(2, resources.get(resource, b""))
        for what, began, lasted in found:
            number = numbers.setdefault(what, len(numbers) + 1)
            line += _message(4, _number(1, number) + _number(2, began) + _number(3, lasted))
        lines += _message(3, line)
    known = b"".join(
        _message(4, _number(1, number) + _message(2, _number(1, number) + _message(2, what)))
        for what, number in numbers.items()
    )
    return _number(1, key) + _message(2, name) + lines + known


def _entry(value: _Field) -> tuple[int, bytes]:
    """Key and message of an entry of a map."""
    fields = dict(_fields(value))
    return _whole(fields.get(1, 0)), _bytes(fields.get(2, b""))


def _first(message: bytes, number: int) -> bytes:
    return next((_bytes(value) for at, value in _fields(message) if at == number), b"")


def _whole(value: _Field) -> int:
    if not isinstance(value, int):
        raise ValueError("a number was expected")
    return value


def _bytes(value: _Field) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a text or a message was expected")
    return value


def _fields(message: _Field) -> Iterator[tuple[int, _Field]]:
    """The fields of a message by number: numbers, and the bytes of texts and messages."""
    data, at = _bytes(message), 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
            continue
        size, at = _varint(data, at) if kind == 2 else ({1: 8, 5: 4}.get(kind, len(data)), at)
        if at + size > len(data):
            raise ValueError("the message ends early")
        yield tag >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at
    raise ValueError("a number has no end")


def _number(field: int, value: int) -> bytes:
    return _written(field << 3) + _written(value)


def _message(field: int, content: bytes) -> bytes:
    return _written(field << 3 | 2) + _written(len(content)) + content


def _written(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)

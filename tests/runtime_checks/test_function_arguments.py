"""How the arguments of two traces are told apart."""

from __future__ import annotations

from migrate_lint.runtime_checks.worker.hooks.functions import Serials


class Settings:
    pass


def test_an_object_at_the_address_of_one_that_is_gone_is_another() -> None:
    """Python gives the memory of an argument that nothing holds to the next one."""
    serials = Serials()
    addresses, numbers = set(), set()
    for _ in range(100):
        settings = Settings()
        addresses.add(id(settings))
        numbers.add(serials.of(settings))
        del settings

    assert 100 == len(numbers) > len(addresses)


def test_an_object_keeps_its_number() -> None:
    """Whatever else is asked for in between; what has no weak references is known by its address."""
    serials = Serials()
    settings, items = Settings(), [1]
    numbers = serials.of(settings), serials.of(Settings()), serials.of(items)

    assert (numbers[0], id(items)) == (serials.of(settings), numbers[2])
    assert numbers[0] != numbers[1]

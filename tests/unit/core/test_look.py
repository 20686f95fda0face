"""Reading once during a look: what is kept, for how long, and what never is."""

from __future__ import annotations

import pytest

from fleet.core.look import is_looking, one_look, read_once


class Reader:
    def __init__(self) -> None:
        self.calls = 0

    def read(self, name: str) -> str:
        self.calls += 1
        if name == "broken" and self.calls == 1:
            raise OSError(name)
        return f"{name} {self.calls}"


def test_during_a_look_the_same_is_read_once_and_another_thing_by_itself() -> None:
    reader = Reader()
    with one_look():
        assert is_looking()
        assert [read_once(reader.read, name) for name in ("a", "a", "b", "a")] == ["a 1", "a 1", "b 2", "a 1"]


def test_without_a_look_and_in_the_next_one_it_is_read_again() -> None:
    reader = Reader()
    with one_look():
        read_once(reader.read, "a")
    assert not is_looking()
    assert [read_once(reader.read, "a") for _ in range(2)] == ["a 2", "a 3"]
    with one_look():
        assert read_once(reader.read, "a") == "a 4"


def test_an_error_is_not_kept() -> None:
    reader = Reader()
    with one_look():
        with pytest.raises(OSError, match="broken"):
            read_once(reader.read, "broken")
        assert read_once(reader.read, "broken") == "broken 2"

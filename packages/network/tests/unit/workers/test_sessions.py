"""Sessions of a task: opened, used, closed, and making room when their clients have gone."""

from __future__ import annotations

import pytest

from drystone_base.core.errors import BadRequest
from drystone_network.cluster.spec import Task
from drystone_network.workers.sessions import Sessions


class Clock:
    """Time that tests move."""

    now = 0.0

    def __call__(self) -> float:
        """The moment."""
        return self.now


def test_what_is_registered_is_found_by_its_handle() -> None:
    sessions: Sessions[str] = Sessions(Task("worker", 0))
    first, second = sessions.open(), sessions.open()
    assert [sessions.register(first, "a"), sessions.register(first, "b")] == [1, 2]
    assert sessions.register(second, "c") == 1
    assert sessions.find(first) == {1: "a", 2: "b"}
    sessions.close(first)
    sessions.close(first)
    for call in (sessions.find, lambda name: sessions.register(name, "d")):
        with pytest.raises(BadRequest) as error:
            call(first)
        assert error.value.code == "session-lost"
    assert sessions.find(second) == {1: "c"}


def test_sessions_of_clients_that_are_gone_make_room() -> None:
    clock = Clock()
    sessions: Sessions[str] = Sessions(Task("worker", 0), clock)
    names = [sessions.open() for _ in range(256)]
    clock.now = 599.0
    sessions.find(names[0])
    with pytest.raises(BadRequest, match="opens no more sessions") as error:
        sessions.open()
    assert error.value.code == "too-many-sessions"
    clock.now = 600.0
    new = sessions.open()
    with pytest.raises(BadRequest, match="session-lost"):
        sessions.find(names[1])
    for name in (names[0], names[2], new):
        assert sessions.find(name) == {}

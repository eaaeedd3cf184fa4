"""Transports whose answers cannot be: each ends the engine with an error that names the library."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import PluginError
from drystone_base.host.buffer import write
from drystone_network.transports import engine as engines
from drystone_network.transports import registry
from drystone_network.transports.c_structs import (
    ACCEPTED,
    LOST,
    RECEIVED,
    SENT,
    Fns,
    Params,
    Transport,
)
from drystone_network.transports.engine import Engine

TAG = (7, 9)
Answers = dict[str, Callable[..., Any]]
HONEST: Answers = {
    "open": lambda *_: 0x1000,
    "close": lambda *_: None,
    "progress": lambda *_: 0,
    "wake": lambda *_: None,
    "listen": lambda _engine, _address, bound, _status: write(bound, b"liar://1"),
    "connect": lambda *_: 5,
    "disconnect": lambda *_: None,
    "send": lambda *_: 0,
    "receive": lambda *_: None,
    "release": lambda *_: None,
}


class Liar:
    """Makes engines of a transport that answers so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.patch, self.kept = monkeypatch, []  # type: ignore[var-annotated]

    def __call__(self, **answers: Callable[..., Any]) -> Engine:
        types = dict(Fns._fields_)
        made = {name: types[name](f) for name, f in (HONEST | answers).items()}
        fns = Fns(struct_size=c.sizeof(Fns), **made)
        self.kept.append(fns)
        can = frozenset(["ordered"])
        carrier = registry.Carrier("liar", 0, can, "/plugins/liar.so", fns, None)
        self.patch.setattr(engines, "find", lambda _: carrier)
        return Engine("liar")


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> Liar:
    return Liar(monkeypatch)


def telling(**event: Any) -> Callable[..., int]:
    """A progress that tells one event."""

    def progress(_engine: int, _wait: int, events: Any, _room: int, _status: int) -> int:
        for name, value in event.items():
            setattr(events[0].contents, name, value)
        return 1

    return progress


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(PluginError) as caught:
        call()
    assert caught.value.code == "bad-transport"
    assert "liar" in str(caught.value)
    return caught.value.found


PLACE = c.create_string_buffer(16)
EVENTS: list[tuple[dict[str, Any], str]] = [
    ({"kind": 77}, "kind 77 of token 0"),
    ({"kind": -1}, "kind -1 of token 0"),
    ({"kind": 0}, "kind 0 of token 0"),
    ({"kind": SENT, "token": 0}, "kind 2 of token 0"),
    ({"kind": SENT, "token": 99}, "kind 2 of token 99"),
    ({"kind": RECEIVED, "token": 1 << 63}, f"kind 3 of token {1 << 63}"),
    ({"kind": RECEIVED, "token": 1, "size": 4}, "4 bytes, nowhere"),
    ({"kind": RECEIVED, "token": 1, "size": 1 << 63, "data": c.addressof(PLACE)},
     f"{1 << 63} bytes"),
    ({"kind": RECEIVED, "token": 2, "size": 5, "data": c.addressof(PLACE)}, "5 bytes"),
    ({"kind": RECEIVED, "token": 2, "size": (1 << 64) - 1}, f"{(1 << 64) - 1} bytes, nowhere"),
]  # fmt: skip


@pytest.mark.parametrize(("event", "found"), EVENTS)
def test_events_that_cannot_be(liar: Liar, event: dict[str, Any], found: str) -> None:
    """Of no kind, of no operation, of operations that are over, of bytes that are not there."""
    with liar(progress=telling(**event)) as engine:
        engine.receive(5, TAG)
        engine.receive(5, TAG, into=np.zeros(4, np.uint8))
        assert refused(engine.progress) == found


def test_an_operation_that_ends_twice(liar: Liar) -> None:
    with liar(progress=telling(kind=SENT, token=1)) as engine:
        engine.send(5, TAG, [b"once"])
        assert engine.progress()[0].kind == "sent"
        assert refused(engine.progress) == "kind 2 of token 1"


@pytest.mark.parametrize("count", [65, 1 << 20, (1 << 31) - 1])
def test_more_events_than_there_is_room_for(liar: Liar, count: int) -> None:
    with liar(progress=lambda *_: count) as engine:
        assert refused(engine.progress) == f"{count} events"


def test_messages_that_are_empty_or_fill_their_memory(liar: Liar) -> None:
    into = np.zeros(4, np.uint8)
    with liar(progress=telling(kind=RECEIVED, token=1, size=0)) as engine:
        engine.receive(5, TAG)
        (event,) = engine.progress()
        assert event.data is not None
        assert event.data.size == 0
    with liar(progress=telling(kind=RECEIVED, token=1, size=4)) as engine:
        engine.receive(5, TAG, into=into)
        assert engine.progress()[0].data.tolist() == [0] * 4  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", [ACCEPTED, LOST])
def test_words_of_any_bytes(liar: Liar, kind: int) -> None:
    """Also without a NUL at their end, and with a code that no release has."""
    progress = telling(kind=kind, peer=5, code=1 << 30, message=b"\xff" * 128)
    with liar(progress=progress) as engine:
        (event,) = engine.progress()
        assert event.code == "UNKNOWN"
        assert event.message == "\ufffd" * 128


@pytest.mark.parametrize("bound", [b"", b"\xff\xfe", b"tcp://1.2.3.4:5", b"liar://\x1b[2J"])
def test_addresses_that_are_none(liar: Liar, bound: bytes) -> None:
    def listen(_engine: int, _address: bytes, out: int, _status: int) -> None:
        write(out, bound)

    with liar(listen=listen) as engine:
        assert "\x1b" not in refused(lambda: engine.listen("liar://"))


def test_no_engine_and_no_peer(liar: Liar) -> None:
    assert refused(lambda: liar(open=lambda *_: None)) == "neither"
    with liar(connect=lambda *_: 0) as engine:
        assert refused(lambda: engine.connect("liar://1")) == "neither"


class Library:
    """One that fills in what it is registered with."""

    path, name = "/plugins/liar.so", "liar"

    def __init__(self, fill: Callable[[Any], None]) -> None:
        def entry(params: Any, _status: int) -> None:
            fill(params.contents)

        self.entry = c.CFUNCTYPE(None, c.POINTER(Params), c.c_void_p)(entry)

    def symbol(self, _name: str) -> int:
        return c.cast(self.entry, c.c_void_p).value or 0


@pytest.fixture
def offers() -> Callable[..., Any]:
    """Fill in so many transports of a scheme, of which there is one."""
    kept: list[Any] = []

    def make(count: int, scheme: bytes) -> Callable[[Any], None]:
        types = dict(Fns._fields_)
        made = {name: types[name](f) for name, f in HONEST.items()}
        fns = Fns(struct_size=c.sizeof(Fns), **made)
        one = Transport(struct_size=c.sizeof(Transport), scheme=scheme, fns=c.pointer(fns))
        one.capabilities = 1
        table = (c.POINTER(Transport) * 1)(c.pointer(one))
        kept.append((fns, one, table, made))

        def fill(params: Any) -> None:
            params.num_transports = count
            params.transports = table

        return fill

    return make


@pytest.mark.parametrize("count", [65, (1 << 31) - 1, -1])
def test_more_transports_than_anybody_has(offers: Any, count: int) -> None:
    with pytest.raises(PluginError) as caught:
        registry.initialise(Library(offers(count, b"liar")), registry.ENTRY)  # type: ignore[arg-type]
    assert caught.value.code == "bad-transport"
    assert caught.value.found == str(count)


@pytest.mark.parametrize("scheme", [b"", b"Liar", b"a://", b"a" * 65, b"\xff", b"a\x1b[2J"])
def test_schemes_that_are_none(offers: Any, scheme: bytes) -> None:
    with pytest.raises(PluginError) as caught:
        registry.initialise(Library(offers(1, scheme)), registry.ENTRY)  # type: ignore[arg-type]
    assert caught.value.code == "bad-transport"
    assert len(caught.value.found) < 300

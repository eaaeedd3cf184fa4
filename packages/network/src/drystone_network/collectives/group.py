"""A group of processes that compute together: rings of engines, and what goes round in them."""

from __future__ import annotations

import hmac
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self, TypeVar

import ml_dtypes
import numpy as np

from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest, HostError
from drystone_network.cluster.spec import ClusterSpec, Task
from drystone_network.cluster.tls import key_of
from drystone_network.cluster.tls import token as own_token
from drystone_network.collectives.calls import bad, check_open, check_out, place_of, text_of
from drystone_network.transports.engine import Engine, Happened
from drystone_network.workers.failures import task_lost, task_unreachable, unproven

__all__ = ["Group"]

Array = np.ndarray[Any, Any]
T = TypeVar("T")

_CHUNK: Final = 1 << 20  # bytes that go round at once: one is summed while the next one comes
_AHEAD: Final = 2
"""Chunks that are sent before the first comes back. More would lie in buffers of the system until
they are out of the processor's caches: over TCP the whole then takes nearly twice as long."""
_SMALL: Final = 4 << 10
"""Bytes of an array that goes round whole, in one message of each process."""
_SAID: Final = 4 << 10  # bytes that say which call it is, at most
_HELLO: Final = 1
_ROUND: Final = 2
_BYE: Final = (_HELLO, 4)
_LOOK: Final = 0.2
_SUMMED_AS: Final = {
    np.dtype(np.float16): np.dtype(np.float32),
    np.dtype(ml_dtypes.bfloat16): np.dtype(np.float32),
}
"""Types whose sums would lose too much: each is summed in the other and rounded once."""
_OPS: Final[dict[str, Callable[..., Any]]] = {
    "sum": np.add, "mean": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply,
}  # fmt: skip


class Group:
    """The processes of a job that sum, gather and meet; every one makes the same calls in order.

    ``rank`` is this process's number from 0, ``size`` how many there are. Each listens at the
    ``address`` of its task; ``transport`` is ``tcp``, or on one machine ``unix`` or ``shm``.
    ``seconds`` is how long others may take to join, and to answer within a call. Results are the
    same to the bit in each process and in each run: sums are taken in the order of the ring.

    Raises ``HostError``: ``task-unreachable`` where others do not join, ``task-lost`` where one
    leaves, ``cluster-token``; ``BadRequest``: ``bad-collective`` where the processes do not make
    the same call, ``no-group`` once a call has failed, ``insecure-worker`` without a token at an
    address that other machines reach. Safe to use from several threads, one call at a time.
    """

    @checked
    def __init__(
        self,
        cluster: ClusterSpec | None = None,
        job: str = "worker",
        task: int = 0,
        *,
        transport: str = "tcp",
        seconds: float = 60.0,
        token: str | None = None,
    ) -> None:
        if cluster is None:
            cluster, own = ClusterSpec.from_tf_config()
        else:
            own = Task(job, task)
        self.tasks = cluster.tasks(own.job)
        cluster.address(own)
        self.address = cluster.address(own)
        self.rank, self.size = self.tasks.index(own), len(self.tasks)
        self._seconds = seconds
        self._token = own_token() if token is None else token
        self._lock = threading.Lock()
        self._calls = 0
        self._until = 0.0
        self._kept = np.empty(0, np.uint8)
        self._gone: Happened | None = None
        self._done: dict[int, Happened] = {}
        check_open(own, transport, self.address, self._token)
        places = [place_of(transport, cluster.address(t)) for t in self.tasks]
        self._engine = Engine(places[self.rank], unexpected_bytes=64 << 20)
        self._before = self._after = 0
        if self.size > 1:
            self._join(places)

    def __repr__(self) -> str:
        return f"<Group: {self.rank} of {self.size}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the group; to those who are still in a call that is over here, it is no loss."""
        if not self._engine.closed:
            for peer in filter(None, (self._before, self._after)):
                self._say_goodbye(peer)
        self._engine.close()

    def _say_goodbye(self, peer: int) -> None:
        try:
            token = self._engine.send(peer, _BYE, [b"bye"])
            until = time.monotonic() + _LOOK
            while token and time.monotonic() < until:
                if any(event.token == token for event in self._engine.progress(_LOOK)):
                    return
        except HostError:
            return  # it is gone itself

    def _has_left(self, peer: int) -> bool:
        """Whether one who is gone had made all its calls: its last word is kept until now."""
        try:
            self._engine.receive(peer, _BYE)
        except HostError:
            return False
        return True

    # ---- joining -------------------------------------------------------------------------------

    def _proof(self, challenge: bytes, rank: int) -> bytes:
        said = b"drystone group" + challenge + rank.to_bytes(4, "little")
        return hmac.new(key_of(self._token), said, "sha256").digest()

    def _join(self, places: Sequence[str]) -> None:
        """Be connected to the next process of the ring, and to the one before."""
        until = time.monotonic() + self._seconds
        self._engine.listen(places[self.rank])
        after = (self.rank + 1) % self.size
        while not self._after or not self._before:
            if not self._after:
                self._after = self._try_connect(places[after])
            for event in self._engine.progress(_LOOK):
                if event.kind == "accepted":
                    self._accept(event.peer)
            if time.monotonic() > until:
                missing = after if not self._after else (self.rank - 1) % self.size
                raise task_unreachable(self.tasks[missing], places[missing], "it did not join")
        self._meet(until)

    def _accept(self, peer: int) -> None:
        """Take who connects first for the process before, until he has proved it or not."""
        if self._before:
            self._engine.disconnect(peer)
        self._before = self._before or peer

    def _try_connect(self, place: str) -> int:
        try:
            return self._engine.connect(place)
        except HostError:
            return 0

    def _meet(self, until: float) -> None:
        """Prove to the next that we belong, and have the one before prove it."""
        challenge = os.urandom(32)
        self._engine.send(self._before, (_HELLO, 1), [challenge])
        asked = self._take(self._after, (_HELLO, 1), until)
        self._engine.send(self._after, (_HELLO, 2), [self._proof(asked, self.rank)])
        proof = self._take(self._before, (_HELLO, 2), until)
        before = (self.rank - 1) % self.size
        if not hmac.compare_digest(proof, self._proof(challenge, before)):
            self._engine.close()
            raise unproven(self.tasks[before], self.tasks[before].device())
        self._engine.send(self._before, (_HELLO, 3), [self._proof(proof, self.rank)])
        welcome = self._take(self._after, (_HELLO, 3), until)
        own = self._proof(self._proof(asked, self.rank), (self.rank + 1) % self.size)
        if not hmac.compare_digest(welcome, own):
            raise unproven(self.tasks[(self.rank + 1) % self.size], "the next of the ring")

    def _take(self, peer: int, tag: tuple[int, int], until: float) -> bytes:
        event = self._wait(self._receive(peer, tag), until)
        return b"" if event.data is None else event.data.tobytes()

    # ---- messages ------------------------------------------------------------------------------

    def _receive(self, peer: int, tag: tuple[int, int], into: Array | None = None) -> int:
        try:
            return self._engine.receive(peer, tag, into=into)
        except HostError as error:
            raise self._lost(peer, error.found) from error

    def _send(self, tag: tuple[int, int], data: Array) -> int:
        try:
            return self._engine.send(self._after, tag, [data])
        except HostError as error:
            raise self._lost(self._after, error.found) from error

    def _lost(self, peer: int, found: object) -> HostError:
        step = 1 if peer == self._after else -1
        return task_lost(self.tasks[(self.rank + step) % self.size], found)

    def _wait(self, token: int, until: float) -> Happened:
        """The event of an operation; raises where its peer is gone or the time is over."""
        while token not in self._done:
            left = until - time.monotonic()
            if left <= 0:
                raise HostError(
                    f"process {self.rank} of a group waited too long",
                    check="all processes of a group make the same calls, in time",
                    found=f"{self.tasks[(self.rank - 1) % self.size]} sent nothing for "
                    f"{self._seconds:g} seconds",
                    needed="a call of each process",
                    remedy="see what the others do; Group(seconds=...) waits longer",
                    code="group-waited",
                    status="DEADLINE_EXCEEDED",
                )
            for event in self._engine.progress(min(left, _LOOK)):
                if event.kind in ("sent", "received"):
                    self._done[event.token] = event
                elif event.kind == "lost" and event.peer in (self._before, self._after):
                    self._gone = self._gone if self._has_left(event.peer) else event
                elif event.kind == "accepted":
                    self._accept(event.peer)
            if self._gone is not None and token not in self._done:
                raise self._lost(self._gone.peer, self._gone.message)
        event = self._done.pop(token)
        if event.code != "OK":
            raise self._lost(event.peer, event.message)
        return event

    # ---- calls ---------------------------------------------------------------------------------

    @checked
    def all_reduce(self, value: Any, op: str = "sum", *, out: Array | None = None) -> Array:
        """The elementwise ``op`` (sum, mean, max, min, prod) of the arrays of all processes.

        float16 and bfloat16 are summed in float32 and rounded once. ``out`` is an array that takes
        the result, and may be ``value`` itself: large sums are then spared a copy in fresh memory.
        It is undefined after a failure.
        """
        array = np.asarray(value)
        kind = self._checked(array, op)
        if out is not None:
            check_out(out, array)
        wide = _SUMMED_AS.get(array.dtype, array.dtype)
        with self._call():
            if array.nbytes <= _SMALL and self.size > 1:
                return self._reduced(array, wide, op, out)
            self._agree("all_reduce", op, array)
            own = self._own(array, wide, out).reshape(-1)
            bounds = self._bounds(own.size)
            self._reduce_round(own, bounds, kind)
            if op == "mean":
                part = own[bounds[self._mine()] : bounds[self._mine() + 1]]
                np.divide(part, self.size, out=part, casting="unsafe")
            narrow = own if wide == array.dtype else own.astype(array.dtype)
            self._gather_round(narrow, bounds)
        if out is None:
            return narrow.reshape(array.shape)
        if narrow is not own:
            out[...] = narrow.reshape(array.shape)
        return out

    def _reduced(self, array: Array, wide: np.dtype[Any], op: str, out: Array | None) -> Array:
        """What :meth:`all_reduce` gives of small arrays: everyone has all, and sums by rank."""
        every = self._everyones("all_reduce", op, array)
        total = every[0].astype(wide)
        for one in every[1:]:
            _OPS[op](total, one.astype(wide, copy=False), out=total)
        if op == "mean":
            np.divide(total, self.size, out=total, casting="unsafe")
        if out is None:
            return total.astype(array.dtype, copy=False)
        out[...] = total
        return out

    @staticmethod
    def _own(array: Array, wide: np.dtype[Any], out: Array | None) -> Array:
        """The values to sum over: in ``out`` where that can hold them."""
        if out is None or wide != array.dtype:
            return np.array(array, wide, order="C")
        if out is not array:
            out[...] = array
        return out

    @checked
    def reduce_scatter(self, value: Any, op: str = "sum") -> Array:
        """This process's share, along the first axis, of what :meth:`all_reduce` would give."""
        array = np.asarray(value)
        kind = self._checked(array, op)
        if not array.ndim or array.shape[0] % self.size:
            raise bad("the first axis is divided among the processes", list(array.shape),
                       f"a multiple of {self.size}")  # fmt: skip
        wide = _SUMMED_AS.get(array.dtype, array.dtype)
        with self._call():
            self._agree("reduce_scatter", op, array)
            own = np.array(array, wide, order="C").reshape(-1)
            size = own.size // self.size
            # In the ring each ends with the share of the next: turned by one it has its own.
            turned = np.roll(own, size) if self.size > 1 else own
            bounds = [k * size for k in range(self.size + 1)]
            self._reduce_round(turned, bounds, kind)
            part = turned[bounds[self._mine()] : bounds[self._mine() + 1]]
            if op == "mean":
                np.divide(part, self.size, out=part, casting="unsafe")
        shape = (array.shape[0] // self.size, *array.shape[1:])
        return part.astype(array.dtype).reshape(shape)

    @checked
    def all_gather(self, value: Any) -> Array:
        """The arrays of all processes, of one shape, one after another on the first axis."""
        array = np.array(value, order="C")
        self._checked(array, "sum")
        with self._call():
            self._agree("all_gather", "", array)
            whole = np.empty((self.size, *array.shape), array.dtype)
            # After a reduction a process has the share of the next one; here it has its own.
            flat, size = whole.reshape(-1), array.size
            flat[self.rank * size : (self.rank + 1) * size] = array.reshape(-1)
            bounds = [k * size for k in range(self.size + 1)]
            self._gather_round(flat, bounds, first=self.rank)
        return whole.reshape(self.size * array.shape[0], *array.shape[1:]) if array.ndim else whole

    @checked
    def broadcast(self, value: Any, root: int = 0) -> Array:
        """The array of process ``root``; those of the others must have its shape and dtype."""
        if not 0 <= root < self.size:
            raise bad("root is a process of the group", root, f"0 to {self.size - 1}")
        array = np.array(value, order="C")
        self._checked(array, "sum")
        with self._call():
            self._agree("broadcast", str(root), array)
            self._pass_on(array.reshape(-1).view(np.uint8), root)
        return array

    def barrier(self) -> None:
        """Wait until all processes are here."""
        self.all_reduce(np.zeros(1, np.int32))

    @contextmanager
    def _call(self) -> Iterator[None]:
        """One call at a time. A group in which one failed is over: the others see that it is."""
        with self._lock:
            if self._engine.closed:
                raise BadRequest(
                    "the group is over",
                    check="a group is used until it is closed, or a call of it has failed",
                    found="it was closed, or a call has failed here",
                    needed="a group that all processes are in",
                    remedy="join again, on all processes",
                    code="no-group",
                    status="FAILED_PRECONDITION",
                )
            try:
                yield
            except BaseException:
                self._engine.close()  # without a word: the others are to see a loss
                raise

    def _mine(self) -> int:
        """Which share of a reduced array ends here."""
        return (self.rank + 1) % self.size

    def _bounds(self, size: int) -> list[int]:
        """Where shares begin: of nearly equal sizes."""
        return [size * k // self.size for k in range(self.size + 1)]

    def _checked(self, array: Array, op: str) -> Callable[..., Any]:
        if op not in _OPS:
            raise bad("a reduction is one that is known", op, ", ".join(_OPS))
        if array.dtype.hasobject or array.dtype.kind in "SUMm":
            raise bad("what goes round is numbers", str(array.dtype), "an array of numbers")
        if array.dtype == bool and op in ("sum", "mean", "prod"):
            raise bad("numbers are summed", "bool", "an array of numbers")
        return _OPS[op]

    def _agree(self, call: str, how: str, array: Array) -> None:
        """Raise ``BadRequest`` unless the process before makes the same call."""
        tag = self._begin()
        if self.size == 1:
            return
        text = text_of(call, how, array.dtype, array.shape)
        sent = self._send(tag, np.frombuffer(text.encode(), np.uint8))
        theirs = self._take(self._before, tag, self._until)
        if sent:
            self._wait(sent, self._until)
        self._check_same(text, theirs, (self.rank - 1) % self.size)

    def _begin(self) -> tuple[int, int]:
        """A call begins; the tag of what is said of it."""
        self._calls += 1
        self._until = time.monotonic() + self._seconds
        return _ROUND, self._calls << 32

    def _check_same(self, text: str, said: bytes, rank: int) -> None:
        theirs = said.partition(b"\0")[0].decode("utf-8", "replace")
        if theirs != text:
            found = f"{self.tasks[rank]}: {theirs}"
            raise bad("all processes make the same call", found, f"{text}, as here")

    def _everyones(self, call: str, how: str, array: Array) -> list[Array]:
        """The small arrays of all processes, by rank: each goes round with what its call is."""
        tag, text = self._begin(), text_of(call, how, array.dtype, array.shape)
        head = text.encode() + b"\0"
        goes = np.frombuffer(head + array.tobytes(), np.uint8)
        every, sent = [array] * self.size, []
        for step in range(1, self.size):
            sent.append(self._send(tag, goes))
            goes = np.empty(_SMALL + _SAID, np.uint8)
            came = self._wait(self._receive(self._before, tag, into=goes), self._until)
            said = b"" if came.data is None else came.data.tobytes()
            from_rank = (self.rank - step) % self.size
            if not said.startswith(head):
                self._check_same(text, said, from_rank)
            every[from_rank] = np.ndarray(array.shape, array.dtype, said, len(head))
            goes = goes[: len(said)]
        for token in filter(None, sent):
            self._wait(token, self._until)
        return every

    def _reduce_round(self, own: Array, bounds: Sequence[int], kind: Callable[..., Any]) -> None:
        """Add up shares round the ring: at the end the next one's share is whole here."""

        def take(share: Array, came: Array) -> None:
            kind(came, share, out=share)

        for step in range(self.size - 1):
            give = (self.rank - step) % self.size
            get = (self.rank - step - 1) % self.size
            self._exchange(own, bounds, step, give, get, take)

    def _gather_round(self, own: Array, bounds: Sequence[int], first: int | None = None) -> None:
        """Pass whole shares round the ring; ``first``: which one is here."""
        begin = self._mine() if first is None else first
        for step in range(self.size - 1):
            give = (begin - step) % self.size
            get = (begin - step - 1) % self.size
            self._exchange(own, bounds, self.size + step, give, get, None)

    def _exchange(
        self, own: Array, bounds: Sequence[int], step: int, give: int, get: int,
        take: Callable[[Array, Array], None] | None,
    ) -> None:  # fmt: skip
        """Send one share to the next and take one of the process before, in chunks."""
        least = max(1, _CHUNK // own.itemsize)
        out, inn = own[bounds[give] : bounds[give + 1]], own[bounds[get] : bounds[get + 1]]
        chunks = math.ceil(inn.size / least)
        places = [inn[k * least : (k + 1) * least] for k in range(chunks)]
        rooms = places
        if take is not None:
            room = self._room(inn)
            rooms = [room[k * least : (k + 1) * least] for k in range(chunks)]
        tag = (_ROUND, self._calls << 32 | step + 1)
        tokens = [self._receive(self._before, tag, into=room) for room in rooms]
        pieces = [
            out[k * least : (k + 1) * least].view(np.uint8)
            for k in range(math.ceil(out.size / least))
        ]
        sent = [self._send(tag, piece) for piece in pieces[:_AHEAD]]
        for k, (token, place, room) in enumerate(zip(tokens, places, rooms, strict=True)):
            self._wait(token, self._until)
            sent += [self._send(tag, piece) for piece in pieces[k + _AHEAD : k + _AHEAD + 1]]
            if take is not None:
                take(place, room)
        sent += [self._send(tag, piece) for piece in pieces[len(tokens) + _AHEAD :]]
        for token in filter(None, sent):
            self._wait(token, self._until)

    def _room(self, share: Array) -> Array:
        """Memory for what is added to a share; kept, as fresh pages take as long as the sums."""
        if self._kept.nbytes < share.nbytes:
            self._kept = np.empty(share.nbytes, np.uint8)
        return self._kept[: share.nbytes].view(share.dtype)

    def _pass_on(self, data: Array, root: int) -> None:
        """Send bytes round the ring from ``root``, each chunk on as soon as it is here."""
        sent = []
        last = (root - 1) % self.size
        tag = (_ROUND, self._calls << 32 | 1)
        chunks = [data[k : k + _CHUNK] for k in range(0, data.size, _CHUNK)]
        tokens = []
        if self.rank != root and self.size > 1:
            tokens = [self._receive(self._before, tag, into=chunk) for chunk in chunks]
        for k, chunk in enumerate(chunks):
            if tokens:
                self._wait(tokens[k], self._until)
            if self.rank != last:
                sent.append(self._send(tag, chunk))
        for token in filter(None, sent):
            self._wait(token, self._until)

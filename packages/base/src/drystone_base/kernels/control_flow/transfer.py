"""Send and Recv: values that go from one device's part of a run to another's.

Source: TensorFlow ops _Send, _Recv, _HostSend, _HostRecv.
"""

from __future__ import annotations

from drystone_base.core.errors import KernelError
from drystone_base.core.payloads import at_node
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.state.rendezvous import KEY, Aborted, Rendezvous


def _key(call: Call) -> str:
    name: str = call.attrs["tensor_name"]
    return name


def _rendezvous(call: Call) -> Rendezvous:
    found: Rendezvous = call.runtime.step.resources.setdefault(KEY, Rendezvous())
    return found


@kernel("_Send", "_HostSend")
def send(call: Call, value: Array | None) -> tuple[()]:
    """Leaves the value for the Recv of the same ``tensor_name``; None is a dead one."""
    _rendezvous(call).send(_key(call), value)
    return ()


@kernel("_Recv", "_HostRecv")
def recv(call: Call) -> Array | None:
    """The value that the Send of the same ``tensor_name`` leaves, None if dead; waits for it."""
    meeting = _rendezvous(call)
    if not meeting.is_shared and not meeting.holds(_key(call)):
        raise _not_sent(call)
    try:
        value: Array | None = meeting.receive(_key(call), call.runtime, f"at node {call.node!r}")
    except Aborted:
        raise KernelError(
            f"node {call.node!r} ({call.op}) waits for what will not come",
            details=at_node(call.node, call.op),
            check="the part of the graph that sends must run to its Send",
            found="that part has failed",
            needed=_key(call),
            remedy="the error of the part that failed says why",
            code="run-cancelled",
            status="CANCELLED",
        ) from None
    return value


def _not_sent(call: Call) -> KernelError:
    return KernelError(
        f"node {call.node!r} ({call.op}) would wait for ever",
        details=at_node(call.node, call.op),
        check="what is received must be sent in the same run, before",
        found=f"nothing was sent as {_key(call)!r}",
        needed="the part of the graph with the _Send",
        remedy="run the graph as it was before it was split",
        code="queue-would-block",
        status="DEADLINE_EXCEEDED",
    )

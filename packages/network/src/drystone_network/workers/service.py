"""The control plane: requests to workers over gRPC, by handlers of our own."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc

from drystone_network.cluster.tls import Tls, key_of
from drystone_network.workers.failures import bad_frame, refused_token, to_fields
from drystone_network.workers.wire import BadFrame, pack, unpack

__all__ = ["METHOD", "OPTIONS", "TOKEN", "serve", "token_sent"]

METHOD: Final = "/drystone.network.Worker/"
TOKEN: Final = "drystone-token"
_MOST_MESSAGE: Final = (1 << 31) - 1
_MOST_CALLS: Final = 1024
"""Requests at once, each of which has a thread. More are refused: one that waits for a thread could
be what the others wait for."""
OPTIONS: Final = [
    ("grpc.max_receive_message_length", _MOST_MESSAGE),
    ("grpc.max_send_message_length", _MOST_MESSAGE),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.enable_http_proxy", 0),
    ("grpc.so_reuseport", 0),
]
"""Of channels and servers: a process that does not answer pings for 15 seconds is gone."""

_OF_SERVERS: Final = [("grpc.server_handshake_timeout_ms", 10_000)]
"""Who connects and does not begin to speak gRPC, or TLS, is let go after that time."""

Call = Callable[[str, dict[str, Any], list[Any]], tuple[dict[str, Any], Sequence[Any]]]


class _Handler(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    def __init__(self, call: Call, token: str) -> None:
        self._call, self._token = call, token

    def service(self, details: Any) -> Any:
        if not details.method.startswith(METHOD):
            return None
        method = details.method[len(METHOD) :]
        given = str(dict(details.invocation_metadata).get(TOKEN, ""))
        if not hmac.compare_digest(given.encode(), token_sent(self._token).encode()):
            return grpc.stream_unary_rpc_method_handler(_refuse)

        def answer(request: bytes, context: Any) -> bytes:
            try:
                try:
                    document, arrays = unpack(request)
                except BadFrame as error:
                    raise bad_frame(error) from error
                if method == "run":  # and who asked may be gone before it has ended
                    context.add_callback(lambda: self._call("abandon", document, []))
                return pack(*self._call(method, document, arrays))
            except Exception as error:
                return pack({"error": to_fields(error)})

        return grpc.unary_unary_rpc_method_handler(answer)


def token_sent(token: str) -> str:
    """What stands for a token in a request: of one length, and of letters that gRPC takes."""
    return hmac.new(key_of(token), b"drystone control", "sha256").hexdigest()


def _refuse(_requests: Any, _context: Any) -> bytes:
    """Answer who has not the token, without reading what may be two gigabytes."""
    return pack({"error": to_fields(refused_token("the worker"))})


def serve(address: str, call: Call, token: str, tls: Tls | None) -> Any:
    """A server that has begun, for ``call``; raises ``RuntimeError`` where the address is taken."""
    server = grpc.server(
        ThreadPoolExecutor(_MOST_CALLS, "drystone worker"), [_Handler(call, token)],
        options=[*OPTIONS, *_OF_SERVERS], maximum_concurrent_rpcs=_MOST_CALLS,
    )  # fmt: skip
    if tls is None:
        server.add_insecure_port(address)
    else:
        server.add_secure_port(address, tls.server())
    server.start()
    return server

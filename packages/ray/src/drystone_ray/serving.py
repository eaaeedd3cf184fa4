"""A deployment of Ray Serve that answers as TensorFlow Serving's REST interface does."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import drystone_base as ds
from drystone_ray.prediction import ModelSource, load_model

if TYPE_CHECKING:
    from ray.serve import Application
    from starlette.requests import Request
    from starlette.responses import Response

    from drystone_base.loaders import TensorSpec

__all__ = ["Predictions", "deployment"]

Array = np.ndarray[Any, Any]


class Predictions:
    """Answers to JSON requests: ``{"instances": [...]}`` row by row, or ``{"inputs": {...}}``.

    Source: TensorFlow Serving, RESTful API, predict. Bytes are ``{"b64": "..."}`` both ways.
    """

    def __init__(
        self, model: ModelSource, signature: str | None = None, threads: int | None = None
    ) -> None:
        self.model = load_model(model, threads)
        self._signature = signature

    async def __call__(self, request: Request) -> Response:
        """The answer to a request over HTTP: status 400 and the error for one that is wrong."""
        from starlette.responses import Response

        try:
            said, status = self.answer(await request.body()), 200
        except ds.DrystoneError as error:
            said, status = {"error": error.render()}, 400
        # Not JSONResponse, which refuses NaN: TensorFlow Serving writes it as Python does.
        return Response(json.dumps(said), status, media_type="application/json")

    def answer(self, body: bytes | str) -> dict[str, Any]:
        """The answer to a body; raises ``BadRequest`` (``bad-json``) and what the model raises."""
        asked = _parsed(body)
        name = asked.get("signature_name", self._signature)
        function = self.model.default_signature() if name is None else self.model.signatures[name]
        by_row = "instances" in asked
        given = asked["instances" if by_row else "inputs"]
        if by_row:
            given = _columns(given, function.inputs)
        elif not isinstance(given, dict):
            given = dict.fromkeys(list(function.inputs)[:1], given)
        feeds = {key: _array(key, value, function.inputs.get(key)) for key, value in given.items()}
        found = function(feeds)
        return {"predictions": _rows(found)} if by_row else {"outputs": _only(_plain_all(found))}


def deployment(
    model: ModelSource,
    *,
    signature: str | None = None,
    threads: int = 1,
    **options: Any,
) -> Application:
    """An application for ``ray.serve.run``; ``options`` are those of ``serve.deployment``. ::

    serve.run(drystone_ray.deployment("saved_model/", num_replicas=2), route_prefix="/model")
    """
    from ray import serve

    stated = {"ray_actor_options": {"num_cpus": threads}} | options
    source = model if isinstance(model, ds.Model) else os.fspath(model)
    application: Application = serve.deployment(**stated)(Predictions).bind(
        source, signature, threads
    )
    return application


def _parsed(body: bytes | str) -> dict[str, Any]:
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _bad(f"no JSON: {error}") from None
    if not isinstance(asked, dict) or ("instances" in asked) == ("inputs" in asked):
        raise _bad("neither of them, or both")
    return asked


def _columns(rows: Any, inputs: Mapping[str, TensorSpec]) -> dict[str, list[Any]]:
    """The values of each input, from rows that have them by name, or are those of the only one."""
    if not isinstance(rows, list) or not rows:
        raise _bad('"instances" is no list of rows')
    if not all(isinstance(row, dict) and set(row) != {"b64"} for row in rows):
        return {next(iter(inputs), ""): rows}
    if any(set(row) != set(rows[0]) for row in rows):
        raise _bad("rows that do not have the same inputs")
    return {name: [row[name] for row in rows] for name in rows[0]}


def _array(name: str, value: Any, spec: TensorSpec | None) -> Array:
    if spec is None:
        return np.asarray(value, object)  # the signature refuses the name
    wanted = spec.dtype.np
    try:
        if wanted.kind == "O":
            return np.asarray(_decoded(value), object)
        found = np.asarray(value)
        with np.errstate(invalid="ignore"):  # NaN is no whole number: it is refused below
            array = found.astype(wanted)
    except (ValueError, TypeError, OverflowError) as error:
        raise _bad(f"values of {name!r} that are not {spec.dtype}: {error}") from None
    exact = wanted.kind not in "biu" or (found == array).all()
    if found.dtype.kind not in "bifu" or not exact or (wanted.kind == "b") != (found.dtype == bool):
        raise _bad(f"values of {name!r} that are not {spec.dtype}")
    return array


def _decoded(value: Any) -> Any:
    """The value with bytes for text and for each ``{"b64": ...}``."""
    if isinstance(value, list):
        return [_decoded(one) for one in value]
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and set(value) == {"b64"}:
        return base64.b64decode(value["b64"], validate=True)  # binascii.Error is a ValueError
    raise ValueError(f"{value!r} is no text")


def _rows(found: Mapping[str, Array]) -> list[Any]:
    """Outputs row by row: the value itself where there is one output, else values by name."""
    plain = {name: _plain(value) for name, value in found.items()}
    if len(plain) == 1:
        return list(next(iter(plain.values())))
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


def _plain_all(found: Mapping[str, Array]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in found.items()}


def _only(found: dict[str, Any]) -> Any:
    return next(iter(found.values())) if len(found) == 1 else found


def _plain(value: Array) -> Any:
    array = np.asarray(value)
    if array.dtype.kind == "c":
        raise ds.BadRequest(
            "an output cannot be written as JSON",
            check="JSON has numbers, text and truth values",
            found=str(array.dtype),
            needed="real outputs",
            remedy="export a signature with the real and the imaginary part",
            code="bad-json",
        )
    if array.dtype.kind == "V":  # types of ml_dtypes
        array = array.astype(np.float32)
    return _spoken(array.tolist())


def _spoken(value: Any) -> Any:
    """Text for bytes that are text, base64 for others."""
    if isinstance(value, list):
        return [_spoken(one) for one in value]
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(value).decode("ascii")}


def _bad(found: str) -> ds.BadRequest:
    return ds.BadRequest(
        "the request cannot be read",
        check='a request must be a JSON object with "instances" or "inputs"',
        found=found,
        needed='{"instances": [ROW, ...]} or {"inputs": {NAME: VALUES}}',
        remedy="see the predict request of TensorFlow Serving's RESTful API",
        code="bad-json",
    )

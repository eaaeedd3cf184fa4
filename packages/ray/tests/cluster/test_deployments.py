"""A deployment of Ray Serve, asked over HTTP."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from typing import Any

import pytest
from ray import serve

import drystone_base as ds
import drystone_ray

FLOAT32 = ds.as_dtype("float32")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Where ``y = 2 x`` is served."""
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1,)})
    graph.add("AddV2", "y", [x, x], attrs={"T": FLOAT32})
    folder = tmp_path_factory.mktemp("model") / "m"
    ds.save(graph, folder, signatures={"serving_default": ({"x": "x:0"}, {"y": "y:0"})})
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(drystone_ray.deployment(folder), route_prefix="/twice")
    yield f"http://127.0.0.1:{port}/twice"
    serve.shutdown()


def asked(url: str, body: str) -> tuple[int, Any]:
    request = urllib.request.Request(url, body.encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_it_answers_as_tensorflow_serving_does(url: str) -> None:
    assert asked(url, '{"instances": [1, 2.5]}') == (200, {"predictions": [2.0, 5.0]})
    assert asked(url, '{"inputs": {"x": [4]}}') == (200, {"outputs": [8.0]})
    status, said = asked(url, '{"instances": [NaN]}')
    assert status == 200
    assert said["predictions"][0] != said["predictions"][0]


def test_what_is_wrong_is_said(url: str) -> None:
    status, said = asked(url, '{"instances": ["x"]}')
    assert status == 400
    assert "[bad-json]" in said["error"]
    assert "remedy:" in said["error"]

"""What `drystone optimize` writes runs in TensorFlow, and gives what the graph gave before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import random_arithmetic
from click.testing import CliRunner
from pass_checks import Maker
from random_images import draw_images
from random_layers import draw_layers

from drystone_base.api.session import Session, SessionConfig
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.loaders import write_graph

tf: Any = pytest.importorskip("tensorflow")


def in_tensorflow(path: Path, fetches: Sequence[str], feeds: Any) -> list[Any]:
    """The values that TensorFlow computes of a file."""
    definition = tf.compat.v1.GraphDef()
    definition.ParseFromString(path.read_bytes())
    with tf.Graph().as_default():
        tf.import_graph_def(definition, name="")
        soft = tf.compat.v1.ConfigProto(allow_soft_placement=True)
        with tf.compat.v1.Session(config=soft) as session:
            found: list[Any] = session.run(list(fetches), dict(feeds))
            return found


def optimized(graph: Graph, fetches: Sequence[str], feeds: Any, folder: Path) -> Path:
    """The file that the command writes."""
    given, out = folder / "given.pb", folder / "out.pb"
    write_graph(graph, given)
    words = [w for name in fetches for w in ("--fetch", name)]
    words += [w for name in feeds for w in ("--feed", name)]
    done = CliRunner().invoke(app, ["optimize", str(given), str(out), *words])
    assert done.exit_code == 0, done.output
    return out


@pytest.mark.parametrize("kind", ["arithmetic", "images", "layers"])
@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(kind: str, seed: int, tmp_path: Path) -> None:
    made: Any
    if kind == "arithmetic":
        made, fetches = random_arithmetic.draw(seed)
    elif kind == "images":
        made, fetches = draw_images(seed, last=True)
    else:
        made, fetches = draw_layers(seed)
    off = SessionConfig(executor="reference", optimizer="off")
    with np.errstate(all="ignore"):
        want = Session(made.m.graph, off).run(fetches, made.feeds)
    path = optimized(made.m.graph, fetches, made.feeds, tmp_path)
    for one, other in zip(want, in_tensorflow(path, fetches, made.feeds), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=1e-4)


def test_colocation_with_a_node_that_is_gone(tmp_path: Path) -> None:
    m = Maker()
    m.op("Identity", "gone", m.x(shape=(2,)), T=FLOAT32)
    m.op("Square", "b", "gone", T=FLOAT32, _class=["loc:@gone"])
    m.op("Neg", "c", "gone", T=FLOAT32, _class=["loc:@gone"])
    m.op("AddV2", "y", "b", "c", T=FLOAT32)
    feeds = {"x:0": np.array([1, 3], np.float32)}
    path = optimized(m.graph, ["y:0"], feeds, tmp_path)
    (found,) = in_tensorflow(path, ["y:0"], feeds)
    np.testing.assert_array_equal(found, [0, 6])

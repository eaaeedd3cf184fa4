"""What is done to files: models of every format that is read, made for a size."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from google.protobuf import json_format

from ci.scripts.growth.build import FLOAT, Builder, Made
from ci.scripts.growth.graph_jobs import Job, Work
from drystone_abi.protos import AttrValue, GraphDef, MetaGraphDef, SavedModel

__all__ = ["file_jobs"]

Shape = Callable[[int], Made]


def file_jobs() -> dict[str, tuple[Job, Shape]]:
    """By name, what is done and to what."""
    found: dict[str, tuple[Job, Shape]] = {}
    for name, text in _TEXTS.items():
        found[f"read pbtxt: {name}"] = (_read_text(text), _sized)
    for name, fill in _MODELS.items():
        found[f"load SavedModel: {name}"] = (_load(_saved_model, fill), _sized)
        found[f"load MetaGraph: {name}"] = (_load(_meta_graph, fill), _sized)
        found[f"inspect: {name}"] = (_inspect(fill), _sized)
    found["load TF.js: weights"] = (_load(_tfjs, None), _sized)
    found["load checkpoint: variables"] = (_checkpoint, _sized)
    return found


def _sized(size: int) -> Made:
    """The size alone, as a graph of no nodes."""
    return Made(GraphDef(), (str(size),))


def _size(made: Made) -> int:
    return int(made.fetches[0])


# ---- text --------------------------------------------------------------------------------------


def _long_list(n: int) -> str:
    items = ", ".join(["1"] * n)
    value = f'key: "_l" value {{ list {{ i: [{items}] }} }}'
    return f'node {{ name: "a" op: "NoOp" attr {{ {value} }} }}'


_NODE: Final = 'node {{ name: "n{k}" op: "NoOp" }}\n'
_TEXTS: Final[dict[str, Callable[[int], str]]] = {
    "nodes": lambda n: "".join(_NODE.format(k=k) for k in range(n)),
    "comments": lambda n: "# a comment\n" * n,
    "spaces": lambda n: " \n\t" * n,
    "a long string": lambda n: 'node { name: "%s" op: "NoOp" }' % ("a" * n),
    "many strings": lambda n: "node { name: %s op: 'NoOp' }" % ("'ab' " * n),
    "escapes": lambda n: 'node { name: "%s" op: "NoOp" }' % ("\\141" * n),
    "backslashes": lambda n: f'node {{ name: "a{chr(92) * 2 * n}" op: "NoOp" }}',
    "odd backslashes": lambda n: f'node {{ name: "a{chr(92) * (2 * n + 1)}n" op: "NoOp" }}',
    "an unterminated string": lambda n: 'node { name: "%s' % ("a" * n),
    "unterminated escapes": lambda n: 'node { name: "%s' % ("\\\\" * n),
    "unterminated strings": lambda n: 'node { name: "a\n' * n,
    "quotes": lambda n: "\"'" * n,
    "open messages": lambda n: "node { " * n,
    "open lists": lambda n: "node [ " * n,
    "angles": lambda n: "node < name: 'a' " * n,
    "unknown fields": lambda n: "nobody { a: 1 b: 'c' }\n" * n,
    "nested unknown fields": lambda n: "a { " * min(n, 90) + "} " * min(n, 90),
    "digits": lambda n: "versions { producer: %s }" % ("1" * n),
    "letters": lambda n: "n" * n,
    "separators": lambda n: "node { name: 'a' op: 'NoOp' }%s" % (" ;" * n),
    "zeros": lambda n: "\0" * n,
    "long lists": _long_list,
}


def _read_text(text: Callable[[int], str]) -> Job:
    def prepare(made: Made) -> Work:
        from drystone_base.core.errors import BadModelFile, GraphError
        from drystone_base.graph.pbtxt import from_text

        content = text(_size(made))

        def work() -> object:
            try:
                return from_text(content)
            except (BadModelFile, GraphError) as error:
                return error

        return work

    return prepare


# ---- models --------------------------------------------------------------------------------------


def _signatures(meta: MetaGraphDef, n: int) -> None:
    for k in range(n):
        signature = meta.signature_def[f"s{k}"]
        signature.method_name = "m"
        for kind in (signature.inputs["x"], signature.outputs["y"]):
            kind.dtype = FLOAT.type
        signature.inputs["x"].name, signature.outputs["y"].name = "x:0", "y:0"


def _arguments(meta: MetaGraphDef, n: int) -> None:
    signature = meta.signature_def["serving_default"]
    signature.method_name = "m"
    for k in range(n):
        signature.inputs[f"x{k}"].name, signature.inputs[f"x{k}"].dtype = "x:0", FLOAT.type
    signature.outputs["y"].name, signature.outputs["y"].dtype = "y:0", FLOAT.type


def _collections(meta: MetaGraphDef, n: int) -> None:
    for k in range(n):
        meta.collection_def[f"c{k}"].node_list.value.append("x:0")
    meta.collection_def["all"].node_list.value.extend(["x:0"] * n)


def _objects(meta: MetaGraphDef, n: int) -> None:
    _signatures(meta, 1)
    nodes = meta.object_graph_def.nodes
    nodes.add().user_object.identifier = "_generic_user_object"
    for k in range(n):
        nodes.add().user_object.identifier = "trackable_dict_wrapper"
        nodes[k].children.add(node_id=k + 1, local_name="next")


def _functions(meta: MetaGraphDef, n: int) -> None:
    _signatures(meta, 1)
    b = Builder(meta.graph_def)
    for k in range(n):
        f = b.function(f"F{k}")
        f.returns(f"{f.unary('n', 'a0', k % 3)}:y:0")


def _nodes(meta: MetaGraphDef, n: int) -> None:
    _signatures(meta, 1)
    b = Builder(meta.graph_def)
    last = "x"
    for k in range(n):
        last = b.unary(f"n{k}", last, k)


def _tags(meta: MetaGraphDef, n: int) -> None:
    _signatures(meta, 1)
    meta.meta_info_def.tags.extend(f"tag{k}" for k in range(n))


_MODELS: Final[dict[str, Callable[[MetaGraphDef, int], None]]] = {
    "signatures": _signatures, "arguments": _arguments, "collections": _collections,
    "objects": _objects, "functions": _functions, "nodes": _nodes, "tags": _tags,
}  # fmt: skip


def _meta(fill: Callable[[MetaGraphDef, int], None], n: int) -> MetaGraphDef:
    meta = MetaGraphDef()
    meta.meta_info_def.tags.append("serve")
    b = Builder(meta.graph_def)
    b.unary("y", b.x())
    fill(meta, n)
    return meta


def _saved_model(folder: Path, fill: Any, n: int) -> Path:
    model = SavedModel(saved_model_schema_version=1)
    model.meta_graphs.append(_meta(fill, n))
    (folder / "saved_model.pb").write_bytes(model.SerializeToString())
    return folder


def _meta_graph(folder: Path, fill: Any, n: int) -> Path:
    path = folder / "model.meta"
    path.write_bytes(_meta(fill, n).SerializeToString())
    return path


def _tfjs(folder: Path, _: Any, n: int) -> Path:
    b = Builder()
    last, weights = b.x(), []
    for k in range(n):
        b.add("Const", f"w{k}", dtype=FLOAT, value=np.zeros((), np.float32))
        last = b.add("AddV2", f"n{k}", last, f"w{k}", T=FLOAT)
        weights.append({"name": f"w{k}", "shape": [], "dtype": "float32"})
    (folder / "weights.bin").write_bytes(b"\0" * 4 * n)
    model = {
        "format": "graph-model",
        "modelTopology": json_format.MessageToDict(b.proto),
        "weightsManifest": [{"paths": ["weights.bin"], "weights": weights}],
    }
    path = folder / "model.json"
    path.write_text(json.dumps(model), "utf-8")
    return path


def _load(write: Callable[[Path, Any, int], Path], fill: Any) -> Job:
    def prepare(made: Made) -> Work:
        from drystone_base.loaders import load_model

        folder = tempfile.TemporaryDirectory()
        path = write(Path(folder.name), fill, _size(made))
        return lambda: (load_model(path).graph, folder)

    return prepare


def _inspect(fill: Callable[[MetaGraphDef, int], None]) -> Job:
    def prepare(made: Made) -> Work:
        from click.testing import CliRunner

        from drystone_base.cli._app import app

        folder = tempfile.TemporaryDirectory()
        path = _saved_model(Path(folder.name), fill, _size(made))

        def work() -> object:
            found = CliRunner().invoke(app, ["inspect", str(path)])
            if found.exception and not isinstance(found.exception, SystemExit):
                raise found.exception
            return (found.output, folder)

        return work

    return prepare


def _checkpoint(made: Made) -> Work:
    """Reading the names, shapes and values of a checkpoint that a SaveV2 wrote."""
    from drystone_base.api.session import Session, SessionConfig
    from drystone_base.checkpoint import BundleReader
    from drystone_base.files.access import Access
    from drystone_base.graph import Graph

    folder, n = tempfile.TemporaryDirectory(), _size(made)
    prefix = Path(folder.name) / "ckpt"
    b = Builder()
    value = b.const("v", [1.0, 2.0])
    names = b.const("names", np.array([b"layer/%d/kernel" % k for k in range(n)], object), object)
    slices = b.const("slices", np.array([b""] * n, object), object)
    to = b.const("to", str(prefix).encode(), object)
    types = AttrValue()
    types.list.type.extend([FLOAT.type] * n)
    b.add("SaveV2", "save", to, names, slices, *[value] * n, dtypes=types)
    config = SessionConfig(access=Access.anywhere(), optimizer="off")
    Session(Graph.from_proto(b.proto), config).run("save")

    def work() -> object:
        return (list(BundleReader(prefix).items()), folder)

    return work

"""Which files a graph may read and write: none unless stated, a loaded model's own folder."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from model_files import WEIGHTS, const, meta_graph, model_graph, write_saved_model
from tiny_models import affine

import drystone_base as ds
from drystone_base import Access, Session, SessionConfig
from drystone_base.checkpoint import save as save_tensors
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32, INT64, STRING
from drystone_base.files.access import OUTSIDE
from drystone_base.graph import Graph
from drystone_base.inference.inference import infer
from drystone_base.kernels import all_ops, find_kernel
from drystone_base.ops.defs import find


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a model's file in it and, beside it, a file that is none of its business."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "words.txt").write_text("a\nb\n")
    (tmp_path / "secret.txt").write_text("key\n")
    return tmp_path


def reading(path: object) -> Graph:
    graph = Graph()
    graph.add("ReadFile", "read", [const(graph, "name", str(path), STRING)])
    return graph


def writing(path: object) -> Graph:
    graph = Graph()
    inputs = [const(graph, "name", str(path), STRING), const(graph, "data", "new", STRING)]
    graph.add("WriteFile", "write", inputs)
    return graph


def run(graph: Graph, fetch: str, access: Access | None = None) -> Any:
    return Session(graph, SessionConfig(access=access)).run(fetch)


def denied(graph: Graph, fetch: str, access: Access | None = None) -> str:
    with pytest.raises(ds.KernelError) as caught:
        run(graph, fetch, access)
    assert (caught.value.code, caught.value.status) == ("access-denied", "PERMISSION_DENIED")
    return str(caught.value)


def test_a_session_reads_nothing_unless_told(home: Path) -> None:
    path = home / "secret.txt"
    assert denied(reading(path), "read") == (
        f"node 'read' (ReadFile) may not read '{path}' [access-denied]\n"
        "  check: an op may read only the files that the session's config opens\n"
        f"  found: a path outside of them, {path}\n"
        "  needed: no op may read files\n"
        "  remedy: if you trust the model: "
        f"SessionConfig(access=Access().with_read('{path}')), on the command line "
        f"--allow-read {path}"
    )
    for access in (Access(read=(path,)), Access.nothing().with_read(home), Access.anywhere()):
        assert run(reading(path), "read", access).item() == b"key\n"
    missing = denied(reading(home / "none"), "read")
    assert "may not read" in missing  # whether a file exists is not told either


@pytest.mark.parametrize("way", ["../secret.txt", "link", "up/secret.txt", "../model2/x", "a\0b"])
def test_no_way_leads_out_of_a_folder(home: Path, way: str) -> None:
    (home / "model2").mkdir()
    (home / "model2" / "x").write_text("")
    (home / "model" / "link").symlink_to(home / "secret.txt")
    (home / "model" / "up").symlink_to(home)
    access = Access().with_read(home / "model").with_write(home)
    text = denied(reading(home / "model" / way), "read", access)
    assert f"needed: a path in {home / 'model'}" in text


def test_a_root_may_itself_be_a_link(home: Path) -> None:
    (home / "alias").symlink_to(home / "model")
    access = Access().with_read(home / "alias")
    assert access.read == (str(home / "model"),)
    assert run(reading(home / "model" / "words.txt"), "read", access).item() == b"a\nb\n"


def test_writing_is_another_permission_than_reading(home: Path) -> None:
    target = home / "model" / "out"
    (home / "model" / "link").symlink_to(home / "secret.txt")
    text = denied(writing(target), "write", Access().with_read(home))
    assert f"--allow-write {target}" in text
    denied(writing(home / "model" / "link"), "write", Access().with_write(home / "model"))
    denied(reading(home / "secret.txt"), "read", Access().with_write(home))
    assert not target.exists()
    run(writing(target), "write", Access().with_write(home / "model"))
    assert target.read_text() == "new"
    assert (home / "secret.txt").read_text() == "key\n"


def test_printing_to_a_file_is_writing(home: Path) -> None:
    graph = Graph()
    stream = f"file://{home / 'log'}"
    text = const(graph, "text", "hello", STRING)
    graph.add("PrintV2", "print", [text], attrs={"output_stream": stream, "end": ""})
    assert "(PrintV2) may not write" in denied(graph, "print")
    run(graph, "print", Access().with_write(home / "log"))
    assert (home / "log").read_text() == "hello"


def test_patterns_list_only_what_may_be_read(home: Path) -> None:
    def matching(pattern: object) -> Graph:
        graph = Graph()
        graph.add("MatchingFiles", "match", [const(graph, "pattern", str(pattern), STRING)])
        return graph

    access = Access().with_read(home / "model")
    found = run(matching(home / "model" / "*.txt"), "match", access)
    assert found.tolist() == [os.fsencode(home / "model" / "words.txt")]
    for pattern in (home / "*", home / "model" / ".." / "s*", f"{home}/mod*/../secret.txt"):
        assert "(MatchingFiles) may not read" in denied(matching(pattern), "match", access)
    (home / "model" / "up").symlink_to(home)
    denied(matching(home / "model" / "*" / "*.txt"), "match", access)


def test_tables_are_filled_from_files_that_may_be_read(home: Path) -> None:
    graph = Graph()
    types = {"key_dtype": STRING, "value_dtype": INT64}
    table = graph.add("HashTableV2", "table", attrs=types)
    name = const(graph, "name", str(home / "model" / "words.txt"), STRING)
    attrs = {"key_index": -2, "value_index": -1}
    graph.add("InitializeTableFromTextFileV2", "fill", [table, name], attrs=attrs)
    size = graph.add("LookupTableSizeV2", "size", [table])
    assert "may not read" in denied(graph, "fill")
    session = Session(graph, SessionConfig(access=Access().with_read(home / "model")))
    session.run("fill")
    assert session.run(size.name) == 2


def test_checkpoints_are_read_and_written_by_permission(home: Path) -> None:
    prefix = home / "ckpt"
    save_tensors(prefix, {"w": np.ones(2, np.float32)})
    graph = Graph()
    texts = [const(graph, "prefix", str(prefix), STRING), *(
        const(graph, name, [value], STRING) for name, value in (("names", "w"), ("slices", ""))
    )]  # fmt: skip
    graph.add("RestoreV2", "restore", texts, attrs={"dtypes": [FLOAT32]})
    data = const(graph, "data", [1.0, 2.0], FLOAT32)
    graph.add("SaveV2", "save", [*texts, data], attrs={"dtypes": [FLOAT32]})
    assert f"may not read '{prefix}.index'" in denied(graph, "restore")
    assert "(SaveV2) may not write" in denied(graph, "save", Access().with_read(home))
    assert run(graph, "restore", Access().with_read(f"{prefix}*")).tolist() == [1, 1]
    run(graph, "save", Access().with_write(f"{prefix}*"))
    assert run(graph, "restore", Access().with_read(home)).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["own.index", "own.data-00000-of-00001", "own"])
def test_no_file_of_a_checkpoint_is_a_link_that_leads_out(home: Path, name: str) -> None:
    (home / "model" / name).symlink_to(home / "secret.txt")
    graph = Graph()
    inputs = [const(graph, "prefix", str(home / "model" / "own"), STRING)]
    inputs.append(const(graph, "tensor", "w", STRING))
    graph.add("Restore", "restore", inputs, attrs={"dt": FLOAT32})
    text = denied(graph, "restore", Access().with_read(home / "model"))
    assert f"may not read '{home / 'model' / name}'" in text


def test_shape_inference_reads_nothing(home: Path) -> None:
    graph = reading(home / "secret.txt")
    assert infer(graph).value((graph["read"], 0)) is None


def test_a_model_reads_its_own_folder_and_writes_nothing(home: Path) -> None:
    for where, may in ((home / "model" / "words.txt", True), (home / "secret.txt", False)):
        ds.write_graph(reading(where), home / "model" / "model.pb")
        model = ds.load(home / "model" / "model.pb")
        if may:
            assert model.run("read").item() == b"a\nb\n"
            continue
        with pytest.raises(ds.KernelError, match="may not read"):
            model.run("read")
        config = SessionConfig(access=Access().with_read(where))
        assert ds.load(home / "model", config=config).run("read").item() == b"key\n"
    ds.write_graph(writing(home / "model" / "words.txt"), home / "model" / "model.pb")
    with pytest.raises(ds.KernelError, match="may not write"):
        ds.load(home / "model").run("write")


def test_the_caller_s_own_checkpoint_needs_no_permission(home: Path) -> None:
    folder = write_saved_model(home / "saved", meta_graph(model_graph()))
    model = ds.load(folder)
    ds.save_checkpoint(model, home / "out" / "ckpt")
    (home / "links").mkdir()
    for path in (home / "out").glob("ckpt.*"):
        (home / "links" / path.name).symlink_to(path)
    ds.restore_checkpoint(model, home / "links" / "ckpt")
    assert model.session.access == Access(read=(folder,))  # none of it lasts
    meta = home / "model" / "model.meta"
    meta.write_bytes(meta_graph(model_graph()).SerializeToString())
    model = ds.load(meta, checkpoint=folder / "variables" / "variables")
    assert np.array_equal(model.run("w/read"), WEIGHTS)
    state = 'model_checkpoint_path: "../saved/variables/variables"'
    (home / "model" / "checkpoint").write_text(state)
    # The model's choice, not the caller's.
    with pytest.raises(ds.CheckpointError, match="may not read") as caught:
        ds.load(meta)
    assert caught.value.code == "access-denied"


@pytest.mark.parametrize("saver", [True, False])
@pytest.mark.parametrize("part", ["index", "data-00000-of-00001"])
def test_a_saved_model_whose_shards_are_links_out_is_refused(
    home: Path, saver: bool, part: str
) -> None:
    key = "weights" if saver else "w"
    folder = write_saved_model(home / "saved", meta_graph(model_graph(saver=saver)), key=key)
    shard = folder / "variables" / f"variables.{part}"
    (home / "blobs").mkdir()
    shard.rename(home / "blobs" / part)
    shard.symlink_to(home / "blobs" / part)
    with pytest.raises(ds.CheckpointError, match="links followed") as caught:
        ds.load(folder)
    assert caught.value.code == "access-denied"
    assert str(home / "blobs" / part) in caught.value.found
    assert f"--allow-read {home / 'blobs'}" in caught.value.remedy
    config = SessionConfig(access=Access().with_read(home / "blobs"))
    assert np.array_equal(ds.load(folder, config=config).run("w/read"), WEIGHTS)


def test_a_link_inside_the_folder_of_a_model_is_followed(home: Path) -> None:
    folder = write_saved_model(home / "saved", meta_graph(model_graph()))
    shard = folder / "variables" / "variables.data-00000-of-00001"
    shard.rename(folder / "kept")
    shard.symlink_to("../kept")
    assert np.array_equal(ds.load(folder).run("w/read"), WEIGHTS)


def test_a_lone_graph_reads_files_beside_it_and_no_folders(home: Path) -> None:
    (home / "model" / "more").mkdir()
    (home / "model" / "more" / "words.txt").write_text("c\n")
    (home / "model" / "link.txt").symlink_to("more/words.txt")
    for name, may in (("words.txt", True), ("more/words.txt", False), ("link.txt", False)):
        ds.write_graph(reading(home / "model" / name), home / "model" / "model.pb")
        model = ds.load(home / "model" / "model.pb")
        if may:
            assert model.run("read").item() == b"a\nb\n"
        else:
            with pytest.raises(ds.KernelError, match="may not read"):
                model.run("read")
    opened = SessionConfig(access=Access().with_read(home / "model"))
    assert ds.load(home / "model" / "model.pb", config=opened).run("read").item() == b"c\n"


@pytest.mark.parametrize(
    ("root", "path", "may"),
    [
        ("m/*", "m/a", True), ("m/*", "m/a/b", False), ("m/*", "m", False), ("m/*", "ma", False),
        ("m/c*", "m/ckpt.index", True), ("m/c*", "m/c_temp_1/part", True), ("m/c*", "m/d", False),
    ],
)  # fmt: skip
def test_what_a_star_stands_for(home: Path, root: str, path: str, may: bool) -> None:
    assert Access().with_read(home / root).may_read(home / path) is may


@pytest.mark.parametrize("paths", [[""], [b""], "a", [None], ["a\0"]])
def test_what_is_no_path_opens_nothing(paths: Any) -> None:
    for kind in ("read", "write"):
        with pytest.raises(ds.BadRequest, match="bad-access"):
            Access(**{kind: paths})


def test_the_files_of_a_checkpoint_with_a_long_name(home: Path) -> None:
    """A pattern of it took minutes."""
    begin = time.process_time()
    access = Access().with_read(home)
    assert access.may_read_checkpoint(home / ("a" * 100_000)) is True
    assert time.process_time() - begin < 5


def test_the_command_line_opens_and_lists(home: Path) -> None:
    path = home / "model" / "model.pb"
    ds.write_graph(reading(home / "secret.txt"), path)
    refused = CliRunner().invoke(app, ["run", str(path), "--fetch", "read:0", "--json"])
    error = json.loads(refused.stdout)["error"]
    assert (refused.exit_code, error["code"]) == (5, "access-denied")
    allowed = ["--allow-read", str(home / "secret.txt"), "--fetch", "read:0"]
    assert CliRunner().invoke(app, ["run", str(path), *allowed]).exit_code == 0
    facts = json.loads(CliRunner().invoke(app, ["inspect", str(path), "--json"]).stdout)
    assert facts["outside"] == {"ReadFile": {"count": 1, "effect": "reads files"}}
    shown = CliRunner().invoke(app, ["inspect", str(path)]).stdout
    assert "ops that reach outside the graph" in shown


def test_prints_count_as_outside_only_to_files(home: Path) -> None:
    graph = affine()
    text = const(graph, "text", "hello", STRING)
    for name, stream in (("a", "stderr"), ("b", "file:///log")):
        graph.add("PrintV2", name, [text], attrs={"output_stream": stream})
    ds.write_graph(graph, home / "x.pb")
    result = CliRunner().invoke(app, ["inspect", str(home / "x.pb"), "--json"])
    assert json.loads(result.stdout)["outside"]["PrintV2"]["count"] == 1


OPENERS = {
    *("BundleReader", "BundleWriter", "glob", "merge", "open", "path.open", "open_checkpoint"),
    *("read_bytes", "write_bytes", "EventFile", "memmap", "py_func"),
}
_KERNELS = "drystone_base.kernels."
CHECKS = {"check_read", "check_write", "check_python"}


@functools.cache
def _bodies(module: str) -> dict[str, ast.AST]:
    """Functions and classes of a module, by name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}


def _called(function: Any) -> set[str]:
    """What a kernel calls by name, through all functions and classes of kernels that it names."""
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    pending = {(function.__module__, function.__name__)}
    while pending:
        place = pending.pop()
        seen.add(place)
        calls, named = _told(*place)
        found |= calls
        pending |= named - seen
    return found


@functools.cache
def _told(module: str, name: str) -> tuple[set[str], set[tuple[str, str]]]:
    """What one function or class calls, and those of kernels that it names."""
    body = _bodies(module).get(name)  # none of a function made by another
    nodes = list(ast.walk(body)) if body else []
    calls = [n.func for n in nodes if isinstance(n, ast.Call)]
    named = {h for n in nodes for h in (*_imported(n), _home(module, _name(n))) if h}
    return {ast.unparse(f) if _name(f) == "open" else _name(f) for f in calls}, named


def _imported(node: ast.AST) -> list[tuple[str, str]]:
    """What an import inside of a function brings from modules of kernels."""
    if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(_KERNELS):
        return []
    home = importlib.import_module(node.module or "").__name__
    return [(home, alias.name) for alias in node.names]


def _home(module: str, name: str) -> tuple[str, str] | None:
    """Where the thing of that name in a module is defined, if that is a module of kernels."""
    value = vars(sys.modules[module]).get(name)
    home = getattr(value, "__module__", None) or ""
    inside = home.startswith(_KERNELS) and name in _bodies(home)
    if name in OPENERS:
        return None  # it has been asked for by for all callers
    return (home, name) if inside else None


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def test_every_kernel_that_opens_files_is_listed_and_asks() -> None:
    assert [op for op in OUTSIDE if find(op) is None] == []
    opening = set()
    for op in all_ops():
        names = _called(find_kernel(op))
        if names & OPENERS or op in OUTSIDE:
            opening.add(op)
            assert op in OUTSIDE, f"{op} is not in policy.OUTSIDE"
            assert names & CHECKS, f"{op} does not ask the policy"
    known = {"ReadFile", "WriteFile", "RestoreV2", "PrintV2", "CreateSummaryFileWriter", "PyFunc"}
    assert known <= opening

"""Paths with a scheme where commands and loaders expect those of files. S2-filesystems."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click import BadParameter

import drystone_base as ds
from drystone_base.cli.kit import check_local, check_output
from drystone_base.core.dtypes import FLOAT32
from drystone_base.files.uris import as_path, uri_of
from drystone_filesystem import FsspecStore, Upload, gfile


def test_parents_and_places(root: str) -> None:
    path = as_path(f"{root}/a/b.txt")
    assert [str(one) for one in path.parents] == [f"{root}/a", root]
    assert path.resolve() == path


def test_an_output_makes_its_folder_and_replaces_nothing_that_is_read(root: str) -> None:
    model, output = as_path(f"{root}/model"), as_path(f"{root}/new/folder/out.pb")
    check_output(output, "OUT", model)
    assert gfile.isdir(f"{root}/new/folder")
    gfile.makedirs(f"{root}/model")
    inside = model / "saved_model.pb"
    inside.write_bytes(b"x")
    with pytest.raises(BadParameter, match="would replace what is read"):
        check_output(inside, "OUT", model)
    with pytest.raises(BadParameter, match="none can be made"):
        check_output(inside / "below.pb", "OUT")


def test_a_local_path_is_asked_for(root: str, tmp_path: Path) -> None:
    check_local(tmp_path, "--output", "so it is")
    with pytest.raises(BadParameter, match="is not a local path, and so it is; give a local one"):
        check_local(as_path(root), "--output", "so it is")


def _appended(place: str) -> bytes:
    path = uri_of(as_path(place))
    assert path is not None
    path.append_bytes(b"ab")
    path.append_bytes(b"cd")
    return path.read_bytes()


def test_bytes_are_appended_where_a_store_can(root: str) -> None:
    gfile.makedirs(root)
    assert _appended(f"{root}/log") == b"abcd"


def test_a_file_is_written_anew_where_a_store_cannot_append(
    serve: Callable[[object], str],
) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    class Objects(FsspecStore):
        def append_to(self, path: str) -> Upload:
            raise NotImplementedError("objects cannot be appended to")

    root = serve(Objects(MemoryFileSystem())) + "appended"
    gfile.makedirs(root)
    assert _appended(f"{root}/log") == b"abcd"
    gfile.rmtree(root)


def test_summaries_and_records_go_there(root: str) -> None:
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    session = ds.Session(graph)
    with session.record() as record:
        session.run("y:0", {"x:0": np.array([1, 2], np.float32)})
    gfile.makedirs(root)
    record.write_chrome_trace(f"{root}/t.json")
    written = record.write_events(f"{root}/events", graph)
    assert str(written).startswith(f"{root}/events/")
    assert gfile.stat(f"{root}/t.json").length > 100
    assert gfile.stat(str(written)).length > 100

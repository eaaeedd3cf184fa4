"""Files in memory: what the plugin does itself, and what the host does for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as fs
from drystone_base.plugins import Plugin


def test_the_plugin_loads(plugin: Plugin) -> None:
    assert plugin.state == "loaded"
    assert plugin.name == "ramdemo"
    assert "ramdemo" in [item["scheme"] for item in fs.filesystems()]


def test_files() -> None:
    fs.write_bytes("ramdemo://test/a.txt", b"hello")
    assert fs.append_bytes("ramdemo://test/a.txt", b" world") == 11
    assert fs.read_bytes("ramdemo://test/a.txt") == b"hello world"
    assert fs.read_range("ramdemo://test/a.txt", 6, 99) == b"world"
    assert fs.read_memory("ramdemo://test/a.txt") == b"hello world"
    assert fs.stat("ramdemo://test/a.txt").length == 11
    fs.delete("ramdemo://test/a.txt")
    with pytest.raises(HostError) as caught:
        fs.read_bytes("ramdemo://test/a.txt")
    assert caught.value.status == "NOT_FOUND"
    assert caught.value.found.endswith("there is nothing of this name")


def test_what_the_host_adds(tmp_path: Path) -> None:
    fs.create_directory("ramdemo://test/deep/er", parents=True)
    fs.write_bytes("ramdemo://test/deep/er/b.txt", b"bytes")
    assert fs.glob("ramdemo://test/d*/??/*.txt") == ["ramdemo://test/deep/er/b.txt"]
    assert fs.file_size("ramdemo://test/deep/er/b.txt") == 5
    fs.copy("ramdemo://test/deep/er/b.txt", tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_bytes() == b"bytes"
    assert fs.delete_tree("ramdemo://test/deep") == (0, 0, "")
    assert not fs.exists("ramdemo://test/deep")

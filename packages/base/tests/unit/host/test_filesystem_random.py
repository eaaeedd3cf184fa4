"""Random paths, patterns and operations, against the same done by Python."""

from __future__ import annotations

import itertools
import os
import posixpath
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as fs

_EXAMPLE = Path(__file__).parents[5] / "plugin-abi" / "examples" / "filesystem_c"
_RUNS = itertools.count()


@pytest.fixture(scope="module", autouse=True)
def _ramdemo(compile_library: Callable[..., Path]) -> Iterator[None]:
    sources = [_EXAMPLE / name for name in ("ramdemo.c", "files.c", "store.c")]
    fs.register_plugin(compile_library(*sources, flags=["-fvisibility=default"]))
    yield
    fs.cleanup()


# ---- paths ----


def _translated(uri: str) -> str:
    """What ramdemo is given for a URI: Python's own words for it."""
    match = re.match(r"ramdemo://[^/]*", uri)
    path = uri[match.end() :] if match else uri
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


_PIECES = st.lists(st.sampled_from(["/", "..", ".", "a", "b c", "é", "//", "\\", "*"]), max_size=9)


@given(_PIECES)
@settings(max_examples=300, deadline=None)
def test_paths_are_cleaned_up(pieces: list[str]) -> None:
    uri = "ramdemo://host/" + "".join(pieces)
    assert fs.translate(uri) == _translated(uri)
    if "\\" not in uri:
        normal = posixpath.normpath("/" + uri.removeprefix("ramdemo://host/").lstrip("/"))
        assert fs.translate(uri) == normal


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_path(text: str) -> None:
    """It names a local path, or a scheme that somebody or nobody has; it is never a crash."""
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]{0,63})://([^/]*)", text)
    scheme, host = (match[1], match[2]) if match else ("", "")
    if scheme not in ("", "file", "ramdemo") or (
        scheme == "file" and host not in ("", "localhost")
    ):
        with pytest.raises(HostError) as caught:
            fs.translate(text)
        assert caught.value.status == ("INVALID_ARGUMENT" if scheme == "file" else "UNIMPLEMENTED")
    elif not scheme:
        assert fs.translate(text) == text
    else:
        assert fs.translate(text).startswith("/")


def test_local_uris(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    for uri in (f"{tmp_path}/a", f"file://{tmp_path}/a", f"file://localhost{tmp_path}/a"):
        assert fs.read_bytes(uri) == b"abc"
    with pytest.raises(HostError, match=re.escape('a file on another host ("elsewhere")')):
        fs.read_bytes("file://elsewhere/a")
    with pytest.raises(HostError) as caught:
        fs.read_bytes("a\0b")
    assert caught.value.status == "INVALID_ARGUMENT"
    assert "a path has no NUL character" in str(caught.value)
    with pytest.raises(HostError, match="found: offset -1, size 3"):
        fs.read_range(f"{tmp_path}/a", -1, 3)


# ---- patterns ----

_NAMES = ["a", "b", "ab", "abc", "a.b", "[", "x-y", "!", "^", "é"]
_TREES = st.sets(
    st.lists(st.sampled_from(_NAMES), min_size=1, max_size=3).map(lambda parts: "/".join(parts)),
    max_size=12,
)
_WILD = ["*", "?", "[ab]", "[!a]", "[^a]", "[a-c]", "[]a]", "[", "\\*"]
_PATTERN_PIECES = st.sampled_from([*_WILD, "a", "b", ".b", "/"])
_PATTERNS = st.lists(_PATTERN_PIECES, min_size=1, max_size=7).map("".join)


def _regex(pattern: str) -> str:
    """A regular expression for one part of a pattern, made by hand."""
    out, k = "", 0
    while k < len(pattern):
        c, k = pattern[k], k + 1
        if c == "*":
            out += "[^/]*"
        elif c == "?":
            out += "[^/]"
        elif c == "\\" and k < len(pattern):
            out += re.escape(pattern[k])
            k += 1
        elif c == "[" and (found := re.match(r"([!^]?)(\]?(?:\\.|[^\]\\])*)\]", pattern[k:])):
            tokens = re.findall(r"\\.|.", found[2])
            inside = "".join(t if t == "-" else re.escape(t[-1]) for t in tokens)
            out += f"[{'^' if found[1] else ''}{inside}]"
            k += found.end()
        else:
            out += re.escape(c)
    return out


def _matching(pattern: str, tree: set[str]) -> list[str]:
    """The paths of a tree, with the directories above them, that match."""
    paths = {"/".join(p.split("/")[:n]) for p in tree for n in range(1, p.count("/") + 2)}
    raw = {path: os.fsencode(path).decode("latin-1") for path in paths}  # patterns work on bytes
    regexes = [re.compile(_regex(part)) for part in pattern.split("/") if part]
    return sorted(
        path
        for path in paths
        if len(parts := raw[path].split("/")) == len(regexes)
        and all(regex.fullmatch(part) for regex, part in zip(regexes, parts, strict=True))
    )


def _plant(base: str, tree: set[str]) -> None:
    for path in tree:
        fs.create_directory(f"{base}/{path}", parents=True)


@given(_TREES, _PATTERNS)
@settings(max_examples=150, deadline=None)
def test_patterns_find_what_a_regular_expression_finds(tree: set[str], pattern: str) -> None:
    base = f"ramdemo://h/run{next(_RUNS)}"
    with tempfile.TemporaryDirectory() as folder:
        for start in (base, folder):
            fs.create_directory(start, parents=True)
            _plant(start, tree)
            found = fs.glob(f"{start}/{pattern}")
            expected = [f"{start}/{path}" for path in _matching(pattern, tree)]
            if pattern.strip("/") == "":
                expected = [f"{start}"]
            assert [path.rstrip("/") for path in found] == sorted(expected)
    fs.delete_tree(base)


def test_patterns_take_no_exponential_time(tmp_path: Path) -> None:
    (tmp_path / ("a" * 200)).touch()
    assert fs.glob(f"{tmp_path}/{'*a' * 60}b") == []
    assert fs.glob(f"{tmp_path}/{'a*' * 60}") == [f"{tmp_path}/{'a' * 200}"]


# ---- operations ----

_FILES = st.sampled_from(["a", "b", "d", "d/a", "d/b", "d/e/a", "missing/a"])
_DATA = st.binary(max_size=20)
_STEPS = st.one_of(
    st.tuples(st.just("write"), _FILES, _DATA),
    st.tuples(st.just("append"), _FILES, _DATA),
    st.tuples(st.just("read"), _FILES, st.just(b"")),
    st.tuples(st.just("delete"), _FILES, st.just(b"")),
    st.tuples(st.just("mkdir"), _FILES, st.just(b"")),
    st.tuples(st.just("rmdir"), _FILES, st.just(b"")),
    st.tuples(st.just("list"), _FILES, st.just(b"")),
    st.tuples(st.just("copy"), _FILES, _FILES),
    st.tuples(st.just("rename"), _FILES, _FILES),
    st.tuples(st.just("size"), _FILES, st.just(b"")),
    st.tuples(st.just("tree"), _FILES, st.just(b"")),
)


def _outcome(base: str, step: tuple[str, str, Any]) -> Any:
    """What one operation answers: a value, or that it failed."""
    name, path, more = step
    uri = f"{base}/{path}"
    calls: dict[str, Callable[[], Any]] = {
        "write": lambda: fs.write_bytes(uri, more),
        "append": lambda: fs.append_bytes(uri, more),
        "read": lambda: (fs.read_bytes(uri), fs.read_memory(uri), fs.read_range(uri, 3, 9)),
        "delete": lambda: fs.delete(uri),
        "mkdir": lambda: fs.create_directory(uri),
        "rmdir": lambda: fs.delete_directory(uri),
        "list": lambda: fs.list_directory(uri),
        "copy": lambda: fs.copy(uri, f"{base}/{more}"),
        "rename": lambda: fs.rename(uri, f"{base}/{more}"),
        "size": lambda: (fs.file_size(uri), fs.stat(uri).is_directory, fs.exists(uri)),
        "tree": lambda: fs.delete_tree(uri)[:2],
    }
    try:
        return calls[name]()
    except HostError as error:
        return "failed" if error.status in ("NOT_FOUND", "FAILED_PRECONDITION") else error.status


def _contents(base: str, path: str = "") -> dict[str, bytes | None]:
    """Every path below a directory, with the bytes of files."""
    out: dict[str, bytes | None] = {}
    for name in fs.list_directory(f"{base}/{path}"):
        child = f"{path}{name}"
        if fs.is_directory(f"{base}/{child}"):
            out |= {child: None, **_contents(base, f"{child}/")}
        else:
            out[child] = fs.read_bytes(f"{base}/{child}")
    return out


def _same_everywhere(step: tuple[str, str, Any], base: str) -> bool:
    """Renaming directories is the local filesystem's own: the example moves files only."""
    return step[0] != "rename" or not fs.is_directory(f"{base}/{step[1]}")


@given(st.lists(_STEPS, max_size=25))
@settings(max_examples=120, deadline=None)
def test_the_example_behaves_like_the_local_filesystem(steps: list[tuple[str, str, Any]]) -> None:
    base = f"ramdemo://h/run{next(_RUNS)}"
    with tempfile.TemporaryDirectory() as folder:
        fs.create_directory(base)
        for step in steps:
            if not _same_everywhere(step, base):
                continue
            assert _outcome(base, step) == _outcome(folder, step), step
            assert _contents(base) == _contents(folder), step
        assert _contents(folder) == {
            os.path.relpath(os.path.join(at, name), folder): (
                Path(at, name).read_bytes() if name in files else None
            )
            for at, directories, files in os.walk(folder)
            for name in (*directories, *files)
        }
    assert fs.delete_tree(base) == (0, 0, "")

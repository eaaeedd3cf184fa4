"""Files that plugins bring along, as any bytes: an answer or the documented error, and soon.

Row E14. S2-fuzzing.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plugin_files import OPEN, VARIANTS, Compile, plugin

from drystone_base.core.errors import HostError
from drystone_base.files.contents import read_message
from drystone_base.host.library import open_library
from drystone_base.plugins import _minisign as minisign
from drystone_base.plugins._elf import BadElf, parse
from drystone_base.plugins._linker import parse_cache
from drystone_base.plugins._manifest import read_manifest
from drystone_base.plugins._platform import check_platform
from drystone_base.plugins._trust import expired
from drystone_base.plugins.audit import audit_symbols

QUICK = settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
KEY = minisign.generate()
CHANGES = st.lists(
    st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=8)), max_size=8
)
WORDS = [
    b"\x00\x00\x00\x00\x00\x00\x00\x00", b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\x01\x00\x00\x00",
]  # fmt: skip


@pytest.fixture(scope="module")
def image(compile_library: Compile) -> bytes:
    return compile_library(VARIANTS, flags=['-DOP="Fuzzed"']).read_bytes()


def damaged(data: bytes, changes: Any, end: int) -> bytes:
    out = bytearray(data[: max(0, len(data) - end)])
    for at, value in changes:
        if out:
            at %= len(out)
            out[at : at + len(value)] = value[: len(out) - at]
    return bytes(out)


@QUICK
@given(st.binary(max_size=4096))
def test_any_bytes_as_elf(data: bytes) -> None:
    with pytest.raises(BadElf):
        parse(data)


@QUICK
@given(CHANGES, st.integers(0, 4096))
def test_a_damaged_library(image: bytes, changes: Any, end: int) -> None:
    start = time.monotonic()
    with contextlib.suppress(BadElf):
        parse(damaged(image, changes, end))
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("word", WORDS)
def test_every_word_of_the_headers(image: bytes, word: bytes) -> None:
    """Each aligned word of header, segments and dynamic section, replaced by an extreme value."""
    refused = 0
    for at in range(0, 1024, 4):
        changed = image[:at] + word + image[at + len(word) :]
        try:
            parse(changed)
        except BadElf:
            refused += 1
    assert 0 < refused < 256  # the magic number matters, padding does not


@QUICK
@given(CHANGES, st.integers(0, 4096))
def test_steps_on_a_damaged_library(image: bytes, tmp_path: Path, changes: Any, end: int) -> None:
    """Both steps that read the file end with a result, whatever is in it."""
    file = tmp_path / "damaged.so"
    file.write_bytes(damaged(image, changes, end))
    record = plugin(file)
    for result in (check_platform(record, OPEN), audit_symbols(record, OPEN)):
        assert result.state in ("passed", "failed")
        assert (result.error is None) == (result.state == "passed")


@settings(parent=QUICK, max_examples=100)
@given(CHANGES.filter(bool), st.integers(1, 4096))
def test_the_host_survives_damaged_headers(
    image: bytes, tmp_path: Path, changes: Any, end: int
) -> None:
    """The host's own check comes before the linker: a cut or foreign file is never mapped."""
    cut = damaged(image, [], len(image) - min(end, 800))
    file = tmp_path / "cut.so"
    file.write_bytes(damaged(cut, changes, 0))
    with pytest.raises(HostError) as caught:
        open_library(file)
    # The last one: a header that is whole and says that there is nothing to map.
    assert caught.value.status in ("INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION")


@QUICK
@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
def test_any_bytes_as_manifest(data: bytes) -> None:
    try:
        manifest = read_manifest(data)
    except ValueError:
        return
    assert read_manifest(data) == manifest


TOML = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.text(max_size=20), st.floats(allow_nan=False)),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["name", "version", "package", "library", "abi", "modules", "ops", "extra"])


@QUICK
@given(st.dictionaries(KEYS, TOML, max_size=4))
def test_any_values_in_a_manifest(values: dict[str, Any]) -> None:
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in values.items())
    try:
        manifest = read_manifest(text.encode("utf-8", "replace"))
    except ValueError:
        return
    assert "/" not in manifest.library


LINES = st.lists(
    st.one_of(
        st.text(max_size=120),
        st.sampled_from(["untrusted comment: x", "trusted comment: y", "RWQ" + "A" * 96, "A" * 88]),
    ),
    max_size=6,
).map("\n".join)


@QUICK
@given(LINES)
def test_any_text_as_key_or_signature(text: str) -> None:
    for read in (minisign.parse_public_key, minisign.parse_signature):
        try:
            found = read(text)
        except ValueError:
            continue
        assert len(found.number) == 8


@QUICK
@given(CHANGES.filter(bool))
def test_a_damaged_signature_never_verifies(tmp_path: Path, changes: Any) -> None:
    file = tmp_path / "signed"
    file.write_bytes(b"stones")
    good = minisign.sign(KEY, file, "file:signed\texpires:2999-01-01")
    text = damaged(good.text("x").encode(), changes, 0).decode("utf-8", "surrogateescape")
    try:
        read = minisign.parse_signature(text)
    except ValueError:
        return
    assert read == good or read.verify(KEY.public(), read_message(file, read.hashed)[0])


@QUICK
@given(st.binary(max_size=400))
def test_any_bytes_as_the_linkers_cache(data: bytes) -> None:
    for image in (data, b"glibc-ld.so.cache1.1" + data):
        assert parse_cache(image) == parse_cache(image)


@QUICK
@given(st.text(max_size=40))
def test_any_text_as_a_moment(text: str) -> None:
    assert expired(text) in (True, False)

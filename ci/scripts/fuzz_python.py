"""Fuzz targets in Python: what reads a plugin's file before it is opened, or another task's words.

A target is a function of bytes that may raise DrystoneError or ValueError and nothing else. Inputs
are mutated from seeds that the target gives: real libraries, signatures, manifests and messages.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from ci.scripts.project import ROOT

__all__ = ["TARGETS", "mutated", "run"]

Target: TypeAlias = Callable[[bytes], object]
_EDGES: Final = (
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0xFFFF,
    0x7FFFFFFF,
    0xFFFFFFFF,
    (1 << 63) - 1,
    (1 << 64) - 1,
)


def _scanner() -> tuple[Target, list[bytes]]:
    from drystone_abi.platform_strings import find_platform_strings, parse_records

    magic = bytes.fromhex("0053 5c73 223a 5e70 2a4c 7d")
    seeds = [magic + b"TF_PLAT_STR_VERSION=1.0\0" + magic + b"__AVX2__=1\0", magic * 3, b"\0" * 40]
    return lambda data: parse_records(find_platform_strings(data)), seeds


def _elf() -> tuple[Target, list[bytes]]:
    from drystone_base.plugins import _elf

    return _elf.parse, [_small_library()]


def _minisign() -> tuple[Target, list[bytes]]:
    from drystone_base.plugins import _minisign

    pair = _minisign.generate()
    signature = _minisign.sign(pair, __file__, "a trusted comment")
    seeds = [pair.public().text().encode(), signature.text("signed").encode()]

    def target(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        for read in (_minisign.parse_public_key, _minisign.parse_signature):
            _tolerate(read, text)

    return target, seeds


def _manifest() -> tuple[Target, list[bytes]]:
    from drystone_base.plugins import _manifest

    return _manifest.read_manifest, [b'name = "x"\nversion = "1.0"\n[abi]\nmin = "1.0"\n']


def _wire() -> tuple[Target, list[bytes]]:
    import numpy as np

    from drystone_network.workers.wire import BadFrame, pack, unpack

    arrays = [np.arange(6.0).reshape(2, 3), np.array([b"ab", b""], object), None, np.zeros(0, bool)]
    seeds = [pack({"method": "run", "step": 3}, arrays), pack({}), pack({"a": [None]}, [None])]

    def target(data: bytes) -> None:
        with suppress(BadFrame):
            document, arrays = unpack(data)
            again, values = unpack(pack(document, arrays))
            if repr(again) != repr(document) or list(map(_bits, values)) != list(
                map(_bits, arrays)
            ):
                raise AssertionError("a message that was understood is another when sent again")

    def _bits(array: Any) -> object:
        if array is None:
            return None
        values = array.tolist() if array.dtype == object else array.tobytes()
        return array.dtype, array.shape, values

    return target, seeds


def _tolerate(read: Callable[[str], object], text: str) -> None:
    with suppress(*_refusals()):
        read(text)


def _refusals() -> tuple[type[Exception], ...]:
    """What a target may raise."""
    from drystone_base.core.errors import DrystoneError

    return DrystoneError, ValueError


def _small_library() -> bytes:
    """The bytes of a small plugin, compiled here."""
    sys.path.insert(0, str(ROOT / "plugin-abi/tests"))
    import compiling

    return Path(compiling.compile_library("loader_variants.c")).read_bytes()


TARGETS: Final[dict[str, Callable[[], tuple[Target, list[bytes]]]]] = {
    "elf": _elf,
    "manifest": _manifest,
    "minisign": _minisign,
    "scanner": _scanner,
    "wire": _wire,
}


def _once(data: bytearray, other: bytes, chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    match chance.randrange(6):
        case 0 if at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        case 1 if at < len(data):
            data[at] = chance.randrange(256)
        case 2:
            size = 1 << chance.randrange(4)
            edge = chance.choice(_EDGES) & ((1 << 8 * size) - 1)
            data[at : at + size] = edge.to_bytes(size, "little")
        case 3:
            del data[at : at + 1 + chance.randrange(64)]
        case 4:
            start = chance.randrange(len(other) + 1)
            data[at:at] = other[start : start + chance.randrange(64)]
        case _:
            data[at:at] = bytes([chance.randrange(256)])


def mutated(seeds: list[bytes], chance: random.Random) -> Iterator[bytes]:
    """Mutations of `seeds`, without end."""
    while True:
        data = bytearray(chance.choice(seeds))
        for _ in range(1 + chance.randrange(4)):
            _once(data, chance.choice(seeds), chance)
        yield bytes(data)


def run(name: str, runs: int, seconds: int, seed: int, corpus: Path) -> tuple[int, float, int, str]:
    """Executions, seconds, inputs in the corpus, and the finding ("" for none)."""
    target, seeds = TARGETS[name]()
    refusals = _refusals()
    kept = [file.read_bytes() for file in sorted(corpus.iterdir())]
    start, done, finding = time.monotonic(), 0, ""
    for data in mutated([*seeds, *kept], random.Random(seed)):
        if done >= runs or (seconds and time.monotonic() - start > seconds):
            break
        done += 1
        try:
            target(data)
        except refusals:
            continue
        except Exception:
            finding = traceback.format_exc()
            (corpus / f"finding-{seed}-{done}").write_bytes(data)
            break
    return done, round(time.monotonic() - start, 1), len(kept), finding

"""Golden cases of code points and encodings."""

from collections.abc import Iterator

import numpy as np
from oracle import Case, case
from stateful import i64

from golden.cases.strings import ALL, NONE, texts


def _unicode() -> Iterator[Case]:
    wide = texts("aé日😀".encode("utf-16-be"), b"\xd8\x00\x00a", b"\x00", b"\0x\0\1")
    wider = texts("aé日😀".encode("utf-32-be"), b"\x00\x11\x00\x00", b"\x00\x00\xd8\x00")
    inputs = {"UTF-8": ALL, "UTF-16-BE": wide, "UTF-32-BE": wider, "latin1": texts(b"a\xe9\x80"),
              "US-ASCII": texts(b"a\xe9b")}  # fmt: skip
    for encoding, values in inputs.items():
        for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
            for mode in ("replace", "ignore", "strict"):
                for control in (True, False):
                    yield case(op, values, input_encoding=encoding, errors=mode,
                               replace_control_characters=control)  # fmt: skip
        for target in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
            for mode in ("replace", "ignore", "strict"):
                yield case("UnicodeTranscode", values, input_encoding=encoding,
                           output_encoding=target, errors=mode, replacement_char=63)  # fmt: skip
    yield case("UnicodeDecode", texts("a"), input_encoding="nonsense", note="refused")
    yield case("UnicodeDecode", NONE, input_encoding="UTF-8", Tsplits="int32")
    points = np.array([97, 233, 0x1F600, 0xD800, 0x110000, -1, 98], np.int32)
    for target in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        for mode in ("replace", "ignore", "strict"):
            yield case("UnicodeEncode", points, i64([0, 3, 3, 7]),
                       output_encoding=target, errors=mode)  # fmt: skip
    for splits in ([0, 3], [1, 7], [0, 5, 4, 7], []):
        yield case("UnicodeEncode", points, i64(splits), output_encoding="UTF-8",
                   errors="ignore", note="refused")  # fmt: skip


def _scripts() -> Iterator[Case]:
    edges = np.array([-1, 0, 0x10FFFF, 0x110000, 2**31 - 1, -(2**31)], np.int32)
    for points in (edges, np.arange(0, 0x30000, 37), edges[:0], np.int32(97)):
        yield case("UnicodeScript", np.asarray(points, np.int32))
    yield case("UnicodeScript", np.arange(600, dtype=np.int32).reshape(20, 30))


CASES = [*_unicode(), *_scripts()]

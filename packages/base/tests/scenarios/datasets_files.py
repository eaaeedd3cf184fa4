"""Datasets of files that the scenario writes itself."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any

from stateful import i64

from drystone_base.kernels.io._records import write_record
from scenarios import Program, with_tensorflow
from scenarios.datasets import run_one
from scenarios.datasets_ops import Ops

TEXT = b"first\nsecond\r\n\nfo\rurth\n\r\nlast"
CSV = (
    b'a,b,c\n1,2.5,x\n2,,"q,r"\n,3,"line\nbreak"\r\n4,NA,"say ""hi"""\n\n5,6,y,z\nbad,1,x\n'
    b"8,9,last\r9,10,"
)
MALFORMED = [b'1,un"quoted\n2,y\n', b'1,"late"x\n2,y\n', b'1,"open\n2,y\n']


def records(*items: bytes) -> bytes:
    """The bytes of a file of records."""
    out = io.BytesIO()
    for item in items:
        write_record(out, item)
    return out.getvalue()


class Folder:
    """Files of a scenario: each is written in a step of its own."""

    def __init__(self, tf: Any, p: Program) -> None:
        self.tf, self.p = tf, p

    def __call__(self, name: str, data: bytes | None) -> Any:
        """The file's name, as a tensor."""
        folder = self.tf.compat.v1.placeholder(self.tf.string, [])
        place = self.tf.strings.join([folder, "/", name])
        kept = self.tf.compat.v1.Variable(b"", use_resource=True)
        self.p.step(kept.initializer)
        self.p.step(kept.assign(place).op, feeds={folder: b"{tmp}"})
        if data is not None:
            self.p.step(self.tf.io.write_file(kept, data))
        return kept.read_value()


@with_tensorflow()
def lines(tf: Any, p: Program) -> None:
    file = Folder(tf, p)
    plain, packed = file("a.txt", TEXT), file("b.gz", gzip.compress(TEXT, mtime=0))
    deflated, empty = file("c.z", zlib.compress(TEXT)), file("d.txt", b"")
    lost = file("none.txt", None)
    make = tf.data.TextLineDataset
    run_one(tf, p, make(plain), 8)
    run_one(tf, p, make(tf.stack([empty, plain, empty, plain])), 13)
    run_one(tf, p, make(packed, compression_type="GZIP"), 8)
    run_one(tf, p, make(deflated, compression_type="ZLIB"), 8)
    run_one(tf, p, make(plain, compression_type="GZIP"), 2)
    run_one(tf, p, make(plain, compression_type="LZMA"), 1)
    run_one(tf, p, make(tf.stack([lost, plain])), 3)


@with_tensorflow()
def tf_records(tf: Any, p: Program) -> None:
    data = records(b"one", b"", b"three" * 20)
    file = Folder(tf, p)
    plain, packed = file("a", data), file("b", gzip.compress(data, mtime=0))
    cut, spoilt = file("c", data[:-2]), file("d", data[:25] + b"!" + data[26:])
    make = tf.data.TFRecordDataset
    run_one(tf, p, make(plain), 4)
    run_one(tf, p, make(packed, compression_type="GZIP"), 4)
    run_one(tf, p, make(tf.stack([cut, plain])), 8)
    run_one(tf, p, make(tf.stack([spoilt, plain])), 8)


@with_tensorflow()
def fixed_length(tf: Any, p: Program) -> None:
    data = b"HHaabbccddF"
    file = Folder(tf, p)
    plain, packed = file("a", data), file("b", gzip.compress(data, mtime=0))
    make = tf.data.FixedLengthRecordDataset
    for sizes in ((2, 2, 1), (4, 1, 1), (1, 2, 0), (0, 3, 0), (9, 2, 0), (11, 1, 0), (12, 1, 0)):
        header, record, footer = sizes
        given = {"header_bytes": header, "footer_bytes": footer}
        run_one(tf, p, make(plain, record, **given), 6)
        run_one(tf, p, make(packed, record, compression_type="GZIP", **given), 6)
    run_one(tf, p, make(tf.stack([plain, plain]), 5, header_bytes=1), 6)


@with_tensorflow()
def csv(tf: Any, p: Program) -> None:
    file = Folder(tf, p)
    plain = file("a.csv", CSV)
    tabs = file("b.csv", b'1\t"x"\n\t\n3\ty')
    make = tf.data.experimental.CsvDataset
    kinds = [tf.constant([0]), tf.float32, tf.string]
    run_one(tf, p, make(plain, kinds, header=True, na_value="NA"), 13)
    fallback = [tf.constant([-1], tf.int64), tf.constant([0.5], tf.float64), tf.constant(["none"])]
    run_one(tf, p, make(plain, fallback, header=True, na_value="NA"), 13)
    run_one(tf, p, make(plain, [tf.string, tf.string], header=True, select_cols=[0, 2]), 13)
    run_one(tf, p, make(plain, [tf.string] * 3, use_quote_delim=False), 14)
    run_one(tf, p, make(tabs, [tf.constant([7], tf.int64), tf.string], field_delim="\t"), 5)
    run_one(tf, p, make(tabs, [tf.string], field_delim="\t", exclude_cols=[1]), 5)
    for k, data in enumerate(MALFORMED):
        run_one(tf, p, make(file(f"{k}.csv", data), [tf.string] * 2), 1)


@with_tensorflow()
def matching(tf: Any, p: Program) -> None:
    file = Folder(tf, p)
    names = [file(name, b"x") for name in ("b.txt", "a.txt", "c.dat")]
    folder = tf.strings.regex_replace(names[0], "b.txt$", "")
    made = tf.data.Dataset.list_files(tf.strings.join([folder, "*.txt"]), shuffle=False)
    run_one(tf, p, made, 3)
    both = tf.strings.join([folder, ["*.dat", "*.txt"]])
    run_one(tf, p, tf.data.Dataset.list_files(both, shuffle=False), 4)
    none = tf.strings.join([folder, "none*"])
    run_one(tf, p, tf.data.Dataset.list_files(none, shuffle=False), 1)


@with_tensorflow()
def written(tf: Any, p: Program) -> None:
    file = Folder(tf, p)
    names = [file("a", None), file("b", None)]
    words = tf.data.Dataset.from_tensor_slices([b"one", b"", b"two"])
    for name, kind in zip(names, ("", "GZIP"), strict=True):
        write = tf.data.experimental.TFRecordWriter(name, kind).write(words)
        p.step(write)
        run_one(tf, p, tf.data.TFRecordDataset(name, kind), 4)


@with_tensorflow()
def cached(tf: Any, p: Program) -> None:
    file = Folder(tf, p)
    d = tf.data.Dataset
    columns = (i64([1, 2, 3]), [b"x", b"yy", b""], i64([[1, 2]] * 3))
    kept = d.from_tensor_slices(columns).cache(file("kept", None))
    run_one(tf, p, kept, 5)
    other = d.from_tensor_slices(columns).repeat(2).cache(file("kept", None))
    run_one(tf, p, other, 5)
    run_one(tf, p, d.range(3).cache(file("again", None)).repeat(2), 7)
    run_one(tf, p, d.range(0).cache(file("empty", None)).repeat(2), 2)


@with_tensorflow()
def old_versions(tf: Any, p: Program) -> None:
    file, ops = Folder(tf, p), Ops(tf, p)
    data = records(b"one", b"", b"three" * 20)
    raw, some = ops.raw, file("a", data)
    texts: dict[str, Any] = {"output_types": [tf.string], "output_shapes": [[]]}
    packing = {"compression_type": "", "buffer_size": i64(0)}
    for offsets in ([0], [19], [16 + 19], [len(data)], [-1], [0, 1]):
        made = raw.TFRecordDatasetV2(filenames=[some], byte_offsets=i64(offsets), **packing)
        ops(made, 4, **texts)
    ops(raw.TFRecordDataset(filenames=some, compression_type="", buffer_size=i64(99)), 4, **texts)
    sizes = {"header_bytes": i64(12), "record_bytes": i64(3), "footer_bytes": i64(1)}
    fixed = raw.FixedLengthRecordDataset(filenames=[some], buffer_size=i64(0), **sizes)
    ops(fixed, 3, **texts)
    table = file("b.csv", b"a,b\n1,x\n2,y")
    columns: dict[str, Any] = {"record_defaults": [i64([0]), tf.constant(["none"])]}
    columns |= {"output_shapes": [[], []], "select_cols": i64([]), "header": True}
    columns |= {"field_delim": ",", "use_quote_delim": True, "na_value": "", **packing}
    spec: dict[str, Any] = {"output_types": [tf.int64, tf.string], "output_shapes": [[], []]}
    ops(raw.CSVDataset(filenames=[table], **columns), 3, **spec)
    columns["buffer_size"] = i64(64)
    ops(raw.CSVDataset(filenames=[table], **columns), 3, **spec)
    ops(raw.ExperimentalCSVDataset(filenames=[table], **columns), 3, **spec)
    ops(raw.ExperimentalMatchingFilesDataset(patterns=table), 2, **texts)

"""What a graph may reach outside itself: files that ops read and write, Python, libraries."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NoReturn, Self, TypeAlias

from drystone_base.core.arguments import explaining
from drystone_base.core.errors import KernelError
from drystone_base.core.payloads import at_node
from drystone_base.core.settings import Kind, Schema, Setting, flag
from drystone_base.files.uris import as_path, local_text, uri_of

if TYPE_CHECKING:
    from pathlib import Path

    from drystone_base.kernels import Call

__all__ = [
    "ACTING",
    "LIBRARY_ATTRS",
    "OUTSIDE",
    "SETTINGS",
    "Access",
    "checkpoint_files",
    "checkpoint_parts",
    "checkpoint_reads",
    "may_be_led_to",
]

PathLike: TypeAlias = str | os.PathLike[str]

_ANYWHERE: Final = "**"
_SHARD: Final = r"-(\d{5}|\?{5})-of-\d{5}$"

_BY_EFFECT: Final[dict[str, str]] = {
    "reads files": """
        ReadFile MatchingFiles Restore RestoreSlice RestoreV2 InitializeTableFromTextFile
        InitializeTableFromTextFileV2 ImmutableConst LoadAndRemapMatrix GenerateVocabRemapping
        FixedUnigramCandidateSampler
        WholeFileReader WholeFileReaderV2 TextLineReader TextLineReaderV2 TFRecordReader
        TFRecordReaderV2 FixedLengthRecordReader FixedLengthRecordReaderV2 LMDBReader RecordInput
        TextLineDataset TFRecordDataset TFRecordDatasetV2 FixedLengthRecordDataset
        FixedLengthRecordDatasetV2 CSVDataset CSVDatasetV2 LMDBDataset LoadDataset
        ExperimentalCSVDataset ExperimentalLMDBDataset DecodeProtoV2 EncodeProto
        MatchingFilesDataset ExperimentalMatchingFilesDataset ListSnapshotChunksDataset
        SnapshotChunkDataset SnapshotDatasetReader SnapshotNestedDatasetReader DTensorRestoreV2""",
    "writes files": """
        WriteFile Save SaveSlices SaveV2 MergeV2Checkpoints PrintV2 CreateSummaryFileWriter
        SaveDataset SaveDatasetV2 DatasetToTFRecord ExperimentalDatasetToTFRecord
        DistributedSave DumpTensor""",
    "reads and writes files": """
        CacheDataset CacheDatasetV2 SnapshotDataset SnapshotDatasetV2 SqlDataset
        ExperimentalSqlDataset""",
    "uses the network": """
        RpcClient RpcServer DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3
        DataServiceDatasetV4 RegisterDataset RegisterDatasetV2""",
    "runs Python": "PyFunc PyFuncStateless EagerPyFunc",
}

ACTING: Final[ContextVar[Access | None]] = ContextVar(
    "access of the kernel that runs", default=None
)
"""What the kernel that runs in this context may reach; None outside of kernels."""

OUTSIDE: Final = {op: effect for effect, ops in _BY_EFFECT.items() for op in ops.split()}
"""Ops that reach outside the graph, with what they do; PrintV2 does so to ``file://`` only."""


LIBRARY_ATTRS: Final = {"TvmRuntime": "lib_path"}
"""Ops that call a library's functions, with the attribute that names its file."""


@explaining(
    "with_read", "with_write", "with_libraries", "may_read", "may_read_checkpoint", "check_read",
    "check_write", "check_python", "check_library",
)  # fmt: skip
@dataclass(frozen=True)
class Access:
    """What the ops of a graph may reach outside of it; nothing unless stated.

    ``read`` and ``write`` are folders, with all that is in them, or files. A last part that ends in
    ``*`` stands for all names that begin so: ``ckpt*`` is a checkpoint by its prefix. The last part
    ``*`` alone stands for the files of its folder, without folders in it; ``**`` alone is every
    file. These paths are resolved when the object is made, and are texts then; a path that
    an op asks for when it asks, so that neither ``..`` nor a link leads out. A model from
    :func:`load` may read its own folder beside these. ``python`` lets PyFunc and its kin call the
    functions that :func:`register_py_func` has named. ``libraries`` are folders and files of
    compiled functions that ops may open: what is in them runs as this process does.
    """

    read: tuple[PathLike, ...] = ()
    write: tuple[PathLike, ...] = ()
    python: bool = False
    libraries: tuple[PathLike, ...] = ()

    def __post_init__(self) -> None:
        SETTINGS.settle(self)

    @classmethod
    def nothing(cls) -> Self:
        """No files and no Python: the default of a session."""
        return cls()

    @classmethod
    def anywhere(cls) -> Self:
        """Every file that the process itself can reach, no Python: for graphs that are trusted."""
        return cls((_ANYWHERE,), (_ANYWHERE,))

    def with_read(self, *paths: PathLike) -> Self:
        """This, and reading ``paths``."""
        return replace(self, read=(*self.read, *paths))

    def with_write(self, *paths: PathLike) -> Self:
        """This, and writing ``paths``."""
        return replace(self, write=(*self.write, *paths))

    def with_libraries(self, *paths: PathLike) -> Self:
        """This, and opening libraries in ``paths``."""
        return replace(self, libraries=(*self.libraries, *paths))

    def with_python(self) -> Self:
        """This, and calls of registered Python functions."""
        return replace(self, python=True)

    def may_read(self, path: PathLike) -> bool:
        """Whether ``path`` may be read."""
        return _covered(self.read, path)

    def may_read_checkpoint(self, prefix: PathLike) -> bool:
        """Whether all files of a checkpoint may be read; not if it is unknown which those are."""
        try:
            return all(map(self.may_read, checkpoint_reads(prefix)))
        except OSError:
            return False

    def check_read(self, call: Call, path: PathLike) -> None:
        """Raise ``KernelError`` (``access-denied``) unless ``path`` may be read."""
        if not self.may_read(path):
            _deny(call, "read", path, self.read)

    def check_write(self, call: Call, path: PathLike) -> None:
        """Raise ``KernelError`` (``access-denied``) unless ``path`` may be written."""
        if not _covered(self.write, path):
            _deny(call, "write", path, self.write)

    def check_python(self, call: Call, token: str) -> None:
        """Raise ``KernelError`` (``access-denied``) unless Python functions may be called."""
        if not self.python:
            raise KernelError(
                f"node {call.node!r} ({call.op}) may not call Python function {token!r}",
                details=at_node(call.node, call.op),
                check="an op may call Python only where the session's config lets it",
                found="a session that does not",
                needed="Access(python=True)",
                remedy="if you trust the model with the functions that you registered: "
                "SessionConfig(access=Access().with_python())",
                code="access-denied",
                status="PERMISSION_DENIED",
            )

    def check_library(self, node: str, op: str, path: PathLike) -> None:
        """Raise ``KernelError`` (``access-denied``) unless this library may be opened."""
        if _covered(self.libraries, path):
            return
        name = os.fspath(path)
        raise KernelError(
            f"node {node!r} ({op}) may not open library {name!r}",
            details=at_node(node, op),
            check="an op may open only the libraries that the session's config opens",
            found=f"a library outside of them, {_shown(name)}",
            needed=f"a library in {' or '.join(map(str, self.libraries))}"
            if self.libraries
            else "no op may open libraries",
            remedy="a library is code that runs as this program does; if you trust it: "
            f"SessionConfig(access=Access().with_libraries({name!r})), "
            f"on the command line --allow-library {name}",
            code="access-denied",
            status="PERMISSION_DENIED",
        )


def may_be_led_to(path: PathLike) -> bool:
    """Whether a server may lead a read on to this path: below what the policy opens to the op.

    What the program itself reads may be led anywhere.
    """
    access = ACTING.get()
    return access is None or access.may_read(path)


def checkpoint_parts(prefix: PathLike) -> list[Path]:
    """The files that are there of a checkpoint: index and data, or one file or shards (V1)."""
    whole = as_path(prefix).absolute()
    stems = {re.sub(_SHARD, "", whole.name), whole.name}
    files = whole.parent.iterdir() if whole.parent.is_dir() else ()
    return [path for path in files if any(_is_part(path.name, stem) for stem in stems)]


def _is_part(name: str, stem: str) -> bool:
    """Whether a file's name is one of a checkpoint's; a pattern of a long stem takes long."""
    end = name.removeprefix(stem)
    found = re.fullmatch(r"(\.index|\.data-.*|-\d+-of-\d+)?", end, re.DOTALL)
    return name.startswith(stem) and found is not None


def checkpoint_reads(prefix: PathLike) -> list[Path]:
    """What reading a checkpoint may open: also its index where no names can be listed.

    Raises ``OSError`` for a folder that may not be listed.
    """
    return [as_path(f"{os.fspath(prefix)}.index"), *checkpoint_parts(prefix)]


def checkpoint_files(prefix: PathLike) -> list[PathLike]:
    """What to open for a checkpoint that a caller named: its prefix, and where its links lead."""
    whole = as_path(prefix)
    stem = re.sub(_SHARD, "", os.fspath(uri_of(whole) or os.path.abspath(whole)))
    return [f"{stem}*", *(p for p in checkpoint_parts(prefix) if p.is_symlink())]


def _resolve_all(paths: Iterable[PathLike]) -> tuple[str, ...]:
    if isinstance(
        paths, str | bytes | os.PathLike
    ):  # one, which must not be taken letter by letter
        raise ValueError("a path, not several")
    return tuple(dict.fromkeys(map(_resolve_root, paths)))


def _resolve_root(root: PathLike) -> str:
    text = local_text(root)
    if text is None:
        return os.fspath(as_path(root))
    if not text:  # such as of a variable that is not set; it would be the current folder
        raise ValueError("an empty path")
    if text == _ANYWHERE:
        return text
    folder, name = os.path.split(text)
    if name.endswith("*"):
        return os.path.join(os.path.realpath(folder), name)
    return os.path.realpath(text)


def _covered(roots: tuple[PathLike, ...], path: PathLike) -> bool:
    if _ANYWHERE in roots:
        return True
    try:
        real = _real(path)
    except ValueError:  # a NUL inside: no such file can be
        return False
    return any(_covers(os.fspath(root), real) for root in roots)


def _real(path: PathLike) -> str:
    """A path with links and ``..`` followed; behind a scheme there are no links."""
    text = local_text(path)
    return os.path.realpath(text) if text is not None else os.fspath(as_path(path))


def _covers(root: str, real: str) -> bool:
    if root.endswith("*"):
        beginning = root[:-1]
        is_one_folder = beginning.endswith("/") or not beginning
        return real.startswith(beginning) and not (is_one_folder and "/" in real[len(beginning) :])
    return real == root or real.startswith(os.path.join(root, ""))


def _deny(
    call: Call, verb: Literal["read", "write"], path: PathLike, roots: tuple[PathLike, ...]
) -> NoReturn:
    name = os.fspath(path)
    raise KernelError(
        f"node {call.node!r} ({call.op}) may not {verb} {name!r}",
        details=at_node(call.node, call.op),
        check=f"an op may {verb} only the files that the session's config opens",
        found=f"a path outside of them, {_shown(name)}",
        needed=f"a path in {' or '.join(map(str, roots))}" if roots else f"no op may {verb} files",
        remedy=f"if you trust the model: SessionConfig(access=Access().with_{verb}({name!r})), "
        f"on the command line --allow-{verb} {name}",
        code="access-denied",
        status="PERMISSION_DENIED",
    )


def _shown(name: str) -> str:
    """Where a name leads, links and ``..`` followed."""
    try:
        return _real(name)
    except ValueError:
        return repr(name)


_PATHS: Final = Kind(_resolve_all, "a list or tuple of paths")
SETTINGS: Final = Schema(
    "Access",
    "bad-access",
    Setting(
        "read", _PATHS, "folders and files that ops may read.", remedy='Access(read=["data/"])'
    ),
    Setting(
        "write", _PATHS, "folders and files that ops may write.", remedy='Access(write=["out/"])'
    ),
    Setting("python", flag(), "whether ops may call registered Python functions."),
    Setting(
        "libraries",
        _PATHS,
        "folders and files of libraries that ops may open.",
        remedy='Access(libraries=["kernels/"])',
    ),
)

"""From expressions to a shared library, by TVM and the C compiler of the machine."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import drystone_base as ds
from drystone_base import Graph
from drystone_base.files.writing import replace_file
from drystone_base.graph import Output
from drystone_tvm.compiling.cuda import packed, require_nvcc
from drystone_tvm.compiling.emission import Argument, Expressions, distinct, emit
from drystone_tvm.compiling.plans import DEFAULT, Plan
from drystone_tvm.compiling.stated import Form, Tensor, assembly
from drystone_tvm.compiling.tools import interruptible, run
from drystone_tvm.compiling.tuned import key_of, plan_of

__all__ = [
    "FEATURES",
    "TARGETS",
    "build",
    "checked_target",
    "export",
    "require_tvm",
    "schedule_text",
    "tuning_key",
    "tvm_target",
]

TARGETS: Final = ("llvm", "native", "cuda")
FEATURES: Final = (
    "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "avx", "avx2", "fma", "bmi", "bmi2",
    "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl",
)  # fmt: skip
"""What a processor may lack that code for ``native`` uses, as compilers name it."""


def require_tvm() -> None:
    """Raise ``BadRequest`` (``package-missing``) where TVM or a C compiler is not installed."""
    try:
        import tvm  # noqa: F401
    except ImportError as error:
        raise ds.BadRequest(
            "a region cannot be compiled",
            check="compiling needs the compiler, which running does not",
            found="no module tvm",
            needed="apache-tvm",
            remedy="pip install drystone-tvm[compile]",
            code="package-missing",
            status="FAILED_PRECONDITION",
            inner=error,
        ) from error
    if _linker() is None:
        raise ds.BadRequest(
            "a region cannot be compiled",
            check="what TVM makes is linked by the C compiler of the machine",
            found="neither cc, gcc nor clang",
            needed="a C compiler",
            remedy="install one, such as by apt-get install gcc",
            code="package-missing",
            status="FAILED_PRECONDITION",
        )


def _linker() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def checked_target(target: str) -> str:
    """The target; raises ``BadRequest`` (``bad-target``) for one that there is no code for."""
    if target in TARGETS:
        return target
    raise ds.BadRequest(
        f"there is no target {target!r}",
        check="regions are compiled for processors, or for GPUs of NVIDIA",
        found=repr(target),
        needed="'llvm', which runs on every processor of this kind, 'native', this very one, "
        "or 'cuda'",
        remedy='target="llvm"',
        code="unknown-target",
    )


@interruptible()
def build(
    graph: Graph,
    arguments: Sequence[Argument],
    results: Sequence[tuple[str, Output]],
    path: Path,
    *,
    function: str = "main",
    target: str = "llvm",
    plan: Plan | None = None,
) -> Form:
    """Compile what the results are of the arguments to a library; what it states of itself.

    Without a plan: for this very processor the one that tuning has found, else the usual one.
    Raises ``Refusal`` for a node that has no rule, before anything is written.
    """
    arguments = distinct(arguments)
    found = emit(graph, arguments, [output for _, output in results])
    made, needs = _compiled(found, function, target, plan)
    names = {size: f"n{k}" for k, size in enumerate(_symbols(arguments))}

    def tensor(name: str, dtype: str, dims: Sequence[int]) -> Tensor:
        return Tensor(name, dtype, tuple(names[d] if d < 0 else int(d) for d in dims))

    form = Form(
        function,
        tuple(tensor(a.name, a.dtype, a.dims) for a in arguments),
        tuple(
            tensor(name, value.dtype, value.dims)
            for (name, _), value in zip(results, found.results, strict=True)
        ),
        target,
        needs,
        f"drystone-tvm {_version()}",
    )
    _link(made, form, path)
    return form


def _symbols(arguments: Sequence[Argument]) -> list[int]:
    return list(dict.fromkeys(d for a in arguments for d in a.dims if d < 0))


def _version() -> str:
    from importlib.metadata import version

    return f"{version('drystone-tvm')}, apache-tvm {version('apache-tvm')}"


def _compiled(
    found: Expressions, function: str, target: str, plan: Plan | None
) -> tuple[Any, tuple[str, ...]]:
    import tvm

    from drystone_tvm.compiling.scheduling import scheduled

    plain, (chosen, needs) = _plain(found), tvm_target(target)
    if target == "cuda":
        require_nvcc()
        return tvm.compile(scheduled(plain, function, on_gpu=True), target=chosen), needs
    if plan is None:
        plan = (plan_of(key_of(plain, chosen)) if target == "native" else None) or DEFAULT
    return tvm.compile(scheduled(plain, function, plan), target=chosen), needs


def _plain(found: Expressions) -> Any:
    """The function before anything of it is scheduled."""
    from tvm import te

    return te.create_prim_func([*found.arguments, *(v.tensor for v in found.results)])


@interruptible()
def tuning_key(
    graph: Graph, arguments: Sequence[Argument], results: Sequence[tuple[str, Output]]
) -> str:
    """The name by which a plan for this very processor is kept; raises ``Refusal``."""
    found = emit(graph, distinct(arguments), [output for _, output in results])
    return key_of(_plain(found), tvm_target("native")[0])


@interruptible()
def schedule_text(
    graph: Graph, arguments: Sequence[Argument], results: Sequence[tuple[str, Output]], plan: Plan
) -> str:
    """What a plan makes of a region, to tell plans that make the same."""
    from drystone_tvm.compiling.scheduling import scheduled

    found = emit(graph, distinct(arguments), [output for _, output in results])
    text: str = scheduled(_plain(found), "main", plan).script()
    return text


def tvm_target(name: str) -> tuple[Any, tuple[str, ...]]:
    """TVM's own name of a target, and what it needs of a processor."""
    import tvm

    if name == "cuda":
        host = tvm.target.Target({"kind": "llvm"})
        return tvm.target.Target({"kind": "cuda", "arch": "sm_80"}, host=host), ()
    if name != "native":
        return tvm.target.Target({"kind": "llvm"}), ()
    chosen = tvm.target.Target({"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu()})
    has = {str(k) for k in tvm.target.codegen.llvm_get_cpu_features(chosen)}
    return chosen, tuple(k for k in FEATURES if k in has)


@interruptible()
def export(compiled: Any, path: str | os.PathLike[str]) -> None:
    """Write what ``tvm.compile`` gave as a library, as its ``export_library`` does.

    Kernels for CUDA are in it as machine code, not as text: so it runs where TVM and nvcc are not.
    Raises ``BadRequest``: ``package-missing`` without TVM, a C compiler or nvcc, ``cannot-write``.
    """
    require_tvm()
    _link(compiled, None, Path(os.path.abspath(os.fspath(path))))


def _link(made: Any, form: Form | None, path: Path) -> None:
    """Write the library, whole or not at all."""
    linker = _linker()
    assert linker is not None
    with tempfile.TemporaryDirectory(prefix="drystone-tvm-") as name:
        folder, beside = Path(name), []
        if form is not None:
            beside = [str(folder / "about.s")]
            Path(beside[0]).write_text(assembly(form))

        def link(output: str, objects: Sequence[str], options: Any = None, **_: Any) -> None:  # noqa: ARG001
            run([linker, "-shared", "-fPIC", "-s", "-o", output, *objects, *beside, "-lm"])

        def pack(module: Any, *_: Any) -> str:
            return str(packed(module, folder))

        library = folder / "library.so"
        made.export_library(str(library), fcompile=link, fpack_imports=pack)
        replace_file(path, [library.read_bytes()])

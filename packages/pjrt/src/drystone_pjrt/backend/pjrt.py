"""The backend ``pjrt``: regions as StableHLO, compiled by an installed PJRT plugin."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from drystone_base.core.errors import BadRequest, DrystoneError, PluginError
from drystone_pjrt.api.client import Client
from drystone_pjrt.backend.call_module import register
from drystone_pjrt.backend.executable import RegionExecutable
from drystone_pjrt.backend.selecting import Regions
from drystone_pjrt.libraries.environment import PLUGIN
from drystone_pjrt.libraries.opened import client
from drystone_pjrt.stablehlo.region import Program, write_program
from drystone_subgraph import CompileRequest, Executable, SubgraphBackend, SubgraphProperty
from drystone_subgraph.regions.unfused import FUSED, unfuse

__all__ = ["PjrtBackend"]

_KINDS: Final = {"cuda": "gpu", "rocm": "gpu", "sycl": "gpu"}
_DIGEST: Final = 32


class PjrtBackend(SubgraphBackend):
    """Compiles regions by the PJRT plugin that is installed or chosen."""

    name = "pjrt"
    compiles = True

    def properties(self) -> Sequence[SubgraphProperty]:
        """One rule: what can be written, around products and convolutions.

        From now on there is a kernel of ``XlaCallModule``, too.

        Raises ``BadRequest``: ``subgraph-package-missing`` without a plugin, and the code of what
        is wrong with one that cannot be used.
        """
        try:
            client()
        except PluginError as error:
            raise _unusable(error) from error
        register()
        return [Regions()]

    @property
    def keeps(self) -> bool:  # type: ignore[override]
        """Whether the plugin can write executables."""
        return client().keeps

    @property
    def device(self) -> str:  # type: ignore[override]
        """The kind of device that the plugin computes on; "" where none can be used."""
        try:
            platform = client().platform
        except DrystoneError:
            return ""
        return _KINDS.get(platform, platform)

    @property
    def version(self) -> str:  # type: ignore[override]
        """Of this package, of the interface, and of what the plugin calls its compiler."""
        from drystone_pjrt import __version__

        used = client()
        interface = "{}.{}".format(*used.table.version)
        without = "".join(f" -{flag}" for flag in used.flags)
        return f"{__version__} {interface} {used.platform} {used.version}{without}"

    def compile(self, request: CompileRequest) -> Executable:
        """The region, compiled.

        Raises ``UnsupportedOp`` for what cannot be written, and ``PluginError`` for what the plugin
        cannot compile, with the region's ops.
        """
        program, used = _program(request), client()
        try:
            loaded = used.compile(program.text.encode())
        except PluginError as error:
            ops = ", ".join(sorted({node.op for node in request.body.graph} - {"_Arg", "_Retval"}))
            raise _not_compiled(request, ops, used, error) from error
        return RegionExecutable(used, loaded, program, request)

    def save(self, executable: Any) -> bytes:
        """What the plugin writes of it, after what tells its program from others."""
        made: RegionExecutable = executable
        return _digest(made.program) + made.loaded.save()

    def load(self, request: CompileRequest, data: bytes) -> Executable:
        """An executable that was written for the same program."""
        program, used = _program(request), client()
        if data[:_DIGEST] != _digest(program):
            raise ValueError("it was written for another program")
        return RegionExecutable(used, used.load(data[_DIGEST:]), program, request)


def _unusable(error: PluginError) -> BadRequest:
    return BadRequest(
        "subgraph backend 'pjrt' cannot be used",
        check="the PJRT plugin that it compiles by must load",
        found=f"{error.what}: {error.found}",
        needed=error.needed,
        remedy=f"{error.remedy}; or choose another plugin: {PLUGIN.name}=NAME",
        code=error.code,
        status=error.status,
        inner=error,
    )


def _program(request: CompileRequest) -> Program:
    graph = request.body.graph
    for node in list(graph):
        if node.op in FUSED:
            unfuse(graph, node)
    return write_program(request)


def _digest(program: Program) -> bytes:
    return hashlib.sha256(program.text.encode()).digest()


def _not_compiled(
    request: CompileRequest, ops: str, used: Client, error: PluginError
) -> PluginError:
    return PluginError(
        f"PJRT plugin {used.table.plugin!r} cannot compile region {request.name!r}",
        check="a plugin must compile the StableHLO of a region",
        found=f"{error.found}; its ops: {ops}",
        needed="an executable",
        remedy="the host executor runs the region; leave an op out by PartitionConfig(exclude=...),"
        " or use another plugin",
        plugin=used.table.plugin,
        path=used.table.path,
        code="pjrt-call-failed",
        status=error.status,
        inner=error,
    )

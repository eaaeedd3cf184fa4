"""What packages that add commands to ``drystone`` use: options, tables, JSON, notes, inputs.

A package adds a command through ``Module.commands`` (see ``drystone_base.modules``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drystone_base.cli._output import (
    common_options,
    duration,
    note,
    print_json,
    print_table,
    progress,
    say,
    status,
    wants_json,
)
from drystone_base.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from drystone_base.api.seeding import with_seeds as with_seeds
    from drystone_base.cli._compare import graphs as graph_changes
    from drystone_base.cli._draw import picture_of as picture_of
    from drystone_base.cli._draw_svg import escape as escape_html
    from drystone_base.cli._paths import AnyPath as AnyPath
    from drystone_base.cli._paths import check_local as check_local
    from drystone_base.cli._paths import check_output as check_output
    from drystone_base.cli._tensors import check_tensor as check_tensor
    from drystone_base.cli._transfers import moving as moving
    from drystone_base.cli._values import made_up as made_up
    from drystone_base.cli._values import read_npz as read_npz
    from drystone_base.cli._values import write_npz as write_npz
    from drystone_base.files.writing import replace_file as replace_file

__all__ = [
    "AnyPath",
    "check_local",
    "check_output",
    "check_tensor",
    "common_options",
    "duration",
    "escape_html",
    "graph_changes",
    "made_up",
    "moving",
    "note",
    "picture_of",
    "print_json",
    "print_table",
    "progress",
    "read_npz",
    "replace_file",
    "say",
    "status",
    "wants_json",
    "with_seeds",
    "write_npz",
]

_HOME: Final = {
    "AnyPath": "drystone_base.cli._paths",
    "check_local": "drystone_base.cli._paths",
    "check_output": "drystone_base.cli._paths",
    "check_tensor": "drystone_base.cli._tensors",
    "escape_html": "drystone_base.cli._draw_svg:escape",
    "graph_changes": "drystone_base.cli._compare:graphs",
    "made_up": "drystone_base.cli._values",
    "moving": "drystone_base.cli._transfers",
    "picture_of": "drystone_base.cli._draw",
    "read_npz": "drystone_base.cli._values",
    "replace_file": "drystone_base.files.writing",
    "with_seeds": "drystone_base.api.seeding",
    "write_npz": "drystone_base.cli._values",
}

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)

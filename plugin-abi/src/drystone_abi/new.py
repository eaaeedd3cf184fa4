"""Make a plugin project: ``python -m drystone_abi new NAME KIND [FOLDER]``.

The files are those of the folder ``template``; what is in C or Python begins as the example of its
kind, under another name. Both folders lie inside this package in a wheel. In files ``{{name}}``
stands for the name, in names of files ``__name__``.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from drystone_abi.headers import folder as folder_of

__all__ = ["KINDS", "files_of", "main", "render"]

TEMPLATE = Path(folder_of("template", os.path.join("native", "CMakeLists.txt")))
EXAMPLES = Path(folder_of("examples", os.path.join("device_c", "fake_device.c")))
NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
STANDARDS = {
    "C": "C_STANDARD 11 C_EXTENSIONS OFF",
    "CXX": "CXX_STANDARD 17 CXX_EXTENSIONS OFF",
}
OPTIONS = {"C": "-Wall -Wextra", "CXX": "-Wall -Wextra -fno-exceptions -fno-rtti"}


@dataclass(frozen=True)
class Kind:
    """Where the files come from, what of theirs is renamed, and what the build and manifest say."""

    title: str
    folders: tuple[Path, ...]
    language: str = "CXX"
    options: str = ""
    sources: str = "{{name}}.cc"
    offers: str = ""
    abi: str = "1.0"
    leave_out: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)


def _offers(module: str, key: str = "", value: str = "") -> str:
    return f'modules = ["{module}"]' + (f'\n{key} = ["{value}"]' if key else "")


NATIVE = TEMPLATE / "native"
FROM_EXAMPLE = ("pyproject.toml", "CMakeLists.txt", "README.md", "*.so.toml", "tests/*")
KINDS = {
    "optimizer": Kind(
        "a graph optimizer in C++",
        (NATIVE, TEMPLATE / "optimizer"),
        offers=_offers("graph-optimizer", "optimizers", "CPU"),
    ),
    "kernels": Kind(
        "an op with kernels in C++",
        (NATIVE, TEMPLATE / "kernels"),
        offers=_offers("kernels", "ops", "{{Name}}Scale"),
    ),
    "filesystem": Kind(
        "a filesystem in C",
        (EXAMPLES / "filesystem_c", NATIVE),
        language="C",
        sources="{{name}}.c files.c store.c",
        offers=_offers("filesystem", "schemes", "{{scheme}}"),
        leave_out=FROM_EXAMPLE,
        renames={"ramdemo.c": "{{name}}.c", "ramdemo": "{{scheme}}", "RAMDEMO": "{{NAME}}"},
    ),
    "device": Kind(
        "a device in C, with kernels and a profiler",
        (EXAMPLES / "device_c", NATIVE),
        language="C",
        sources="{{name}}.c {{name}}_kernels.c {{name}}_profiler.c",
        offers='modules = ["device", "kernels", "profiler"]\ndevices = ["{{NAME}}"]',
        leave_out=FROM_EXAMPLE,
        renames={
            "fake_device": "{{name}}",
            "fake_kernels": "{{name}}_kernels",
            "fake_profiler": "{{name}}_profiler",
            "FAKE_DEVICE": "{{NAME}}",
            "FAKE_PLATFORM": "{{NAME}}",
            "FAKE_DEVICES": "{{NAME}}_DEVICES",
            '"FAKE"': '"{{NAME}}"',
            "FakeDevice": "{{Name}}",
            "/device:FAKE:": "/device:{{NAME}}:",
        },
    ),
    "profiler": Kind(
        "a profiler in C",
        (EXAMPLES / "device_c", NATIVE, TEMPLATE / "profiler"),
        language="C",
        sources="{{name}}.c platform.c",
        offers=_offers("profiler"),
        leave_out=(*FROM_EXAMPLE, "fake_device.c", "fake_kernels.c"),
        renames={
            "fake_profiler.c": "{{name}}.c",
            "fake_device": "{{name}}",
            "FAKE_DEVICE": "{{NAME}}",
            '"FAKE"': '"{{NAME}}"',
            "/device:FAKE:": "/device:{{NAME}}:",
            "the fake device": "devices of type {{NAME}}",
            "the source files of this plugin share": "a source file of this plugin needs",
        },
    ),
    "subgraph": Kind(
        "a subgraph backend in C",
        (EXAMPLES / "subgraph_c", NATIVE),
        language="C",
        sources="{{name}}.c",
        offers=_offers("subgraph"),
        leave_out=FROM_EXAMPLE,
        renames={"elementwise.c": "{{name}}.c", '"elementwise"': '"{{name}}"'},
    ),
    "passes": Kind(
        "a pass over graphs in C",
        (EXAMPLES / "passes_c", NATIVE),
        language="C",
        sources="{{name}}.c",
        offers=_offers("graph-passes"),
        leave_out=FROM_EXAMPLE,
        renames={
            "relu6.c": "{{name}}.c",
            'pass.name = "Relu6"': 'pass.name = "{{Name}}"',
            '"relu6: ': '"{{name}}: ',
        },
    ),
    "network": Kind(
        "a network transport in C",
        (EXAMPLES / "network_c", NATIVE),
        language="C",
        sources="{{name}}.c engine.c messages.c",
        offers=_offers("network"),
        abi="1.1",
        leave_out=FROM_EXAMPLE,
        renames={"pipedemo.c": "{{name}}.c", "pipedemo": "{{scheme}}"},
    ),
    "cpp-network": Kind(
        "a network transport in C++",
        (NATIVE, TEMPLATE / "network"),
        options="-Wall -Wextra",
        sources="{{name}}.cc engine.cc matching.cc sockets.cc",
        offers=_offers("network"),
        abi="1.1",
    ),
    "python-optimizer": Kind(
        "a graph optimizer in Python",
        (EXAMPLES / "optimizer_python",),
        renames={
            "drystone_example_same": "{{name}}",
            "drystone-example-optimizer-python": "{{distribution}}",
            'same = "': '{{name}} = "',
            "An example of a drystone": "A drystone",
            'one.name == "same"': 'one.name == "{{name}}"',
            "test_same.py": "test_{{name}}.py",
        },
    ),
}


def render(name: str, kind: str, folder: Path) -> list[Path]:
    """Write a project called ``name`` into the new or empty ``folder``; the files it has."""
    if not NAME.fullmatch(name):
        raise SystemExit(
            f"new: {name!r} is no name for a project: small letters and digits, words "
            "joined by '-', the first character a letter; for instance my-plugin"
        )
    if kind not in KINDS:
        raise SystemExit(f"new: {kind!r} is no kind: choose one of {', '.join(KINDS)}")
    if folder.exists() and not folder.is_dir():
        raise SystemExit(f"new: {folder} is a file: give an empty folder, or none yet")
    if folder.exists() and any(folder.iterdir()):
        raise SystemExit(f"new: {folder} is not empty: give a folder that is, or none yet")
    chosen, words = KINDS[kind], _words(name, kind)
    made: set[Path] = set()
    for source in chosen.folders:
        rename = {} if source.is_relative_to(TEMPLATE) else chosen.renames
        for path in files_of(source, chosen):
            place = _renamed(str(path.relative_to(source)), {**rename, "__name__": "{{name}}"})
            target = folder / _filled(place, words)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = _filled(_renamed(path.read_text("utf-8"), rename), words)
            target.write_text(text, "utf-8")
            made.add(target)
    return sorted(made)


def _words(name: str, kind: str) -> dict[str, str]:
    parts = re.split("[-_]", name)
    chosen = KINDS[kind]
    words = {
        "distribution": "-".join(parts),
        "name": "_".join(parts),
        "Name": "".join(part.capitalize() for part in parts),
        "NAME": re.sub("[^A-Z_]", "", "_".join(parts).upper()).strip("_"),
        "scheme": "".join(parts),
        "kind": chosen.title,
        "language": chosen.language,
        "standard": STANDARDS[chosen.language],
        "options": chosen.options or OPTIONS[chosen.language],
        "abi": chosen.abi,
    }
    for key in ("sources", "offers"):
        words[key] = _filled(getattr(chosen, key), words)
    return words


def files_of(source: Path, kind: Kind) -> list[Path]:
    """Files of a folder; of an example without what the template has its own of."""
    left_out = () if source.is_relative_to(TEMPLATE) else kind.leave_out
    every = (path for path in source.rglob("*") if path.is_file())
    return sorted(
        path
        for path in every
        if "__pycache__" not in path.parts
        and not any(path.relative_to(source).match(pattern) for pattern in left_out)
    )


def _renamed(text: str, renames: Mapping[str, str]) -> str:
    """Every key replaced, the longest first, in one go."""
    if not renames:
        return text
    keys = sorted(renames, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, keys)), lambda found: renames[found[0]], text)


def _filled(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a project and say what to do next."""
    parser = argparse.ArgumentParser(
        "python -m drystone_abi new", description="Make a plugin project."
    )
    parser.add_argument("name", help="of the distribution, for instance my-plugin")
    parser.add_argument("kind", help=", ".join(KINDS))
    parser.add_argument("folder", nargs="?", type=Path, help="default: ./NAME")
    given = parser.parse_args(arguments)
    folder: Path = given.folder or Path(given.name)
    for path in render(given.name, given.kind, folder):
        print(path)
    print(f"\nnext: pip install {folder.resolve()}")
    return 0

"""What the headers of the plugin ABI declare, as data: asked of a C compiler.

The names come from the preprocessed headers; sizes, offsets and normalised types (without names of
parameters) from the compiler, so that only what a plugin could notice is part of the model.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["Model", "compiler", "fingerprint", "read"]

Model: TypeAlias = dict[str, Any]
"""`structs`, `enums`, `typedefs`, `functions`, `constants`: each a mapping by name."""

_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_MARKER = re.compile(r'^# \d+ "(.*?)"')
_CONSTANT = re.compile(
    r"#define (?!DRYSTONE)([A-Z]\w+_(?:MAJOR|MINOR|PATCH|ABI|API)) (\d+)$", re.MULTILINE
)
_STATED = re.compile(
    r"#define \w+_SIZE \(?(?:TF_OFFSET_OF_END\((\w+),\s*(\w+)\)|sizeof\((\w+)\))\)?$", re.MULTILINE
)


def compiler() -> str | None:
    """A GCC whose `-aux-info` prints declarations, or None."""
    for name in (os.environ.get("CC", ""), "gcc", "cc"):
        found = shutil.which(name) if name else None
        if found and "Free Software Foundation" in _run([found, "--version"]):
            return found
    return None


def read(include: Path, cc: str) -> Model:
    """The model of the headers `include/drystone/*.h`."""
    names = sorted(file.name for file in (include / "drystone").glob("*.h"))
    text = "".join(f'#include "drystone/{name}"\n' for name in names)
    base = [cc, "-std=c11", f"-I{include}"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "all.c"
        source.write_text(text, encoding="utf-8")
        pieces = list(_declarations(_run([*base, "-E", str(source)])))
        macros = _run([*base, "-E", "-dD", str(source)])
        model = _classify(pieces)
        model["functions"] = _functions(base, source)
        model["constants"] = {name: int(value) for name, value in _CONSTANT.findall(macros)}
        _measure(base, source, model, macros)
    return model


def fingerprint(value: object) -> str:
    """A short hash of a part of a model."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def _own_lines(preprocessed: str) -> str:
    """Text that comes from the headers of the contract, without attributes."""
    kept, ours = [], False
    for line in preprocessed.splitlines():
        marker = _MARKER.match(line)
        if marker:
            ours = "/drystone/" in marker.group(1)
        elif ours:
            kept.append(line)
    return _ATTRIBUTE.sub("", " ".join(" ".join(kept).split()))


def _declarations(preprocessed: str) -> Iterator[str]:
    """Top-level declarations; a function's body ends one like a semicolon does."""
    depth, start, text = 0, 0, _own_lines(preprocessed)
    for place, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth:
            continue
        piece = text[start : place + 1].strip()
        if letter == ";" or (letter == "}" and piece.startswith("static")):
            start = place + 1
            yield piece.rstrip(";").strip()


def _classify(pieces: list[str]) -> Model:
    model: Model = {"structs": {}, "enums": {}, "typedefs": {}}
    for piece in pieces:
        record = re.fullmatch(r"typedef (struct|union) \w+ \{(.*)\} (\w+)", piece)
        names = re.fullmatch(r"(?:typedef )?enum \w* ?\{(.*)\} ?(\w*)", piece)
        alias = re.fullmatch(r"typedef (.*?)\(\*(\w+)\)(\(.*\))|typedef (.*?)(\w+)", piece)
        if record:
            members = list(_members(record.group(2)))
            model["structs"][record.group(3)] = {"kind": record.group(1), "members": members}
        elif names:
            entries = [entry.split("=")[0].strip() for entry in _split(names.group(1), ",")]
            model["enums"][names.group(2) or entries[0]] = dict.fromkeys(filter(None, entries), 0)
        elif alias and alias.group(2):
            model["typedefs"][alias.group(2)] = f"{alias.group(1).strip()} (*)"
        elif alias:
            model["typedefs"][alias.group(5)] = " ".join(alias.group(4).split())
    return model


def _members(body: str) -> Iterator[str]:
    """Names of the members; those of a union or struct without a name count as the outer one's."""
    for piece in _split(body, ";"):
        inner = re.fullmatch(r"(?:union|struct) ?\w* ?\{(.*)\} ?(\w*)", piece)
        if inner and not inner.group(2):
            yield from _members(inner.group(1))
        elif inner:
            yield inner.group(2)
        else:
            pointer = re.search(r"\(\*\s*(?:const )?(\w+)\)\s*\(", piece)
            found = pointer or re.search(r"(\w+)(?:\[[^\]]*\])*$", piece)
            if found is None:
                raise RuntimeError(f"no member name in: {piece}")
            yield found.group(1)


def _split(text: str, mark: str) -> Iterator[str]:
    """Parts between marks outside of any bracket, empty ones left out."""
    depth, part = 0, ""
    for letter in text:
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(letter, 0)
        if letter == mark and depth == 0:
            if part.strip():
                yield part.strip()
            part = ""
        else:
            part += letter
    if part.strip():
        yield part.strip()


def _prototypes(base: list[str], source: Path) -> Iterator[tuple[str, str]]:
    """File and normalised text of every function declared in a source."""
    out = source.with_suffix(".aux")
    _run([*base, "-w", "-fsyntax-only", "-aux-info", str(out), str(source)])
    for line in out.read_text(encoding="utf-8").splitlines():
        found = re.match(r"/\* (.*?):\d+:\w+ \*/ (?:extern |static )*(.*;)", line)
        if found:
            yield found.group(1), found.group(2)


def _functions(base: list[str], source: Path) -> dict[str, str]:
    """Prototypes of the functions that the headers declare; inline ones too."""
    found = {}
    for file, text in _prototypes(base, source):
        name = re.search(r"\b(\w+) \(", text)
        if "/drystone/" in file and name and not name.group(1).endswith("_"):
            found[name.group(1)] = "inline" if "/*" in text else text.rstrip(";")
    return found


def _measure(base: list[str], source: Path, model: Model, macros: str) -> None:
    """Replace names of members and constants of enums by what the compiler says of them."""
    _types(base, source, model["structs"])
    _callbacks(base, source, model["typedefs"])
    stated = {struct or whole: last for struct, last, whole in _STATED.findall(macros)}
    lines = [
        f'printf("{name} {member} %zu %zu\\n", offsetof({name}, {member}),'
        f" sizeof((({name}*)0)->{member}));"
        for name, struct in model["structs"].items()
        for member in (entry["name"] for entry in struct["members"])
    ]
    for name in model["structs"]:
        size = f"sizeof({name})"
        end = f"TF_OFFSET_OF_END({name}, {stated[name]})" if stated.get(name) else size
        known = end if name in stated else "(size_t)0"
        lines.append(f'printf("{name} . %zu %zu\\n", {size}, {known});')
    lines += [
        f'printf("{name} = {entry} %lld\\n", (long long){entry});'
        for name, entries in model["enums"].items()
        for entry in entries
    ]
    for line in _answers(base, source, lines):
        _enter(model, line)


def _enter(model: Model, line: list[str]) -> None:
    """One line of the probe: of a member, of a struct (`.`) or of an enum (`=`)."""
    name, member = line[0], line[1]
    if member == "=":
        model["enums"][name][line[2]] = int(line[3])
    elif member == ".":
        struct = model["structs"][name]
        struct["size"], struct["stated_size"] = int(line[2]), int(line[3]) or None
        struct["hash"] = fingerprint({key: struct[key] for key in ("size", "kind", "members")})
    else:
        for entry in model["structs"][name]["members"]:
            if entry["name"] == member:
                entry["offset"], entry["size"] = int(line[2]), int(line[3])


def _types(base: list[str], source: Path, structs: dict[str, Any]) -> None:
    """Let the compiler spell the type of every member."""
    wanted = [(name, member) for name, struct in structs.items() for member in struct["members"]]
    spelled = _spelled(base, source, [f"(({name}*)0)->{member}" for name, member in wanted])
    for struct in structs.values():
        struct["members"] = [{"name": member} for member in struct["members"]]
    entries = (entry for struct in structs.values() for entry in struct["members"])
    for entry, text in zip(entries, spelled, strict=True):
        entry["type"] = text


def _callbacks(base: list[str], source: Path, typedefs: dict[str, str]) -> None:
    """The same for typedefs of pointers to functions."""
    names = [name for name, text in typedefs.items() if text.endswith("(*)")]
    spelled = _spelled(base, source, [f"&*({name})0" for name in names])
    typedefs.update(zip(names, spelled, strict=True))


def _spelled(base: list[str], source: Path, expressions: list[str]) -> list[str]:
    """Types of expressions, normalised: "nested" for a struct or union without a name."""
    probe = source.with_name("types.c")
    text = source.read_text(encoding="utf-8") + "".join(
        f"__typeof__({expression}) *ds_type_{k} (void);\n"
        for k, expression in enumerate(expressions)
    )
    probe.write_text(text, encoding="utf-8")
    spelled = {}
    for _, prototype in _prototypes(base, probe):
        number = re.search(r"\*ds_type_(\d+) \(void\)", prototype)
        if number:
            plain = prototype.replace(number.group(0), "").rstrip(";")
            spelled[int(number.group(1))] = "nested" if "{" in plain else " ".join(plain.split())
    return [spelled[k] for k in range(len(expressions))]


def _answers(base: list[str], source: Path, lines: list[str]) -> Iterator[list[str]]:
    """What a program of these statements prints, split into words."""
    probe, program = source.with_name("probe.c"), source.with_name("probe")
    head = "#include <stddef.h>\n#include <stdio.h>\n" + source.read_text(encoding="utf-8")
    body = "\n".join(lines)
    probe.write_text(f"{head}int main(void) {{\n{body}\nreturn 0; }}\n", encoding="utf-8")
    _run([*base, "-w", str(probe), "-o", str(program)])
    for line in _run([str(program)]).splitlines():
        yield line.split()

"""A vendor's way by `docs/how-to/plugin_authors/device.md` alone, word for word."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv, install, remove

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "plugin_authors" / "device.md"
SECTION = re.compile(r"(?ms)^## A project of your own$(.*?)^## ")
BLOCK = re.compile(r"(?ms)^```(bash|py|text)\n(.*?)^```$")


def blocks() -> list[tuple[str, str]]:
    """Language and text of each block of the section, in order."""
    found = SECTION.search(PAGE.read_text("utf-8"))
    assert found is not None
    return BLOCK.findall(found[1])


def test_the_section_has_commands_a_program_and_what_they_print() -> None:
    assert [language for language, _ in blocks()] == ["bash", "text", "py", "text"]


@pytest.mark.nightly
def test_a_vendors_way(env: InstalledEnv, wheels: list[Path], tmp_path: Path) -> None:
    (_, commands), (_, listed), (_, program), (_, printed) = blocks()
    (tmp_path / "dense.py").write_text(program, encoding="utf-8")
    install(env, "pip")
    settings = (
        f"PATH={env.scripts}{os.pathsep}{os.environ['PATH']}",
        f"PIP_FIND_LINKS={wheels[0].parent}",
    )
    script = f"{commands}echo\necho DENSE\npython dense.py\n"
    done = env.run(
        "env", "-u", "DRYSTONE_DEVELOPER_MODE", *settings, "bash", "-euc", script, cwd=tmp_path
    )
    try:
        doctor, _, ran = done.stdout.partition("\nDENSE\n")
        assert missing(doctor, listed) == [], doctor
        assert missing(ran, printed) == [], ran
    finally:
        remove(env, "my-npu")


def missing(text: str, wanted: str) -> list[str]:
    """Lines that are wanted and not there in that order, spaces aside; `...` is any lines."""
    left = iter([" ".join(line.split()) for line in text.splitlines()])
    lines = [" ".join(one.split()) for one in wanted.splitlines()]
    return [
        line for line in lines if line != "..." and not any(one.startswith(line) for one in left)
    ]


def test_what_is_missing_is_told() -> None:
    assert missing("a  b\nc d\n", "a b\n...\nc") == []
    assert missing("c\na\n", "a\nc\n") == ["c"]
    assert missing("", "a\n") == ["a"]

"""The pages for plugin authors show sources that are compiled elsewhere, as they are."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from compiling import INCLUDE, compiler

from drystone_abi.new import render

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/how-to/plugin_authors").glob("*.md"))
SHOWN = re.compile(r"(?ms)^`([\w./-]+)`:\n\n```(\w+)\n(.*?)^```$")
BLOCK = re.compile(r"(?m)^```(\w+)$")
MADE = "my_first.cc"
COMPILED = {"c", "h", "cc", "cpp", "cxx", "cmake", "zig"}
TYPED = {"bash", "text"}
"""What a reader types or sees; everything else must be shown from a file."""
RUN = {"device.md": {"py"}}
"""What a test of the page runs as it stands: integration_tests/test_plugins/test_device_page.py."""


def _made(kind: str, folder: Path) -> Path:
    """The source of a project of that kind, as a reader makes it."""
    render("my-first", kind, folder / kind)
    return folder / kind / MADE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_is_that_of_the_file_it_names(page: Path, tmp_path: Path) -> None:
    for file, _, code in SHOWN.findall(page.read_text("utf-8")):
        source = (_made(page.stem, tmp_path) if file == MADE else ROOT / file).read_text("utf-8")
        assert f"\n{code}" in f"\n{source}", f"{file} no longer holds, as a whole:\n{code}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_code_is_written_for_the_page_alone(page: Path) -> None:
    text = page.read_text("utf-8")
    said = TYPED | RUN.get(page.name, set())
    blocks = [language for language in BLOCK.findall(text) if language not in said]
    assert blocks == [language for _, language, _ in SHOWN.findall(text)]


def test_every_other_page_shows_files_as_well() -> None:
    """Whatever is compiled or configured, in all pages and in the README of every package."""
    pages = [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "plugin-abi").rglob("README.md"),
        *(page for place in ("", "*/", "packages/*/") for page in ROOT.glob(f"{place}README.md")),
    ]
    assert len(pages) > 100
    followed = set((ROOT / "docs/how-to").glob("add-a*.md"))  # word for word, by test_how_to.py
    assert len(followed) == 5
    for page in {*pages} - {*PAGES} - followed:
        text = page.read_text("utf-8")
        shown = [language for _, language, _ in SHOWN.findall(text) if language in COMPILED]
        blocks = re.findall(r"(?m)^ *```([\w+]+)", text)
        assert [b for b in blocks if b.lower() in COMPILED | {"c++"}] == shown, page
        for file, language, code in SHOWN.findall(text):
            assert language not in COMPILED or code in (ROOT / file).read_text("utf-8"), page
        for table in re.findall(r"(?ms)^```toml\n(.*?)^```$", text):
            assert tomllib.loads(table), page


def test_every_page_is_reached_from_the_start() -> None:
    start = (ROOT / "docs/how-to/plugin_authors/index.md").read_text("utf-8")
    for page in PAGES:
        assert page.name == "index.md" or f"({page.name}" in start, page.name


def test_the_pages_show_something_of_every_module() -> None:
    shown = {file for page in PAGES for file, *_ in SHOWN.findall(page.read_text("utf-8"))}
    folders = {"/".join(Path(file).parts[1:3]) for file in shown}
    modules = "optimizer_c optimizer_cpp kernels_c filesystem_c device_c network_c"
    for folder in modules.split():
        assert f"examples/{folder}" in folders


def test_whole_files_compile_as_they_are_pasted() -> None:
    """A block that includes a header is a whole file; any other is part of the file it names."""
    compiled = []
    for page in PAGES:
        for _, language, code in SHOWN.findall(page.read_text("utf-8")):
            if "#include" not in code:
                continue
            c = language == "c"
            command = [*compiler(".c" if c else ".cc"), "-x", "c" if c else "c++", "-fsyntax-only"]
            command += ["-std=c11" if c else "-std=c++17", "-Wall", "-Wextra", "-Werror"]
            command += [f"-I{INCLUDE}", "-"]
            done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{page.name}:\n{done.stderr}"
            compiled.append(page.stem)
    assert {"kernels", "optimizer"} <= set(compiled)

"""The page on compiled functions: its library is compiled, its code prints what it says."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

drystone = pytest.importorskip("drystone", reason="the page is written for the metapackage")
PAGE = Path(__file__).resolve().parents[4] / "docs" / "how-to" / "tvm.md"
FENCED = re.compile(r"^```(\w+)(?: notest)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


COMPILING = re.compile(r"^## Compile .*?(?=^## )", re.MULTILINE | re.DOTALL)


def test_the_page_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    if importlib.util.find_spec("tvm") is None:
        text = COMPILING.sub("", text)
        with capsys.disabled():
            print("compiling is left out: apache-tvm is not installed, `nox -s tvm` installs it")
    blocks = [(m[1], m[2]) for m in FENCED.finditer(text)]
    (source,) = [text for kind, text in blocks if kind == "c"]
    (command,) = [text for kind, text in blocks if kind == "sh"]
    Path("addone.c").write_text(source)
    subprocess.run(command, shell=True, check=True)
    names: dict[str, object] = {"__name__": "page"}
    for (kind, text), (_, printed) in pairwise(blocks):
        if kind == "python":
            exec(text, names)
            assert capsys.readouterr().out == printed

"""python -m ci.scripts.clang_tidy: what it runs, and how it ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ci.scripts import clang_tidy

FAKE = """#!{python}
import sys
file = next(a for a in sys.argv if a.endswith((".c", ".cc")))
text = open(file).read()
if "bad" in text:
    print(file + ":1:1: warning: this is bad [bugprone-fake]")
    print("    1 | bad")
if "broken" in text:
    print("no such flag", file=sys.stderr)
sys.exit(int("bad" in text or "broken" in text))
"""


@pytest.fixture
def tool(tmp_path: Path) -> str:
    file = tmp_path / "clang-tidy"
    file.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def _source(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_findings_end_with_one(
    tool: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = [_source(tmp_path, "a.cc", "good"), _source(tmp_path, "b.cc", "bad")]
    assert clang_tidy.main(["--clang-tidy", tool, *files]) == 1
    out, progress = capfd.readouterr()
    assert f"{files[1]}:1:1: warning: this is bad [bugprone-fake]\n    1 | bad\n" in out
    assert out.endswith("2 files, 1 findings\n")
    assert progress == "[1/2] a.cc\n[2/2] b.cc\n"


def test_clean_files_end_with_zero(
    tool: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert clang_tidy.main(["--clang-tidy", tool, _source(tmp_path, "a.c", "good")]) == 0
    assert capfd.readouterr().out == "1 files, 0 findings\n"


def test_kernels_find_their_own_headers_and_none_of_the_host() -> None:
    """Both have a folder "core" with files of the same names."""
    kernel = clang_tidy.command("clang-tidy", clang_tidy.KERNELS / "dnnl" / "row.cc")
    host = clang_tidy.command("clang-tidy", clang_tidy.HOST / "src" / "core" / "tensor.cc")
    own, of_host = f"-I{clang_tidy.KERNELS}", f"-I{clang_tidy.HOST / 'src'}"
    assert own in kernel
    assert of_host not in kernel
    assert of_host in host
    assert own not in host


def test_a_run_that_fails_is_a_finding(tool: str, tmp_path: Path) -> None:
    file = Path(_source(tmp_path, "a.cc", "broken"))
    assert clang_tidy.findings(tool, file) == [f"{file}: clang-tidy failed: no such flag"]


def test_without_clang_tidy_it_says_how_to_install_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert clang_tidy.main(["--clang-tidy", "no-such-clang-tidy"]) == 2
    assert "python -m pip install clang-tidy" in capfd.readouterr().err


def test_default_files_are_the_host_and_the_examples() -> None:
    names = {file.name for file in clang_tidy.default_files()}
    assert {"status.cc", "fused_matmul.cc", "double_neg.c"} <= names
    c, cc = Path("/x/a.c"), Path("/x/a.cc")
    assert "-std=c11" in clang_tidy.command("clang-tidy", c)
    assert "-std=c++20" in clang_tidy.command("clang-tidy", cc)


def test_help_shows_examples(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        clang_tidy.main(["--help"])
    assert "examples:\n  python -m ci.scripts.clang_tidy\n" in capfd.readouterr().out

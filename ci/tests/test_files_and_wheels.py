"""Checks of wheels, sizes, times, error pages, texts and links, each with a planted violation."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ci.checks import (
    api_pages,
    code_size,
    data_origin,
    decisions,
    doc_links,
    error_pages,
    forbidden_text,
    import_time,
    remedies,
    retired_words,
    site_nav,
    test_folders,
    wheel_levels,
    wheel_paths,
    wheel_size,
)
from ci.scripts import wheels
from ci.scripts.project import ROOT
from ci.tests.conftest import LAYOUT, put

BASE = "packages/base/src/drystone_base"


def wheel(folder: Path, dist: str, files: dict[str, str]) -> None:
    stem = dist.replace("-", "_")
    with zipfile.ZipFile(folder / f"{stem}-0.1.0-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def test_path_in_two_wheels_is_found(tmp_path: Path) -> None:
    wheel(tmp_path, "one", {"one/a.py": "", "shared/x.py": ""})
    wheel(tmp_path, "two", {"two/a.py": ""})
    assert wheel_paths.find(tmp_path) == []
    wheel(tmp_path, "three", {"Shared/x.py": ""})
    (problem,) = wheel_paths.find(tmp_path)
    assert "shared/x.py is in one-0.1.0-py3-none-any.whl, three-0.1.0" in problem


def test_wheels_over_budget_and_missing_are_found(tree: Path) -> None:
    folder = tree / "wheels"
    folder.mkdir()
    for _, dist, *_ in LAYOUT.values():
        wheel(folder, dist, {"a.py": "x"})
    assert wheel_size.find(folder, tree) == []
    wheel(folder, "drystone", {"a.py": "x" * 3000})
    problems = wheel_size.find(folder, tree)
    assert [problem.split(": ")[1] for problem in problems] == [
        "wheel 3 KiB, budget 1 KiB",
        "unpacked 3 KiB, budget 2 KiB",
    ]
    next(folder.glob("drystone_base-*")).unlink()
    assert any("drystone-base has no wheel" in problem for problem in wheel_size.find(folder, tree))


def test_a_quick_build_is_no_release(tmp_path: Path) -> None:
    file = tmp_path / "drystone_cpu-0.1.0-py3-none-linux_x86_64.whl"
    for held in (["v2", "v3", "v4"], ["v4"]):
        with zipfile.ZipFile(file, "w") as archive:
            for level in held:
                archive.writestr(f"drystone_cpu/libdrystone_cpu_{level}.so", "")
        missing = [level for level in ("v2", "v3") if level not in held]
        assert [problem.split("of ")[1] for problem in wheel_levels.find(tmp_path)] == (
            ["v2, v3: a quick build?"] if missing else []
        )


def test_only_a_quick_build_leaves_something_out() -> None:
    for package in wheels.chosen():
        release = wheels.command(package, Path("out"), quick=False)
        quick = wheels.command(package, Path("out"), quick=True)
        assert not any("cmake.define" in word for word in release)
        assert any("LEVELS=native" in word for word in quick) == (package.key == "cpu")


def test_slow_import_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_time, "RUNS", 1)
    monkeypatch.setattr(import_time, "STATEMENTS", {"a": "import time; time.sleep(0.05)"})
    assert import_time.find({"a": 30.0}) == []
    (problem,) = import_time.find({"a": 0.01})
    assert "budget 0.01 s" in problem


def test_long_files_and_functions_are_found(tree: Path) -> None:
    assert code_size.find(tree) == []
    put(tree, f"{BASE}/long.py", "x = 1\n" * 21)
    put(tree, f"{BASE}/deep.py", "def f():\n" + "    x = 1\n" * 5)
    put(tree, f"{BASE}/_generated/data.py", "x = 1\n" * 50)
    put(tree, f"{BASE}/later.py", "# TO" + "DO: write this\n")
    problems = code_size.find(tree)
    assert problems == [
        f"{BASE}/deep.py:1: f has 6 lines, limit 5",
        f"{BASE}/later.py:1: unfinished work: # TO" + "DO: write this",
        f"{BASE}/long.py: 21 lines, limit 20",
    ]


def test_error_codes_and_pages_match(tree: Path) -> None:
    put(tree, f"{BASE}/errors.py", 'class E(Exception):\n    default_code = "bad-thing"\n')
    put(tree, f"{BASE}/use.py", 'raise E(code="no-page" if x else "Not_Kebab")\n')
    put(tree, f"{BASE}/made.py", 'raise E(code=f"unknown-{role}")\nE("by-variable")\n')
    for page in ("bad-thing", "unknown-feed", "by-variable"):
        put(tree, f"docs/reference/errors/{page}.md", "")
    put(tree, "docs/reference/errors/left-over.md", "")
    problems = error_pages.find(tree)
    assert any(
        "'no-page' has no page docs/reference/errors/no-page.md" in text for text in problems
    )
    assert any("'Not_Kebab' is not kebab-case" in text for text in problems)
    assert any("left-over.md: no source uses this code" in text for text in problems)
    assert len(problems) == 4, problems


def test_error_codes_are_found_that_have_no_name_before_them(tree: Path) -> None:
    """By place, as a field, as a default; of a function, a class, its own or an imported one."""
    put(
        tree,
        f"{BASE}/errors.py",
        'class E(Exception):\n    def __init__(self, what, code="by-default"): ...\n'
        "class Row(NamedTuple):\n    name: str\n    code: str\n"
        "def fail(node, code, *, more=1): ...\n",
    )
    put(
        tree,
        f"{BASE}/use.py",
        "from drystone_base.errors import E, Row, fail\n"
        'E("w", "by-place")\nRow("r", "by-field")\nfail(1, "of-function", more="not-one")\n',
    )
    put(tree, f"{BASE}/own.py", 'def fail(code): ...\nfail("of-own")\nfail(*all, "unknown")\n')
    assert set(error_pages.codes(tree)) == {
        "by-default", "by-place", "by-field", "of-function", "of-own",
    }  # fmt: skip


def test_errors_without_a_remedy_are_found(tree: Path) -> None:
    put(tree, f"{BASE}/bad.py", 'raise E("w", check="c", found=1)\nraise m.E(check=1, found=2)\n')
    put(tree, f"{BASE}/good.py", 'raise E("w", check="c", found=1, remedy="r")\nE(**parts)\n')
    put(tree, f"{BASE}/help.py", 'self.fail("what", check="c", found=1)\n')
    assert remedies.find(tree) == [
        f"{BASE}/bad.py:1: an error without remedy=",
        f"{BASE}/bad.py:2: an error without remedy=",
    ]


def test_retired_words_are_found(tree: Path) -> None:
    page = "| word | meaning |\n|---|---|\n| `old` | x |\n\n## Retired words\n\n"
    page += "| retired | say |\n|---|---|\n| `worn phrase`, `Worn` | a new one |\n"
    put(tree, "docs/glossary.md", page)
    put(tree, "text.md", "Wornness, an old one\nis no worn phrase.\n")
    put(tree, "docs/explanation/decisions/0001-a.md", "It was a worn phrase.\n")
    assert retired_words.find(tree) == ["text.md:2: 'worn phrase' is retired; say a new one"]


def test_the_glossary_is_short() -> None:
    """At most 80 words, in the alphabet's order, each once."""
    text = (ROOT / retired_words.GLOSSARY).read_text(encoding="utf-8")
    rows = text.partition("\n## Retired words\n")[0].split("|---|---|\n")[1].splitlines()
    words = [row.split(" | ")[0].removeprefix("| ").lower() for row in rows if row]
    assert len(words) <= 80
    assert words == sorted(set(words))
    assert len(retired_words.retired(text)) > 5


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('HERE = "/wo' + 'rk/x"', "a machine path"),
        ("see /ho" + "me/someone/x", "a machine path"),
        ("https://py" + "pi.org/simple", "a registry host"),
    ],
)
def test_forbidden_text_is_found(tree: Path, line: str, what: str) -> None:
    fine = "a/wo" + "rk/of/art, https://example.org/op" + "t/x and ./wo" + "rk/y"
    put(tree, "docs/fine.md", f"{fine}\n")
    put(tree, "docs/page.md", f"first\n{line}\n")
    (problem,) = forbidden_text.find(tree)
    assert problem.startswith(f"docs/page.md:2: {what}")


def test_odd_file_names_are_found(tree: Path) -> None:
    put(tree, "docs/fine-1_a+b.md", "fine\n")
    put(tree, "m\x1b.pb", "left by a test\n")
    (problem,) = forbidden_text.find(tree)
    assert problem == r"'m\x1b.pb': the name has other than plain characters"


def test_dead_links_are_found(tree: Path) -> None:
    put(tree, "docs/a.md", "# Part one\n[b](b.md#the-end) [self](#part-one) `[no](link.md)`\n")
    put(tree, "docs/b.md", "## The end\n[gone](gone.md) [bad](a.md#part-two) [web](https://x.y)\n")
    assert doc_links.find(tree) == [
        "docs/b.md: link to gone.md leads nowhere",
        "docs/b.md: link to a.md#part-two leads nowhere",
    ]


def test_data_without_origin_or_over_budget_is_found(tree: Path) -> None:
    for name in ("LICENSE", "ORIGIN.md", "model.pb"):
        put(tree, f"integration_tests/data/good/{name}", "x" * 100)
    assert data_origin.find(tree) == []
    put(tree, "integration_tests/data/bad/model.pb", "x" * 1000)
    assert data_origin.find(tree) == [
        "integration_tests/data/bad has no LICENSE",
        "integration_tests/data/bad has no ORIGIN.md",
        "integration_tests/data holds 0.0 MB, budget 0.001 MB",
    ]


def test_decisions_have_a_status_a_length_and_a_place(tree: Path) -> None:
    folder = "docs/explanation/decisions"
    put(tree, f"{folder}/index.md", "- [0001 One](0001-one.md)\nThere is no 0002.\n")
    put(tree, f"{folder}/0001-one.md", "# 0001 One\n\nStatus: accepted.\n\nWhy.\n")
    assert decisions.find(tree) == []
    long = "word " * 601
    put(tree, f"{folder}/0004-four.md", f"# 4\n\nStatus: maybe.\n\n{long}\n\n| a | 1 ms | 2 ms |\n")
    gone = "Status: superseded by [0009](0009-gone.md)."
    put(tree, f"{folder}/0003-three.md", f"# 0003 Three\n\n{gone}\n\nWhy.\n")
    problems = [text.removeprefix(f"{folder}/") for text in decisions.find(tree)]
    assert problems == [
        "0003-three.md: it is superseded by a page that is not there",
        "0004-four.md: the title does not begin with the number",
        "0004-four.md: no status after the title, such as 'Status: accepted.'",
        "0004-four.md: 610 words, at most 600 are read",
        "0004-four.md: a table of figures belongs on a page of docs/reference/measurements",
        "index.md: does not list [0003 Three](0003-three.md)",
        "index.md: does not list [4](0004-four.md)",
    ]


def test_pages_are_in_the_nav(tree: Path) -> None:
    nav = "docs_dir: docs\n\nnav:\n  - Home: index.md\n  - A:\n      - a/b.md\n  - C: gone.md\n"
    put(tree, "ci/config/mkdocs.yml", nav)
    for page in ("index", "a/b", "a/lost", "reference/compat", "reference/errors/some-code"):
        put(tree, f"docs/{page}.md", "text\n")
    assert site_nav.find(tree) == [
        "docs/a/lost.md: not in the nav of ci/config/mkdocs.yml",
        "docs/reference/compat.md: not in the nav of ci/config/mkdocs.yml",
        "ci/config/mkdocs.yml: its nav names docs/gone.md, which is no page",
    ]


def test_unit_tests_lie_in_the_folders_of_src(tree: Path) -> None:
    with_floors = (tree / "ci/packages.toml").read_text(encoding="utf-8")
    with_floors = with_floors.replace("[packages.base]", '[packages.base]\nfloors = ["graph"]')
    put(tree, "ci/packages.toml", with_floors)
    put(tree, f"{BASE}/graph/graph.py", "")
    for place in ("graph/test_graph", "test_loose", "grpah/test_odd", "graph/data"):
        put(tree, f"packages/base/tests/unit/{place}.py", "")
    assert test_folders.find(tree) == [
        f"packages/base/tests/unit/{place}: must be in the folder of packages/base/tests/unit that "
        "src has"
        for place in ("grpah/test_odd.py", "test_loose.py")
    ]


def test_public_names_are_on_a_page(tree: Path) -> None:
    put(tree, f"{BASE}/__init__.py", '__all__ = ["Session", "__version__", "load", "plugins"]\n')
    put(tree, f"{BASE}/plugins/__init__.py", "")
    shown = ["Session", "gone", "plugins.check"]
    page = "# Names\n\n" + "".join(f"::: drystone_base.{name}\n" for name in shown)
    put(tree, "docs/reference/api/names.md", page)
    assert api_pages.find(tree) == [
        "docs/reference/api: no page shows drystone_base.load",
        "docs/reference/api: drystone_base.gone is shown and not public",
    ]

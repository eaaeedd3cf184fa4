"""Releasing: gates with planted violations, the steps on a small checkout, and the local index."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from ci.checks import version_sync
from ci.release import __main__ as command
from ci.release import gates, index, records, steps, symbols, versions, wheels
from ci.release.simulation import page
from ci.scripts.project import ROOT, Package, load_toml, packages
from ci.tests.conftest import make_tree, put

BASE = "packages/base/src/drystone_base"
OPTIMIZER = "packages/optimizer/src/drystone_opt"
TEMPLATE = "ci/config/changelog.md.jinja"
CHANGELOG = (
    "# Changelog\n\n<!-- towncrier release notes start -->\n\n## 0.1.0 (unreleased)\n\nFirst.\n"
)


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(root: Path) -> None:
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "change")


def change(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text(encoding="utf-8")
    assert old in text
    put(root, name, text.replace(old, new, 1))


def make_checkout(tree: Path) -> Path:
    """A git checkout of which nothing is released."""
    make_tree(tree)
    put(tree, "plugin-abi/abi.lock", '{"abi_version": "1.0", "hash": "a"}')
    table = (ROOT / "metapackage/pyproject.toml").read_text("utf-8").partition("[tool.towncrier]")
    put(tree, ".gitignore", ".drystone-env/\n")
    put(tree, TEMPLATE, (ROOT / TEMPLATE).read_text(encoding="utf-8"))
    for package in packages(tree).values():
        put(tree, f"{package.dir}/CHANGELOG.md", CHANGELOG)
        up = "../" * len(Path(package.dir).parts)
        text = (package.path / "pyproject.toml").read_text("utf-8") + "\n[tool.towncrier]"
        text += table[2].replace("../ci", f"{up}ci")
        put(tree, f"{package.dir}/pyproject.toml", text)
    put(tree, f"{BASE}/__init__.py", '__version__ = "0.1.0"\n__all__ = ["f"]\n\ndef f(a): ...\n')
    put(tree, f"{OPTIMIZER}/run.py", "from drystone_base import f\n")
    git(tree, "init", "-q")
    git(tree, "config", "user.name", "t")
    git(tree, "config", "user.email", "t@example.invalid")
    commit(tree)
    return tree


def built(package: Package, folder: Path, links: Path | None = None) -> list[Path]:
    stem = f"{package.distribution.replace('-', '_')}-{package.version}"
    folder.mkdir(parents=True)
    files = [folder / f"{stem}-py3-none-any.whl", folder / f"{stem}.tar.gz"]
    for file in files:
        file.write_bytes(b"content")
    return files


Release = Callable[..., int]


def order(root: Path, *words: str) -> int:
    """Release from the checkout in `root`; wheels are made of thin air."""
    key = str(ROOT / wheels.DEVELOPMENT_KEY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wheels, "build", built)
        patch.setattr(command, "ROOT", root)
        return command.main([*words, "--key", key, "--date", "2030-01-01"])


@pytest.fixture(scope="module")
def released_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout with the first release of every package; tests get copies."""
    root = make_checkout(tmp_path_factory.mktemp("released"))
    for key in ("plugin-abi", "base", "optimizer", "metapackage"):
        assert order(root, key, "0.1.0") == 0
    return root


@pytest.fixture
def first(released_once: Path, tmp_path: Path) -> Path:
    """A copy of the checkout with the first release of every package."""
    return shutil.copytree(released_once, tmp_path / "checkout")


@pytest.fixture
def release(first: Path) -> Release:
    """The command, in the copy."""
    return partial(order, first)


def test_the_first_release_of_each(first: Path) -> None:
    assert git(first, "tag").split() == [
        "base/v0.1.0", "metapackage/v0.1.0", "optimizer/v0.1.0", "plugin-abi/v0.1.0",
    ]  # fmt: skip
    assert "## 0.1.0 (2030-01-01)" in (first / "packages/base/CHANGELOG.md").read_text("utf-8")
    record = records.latest(first, "optimizer")
    assert record is not None
    assert record.uses == {"base": ["drystone_base:f"]}
    assert record.wheels == ["py3-none-any"]
    notes = git(first, "tag", "-l", "--format=%(contents)", "optimizer/v0.1.0")
    assert "# drystone-optimizer 0.1.0" in notes
    assert "tested with drystone-base 0.1.0" in notes
    held = index.files(first / index.INDEX)
    assert len(held) == 8
    assert {file.uploaded for file in held} == {"2030-01-01T00:00:00Z"}
    public = ROOT / wheels.DEVELOPMENT_KEY.with_suffix(".pub")
    assert [wheels.verify(file.path, public) for file in held] == [""] * 8
    held[0].path.write_bytes(b"another")
    assert wheels.verify(held[0].path, public)


def test_wheels_that_are_built_elsewhere_are_named(first: Path, release: Release) -> None:
    put(first, "packages/optimizer/changelog.d/quick.added.md", "It is quicker.\n")
    commit(first)
    tags = ("cp311-abi3-linux_aarch64", "cp311-abi3-linux_x86_64")
    before = index.files(first / index.INDEX)
    assert release("optimizer", "0.1.1", "--tags", *reversed(tags)) == 0
    record = records.latest(first, "optimizer")
    assert record is not None
    assert record.wheels == list(tags)
    assert "optimizer/v0.1.1" in git(first, "tag").split()
    assert index.files(first / index.INDEX) == before


def test_one_package_alone_enters_the_next_set(first: Path, release: Release) -> None:
    put(first, "packages/optimizer/changelog.d/quick.added.md", "It is quicker.\n")
    commit(first)
    assert release("optimizer", "0.1.1") == 0
    sets = load_toml(first / "ci/compat.toml")["sets"]
    assert [one["drystone"] for one in sets] == ["0.1.1", "0.1.0"]
    assert [one["packages"]["drystone-optimizer"] for one in sets] == ["0.1.1", "0.1.0"]
    assert packages(first)["metapackage"].version == "0.1.1"
    text = (first / "packages/optimizer/CHANGELOG.md").read_text("utf-8")
    assert "## 0.1.1 (2030-01-01)" in text
    assert "- It is quicker." in text
    assert not list((first / "packages/optimizer/changelog.d").glob("*.md"))
    assert git(first, "status", "--porcelain", "--untracked-files=no") == ""


def test_a_set_that_holds_a_package_back(first: Path, release: Release) -> None:
    put(first, "packages/optimizer/changelog.d/quick.added.md", "It is quicker.\n")
    put(first, "metapackage/changelog.d/set.changed.md", "A newer set.\n")
    commit(first)
    assert release("optimizer", "0.1.1") == 0
    assert release("metapackage", "0.2.0", "--hold", "drystone-optimizer==0.1.0") == 0
    sets = load_toml(first / "ci/compat.toml")["sets"]
    assert [one["drystone"] for one in sets] == ["0.2.1", "0.2.0", "0.1.0"]
    assert [one["packages"]["drystone-optimizer"] for one in sets] == ["0.1.1", "0.1.0", "0.1.0"]
    pins = git(first, "show", "metapackage/v0.2.0:metapackage/pyproject.toml")
    assert '"drystone-optimizer==0.1.0"' in pins
    assert packages(first)["metapackage"].version == "0.2.1"


def test_a_set_of_what_is_not_released_is_taken_back(
    first: Path, release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    put(first, "metapackage/changelog.d/set.changed.md", "A newer set.\n")
    commit(first)
    before = git(first, "rev-parse", "HEAD")
    assert release("metapackage", "0.2.0", "--hold", "drystone-optimizer==0.0.9") == 1
    assert "the set has drystone-optimizer 0.0.9, which is not released" in capsys.readouterr().err
    assert git(first, "rev-parse", "HEAD") == before
    assert git(first, "status", "--porcelain", "--untracked-files=no") == ""


def said(release: Release, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert release(*words, "--check") == 1
    return capsys.readouterr().err


def test_a_break_in_a_patch_is_refused(
    first: Path, release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    """S2, second failure: what is public stays, or the version says so."""
    change(first, f"{BASE}/__init__.py", "def f(a)", "def f(a, b)")
    put(first, "packages/base/changelog.d/f.changed.md", "f takes more.\n")
    commit(first)
    printed = said(release, capsys, "base", "0.1.1")
    assert "refused: base 0.1.1 would break users of 0.1.0: f(b): Parameter was added as" in printed
    assert "put it back, or make it a minor release" in printed
    assert release("base", "0.2.0", "--check") == 0


def test_a_removed_name_waits_for_dependents(
    first: Path, release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    """Majors are coordinated: whoever uses the name says first that it needs an older base."""
    change(first, f"{BASE}/__init__.py", '__all__ = ["f"]\n\ndef f(a)', "__all__ = []\n\ndef f(a)")
    put(first, f"{OPTIMIZER}/run.py", "")
    put(first, "packages/base/changelog.d/f.removed.md", "f is gone.\n")
    put(first, "packages/optimizer/changelog.d/f.changed.md", "It does without f.\n")
    commit(first)
    printed = said(release, capsys, "base", "0.2.0")
    assert printed == (
        "refused: drystone-optimizer 0.1.0 requires drystone-base>=0.1.0 and uses drystone_base:f, "
        "which 0.2.0 has not: release optimizer before it, without that or with "
        "drystone-base<0.2.0\n"
    )
    assert release("optimizer", "0.1.1") == 0
    assert release("base", "0.2.0") == 0


def test_a_name_that_is_not_released_is_refused_then_needs_its_bound(
    first: Path, release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    """S2, third failure: the minimum is computed from what releases had."""
    change(first, f"{BASE}/__init__.py", '["f"]', '["f", "g"]\n\ndef g(): ...\n')
    put(first, f"{OPTIMIZER}/run.py", "from drystone_base import f, g\n")
    put(first, "packages/base/changelog.d/g.added.md", "g.\n")
    put(first, "packages/optimizer/changelog.d/g.added.md", "It uses g.\n")
    commit(first)
    assert said(release, capsys, "optimizer", "0.1.1") == (
        "refused: optimizer uses drystone_base:g, which no release of base has: release base "
        "first, then write that version as the bound\n"
    )
    assert release("base", "0.1.1") == 0
    assert said(release, capsys, "optimizer", "0.1.1") == (
        "refused: optimizer requires drystone-base>=0.1.0 and uses drystone_base:g, which came "
        "with base 0.1.1: write drystone-base>=0.1.1\n"
    )
    change(first, "packages/optimizer/pyproject.toml", "base>=0.1.0", "base>=0.1.1")
    commit(first)
    assert release("optimizer", "0.1.1", "--check") == 0


def test_the_page_is_followed_whatever_waits_for_a_release(first: Path, release: Release) -> None:
    """The simulation takes all that the tree has as released: it is about the commands."""
    change(first, f"{BASE}/__init__.py", '["f"]', '["f", "g"]\n\ndef g(): ...\n')
    put(first, f"{OPTIMIZER}/run.py", "from drystone_base import f, g\n")
    put(first, "packages/optimizer/changelog.d/g.added.md", "It uses g.\n")
    commit(first)
    assert release("optimizer", "0.1.1", "--check") == 1
    last = page.pretend_releases(first)
    assert set(last.values()) == {"0.1.0"}
    commit(first)
    assert release("optimizer", "0.1.1", "--check") == 0


def test_the_host_is_built_for_the_newest_contract(
    first: Path, release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its build backend says which headers it needs, where they are not beside it."""
    backend = "packages/base/build-support/backend.py"
    put(first, backend, 'NEEDED = ["drystone-plugin-abi>=0.1.0"]\n')
    put(first, "packages/base/changelog.d/new.added.md", "It uses what the contract has now.\n")
    put(first, "plugin-abi/abi.lock", '{"abi_version": "1.1", "hash": "b"}')
    put(first, "plugin-abi/changelog.d/new.added.md", "More functions.\n")
    commit(first)
    assert release("plugin-abi", "0.1.1") == 0
    capsys.readouterr()
    assert said(release, capsys, "base", "0.1.1") == (
        "refused: base is built for ABI 1.1, which came with plugin-abi 0.1.1: write "
        "drystone-plugin-abi>=0.1.1 into build-support/backend.py\n"
    )
    change(first, backend, "0.1.0", "0.1.1")
    commit(first)
    assert release("base", "0.1.1", "--check") == 0


def test_manifests_have_the_version_that_is_released(first: Path, release: Release) -> None:
    manifest = "packages/base/native/libx.so.toml"
    put(first, manifest, 'name = "x"\nversion = "0.1.0"\n')
    put(first, "packages/base/changelog.d/x.added.md", "A plugin.\n")
    commit(first)
    assert release("base", "0.1.1") == 0
    assert load_toml(first / manifest)["version"] == "0.1.1"
    change(first, manifest, "0.1.1", "0.1.0")
    assert version_sync.find(first) == [
        "packages/base/native/libx.so.toml says 0.1.0, pyproject.toml says 0.1.1"
    ]


def test_a_contract_that_is_not_released_is_refused_then_needs_its_bound(
    first: Path, release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    put(first, "packages/base/CMakeLists.txt", "find_package(DrystonePluginABI 1.1 CONFIG)\n")
    table = '[build-system]\nrequires = ["drystone-plugin-abi>=0.1.0"]\n\n[project]'
    change(first, "packages/base/pyproject.toml", "[project]", table)
    put(first, "packages/base/changelog.d/new.added.md", "It uses what the contract has now.\n")
    commit(first)
    assert said(release, capsys, "base", "0.1.1") == (
        "refused: base is built for ABI 1.1, which no release of plugin-abi has: release "
        "plugin-abi first, then write that version into build-system.requires\n"
    )
    put(first, "plugin-abi/abi.lock", '{"abi_version": "1.1", "hash": "b"}')
    put(first, "plugin-abi/changelog.d/new.added.md", "More functions.\n")
    commit(first)
    assert release("plugin-abi", "0.1.1") == 0
    capsys.readouterr()
    assert said(release, capsys, "base", "0.1.1") == (
        "refused: base is built for ABI 1.1, which came with plugin-abi 0.1.1: write "
        "drystone-plugin-abi>=0.1.1 into build-system.requires\n"
    )
    change(
        first,
        "packages/base/pyproject.toml",
        's = ["drystone-plugin-abi>=0.1.0',
        's = ["drystone-plugin-abi>=0.1.1',
    )
    commit(first)
    assert release("base", "0.1.1", "--check") == 0


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("0.1", "'0.1' is no version: three numbers are needed"),
        ("0.1.0", "optimizer 0.1.0 is released: 0.1.0 is not later"),
        ("0.0.9", "optimizer 0.1.0 is released: 0.0.9 is not later"),
        ("0.1.1", "packages/optimizer/changelog.d has nothing that 0.1.1 would bring"),
    ],
)
def test_versions_and_changelogs_that_do_not_do(
    first: Path, release: Release, capsys: pytest.CaptureFixture[str], version: str, text: str
) -> None:
    assert text in said(release, capsys, "optimizer", version)


def test_further_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout = make_checkout(tmp_path)
    release = partial(order, checkout)
    printed = said(release, capsys, "optimizer", "0.1.0")
    assert "optimizer uses drystone_base:f, which no release of base has" in printed
    put(checkout, f"{OPTIMIZER}/run.py", "from drystone_base._inner import f\n")
    put(checkout, "packages/optimizer/changelog.d/x.added.md", "x\n")
    printed = said(release, capsys, "optimizer", "0.1.0")
    assert "the checkout has changes: commit or drop them" in printed
    assert "run.py:1: drystone_base._inner is private to base" in printed
    assert "CHANGELOG.md has 0.1.0 written by hand: merge x.added.md into it" in printed


def test_the_contract_changes_with_its_version_only(
    first: Path, release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    put(first, "plugin-abi/changelog.d/x.changed.md", "x\n")
    put(first, "plugin-abi/abi.lock", '{"abi_version": "1.0", "hash": "b"}')
    commit(first)
    text = "the contract differs from that of 0.1.0, and is ABI 1.0 still"
    assert text in said(release, capsys, "plugin-abi", "0.2.0")
    put(first, "plugin-abi/abi.lock", '{"abi_version": "2.0", "hash": "b"}')
    commit(first)
    text = "ABI 2.0 breaks plugins for 1.0: 0.1.1 is no step for that"
    assert text in said(release, capsys, "plugin-abi", "0.1.1")
    assert release("plugin-abi", "0.2.0", "--check") == 0


def test_a_name_counts_from_when_it_came_back() -> None:
    def record(version: str, *names: str) -> records.Record:
        held = {"b": list(names)}
        return records.Record("base", "b", version, "", [], "", "", modules=held)

    had = [record("0.9.0", "f"), record("0.10.0"), record("0.11.0", "f", "g")]
    assert records.introduced(had, "b:f") == "0.11.0"
    assert records.introduced(had[:1], "b:f") == "0.9.0"
    assert records.introduced(had, "b:h") is None
    assert records.introduced(had, "b") == "0.9.0"
    assert records.introduced(had, "c") is None


@pytest.mark.parametrize(
    ("before", "after", "may"),
    [
        ("0.1.0", "0.1.1", False),
        ("0.1.9", "0.2.0", True),
        ("1.2.0", "1.3.0", False),
        ("1.9.0", "2.0.0", True),
        ("0.9.0", "1.0.0", True),
    ],
)
def test_which_versions_may_break(before: str, after: str, may: bool) -> None:
    assert gates.may_break(before, after) is may


def test_a_set_respects_what_its_packages_require(first: Path) -> None:
    record = records.latest(first, "optimizer")
    assert record is not None
    records.write(
        first, record.__class__(**{**record.__dict__, "requires": ["drystone-base>=0.2"]})
    )
    assert versions.set_problems(first) == [
        (
            "drystone-optimizer 0.1.0 requires drystone-base>=0.2, the set has 0.1.0: hold "
            "drystone-optimizer or drystone-base at another version"
        )
    ]


def test_the_index_is_that_of_each_date(tmp_path: Path) -> None:
    for name in ("a_b-1.0.0.tar.gz", "a_b-1.1.0.tar.gz"):
        (tmp_path / name).write_bytes(name.encode())
    dates = {"a_b-1.0.0.tar.gz": "2030-01-01T00:00:00Z", "a_b-1.1.0.tar.gz": "2030-02-01T00:00:00Z"}
    (tmp_path / index.UPLOADS).write_text(json.dumps(dates))
    with index.serving(tmp_path) as address:
        now = json.load(urlopen(f"{address}/simple/a.b/"))
        assert now["versions"] == ["1.0.0", "1.1.0"]
        assert now["files"][0]["upload-time"] == "2030-01-01T00:00:00Z"
        assert urlopen(now["files"][1]["url"]).read() == b"a_b-1.1.0.tar.gz"
        then = json.load(urlopen(f"{address}/until/2030-01-15/simple/a-b/"))
        assert then["versions"] == ["1.0.0"]
        for unknown in ("/simple/c/", "/until/2029-01-01/simple/a-b/", "/files/../x", "/"):
            with pytest.raises(HTTPError, match="404"):
                urlopen(address + unknown)


def test_steps_know_their_tag() -> None:
    order = steps.Order(packages(ROOT)["base"], "1.2.3", "", Path())
    assert order.name == "base/v1.2.3"


CLASSES = {
    "dataclass": (
        "@dataclass(eq=False)\nclass C:\n    size: float = 0.0\n    names: list[str] = field()\n"
    ),
    "init": (
        "class C:\n    def __init__(self) -> None:\n        self.size: float = 0\n"
        "        if self.size:\n            self.names = []\n        self._own = 1\n"
    ),
}


@pytest.mark.parametrize(("before", "after"), [("dataclass", "init"), ("init", "dataclass")])
def test_attributes_are_public_wherever_they_are_set(
    tmp_path: Path, before: str, after: str
) -> None:
    found = {}
    for name, text in CLASSES.items():
        file = put(tmp_path, f"{name}/pkg/__init__.py", f'__all__ = ["C"]\n{text}')
        found[name] = symbols.stubs(file.parent)
    gone = [text for text in symbols.breaks(found[before], found[after]) if "attribute" in text]
    assert not gone
    fewer = {"C": found[before]["C"].replace("names", "_names")}
    assert any("C.names" in text for text in symbols.breaks(found[before], fewer))
    assert "_own" not in found["init"]["C"]


def test_base_is_built_as_python_alone_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[bool, str]] = []

    def run(command: list[str], *, env: dict[str, str], check: bool) -> None:
        assert check
        calls.append(("--wheel" in command, env.get("DRYSTONE_PURE", "")))

    monkeypatch.setattr(subprocess, "run", run)
    every = packages(ROOT)
    wheels.build(every["base"], tmp_path / "base")
    assert calls == [(False, ""), (True, "1")]
    calls.clear()
    wheels.build(every["optimizer"], tmp_path / "optimizer")
    assert calls == [(False, "")]


def test_extras_of_the_metapackage_are_releases() -> None:
    """What is released and optional has an extra, and that names a version that there is."""
    every = packages()
    extras = every["metapackage"].project["optional-dependencies"]
    released = {key: [one.version for one in records.read_all(ROOT, key)] for key in every}
    for key, package in every.items():
        if package.extra and released[key]:
            (pin,) = extras[package.extra]
            name, version = pin.split("==")
            assert name == package.distribution
            assert version in released[key]

"""``drystone plugins`` and what ``drystone doctor`` says of plugins."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result
from plugin_files import VARIANTS, Compile, rewritten

from drystone_base.cli import _plugins
from drystone_base.cli._app import app
from drystone_base.modules import wanted
from drystone_base.plugins import _discover, _manager, _places, isolation


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation of its own, in which nothing has been loaded yet, nor is of other tests."""
    for name in [n for n in os.environ if n.startswith("DRYSTONE_") and "HOST" not in n]:
        monkeypatch.delenv(name)
    for name in ("CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setattr(_manager, "manager", _manager.Manager())
    monkeypatch.setattr(isolation, "manager", _manager.manager)
    monkeypatch.setattr(_plugins, "in_python", list)
    site = tmp_path / "site-packages" / "drystone-plugins"
    site.mkdir(parents=True)
    found = SimpleNamespace(path=[str(site.parent)], modules=sys.modules)
    monkeypatch.setattr(_places, "sys", found)
    monkeypatch.setattr(_discover, "points", lambda _: [])
    monkeypatch.setattr(wanted, "installed", lambda: True)
    monkeypatch.setattr(wanted, "_is_there", None)  # what an earlier test found
    return site


def drystone(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(app, ["plugins", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def library(compile_library: Compile, tmp_path: Path) -> Path:
    file = compile_library(VARIANTS, flags=['-DOP="OnTheCommandLine"'])
    return rewritten(file, tmp_path / "libcobble.so", lambda _: None)


@pytest.mark.parametrize("name", sorted(app.commands["plugins"].commands))  # type: ignore[attr-defined]
def test_every_command_has_help_with_examples(name: str) -> None:
    text = drystone(name, "-h").output
    assert "Examples:" in text
    assert f"  drystone plugins {name}" in text or "DRYSTONE_PLUGIN_POLICY" in text
    assert "--json" in text


def test_list_of_nothing(folder: Path) -> None:
    text = drystone("list").output
    assert "no plugins are installed" in text
    assert str(folder) in text.replace("\n", "")


def test_list_report_and_explain(
    library: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.rename(folder / library.name)
    (folder / "libtext.so").write_text("hello", encoding="utf-8")
    (folder / "notes.txt").write_text("hello", encoding="utf-8")
    monkeypatch.setenv("DRYSTONE_PLUGIN_POLICY", "allow_unverified")
    text = drystone("list", code=6).output
    assert " 1 op " in text
    assert "plugin-not-a-library" in text
    assert "drystone plugins explain text" in text
    found = json.loads(drystone("list", "--json", code=6).output)
    assert [(p["name"], p["state"]) for p in found["plugins"]] == [
        ("cobble", "loaded"),
        ("text", "failed"),
    ]
    assert found["settings"]["policy"] == "allow_unverified"
    assert found["ignored"][0]["reason"] == "plugin-file-ignored"
    assert found["places"][0] == {"place": str(folder), "found": 2, "text": ""}
    text = drystone("report", code=6).output
    assert "ops: OnTheCommandLine" in text
    assert "note: it has no signature; loaded by policy allow_unverified" in text
    assert "notes.txt: its name does not end in .so" in text
    text = drystone("explain", "text", code=6).output
    assert "it is no ELF file: it begins with b'hell'" in text
    assert "needed: a shared object (.so)" in text
    assert "audit: failed" in text
    text = drystone("explain", "OnTheCommandLine").output
    assert "ops: OnTheCommandLine is provided by cobble" in text


def test_explain_of_an_op_lists_its_kernels() -> None:
    assert "kernel of drystone-base: device CPU, priority -1" in drystone("explain", "Relu").output
    found = json.loads(drystone("explain", "Relu", "--json").output)
    assert found["kernels"][0]["chosen"] is True


def test_explain_of_nothing() -> None:
    done = drystone("explain", "Relux", code=2)
    assert "nothing is called 'Relux' [unknown-plugin-name]" in done.stderr
    assert "did you mean Relu" in done.stderr


def test_check_prints_every_step(library: Path) -> None:
    """Row E12. S2-steps."""
    text = drystone("check", library, code=6).output
    assert "plugin-unsigned: it has no signature" in text
    text = drystone("check", library, "--policy", "allow_unverified").output
    assert all(step in text for step in ("manifest", "signature", "platform", "audit", "probe"))
    assert "every check passed" in text
    found = json.loads(drystone("check", library, "--json", code=6).output)
    assert found["error"]["code"] == "plugin-unsigned"
    assert found["error"]["path"] == str(library)


def test_check_of_a_file_that_is_not_there_says_so() -> None:
    text = drystone("check", "/nowhere/x.so", code=6).output
    assert "plugin x (/nowhere/x.so) cannot be read [plugin-unreadable]" in text
    assert "found: No such file or directory" in text
    assert "signature" not in text


def test_a_life_of_a_key(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = json.loads(drystone("keygen", "--name", "me", "--no-password", "--json").output)
    assert (tmp_path / "me.key").stat().st_mode & 0o777 == 0o600
    assert "path-taken" in drystone("keygen", "--name", "me", "--no-password", code=2).stderr
    signed = drystone("sign", library, "--key", "me.key", "--comment", "a wall")
    assert f"signed with key {made['key']}" in signed.output
    assert "plugin-untrusted-key" in drystone("verify", library, code=6).stderr
    assert "is good" in drystone("verify", library, "--public-key", "me.pub").output
    assert made["key"] in drystone("trust", "me.pub").output
    facts = json.loads(drystone("verify", library, "--json").output)
    assert facts["key"] == made["key"]
    assert facts["comment"].endswith("\ta wall")
    assert "every check passed" in drystone("check", library, "--policy", "strict").output
    assert "revoked" in drystone("trust", "--revoke", made["key"]).output
    assert "plugin-key-revoked" in drystone("verify", library, code=6).stderr
    assert "unknown-key" in drystone("trust", "--revoke", "12", code=2).stderr
    keys = json.loads(drystone("trust", "--json").output)["keys"]
    assert [(k["key"], k["revoked"]) for k in keys] == [(made["key"], True)]


def wheel_of(folder: Path, *members: str, library: Path) -> Path:
    """A wheel whose members are copies of a library, or a manifest, with a RECORD."""
    file = folder / "acme-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as made:
        for name in members:
            data = b'name = "acme"\n' if name.endswith(".toml") else library.read_bytes()
            made.writestr(name, data)
        rows = "".join(f"{name},sha256=x,1\n" for name in members)
        made.writestr("acme-1.0.dist-info/RECORD", rows + "acme-1.0.dist-info/RECORD,,\n")
    return file


def test_a_wheel_is_signed_as_a_whole(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drystone("keygen", "--name", "me", "--no-password")
    drystone("trust", "me.pub")
    place = "drystone-plugins/libacme.so"
    names = (place, place + ".toml", "acme-1.0.data/platlib/drystone-plugins/libx.so.2")
    wheel = wheel_of(tmp_path, *names, "acme.libs/libwall.so", library=library)
    for _ in range(2):  # a second time replaces the signatures
        facts = json.loads(drystone("sign", wheel, "--key", "me.key", "--json").output)
        assert facts["libraries"] == [place, names[2]]
    assert [path.name for path in tmp_path.glob(".*")] == []
    with zipfile.ZipFile(wheel) as signed:
        listed = [row.split(",") for row in signed.read(signed.namelist()[-1]).decode().split()]
        assert sorted(row[0] for row in listed) == sorted(signed.namelist())
        for name, digest, size in listed:
            if name.endswith(".minisig"):
                data = signed.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
                assert (digest, size) == (f"sha256={found.rstrip('=')}", str(len(data)))
        signed.extractall(tmp_path / "site")
    assert "is good" in drystone("verify", tmp_path / "site" / place).output
    manifest = tmp_path / "site" / f"{place}.toml"
    manifest.write_text('name = "other"\n', encoding="utf-8")
    assert "manifest" in drystone("verify", tmp_path / "site" / place, code=6).stderr


def test_what_is_no_wheel_of_plugins_is_not_signed(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drystone("keygen", "--name", "me", "--no-password")
    empty = wheel_of(tmp_path, "acme/libx.so", library=library)
    before = empty.read_bytes()
    text = drystone("sign", empty, "--key", "me.key", code=6).stderr
    assert "holds no plugin [plugin-not-found]" in text
    assert "the wheel has acme, acme-1.0.dist-info" in text
    assert empty.read_bytes() == before
    (tmp_path / "text.whl").write_text("stone", encoding="utf-8")
    assert "text.whl is no wheel" in drystone("sign", "text.whl", "--key", "me.key", code=2).stderr


def test_passwords_dates_and_bad_files(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drystone("keygen", "--name", "k", "--password", "secret", "--expires", "2999-01-01")
    assert "expires:2999-01-01" in (tmp_path / "k.pub").read_text(encoding="utf-8")
    sign = ("sign", library, "--key", "k.key")
    assert "the password is wrong" in drystone(*sign, "--password", "x", code=2).stderr
    asked = CliRunner().invoke(app, ["plugins", *map(str, sign)], input="secret\n")
    assert (asked.exit_code, "Password: " in asked.output) == (0, True)
    assert "signed with key" in asked.output
    past = drystone(*sign, "--password", "secret", "--expires", "2001-01-01", code=2)
    assert "'2001-01-01' is no date to come" in past.stderr
    drystone(*sign, "--password", "secret", "--legacy", "--expires", "2998-01-01")
    drystone("trust", "k.pub")
    assert "expires:2998-01-01" in drystone("verify", library).output
    library.write_bytes(library.read_bytes() + b"!")
    done = drystone("verify", library, "--public-key", "k.pub", code=6)
    assert "the file is not the one that was signed" in done.stderr
    assert "bad-key-file" in drystone("trust", library, code=2).stderr


def unattended(*arguments: object) -> str:
    """What a command without a terminal says: at the end of input click 8.2.0's runner asks on."""
    words = [sys.executable, "-m", "drystone_base", "plugins", *map(str, arguments)]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        start_new_session=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    return done.stderr


def test_a_password_without_a_terminal(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job has nobody who types it: the error says how else it is given, and that works."""
    monkeypatch.chdir(tmp_path)
    make, sign = ("keygen", "--name", "k"), ("sign", library, "--key", "k.key")
    told = unattended(*make)
    assert "the password of k.key is not known [password-not-given]" in told
    assert "--password-file FILE (- is standard input), or --no-password" in told
    (tmp_path / "word").write_text("secret\n", encoding="utf-8")
    drystone(*make, "--password-file", "word")
    told = unattended(*sign)
    assert "standard input ended; there is no terminal to ask at" in told
    assert "--no-password" not in told
    piped = CliRunner().invoke(
        app, ["plugins", *map(str, sign), "--password-file", "-"], input="secret\n"
    )
    assert piped.exit_code == 0, piped.output
    (tmp_path / "word").write_text("", encoding="utf-8")
    told = drystone(*sign, "--password-file", "word", code=2).stderr
    assert "word begins with an empty line" in told


def test_signing_needs_pynacl(
    library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "nacl", None)
    monkeypatch.chdir(tmp_path)
    done = drystone("keygen", "--no-password", code=6)
    assert "pip install pynacl" in done.stderr


def test_a_warning_is_a_message_without_the_line_it_comes_from() -> None:
    code = (
        "import warnings; from drystone_base.cli._app import app\n"
        "@app.command()\n"
        "def lean(): warnings.warn('the wall leans')\n"
        "app(['lean'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == "warning: the wall leans\n"


def test_doctor_speaks_of_plugins(folder: Path) -> None:
    (folder / "libtext.so").write_text("hello", encoding="utf-8")
    done = CliRunner().invoke(app, ["doctor", "--json"], catch_exceptions=False)
    report = json.loads(done.output)
    assert report["plugins"]["policy"] == "default"
    assert report["plugins"]["host_library"]
    assert report["plugins"]["plugins"] == [
        {"name": "text", "state": "failed", "isolated": False, "reason": "plugin-unsigned"}
    ]
    text = CliRunner().invoke(app, ["doctor"], catch_exceptions=False).output
    assert "text: failed (plugin-unsigned)" in text

"""Every library: what is in its bytes, that it loads, and that loading it is clean."""

from __future__ import annotations

import ctypes
import os

from drystone_abi import ABI_VERSION
from drystone_abi.platform_strings import parse_records, read_platform_strings
from drystone_base.core.errors import DrystoneError
from drystone_base.modules import entry_symbols
from drystone_base.plugins import load_library
from drystone_base.plugins.audit import read
from drystone_conformance.plugin import needs
from drystone_conformance.subject import Subject


@needs("library.platform-strings")
def test_platform_strings_say_what_it_was_built_for(subject: Subject) -> None:
    """The first record is the format's version; the ABI version is among the others."""
    records = read_platform_strings(subject.path)
    assert records, "no platform strings: put TF_PLATFORM_STRINGS() into one source file"
    assert records[0] == "TF_PLAT_STR_VERSION=1.0"
    built_for = parse_records(records).get("DRYSTONE_ABI_VERSION")
    if built_for is not None:  # a library made with TensorFlow's headers does not say
        assert built_for.split(".")[0] == str(ABI_VERSION).split(".")[0]


@needs("library.only-entry-symbols")
def test_only_entry_symbols_are_exported(subject: Subject) -> None:
    """Anything more may collide with another plugin: use hidden visibility or a version script."""
    extra = sorted(set(read(subject.path).exports) - set(entry_symbols()))
    assert not extra, f"{len(extra)} more: {', '.join(extra[:10])}"


@needs("library.c-only")
def test_no_symbol_of_the_host_in_cpp_is_needed(subject: Subject) -> None:
    """C++ names differ between compilers; the host has none."""
    facts = read(subject.path)
    mangled = [name for name in facts.unresolved if name.startswith("_Z")]
    assert not mangled, f"needs {', '.join(mangled[:10])}"


def test_every_symbol_it_needs_is_there(subject: Subject) -> None:
    assert not list(read(subject.path).unresolved)


def test_it_loads(subject: Subject) -> None:
    """Loading raises what the user would see."""
    plugin = subject.plugin
    assert plugin.state == "loaded"
    assert any(plugin.registered.values()), "it loads but registers nothing"


def test_no_registration_failed(subject: Subject) -> None:
    assert subject.plugin.library is not None
    assert subject.plugin.library.describe()["errors"] == []


def test_loading_it_again_changes_nothing(subject: Subject) -> None:
    before = subject.plugin.registered
    again = load_library(subject.path, policy="allow_unverified")
    assert again.registered == before
    assert again.library is not None
    assert subject.plugin.library is not None
    assert again.library.handle == subject.plugin.library.handle


def test_a_link_to_it_is_the_same_library(subject: Subject, tmp_path: object) -> None:
    link = os.path.join(str(tmp_path), f"link-to-{subject.path.name}")
    os.symlink(os.path.abspath(subject.path), link)
    again = load_library(link, policy="allow_unverified")
    assert again.library is not None
    assert subject.plugin.library is not None
    assert again.library.handle == subject.plugin.library.handle


def test_it_keeps_its_symbols_to_itself(subject: Subject) -> None:
    """A library opened by the host adds nothing to the process's global names."""
    assert subject.plugin.state == "loaded"
    everyone = ctypes.CDLL(None)
    entries = [name for name in entry_symbols() if hasattr(everyone, name)]
    assert not entries, f"visible to everybody: {entries}"


def test_an_error_names_the_file(subject: Subject) -> None:
    """When it does not load, the text says which file."""
    if isinstance(subject.outcome, DrystoneError):
        assert str(subject.path) in str(subject.outcome)

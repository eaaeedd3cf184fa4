"""The lock of the plugin ABI: planted changes of the headers are found and judged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.checks import abi_lock as check
from ci.scripts import abi_freeze, abi_lock, abi_model, platform_tables
from ci.scripts.project import ROOT
from ci.tests.conftest import put

pytestmark = [
    pytest.mark.skipif(abi_model.compiler() is None, reason="no GCC to ask for layouts"),
    pytest.mark.cases_in_gate(3),
]

HEADERS = "plugin-abi/include/drystone"


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout whose ABI 1.0 is locked and released."""
    root = tmp_path_factory.mktemp("released")
    ours = ("include", "CHANGELOG.md", "VERSION", "src/drystone_abi/headers.py")
    for name in (*(Path("plugin-abi", part) for part in ours), platform_tables.FILE):
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    _call_it(root, "1.0")
    assert abi_lock.update(root) == []
    abi_freeze.freeze(root)
    return root


def _call_it(root: Path, version: str) -> None:
    """Give today's headers the number that the tests count from."""
    today = (root / "plugin-abi/VERSION").read_text().strip()
    put(root, "plugin-abi/VERSION", f"{version}\n")
    python = root / "plugin-abi/src/drystone_abi/headers.py"
    python.write_text(python.read_text().replace(f'"{today}"', f'"{version}"'))
    for part, old, new in zip(
        ("MAJOR", "MINOR"), today.split("."), version.split("."), strict=True
    ):
        edit(root, "version.h", f"VERSION_{part} {old}\n", f"VERSION_{part} {new}\n")


@pytest.fixture
def abi(tmp_path: Path, released: Path) -> Path:
    """A copy of it to change."""
    return Path(shutil.copytree(released, tmp_path / "root"))


def edit(root: Path, header: str, before: str, after: str) -> None:
    path = root / HEADERS / header
    text = path.read_text()
    assert text.count(before) == 1, f"{before!r} occurs {text.count(before)} times in {header}"
    path.write_text(text.replace(before, after))


def bump(root: Path, version: str) -> None:
    major, minor = version.split(".")
    edit(root, "version.h", "_MAJOR 1\n", f"_MAJOR {major}\n")
    edit(root, "version.h", "_MINOR 0\n", f"_MINOR {minor}\n")
    put(root, "plugin-abi/VERSION", f"{version}\n")


def test_untouched_headers_agree(abi: Path) -> None:
    assert abi_lock.check(abi) == []
    assert check.find(abi) == []


def test_tables_of_another_state_are_found(abi: Path) -> None:
    file = abi / platform_tables.FILE
    file.write_text(file.read_text().replace("k", "K", 1))
    assert check.find(abi) == [
        f"{platform_tables.FILE} differs from the tables: run python -m ci.scripts.platform_tables"
    ]


def test_comments_and_names_of_parameters_are_free(abi: Path) -> None:
    edit(abi, "status.h", "TF_NewStatus(void);", "TF_NewStatus(void); /* a remark */")
    edit(abi, "buffer.h", "TF_DeleteBuffer(TF_Buffer* buffer);", "TF_DeleteBuffer(TF_Buffer* b);")
    edit(
        abi,
        "device.h",
        "SP_DeviceMemoryBase* memory);\n  void*",
        "SP_DeviceMemoryBase* m);\n  void*",
    )
    assert abi_lock.check(abi) == []


MEMBER = "  void (*extra)(const SP_Device* device);\n"
LAST = "SE_StatusCallbackFn callback_fn, void* callback_arg);\n} SP_StreamExecutor;"
BREAKING = {
    "inserted": (
        "device.h",
        "  void (*memset32)(",
        MEMBER + "  void (*memset32)(",
        "SP_StreamExecutor.extra is new: inserted",
    ),
    "removed": (
        "device.h",
        "  const char* device_vendor; /* likewise */\n",
        "",
        "SP_Device.device_vendor is gone",
    ),
    "retyped": (
        "device.h",
        "  uint64_t payload; /*",
        "  int64_t payload; /*",
        "SP_DeviceMemoryBase.payload was uint64_t at 32, is int64_t at 32",
    ),
    "argument": (
        "device.h",
        "void* (*host_memory_allocate)(const SP_Device* device, uint64_t size);",
        "void* (*host_memory_allocate)(const SP_Device* device, uint32_t size);",
        "SP_StreamExecutor.host_memory_allocate was void *(*) (const SP_Device *, uint64_t) at 32",
    ),
    "swapped": (
        "device.h",
        "  SE_EVENT_ERROR = 1,    /*",
        "  SE_EVENT_ERROR = 7,    /*",
        "constant of SE_EventStatus SE_EVENT_ERROR was 1, is 7",
    ),
    "function": (
        "buffer.h",
        "TF_DeleteBuffer(TF_Buffer* buffer);",
        "TF_DeleteBuffer(TF_Buffer* buffer, int how);",
        "function TF_DeleteBuffer was void TF_DeleteBuffer (TF_Buffer *), is",
    ),
    "callback": (
        "status.h",
        "typedef void (*TF_PayloadVisitor)(const char* key, const char* value, void* capture);",
        "typedef void (*TF_PayloadVisitor)(const char* key, const char* value);",
        "typedef TF_PayloadVisitor was void (*) (const char *, const char *, void *)",
    ),
    "number": ("device.h", "#define SE_MAJOR 0", "#define SE_MAJOR 1", "constant SE_MAJOR was 0"),
    "no size": (
        "buffer.h",
        "  void (*data_deallocator)(void* data, size_t length);\n",
        "  void (*data_deallocator)(void* data, size_t length);\n  int more;\n",
        "TF_Buffer.more is new: inserted, or the struct states no size",
    ),
}


@pytest.mark.parametrize("name", BREAKING)
def test_breaking_changes_need_a_major_version(name: str, abi: Path) -> None:
    header, before, after, text = BREAKING[name]
    edit(abi, header, before, after)
    problems = abi_lock.check(abi)
    assert any(item.startswith(f"breaks: {text}") for item in problems), problems
    assert problems[-1].startswith("needs a new MAJOR: 1.0 must become 2.0")
    assert abi_lock.update(abi)[-1].startswith("needs a new MAJOR")
    bump(abi, "1.1")
    assert abi_lock.check(abi)[-1].startswith("needs a new MAJOR"), "a minor one is not enough"


def test_major_version_allows_a_break(abi: Path) -> None:
    header, before, after, _ = BREAKING["removed"]
    edit(abi, header, before, after)
    bump(abi, "2.0")
    assert abi_lock.check(abi)[-1].endswith(
        "out of date: run python -m ci.scripts.abi_lock --update"
    )
    assert abi_lock.update(abi) == []
    assert abi_lock.check(abi) == []


APPENDED = {
    "member": ("device.h", LAST, LAST.replace("\n}", f"\n{MEMBER}}}"), "SP_StreamExecutor.extra"),
    "function": (
        "status.h",
        "TF_NewStatus(void);",
        "TF_NewStatus(void);\nTF_CAPI_EXPORT extern int TF_More(void);",
        "function TF_More is new",
    ),
    "constant": (
        "device.h",
        "  SE_EVENT_UNKNOWN = 0,  /*",
        "  SE_EVENT_LOST = 4,\n  SE_EVENT_UNKNOWN = 0,  /*",
        "constant of SE_EventStatus SE_EVENT_LOST is new",
    ),
}


@pytest.mark.parametrize("name", APPENDED)
def test_appending_needs_a_minor_version(name: str, abi: Path) -> None:
    header, before, after, text = APPENDED[name]
    edit(abi, header, before, after)
    if name == "member":
        edit(
            abi,
            header,
            "TF_OFFSET_OF_END(SP_StreamExecutor, host_callback)",
            "TF_OFFSET_OF_END(SP_StreamExecutor, extra)",
        )
    problems = abi_lock.check(abi)
    assert problems[0].startswith(f"adds: {text}"), problems
    assert problems[-1].startswith("needs a new MINOR: 1.0 must become 1.1")
    assert abi_lock.update(abi)[-1].startswith("needs a new MINOR")
    bump(abi, "1.1")
    assert abi_lock.update(abi) == []
    assert abi_lock.check(abi) == []


def test_a_version_that_is_not_released_changes_freely(abi: Path) -> None:
    shutil.rmtree(abi / "plugin-abi" / "frozen")
    header, before, after, _ = BREAKING["removed"]
    edit(abi, header, before, after)
    assert abi_lock.check(abi)[-1].endswith(
        "is out of date: run python -m ci.scripts.abi_lock --update"
    )
    assert abi_lock.update(abi) == []


def test_versions_that_disagree_are_found(abi: Path) -> None:
    put(abi, "plugin-abi/VERSION", "1.7\n")
    problems = check.find(abi)
    assert "drystone/version.h says 1.0, VERSION says 1.7" in problems
    assert "drystone_abi.ABI_VERSION is not VERSION's 1.7" in problems
    assert "plugin-abi/CHANGELOG.md has no section '## ABI 1.7'" in problems


def test_generated_headers_are_compared_with_their_lists(abi: Path) -> None:
    edit(abi, "platform_macros_power.h", "#ifdef __VSX__", "#ifdef __VSX2__")
    assert any("platform_macros_power.h differs from the lists" in item for item in check.find(abi))


def test_frozen_headers_do_not_change(abi: Path) -> None:
    frozen = abi / "plugin-abi" / "frozen" / "v1_0"
    assert (frozen / "drystone" / "status.h").is_file()
    (frozen / "drystone" / "status.h").write_text("/* gone */")
    (frozen / "drystone" / "new.h").touch()
    (frozen / "tsl" / "platform" / "platform.h").unlink()
    assert [item.split(":")[0] for item in abi_freeze.changed(abi)] == [
        "plugin-abi/frozen/v1_0/drystone/new.h",
        "plugin-abi/frozen/v1_0/drystone/status.h",
        "plugin-abi/frozen/v1_0/tsl/platform/platform.h",
    ]
    with pytest.raises(FileExistsError, match="a released version does not change"):
        abi_freeze.freeze(abi)


def test_lock_that_is_missing_is_found(abi: Path) -> None:
    (abi / "plugin-abi" / "abi.lock").unlink()
    assert abi_lock.check(abi) == [
        "plugin-abi/abi.lock is missing: run python -m ci.scripts.abi_lock --update"
    ]

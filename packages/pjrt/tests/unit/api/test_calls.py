"""The calling convention, on a plugin that checks it; and every way to break it."""

from __future__ import annotations

import gc
import re
from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import PluginError
from drystone_pjrt.api.client import Client
from drystone_pjrt.api.structs import ARGS, FUNCTIONS, HEADER
from drystone_pjrt.api.table import MINOR, Table

OPTIONAL = {"PJRT_Executable_Serialize", "PJRT_Executable_DeserializeAndLoad"}
ALL = [(FUNCTIONS.index(name), name) for name in ARGS]
OF_ERRORS = {"PJRT_Error_Destroy", "PJRT_Error_Message", "PJRT_Error_GetCode"}
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def copied(client: Client) -> np.ndarray[Any, Any]:
    """What a program gives for ``X``, which is ``X``."""
    program = client.compile(b"1")
    argument, result = client.array(X), np.empty_like(X)
    try:
        program.run([argument], [result])
    finally:
        argument.close()
    return result


def test_a_program_is_compiled_run_written_and_read(fake: Any) -> None:
    client = Client(fake.table())
    assert (client.platform, client.version, client.keeps) == ("fake", "7", True)
    np.testing.assert_array_equal(copied(client), X)
    again = client.load(client.compile(b"2").save())
    assert again.outputs == 2
    y = np.array([True, False])
    arguments, results = [client.array(X), client.array(y)], [np.empty_like(X), np.empty_like(y)]
    again.run(arguments, results)
    np.testing.assert_array_equal(results[0], X)
    np.testing.assert_array_equal(results[1], y)
    for argument in arguments:
        argument.close()
    del again


def test_arrays_that_are_no_plain_memory_are_copied_first(fake: Any) -> None:
    client = Client(fake.table())
    program, argument = client.compile(b"1"), client.array(X.T)
    result = np.empty((3, 2), np.float32)
    program.run([argument], [result])
    argument.close()
    np.testing.assert_array_equal(result, X.T)


@pytest.mark.parametrize("size", range(0, HEADER + 8 * len(FUNCTIONS), 8))
def test_a_table_that_ends_before_a_needed_function_is_refused(fake: Any, size: int) -> None:
    fake.set("size", size)
    with pytest.raises(PluginError) as caught:
        fake.table()
    assert caught.value.code == "pjrt-plugin-unusable"
    first = next(n for k, n in ALL if HEADER + 8 * (k + 1) > size and n not in OPTIONAL)
    assert (first if size >= HEADER else f"a table of {size} bytes") in caught.value.found


@pytest.mark.parametrize(("place", "name"), [one for one in ALL if one[1] not in OPTIONAL])
def test_a_needed_function_that_is_absent_is_refused_by_name(
    fake: Any, place: int, name: str
) -> None:
    fake.set("absent", place)
    with pytest.raises(PluginError, match=re.escape(f"no {name}")):
        fake.table()


@pytest.mark.parametrize("name", sorted(OPTIONAL))
def test_without_a_function_for_files_programs_are_not_kept(fake: Any, name: str) -> None:
    fake.set("absent", FUNCTIONS.index(name))
    client = Client(fake.table())
    assert not client.keeps
    with pytest.raises(PluginError, match=f"no {name}") as caught:
        client.load(client.compile(b"1").save())
    assert caught.value.code == "pjrt-plugin-unusable"
    del caught
    gc.collect()


@pytest.mark.parametrize(("major", "minor"), [(1, 90), (0, MINOR - 1), (0, 0), (-1, 90)])
def test_another_version_is_refused_with_both(fake: Any, major: int, minor: int) -> None:
    fake.set(*("major", major) if major else ("minor", minor))
    with pytest.raises(PluginError) as caught:
        fake.table()
    assert caught.value.found == f"version {major}.{minor}"
    assert caught.value.needed == f"version 0.{MINOR} or a later one of 0"
    assert f"install a {'older' if major > 0 else 'newer'} release" in caught.value.remedy


def test_no_table_at_all() -> None:
    with pytest.raises(PluginError, match="NULL"):
        Table(None, "none", "none.so")


@pytest.mark.parametrize(("place", "name"), [one for one in ALL if one[1] not in OF_ERRORS])
def test_an_error_of_any_call_is_told_and_nothing_is_lost(fake: Any, place: int, name: str) -> None:
    table = fake.table()
    destroys = name.endswith("Destroy")
    fake.set("failing", place)

    def use() -> None:
        table.call("PJRT_Plugin_Initialize")
        client = Client(table)
        client.load(client.compile(b"1").save())
        copied(client)
        gc.collect()

    if name == "PJRT_LoadedExecutable_Destroy":  # it is called where nobody can be told
        use()
    else:
        with pytest.raises(PluginError, match=f"{name} of PJRT plugin 'fake' failed") as caught:
            use()
        assert (caught.value.code, caught.value.status) == (
            "pjrt-call-failed", "RESOURCE_EXHAUSTED",
        )  # fmt: skip
        assert caught.value.found == "it is told to fail"
        del caught
    gc.collect()
    if destroys:
        fake.library.fake_forget()


def test_an_error_that_has_no_text(fake: Any) -> None:
    table = fake.table()
    fake.set("mute", FUNCTIONS.index("PJRT_Client_Create"))
    with pytest.raises(PluginError, match="it does not say why"):
        Client(table)
    fake.library.fake_forget()  # the error of asking for a text is the plugin's own


@pytest.mark.parametrize("name", ["PJRT_Client_Create", "PJRT_Client_Compile"])
def test_nothing_made_without_an_error(fake: Any, name: str) -> None:
    table = fake.table()
    fake.set("empty", FUNCTIONS.index(name))
    with pytest.raises(PluginError, match=f"{name} gives what it made"):
        Client(table).compile(b"1")


def test_a_client_without_a_device(fake: Any) -> None:
    table = fake.table()
    fake.set("devices", 0)
    with pytest.raises(PluginError, match="has no device"):
        Client(table)


def test_a_client_is_not_used_after_a_fork(fake: Any) -> None:
    client = Client(fake.table())
    program, argument = client.compile(b"1"), client.array(X)
    here, client.process = client.process, client.process + 1
    with pytest.raises(PluginError, match="cannot be used after a fork"):
        program.run([argument], [np.empty_like(X)])
    client.process = here
    argument.close()


@pytest.mark.parametrize("other", [np.empty((2, 4), np.float32), np.empty((2, 3), np.int32)])
def test_outputs_of_another_shape_or_type_are_not_copied(fake: Any, other: Any) -> None:
    client = Client(fake.table())
    program, argument = client.compile(b"1"), client.array(X)
    with pytest.raises(PluginError, match=r"float32\[2, 3\]") as caught:
        program.run([argument], [other])
    assert caught.value.needed == f"{other.dtype.name}{list(other.shape)}"
    argument.close()
    del program, caught
    gc.collect()

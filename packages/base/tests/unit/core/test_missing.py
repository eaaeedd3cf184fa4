"""What is not installed is named with the command that installs it, from every door."""

from __future__ import annotations

import pickle
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import drystone_base as ds
from drystone_base.cli._app import app
from drystone_base.cli._health import examine
from drystone_base.core import missing as packages
from drystone_base.core.dtypes import FLOAT32
from drystone_base.executor import numpy_kernels

LACKS = "drystone-cpu is not installed"


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if only drystone-base was installed, on a machine that there are kernels for."""
    gone = {"drystone_cpu", *packages.COMMANDS.values()}
    monkeypatch.setattr(packages, "find_spec", lambda m: None if m in gone else find_spec(m))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("drystone_base.modules.commands", dict)
    monkeypatch.setattr(numpy_kernels, "_told", set())


def product(folder: Path) -> Path:
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2, 2)})
    graph.add("MatMul", "y", [x, x], attrs={"T": FLOAT32})
    file = folder / "m.pb"
    ds.write_graph(graph, file)
    return file


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize(("name", "module"), packages.COMMANDS.items())
def test_a_command_of_a_package_that_is_not_there(name: str, module: str) -> None:
    package = module.replace("_", "-")
    done = CliRunner().invoke(app, [name, "m.pb"])
    assert done.exit_code == 2
    assert done.stderr == (
        f"error: drystone {name} cannot be used [package-missing]\n"
        "  check: the package that it needs must be installed\n"
        f"  found: no module {module}\n"
        f"  needed: {package}\n"
        f"  remedy: pip install {package}\n"
    )


@pytest.mark.usefixtures("without")
def test_another_command_is_a_matter_of_usage() -> None:
    assert "No such command 'frobnicate'" in CliRunner().invoke(app, ["frobnicate"]).stderr


def test_the_error_is_of_both_kinds_and_can_be_sent() -> None:
    made = packages.missing("a.b", "google.protobuf")
    assert made.name == "google.protobuf"
    error = pickle.loads(pickle.dumps(made))
    assert isinstance(error, ImportError)
    assert isinstance(error, ds.BadRequest)
    assert error.needed == "protobuf"


@pytest.mark.usefixtures("without")
def test_one_warning_at_the_first_product(tmp_path: Path) -> None:
    graph = ds.read_graph(product(tmp_path))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            ds.Session(graph).run("y:0", {"x:0": np.eye(2, dtype=np.float32)})
    told = [str(one.message) for one in caught if "drystone-cpu" in str(one.message)]
    (text,) = told
    assert text == (
        "NumPy computes MatMul here, which takes many times as long as native kernels do; "
        "they come with drystone-cpu: pip install drystone-cpu"
    )


@pytest.mark.usefixtures("without")
def test_no_warning_where_no_kernel_would_help(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numpy_kernels.tell_of_heavy(["Add", "Relu"])
        monkeypatch.setattr("platform.machine", lambda: "riscv64")
        numpy_kernels.tell_of_heavy(["MatMul"])


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize("command", ["bench --repeat 1", "explain"])
def test_commands_about_speed_say_it(command: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [*command.split(), str(product(tmp_path))])
    assert done.exit_code == 0, done.output
    wanted = "native kernels come with drystone-cpu, which is not installed"
    assert f"{wanted}: pip install drystone-cpu" in done.output


@pytest.mark.usefixtures("without")
def test_doctor_says_it() -> None:
    assert examine()["ops"]["to_install"] == "drystone-cpu"
    done = CliRunner().invoke(app, ["doctor"])
    assert f"{LACKS}: NumPy computes everything" in " ".join(done.output.split())


def test_doctor_compares_pins_of_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of extras and of other machines' packages count where they are installed."""
    from drystone_base.cli import _health

    pins = [
        "drystone-base==9.9",
        "drystone-cpu==0.1.0; sys_platform == 'linux'",
        'drystone-fs-s3==0.1.0; extra == "s3"',
        'drystone-base[images]==1.0; extra == "images"',
    ]
    held: dict[str, Any] = {"drystone": "9.9", "drystone-base": "9.9", "drystone-fs-s3": "0.2.0"}
    monkeypatch.setattr("importlib.metadata.requires", lambda _: pins)
    monkeypatch.setattr(_health, "_version", lambda name: held.get(name, "not installed"))
    found = _health._check_set()
    assert not found["ok"]
    assert found["found"] == (
        "drystone-fs-s3 0.2.0, tested with 0.1.0; drystone-base 9.9, tested with 1.0"
    )

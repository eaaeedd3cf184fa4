"""The wheels, installed into an empty environment, are complete and agree with one another."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

from ci.scripts.project import packages
from integration_tests.support import InstalledEnv

TOP = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "public_names.json"


def test_installed_from_wheels_only(installed_env: InstalledEnv) -> None:
    places = installed_env.evaluate(
        "import json, drystone, drystone_abi, drystone_base\n"
        "print(json.dumps([m.__file__ for m in (drystone, drystone_abi, drystone_base)]))"
    )
    assert all(Path(place).is_relative_to(installed_env.root) for place in places), places


def test_public_names_are_the_recorded_ones(installed_env: InstalledEnv) -> None:
    """A name that appears or goes is a change of the public API: edit public_names.json with it."""
    names = installed_env.evaluate(
        "import json, drystone; print(json.dumps(sorted(drystone.__all__)))"
    )
    assert names == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_every_public_name_resolves(installed_env: InstalledEnv) -> None:
    broken = installed_env.evaluate(
        "import json, drystone as ds, drystone_base as base\n"
        "further = {n: getattr(ds, n) for n in ('config', 'io', 'ops', 'optimizer', 'subgraph')}\n"
        "print(json.dumps([n for n in ds.__all__"
        " if n[0] != '_' and getattr(ds, n) is not (further.get(n) or getattr(base, n, None))]))"
    )
    assert broken == []


def test_unknown_name_is_an_attribute_error(installed_env: InstalledEnv) -> None:
    done = installed_env.run(
        installed_env.python, "-I", "-c", "import drystone; drystone.nothing", ok=False
    )
    assert "module 'drystone' has no attribute 'nothing'" in done.stderr


def test_import_is_lazy(installed_env: InstalledEnv) -> None:
    """Importing drystone alone brings in neither NumPy nor protobuf."""
    loaded = installed_env.evaluate(
        "import json, sys, drystone\n"
        "print(json.dumps([n for n in ('numpy', 'google.protobuf') if n in sys.modules]))"
    )
    assert loaded == []


def test_versions_and_requirements_hold(installed_env: InstalledEnv) -> None:
    """Every requirement of every installed distribution is met by what is installed."""
    missing = installed_env.evaluate(CHECK_REQUIREMENTS)
    assert missing == []


def test_pins_are_exact_and_met(env_with_cpu: InstalledEnv) -> None:
    """Extras are pinned, too: they are installed here as well, but for what is built apart."""
    apart = [package.distribution for package in packages().values() if package.apart]
    pins = env_with_cpu.evaluate(
        "import json, re\nfrom importlib.metadata import requires, version\n"
        "pins = [text.partition(';')[0].strip() for text in requires('drystone')]\n"
        "print(json.dumps([[pin, version(re.match('[a-z0-9-]+', pin)[0])]"
        f" for pin in pins if pin.partition('==')[0] not in {apart!r}]))"
    )
    assert "drystone-cpu" in [pin.partition("==")[0] for pin, _ in pins]
    assert [pin for pin, _ in pins] == [f"{pin.partition('==')[0]}=={v}" for pin, v in pins]


@pytest.mark.parametrize("package", ["drystone", "drystone_abi", "drystone_base"])
def test_typed_and_licensed(installed_env: InstalledEnv, package: str) -> None:
    held = installed_env.evaluate(
        "import json\nfrom importlib import resources\nfrom importlib.metadata import files\n"
        f"typed = resources.files({package!r}).joinpath('py.typed').is_file()\n"
        f"name = {package!r}.replace('_abi', '_plugin_abi')\n"
        "print(json.dumps([typed, any(p.name == 'LICENSE' for p in files(name))]))"
    )
    assert held == [True, True]


CHECK_REQUIREMENTS = """
import json, re
from importlib.metadata import PackageNotFoundError, distributions, version
missing = []
for dist in distributions():
    for text in dist.requires or []:
        name = re.match(r"[A-Za-z0-9._-]+", text).group()
        if ";" in text:
            continue
        try:
            have = [int(n) for n in re.findall(r"\\d+", version(name))[:3]]
        except PackageNotFoundError:
            missing.append(f"{dist.name} needs {text}")
            continue
        for bound in re.findall(r">=\\s*([0-9.]+)", text):
            if have < [int(n) for n in bound.strip(".").split(".")]:
                missing.append(f"{dist.name} needs {text}, {have} is installed")
print(json.dumps(missing))
"""


def test_every_python_of_the_matrix_takes_the_same_wheels(wheels: list[Path]) -> None:
    """No wheel is of one Python alone: another one compiles nothing."""
    table = tomllib.loads((TOP / "ci/matrix.toml").read_text(encoding="utf-8"))
    pythons = [tuple(map(int, text.split("."))) for text in table["python"]["tested"]]
    for wheel in wheels:
        *_, tags = parse_wheel_filename(wheel.name)
        for version in pythons:
            platforms = [tag.platform for tag in tags]
            known = {*cpython_tags(version, platforms=platforms),
                     *compatible_tags(version, platforms=platforms)}  # fmt: skip
            assert tags & known, f"Python {version} does not take {wheel.name}"

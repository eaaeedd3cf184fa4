"""Each distribution works with what it depends on and nothing more."""

from __future__ import annotations

from pathlib import Path

from integration_tests.support import install, make_environment


def pick(wheels: list[Path], *stems: str) -> list[Path]:
    return [wheel for wheel in wheels if wheel.name.split("-")[0] in stems]


def test_base_works_without_the_metapackage(tmp_path: Path, wheels: list[Path]) -> None:
    environment = make_environment(tmp_path / "env")
    install(environment, *pick(wheels, "drystone_base", "drystone_plugin_abi"))
    names = environment.evaluate(
        "import json, drystone_base as ds\n"
        "print(json.dumps([len(ds.__all__), len([getattr(ds, name) for name in ds.__all__])]))"
    )
    assert names[0] == names[1] > 1
    assert "run" in environment.run_drystone("--help")


def test_the_contract_needs_protobuf_only(tmp_path: Path, wheels: list[Path]) -> None:
    environment = make_environment(tmp_path / "env")
    install(environment, *pick(wheels, "drystone_plugin_abi"))
    held = environment.evaluate(
        "import json\nfrom importlib.metadata import distributions\n"
        "from drystone_abi.protos import GraphDef\n"
        "made = GraphDef(node=[{'name': 'a', 'op': 'NoOp'}])\n"
        "graph = GraphDef.FromString(made.SerializeToString())\n"
        "print(json.dumps([graph.node[0].name, sorted(d.name for d in distributions())]))"
    )
    assert held == ["a", ["drystone-plugin-abi", "protobuf"]]

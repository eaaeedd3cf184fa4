"""``drystone explain``: blocks and kernels of a plan, as a table and as JSON."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tiny_models import affine, write

from drystone_base.cli._app import app
from drystone_base.host import available

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)


def drystone(*arguments: str, executor: str = "native") -> Result:
    return CliRunner().invoke(app, list(arguments), env={"DRYSTONE_EXECUTOR": executor})


def test_the_plan_is_listed_node_by_node(tmp_path: Path) -> None:
    done = drystone("explain", write(affine(), tmp_path / "m.pb"), "--nodes")
    assert done.exit_code == 0, done.output
    assert "(the graph)" in done.output
    assert "in order" in done.output


def test_the_plan_as_json_has_an_instruction_for_each_node(tmp_path: Path) -> None:
    done = drystone("explain", write(affine(), tmp_path / "m.pb"), "--json")
    assert done.exit_code == 0, done.output
    blocks = json.loads(done.stdout)["blocks"]
    assert len(blocks) == 1
    assert {"node", "op", "kind"} <= set(blocks[0]["instructions"][0])


def test_a_plan_for_programs_needs_kernels_of_plugins(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = drystone("explain", model, "--plan", str(tmp_path / "m.plan"))
    if done.exit_code:
        assert done.exit_code == 4
        assert "op-needs-python" in done.output
    else:  # drystone-cpu is installed
        assert (tmp_path / "m.plan").stat().st_size > 0


def test_it_says_how_batches_run(tmp_path: Path) -> None:
    done = drystone("explain", write(affine(), tmp_path / "m.pb"))
    said = " ".join(done.output.split())
    python = "batches run as a whole: layer/product (Mul) has no kernel of a library"
    assert python in said or "batches run in micro-batches: values of one example take 24 B" in said


def test_the_reference_executor_has_no_plan(tmp_path: Path) -> None:
    done = drystone("explain", write(affine(), tmp_path / "m.pb"), executor="reference")
    assert done.exit_code == 2
    assert "no-native-plan" in done.output


def test_the_placement_names_device_and_reason(tmp_path: Path) -> None:
    graph = affine()
    graph.set_device(graph["y"], "/cpu:1")
    model = write(graph, tmp_path / "m.pb")
    shown = drystone("explain", model, "--placement", "--cpus", "2", "--json")
    assert shown.exit_code == 0, shown.output
    found = {row["node"]: row for row in json.loads(shown.stdout)}
    assert found["y"]["device"].endswith("/device:CPU:1")
    assert found["y"]["why"] == "asked for"
    assert "asked for" in drystone("explain", model, "--placement").output


def test_each_byte_is_accounted_for(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = drystone("explain", model, "--nodes", "--shape", "x=5,3", "--json")
    described = json.loads(done.stdout)
    ran = {i["node"]: i["values"] for i in described["blocks"][0]["instructions"] if "values" in i}
    assert [v["bytes"] for v in ran["layer/sum"]] == [60]
    assert ran["layer/product"][0]["until"] == "layer/sum"
    assert ran["y"][0]["until"] == "the end"
    assert described["peak"]["bytes"] >= 60
    text = drystone("explain", model, "--nodes", "--shape", "x=5,3").output
    assert "values take the most at" in text


def test_the_memory_plan_says_where_values_lie(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = drystone("explain", model, "--nodes", "--shape", "x=5,3", "--json")
    described = json.loads(done.stdout)
    ran = [i["values"][0] for i in described["blocks"][0]["instructions"] if "values" in i]
    own = [v for v in ran if not v["memory"].startswith("in place")]
    assert own
    assert all(v["allocation"] and v["allocated"] >= v["bytes"] for v in own)
    plan = described["memory"]
    assert sum(row["values"] for row in plan) == len(own)
    assert sum(row["bytes"] for row in plan) == sum(v["bytes"] for v in own)
    text = drystone("explain", model, "--nodes", "--shape", "x=5,3").output
    assert "where values lie" in text
    assert all(row["allocation"] in text for row in plan)


def test_a_run_that_fails_has_no_bytes(tmp_path: Path) -> None:
    graph = affine()
    graph.add("MatMul", "bad", [graph["y"], graph["y"]], attrs=dict(graph["y"].attrs))
    done = drystone("explain", write(graph, tmp_path / "m.pb"), "--nodes", "--fetch", "bad:0")
    assert done.exit_code == 0, done.output
    assert "no bytes are known, the run failed" in done.output

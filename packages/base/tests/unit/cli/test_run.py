"""``drystone run``: inputs by signature and tensor names, outputs, made-up inputs, exit codes."""

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner, Result
from model_files import meta_graph, model_graph, write_saved_model
from tiny_models import affine, constant, echo, placeholder, unsupported, write

import drystone_base as ds
from drystone_base.cli._app import app
from drystone_base.cli._values import fill_shape, made_up, read_npz, summary, write_npz
from drystone_base.core.dtypes import as_dtype
from drystone_base.core.errors import BadRequest
from drystone_base.core.tensor import as_strings
from drystone_base.graph import Graph


def drystone(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def feed(tmp_path: Path, **arrays: Any) -> str:
    path = tmp_path / "in.npz"
    np.savez(path, **arrays)
    return str(path)


X = np.array([[1.0, -2.0, 3.0]], np.float32)
Y = np.array([[3.0, 0.0, 7.0]], np.float32)


@pytest.mark.parametrize("key", ["x", "x:0"])
def test_outputs_are_saved_under_signature_names(tmp_path: Path, key: str) -> None:
    model = write(affine(), tmp_path / "m.pb")
    out = tmp_path / "out.npz"
    done = drystone("run", model, "--inputs", feed(tmp_path, **{key: X}), "--outputs", str(out))
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(out)["y"], Y)
    assert "[1, 3]" in done.output
    assert "float32" in done.output


def test_fetches_are_saved_under_their_own_text(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    out = tmp_path / "out.npz"
    done = drystone(
        "run", model, "--inputs", feed(tmp_path, x=X), "--outputs", str(out),
        "--fetch", "layer/product:0", "--fetch", "y",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    saved = np.load(out)
    assert sorted(saved.files) == ["layer/product:0", "y"]
    np.testing.assert_array_equal(saved["layer/product:0"], X * 2)


def test_an_inner_tensor_can_be_fed(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    values = feed(tmp_path, **{"layer/sum": X})
    out = tmp_path / "out.npz"
    done = drystone("run", model, "--inputs", values, "--fetch", "y:0", "--outputs", str(out))
    assert done.exit_code == 0, done.output
    np.testing.assert_array_equal(np.load(out)["y:0"], np.maximum(X, 0))


def test_a_tag_chooses_the_graph(tmp_path: Path) -> None:
    serve, train = meta_graph(model_graph()), meta_graph(model_graph())
    train.meta_info_def.tags[:] = ["train", "gpu"]
    train.signature_def["fit"].CopyFrom(train.signature_def.pop("serving_default"))
    model = str(write_saved_model(tmp_path / "m", serve, train))
    done = drystone("run", model, "--tag", "gpu", "--tag", "train", "--signature", "fit")
    assert done.exit_code == 0, done.output
    assert drystone("run", model, "--signature", "fit").exit_code != 0
    done = drystone("run", model, "--tag", "gpu")
    assert (done.exit_code, "found: {serve}; {gpu, train}" in done.output) == (3, True)


def test_strings_go_in_and_out_as_bytes(tmp_path: Path) -> None:
    model = write(echo(), tmp_path / "m.pb")
    out = tmp_path / "out.npz"
    words = np.array([b"one", b"", "größer".encode()])
    done = drystone("run", model, "--inputs", feed(tmp_path, text=words), "--outputs", str(out))
    assert done.exit_code == 0, done.output
    saved = np.load(out, allow_pickle=False)["same"]
    assert saved.dtype.kind == "S"
    assert saved.tolist() == words.tolist()


@pytest.mark.parametrize(
    "texts", [[b"a\0", b"b"], [[b"\0"], [b""]], [b"a"] * 2000 + [b"b" * 20_000]]
)
def test_any_strings_survive_an_archive(tmp_path: Path, texts: Any) -> None:
    path = tmp_path / "o.npz"
    array = as_strings(texts)
    write_npz(path, {"s": array, "n": X})
    assert path.stat().st_size < 100_000
    assert read_npz(path)["s"].tolist() == array.tolist()
    assert sorted(np.load(path, allow_pickle=False).files) == ["n", "s#bytes", "s#lengths"]


def test_lengths_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "o.npz", **{"s#bytes": np.zeros(3, np.uint8), "s#lengths": np.array([4])})
    with pytest.raises(BadRequest, match="do not fit their bytes"):
        read_npz(tmp_path / "o.npz")


def test_made_up_inputs_follow_seed_and_shape(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    first = drystone("run", model, "--seed", "7", "--json")
    assert json.loads(first.output)["seed"] == 7
    again = drystone("run", model, "--seed", "7", "--json")
    other = drystone("run", model, "--seed", "8", "--json")
    outputs = [json.loads(done.output)["outputs"] for done in (first, again, other)]
    assert outputs[0] == outputs[1]
    assert outputs[0] != outputs[2]
    sized = drystone("run", model, "--shape", "x=5,3")
    assert sized.exit_code == 0
    assert "[5, 3]" in sized.output
    assert "--seed 0" in sized.output
    assert "(the model says [?, 3])" in sized.output


def test_shape_of_an_unknown_input_is_refused(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = drystone("run", model, "--shape", "z=5,3")
    assert done.exit_code == 2
    assert "'z=5,3' is not NAME=SIZES for one of the inputs x" in done.output


def test_repeat_gives_a_median(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    report = json.loads(drystone("run", model, "--repeat", "4", "--json").output)
    assert report["runs"] == 4
    assert set(report["seconds"]) == {"load", "first", "median"}


def test_an_unknown_input_offers_near_ones(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = drystone("run", model, "--inputs", feed(tmp_path, layer_sum=X))
    assert done.exit_code == 2
    assert (
        "the inputs hold 'layer_sum', which the model does not have [unknown-input]" in done.stderr
    )
    assert "did you mean layer/sum" in done.stderr


def test_missing_inputs_are_named(tmp_path: Path) -> None:
    graph = affine()
    graph.add(
        "Relu", "other", [placeholder(graph, "second", (1,))], attrs={"T": as_dtype("float32")}
    )
    model = write(graph, tmp_path / "m.pb")
    done = drystone("run", model, "--inputs", feed(tmp_path, x=X))
    assert done.exit_code == 2
    assert "missing: second" in done.stderr
    alone = drystone("run", model, "--inputs", feed(tmp_path, x=X), "--fetch", "y")
    assert alone.exit_code == 0, alone.output


def test_unknown_signature_and_fetch(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = drystone("run", model, "--signature", "defaults")
    assert done.exit_code == 2
    assert "[unknown-signature]" in done.stderr
    assert "did you mean default?" in done.stderr
    done = drystone("run", model, "--fetch", "layer/summ:0")
    assert done.exit_code == 2
    assert "[unknown-fetch]" in done.stderr


def test_a_file_that_is_no_model_exits_with_3(tmp_path: Path) -> None:
    path = tmp_path / "m.pb"
    path.write_bytes(b"\x0a\xff not a graph")
    done = drystone("run", str(path))
    assert done.exit_code == 3
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert drystone("run", str(tmp_path / "absent.pb")).exit_code == 3


def test_a_reached_op_without_kernel_exits_with_4(tmp_path: Path) -> None:
    model = write(unsupported(), tmp_path / "m.pb")
    done = drystone("run", model, "--fetch", "known")
    assert done.exit_code == 4
    assert "node 'known' cannot run: op 'TPUReplicatedInput' is known" in done.stderr
    assert drystone("run", model, "--fetch", "fine").exit_code == 0


def test_a_kernel_that_refuses_exits_with_5(tmp_path: Path) -> None:
    graph = Graph()
    x = placeholder(graph, "x", None)
    two = constant(graph, "two", [1.0, 2.0])
    graph.add("AddV2", "sum", [x, two], attrs={"T": as_dtype("float32")})
    model = write(graph, tmp_path / "m.pb")
    done = drystone("run", model, "--inputs", feed(tmp_path, x=np.zeros(3, np.float32)))
    assert done.exit_code == 5
    assert "node 'sum' (AddV2) failed" in done.stderr


def test_errors_as_json_and_verbose(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = drystone("run", model, "--fetch", "nothing", "--json")
    report = json.loads(done.stdout)
    assert report["exit"] == done.exit_code == 2
    assert report["error"]["code"] == "unknown-fetch"
    assert "Traceback" in drystone("run", model, "--fetch", "nothing", "-v").stderr
    assert "Traceback" in drystone("-v", "run", model, "--fetch", "nothing").stderr


def test_ctrl_c_exits_with_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("drystone_base.cli._inputs.Asked.load", interrupt)
    done = drystone("run", write(affine(), tmp_path / "m.pb"))
    assert done.exit_code == 130
    assert done.stderr.strip() == "interrupted"


def test_an_exception_of_ours_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr("drystone_base.cli._inputs.Asked.load", fail)
    done = CliRunner().invoke(app, ["run", "model.pb"])
    assert done.exit_code == 5
    assert "RuntimeError in drystone itself [internal]" in done.stderr
    assert "surprise" in done.stderr


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\x93NUMPY"])
def test_damaged_input_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "in.npz"
    path.write_bytes(content)
    with pytest.raises(BadRequest, match="bad-array-file"):
        read_npz(path)


def test_pickled_inputs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.npz"
    np.savez(path, x=np.array([{}], object))
    with pytest.raises(BadRequest, match=r"--input NAME=@FILE"):
        read_npz(path)


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot-write"):
        write_npz(tmp_path / "none" / "o.npz", {"x": X})
    with pytest.raises(BadRequest, match="a resource or a variant"):
        write_npz(tmp_path / "o.npz", {"x": np.array(object(), object)})


@pytest.mark.parametrize("label", ["bfloat16", "float8_e5m2", "int4"])
def test_narrow_types_are_saved_widened(tmp_path: Path, label: str) -> None:
    dtype = as_dtype(label)
    array = made_up("x", dtype, (4,), np.random.default_rng(0))
    write_npz(tmp_path / "o.npz", {"x": array})
    saved = np.load(tmp_path / "o.npz")["x"]
    assert saved.dtype in (np.float32, np.int32)
    np.testing.assert_array_equal(saved.astype(dtype.np), array)


@pytest.mark.parametrize(
    "label",
    ["float32", "float16", "complex64", "bool", "int64", "uint8", "qint8", "string", "int2"],
)
def test_made_up_inputs_have_dtype_and_shape(label: str) -> None:
    array = made_up("x", as_dtype(label), (-1, -1, 3), np.random.default_rng(1))
    assert array.shape == (1, 32, 3)
    assert array.dtype == as_dtype(label).np
    assert np.any(array != array.ravel()[0])


def test_what_cannot_be_made_up() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(BadRequest, match="a resource input"):
        made_up("x", as_dtype("resource"), (), rng)
    with pytest.raises(BadRequest, match="cannot-make-input"):
        made_up("x", as_dtype("float32"), (2**31, 2**31), rng)
    assert fill_shape(None) == ()


def test_summaries() -> None:
    facts = summary(np.array([1.0, np.nan, 3.0, np.inf]))
    assert facts["not_finite"] == 2
    assert (facts["min"], facts["mean"], facts["max"]) == (1.0, 2.0, 3.0)
    assert summary(np.zeros((0, 2)))["shape"] == [0, 2]
    assert summary(np.array([b"a" * 50], object))["values"] == ["a" * 31 + "…"]
    assert "mean" not in summary(np.array([1j]))


def open_model(tmp_path: Path) -> str:
    graph = affine()
    graph.set_attr(graph["x"], "shape", (-1, 3))
    return write(graph, tmp_path / "m.pb")


def test_a_batch_fills_open_first_dimensions(tmp_path: Path) -> None:
    report = json.loads(drystone("run", open_model(tmp_path), "--batch", "5", "--json").stdout)
    assert report["outputs"]["y"]["shape"] == [5, 3]
    none = json.loads(drystone("run", open_model(tmp_path), "--batch", "0", "--json").stdout)
    assert none["outputs"]["y"]["shape"] == [0, 3]


def test_a_stated_shape_stands_above_the_batch(tmp_path: Path) -> None:
    asked = ("--batch", "5", "--shape", "x=2,3", "--json")
    report = json.loads(drystone("run", open_model(tmp_path), *asked).stdout)
    assert report["outputs"]["y"]["shape"] == [2, 3]


def test_a_batch_that_no_input_has_is_refused(tmp_path: Path) -> None:
    graph = Graph()
    x = placeholder(graph, "x", (2,))
    graph.add("Relu", "y", [x], attrs={"T": as_dtype("float32")})
    done = drystone("run", write(graph, tmp_path / "m.pb"), "--batch", "4")
    assert done.exit_code == 2
    assert "no input has an open first dimension (x [2]); --shape NAME=SIZES" in done.stderr


@pytest.mark.parametrize("option", [("--batch", "2"), ("--shape", "x=2,3")])
def test_sizes_of_inputs_that_are_given_are_refused(
    tmp_path: Path, option: tuple[str, str]
) -> None:
    model = open_model(tmp_path)
    done = drystone("run", model, "--inputs", feed(tmp_path, x=X), *option)
    assert (done.exit_code, "so none is made up" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", ["run", "bench", "explain", "diff"])
def test_commands_that_run_a_model_share_their_options(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import drystone_base.api.model

    seen: list[dict[str, Any]] = []
    whole = drystone_base.api.model.load

    def load(path: Any, **options: Any) -> Any:
        seen.append(options)
        return whole(path, **options | {"precision": None})

    monkeypatch.setattr("drystone_base.api.model.load", load)
    monkeypatch.setenv("DRYSTONE_EXECUTOR", "native")  # the reference has no plan to explain
    models = [open_model(tmp_path)] * (2 if command == "diff" else 1)
    done = drystone(
        command, *models, "--threads", "2", "--precision", "bfloat16", "--backend", "off",
        "--batch", "2",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert {(o["threads"], o["precision"], o["config"].subgraphs) for o in seen} == {
        (2, "bfloat16", "off")
    }


def test_settings_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    model = open_model(tmp_path)
    for option, code in (
        (("--threads", "-1"), "bad-request"),
        (("--threads", "100000"), "bad-threads"),
        (("--precision", "int4"), "bad-request"),
    ):
        done = drystone("run", model, *option)
        assert (done.exit_code, f"[{code}]" in done.stderr) == (2, True), option


@pytest.mark.parametrize(
    "names", [["file"], ["x", "x.npy"], ["a/b:0", "../up", "/abs"], ["a b", "ä", "kwds", "self"]]
)
def test_outputs_of_any_name_are_saved(tmp_path: Path, names: list[str]) -> None:
    arrays = {name: np.array([k]) for k, name in enumerate(names)}
    write_npz(tmp_path / "out.npz", arrays)
    assert {k: v.tolist() for k, v in read_npz(tmp_path / "out.npz").items()} == {
        name: [k] for k, name in enumerate(names)
    }


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "n" * 70_000])
def test_names_that_no_archive_holds_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadRequest, match="must be UTF-8 without NUL") as caught:
        write_npz(tmp_path / "out.npz", {name: np.array(1)})
    assert caught.value.code == "cannot-write"
    assert not (tmp_path / "out.npz").exists()


def test_outputs_that_cannot_be_written_whole_leave_the_file_before(tmp_path: Path) -> None:
    target = tmp_path / "out.npz"
    write_npz(target, {"x": np.array(1)})
    before = target.read_bytes()
    with (
        mock.patch("numpy.lib.format.write_array", side_effect=OSError("no room")),
        pytest.raises(BadRequest, match="no room"),
    ):
        write_npz(target, {"x": np.array(2)})
    assert target.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["out.npz"]


def test_sizes_are_refused_where_no_signature_is_run(tmp_path: Path) -> None:
    two = {name: ({"x": "x:0"}, {"y": "y:0"}) for name in ("a", "b")}
    ds.save(affine(), tmp_path / "m", signatures=two)
    done = drystone("run", str(tmp_path / "m"), "--fetch", "layer/one:0", "--batch", "2")
    assert (done.exit_code, "no signature says what the inputs are" in done.stderr) == (2, True)

"""Warm starts read files only where the policy allows it."""

from pathlib import Path

import numpy as np
import pytest
from stateful import Bench, f32, i64

from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.files.access import Access
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager


def _closed() -> Runtime:
    return Runtime(ResourceManager(), lambda *_: [], access=Access.nothing())


def test_words_are_found_at_their_old_lines(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    new.write_text("a\nb\nc\n", encoding="utf-8")
    old.write_text("c\na\n", encoding="utf-8")
    names = [str(new), str(old)]
    found, count = Bench().all("GenerateVocabRemapping", *names, new_vocab_offset=0,
                               num_new_vocab=3)  # fmt: skip
    assert found.tolist() == [1, -1, 0]
    assert int(count) == 2
    with pytest.raises(DrystoneError, match="may not read") as caught:
        run_op("GenerateVocabRemapping", *names, runtime=_closed(), new_vocab_offset=0,
               num_new_vocab=3)  # fmt: skip
    assert caught.value.status == "PERMISSION_DENIED"


def test_a_checkpoint_is_read_only_where_the_policy_allows_it(tmp_path: Path) -> None:
    prefix, bench = str(tmp_path / "ckpt"), Bench()
    matrix = f32(np.arange(6).reshape(3, 2))
    bench.all("SaveV2", prefix, np.array(["m"]), np.array([""]), matrix, dtypes=[FLOAT32])
    given = (prefix, "m", i64([2, -1]), i64([1, 0]), f32([8, 9]))
    got = bench("LoadAndRemapMatrix", *given, num_rows=2, num_cols=2)
    assert got.tolist() == [[5, 4], [8, 9]]
    with pytest.raises(DrystoneError, match="may not read"):
        run_op("LoadAndRemapMatrix", *given, runtime=_closed(), num_rows=2, num_cols=2)


def test_missing_and_spare_initial_values_are_refused(tmp_path: Path) -> None:
    prefix, bench = str(tmp_path / "ckpt"), Bench()
    bench.all("SaveV2", prefix, np.array(["m"]), np.array([""]), f32([[1, 2]]), dtypes=[FLOAT32])
    for count in (1, 3):
        bench.fails("INVALID_ARGUMENT", "an initial value for each", "LoadAndRemapMatrix", prefix,
                    "m", i64([-1]), i64([]), f32(np.ones(count)), num_rows=1,
                    num_cols=2)  # fmt: skip
    bench.fails("UNIMPLEMENTED", "must not occur twice", "LoadAndRemapMatrix", prefix, "m",
                i64([0, 0]), i64([]), f32([]), num_rows=2, num_cols=2)  # fmt: skip


def test_shapes() -> None:
    kinds = ["string", "string", "int64", "int64", "float32"]
    shapes = [(), (), (3,), (4,), (5,)]
    given = {"num_rows": 3, "num_cols": 4}
    assert infer_shapes("LoadAndRemapMatrix", shapes, dtypes_in=kinds, **given) == [(3, 4)]
    words = infer_shapes("GenerateVocabRemapping", [(), ()], dtypes_in=["string"] * 2,
                         new_vocab_offset=0, num_new_vocab=7)  # fmt: skip
    assert words == [(7,), ()]

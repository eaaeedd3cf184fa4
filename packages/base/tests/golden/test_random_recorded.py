"""Every recorded random case of every op, and what the record says of all that were run."""

import json
from collections import defaultdict

import numpy as np
import pytest
from parity.differences import DIFFERENCES
from parity.digest import Digest
from parity.draft import draw_case
from parity.eligible import eligible_ops
from parity.judge import judge
from parity.recorded import SUMMARY, Entry, answer_of, drawn, load

from drystone_base.ops.defs import names

SMALLER = 4.0  # a sample's spread may be smaller than that of the whole tensor
AGAIN = "record again: ci/scripts/parity.py --record --ops"

ROWS: dict[str, list[Entry]] = defaultdict(list)
for _row in load():
    ROWS[_row["op"]].append(_row)


@pytest.mark.cases_in_gate(2)
@pytest.mark.parametrize("op", sorted(ROWS))
def test_random_cases(op: str) -> None:
    wrong = []
    for row in ROWS[op]:
        item = draw_case(op, row["seed"])
        assert drawn(item) == row["inputs"], f"cases of {op} are drawn otherwise now; {AGAIN} {op}"
        verdict = judge(item, answer_of(row), SMALLER)
        if verdict.kind not in ("equal", "refused"):
            wrong.append(f"seed {row['seed']}: {item.label()}: {verdict.text}")
    assert not wrong, "\n".join(wrong)


def test_every_eligible_op_was_tried_and_none_differs() -> None:
    counted = json.loads(SUMMARY.read_text(encoding="utf-8"))
    missing = [op for op in eligible_ops() if op not in counted]
    assert not missing, f"{AGAIN} {','.join(missing)}"
    differ = [op for op, rows in counted.items() if any(line[3] for line in rows.values())]
    assert not differ, f"recorded while they differed: {differ}"


def test_there_are_thousands_of_cases() -> None:
    assert sum(map(len, ROWS.values())) > 5000


def test_documented_differences_name_known_ops_once() -> None:
    known = set(names())
    for difference in DIFFERENCES:
        assert difference.reason
        assert set(difference.ops.split()) <= known, difference.ops


def test_digest_tells_arrays_apart() -> None:
    value = np.linspace(0, 1, 100, dtype=np.float32).reshape(4, 25)
    kept = Digest.unpacked(json.loads(json.dumps(Digest.of(value).packed())))
    assert kept.difference(value) == 0
    assert 0 < kept.difference(value + 0.01) < 1
    assert kept.difference(value.astype(np.float64)) == np.inf
    assert kept.difference(value.reshape(25, 4)) == np.inf
    whole = Digest.of(np.arange(9))
    assert whole.difference(np.arange(9)) == 0
    assert whole.difference(np.arange(9)[::-1]) == np.inf

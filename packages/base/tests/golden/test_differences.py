"""Every documented difference from TensorFlow still occurs: an example of it is recorded."""

import pytest
from parity.difference import Difference
from parity.differences import DIFFERENCES, known_difference
from parity.examples import load
from parity.judge import judge

EXAMPLES = load()
RECORD = "python -m ci.scripts.differences_record"


HERE = [difference for difference in DIFFERENCES if not difference.only]


@pytest.mark.parametrize("difference", HERE, ids=lambda d: d.reason[:50])
def test_it_still_occurs(difference: Difference) -> None:
    reason = difference.reason
    assert reason in EXAMPLES, f"no example is recorded: {RECORD}; or it occurs no more"
    example = EXAMPLES[reason]
    verdict = judge(example.case, example.want)
    assert (verdict.kind, verdict.way) == ("known", example.way), (
        f"{example.case.label()}: {verdict.text or 'as TensorFlow'}: if the difference is gone, "
        f"take it out of parity/differences.py; if only the example is, {RECORD} --all"
    )
    assert known_difference(example.case, example.want) is difference


def test_each_example_is_of_a_difference() -> None:
    assert set(EXAMPLES) <= {difference.reason for difference in DIFFERENCES}

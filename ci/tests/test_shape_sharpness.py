"""The table of inferred shapes beside TensorFlow's: how they are judged, and that it is current."""

import json
from collections import Counter

from ci.scripts import shape_sharpness


def test_the_page_is_what_the_record_says() -> None:
    record = json.loads(shape_sharpness.RECORD.read_text(encoding="utf-8"))
    assert shape_sharpness.PAGE.read_text(encoding="utf-8") == shape_sharpness.page(record)


def test_every_op_that_knows_less_has_a_reason() -> None:
    record = json.loads(shape_sharpness.RECORD.read_text(encoding="utf-8"))
    ops = {op for row in record["models"].values() for op in row["by_op"]}
    assert ops <= set(shape_sharpness.WHY)


def test_shapes_are_judged() -> None:
    judged = shape_sharpness.judged
    assert judged((2, -1), (2, -1)) == judged(None, None) == "equal"
    assert judged((2, 3), (2, -1)) == judged((), None) == "more"
    assert judged((-1, 3), (2, -1)) == judged(None, ()) == "less"
    assert judged((2,), (3,)) == judged((), (2,)) == "apart"
    counts = Counter(equal=1, more=2)
    assert shape_sharpness.line("m", counts) == "| m | 3 | 1 | 2 | 0 | 0 |\n"

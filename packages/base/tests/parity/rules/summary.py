"""Summaries as serialized protos."""

from typing import Any

import numpy as np

from parity.draft import Draft, Rule
from parity.drawers import choice, shaped, some, unit

TAGS = (b"", b"a", b"loss/total", b"\xc3\xa9")
VALUES = (b"\n\x08\n\x01a\x15\0\0\x80?", b"\n\x08\n\x01b\x15\0\0\0@", b"\n\x05\x15\0\0\0@", b"")


def _tags(d: Draft) -> Any:
    shape = np.shape(d["values"])
    out = np.empty(shape, object)
    out.reshape(-1)[:] = [d.pick(*TAGS) for _ in range(out.size)]
    return out


def _tag(d: Draft) -> Any:
    return np.array(d.pick(*TAGS), object)


def _finite(d: Draft) -> Any:
    return d.tensor(d.making, d.any_shape(3), d.chance(0.1))


def _parts(d: Draft) -> Any:
    parts = d.rng.permutation(len(VALUES))
    return [np.array(VALUES[parts[k % len(VALUES)]], object) for k in range(d["N"])]


RULES: dict[str, Rule] = {
    "ScalarSummary": Rule({"tags": _tags, "values": some(3)}),
    "HistogramSummary": Rule({"tag": _tag, "values": _finite}),
    "AudioSummaryV2": Rule(
        {
            "tag": _tag,
            "tensor": lambda d: unit(d.pick("b n", "b n c"), -1.1, 1.1)(d),
            "sample_rate": lambda d: np.float32(d.pick(8000, 44100, 0.4, 2.5, 2.5, 0)),
            "max_outputs": choice(1, 2, 5),
        },
        {"c": (1, 3)},
        special=False,
    ),
    "TensorSummaryV2": Rule(
        {
            "tag": _tag,
            "tensor": shaped("..."),
            "serialized_summary_metadata": lambda d: np.array(
                d.pick(b"", b"\n\x06\n\x04text", b"\x12\x01n", b"\x01"), object
            ),
        }
    ),
    "MergeSummary": Rule({"N": choice(1, 2, 3, 4, 5), "inputs": _parts}),
}

"""WAV files and spectrograms."""

import struct
from typing import Any

import numpy as np
from golden.cases.audio import whole

from parity.draft import Draft, Rule
from parity.drawers import choice, shaped, unit

_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")


def _wav(d: Draft) -> Any:
    """A WAV file, now and then with a byte changed or cut short.

    Only ASCII bytes are put in: TensorFlow cannot report others in its errors.
    """
    channels, frames, rate = d.size(1, 3), d.size(0, 9), d.pick(8000, 16000, 44100)
    data = d.rng.integers(0, 2**15, channels * frames).astype("<i2") & 0x7F7F
    frame = 2 * channels
    format_ = (b"fmt ", 16, 1, channels, rate, rate * frame, frame, 16)
    head = (b"RIFF", 36 + data.nbytes, b"WAVE", *format_, b"data", data.nbytes)
    out = bytearray(_HEADER.pack(*head) + data.tobytes())
    if d.chance(0.3):
        out[d.size(0, len(out) - 1)] = d.size(0, 127)
    if d.chance(0.1):
        del out[d.size(0, len(out)) :]
    return whole(bytes(out))


def _count(d: Draft) -> Any:
    return d.size(1, d["filterbank_channel_count"] + (1 if d.chance(0.1) else 0))


_RATE = {"sample_rate": lambda d: np.int32(d.pick(8000, 16000, 22050, 44100, 1, d.pick(0, 7)))}

RULES: dict[str, Rule] = {
    "DecodeWav": Rule(
        {
            "contents": _wav,
            "desired_channels": choice(-1, -1, 0, 1, 2, 4),
            "desired_samples": choice(-1, -1, 0, 2, 12),
        },
        spoil=False,
    ),
    "EncodeWav": Rule({"audio": shaped("n c")} | _RATE, {"n": (0, 9), "c": (1, 3)}),
    "AudioSpectrogram": Rule(
        {
            "input": unit("n c", -1.0, 1.0),
            "window_size": choice(1, 2, 3, 7, 16, 24, 33, 64),
            "stride": choice(1, 1, 3, 5, 8, 40),
        },
        {"n": (0, 90), "c": (0, 3)},
        special=False,
    ),
    "Mfcc": Rule(
        {
            "spectrogram": unit("c n b", 0.0, 4.0),
            "filterbank_channel_count": choice(1, 5, 20, 40),
            "dct_coefficient_count": _count,
            "upper_frequency_limit": choice(4000.0, 2000.0, 7000.0, 400.0, 3000.0, 10.0),
            "lower_frequency_limit": choice(20.0, 0.0, 300.0),
        }
        | _RATE,
        {"c": (0, 2), "n": (0, 4), "b": (2, 130)},
        special=False,
    ),
}

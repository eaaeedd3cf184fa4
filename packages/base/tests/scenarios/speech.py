"""Features of speech in integers: every bit is TensorFlow's."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np

from scenarios import Program, scenario
from scenarios._draw import pick


def sound(rng: np.random.Generator, size: int) -> Any:
    """A tone that swells, noise, near silence, or full scale."""
    kind = int(rng.integers(5))
    if kind == 0:
        swell = np.linspace(0, 1, size)
        return (np.sin(np.arange(size) * rng.uniform(0.05, 2)) * 9000 * swell).astype(np.int16)
    limit = (0, 32767, 300, 3, 1)[kind]
    noise = rng.integers(-limit, limit + 1, size).astype(np.int16)
    return noise if kind < 4 else np.full(size, -32768, np.int16)


@scenario(draws=48)
def features(p: Program, rng: np.random.Generator) -> None:
    attrs: dict[str, Any] = {
        "enable_pcan": bool(rng.integers(2)),
        "enable_log": bool(rng.integers(4)),
        "num_channels": int(pick(rng, [1, 20, 32, 40, 64])),
        "left_context": int(rng.integers(3)),
        "right_context": int(rng.integers(2)),
        "frame_stride": int(rng.integers(1, 4)),
        "zero_padding": bool(rng.integers(2)),
        "out_scale": int(pick(rng, [1, 1, 3, 64])),
        "out_type": pick(rng, ["uint16", "float32"]),
        "window_size": int(pick(rng, [10, 25, 30, 64])),
        "window_step": int(pick(rng, [5, 10])),
        "lower_band_limit": float(pick(rng, [125.0, 20.0, 0.0])),
        "scale_shift": int(pick(rng, [6, 4, 0])),
        "even_smoothing": float(pick(rng, [0.025, 0.2])),
    }
    rate = int(pick(rng, [16000, 8000, 48000]))
    attrs |= {"sample_rate": rate, "upper_band_limit": float(pick(rng, [0.46, 0.2])) * rate}
    x = p.feed("int16", [-1])
    made = p("AudioMicrofrontend", x, **attrs)
    for size in (rate // 10, rate // 16, 50):
        p.step(made, feeds={x: sound(rng, size)})


@scenario()
def beyond_the_spectrum(p: Program) -> None:
    p.step(p("AudioMicrofrontend", np.ones(900, np.int16), upper_band_limit=8200.0))

"""WAV files and spectrograms: known sounds, damaged headers, shapes."""

from __future__ import annotations

import io
import random
import tracemalloc
import wave
from typing import Any

import numpy as np
import pytest
from stateful import Bench, f32, i32, shapes

from drystone_base.core.errors import KernelError
from drystone_base.core.tensor import string_array
from drystone_base.kernels import _limits
from drystone_base.kernels.audio._fixed_fft import real_fft

B = Bench()


def text(data: bytes) -> Any:
    """A scalar that keeps the zeros at its end."""
    return string_array([data], ())


def encoded(samples: Any, rate: int = 8000) -> Any:
    return B("EncodeWav", f32(samples), i32(rate))


def test_files_are_those_of_the_standard_library() -> None:
    samples = np.linspace(-1, 1, 12).reshape(6, 2)
    with wave.open(io.BytesIO(encoded(samples, 44100).item())) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 44100)
        frames = np.frombuffer(file.readframes(99), "<i2").reshape(-1, 2)
    np.testing.assert_allclose(frames / 2**15, samples, atol=2**-15)
    sound, rate = B.all("DecodeWav", encoded(samples, 44100))
    np.testing.assert_array_equal(sound, frames.astype(np.float32) / 2**15)
    assert (rate, rate.dtype, sound.dtype) == (44100, np.int32, np.float32)


def test_samples_and_channels_are_cut_and_filled() -> None:
    whole = encoded([[0.5, -0.5], [0.25, 0]])
    longer = B("DecodeWav", whole, desired_channels=3, desired_samples=3)
    assert longer.tolist() == [[0.5, -0.5, -0.5], [0.25, 0, 0], [0, 0, 0]]
    assert B("DecodeWav", whole, desired_channels=1, desired_samples=1).tolist() == [[0.5]]


@pytest.mark.parametrize(
    ("at", "data", "said"),
    [
        (0, b"RIFX", "a WAV file must be one"),
        (12, b"LIST", "only known chunks"),
        (16, b"\x11", "fixed size"),
        (20, b"\x03", "plain PCM"),
        (22, b"\0", "there must be a channel"),
        (24, b"\x01", "bytes per second must fit"),
        (32, b"\x01", "bytes per frame must fit"),
        (34, b"\x08", "samples must have 16 bits"),
        (36, b"none", "must hold data"),
        (40, b"\0\0\0\xff", "a chunk is too large"),
        (40, b"\xff\xff\xff\x7f", "must not end inside a field"),
    ],
)
def test_a_damaged_header_is_named(at: int, data: bytes, said: str) -> None:
    whole = bytearray(encoded([[0.5]] * 4).item())
    whole[at : at + len(data)] = data
    B.fails("INVALID_ARGUMENT", said, "DecodeWav", text(bytes(whole)))


def test_damaged_files_give_samples_or_invalid_argument_and_take_no_memory() -> None:
    draw = random.Random(4)
    whole = encoded(np.zeros((50, 2))).item()
    statuses = []
    tracemalloc.start()
    for _ in range(3000):
        data = bytearray(whole[: draw.choice((len(whole), draw.randrange(len(whole))))])
        for _ in range(draw.randrange(4)):
            if data:
                data[draw.randrange(min(len(data), 48))] = draw.choice((0, 1, 127, 255))
        try:
            B.all("DecodeWav", text(bytes(data)))
        except KernelError as error:
            statuses.append(error.status)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 1000 < len(statuses) < 3000
    assert set(statuses) == {"INVALID_ARGUMENT"}
    assert peak < 1 << 20


def test_absurd_sizes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_limits, "byte_limit", lambda: 1 << 30)
    big = {"desired_samples": 2**31 - 1, "desired_channels": 2**20}
    B.fails("RESOURCE_EXHAUSTED", "bytes", "DecodeWav", encoded([[0.5]]), **big)
    B.fails("INVALID_ARGUMENT", "sizes", "DecodeWav", encoded([[0.5]]), desired_samples=-2)
    many = {"filterbank_channel_count": 2**30, "dct_coefficient_count": 2}
    B.fails("RESOURCE_EXHAUSTED", "bytes", "Mfcc", np.ones((1, 1, 9), np.float32), i32(8), **many)
    # No frame fits: nothing is to be computed, however long the window is.
    huge = B("AudioSpectrogram", f32([[1.0]]), window_size=2**31 - 1, stride=1)
    assert huge.shape == (1, 0, 2**30 + 1)


def test_a_tone_is_found_at_its_frequency() -> None:
    tone = np.sin(2 * np.pi * 1000 * np.arange(1600) / 8000)[:, None]
    power = B("AudioSpectrogram", f32(tone), window_size=256, stride=128, magnitude_squared=True)
    assert power.shape == (1, 11, 129)
    assert (power.argmax(-1) == 32).all()  # 1000 Hz of 31.25 Hz a bin
    plain = B("AudioSpectrogram", f32(tone), window_size=256, stride=128)
    np.testing.assert_allclose(plain**2, power, rtol=1e-5, atol=1e-6)
    assert B("Mfcc", power, i32(8000)).shape == (1, 11, 13)


def test_parameters_out_of_range_are_refused() -> None:
    sound, rows = np.zeros((9, 1), np.float32), np.ones((1, 2, 9), np.float32)
    for size, stride in ((-3, 1), (1, 1), (4, 0)):
        attrs = {"window_size": size, "stride": stride}
        B.fails("INVALID_ARGUMENT", "window_size|stride", "AudioSpectrogram", sound, **attrs)
    nan = {"lower_frequency_limit": float("nan")}
    B.fails("INVALID_ARGUMENT", "frequencies", "Mfcc", rows, i32(8000), **nan)
    B.fails("INVALID_ARGUMENT", "scalar", "Mfcc", rows, i32([8000]))
    B.fails("INVALID_ARGUMENT", "matrix", "EncodeWav", sound[0], i32(8000))
    B.fails("INVALID_ARGUMENT", "sample rate", "EncodeWav", sound, i32(-1))


def test_shapes() -> None:
    assert shapes("DecodeWav", [()])[0] == [(-1, -1), ()]
    assert shapes("DecodeWav", [()], desired_samples=4, desired_channels=2)[0] == [(4, 2), ()]
    assert shapes("EncodeWav", [(3, 2), ()])[0] == [()]
    sizes = {"window_size": 7, "stride": 3}
    assert shapes("AudioSpectrogram", [(30, 2)], **sizes)[0] == [(2, 8, 5)]
    assert shapes("AudioSpectrogram", [(-1, 2)], **sizes)[0] == [(2, -1, 5)]
    assert shapes("AudioSpectrogram", [(3, 2)], **sizes)[0] == [(2, 0, 5)]
    assert shapes("Mfcc", [(2, -1, 9), ()])[0] == [(2, -1, 13)]
    for op, given, attrs in (
        ("DecodeWav", [(1,)], {}),
        ("DecodeWav", [()], {"desired_samples": -2}),
        ("EncodeWav", [(3, 2), (1,)], {}),
        ("AudioSpectrogram", [(3, 2)], {"window_size": 1, "stride": 1}),
        ("AudioSpectrogram", [(3, 2)], {"window_size": 2, "stride": 0}),
        ("Mfcc", [(2, 3, 4), ()], {"dct_coefficient_count": -1}),
    ):
        with pytest.raises(Exception, match=r"rank|sizes|windows|count"):
            shapes(op, given, **attrs)


# ---- features of speech --------------------------------------------------------------------------


def features(sound: Any, **attrs: Any) -> Any:
    out = B("AudioMicrofrontend", np.asarray(sound).astype(np.int16), **attrs)
    assert shapes("AudioMicrofrontend", [np.shape(sound)], **attrs)[0] == [out.shape]
    return out


def test_fixed_point_spectra_are_spectra() -> None:
    rng = np.random.default_rng(1)
    for bits in range(1, 11):
        x = rng.integers(-30000, 30000, (3, 1 << bits)).astype(np.int16)
        real, imag = real_fft(x)
        want = np.fft.rfft(x) / (1 << bits)
        np.testing.assert_allclose(real + 1j * imag, want, atol=bits + 2)


def test_a_tone_lights_up_its_channels() -> None:
    time = np.arange(8000) / 16000
    rows = features(8000 * np.sin(2 * np.pi * 1000 * time), enable_log=False)
    assert rows.shape == (48, 32)
    # The 33 centres are even in mel from 125 to 7500 Hz: 1000 Hz lies between the 10th and 11th.
    assert set(rows[0].argsort()[-2:].tolist()) == {9, 10}
    assert set(rows.argmax(axis=1).tolist()) <= {9, 10}
    assert (rows[0] > 2 * rows[-1].max()).any()  # what lasts counts as noise


def test_frames_are_stacked_with_their_neighbours() -> None:
    sound = np.random.default_rng(2).integers(-9000, 9000, 2000)
    alone = features(sound)
    stacked = features(sound, left_context=1, right_context=2, frame_stride=4)
    np.testing.assert_array_equal(stacked[0], np.concatenate([alone[k] for k in (0, 0, 1, 2)]))
    np.testing.assert_array_equal(stacked[1], np.concatenate([alone[k] for k in (3, 4, 5, 6)]))
    padded = features(sound, left_context=1, zero_padding=True, out_scale=2)
    assert padded[0, :32].tolist() == [0] * 32
    np.testing.assert_array_equal(padded[1, :32], alone[0] // 2)
    halves = features(sound, out_type="float32", out_scale=2)
    np.testing.assert_array_equal(halves, alone / np.float32(2))
    assert features(sound[:100]).shape == (0, 32)


@pytest.mark.parametrize(
    ("attrs", "status", "said"),
    [
        ({"window_step": 0}, "INVALID_ARGUMENT", "windows must have samples"),
        ({"window_step": 26}, "INVALID_ARGUMENT", "windows must have samples"),
        ({"window_size": 0}, "INVALID_ARGUMENT", "windows must have samples"),
        ({"num_channels": 0}, "INVALID_ARGUMENT", "counts must be positive"),
        ({"frame_stride": 0}, "INVALID_ARGUMENT", "counts must be positive"),
        ({"left_context": -1}, "INVALID_ARGUMENT", "context must not be negative"),
        ({"upper_band_limit": 100.0}, "INVALID_ARGUMENT", "bands must rise"),
        ({"upper_band_limit": 8200.0}, "INTERNAL", "within the spectrum"),
        ({"smoothing_bits": 40}, "INVALID_ARGUMENT", "shifts lie in"),
        ({"gain_bits": 3, "enable_pcan": True}, "INVALID_ARGUMENT", "gain_bits and smoothing_bits"),
    ],
)
def test_settings_that_cannot_be_are_refused(attrs: dict[str, Any], status: str, said: str) -> None:
    B.fails(status, said, "AudioMicrofrontend", np.ones(900, np.int16), **attrs)

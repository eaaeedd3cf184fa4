"""Cases of WAV files and spectrograms."""

import struct
from typing import Any

import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(11)
F32 = np.float32
I32 = np.int32
INT32_MAX = 2**31 - 1


def wav(channels: int = 1, frames: int = 5, /, **fields: Any) -> Any:
    """A small WAV file, with header fields as they should be or as ``fields`` has them.

    With ``fields`` its samples are ASCII, as TensorFlow cannot report other bytes in its errors.
    """
    samples = RNG.integers(-(2**15), 2**15, frames * channels).astype("<i2")
    data = (samples & 0x7F7F if fields else samples).tobytes()
    values = {
        "riff": b"RIFF", "size": 36 + len(data), "wave": b"WAVE", "before": b"", "fmt": b"fmt ",
        "fmt_size": 16, "coding": 1, "channels": channels, "rate": 8000,
        "second": 8000 * 2 * channels & 0xFFFFFFFF, "frame": 2 * channels, "bits": 16, "extra": b"",
        "between": b"", "data": b"data", "data_size": len(data), "samples": data, "after": b"",
    }  # fmt: skip
    values |= fields
    head = struct.pack("<4sI4s", values["riff"], values["size"], values["wave"]) + values["before"]
    names = ("fmt", "fmt_size", "coding", "channels", "rate", "second", "frame", "bits")
    head += struct.pack("<4sIHHIIHH", *(values[n] for n in names)) + values["extra"]
    head += values["between"] + struct.pack("<4sI", values["data"], values["data_size"])
    return whole(head + values["samples"] + values["after"])


def whole(data: bytes) -> Any:
    """A scalar that keeps the zeros at its end."""
    out = np.empty((), object)
    out[()] = data
    return out


def chunk(name: bytes, data: bytes, size: int | None = None) -> bytes:
    """A chunk of any name."""
    return struct.pack("<4sI", name, len(data) if size is None else size) + data


def _decoded() -> list[Case]:
    out = [
        case("DecodeWav", wav(c, 5), desired_channels=dc, desired_samples=ds, tol=0)
        for c, dc, ds in (
            (1, -1, -1), (2, -1, -1), (3, 1, 3), (1, 4, 9), (2, 3, 0), (2, 0, 2), (2, -2, 1),
            (2, 1, -2), (9, 7, 7), (1, 2, 5),
        )
    ]  # fmt: skip
    fields: list[dict[str, Any]] = [
        {"riff": b"RIFX"}, {"size": 0}, {"wave": b"WAVF"}, {"fmt": b"fmt_"}, {"fmt_size": 17},
        {"coding": 3}, {"channels": 0}, {"channels": 2}, {"rate": 0}, {"second": 1}, {"frame": 4},
        {"bits": 8}, {"bits": 24}, {"data": b"dada"}, {"data_size": 0}, {"data_size": 3},
        {"data_size": 9}, {"data_size": 11}, {"data_size": 2**31}, {"data_size": INT32_MAX},
        {"samples": b""}, {"samples": b"", "data_size": 0}, {"before": chunk(b"JUNK", b"1234")},
        {"before": chunk(b"bext", b"")}, {"before": chunk(b"odd ", b"12")},
        {"before": chunk(b"JUNK", b"12", 2**31)}, {"before": chunk(b"JUNK", b"12", 500)},
        {"fmt_size": 18, "extra": b"\0\0"}, {"fmt_size": 18}, {"between": chunk(b"LIST", b"abcd")},
        {"between": chunk(b"LIST", b"abcd", 5)}, {"between": chunk(b"LIST", b"", INT32_MAX)},
        {"between": chunk(b"LIST", b"", 2**31)}, {"after": chunk(b"LIST", b"ab", 900)},
        {"after": chunk(b"data", b"ab")}, {"after": b"x"}, {"after": b"datax"},
        {"rate": 2**31, "second": 0}, {"rate": 2**31 - 1, "second": 2**32 - 2},
        {"channels": 32768, "frame": 0, "second": 0},
    ]  # fmt: skip
    out += [case("DecodeWav", wav(1, 5, **f), tol=0, note=str(sorted(f))) for f in fields]
    stereo = wav(2, 3)
    cuts = (0, 3, 4, 11, 20, 35, 43, 44, 46)
    out += [case("DecodeWav", whole(stereo.item()[:n]), tol=0) for n in cuts]
    return [*out, case("DecodeWav", stereo.reshape(1))]


def _encoded() -> list[Case]:
    odd = [
        0,
        1,
        -1,
        np.nan,
        0.5,
        1.5,
        -2,
        np.inf,
        -np.inf,
        1e-9,
        0.99997,
        -0.0,
        1 / 65536,
        -1 / 65536,
    ]
    values = np.array(odd, F32)[:, None]
    ties = ((np.arange(-6, 6) + 0.5) / 2**15).astype(F32).reshape(4, 3)
    out = [case("EncodeWav", v, I32(r)) for v in (values, ties) for r in (1, 44100, INT32_MAX)]
    out += [case("EncodeWav", np.zeros(s, F32), I32(8000)) for s in
            ((0, 1), (3, 0), (0, 0), (1, 65535), (1, 65536), (3,), (2, 2, 1))]  # fmt: skip
    out += [case("EncodeWav", ties, I32(r)) for r in (0, -1)]
    return [*out, case("EncodeWav", ties, np.array([8000], I32))]


def _spectrograms() -> list[Case]:
    # A negative window, and a NaN limit below, are left out: TensorFlow 2.21 crashes on them.
    sound = RNG.uniform(-1, 1, (200, 2)).astype(F32)
    out = [
        case("AudioSpectrogram", sound, window_size=w, stride=s, magnitude_squared=q)
        for w, s in ((2, 1), (3, 2), (16, 5), (33, 40), (64, 64), (200, 1), (201, 1), (100, 99))
        for q in (False, True)
    ]
    out += [
        case("AudioSpectrogram", x, window_size=w, stride=s)
        for x, w, s in (
            (sound, 1, 1), (sound, 0, 1), (sound, 4, 0), (sound, 4, -1),
            (sound[:0], 4, 1), (sound[:, :0], 4, 1), (sound[:, 0], 4, 1), (sound[None], 4, 1),
            (sound * F32(1e30), 8, 8), (sound * F32(np.nan), 8, 8),
        )
    ]  # fmt: skip
    tone = np.sin(np.arange(512) * 0.3).astype(F32)[:, None]
    return [*out, case("AudioSpectrogram", tone, window_size=480, stride=16)]


def _coefficients() -> list[Case]:
    sound = RNG.uniform(0, 1, (2, 3, 129)).astype(F32)
    out = [
        case("Mfcc", sound, I32(rate), **attrs)
        for rate in (16000, 8000, 44100)
        for attrs in ({}, {"filterbank_channel_count": 20, "dct_coefficient_count": 20},
                      {"upper_frequency_limit": 2000.0, "lower_frequency_limit": 0.0},
                      {"upper_frequency_limit": 1e9}, {"filterbank_channel_count": 300})
    ]  # fmt: skip
    wrong: list[dict[str, Any]] = [
        {"filterbank_channel_count": 0}, {"filterbank_channel_count": 3},
        {"dct_coefficient_count": 0}, {"dct_coefficient_count": -1}, {"dct_coefficient_count": 41},
        {"lower_frequency_limit": -1.0}, {"upper_frequency_limit": 20.0},
        {"upper_frequency_limit": 10.0}, {"lower_frequency_limit": 3990.0},
    ]  # fmt: skip
    out += [case("Mfcc", sound, I32(16000), note=str(a), **a) for a in wrong]
    out += [case("Mfcc", sound, I32(r)) for r in (0, -1, 1)]
    odd = (sound[:0], sound[:, :0], sound[..., :1], sound[..., :2], sound[0], sound * F32(0))
    out += [case("Mfcc", s, I32(8000)) for s in odd]
    special = sound.copy()
    special[0, 0, 5], special[0, 1, 9], special[1, 1, 3] = np.nan, np.inf, -1
    out.append(case("Mfcc", special, I32(16000)))
    return [*out, case("Mfcc", sound, np.array([8000], I32))]


CASES = [*_decoded(), *_encoded(), *_spectrograms(), *_coefficients()]

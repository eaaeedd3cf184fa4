"""Which notes are in a sound? (Basic Pitch)"""

from __future__ import annotations

import time
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from rich.console import Console
from rich.table import Table

from ci.scripts.demo._case import Array, Checked, RecordedModel

__all__ = ["MELODY", "Note", "find_notes", "show", "synthesize"]

RATE = 22050
WINDOW = 43844  # samples the model takes at once
FRAME = 256  # samples a frame
OVERLAP = 30  # frames that neighbouring windows share
LOWEST = 21  # MIDI number of the first of 88 pitches
NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
ONSET, HELD = 0.5, 0.3
SHORTEST = 11  # frames: an eighth of a second
BEAT = 0.5
# The first line of the Ode to Joy over two held chords: MIDI numbers, start and length in beats.
MELODY = (
    *((pitch, float(k), 0.9) for k, pitch in enumerate((64, 64, 65, 67, 67, 65, 64, 62))),
    (48, 0.0, 3.8), (55, 0.0, 3.8), (43, 4.0, 3.8), (59, 4.0, 3.8),
)  # fmt: skip


@dataclass(frozen=True)
class Note:
    """A note: MIDI number, start and end in seconds, strength in [0, 1]."""

    pitch: int
    start: float
    end: float
    strength: float

    @property
    def name(self) -> str:
        """As musicians write it: C4 is the middle C."""
        return f"{NAMES[self.pitch % 12]}{self.pitch // 12 - 1}"


def synthesize() -> Array:
    """The melody as a plucked sound: mono samples in [-1, 1]."""
    sound = np.zeros(int((8.6 * BEAT) * RATE), np.float32)
    for pitch, start, length in MELODY:
        ticks = np.arange(int(length * BEAT * RATE)) / RATE
        tone = sum(
            np.sin(2 * np.pi * 440 * 2 ** ((pitch - 69) / 12) * k * ticks)
            * np.exp(-k * ticks)
            / k**2.2
            for k in range(1, 7)
        )
        fade = np.minimum(1, np.minimum(ticks / 0.005, (ticks[-1] - ticks) / 0.03))
        first = int(start * BEAT * RATE) + RATE // 10
        sound[first : first + len(ticks)] += tone * fade
    loudest: Array = np.abs(sound).max()
    return np.asarray(0.7 * sound / loudest, np.float32)


def _windows(sound: Array) -> Array:
    """The sound in overlapping windows [count, WINDOW, 1], half an overlap of silence first."""
    hop = WINDOW - OVERLAP * FRAME
    padded = np.concatenate([np.zeros(OVERLAP * FRAME // 2, np.float32), sound])
    count = -(-len(padded) // hop)
    padded = np.pad(padded, (0, count * hop + WINDOW - len(padded)))
    return np.stack([padded[k * hop : k * hop + WINDOW] for k in range(count)])[..., None]


def _joined(windows: Array, frames: int) -> Array:
    """Frames of all windows in a row, without what they share: [frames, 88]."""
    inner = windows[:, OVERLAP // 2 : -OVERLAP // 2]
    return inner.reshape(-1, inner.shape[-1])[:frames]


def find_notes(onsets: Array, held: Array) -> list[Note]:
    """Notes from the probabilities that one begins, and that one sounds, both [frames, 88].

    A note begins where the first peaks and ends where the second falls below its threshold.
    """
    rate = RATE / FRAME
    before, after = np.pad(onsets, ((1, 1), (0, 0)))[:-2], np.pad(onsets, ((1, 1), (0, 0)))[2:]
    peaks = (onsets > ONSET) & (onsets >= before) & (onsets > after)
    notes = []
    for key in range(onsets.shape[1]):
        starts = np.flatnonzero(peaks[:, key])
        for number, start in enumerate(starts):
            limit = starts[number + 1] if number + 1 < len(starts) else len(held)
            quiet = np.flatnonzero(held[start + 1 : limit, key] < HELD)
            end = start + 1 + (quiet[0] if len(quiet) else limit - start - 1)
            if end - start >= SHORTEST:
                strength = float(held[start:end, key].mean())
                notes.append(Note(LOWEST + key, start / rate, end / rate, strength))
    return sorted(notes, key=lambda n: (round(n.start, 1), n.pitch))


def show(console: Console, output: Path) -> list[Checked]:
    """Print the notes that are found in the melody; write the sound and a piano roll."""
    model = RecordedModel("basic-pitch")
    sound = synthesize()
    start = time.perf_counter()
    found = model.model.signatures["serving_default"](_windows(sound))
    seconds = time.perf_counter() - start
    frames = len(sound) // FRAME
    onsets, held = _joined(found["onset"], frames), _joined(found["note"], frames)
    notes = find_notes(onsets, held)
    played = [Note(p, 0.1 + s * BEAT, 0.1 + (s + n) * BEAT, 1.0) for p, s, n in MELODY]
    console.print(_table(notes, played))
    console.print(
        f"{sum(_match(n, notes) is not None for n in played)} of the {len(played)} notes played "
        f"were heard; {len(sound) / RATE:.1f} s of sound in {seconds:.1f} s\n"
    )
    _write_sound(sound, output / "notes.wav")
    _piano_roll(held, notes, played).save(output / "notes.png")
    return [model.check()]


def _match(note: Note, among: list[Note]) -> Note | None:
    """The note of that pitch that begins at about the same time."""
    near = (n for n in among if n.pitch == note.pitch and abs(n.start - note.start) < 0.12)
    return next(near, None)


def _table(notes: list[Note], played: list[Note]) -> Table:
    table = Table(title="Notes heard in a melody (Basic Pitch)", title_justify="left")
    for name in ("onset", "note", "length", "strength", "played"):
        table.add_column(name, justify="right" if name in ("onset", "length") else "left")
    for note in notes:
        source = _match(note, played)
        table.add_row(
            f"{note.start:.2f} s",
            note.name,
            f"{note.end - note.start:.2f} s",
            "█" * round(note.strength * 12),
            f"[green]{source.name} at {source.start:.2f} s" if source else "[yellow]not played",
        )
    return table


def _write_sound(sound: Array, path: Path) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.int16(sound * 32767).tobytes())


def _piano_roll(held: Array, notes: list[Note], played: list[Note]) -> Image.Image:
    """Probability of each pitch in grey, notes found as filled boxes, notes played as outlines."""
    pitches = [note.pitch for note in (*notes, *played)]
    low, high = min(pitches) - 1, max(pitches) + 2
    row, column, left, top = 22, 3, 56, 34
    width, height = left + column * len(held) + 10, top + row * (high - low) + 30
    image = Image.new("RGB", (width, height), (255, 255, 255))
    shade = np.uint8(255 - 110 * np.clip(held[:, low - LOWEST : high - LOWEST].T[::-1], 0, 1))
    back = Image.fromarray(shade).resize(
        (column * len(held), row * (high - low)), Image.Resampling.NEAREST
    )
    image.paste(back.convert("RGB"), (left, top))
    pen = ImageDraw.Draw(image)
    second = RATE / FRAME * column

    def box(note: Note) -> tuple[float, float, float, float]:
        y = top + row * (high - 1 - note.pitch)
        return (left + note.start * second, y + 2, left + note.end * second, y + row - 3)

    for note in notes:
        pen.rectangle(box(note), fill=(0, 160, 140))
        pen.text(
            (box(note)[0] + 4, box(note)[1] + 1), note.name, fill=(255, 255, 255), font_size=13
        )
    for note in played:
        pen.rectangle(box(note), outline=(255, 120, 0), width=2)
    for pitch in range(low, high):
        label = Note(pitch, 0, 0, 0).name
        pen.text((12, top + row * (high - 1 - pitch) + 3), label, fill=(60, 60, 60), font_size=13)
    for tick in range(int(len(held) / (RATE / FRAME)) + 1):
        pen.line(
            (left + tick * second, top, left + tick * second, height - 26), fill=(200, 200, 200)
        )
        pen.text(
            (left + tick * second - 8, height - 22), f"{tick} s", fill=(60, 60, 60), font_size=13
        )
    legend = "filled: heard   outlined: played   grey: how sure the model is that the pitch sounds"
    pen.text((left, 8), legend, fill=(60, 60, 60), font_size=14)
    return image

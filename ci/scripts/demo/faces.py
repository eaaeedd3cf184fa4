"""Find a face in a picture, its landmarks, and the background (BlazeFace, Face Mesh, Selfie)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from rich.console import Console
from rich.table import Table

from ci.scripts.demo._case import Array, Checked, RecordedModel

__all__ = ["Face", "anchors", "find_faces", "show"]

INPUT = 128
GRIDS = ((16, 2), (8, 6))  # cells a side, anchors a cell
KEYPOINTS = ("right eye", "left eye", "nose", "mouth", "right ear", "left ear")
THRESHOLD = 0.5
OVERLAP = 0.3
SHOWN = 640
TEAL, ORANGE, WHITE = (0, 200, 170), (255, 140, 0), (255, 255, 255)


@dataclass(frozen=True)
class Face:
    """A face: score, box (left, top, right, bottom) and key points, in shares of the picture."""

    score: float
    box: Array
    points: Array


def anchors() -> Array:
    """Centres of BlazeFace's 896 anchors, in shares of the picture, coarse grid last."""
    centres = []
    for cells, count in GRIDS:
        ticks = (np.arange(cells) + 0.5) / cells
        grid = np.stack(np.meshgrid(ticks, ticks), -1).reshape(-1, 2)
        centres.append(np.repeat(grid, count, axis=0))
    return np.concatenate(centres)


def find_faces(scores: Array, boxes: Array) -> list[Face]:
    """Faces from the raw scores [896] and boxes [896, 16], best first, overlapping ones merged.

    A box holds centre, size and six key points, in pixels relative to its anchor. Boxes that
    overlap are averaged by score, as the BlazeFace paper proposes in place of suppression.
    """
    probability = 1 / (1 + np.exp(-np.clip(scores, -80, 80)))
    values = boxes / INPUT
    points = values[:, 4:].reshape(-1, 6, 2) + anchors()[:, None]
    centre = values[:, :2] + anchors()
    corners = np.concatenate([centre - values[:, 2:4] / 2, centre + values[:, 2:4] / 2], 1)
    left = list(np.flatnonzero(probability > THRESHOLD))
    faces = []
    while left:
        best = max(left, key=lambda k: float(probability[k]))
        same = [k for k in left if _overlap(corners[best], corners[k]) > OVERLAP]
        weight = probability[same] / probability[same].sum()
        faces.append(
            Face(
                float(probability[best]),
                np.tensordot(weight, corners[same], 1),
                np.tensordot(weight, points[same], 1),
            )
        )
        left = [k for k in left if k not in same]
    return faces


def _overlap(a: Array, b: Array) -> float:
    """Intersection over union of two boxes."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    common = float(np.prod(np.maximum(sides, 0)))
    areas = float(np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]))
    return common / (areas - common) if areas > common else 1.0


def show(console: Console, output: Path) -> list[Checked]:
    """Print what is found, and write the annotated picture."""
    detector, mesh, selfie = map(RecordedModel, ("blazeface-front", "facemesh", "selfie"))
    picture = _picture(selfie)
    start = time.perf_counter()
    faces = _detect(detector, picture)
    table = Table(title="Faces in a picture (BlazeFace, Face Mesh, Selfie)", title_justify="left")
    for name in ("face", "score", "box", "landmarks", *KEYPOINTS):
        table.add_column(name)
    meshes = []
    for number, face in enumerate(faces, 1):
        points, confidence = _mesh(mesh, picture, face)
        meshes.append(points)
        table.add_row(
            str(number),
            f"{face.score:.1%}",
            " ".join(str(round(float(v) * SHOWN)) for v in face.box),
            f"{len(points)} ({confidence:.0%})",
            *(f"{x * SHOWN:.0f} {y * SHOWN:.0f}" for x, y in face.points),
        )
    mask = _person(selfie, picture)
    seconds = time.perf_counter() - start
    _draw(picture, faces, meshes, mask).save(output / "face.png")
    console.print(table)
    console.print(
        f"a person on {mask.mean():.0%} of the picture; all of it in {seconds * 1e3:.0f} ms\n"
    )
    return [detector.check(), mesh.check(), selfie.check()]


def _picture(selfie: RecordedModel) -> Image.Image:
    """The recorded photograph."""
    pixels = next(iter(selfie.recorded_inputs.values()))[0]
    return Image.fromarray(np.uint8(np.round(pixels * 255)))


def _pixels(picture: Image.Image, side: int) -> Array:
    """The picture at that size, [1, side, side, 3] in [0, 1]."""
    resized = picture.resize((side, side), Image.Resampling.BILINEAR)
    return np.asarray(resized, np.float32)[None] / 255


def _detect(detector: RecordedModel, picture: Image.Image) -> list[Face]:
    fetches = ["Identity:0", "Identity_1:0", "Identity_2:0", "Identity_3:0"]
    values = detector.model.run(fetches, {"input:0": _pixels(picture, INPUT) * 2 - 1})
    fine, coarse, fine_boxes, coarse_boxes = (value[0] for value in values)
    return find_faces(
        np.concatenate([fine, coarse])[:, 0], np.concatenate([fine_boxes, coarse_boxes])
    )


def _mesh(mesh: RecordedModel, picture: Image.Image, face: Face) -> tuple[Array, float]:
    """Landmarks [468, 2] in shares of the picture, and how sure the model is that it saw a face."""
    centre = (face.box[:2] + face.box[2:]) / 2
    half = float((face.box[2:] - face.box[:2]).max()) * 0.75
    edges = np.concatenate([centre - half, centre + half]) * picture.width
    left, top, right, bottom = (round(float(v)) for v in edges)
    crop = picture.crop((left, top, right, bottom))
    landmarks, flag = mesh.model.run(
        ["Identity_2:0", "Identity_1:0"], {"input_1:0": _pixels(crop, 192)}
    )
    points = landmarks[0].reshape(-1, 3)[:, :2] / 192
    return centre - half + points * 2 * half, float(flag[0, 0])


def _person(selfie: RecordedModel, picture: Image.Image) -> Array:
    """Share of person in each pixel, [256, 256]."""
    mask: Array = selfie.model.run("activation_10:0", {"input_1:0": _pixels(picture, 256)})[
        0, :, :, 0
    ]
    return mask


def _draw(picture: Image.Image, faces: list[Face], meshes: list[Array], mask: Array) -> Image.Image:
    """Two panels: box and key points; landmarks on the person, the background turned to grey."""
    large = picture.resize((SHOWN, SHOWN), Image.Resampling.LANCZOS)
    cover = Image.fromarray(np.uint8(np.clip(mask, 0, 1) * 255)).resize(large.size)
    faded = Image.blend(large.convert("L").convert("RGB"), Image.new("RGB", large.size, WHITE), 0.6)
    cut = Image.composite(large, faded, cover)
    pen, mesh_pen = ImageDraw.Draw(large), ImageDraw.Draw(cut)
    for face, points in zip(faces, meshes, strict=True):
        left, top, right, bottom = (float(v) * SHOWN for v in face.box)
        pen.rectangle((left, top, right, bottom), outline=TEAL, width=4)
        pen.rectangle((left, top - 26, left + 150, top), fill=TEAL)
        pen.text((left + 8, top - 24), f"face {face.score:.1%}", fill=WHITE, font_size=18)
        for (x, y), name in zip(face.points * SHOWN, KEYPOINTS, strict=True):
            pen.ellipse((x - 5, y - 5, x + 5, y + 5), fill=ORANGE, outline=WHITE)
            pen.text((x + 8, y - 8), name, fill=WHITE, font_size=14, stroke_width=2, stroke_fill=0)
        for x, y in points * SHOWN:
            mesh_pen.ellipse((x - 1.6, y - 1.6, x + 1.6, y + 1.6), fill=TEAL)
    both = Image.new("RGB", (2 * SHOWN + 20, SHOWN), WHITE)
    both.paste(large, (0, 0))
    both.paste(cut, (SHOWN + 20, 0))
    return both

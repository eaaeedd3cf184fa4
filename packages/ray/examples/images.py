"""Classify many images with actors of Ray, lose one on the way, and count what came out.

    python examples/images.py MODEL --images 100000 --actors 2

MODEL has one input of float images, such as a MobileNetV2. Images are made from their numbers where
they are needed, so nothing is downloaded. In the middle one of the processes is killed: Ray starts
another, and every image still comes out once. The same model then classifies some of the images in
this process alone, and must give the same classes.
"""

from __future__ import annotations

import argparse
import json
import math
import operator
import os
import signal
import sys
import time
from typing import Any, TypeAlias

import numpy as np
import ray

from drystone_ray import RayPredictor

Array = np.ndarray[Any, Any]
Answers: TypeAlias = dict[int, tuple[int, float]]
"""The class and the score of an image, by its number."""


class Classifier(RayPredictor):
    """The class of each image with its score, and the process that said it."""

    def __call__(self, batch: Any) -> dict[str, Array]:
        """Columns ``id``, ``class``, ``score`` and ``process``."""
        (spec,) = self.function.inputs.values()
        side = spec.shape[1] if spec.shape else 224
        (scores,) = super().__call__({"image": images(batch["id"], side)}).values()
        scores = scores.reshape(len(batch["id"]), -1)
        process = np.full(len(scores), os.getpid())
        found = {"class": scores.argmax(1), "score": scores.max(1)}
        return {"id": batch["id"], "process": process} | found


def images(numbers: Array, side: int) -> Array:
    """Random images, each always the same for its number."""
    made = [np.random.default_rng(int(k)).random((side, side, 3), np.float32) for k in numbers]
    return np.stack(made) * 2 - 1


def main(argv: list[str] | None = None) -> int:
    """Run the example; 1 when an image was lost, came twice, or got another class."""
    arguments = _arguments(argv)
    ray.init(num_cpus=arguments.actors + 1, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    data = ray.data.range(arguments.images, override_num_blocks=max(8, arguments.images // 500))
    data = data.map_batches(
        Classifier,
        fn_constructor_args=(os.path.abspath(arguments.model),),
        fn_constructor_kwargs={"threads": 1},
        batch_size=arguments.batch,
        concurrency=arguments.actors,
        num_cpus=1,
    )
    answers, processes, seconds = _collect(data, arguments)
    ray.shutdown()
    rate, wrong = _alone(arguments, answers)
    report = {
        "images": arguments.images,
        "lost": arguments.images - len(answers),
        "wrong": wrong,
        "processes": len(processes),
        "images_per_second": round(arguments.images / seconds, 1),
        "alone_images_per_second": round(rate, 1),
        "ratio": round(arguments.images / seconds / rate, 2),
    }
    print(json.dumps(report) if arguments.json else _told(report))
    return int(bool(report["lost"] or wrong or len(processes) <= arguments.actors))


def _collect(data: Any, arguments: argparse.Namespace) -> tuple[Answers, set[int], float]:
    """What is said of each image, by whom, and the seconds from the first batch to the last."""
    answers: Answers = {}
    processes: set[int] = set()
    killed, begin, before = False, 0.0, 0
    for batch in data.iter_batches(batch_size=arguments.batch):
        begin = begin or time.monotonic()
        for number, answer in _answers(batch).items():
            if number in answers:
                raise SystemExit(f"image {number} came twice")
            answers[number] = answer
        processes |= set(batch["process"].tolist())
        if not killed and len(answers) >= arguments.images // 3:
            os.kill(int(batch["process"][0]), signal.SIGKILL)
            killed = True
        tenth = len(answers) * 10 // arguments.images
        if tenth > before:
            print(f"{len(answers)} of {arguments.images} images", file=sys.stderr, flush=True)
            before = tenth
    return answers, processes, time.monotonic() - begin


def _answers(batch: Any) -> Answers:
    pairs = zip(batch["class"].tolist(), batch["score"].tolist(), strict=True)
    return dict(zip(batch["id"].tolist(), pairs, strict=True))


def _alone(arguments: argparse.Namespace, answers: Answers) -> tuple[float, int]:
    """Images a second in this process, with as many threads, and how many answers differ."""
    call = Classifier(arguments.model, threads=arguments.actors)
    some = np.arange(min(arguments.images, arguments.compare))
    parts = np.array_split(some, max(1, len(some) // arguments.batch))
    call({"id": parts[0]})
    begin = time.monotonic()
    found: Answers = {}
    for part in parts:
        found |= _answers(call({"id": part}))
    seconds = time.monotonic() - begin
    near = [math.isclose(answers[k][1], found[k][1], rel_tol=1e-4) for k in found]
    same = [answers[k][0] == found[k][0] for k in found]
    return len(some) / seconds, len(found) - sum(map(operator.and_, near, same))


def _told(report: dict[str, Any]) -> str:
    return "\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in report.items())


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a SavedModel or GraphDef that classifies images")
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--compare", type=int, default=256, help="images that run here again")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(argv)


if __name__ == "__main__":
    raise SystemExit(main())

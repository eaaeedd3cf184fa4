"""Ops of models and training graphs whose kernels are Python in the native executor.

``python -m bench.alone.python_ops [--models FOLDER] [--plugin LIBRARY] [--only TEXT]``. The plans
of all recorded models and training runs, and of one step of each Keras model that is trained in
the benchmark (with drystone-keras installed): ops that run NumPy kernels, with how many of their
nodes do, how many do not, and where.
"""

from __future__ import annotations

import argparse
import importlib
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import drystone as ds
from bench.cases.recorded import recorded
from bench.keras_models import MODELS, batches, build
from drystone_base.plugins import PluginWarning, load_library

FORMS = ("graphdef", "savedmodel", "metagraph")


def _recorded(folder: Path | None, only: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for case in recorded(folder):
        if only in case.name:
            file = next(case.forms[form] for form in FORMS if form in case.forms)
            fetches = [*case.outputs, *filter(None, [case.train_op])]
            yield case.name, ds.load(file).session.describe(fetches, list(case.inputs))


def _keras(only: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    os.environ["KERAS_BACKEND"] = "drystone"
    importlib.import_module("keras_drystone")  # before keras
    import keras

    for name in MODELS:
        if only in f"keras-{name}":
            model = build(keras, name)
            x, y = batches(name)
            model.train_on_batch(x[0], y[0])
            for trace in model.train_function.step.traces:
                feeds = [f"{node}:0" for node in trace.inputs.values()]
                fetches = list(trace.outputs.values())
                yield f"keras-{name}", trace.session.describe(fetches, feeds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--models", type=Path)
    parser.add_argument("--plugin", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore", PluginWarning)
    if options.plugin is not None:
        load_library(options.plugin, developer_mode=True)
    slow, quick, where = Counter[str](), Counter[str](), defaultdict[str, set[str]](set)
    found = [_recorded(options.models, options.only)]
    if find_spec("keras_drystone") is not None:
        found.append(_keras(options.only))
    for plans in found:
        for name, described in plans:
            for block in described["blocks"]:
                for node in block["instructions"]:
                    (slow if "callback" in node else quick)[node["op"]] += 1
                    if "callback" in node:
                        where[node["op"]].add(name)
    print(f"{'op':34}{'Python':>8}{'native':>8}  in")
    for op, count in slow.most_common():
        print(f"{op:34}{count:8}{quick[op]:8}  {', '.join(sorted(where[op]))}")


if __name__ == "__main__":
    main()

"""Everything that a machine with a GPU can show of drystone-gpu, in one JSON file."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final

__all__ = ["main"]

NO_GPU: Final = 3
"""Exit status where there is nothing to run on."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ci.scripts.gpu", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("gpu.json"), help="where the JSON goes")
    parser.add_argument("--models", type=Path, help="folder of recorded models with an index.json")
    parser.add_argument("--seconds", type=float, default=150, help="for subjects to get ready in")
    parser.add_argument("--engines", default="", help="some, with commas between: default all")
    parser.add_argument("--library", type=Path, help="the plugin, where it is not installed")
    parser.add_argument("--part", choices=("values", "device", "speed"), help="only one of them")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run it: 0 where all values are right, 1 where some are not, 3 without a GPU."""
    asked = _parser().parse_args(arguments)
    found = _gpu(asked.library)
    if found["devices"] == 0:
        print(f"no GPU to run on: {found['reason']}", file=sys.stderr)
        return NO_GPU
    report: dict[str, Any] = {
        "format": 1, "when": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M+00:00}",
        "gpu": found,
    }  # fmt: skip
    begin = time.monotonic()
    if asked.part in (None, "device"):
        from ci.scripts.gpu.placed import placed_report

        report["device"] = placed_report(asked.models)
        print(f"device: {time.monotonic() - begin:.0f} s", flush=True)
    if asked.part in (None, "values"):
        report["values"] = _values(asked.models)
        print(f"values: {time.monotonic() - begin:.0f} s", flush=True)
    if asked.part in (None, "speed"):
        from ci.scripts.gpu.speed import ENGINES, compare

        engines = asked.engines.split(",") if asked.engines else ENGINES
        report["speed"] = compare(asked.output.parent / "logs", asked.seconds, engines)
        report["ratios"] = _ratios(report["speed"])
    report["seconds"] = round(time.monotonic() - begin, 1)
    asked.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    _say(report)
    parts = (report.get(part, {}) for part in ("values", "device"))
    return int(any(part.get("problems") for part in parts))


def _gpu(library: Path | None) -> dict[str, Any]:
    """The card, if the backend is loaded; and its driver."""
    from drystone_base.core.errors import PluginError
    from drystone_base.plugins import load_library, report
    from drystone_subgraph.contract.backend import backends

    with suppress(PluginError):  # the report has the reason
        if library is not None:
            load_library(str(library), developer_mode=True)
    if "gpu" not in backends():
        plugin = next((p for p in report().plugins if "drystone_gpu" in p.path), None)
        text = "drystone-gpu is not installed"
        return {"devices": 0, "reason": f"{plugin.reason}: {plugin.text}" if plugin else text}
    if os.environ.get("DRYSTONE_GPU_DEVICE") == "host":
        return {"devices": 1, "name": "the processor, in place of a GPU"}
    asked = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        return {"devices": 0, "reason": f"nvidia-smi: {error}"}
    rows = [re.split(r",\s*", line) for line in done.stdout.splitlines() if line]
    return {"devices": len(rows), "name": rows[0][0], "driver": rows[0][1], "memory": rows[0][2]}


def _values(models: Path | None) -> dict[str, Any]:
    os.environ["DRYSTONE_GPU_SMALL_REGIONS"] = "1"
    from ci.scripts.gpu.behaviour import behaviour_problems
    from ci.scripts.gpu.cases import op_cases
    from ci.scripts.gpu.check import problem_of
    from ci.scripts.gpu.fused import fused_problems
    from ci.scripts.gpu.recorded import recorded_models

    problems: dict[str, str] = {}
    ops = graphs = 0
    for case in op_cases():
        ops += 1
        try:
            said = problem_of(case)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        if said:
            problems[case.title] = said
    for title, said in chain(fused_problems(), behaviour_problems()):
        graphs += 1
        if said:
            problems[title] = said
    del os.environ["DRYSTONE_GPU_SMALL_REGIONS"]
    rows = list(recorded_models(models)) if models else []
    problems |= {row["model"]: row["problem"] for row in rows if row["problem"]}
    return {"op_cases": ops, "graphs": graphs, "models": rows, "problems": problems}


def _ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Others' time over ours: above 1, we are faster."""
    keys = ("network", "batch", "precision", "engine")
    by = {tuple(row[key] for key in keys): row["seconds"] for row in rows}
    found = []
    for (network, batch, precision, engine), seconds in by.items():
        ours = by[network, batch, precision, "drystone"]
        if engine != "drystone" and seconds and ours:
            found.append({"network": network, "batch": batch, "precision": precision,
                          "beside": engine, "ratio": round(seconds / ours, 3)})  # fmt: skip
    return found


def _say(report: dict[str, Any]) -> None:
    for part in ("values", "device"):
        _say_values(part, report.get(part, {}))
    for row in report.get("speed", []):
        seconds = "-" if row["seconds"] is None else f"{row['seconds'] * 1e3:.3f} ms"
        subject = (row[key] for key in ("network", "batch", "precision", "engine"))
        print(*subject, seconds, row["problem"], *row.get("reasons", ()))
    print(report["gpu"], f"{report['seconds']} s")


def _say_values(part: str, values: dict[str, Any]) -> None:
    for name, said in list(values.get("problems", {}).items())[:40]:
        print(f"WRONG {name}: {said}"[:400])
    for row in values.get("models", []):
        print({k: v for k, v in row.items() if v not in ("", [])})
    counts = {key: value for key, value in values.items() if isinstance(value, int)}
    if values:
        print(part, counts, f"{len(values['problems'])} wrong")


if __name__ == "__main__":
    sys.exit(main())

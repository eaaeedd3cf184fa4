"""Write the figures of docs/reference/gpu.md from bench/results/gpu; ``--check`` only compares.

Run from the repository root: ``python -m ci.scripts.gpu.page [--check]``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from ci.scripts.project import ROOT

__all__ = ["main", "outdated", "render"]

PAGE: Final = Path("docs/reference/gpu.md")
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->"
TITLES: Final = {
    "resnet50": "ResNet50", "mobilenetv2": "MobileNetV2", "bert-base": "BERT-base, 128 tokens",
}  # fmt: skip
ENGINES: Final = ("drystone", "torch-eager", "torch-compiled")


def _newest(root: Path) -> Path:
    return max((root / "bench" / "results" / "gpu").glob("*.json"))


def _cell(row: dict[str, Any] | None) -> str:
    return "-" if row is None or row["seconds"] is None else f"{row['seconds'] * 1e3:.2f} ms"


def render(root: Path = ROOT) -> str:
    """The figures as text."""
    file = _newest(root)
    report = json.loads(file.read_text(encoding="utf-8"))
    values, gpu = report["values"], report["gpu"]
    by = {(r["network"], r["batch"], r["precision"], r["engine"]): r for r in report["speed"]}
    lines = [_values(file.name, report["when"][:10], values, gpu), "", _times(report["speed"]), "",
             "| network | examples | precision | drystone-gpu | eager | compiled | ratio |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for network, batch, precision in dict.fromkeys(key[:3] for key in by):
        found = [by.get((network, batch, precision, engine)) for engine in ENGINES]
        ours, theirs = (r["seconds"] if r else None for r in (found[0], found[2]))
        ratio = f"{ours / theirs:.2f}" if ours and theirs else "-"
        cells = [TITLES[network], str(batch), precision, *map(_cell, found), ratio]
        lines.append("| " + " | ".join(cells) + " |")
    if report.get("notes"):
        lines += ["", *report["notes"]]
    return "\n".join([*lines, ""])


def _values(name: str, day: str, values: dict[str, Any], gpu: dict[str, Any]) -> str:
    return (
        f"One run on {day} on one {gpu['name']}, driver {gpu['driver']} "
        f"([all of it](../../bench/results/gpu/{name})). Of {values['op_cases']} single ops, "
        f"{values['graphs']} small graphs and {len(values['models'])} recorded models "
        f"{len(values['problems'])} gave other values than the reference kernels and TensorFlow."
    )


def _times(rows: list[dict[str, Any]]) -> str:
    return (
        "Times are medians of a call from an array of the host to an array of the host, with "
        "random weights; subjects took turns, and all copy on every processor. "
        f"PyTorch is version {_torch_version(rows)}: *eager* with cuDNN's benchmark mode, "
        "*compiled* by torch.compile with mode `reduce-overhead`; channels last, TF32 off. "
        "The ratio is ours over compiled: below 1 we are faster."
    )


def _torch_version(rows: list[dict[str, Any]]) -> str:
    return next((str(r["torch"]) for r in rows if "torch" in r), "unknown")


def _page(root: Path) -> str:
    text = (root / PAGE).read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    return before + BEGIN + "\n" + render(root) + "\n" + END + rest.split(END, 1)[1]


def outdated(root: Path = ROOT) -> bool:
    """Whether the page has other figures than the newest results."""
    return (root / PAGE).read_text(encoding="utf-8") != _page(root)


def main(root: Path = ROOT) -> int:
    """Write the page, or compare it."""
    if "--check" in sys.argv[1:]:
        print(f"{PAGE}: {'outdated' if outdated(root) else 'up to date'}")
        return int(outdated(root))
    (root / PAGE).write_text(_page(root), encoding="utf-8")
    print(f"{PAGE}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())

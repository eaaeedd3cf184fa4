"""Write the page performance.md and the README's section from the newest of bench/results/.

Run from the repository root: `python -m ci.scripts.performance_page [--check]`; `--check` only
compares, the plot's mark too. `nox -s bench -- --publish` measures again and runs this.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import shorten, wrap
from typing import Any

from bench import result as of
from bench.case import GROUPS
from bench.plot import digest
from bench.table import cell, why_not
from ci.scripts.project import ROOT

__all__ = ["main", "outdated", "page", "section"]

PAGE, PLOT, README = (
    Path("docs/reference/performance.md"),
    Path("docs/reference/performance.svg"),
    Path("README.md"),
)
BEGIN, END = "<!-- performance: begin -->\n", "<!-- performance: end -->\n"

INTRO = """# Performance

Generated from the newest file in `bench/results/` by `python -m ci.scripts.performance_page`. One
command measures everything again and rewrites this page: `nox -s bench -- --publish`.

## How to read it

- The runtimes of a row were measured in one run, in processes of its own that are driven in turn,
  round after round (A B C, B C A, …). A cell has the median over the rounds, half their range (±),
  and **how many times drystone's time** the peer takes: above 1x, drystone is faster. A round's
  time is the median over batches of calls; it is wall time, or processor time for a case during
  which other programs kept more than 0.15 cores busy (with one thread the two are the same on a
  quiet machine, and only the second can be trusted on a shared one). Before the first round each
  process makes 20 calls, or as many as 3 s allow, since runtimes look in their first calls what is
  quickest: drystone with several threads in the first 15.
- The peers get the same graph in the form they take: TensorFlow and OpenVINO TensorFlow's file,
  onnxruntime a conversion by tf2onnx, PyTorch the same calculation as its users write it: chains
  and loops as TorchScript, large networks by `torch.compile`. A dash: there is no such form.
- All take and give NumPy arrays in float32, and compute in float32 with the same number of threads
  where the heading says nothing else. For bfloat16, TensorFlow and drystone are told
  `auto_mixed_precision_onednn_bfloat16`, OpenVINO its precision hint, PyTorch `autocast`. The large
  networks have random weights (`bench/networks.py` makes them). TensorFlow runs
  with its default optimizers and oneDNN, with one thread in the calling thread; onnxruntime with
  all optimizations; OpenVINO with fixed shapes and one stream; drystone with what
  `pip install drystone` gives.
- From process start to first answer, the first row of a model is of processes that have not met
  it, and find a note of what is installed; in the second, "a later process", each may find what
  its runtime keeps by itself when it is not asked for: drystone the model's plan. All other rows do
  without cached plans.
- What is left to the machine's limits, node by node: `python -m bench.roofline MODEL --inputs
  IN.NPZ --fetch TENSOR` measures the peaks of arithmetic and of memory, and prints each node's
  time, GFLOP/s, GB/s and how many times its limit it takes; `ONEDNN_VERBOSE=profile_exec` in the
  environment of any program lists oneDNN's primitives with their times.
- Every runtime's answer is held against the recorded one before it is timed; a wrong one gives no
  time. Memory is the most that the process ever held, with Python and everything loaded.
"""

WHAT = {
    "import": "import",
    "answer": "process start to first answer",
    "again": "the same, a later process",
}


def page(result: of.Result) -> str:
    """The page as text."""
    return "\n".join([INTRO, *_facts(result), "![Ratios](performance.svg)\n", *_tables(result)])


def _facts(result: of.Result) -> Iterator[str]:
    machine = result["machine"]
    versions = [
        f"{name} {version}"
        for peer in result["peers"].values()
        for name, version in peer.get("versions", {}).items()
        if name != "numpy"
    ]
    yield "## This run\n"
    yield (f"{result['when']}: {machine['processor']}, {machine['cores']} cores, "
           f"{machine['memory'] / 1e9:.0f} GB, {machine['system']}, Python {result['python']}; "
           f"{_threads(result)}, {result['rounds']} rounds; commit "
           f"`{result['commit']}`. {', '.join(versions)}.\n")  # fmt: skip
    yield f"{_company(result)}\n"
    yield from _later(result)
    if result["quick"]:
        yield "This was a quick run: a part of the cases, fewer rounds.\n"
    absent = [f"{name}: {facts['absent']}." for name, facts in result["peers"].items()
              if "absent" in facts]  # fmt: skip
    if absent:
        yield "Not measured: " + " ".join(absent) + "\n"


def _later(result: of.Result) -> Iterator[str]:
    """Which rows are of other runs."""
    runs: dict[tuple[str, str], list[str]] = {}
    for row in [*result["processes"], *result["cases"]]:
        if "when" in row:
            runs.setdefault((row["when"], row["commit"]), []).append(row["name"])
    for (when, commit), names in sorted(runs.items()):
        yield f"Measured at another time, {when}, at commit `{commit}`: {', '.join(names)}.\n"


def _threads(result: of.Result) -> str:
    number = result["threads"]
    return "1 thread" if number == 1 else f"{number} threads"


def _company(result: of.Result) -> str:
    """How much else the machine did, and what that means for the times."""
    rows = [*result["processes"], *result["cases"]]
    others = sorted(entry["others"] for row in rows for entry in row["found"].values()
                    if "others" in entry)  # fmt: skip
    middle = others[len(others) // 2] if others else 0.0
    disturbed = sum(row["clock"] == "cpu" for row in rows)
    said = (f"Meanwhile other programs kept {middle:.1f} of {result['machine']['cores']} cores "
            "busy (median)")  # fmt: skip
    if disturbed:
        what = f"the machine was shared, so {disturbed} of {len(rows)} rows are in processor time"
        return f"{said}: {what}, which with one thread is the wall time of a quiet machine."
    return f"{said}: times are wall time."


def _tables(result: of.Result) -> Iterator[str]:
    names = of.peers(result)
    yield from _table("Processes and sizes", result["processes"], names, _size_row(result, names))
    for group, heading in GROUPS.items():
        yield from _table(heading, list(of.rows_of(result, group)), names)
    yield "## Memory, peak\n"
    yield _row("case", *names)
    yield _row("---", *["---:"] * len(names))
    for row in result["cases"]:
        if row["group"] != "calls":
            yield _row(row["name"], *[_memory(row, name) for name in names])
    yield ""
    yield from _behind(result, names)
    reasons = list(why_not(result))
    if reasons:
        yield "## What failed\n"
        yield from (f"- {shorten(_plain(line), 240, placeholder=' …')}" for line in reasons)
        yield ""


def _table(
    heading: str, rows: list[Mapping[str, Any]], names: list[str], *more: str
) -> Iterator[str]:
    if not rows:
        return
    yield f"## {heading}\n"
    yield _row("case", *names)
    yield _row("---", *["---:"] * len(names))
    for row in rows:
        yield _row(row["title"], *[cell(row, name) for name in names])
    yield from more
    if more:
        yield ""
        return
    means = [of.mean_ratio(rows, name) for name in names]
    texts = [f"**{of.count(mean[0])}x** ({mean[1]})" if mean else "" for mean in means]
    yield _row("**geometric mean** (of how many)", *texts)
    yield ""


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _plain(line: str) -> str:
    return line.replace("|", "/").replace("<", "&lt;")


def _size_row(result: of.Result, names: list[str]) -> str:
    cells = []
    for name in names:
        value, ours = (result["peers"][key].get("bytes") for key in (name, of.OURS))
        factor = f" {of.count(value / ours)}x" if value and ours and name != of.OURS else ""
        cells.append(of.size(value) + factor if value else "—")
    return _row("installed, with all that it needs", *cells)


def _memory(row: Mapping[str, Any], name: str) -> str:
    entry = row["found"].get(name) or {}
    if "rss" not in entry:
        return "—"
    factor = of.ratio(row, name, "rss")
    return of.size(entry["rss"]) + ("" if factor is None else f" {of.count(factor)}x")


def _behind(result: of.Result, names: list[str]) -> Iterator[str]:
    """Where a peer is faster by more than a tenth, worst first."""
    found = [
        (factor, row["name"], name)
        for row in [*result["processes"], *result["cases"]]
        for name in names
        if (factor := of.ratio(row, name)) is not None and factor < 0.9
    ]
    yield "## Where a peer is faster\n"
    if not found:
        yield "Nowhere by more than a tenth.\n"
        return
    for factor, case, name in sorted(found):
        yield f"- {case}: {name} takes {factor:.2f} of drystone's time"
    yield ""


def section(result: of.Result) -> str:
    """The README's section, without its marks."""
    names = [name for name in of.peers(result) if name != of.OURS]
    machine, when = result["machine"]["processor"], result["when"][:10]
    lines = [
        "How many times drystone's time (or memory) its peers take: above 1x, drystone is ahead.",
        *wrap(f"{_threads(result)}, {machine}, {when}; geometric means, in brackets over how many "
              f"cases. {_company(result)}", 100), "",
        _row("", *names), _row("---", *["---:"] * len(names)),
    ]  # fmt: skip
    groups = {heading: (list(of.rows_of(result, group)), "time")
              for group, heading in GROUPS.items()}  # fmt: skip
    for start, heading in WHAT.items():
        rows = [row for row in result["processes"] if row["name"].startswith(start)]
        groups[heading[0].upper() + heading[1:]] = (rows, "time")
    inference = [row for row in result["cases"] if row["group"] not in ("calls", "training")]
    groups["Peak memory"] = (inference, "rss")
    for heading, (rows, key) in groups.items():
        means = [of.mean_ratio(rows, name, key) for name in names]
        if any(means):
            lines.append(_row(heading, *[_mean(mean) for mean in means]))
    more = "All cases, how they were measured, and where a peer is faster"
    lines += [
        _size_row(result, names),
        "",
        f"{more}: [performance](docs/reference/performance.md).",
    ]
    return "\n".join(lines) + "\n"


def _mean(mean: tuple[float, int] | None) -> str:
    return f"{of.count(mean[0])}x ({mean[1]})" if mean else "—"


def outdated(root: Path = ROOT) -> list[str]:
    """Files that do not say what the newest result says."""
    result = of.latest(root / "bench" / "results")
    if result is None:
        return ["bench/results holds no result"]
    found = []
    if not (root / PAGE).exists() or (root / PAGE).read_text("utf-8") != page(result):
        found.append(str(PAGE))
    if _between((root / README).read_text("utf-8"))[1] != section(result):
        found.append(str(README))
    mark = f"result {digest(result)}"
    if not (root / PLOT).exists() or mark not in (root / PLOT).read_text("utf-8"):
        found.append(f"{PLOT} (python -m bench.plot, with matplotlib, draws it)")
    return found


def _between(text: str) -> tuple[str, str, str]:
    """What is before, between and after the marks."""
    before, begin, rest = text.partition(BEGIN)
    middle, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{README} lacks the marks {BEGIN.strip()} and {END.strip()}")
    return before + begin, middle, end + after


def main(arguments: list[str] | None = None) -> int:
    """Write page and section, or with `--check` exit 1 when something is outdated."""
    if "--check" in (sys.argv[1:] if arguments is None else arguments):
        for file in outdated():
            print(f"{file}: outdated; run python -m ci.scripts.performance_page")
        return 1 if outdated() else 0
    result = of.latest()
    if result is None:
        print("bench/results holds no result; nox -s bench -- --publish makes one")
        return 1
    (ROOT / PAGE).write_text(page(result), "utf-8")
    before, _, after = _between((ROOT / README).read_text("utf-8"))
    (ROOT / README).write_text(before + section(result) + after, "utf-8")
    print(f"{PAGE} and the section of {README}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())

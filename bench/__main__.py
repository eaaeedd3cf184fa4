"""Entry point: measure drystone and its peers in one run, print tables, write the result."""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import processes, table
from bench import result as of
from bench.case import GROUPS, Case
from bench.cases import all_cases, keras_steps, networks
from bench.convert import with_onnx
from bench.machine import describe
from bench.peers import BEFORE, HOME, RUNTIMES, TOP, Peer, find
from bench.rounds import Settings, measure

__all__ = ["main"]

EXAMPLES = """examples:
  python -m bench                          all cases, every peer that is installed; about 30 minutes
  python -m bench --quick                  a part of the cases, fewer rounds; about 3 minutes
  python -m bench --only loops --only selfie --peers tensorflow
  python -m bench --quick --peers none --before ../old/bin/python
                                           what a change costs: beside the drystone of another
                                           environment; above 1x, this one is ahead
  python -m bench --json now.json          all numbers as data
  python -m bench --publish                the result that the pages show, and the pages
  python -m bench --only loops --publish   the same, with only these rows measured again

exit status: 0 all measured; 1 drystone failed a case or gave a wrong answer; 2 wrong usage;
130 interrupted: what was measured is printed and written all the same
"""


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write; the exit status is in the help."""
    options = parse(arguments)
    console = Console(width=None if Console().is_terminal else 180)
    result = start(options)
    published = of.latest() if options.publish and options.only else None
    if options.publish and options.only and (why := of.misfit(published, result)):
        print(f"bench: --publish with --only: {why}; measure all cases", file=sys.stderr)
        return 2
    try:
        fill(result, options, console)
        result["complete"] = True
    except KeyboardInterrupt:
        console.print("interrupted: what follows is what was measured until then")
    table.show(console, result)
    if options.json:
        write(result, options.json)
    if not result["complete"]:
        return 130
    if options.publish:
        publish(of.updated(published, result) if published else result)
    return 1 if failures(result) else 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="bench", description="drystone beside its peers, in one run.", epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    names = [runtime.name for runtime in RUNTIMES[1:]]
    add("--only", action="append", metavar="WHAT", default=[],
        help=f"a case, or a group: processes, {', '.join(GROUPS)}; may be repeated")  # fmt: skip
    add("--peers", default=",".join(names), metavar="A,B", help=f"of {', '.join(names)}; or none")
    add("--quick", action="store_true", help="fewer cases and rounds")
    add("--rounds", type=positive, metavar="N", help="slots of each peer and case (5; quick: 3)")
    add("--threads", type=positive, default=1, metavar="N", help="threads of each runtime (1)")
    add("--models", type=Path, metavar="FOLDER", help="recorded models (../shared/models)")
    add("--python", action="append", default=[], metavar="PEER=FILE",
        help="another interpreter that has a peer")  # fmt: skip
    add("--before", metavar="FILE", help="an interpreter with another drystone, as one more peer")
    add("--json", type=Path, metavar="FILE", help="write all numbers there")
    add("--publish", action="store_true",
        help="write bench/results/, the page, its plot and the README's section; with --only, "
             "rows of other cases stay as they are")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.before and options.publish:
        parser.error("--before compares two of ours: there is nothing to publish")
    unknown = set(filter(None, options.peers.split(","))) - {*names, "none"}
    if unknown:
        parser.error(f"no such peer: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if options.models and not (options.models / "index.json").exists():
        parser.error(f"{options.models} has no index.json")
    options.pythons = dict(text.partition("=")[::2] for text in options.python)
    return options


def positive(text: str) -> int:
    """A number above 0."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def start(options: argparse.Namespace) -> dict[str, Any]:
    """The result before anything is measured."""
    wanted = options.peers.split(",")
    chosen = [r for r in RUNTIMES if r is RUNTIMES[0] or r.name in wanted]
    options.found = [find(runtime, options.pythons.get(runtime.name)) for runtime in chosen]
    if options.before:
        options.found.append(find(BEFORE, options.before))
    return {
        "format": of.FORMAT, "when": datetime.now(UTC).isoformat(timespec="minutes"),
        "complete": False, "command": shlex.join(["python", "-m", "bench", *_told(sys.argv[1:])]),
        "commit": _commit(), "python": platform.python_version(), "machine": describe(),
        "threads": options.threads, "quick": options.quick,
        "rounds": options.rounds or (3 if options.quick else 5),
        "peers": {peer.name: peer.data() for peer in options.found},
        "processes": [], "cases": [],
    }  # fmt: skip


def _told(words: Sequence[str]) -> list[str]:
    """Arguments without folders of this machine."""
    return [word if "/" not in word else "…" for word in words]


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=TOP, capture_output=True,
                          text=True, check=False)  # fmt: skip
    return done.stdout.strip()


def fill(result: dict[str, Any], options: argparse.Namespace, console: Console) -> None:
    """Measure everything that was asked for; partial where it is interrupted."""
    peers = [peer for peer in options.found if not peer.absent]
    rounds, quick = result["rounds"], options.quick
    settings = Settings(rounds=rounds, seconds=0.1 if quick else 0.2, threads=options.threads)
    with tempfile.TemporaryDirectory(prefix="drystone-bench-") as folder, console.status("") as at:
        at.update("making the cases")
        known = all_cases(Path(folder), options.models)
        chosen = {case.name for case in choose(known, options.only, quick)}
        fresh = not options.only or "processes" in options.only
        first = processes.FIRST_ANSWERS[: 1 if quick else None] if fresh else ()
        needed = chosen | set(first)
        at.update("converting models to ONNX")
        cases = [case for case in known if case.name in needed]
        at.update("making large networks")
        if why := networks.make(cases, _tensorflow(peers)):
            table.line(console, f"large networks are left out: {why}")
            cases = [case for case in cases if not case.group.startswith("networks")]
        if why := keras_steps.make(cases, peers[0]):
            table.line(console, f"steps of Keras models are left out: {why}")
            cases = [case for case in cases if "keras" not in case.forms]
        cases = with_onnx(cases, _tensorflow(peers), HOME.parent / "onnx")
        if fresh:
            few = Settings(rounds=2 if quick else 3 * rounds, threads=options.threads)
            result["processes"].append(processes.imports(peers, few, at.update))
            result["processes"].extend(
                processes.first_answers(
                    [case for case in cases if case.name in first], peers, few, at.update
                )
            )
            for row in result["processes"]:
                row["threads"] = options.threads
                _close(row, console)
        cases = [case for case in cases if case.name in chosen]
        for number, case in enumerate(cases):
            at.update(f"{number + 1} of {len(cases)}: {case.name}")
            found: dict[str, dict[str, Any]] = {}
            row = {"name": case.name, "group": case.group, "title": case.title,
                   "tolerance": case.tolerance, "threads": case.threads or options.threads,
                   "found": found}  # fmt: skip
            result["cases"].append(row)
            try:
                own = replace(settings, threads=row["threads"], least=case.least,
                              rounds=min(rounds, case.rounds))  # fmt: skip
                measure(case, peers, own, found)
            finally:
                _close(row, console)


def _close(row: dict[str, Any], console: Console) -> None:
    """Choose the clock of a row that is measured, and show it."""
    row["clock"] = of.clock(row)
    table.show_row(console, row)


def _tensorflow(peers: Sequence[Peer]) -> Peer:
    absent = Peer(RUNTIMES[1], absent="not asked for")
    return next((peer for peer in peers if peer.name == "tensorflow"), absent)


def choose(cases: Sequence[Case], only: Sequence[str], quick: bool) -> list[Case]:
    """The cases that were asked for; exits with 2 for a name that is none."""
    only = [*only, *(["training-keras"] if "training" in only else [])]
    unknown = set(only) - {case.name for case in cases} - set(GROUPS) - {"processes"}
    if unknown:
        names = ", ".join(case.name for case in cases)
        print(f"bench: no such case or group: {', '.join(sorted(unknown))}; there are {names}",
              file=sys.stderr)  # fmt: skip
        raise SystemExit(2)
    if only:
        return [case for case in cases if {case.name, case.group} & set(only)]
    return [case for case in cases if case.quick or not quick]


def failures(result: of.Result) -> list[str]:
    """Cases that drystone failed or answered wrongly."""
    return [row["name"] for row in result["cases"] if not of.right(row, of.OURS)]


def write(result: of.Result, file: Path) -> None:
    """As JSON, numbers with as many digits as they are good for."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(_short(result), indent=1, ensure_ascii=False) + "\n", "utf-8")


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _short(part) for key, part in value.items()}
    return [_short(part) for part in value] if isinstance(value, list) else value


def publish(result: of.Result) -> None:
    """Replace the committed result, and make the plot and the pages from it."""
    from bench import plot
    from ci.scripts import performance_page

    for old in of.RESULTS.glob("*.json"):
        old.unlink()
    file = of.RESULTS / f"{result['when'][:10]}.json"
    write(result, file)
    found = json.loads(file.read_text(encoding="utf-8"))
    plot.draw(found)
    performance_page.main([])


if __name__ == "__main__":
    raise SystemExit(main())

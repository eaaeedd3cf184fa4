"""One page of the last runs of all suites: a file without scripts that refers to nothing else."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from ci.nightly import results

__all__ = ["SHOWN", "render", "write"]

SHOWN = 12
"""Runs of a suite that have a column."""
STYLE = """
:root { color-scheme: light dark; --line: #8884; --ok: #2e9e5b; --failed: #d33c3c; --left: #9a8a2f }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .4rem }
.scroll { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left;
         white-space: nowrap }
thead th { font-weight: 600 } thead small { display: block; font-weight: 400; opacity: .7 }
td::before { content: ""; display: inline-block; width: .6em; height: .6em; border-radius: 50%;
             margin-right: .45em; background: var(--line) }
td.ok::before { background: var(--ok) } td.failed::before { background: var(--failed) }
td.left::before { background: var(--left); border-radius: 0 }
.bad { color: var(--failed) } .good { color: var(--ok) }
li { margin: .2rem 0; overflow-wrap: anywhere }
"""


def write(folder: Path) -> Path:
    """Write `index.html` beside the results; the file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "index.html"
    file.write_text(render(folder), encoding="utf-8")
    return file


def render(folder: Path) -> str:
    """The page: what the last run of each suite says, then a table of the last runs of each."""
    suites = {file.stem: results.load(folder, file.stem) for file in sorted(folder.glob("*.json"))}
    body = "".join(_suite(name, runs[-SHOWN:]) for name, runs in suites.items() if runs)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'><title>drystone: the last nights</title>"
        f"<style>{STYLE}</style><h1>drystone: the last nights</h1>{_summary(suites)}{body}</html>\n"
    )


def _summary(suites: dict[str, list[results.Run]]) -> str:
    if not any(suites.values()):
        return "<p>Nothing has run yet: <code>nox -s nightly_models</code> is a start.</p>"
    rows = []
    for name, runs in suites.items():
        if runs:
            bad = [case for case, one in runs[-1]["cases"].items() if one["state"] == "failed"]
            whole = "" if runs[-1]["complete"] else " (not complete)"
            state = f"{len(bad)} failed" if bad else "all is well"
            kind = "bad" if bad else "good"
            rows.append(f"<li><a href=#{name}>{name}</a>: <b class={kind}>{state}</b>{whole}")
    return f"<ul>{''.join(rows)}</ul>"


def _suite(name: str, runs: list[results.Run]) -> str:
    heads = "".join(
        f"<th>{run['started'][:10]}<small>{run['started'][11:16]} {run['commit'][:10]}</small>"
        for run in reversed(runs)
    )
    names = list(dict.fromkeys(case for run in reversed(runs) for case in run["cases"]))
    rows = "".join(f"<tr><th>{html.escape(case)}{_cells(case, runs)}" for case in names)
    return (
        f"<h2 id={name}>{name}</h2>{_messages(runs[-1])}<div class=scroll>"
        f"<table><thead><tr><th>case{heads}</thead>{rows}</table></div>"
    )


def _cells(case: str, runs: list[results.Run]) -> str:
    return "".join(_cell(run["cases"].get(case)) for run in reversed(runs))


def _cell(outcome: dict[str, Any] | None) -> str:
    if outcome is None:
        return "<td>"
    figures = [f"{key} {_short(value)}" for key, value in outcome.get("figures", {}).items()]
    title = "; ".join(figures) or outcome.get("message", "")
    shown = figures[0] if figures else f"{outcome['seconds']:.0f} s"
    kind = outcome["state"].partition(" ")[0]
    return f'<td class={kind} title="{html.escape(title, quote=True)}">{html.escape(shown)}'


def _short(value: float | str) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _messages(run: results.Run) -> str:
    """What the last run has to say of cases that did not pass."""
    said = "".join(
        f"<li><b>{html.escape(case)}</b>, {one['state']}: {html.escape(one['message'])}"
        for case, one in run["cases"].items()
        if one.get("message")
    )
    return f"<ul>{said}</ul>" if said else ""

"""Names that come from files are shown with what does not print escaped, wherever people look."""

from __future__ import annotations

import json
import unicodedata
import warnings
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

import drystone_base as ds
from drystone_base.cli._app import app
from drystone_base.cli._draw import draw
from drystone_base.cli._output import Lines, note, print_json, print_table, say
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError
from drystone_base.core.printable import described, plain, plain_json, plain_lines, warn
from drystone_base.loaders import load_model

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
SAMPLES = [
    chr(code)
    for code in [*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, *range(0x200B, 0x2010),
                 *range(0x2028, 0x202F), *range(0x2060, 0x206A), 0xFEFF, 0xD800, 0xDCFF,
                 0xE0001, 0xE0041]
]  # fmt: skip
letters = st.sampled_from([*SAMPLES, *"ab<>&\"'/[]{}$`é漢😀", "<!--", "<script>", "]]>", "</"])
names = st.lists(letters, min_size=1, max_size=8).map("".join)


def hidden(text: str, allowed: str = "\n\t") -> list[str]:
    return [hex(ord(c)) for c in text if unicodedata.category(c) in HIDDEN and c not in allowed]


@pytest.mark.parametrize("letter", SAMPLES)
def test_each_is_escaped_and_can_be_told(letter: str) -> None:
    assert hidden(plain(f"a{letter}b"), "") == []
    assert plain(f"a{letter}b") != plain("ab")


@given(names)
@example("\ud800\udcff")  # which JSON cannot tell from the one letter that the two stand for
@settings(max_examples=50)
def test_texts(name: str) -> None:
    assert hidden(plain(name), "") == []
    assert hidden(plain_lines(name)) == []
    assert hidden(described(name), "") == []
    document = json.dumps({name: [name]}, ensure_ascii=False)
    assert hidden(plain_json(document)) == []
    assert json.loads(plain_json(document)) == json.loads(json.dumps({name: [name]}))


@given(names)
@settings(max_examples=50)
def test_errors_and_warnings(name: str) -> None:
    inner = ValueError(name)
    error = DrystoneError(
        name, check=name, found=name, needed=name, remedy=name, code="bad-graph", inner=inner
    )
    error.reached_through(json.dumps([[name, name]]))
    error.add_details({name: name, "bytes": name.encode("utf-8", "surrogatepass")})
    assert hidden(str(error)) == []
    lines = str(error).split("\n")
    assert all(line.startswith("  ") for line in lines[1:]), "no line of a name is one of ours"
    json.dumps(error.fields())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(name)
    assert hidden(str(caught[0].message)) == []


@given(names)
@settings(max_examples=30)
def test_what_commands_print(name: str) -> None:
    @click.command()
    def shows() -> None:
        say(name)
        note(name)
        print_table(name, ("", ""), [(name, name), (Lines([name, name]), "")])
        print_json({name: name})

    done = CliRunner().invoke(shows)
    assert done.exception is None
    assert hidden(done.output) == []
    lines = done.output.split("\n")
    assert plain(name) == lines[0] == lines[1]


def test_a_line_break_in_a_name_makes_no_line_of_a_report(tmp_path: Path) -> None:
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (3,)})
    graph.add("Identity", "out", [(x, 0)], attrs={"T": FLOAT32})
    graph.add("Op\nevery op has a kernel", "z")
    ds.write_graph(graph, tmp_path / "g.pb")
    said = CliRunner().invoke(app, ["inspect", str(tmp_path / "g.pb")]).output.split("\n")
    assert not [line for line in said if line.startswith("every op has a kernel")]
    assert [line for line in said if "Op\\nevery op has a kernel" in line]


def test_a_line_break_in_a_warning_is_indented() -> None:
    @app.command("warns", hidden=True)
    def warns() -> None:
        click.echo(warnings.formatwarning(UserWarning("a\nerror: b"), UserWarning, "file", 1))

    try:
        said = CliRunner().invoke(app, ["warns"]).output
    finally:
        app.commands.pop("warns")
    assert said == "warning: a\n  error: b\n\n"


def graph_of(name: str) -> ds.Graph:
    graph = ds.Graph()
    x = graph.add("Placeholder", f"x{name}", attrs={"dtype": FLOAT32, "shape": (3,)})
    graph.add("Identity", f"y{name}", [(x, 0)], attrs={"T": FLOAT32}, device=name)
    graph.add(f"Op{name}", f"z{name}")
    return graph


@given(names.filter(lambda n: "\ud800" not in n and "\udcff" not in n))
@settings(max_examples=15)
def test_reprs_and_pictures(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = tmp_path_factory.mktemp("m")
    graph = graph_of(name)
    assert hidden("".join(map(repr, graph)), "") == []
    ds.write_graph(graph, folder / "g.pb")
    loaded = load_model(folder / "g.pb")
    assert hidden(repr(ds.Model(loaded))) == []
    for kind in ("svg", "html"):
        draw(loaded, folder / f"o.{kind}")
        text = (folder / f"o.{kind}").read_text("utf-8")
        assert hidden(text, "\n\t\r") == []
        assert f"<!--{'<script>'}" not in text.partition("<body")[2]


@pytest.mark.parametrize("name", ["\x1b[31mred", "a\u202eb", "a\nerror: no", "\u2028", "\x9b2J"])
@pytest.mark.parametrize(
    "words",
    [["inspect"], ["inspect", "--json"], ["explain"], ["explain", "--json"], ["run"],
     ["run", "--fetch", "no such"], ["run", "--signature", "no such"], ["bench", "--repeat", "1"]],
)  # fmt: skip
def test_every_command_on_a_model(tmp_path: Path, name: str, words: list[str]) -> None:
    file = tmp_path / f"{name.replace('/', '')}.pb"
    ds.write_graph(graph_of(name), file)
    done = CliRunner().invoke(app, [words[0], str(file), *words[1:]])
    assert hidden(done.output) == []
    assert "[internal]" not in done.output
    if "--json" in words:
        json.loads(done.stdout)

"""Keys of payloads: the headers and the table in Python are one list."""

from __future__ import annotations

import re
from pathlib import Path

from drystone_base.core import payloads

ROOT = Path(__file__).parents[5]
HEADER = ROOT / "packages" / "base" / "host" / "include" / "drystone" / "payloads.h"
OF_PLUGINS = ROOT / "plugin-abi" / "include" / "drystone" / "status.h"
TEXT = HEADER.read_text(encoding="utf-8")


def test_the_header_and_python_have_the_same_keys() -> None:
    both = TEXT + OF_PLUGINS.read_text(encoding="utf-8")
    stated = dict(re.findall(r'#define DS_PAYLOAD_(\w+) "([^"]+)"', both))
    known = {
        name: value
        for name, value in vars(payloads).items()
        if isinstance(value, str) and value.startswith("drystone/")
    }
    assert stated == known
    assert len(stated) > 15
    assert all(value.startswith(payloads.PREFIX) for value in stated.values())


def test_they_have_the_same_bounds() -> None:
    stated = {name: int(n) for name, n in re.findall(r"#define DS_(MOST_PAYLOAD\w*) (\d+)", TEXT)}
    assert stated == {
        "MOST_PAYLOADS": payloads.MOST,
        "MOST_PAYLOAD_KEY": payloads.MOST_KEY,
        "MOST_PAYLOAD_VALUE": payloads.MOST_VALUE,
    }


def test_every_key_is_documented() -> None:
    page = ROOT / "docs" / "reference" / "errors" / "index.md"
    text = page.read_text(encoding="utf-8")
    keys = {value for value in vars(payloads).values() if isinstance(value, str)}
    shown = {k for k in keys if k.startswith("drystone/")} - payloads.FIELDS - {payloads.PREFIX}
    assert {key for key in shown if f"`{key}`" not in text} == set()

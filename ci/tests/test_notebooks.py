"""Notebooks are their pages: code runs in the same order, and prints what the page says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ci.scripts.notebooks import files, render

PAGE = """# A title

Text.

```python
x = 1
print(x)
```

```text
1
```

More, and [a link](other.md).

```python
y = x
```

The end.
"""


def cells(text: str) -> list[Any]:
    found: list[Any] = json.loads(text)["cells"]
    return found


def test_blocks_are_cells_in_their_order() -> None:
    found = cells(render(PAGE))
    kinds = [cell["cell_type"] for cell in found]
    assert kinds == ["markdown", "code", "markdown", "code", "markdown"]
    assert "".join(found[1]["source"]) == "x = 1\nprint(x)"
    assert "".join(found[1]["outputs"][0]["text"]) == "1\n"
    assert found[3]["outputs"] == []


def test_pictures_and_links_are_there() -> None:
    for file, text in files().items():
        for cell in cells(text):
            if cell["cell_type"] == "markdown":
                for line in cell["source"]:
                    for part in line.split("](")[1:]:
                        target = part.partition(")")[0]
                        if not target.startswith("http"):
                            assert (file.parent / target).exists(), target


def test_what_a_notebook_runs_is_what_its_page_runs() -> None:
    for file, text in files().items():
        page = Path("docs/tutorials", f"{file.stem}.md").read_text(encoding="utf-8")
        code = ["".join(cell["source"]) for cell in cells(text) if cell["cell_type"] == "code"]
        assert len(code) == page.count("```python\n")
        assert all(block in page for block in code)

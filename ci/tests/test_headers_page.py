"""docs/reference/c-headers.md shows what the headers say, and docstrings become Markdown."""

from __future__ import annotations

from ci.scripts import headers_page

SOURCE = """/* drystone/box.h: boxes of things.
 *
 * Since 1.0.
 */
#ifndef BOX_H

/* A box of `n` things; NULL without memory. More of it. */
TF_CAPI_EXPORT extern TF_Box* TF_NewBox(int n);

TF_CAPI_EXPORT extern void
DS_CloseBox(TF_Box* box);
"""


def test_the_page_is_up_to_date() -> None:
    assert not headers_page.outdated(), "run python -m ci.scripts.headers_page"


def test_what_a_header_says() -> None:
    assert headers_page.opening(SOURCE) == "Boxes of things.\n\nSince 1.0."
    assert headers_page.functions(SOURCE) == [
        ("TF_NewBox", "A box of `n` things;"),
        ("DS_CloseBox", ""),
    ]

"""The installed library loads, and its passes are listed at their places."""

from __future__ import annotations

from importlib.metadata import files

from drystone_base.passes import Grouping, registered
from drystone_base.plugins import load_library


def test_the_passes_have_their_places() -> None:
    (library,) = [
        file for file in files("drystone-example-passes-cpp") or [] if file.suffix == ".so"
    ]
    load_library(str(library.locate()), developer_mode=True)
    found = {p.name: (p.grouping, p.phase) for p in registered()}
    assert found["NcclReplacePass"] == (Grouping.POST_PLACEMENT, 0)
    assert found["LayoutRewritePass"] == (Grouping.POST_PARTITIONING, 1)
    assert found["LayoutConversionPass"] == (Grouping.POST_PARTITIONING, 2)

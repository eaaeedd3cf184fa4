"""Run every check: `python -m ci.checks [--wheels DIR]`; those about wheels need the folder."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from ci.checks import (
    abi_lock,
    api_pages,
    code_size,
    data_origin,
    decisions,
    doc_links,
    environment_reads,
    error_pages,
    exported_symbols,
    forbidden_text,
    generated,
    import_layers,
    no_stray_dlopen,
    public_symbols,
    remedies,
    retired_words,
    site_nav,
    test_folders,
    version_sync,
    wheel_levels,
    wheel_metadata,
    wheel_paths,
    wheel_size,
)
from ci.checks._report import report

TREE = (
    import_layers,
    public_symbols,
    version_sync,
    generated,
    code_size,
    error_pages,
    environment_reads,
    remedies,
    retired_words,
    forbidden_text,
    doc_links,
    decisions,
    site_nav,
    api_pages,
    data_origin,
    test_folders,
    abi_lock,
    exported_symbols,
    no_stray_dlopen,
)


def main(arguments: list[str]) -> int:
    """Run the checks and return 1 when one of them failed."""
    gc.disable()  # trees of syntax are large, have no cycles, and stay until the end
    results: list[int] = [module.main() for module in TREE]
    if arguments[:1] == ["--wheels"]:
        wheels = Path(arguments[1])
        results.append(report("wheel_paths", wheel_paths.find(wheels)))
        results.append(report("wheel_size", wheel_size.find(wheels)))
        results.append(report("wheel_levels", wheel_levels.find(wheels)))
        results.append(report("wheel_metadata", wheel_metadata.find(wheels)))
        results.append(exported_symbols.main([str(wheels)]))
    return max(results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

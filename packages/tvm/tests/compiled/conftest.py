"""Functions that TVM compiles here; only where apache-tvm is installed: ``nox -s tvm``."""

from __future__ import annotations

import pytest

collect_ignore: list[str] = []
tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed: `nox -s tvm` installs it")

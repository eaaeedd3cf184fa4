"""The four failure modes of S2: what their user sees, and that S2's remedy mends it.

What the gates say to the maintainer who would cause one is tested in ci/tests/test_release.py; here
each has slipped through, and lies on the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ci.release.simulation.environment import Environment, Failure
from ci.release.simulation.timeline import ABI, BASE, INIT, NEW_NAME, OPTIMIZER, Release

__all__ = ["FAILURES", "RELEASES"]

_PRIVATE = {"drystone_base/core/named.py": ("", "\n_of_1_2 = 12\n")}
_PIPELINE = "drystone_optimizer/pipeline/pipeline.py"
_USES_PRIVATE = {_PIPELINE: ("", "\nfrom drystone_base.core.named import _of_1_2 as _private\n")}
_USES_NEW = {_PIPELINE: ("", "\nfrom drystone_base import release_of_1_1 as _new\n")}
_HAS_NEW = {INIT: ("", NEW_NAME)}
_LOW, _ENOUGH = {BASE: ">=1.0,<2", ABI: ">=1.0"}, {BASE: ">=1.1,<2", ABI: ">=1.0"}
_NEEDS = {ABI: ">=1.0"}
RELEASES = (
    # 1: the optimizer uses what is private to base 1.2.0, and 1.2.1 has not.
    Release("2031-01-01", BASE, "1.2.0", _NEEDS, _HAS_NEW | _PRIVATE),
    Release("2031-01-02", OPTIMIZER, "1.2.0", _LOW, _USES_PRIVATE),
    Release("2031-01-10", BASE, "1.2.1", _NEEDS, _HAS_NEW),
    Release("2031-01-20", OPTIMIZER, "1.2.1", _LOW),
    # 2: base 1.2.2 takes a public name away that the optimizer uses; 1.2.3 has it again.
    Release("2031-02-01", OPTIMIZER, "1.3.0", _ENOUGH, _USES_NEW),
    Release("2031-02-10", BASE, "1.2.2", _NEEDS),
    Release("2031-02-20", BASE, "1.2.3", _NEEDS, _HAS_NEW),
    # 3: the bound of 1.4.0 admits base 1.0.0, which has not what it uses; that of 1.4.1 does not.
    Release("2031-03-01", OPTIMIZER, "1.4.0", _LOW, _USES_NEW),
    Release("2031-03-10", OPTIMIZER, "1.4.1", _ENOUGH, _USES_NEW),
)
Install = Callable[..., Environment]


def private_symbol(install: Install) -> Iterator[str]:
    """B uses non-public symbols of A; B releases a version that avoids them."""
    install("2031-01-05", OPTIMIZER, base="1.2.0").run_models()
    broken = install("2031-01-15", OPTIMIZER, base="1.2.1")
    yield from _out_of_step(broken, "1.2.0", "no _of_1_2 in drystone_base.core.named", "1.2.1")
    install("2031-01-25", OPTIMIZER, base="1.2.1", optimizer="1.2.1").run_models()
    yield "drystone-optimizer 1.2.1, which avoids it, runs on the same base"


def broken_public_api(install: Install) -> Iterator[str]:
    """A changed public APIs; A reverts that in a patch version that replaces the bad one."""
    install("2031-02-05", OPTIMIZER, base="1.2.1", optimizer="1.3.0").run_models()
    broken = install("2031-02-15", OPTIMIZER, base="1.2.2", optimizer="1.3.0")
    yield from _out_of_step(broken, "1.3.0", "no release_of_1_1 in drystone_base", "1.2.2")
    install("2031-02-25", OPTIMIZER, base="1.2.3", optimizer="1.3.0").run_models()
    yield "drystone-base 1.2.3, which has it again, replaces 1.2.2 for everybody"


def unreleased_api(install: Install) -> Iterator[str]:
    """B depends on what A has in a newer version; B releases a patch with the minimum alone."""
    broken = install("2031-03-05", OPTIMIZER, f"{BASE}==1.0.0", base="1.0.0", optimizer="1.4.0")
    yield from _out_of_step(broken, "1.4.0", "no release_of_1_1 in drystone_base", "1.0.0")
    install("2031-03-15", OPTIMIZER, base="1.2.3", optimizer="1.4.1").run_models()
    try:
        install("2031-03-15", f"{OPTIMIZER}==1.4.1", f"{BASE}==1.0.0")
    except Failure as failure:
        yield f"1.4.1 beside base 1.0.0 is refused: {_line(str(failure), 'drystone-base>=1.1')}"
    else:
        raise Failure("drystone-optimizer 1.4.1 was installed beside drystone-base 1.0.0")


def missing_package(install: Install) -> Iterator[str]:
    """A is missing; B says so, and what installs it."""
    there = install("2031-03-15", OPTIMIZER, base="1.2.3")
    there.run("uv", "pip", "uninstall", "-q", "--python", str(there.python), BASE)
    done = there.run("python", "-c", "import drystone_optimizer")
    text = _line(done.stderr, "remedy: pip install drystone-base")
    yield f"drystone-optimizer alone: {text.strip()}"
    install("2031-03-15", *text.split()[3:], into=there).run_models()
    yield "which mends it"


FAILURES = (private_symbol, broken_public_api, unreleased_api, missing_package)


def _out_of_step(there: Environment, optimizer: str, found: str, base: str) -> Iterator[str]:
    """The lines with which a model ends there: who needs what, and what to install."""
    try:
        there.run_models()
    except Failure as failure:
        said = str(failure)
        yield _line(said, f"{OPTIMIZER} {optimizer} cannot be used with {BASE} {base} [packages-")
        yield _line(said, f"found: {found}")
        yield _line(said, f"remedy: pip install --upgrade {OPTIMIZER} {BASE}; ").strip()
        return
    raise Failure(f"the models run, where {found!r} was expected")


def _line(printed: str, text: str) -> str:
    flat = " ".join(printed.split())
    if text not in flat:
        raise Failure(f"{text!r} was expected, and this printed: {printed}")
    return next((line for line in printed.splitlines() if text in line), flat)

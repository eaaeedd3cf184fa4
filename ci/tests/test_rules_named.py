"""Who looks for the tests of a rule of the optimizer finds them by its name."""

from __future__ import annotations

from ci.scripts.project import ROOT
from ci.scripts.stage_recorder import rules

PASSES = ROOT / "packages" / "optimizer" / "tests" / "unit" / "passes"


def test_each_rule_is_named_by_its_test() -> None:
    """In the name of a test, or in that of a case of one."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(PASSES.rglob("test_*.py"))]
    text = "\n".join(texts).replace("_", "-")
    names = {rule.name for held in rules().values() for rule in held}
    assert len(names) > 90
    assert sorted(name for name in names if name not in text) == []

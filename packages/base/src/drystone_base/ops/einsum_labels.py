"""Parsing of Einsum equations, shared by the kernel and the shape function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

__all__ = ["Equation", "Label", "expand", "parse"]

Label: TypeAlias = str | int
"""A letter of the equation, or the number of a dimension under ``...``, counted from the right."""

Equation: TypeAlias = tuple[list[str], str]
"""The operands' terms and the output's."""

Fail: TypeAlias = Callable[..., NoReturn]

_DOTS = "..."


def parse(equation: str, count: int, fail: Fail) -> Equation:
    """The terms of ``equation``; calls ``fail`` unless it is ``a,b->c`` with ``count`` operands."""
    left, arrow, output = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow or len(terms) != count or count > 2:
        fail("equation must fit the operands", found=equation, needed=f"{count} term(s) and '->'")
    letters = [term.replace(_DOTS, "", 1) for term in [*terms, output]]
    if not all(part.isalpha() or not part for part in letters):
        fail("equation must hold letters and '...'", found=equation, needed="such as 'ab,bc->ac'")
    if not set(letters[-1]) <= set("".join(letters[:-1])):
        fail("output labels must occur in an operand", found=equation, needed="known labels")
    return terms, output


def expand(
    equation: Equation, ranks: Sequence[int], fail: Fail
) -> tuple[list[list[Label]], list[Label]]:
    """One label for each dimension of each operand and of the output, ``...`` written out."""
    terms = []
    widest = 0
    for term, rank in zip(equation[0], ranks, strict=True):
        covered = rank - len(term.replace(_DOTS, "", 1))
        if covered < 0 or (covered > 0 and _DOTS not in term):
            fail("operand must have a dimension per label", found=f"rank {rank}", needed=term)
        terms.append(_labels(term, covered))
        widest = max(widest, covered)
    return terms, _labels(equation[1], widest)


def _labels(term: str, covered: int) -> list[Any]:
    before, dots, after = term.partition(_DOTS)
    return [*before, *(range(covered, 0, -1) if dots else ()), *after]

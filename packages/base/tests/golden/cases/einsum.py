"""Golden cases of Einsum."""

import numpy as np
from drawing import BFLOAT16, drawer
from oracle import Case, case

_draw = drawer(102)


_ONE = [
    ("ij->ji", (2, 3)),
    ("ij->i", (2, 3)),
    ("ij->", (2, 3)),
    ("ii->", (3, 3)),
    ("ii->i", (3, 3)),
    ("i->ii", (3,)),
    ("iij->ji", (3, 3, 2)),
    ("...ij->...ji", (2, 4, 3, 5)),
    ("i...->...i", (2, 4, 3)),
    ("i...->...", (2, 4, 3)),
    ("...->...", ()),
    ("->", ()),
    ("aab->abb", (2, 2, 3)),
]
_TWO = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("ij,kj->ik", (2, 3), (4, 3)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 4)),
    ("abc,cde->abde", (2, 3, 4), (4, 2, 5)),
    ("btnh,bsnh->bnts", (2, 3, 2, 4), (2, 5, 2, 4)),
    ("bnts,bsnh->btnh", (2, 2, 3, 5), (2, 5, 2, 4)),
    ("i,j->ij", (3,), (4,)),
    ("i,i->", (3,), (3,)),
    ("i,->i", (3,), ()),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,ij->j", (2, 3), (2, 3)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 5)),
    ("...ij,...jk->...ik", (5, 1, 2, 3), (4, 3, 2)),
    ("...i,...->...i", (2, 3), (2,)),
    ("ijk,k->ij", (2, 3, 4), (4,)),
    ("abc,dc->bd", (2, 3, 4), (5, 4)),
    ("ii,ij->j", (3, 3), (3, 4)),
    ("ij,jk->iik", (2, 3), (3, 4)),
    ("...ab,b...->a...", (3, 4), (4, 2)),
    ("ij,jk->ik", (0, 3), (3, 4)),
    ("ij,jk->ik", (2, 0), (0, 4)),
]
_REFUSED: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk->ik", [(2, 3), (4, 5)]),
    ("ij->i", [(2, 3, 4)]),
    ("ii->i", [(2, 3)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("ij->ij", [(2, 3), (3, 4)]),
    ("...ij,...jk->...ik", [(2, 3, 4), (3, 4, 5)]),
]


CASES: list[Case] = [
    *(case("Einsum", _draw(s), equation=e) for e, s in _ONE),
    *(case("Einsum", _draw(s), _draw(t), equation=e) for e, s, t in _TWO),
    *(
        case("Einsum", _draw((2, 3), k), _draw((3, 4), k), equation="ij,jk->ik", tol=t)
        for k, t in [("f8", 1e-9), ("f2", 2e-3), (BFLOAT16, 1.6e-2), ("c8", 1e-5)]
    ),
    case("Einsum", np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4), equation="ij,jk->ik"),
    *(
        case("Einsum", *[_draw(s) for s in shapes], equation=e, note="refused")
        for e, shapes in _REFUSED
    ),
]

"""Random regions of a graph, and what drystone's NumPy kernels compute of them.

``python random_regions.py --count N --first SEED`` compiles and compares N of them; with
``--together M`` M are functions of one library, which takes two thirds of the time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import drystone_tvm
import numpy as np

import drystone_base as ds

Array = np.ndarray[Any, Any]
Dims = tuple[int, ...]
_SMOOTH: Final = ("Abs", "Erf", "Neg", "Relu", "Relu6", "Selu", "Sigmoid", "Sin", "Softplus",
                  "Softsign", "Square", "Tanh", "Elu", "Cos", "LeakyRelu", "Identity")  # fmt: skip
_STEPS: Final = ("Ceil", "Floor", "Rint", "Sign", "Exp", "Log", "Rsqrt", "Sqrt", "Reciprocal")
_PAIRS: Final = ("AddV2", "Maximum", "Minimum", "Mul", "SquaredDifference", "Sub")
_QUESTIONS: Final = ("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual")
_REDUCED: Final = ("Max", "Mean", "Min", "Sum")
_LARGER: Final = 23
_WHOLE: Final = ("Abs", "Neg", "Square", "Sign", "Relu")


class _Term(NamedTuple):
    """``exact``: both sides have the same bits, so that a step or a question gives the same."""

    output: Any
    dims: Dims
    dtype: str
    exact: bool


class Region(NamedTuple):
    """A region by the names of its tensors, with arrays for its inputs."""

    region: drystone_tvm.Region
    feeds: dict[str, Array]
    fetches: list[str]


class _Maker:
    def __init__(self, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self.graph = ds.Graph()
        self.b = ds.Builder(self.graph)
        self.dtype = self.pick(["float32", "float32", "float64", "int32", "int64"])
        self.open = bool(self.chance.integers(2))
        self.full: Dims = tuple(
            int(k) for k in self.chance.integers(1, 20, self.chance.integers(1, 4))
        )
        if self.open and self.full[0] in self.full[1:]:  # a size that only looks like another's
            self.full = (_LARGER, *self.full[1:])
        self.arrays: list[Array] = []
        self.terms: list[_Term] = []
        for k in range(int(self.chance.integers(1, 4))):
            self.input(k)

    def pick(self, options: Any) -> Any:
        return options[int(self.chance.integers(len(options)))]

    def input(self, number: int) -> None:
        full = number == 0 or self.open
        dims = self.full if full else tuple(self.pick([k, 1]) for k in self.full)
        shape = (-1, *dims[1:]) if self.open and number == 0 else dims
        if self.open and number:  # of the axes behind the open one
            dims = shape = self.full[1:]
        values = self.chance.normal(0, 2, dims) if self.dtype[0] == "f" else (
            self.chance.integers(-5, 6, dims)
        )  # fmt: skip
        self.arrays.append(np.asarray(values, self.dtype))
        output = self.b("Placeholder", dtype=self.dtype, shape=shape, name=f"x{number}")
        self.terms.append(_Term(output, dims, self.dtype, True))

    def numbers(self, exact: bool = False) -> list[_Term]:
        return [t for t in self.terms if t.dtype == self.dtype and (t.exact or not exact)]

    def grow(self) -> None:
        kinds = [self.unary, self.pair, self.pair, self.reduce, self.choose]
        kinds += [self.soft, self.step] if self.dtype[0] == "f" else []
        self.pick([*kinds, self.turn, self.join])()

    def add(self, op: str, dims: Dims, dtype: str, exact: bool, *inputs: Any, **attrs: Any) -> None:
        self.terms.append(_Term(self.b(op, *inputs, **attrs), dims, dtype, exact))

    def unary(self) -> None:
        t = self.pick(self.numbers())
        op = self.pick(_SMOOTH if self.dtype[0] == "f" else _WHOLE)
        exact = t.exact and (self.dtype[0] == "i" or op in ("Abs", "Neg", "Relu", "Identity"))
        self.add(op, t.dims, self.dtype, exact, t.output)

    def step(self) -> None:
        t = self.pick(self.numbers(exact=True))
        op = self.pick(_STEPS)
        self.add(op, t.dims, self.dtype, op in _STEPS[:4], t.output)

    def pair(self) -> None:
        a, b = self.pick(self.numbers()), self.pick(self.numbers())
        dims = _broadcast(a, b)
        if dims is None or (self.open and len(a.dims) != len(b.dims) and 1 in (*a.dims, *b.dims)):
            return
        exact = a.exact and b.exact and self.dtype[0] == "i"
        self.add(self.pick(_PAIRS), dims, self.dtype, exact, a.output, b.output)

    def choose(self) -> None:
        a, b = self.pick(self.numbers(exact=True)), self.pick(self.numbers(exact=True))
        if a.dims != b.dims:
            return
        question = self.b(self.pick(_QUESTIONS), a.output, b.output)
        self.add("SelectV2", a.dims, self.dtype, True, question, a.output, b.output)

    def reduce(self) -> None:
        t = self.pick(self.numbers())
        if not t.dims:
            return
        axes = [k for k in range(len(t.dims)) if self.chance.integers(2)] or [len(t.dims) - 1]
        keep = bool(self.chance.integers(2)) or (self.open and 0 in axes)
        op = self.pick(_REDUCED if self.dtype[0] == "f" else ("Max", "Min", "Sum"))
        kept = [1 if k in axes else n for k, n in enumerate(t.dims)]
        dims = tuple(n for k, n in enumerate(kept) if keep or k not in axes)
        exact = t.exact and (self.dtype[0] == "i" or op in ("Max", "Min"))
        index = self.b.const(np.array(axes, np.int32))
        self.add(op, dims, self.dtype, exact, t.output, index, keep_dims=keep)

    def soft(self) -> None:
        t = self.pick(self.numbers())
        if t.dims:
            self.add(self.pick(("Softmax", "LogSoftmax")), t.dims, self.dtype, False, t.output)

    def turn(self) -> None:
        t = self.pick(self.numbers())
        order = self.chance.permutation(len(t.dims)).astype(np.int32)
        dims = tuple(t.dims[k] for k in order)
        if not self.open:
            self.add("Transpose", dims, self.dtype, t.exact, t.output, self.b.const(order))

    def join(self) -> None:
        t = self.pick(self.numbers())
        if t.dims and not self.open:
            dims = (2 * t.dims[0], *t.dims[1:])
            self.add("ConcatV2", dims, self.dtype, t.exact, [t.output, t.output], self.b.const(0))


def _broadcast(a: _Term, b: _Term) -> Dims | None:
    try:
        return np.broadcast_shapes(a.dims, b.dims)
    except ValueError:
        return None


def random_region(seed: int) -> Region:
    """A region of up to fifteen ops, its last results going out."""
    made = _Maker(seed)
    for _ in range(int(made.chance.integers(1, 16))):
        made.grow()
    results = made.terms[len(made.arrays) :][-3:] or made.terms[:1]
    names = [[f"{t.output[0].name}:{t.output[1]}" for t in part]
             for part in (made.terms[: len(made.arrays)], results)]  # fmt: skip
    region = drystone_tvm.Region(made.graph, *names)
    return Region(region, dict(zip(names[0], made.arrays, strict=True)), names[1])


def check(seed: int, folder: Path) -> None:
    """Raise ``AssertionError`` where the compiled region computes something else."""
    made = random_region(seed)
    compiled = drystone_tvm.compile(made.region, path=folder / f"region_{seed}.so")
    _check_call(seed, made, expected_of(made), compiled)


def check_together(seeds: Sequence[int], folder: Path) -> dict[int, Exception]:
    """The same of functions of one library; what is wrong, by seed."""
    made = {seed: random_region(seed) for seed in seeds}
    library = folder / f"regions_{seeds[0]}.so"
    compile_together(made, library)
    wrong: dict[int, Exception] = {}
    for seed, one in made.items():
        expected = expected_of(one)
        compiled = partial(
            drystone_tvm.load(library)[name_of(seed)],
            output_dtypes=[y.dtype for y in expected],
            output_shapes=[y.shape for y in expected],
        )
        try:
            _check_call(seed, one, expected, compiled)
        except Exception as error:
            wrong[seed] = error
    return wrong


def name_of(seed: int) -> str:
    """The function of a region."""
    return f"region_{seed}"


def compile_together(made: dict[int, Region], library: Path, target: str = "llvm") -> None:
    """One library with a function for each region."""
    import tvm
    from drystone_tvm.compiling.building import tvm_target
    from drystone_tvm.compiling.emission import Argument, distinct, emit
    from drystone_tvm.compiling.scheduling import scheduled

    module = tvm.IRModule({})
    for seed, one in made.items():
        graph, inputs, outputs = one.region
        known = ds.infer(graph)
        given = [
            Argument(at, str(name), str(one.feeds[str(name)].dtype), tuple(known.shape(at) or ()))
            for name, at in ((name, graph.output(str(name))) for name in inputs)
        ]
        found = emit(graph, distinct(given), [graph.output(str(name)) for name in outputs])
        plain = tvm.te.create_prim_func([*found.arguments, *(v.tensor for v in found.results)])
        module.update(scheduled(plain, name_of(seed), on_gpu=target == "cuda"))
    drystone_tvm.export(tvm.compile(module, target=tvm_target(target)[0]), library)


def expected_of(made: Region) -> list[Array]:
    """What NumPy's kernels compute."""
    config = ds.SessionConfig(executor="reference", optimizer="off")
    with np.errstate(all="ignore"):
        found: list[Array] = ds.Session(made.region.graph, config).run(made.fetches, made.feeds)
    return found


def _check_call(
    seed: int, made: Region, expected: list[Array], compiled: Callable[..., Any]
) -> None:
    found = compiled(*made.feeds.values())
    results = found if len(made.fetches) > 1 else [found]
    for name, x, y in zip(made.fetches, results, expected, strict=True):
        compare(f"seed {seed}, {name}", x, y)


def compare(what: str, found: Array, expected: Array) -> None:
    """Raise ``AssertionError`` where they differ by more than another order of sums."""
    assert found.dtype == expected.dtype, what
    assert found.shape == expected.shape, what
    with np.errstate(all="ignore"):
        finite = expected[np.isfinite(expected)]
        scale = max(float(np.abs(finite).max(initial=0)), 1.0)  # sums may cancel to nothing
    limit = {"float32": 2e-4, "float64": 1e-11}.get(str(found.dtype), 0)
    np.testing.assert_allclose(found, expected, rtol=limit, atol=limit * scale, err_msg=what)


def _wrong(seeds: Sequence[int], folder: Path) -> dict[int, Exception]:
    """What is wrong, by seed; one after the other where they are one, or do not compile."""
    if len(seeds) > 1:
        try:
            return check_together(seeds, folder)
        except Exception as error:
            print(f"seeds from {seeds[0]}, together: {type(error).__name__}: {error}")
    wrong: dict[int, Exception] = {}
    for seed in seeds:
        try:
            check(seed, folder)
        except Exception as error:
            wrong[seed] = error
    return wrong


def main() -> int:
    """Compare many; the exit status is 1 where one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--together", type=int, default=1)
    chosen = parser.parse_args()
    seeds, wrong = range(chosen.first, chosen.first + chosen.count), 0
    with tempfile.TemporaryDirectory() as name:
        for begin in range(0, chosen.count, chosen.together):
            found = _wrong(seeds[begin : begin + chosen.together], Path(name))
            wrong += len(found)
            for seed, error in found.items():
                print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
            for file in Path(name).iterdir():
                file.unlink()
    print(
        f"{chosen.count} random regions from seed {chosen.first} on: {wrong} differ or are refused"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

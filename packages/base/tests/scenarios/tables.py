"""Lookup tables of every kind: filled, looked up, changed, exported and imported."""

# ruff: noqa: D102, D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i64

from drystone_base.executor.testing import as_array
from drystone_base.graph import Node, Output
from scenarios import Program, scenario
from scenarios._draw import pick, values

# Pairs of dtypes that TensorFlow's CPU has tables for.
BASIC = [("int32", "float32"), ("int32", "float64"), ("int32", "int32"), ("int64", "float32"),
         ("int64", "float64"), ("int64", "int32"), ("int64", "int64"), ("string", "bool"),
         ("string", "float32"), ("string", "float64"), ("string", "int32"),
         ("string", "int64")]  # fmt: skip
MUTABLE = [*BASIC, ("int64", "string")]
HASH = [*MUTABLE, ("int32", "string"), ("string", "string")]
DENSE = [*BASIC, ("int64", "bool")]


class Table:
    """One table with the ops on it; ``V2`` ops for resources."""

    def __init__(self, p: Program, node: Node, types: tuple[str, str], shape: Any = ()) -> None:
        self.p, self.node, self.types, self.shape = p, node, types, list(shape)
        self.v2 = "V2" if node.op.endswith("V2") or node.op.startswith("Anonymous") else ""

    def find(self, keys: Any, default: Any) -> Node:
        return self.p(f"LookupTableFind{self.v2}", self.node, keys, default)

    def put(self, keys: Any, new: Any, how: str = "Insert") -> Node:
        return self.p(f"LookupTable{how}{self.v2}", self.node, keys, new)

    def fill(self, keys: Any, new: Any) -> Node:
        return self.p(f"InitializeTable{self.v2}", self.node, keys, new)

    def size(self) -> Node:
        return self.p(f"LookupTableSize{self.v2}", self.node)

    def export(self) -> list[Output]:
        """Keys and values, sorted by key where they can be: their order is no promise."""
        kinds: dict[str, Any] = {"Tkeys": self.types[0], "Tvalues": self.types[1]}
        made = self.p(f"LookupTableExport{self.v2}", self.node, **kinds)
        if self.types[0] == "string":
            return [self.p("Shape", (made, 0)), self.p("Shape", (made, 1))]  # type: ignore[list-item]
        order = self.p("TopKV2", (made, 0), self.p("Size", (made, 0)))
        return [(order, 0), (self.p("GatherV2", (made, 1), (order, 1), np.int32(0)), 0)]


def draw_keys(rng: np.random.Generator, dtype: str, count: int) -> Any:
    return values(rng, dtype, [count], unique=True)


@scenario(draws=32)
def hash_table(p: Program, rng: np.random.Generator) -> None:
    types = pick(rng, HASH)
    op = pick(rng, ["HashTable", "HashTableV2"])
    t = Table(p, p(op, key_dtype=types[0], value_dtype=types[1], shared_name="t"), types)
    keys, new = draw_keys(rng, types[0], 4), values(rng, types[1], [4])
    default = values(rng, types[1], [])
    look = t.find(values(rng, types[0], pick(rng, [[], [3], [2, 2], [0]])), default)
    p.step(look)
    p.step(t.size())
    p.step(t.fill(keys, new))
    p.step(look)
    p.step(t.size())
    p.step(t.fill(keys, new))
    p.step(t.fill(draw_keys(rng, types[0], 4), new))
    p.step(*t.export())


@scenario(draws=8)
def hash_table_twice(p: Program, rng: np.random.Generator) -> None:
    types = pick(rng, HASH)
    t = Table(p, p("HashTableV2", key_dtype=types[0], value_dtype=types[1]), types)
    once = draw_keys(rng, types[0], 2)
    p.step(t.fill(np.concatenate([once, once]), values(rng, types[1], [4], unique=True)))
    # From here on TensorFlow's table holds what came before the wrong pair.


@scenario(draws=8)
def anonymous(p: Program, rng: np.random.Generator) -> None:
    types = pick(rng, HASH)
    t = Table(p, p("AnonymousHashTable", key_dtype=types[0], value_dtype=types[1]), types)
    keys = draw_keys(rng, types[0], 3)
    filled = t.fill(keys, values(rng, types[1], [3]))
    default = values(rng, types[1], [])
    look = p("LookupTableFindV2", t.node, keys[:2], default, controls=[filled])
    p.step(look)
    p.step(look)


@scenario(draws=32)
def mutable(p: Program, rng: np.random.Generator) -> None:
    types = pick(rng, MUTABLE)
    op = pick(rng, ["MutableHashTable", "MutableHashTableV2"])
    t = Table(p, p(op, key_dtype=types[0], value_dtype=types[1], shared_name="t"), types)
    churn(p, rng, t)


@scenario(draws=24)
def mutable_of_tensors(p: Program, rng: np.random.Generator) -> None:
    types = pick(rng, MUTABLE)
    shape = pick(rng, [[2], [1], [0], [3]])
    op = pick(rng, ["MutableHashTableOfTensors", "MutableHashTableOfTensorsV2"])
    attrs = {"key_dtype": types[0], "value_dtype": types[1], "value_shape": shape}
    churn(p, rng, Table(p, p(op, shared_name="t", **attrs), types, shape))


@scenario(draws=32)
def dense(p: Program, rng: np.random.Generator) -> None:
    types = pick(rng, DENSE)
    shape = pick(rng, [[], [], [2]])
    special = [as_array(k) if types[0] == "string" else np.array(v, types[0])
               for k, v in (("empty", -1), ("deleted", -2))]  # fmt: skip
    attrs: dict[str, Any] = {"key_dtype": types[0], "value_dtype": types[1], "value_shape": shape}
    # The first version fails in TensorFlow, whose kernel asks for the second version's input.
    made = p("MutableDenseHashTableV2", *special, initial_num_buckets=pick(rng, [4, 8, 16]),
             max_load_factor=pick(rng, [0.5, 0.8]), **attrs)  # fmt: skip
    t = Table(p, made, types, shape)
    churn(p, rng, t, exported=False)
    p.step(
        t.put(np.reshape(special[int(rng.integers(2))], [1]), values(rng, types[1], [1, *shape]))
    )
    p.step(t.find(np.reshape(special[int(rng.integers(2))], [1]), values(rng, types[1], shape)))


def churn(p: Program, rng: np.random.Generator, t: Table, *, exported: bool = True) -> None:
    """Insert, look up, remove, import and export."""
    key, value = t.types
    default = values(rng, value, t.shape)
    keys = draw_keys(rng, key, 4)
    look = t.find(keys, default)
    p.step(look)
    p.step(t.put(keys[:3], values(rng, value, [3, *t.shape])))
    p.step(look, t.size())
    p.step(t.put(keys[1:2], values(rng, value, [1, *t.shape])))
    p.step(look, t.size())
    if t.v2:
        p.step(p("LookupTableRemoveV2", t.node, keys[:2]))
        p.step(look, t.size())
    if exported:
        p.step(*t.export())
    if exported:  # into dense tables TensorFlow imports nothing but its own buckets
        p.step(t.put(draw_keys(rng, key, 2), values(rng, value, [2, *t.shape]), "Import"))
        p.step(look, t.size())
    wrong = values(rng, value, [5, *t.shape])
    some, more = p.feed(key), p.feed(value)
    p.step(t.put(some, more), feeds={some: keys, more: wrong})


@scenario()
def shared_and_wrong_dtypes(p: Program) -> None:
    a = p("HashTableV2", key_dtype="string", value_dtype="int64", shared_name="t")
    b = p("HashTableV2", key_dtype="string", value_dtype="int64", shared_name="t")
    keys = as_array(["x", "y"])
    p.step(p("InitializeTableV2", a, keys, i64([1, 2])))
    p.step(p("LookupTableFindV2", b, keys, np.int64(-1)))
    p.step(p("LookupTableFindV2", b, i64([1]), np.int64(-1)))
    p.step(p("LookupTableFindV2", b, keys, np.float32(-1)))
    p.step(p("LookupTableInsertV2", a, keys, i64([1, 2])))
    p.step(p("LookupTableRemoveV2", a, keys))
    c = p("HashTableV2", key_dtype="int64", value_dtype="int64", shared_name="t")
    p.step(p("LookupTableSizeV2", c))


@scenario()
def tables_by_node_name(p: Program) -> None:
    kinds: dict[str, Any] = {"key_dtype": "int64", "value_dtype": "float32"}
    a = p("MutableHashTableV2", name="m", use_node_name_sharing=True, **kinds)
    p.step(p("LookupTableInsertV2", a, i64([1]), f32([2])))
    b = p("MutableHashTableV2", shared_name="m", **kinds)
    p.step(p("LookupTableSizeV2", b))


@scenario()
def from_text_file(p: Program) -> None:
    name = p.feed("string", [])
    content = as_array(b"alpha\t3\nbeta\t1\ngamma\t2\n")
    path = as_array(b"{tmp}/words.txt")
    p.step(p("WriteFile", name, content), feeds={name: path})
    for key, value, kinds, more in (
        (-2, -1, ("string", "int64"), {}),
        (-1, -2, ("int64", "string"), {"vocab_size": 3}),
        (0, 1, ("string", "int64"), {}),
        (1, 0, ("int64", "string"), {}),
        (0, -1, ("string", "int64"), {"vocab_size": 2}),
        (0, 5, ("string", "int64"), {}),
        (0, 1, ("string", "int64"), {"offset": 1}),
        (-2, -1, ("string", "int64"), {"vocab_size": 9}),
    ):
        t = p("HashTableV2", key_dtype=kinds[0], value_dtype=kinds[1])
        options: dict[str, Any] = {"key_index": key, "value_index": value, **more}
        p.step(p("InitializeTableFromTextFileV2", t, name, **options), feeds={name: path})
        p.step(p("LookupTableSizeV2", t))
        probe = ["alpha", "beta\t1", "beta", "none"] if kinds[0] == "string" else [0, 1, 2, 3]
        keys = as_array(probe) if kinds[0] == "string" else i64(probe)
        default = as_array("?") if kinds[1] == "string" else np.int64(-9)
        p.step(p("LookupTableFindV2", t, keys, default))

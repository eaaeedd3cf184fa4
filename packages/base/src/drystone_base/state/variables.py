"""What outlives a node: variables, named resources of a session, and the state of one step."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import KernelError
from drystone_base.core.payloads import VARIABLE
from drystone_base.core.shown import shape_text
from drystone_base.core.tensor import read_only

if TYPE_CHECKING:
    from drystone_base.state.host_variable import HostVariable

__all__ = [
    "VARIABLE_KIND",
    "ResourceHandle",
    "ResourceManager",
    "Step",
    "Variable",
    "handle_array",
    "resource_of",
    "uninitialized",
]

T = TypeVar("T")
VARIABLE_KIND: Final = "variable"
"""The kind under which a session's variables are among its resources."""
_step_ids: Final = itertools.count(1)
_versions: Final = itertools.count(-1, -1)  # the host library counts upwards


def uninitialized(name: str) -> KernelError:
    """The error of reading a variable that has no value."""
    return KernelError(
        f"variable {name!r} is read before it has a value",
        details={VARIABLE: name},
        check="a variable must be initialised before it is read",
        found="no value",
        needed="a value",
        remedy="run the graph's initializer or restore a checkpoint first",
        code="uninitialized-variable",
        status="FAILED_PRECONDITION",
    )


class Variable:
    """A mutable tensor. Reading gives the current array; writing replaces it, never changes it.

    ``shape`` is the declared shape (-1 and None allowed); ``value`` is None until initialised. The
    value moves to the host library when a kernel of a plugin first uses the variable.
    """

    __slots__ = (
        "__weakref__", "_home", "_value", "_version", "dtype", "lock", "name", "shape",
    )  # fmt: skip

    def __init__(self, name: str, dtype: DType, shape: tuple[int, ...] | None) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self._value: np.ndarray[Any, Any] | None = None
        self._version = 0
        self._home: HostVariable | None = None
        self.lock = threading.RLock()

    def __repr__(self) -> str:
        value = self.value
        shape = shape_text(self.shape if value is None else value.shape)
        held = ", no value" if value is None else ""
        return f"<Variable {self.name!r}: {self.dtype} {shape}{held}>"

    @property
    def value(self) -> np.ndarray[Any, Any] | None:
        """The current value, read-only; None without one."""
        return self._value if self._home is None else self._home.read()

    @value.setter
    def value(self, value: np.ndarray[Any, Any] | None) -> None:
        if self._home is None:
            self._value, self._version = value, next(_versions)
        else:
            self._home.write(value)

    @property
    def version(self) -> int:
        """Changes whenever the value does: no other value of any variable has the same."""
        return self._version if self._home is None else self._home.version()

    def in_host(self) -> HostVariable:
        """The variable in the host library, where it lives from now on."""
        from drystone_base.state.host_variable import HostVariable

        with self.lock:
            if self._home is None:
                self._home = HostVariable(self)
                self._value = None
            return self._home

    def read(self) -> np.ndarray[Any, Any]:
        """The current value; raises ``KernelError`` (``uninitialized-variable``) without one."""
        home = self._home
        value = self._value if home is None else home.read()
        if value is None:
            raise uninitialized(self.name)
        return value

    def write(self, value: np.ndarray[Any, Any]) -> None:
        """Replace the value; the caller must not change ``value`` afterwards."""
        self.value = read_only(np.asarray(value))  # a scalar of NumPy is no array


class ResourceHandle:
    """What a resource tensor holds: a named object of a session or a step.

    ``resource`` may be None for a handle whose object does not exist (yet).
    """

    __slots__ = ("container", "kind", "name", "resource")

    def __init__(self, kind: str, name: str, container: str, resource: Any) -> None:
        self.kind = kind
        self.name = name
        self.container = container
        self.resource = resource

    def __repr__(self) -> str:
        return f"ResourceHandle({self.kind} {self.container!r}/{self.name!r})"


class ResourceManager:
    """The named resources of a session, by container, kind and name. Safe to use from threads.

    ``generation`` changes whenever one is forgotten. What a manager has not itself is
    looked up in ``outer``, and made there: several may share one.
    """

    def __init__(self, outer: ResourceManager | None = None) -> None:
        self._objects: dict[tuple[str, str, str], Any] = {}
        self._lock = threading.RLock()
        self.generation = 0
        self._outer = outer
        self._inner: weakref.WeakSet[ResourceManager] = weakref.WeakSet()
        if outer is not None:
            outer._inner.add(self)

    def put(self, container: str, kind: str, name: str, resource: Any) -> None:
        """Have a resource here, whatever the outer manager has under that name."""
        with self._lock:
            self._objects[container, kind, name] = resource

    def get_or_create(self, container: str, kind: str, name: str, create: Callable[[], T]) -> T:
        """The resource of that name, made by ``create`` when there is none."""
        key = (container, kind, name)
        with self._lock:
            if key not in self._objects:
                if self._outer is not None:
                    return self._outer.get_or_create(container, kind, name, create)
                self._objects[key] = create()
            found: T = self._objects[key]
            return found

    def find(self, container: str, kind: str, name: str) -> Any | None:
        """The resource of that name, or None."""
        found = self._objects.get((container, kind, name))
        return self._outer.find(container, kind, name) if found is None and self._outer else found

    def delete(self, container: str, kind: str, name: str) -> bool:
        """Forget the resource; whether there was one."""
        with self._lock:
            self._forgets()
            here = self._objects.pop((container, kind, name), None) is not None
        return here or (self._outer is not None and self._outer.delete(container, kind, name))

    def _forgets(self) -> None:
        self.generation += 1
        for inner in list(self._inner):
            inner._forgets()

    def items(self, kind: str) -> Iterator[tuple[str, Any]]:
        """Name and object of every resource of a kind, sorted by name."""
        rows = {} if self._outer is None else dict(self._outer.items(kind))
        rows |= {n: o for (_, k, n), o in list(self._objects.items()) if k == kind}
        yield from sorted(rows.items(), key=lambda row: row[0])

    def clear(self, container: str | None = None) -> None:
        """Forget all resources, or those of one container, of those that are here."""
        with self._lock:
            self._forgets()
            if container is None:
                self._objects.clear()
                return
            for key in [k for k in self._objects if k[0] == container]:
                del self._objects[key]


class Step:
    """The state of one run: tensor arrays, stacks and anything else that dies with it.

    ``id`` differs for each step of a process. ``resources`` is keyed by the kernel's own choice.
    """

    __slots__ = ("id", "resources")

    def __init__(self) -> None:
        self.id = next(_step_ids)
        self.resources: dict[Any, Any] = {}


def handle_array(handle: object) -> np.ndarray[Any, Any]:
    """A 0-d object array that holds ``handle``: a resource or variant scalar at run time."""
    out = np.empty((), dtype=object)
    out[()] = handle
    return out


def resource_of(tensor: np.ndarray[Any, Any], kind: type[T]) -> T:
    """The object behind a resource tensor.

    Raises ``KernelError`` (``bad-resource``) when the tensor refers to nothing or to another kind.
    """
    handle = tensor.item() if isinstance(tensor, np.ndarray) and tensor.size == 1 else tensor
    resource = handle.resource if isinstance(handle, ResourceHandle) else handle
    if isinstance(resource, kind):
        return resource
    raise KernelError(
        f"a resource handle does not refer to a {kind.__name__}",
        check="a resource must exist and be of the kind that the op works on",
        found=repr(handle),
        needed=kind.__name__,
        remedy="run the op that creates or initialises the resource first",
        code="bad-resource",
        status="NOT_FOUND",
    )

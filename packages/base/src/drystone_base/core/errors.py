"""The exception tree: every user-visible failure is an object with fields and a stable code.

An error has five parts: what failed, which check failed, what was found, what was needed and what
to do about it. The text is rendered from the fields; inner errors are appended verbatim. Each code
has a page under ``docs/reference/errors/<code>.md``. ``status`` is the canonical status name that
TensorFlow would report for the same failure (``INVALID_ARGUMENT``, ``NOT_FOUND``, ...).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from drystone_base.core.payloads import CALLS, PREFIX, Value, from_json, json_ready, read_calls
from drystone_base.core.printable import bounded, described, plain, plain_lines
from drystone_base.core.redact import redacted

__all__ = [
    "BadModelFile",
    "BadRequest",
    "CheckpointError",
    "DrystoneError",
    "GraphError",
    "HostError",
    "KernelError",
    "PluginError",
    "ShapeError",
    "UnsupportedOp",
    "near_matches",
    "remedy_for",
]

_COMPARED: Final = 5000
_INDENT: Final = "    "
_CALLS_SHOWN: Final = 10
_OWN_FIELDS: Final = ("plugin", "path", "version")
_LONGEST_WHAT: Final = 550
_LONGEST_CAUSE: Final = 200
_BOUNDS: Final = {"check": 250, "found": 1500, "needed": 350, "remedy": 650}
"""Bytes of the parts of a plugin's error, so that all of it has less than 4096."""
_DETAILS_SHOWN: Final = 3
_LONGEST_DETAIL: Final = 120

_FEEDS: Final = "check the shapes of the feeds; `drystone inspect` shows what the graph expects"
_REMEDIES: Final = {
    "ALREADY_EXISTS": "choose another name, or delete what is there",
    "DATA_LOSS": "check the data: they may be truncated, or in another format",
    "FAILED_PRECONDITION": "run its prerequisites first, such as the initializer",
    "NOT_FOUND": "check the name, and that it is there",
    "OUT_OF_RANGE": "stop where the data end, or begin again",
    "PERMISSION_DENIED": "check who may read and write there",
    "RESOURCE_EXHAUSTED": "free memory or space, or feed less at once",
    "UNIMPLEMENTED": "fetch a tensor that does not need it",
}


def remedy_for(status: str, otherwise: str = _FEEDS) -> str:
    """What helps with most failures of a status; for those of no other: about a node's inputs."""
    return _REMEDIES.get(status, otherwise)


def _text(part: object) -> str:
    """A part of an error as text, without secrets; of what cannot be told, its type."""
    if isinstance(part, str):
        return redacted(part)
    try:
        return redacted(str(part))
    except Exception:
        return described(part)


class DrystoneError(Exception):
    """Base of every error that drystone raises on purpose.

    ``code`` is stable and kebab-case; ``status`` is a canonical status name. ``calls`` lists the
    functions of the graph that the failing node was reached through, the innermost first, each with
    the node that called it. ``details`` says what the error is about, by documented keys such as
    "drystone/node" (:mod:`~drystone_base.core.payloads`), and what plugins attached to it
    (``TF_SetPayload``), by theirs; the details of ``inner`` are among them. Values are text where
    they are UTF-8, else bytes. The text of the error shows those of plugins, and ``--json`` output
    all, bytes as ``{"base64": ...}``.
    """

    default_code: ClassVar[str] = "internal"
    default_status: ClassVar[str] = "INTERNAL"

    def __init__(
        self,
        what: str,
        *,
        check: str = "",
        found: object = "",
        needed: object = "",
        remedy: str = "",
        code: str | None = None,
        status: str | None = None,
        inner: BaseException | None = None,
        details: Mapping[str, Value] | None = None,
    ) -> None:
        self.what = _text(what)
        self.check = _text(check)
        self.found = _text(found)
        self.needed = _text(needed)
        self.remedy = _text(remedy)
        self.code = code if isinstance(code, str) and code else self.default_code
        self.status = status if isinstance(status, str) and status else self.default_status
        self.inner = inner
        self.calls: list[tuple[str, str]] = []
        self.details: dict[str, Value] = {**_details_of(inner), **_details(details)}
        super().__init__(self.render())

    def __reduce__(self) -> tuple[Any, ...]:
        """An error crosses to another process with all its parts."""
        return _again, (type(self), self.args), self.__dict__

    def reached_through(self, calls: Value) -> None:
        """Add functions that the node was reached through, as the payload ``CALLS`` says them."""
        self.calls += read_calls(calls)
        self.args = (self.render(),)

    def add_details(self, details: Mapping[str, Value]) -> None:
        """Add what else is known of what the error is about; what it says itself stays."""
        self.details = {**_details(details), **self.details}
        self.args = (self.render(),)

    def passes(self, *, function: str = "", node: str = "") -> None:
        """The error leaves a function, then the node that called it, on its way out."""
        if not isinstance(function, str) or function:
            self.calls.append((_text(function), ""))
        elif self.calls and not self.calls[-1][1]:
            self.calls[-1] = (self.calls[-1][0], _text(node))
            self.args = (self.render(),)

    def render(self) -> str:
        """The full text: one line for what failed, then one line for each part that is known."""
        lines = [f"{plain_lines(self.what, _INDENT)} [{self.code}]"]
        parts = (
            ("check", self.check),
            ("found", self.found),
            ("needed", self.needed),
            ("remedy", self.remedy),
        )
        lines += [f"  {label}: {plain_lines(text, _INDENT)}" for label, text in parts if text]
        calls = [f"  in function {name!r}, called by node {node!r}" for name, node in self.calls]
        if len(calls) > _CALLS_SHOWN:
            left_out = len(calls) - _CALLS_SHOWN
            calls[_CALLS_SHOWN - 1 : -1] = [f"  ... and {left_out} functions more"]
        lines += calls
        lines += self._shown_details()
        if self.inner is not None and (inner := self._cause()):
            lines.append(f"  caused by: {type(self.inner).__name__}: {inner}")
        return "\n".join(lines)

    def payloads(self) -> dict[str, Value]:
        """What goes with the error's text where it crosses C, for who catches it there."""
        import json  # only for what failed

        calls = {CALLS: json.dumps(self.calls)} if self.calls else {}
        return {**self.details, **calls}

    def _shown_details(self) -> list[str]:
        """Lines for the details of plugins; those of the host are in the other parts."""
        own = [item for item in self.details.items() if not item[0].startswith(PREFIX)]
        shown = [f"  detail: {bounded(_line(*item), _LONGEST_DETAIL)}" for item in own]
        if len(shown) > _DETAILS_SHOWN:
            shown[_DETAILS_SHOWN:] = [f"  ... and {len(shown) - _DETAILS_SHOWN} details more"]
        return shown

    def _cause(self) -> str:
        """What the inner error says; "" where that is said already."""
        return plain_lines(_text(self.inner), _INDENT)

    def fields(self) -> dict[str, Any]:
        """The parts as a JSON-ready mapping (used by ``--json`` output)."""
        names = ("code", "status", "what", "check", "found", "needed", "remedy")
        return {name: getattr(self, name) for name in names} | {
            "calls": [list(call) for call in self.calls],
            "details": json_ready({_text(k): _redacted(v) for k, v in self.details.items()}),
        }


def _line(key: str, value: Value) -> str:
    """A detail in one line."""
    text = value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")
    return f"{plain(_text(key))} = {plain(_text(text))}"


def _details(given: object) -> dict[str, Value]:
    """Details by key; an error is made whatever it is told, so what has no text is described."""
    if given is None:
        return {}
    try:
        return {_text(k): v if isinstance(v, bytes) else _text(v) for k, v in given.items()}  # type: ignore[attr-defined]  # or else it has none
    except Exception:
        return {"details": described(given)}


def _details_of(inner: BaseException | None) -> Mapping[str, Value]:
    """What the error that another one is about says of itself."""
    return inner.details if isinstance(inner, DrystoneError) else {}


def _redacted(value: Value) -> Value:
    return _text(value) if isinstance(value, str) else value


def _again(kind: type[DrystoneError], args: tuple[Any, ...]) -> DrystoneError:
    made = kind.__new__(kind)
    made.args = args
    return made


class BadModelFile(DrystoneError):
    """A model file or directory cannot be read: truncated, malformed, missing or unsafe."""

    default_code = "bad-model-file"
    default_status = "DATA_LOSS"

    def __init__(self, what: str, *, subject: str = "", **parts: Any) -> None:
        """``subject``: what ``what`` is about where the file is not known, "the graph"."""
        what, subject = _text(what), _text(subject)
        super().__init__(f"{subject} {what}" if subject else what, **parts)
        self._after_subject = what if subject else ""

    def name_file(self, name: str) -> None:
        """Say which file it was, where the error has only a subject."""
        if self._after_subject:
            self.what = f"{_text(name)} {self._after_subject}"
            self.args = (self.render(),)


class CheckpointError(BadModelFile):
    """A checkpoint is missing, truncated or fails its checksums."""

    default_code = "bad-checkpoint"


class GraphError(DrystoneError):
    """A graph is not valid: duplicate names, missing inputs, cycles, bad attributes."""

    default_code = "bad-graph"
    default_status = "INVALID_ARGUMENT"


class UnsupportedOp(DrystoneError):
    """A fetch reaches an op that has no kernel or that is not known."""

    default_code = "op-not-implemented"
    default_status = "UNIMPLEMENTED"


class ShapeError(DrystoneError):
    """Shapes or dtypes of a node's fan-in contradict the op's definition."""

    default_code = "bad-shape"
    default_status = "INVALID_ARGUMENT"


class BadRequest(DrystoneError):
    """Feeds, fetches or arguments of a call do not fit the graph."""

    default_code = "bad-request"
    default_status = "INVALID_ARGUMENT"


class KernelError(DrystoneError):
    """A kernel refused its inputs; ``status`` is what TensorFlow would report."""

    default_code = "kernel-failed"
    default_status = "INVALID_ARGUMENT"


class HostError(DrystoneError):
    """A call into the host library failed; ``status`` is the code that it gave."""

    default_code = "host-call-failed"
    any_check = "the host's call must succeed"

    @property
    def sentence(self) -> str:
        """What the status says, with the check and what it needs where the status has them."""
        if self.check == self.any_check:
            return self.found
        return f"{self.check}: {self.found}" + (f"; needed: {self.needed}" if self.needed else "")


class PluginError(DrystoneError):
    """A plugin was refused, failed, or misbehaved.

    ``plugin`` is its name, ``path`` its file and ``version`` its version, each "" when unknown.
    What plugins and their files say has no bound and may hold anything: the text of such an error
    has at most 4096 bytes, without what a terminal would act on.
    """

    default_code = "plugin-failed"
    default_status = "FAILED_PRECONDITION"

    def __init__(
        self,
        what: str,
        *,
        plugin: str = "",
        path: object = "",
        version: str = "",
        **parts: Any,
    ) -> None:
        self.plugin = _text(plugin)
        self.path = _text(path)
        self.version = _text(version)
        for name, most in _BOUNDS.items():
            parts[name] = bounded(_text(parts.get(name, "")), most)
        super().__init__(bounded(_text(what), _LONGEST_WHAT), **parts)

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any], **own: Any) -> PluginError:
        """The error whose :meth:`fields` another process tells, with ``own`` in place of its."""
        names = ("check", "found", "needed", "remedy", "code", "status", *_OWN_FIELDS)
        told = fields if isinstance(fields, dict) else {}
        parts = {name: text for name in names if (text := _text(told.get(name, "")))} | own
        what = _text(told.get("what", "")) or "an isolated plugin failed"
        return cls(what, details=from_json(told.get("details")), **parts)

    def _cause(self) -> str:
        said = bounded(_text(self.inner), _LONGEST_CAUSE)
        return "" if said in self.found else said.replace("\n", f"\n{_INDENT}")

    def fields(self) -> dict[str, Any]:
        """The parts as a JSON-ready mapping, with plugin, path and version."""
        return super().fields() | {
            "plugin": self.plugin,
            "path": self.path,
            "version": self.version,
        }


def near_matches(name: object, known: Iterable[str], limit: int = 3) -> list[str]:
    """The names in ``known`` that are most like ``name``, best first.

    Among many names only those of similar length that share a beginning or an end are compared.
    """
    if not isinstance(name, str):
        return []
    names = list(known)
    if len(names) > _COMPARED:
        near = (n for n in names if abs(len(n) - len(name)) <= 3)
        alike = (n for n in near if n[:3] == name[:3] or n[-3:] == name[-3:])
        names = list(itertools.islice(alike, _COMPARED))
    import difflib  # only for what went wrong

    return difflib.get_close_matches(name, names, n=limit, cutoff=0.6)

from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PlanKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAN_KERNEL: _ClassVar[PlanKind]
    PLAN_SWITCH: _ClassVar[PlanKind]
    PLAN_MERGE: _ClassVar[PlanKind]
    PLAN_ENTER: _ClassVar[PlanKind]
    PLAN_EXIT: _ClassVar[PlanKind]
    PLAN_NEXT_ITERATION: _ClassVar[PlanKind]
    PLAN_TRIGGER: _ClassVar[PlanKind]
    PLAN_NOTHING: _ClassVar[PlanKind]
    PLAN_FORWARD: _ClassVar[PlanKind]
    PLAN_CONSTANT: _ClassVar[PlanKind]
    PLAN_CALL: _ClassVar[PlanKind]
    PLAN_IF: _ClassVar[PlanKind]
    PLAN_CASE: _ClassVar[PlanKind]
    PLAN_WHILE: _ClassVar[PlanKind]
    PLAN_SESSION_CONSTANT: _ClassVar[PlanKind]
    PLAN_LOOP: _ClassVar[PlanKind]
    PLAN_TRANSFER: _ClassVar[PlanKind]
    PLAN_COPY: _ClassVar[PlanKind]
PLAN_KERNEL: PlanKind
PLAN_SWITCH: PlanKind
PLAN_MERGE: PlanKind
PLAN_ENTER: PlanKind
PLAN_EXIT: PlanKind
PLAN_NEXT_ITERATION: PlanKind
PLAN_TRIGGER: PlanKind
PLAN_NOTHING: PlanKind
PLAN_FORWARD: PlanKind
PLAN_CONSTANT: PlanKind
PLAN_CALL: PlanKind
PLAN_IF: PlanKind
PLAN_CASE: PlanKind
PLAN_WHILE: PlanKind
PLAN_SESSION_CONSTANT: PlanKind
PLAN_LOOP: PlanKind
PLAN_TRANSFER: PlanKind
PLAN_COPY: PlanKind

class InstructionDef(_message.Message):
    __slots__ = ("kind", "node_def", "op", "inputs", "outputs", "controls", "blocks", "callback", "constant", "value", "frame", "is_constant", "deref", "own", "value_type", "device", "waits")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NODE_DEF_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    CONTROLS_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    CALLBACK_FIELD_NUMBER: _ClassVar[int]
    CONSTANT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    IS_CONSTANT_FIELD_NUMBER: _ClassVar[int]
    DEREF_FIELD_NUMBER: _ClassVar[int]
    OWN_FIELD_NUMBER: _ClassVar[int]
    VALUE_TYPE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    WAITS_FIELD_NUMBER: _ClassVar[int]
    kind: PlanKind
    node_def: bytes
    op: int
    inputs: _containers.RepeatedScalarFieldContainer[int]
    outputs: int
    controls: _containers.RepeatedScalarFieldContainer[int]
    blocks: _containers.RepeatedScalarFieldContainer[int]
    callback: int
    constant: int
    value: bytes
    frame: str
    is_constant: bool
    deref: _containers.RepeatedScalarFieldContainer[int]
    own: int
    value_type: int
    device: int
    waits: bool
    def __init__(self, kind: _Optional[_Union[PlanKind, str]] = ..., node_def: _Optional[bytes] = ..., op: _Optional[int] = ..., inputs: _Optional[_Iterable[int]] = ..., outputs: _Optional[int] = ..., controls: _Optional[_Iterable[int]] = ..., blocks: _Optional[_Iterable[int]] = ..., callback: _Optional[int] = ..., constant: _Optional[int] = ..., value: _Optional[bytes] = ..., frame: _Optional[str] = ..., is_constant: bool = ..., deref: _Optional[_Iterable[int]] = ..., own: _Optional[int] = ..., value_type: _Optional[int] = ..., device: _Optional[int] = ..., waits: bool = ...) -> None: ...

class BlockDef(_message.Message):
    __slots__ = ("name", "feeds", "instructions", "fetches", "feed_names", "fetch_names", "feed_types", "example_feeds", "example_fetches", "example_bytes", "least_examples", "whole_because")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FEEDS_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    FETCHES_FIELD_NUMBER: _ClassVar[int]
    FEED_NAMES_FIELD_NUMBER: _ClassVar[int]
    FETCH_NAMES_FIELD_NUMBER: _ClassVar[int]
    FEED_TYPES_FIELD_NUMBER: _ClassVar[int]
    EXAMPLE_FEEDS_FIELD_NUMBER: _ClassVar[int]
    EXAMPLE_FETCHES_FIELD_NUMBER: _ClassVar[int]
    EXAMPLE_BYTES_FIELD_NUMBER: _ClassVar[int]
    LEAST_EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    WHOLE_BECAUSE_FIELD_NUMBER: _ClassVar[int]
    name: str
    feeds: int
    instructions: _containers.RepeatedCompositeFieldContainer[InstructionDef]
    fetches: _containers.RepeatedScalarFieldContainer[int]
    feed_names: _containers.RepeatedScalarFieldContainer[str]
    fetch_names: _containers.RepeatedScalarFieldContainer[str]
    feed_types: _containers.RepeatedScalarFieldContainer[int]
    example_feeds: _containers.RepeatedScalarFieldContainer[int]
    example_fetches: _containers.RepeatedScalarFieldContainer[int]
    example_bytes: int
    least_examples: int
    whole_because: str
    def __init__(self, name: _Optional[str] = ..., feeds: _Optional[int] = ..., instructions: _Optional[_Iterable[_Union[InstructionDef, _Mapping[str, object]]]] = ..., fetches: _Optional[_Iterable[int]] = ..., feed_names: _Optional[_Iterable[str]] = ..., fetch_names: _Optional[_Iterable[str]] = ..., feed_types: _Optional[_Iterable[int]] = ..., example_feeds: _Optional[_Iterable[int]] = ..., example_fetches: _Optional[_Iterable[int]] = ..., example_bytes: _Optional[int] = ..., least_examples: _Optional[int] = ..., whole_because: _Optional[str] = ...) -> None: ...

class PlanDef(_message.Message):
    __slots__ = ("version", "graph_def_version", "op_defs", "blocks", "devices")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    GRAPH_DEF_VERSION_FIELD_NUMBER: _ClassVar[int]
    OP_DEFS_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    version: int
    graph_def_version: int
    op_defs: _containers.RepeatedScalarFieldContainer[bytes]
    blocks: _containers.RepeatedCompositeFieldContainer[BlockDef]
    devices: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, version: _Optional[int] = ..., graph_def_version: _Optional[int] = ..., op_defs: _Optional[_Iterable[bytes]] = ..., blocks: _Optional[_Iterable[_Union[BlockDef, _Mapping[str, object]]]] = ..., devices: _Optional[_Iterable[str]] = ...) -> None: ...

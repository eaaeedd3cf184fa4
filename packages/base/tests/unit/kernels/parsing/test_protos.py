"""Messages taken apart: where descriptors come from, and what is said when they are missing."""

from pathlib import Path

import numpy as np
import pytest
from google.protobuf import descriptor_pb2
from stateful import Bench

from drystone_abi.protos import BytesList, Feature
from drystone_base.core.dtypes import INT32, STRING
from drystone_base.core.errors import KernelError
from drystone_base.files.access import Access

FILES = descriptor_pb2.FileDescriptorSet()
_FILE = FILES.file.add(name="p.proto", package="p")
_FILE.message_type.add(name="M").field.add(name="n", number=1, label=1, type=5)
FIVE = np.array(b"\x08\x05", object)
WANTED = {"message_type": "p.M", "field_names": ["n"], "output_types": [INT32]}


def test_descriptors_come_from_a_file_that_may_be_read(tmp_path: Path) -> None:
    file = tmp_path / "p.bin"
    file.write_bytes(FILES.SerializeToString())
    run = Bench()
    sizes, value = run.all("DecodeProtoV2", FIVE, descriptor_source=str(file), **WANTED)
    assert (sizes.tolist(), value.tolist()) == ([1], [5])
    run.runtime.access = Access()
    with pytest.raises(KernelError, match="read"):
        run.all("DecodeProtoV2", FIVE, descriptor_source=str(file), **WANTED)


def test_tensorflows_own_messages_are_known() -> None:
    text = Feature(bytes_list=BytesList(value=[b"a"])).SerializeToString()
    sizes, value = Bench().all(
        "DecodeProtoV2", np.array([text], object), message_type="tensorflow.Feature",
        field_names=["bytes_list"], output_types=[STRING],
    )  # fmt: skip
    assert sizes.tolist() == [[1]]
    assert BytesList.FromString(value[0, 0]).value == [b"a"]


def test_an_unknown_message_is_refused_with_what_to_do() -> None:
    Bench().fails(
        "INVALID_ARGUMENT", "give descriptor_source a file", "DecodeProtoV2", FIVE, **WANTED
    )
    Bench().fails("INVALID_ARGUMENT", "or a readable file", "DecodeProtoV2", FIVE,
                  descriptor_source="no/such/file", **WANTED)  # fmt: skip
    Bench().fails("INVALID_ARGUMENT", "must have the field", "EncodeProto",
                  np.ones((1, 1), np.int32), np.ones((1, 1), np.int32), message_type="p.M",
                  field_names=["x"],
                  descriptor_source="bytes://" + FILES.SerializeToString().decode())  # fmt: skip

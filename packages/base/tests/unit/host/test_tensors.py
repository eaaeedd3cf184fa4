"""Arrays to the host's tensors and back: no copy where the memory allows it, and nothing leaks."""

import ctypes
import gc
import threading
from typing import Any

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings

from drystone_base.core.dtypes import DType, as_dtype, from_number
from drystone_base.core.errors import HostError
from drystone_base.host import available, tensors
from drystone_base.host._lib import declare
from drystone_base.host.dlpack import DLPackError, from_dlpack
from drystone_base.host.live import live_objects
from drystone_base.host.memory import free_kept
from drystone_base.host.status import Status
from drystone_base.host.tensors import HostTensor, adopt, aligned, empty_aligned, lend

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

NUMBERS = [d for d in map(from_number, range(1, 33)) if not d.is_object]
SHAPES = [(), (0,), (3,), (2, 3), (2, 0, 4), (1, 2, 3, 4, 5)]

_delete = declare("TF_DeleteTensor", None, ctypes.c_void_p)
_data = declare("TF_TensorData", ctypes.c_void_p, ctypes.c_void_p)
_aligned = declare("TF_TensorIsAligned", ctypes.c_bool, ctypes.c_void_p)
_size = declare("TF_DataTypeSize", ctypes.c_size_t, ctypes.c_int)
_copy = declare("TF_StringCopy", None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
_allocate = declare(
    "TF_AllocateTensor", ctypes.c_void_p,
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t,
)  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_leaks() -> Any:
    before, held = live_objects(), tensors.held()
    yield
    if live_objects() != before:  # fewer where a thread of an earlier test gave one back
        gc.collect()
    assert not {k: n - before[k] for k, n in live_objects().items() if n > before[k]}
    assert tensors.held() == held


def filled(shape: tuple[int, ...], dtype: DType) -> np.ndarray[Any, Any]:
    out = empty_aligned(shape, dtype.np)
    out[...] = (np.arange(out.size) % 2).reshape(shape).astype(dtype.np)
    return out


# ---- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_an_aligned_array_crosses_both_ways_in_the_same_memory(
    dtype: DType, shape: tuple[int, ...]
) -> None:
    array, before = filled(shape, dtype), tensors.counts()
    handle = lend(array, dtype)
    assert tensors.counts() == (before.lent + 1, before.copied)
    if array.size:
        assert _data(handle) == array.ctypes.data
        assert _aligned(handle)
    back = adopt(handle)
    assert back.dtype == dtype.np
    assert back.shape == shape
    assert back.tobytes() == array.tobytes()
    assert not array.size or back.ctypes.data == array.ctypes.data


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_the_host_and_numpy_agree_on_the_size_of_an_element(dtype: DType) -> None:
    assert _size(dtype.number) == dtype.np.itemsize


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_strides_arrive_in_order(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    shape = data.draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    base = filled(shape, dtype)
    view = base.transpose(data.draw(st.permutations(range(base.ndim))))
    if view.ndim and data.draw(st.booleans()):
        view = view[:: data.draw(st.sampled_from([1, -1, 2]))]
    copied = tensors.counts().copied
    back = adopt(lend(view, dtype))
    assert back.flags.c_contiguous
    assert back.shape == view.shape
    assert back.tobytes() == view.tobytes()
    assert view.flags.c_contiguous or tensors.counts().copied == copied + 1


def test_memory_that_is_not_aligned_is_copied_once_and_counted() -> None:
    raw = empty_aligned((64,), np.float32)
    view = raw[1:33]
    view[...] = np.arange(32)
    before = tensors.counts()
    back = adopt(lend(view))
    assert tensors.counts() == (before.lent, before.copied + 1)
    assert back.ctypes.data % tensors.ALIGNMENT == 0
    assert np.array_equal(back, view)


def test_read_only_arrays_are_lent_as_well() -> None:
    array = filled((4,), as_dtype("float32"))
    array.flags.writeable = False
    before = tensors.counts().copied
    assert HostTensor.from_numpy(array).numpy().flags.writeable is False
    assert tensors.counts().copied == before


def test_a_lent_array_lives_as_long_as_the_host_uses_it() -> None:
    array = filled((1000,), as_dtype("int64"))
    handle = lend(array)
    expected = array.copy()
    del array
    gc.collect()
    filled((1000,), as_dtype("int64"))[...] = 7
    assert np.array_equal(adopt(handle), expected)


def test_views_of_a_tensor_keep_its_memory_when_the_array_is_gone() -> None:
    back = adopt(lend(filled((8,), as_dtype("float64"))))
    part = back[2:]
    del back
    gc.collect()
    assert part.tolist() == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("dtype", [">f4", ">i8", ">c8"])
def test_big_endian_arrays_are_refused(dtype: str) -> None:
    with pytest.raises(HostError) as caught:
        lend(np.zeros(3, dtype))
    assert caught.value.code == "bad-host-tensor"
    assert f"found: an array of {dtype}" in str(caught.value)
    assert "native byte order" in str(caught.value)
    assert "remedy: convert the array" in str(caught.value)


def test_an_array_of_another_dtype_than_stated_is_refused() -> None:
    with pytest.raises(HostError, match="cannot become a qint8 tensor") as caught:
        lend(np.zeros(3, np.float32), as_dtype("qint8"))
    assert "needed: int8 in native byte order" in str(caught.value)


@pytest.mark.parametrize("label", ["resource", "variant"])
def test_handles_of_objects_do_not_cross(label: str) -> None:
    with pytest.raises(HostError, match="needed: numbers or strings"):
        lend(np.empty((), object), as_dtype(label))
    handle = _allocate(as_dtype(label).number, None, 0, 8)
    with pytest.raises(HostError, match=f"found: a tensor of {label}"):
        adopt(handle)


@pytest.mark.parametrize("label", ["float32", "bfloat16", "string"])
@pytest.mark.parametrize("shape", [(0, 1 << 62, 4), (1,) * 65])
def test_shapes_that_arrays_cannot_have_are_refused(label: str, shape: tuple[int, ...]) -> None:
    dims = (ctypes.c_int64 * len(shape))(*shape)
    handle = _allocate(as_dtype(label).number, dims, len(shape), 24)
    with pytest.raises(HostError, match=f"a {label} tensor cannot become an array") as caught:
        adopt(handle)
    assert (caught.value.code, caught.value.found) == ("bad-host-tensor", f"shape {list(shape)}")


def test_empty_aligned_is_aligned_for_every_shape() -> None:
    for size in range(1, 40):
        assert empty_aligned((size,), ml_dtypes.bfloat16).ctypes.data % tensors.ALIGNMENT == 0
    assert empty_aligned((2, 0), np.float32).shape == (2, 0)
    ready = empty_aligned((3,), np.float32)
    assert aligned(ready) is ready


def test_threads_lend_and_adopt_at_the_same_time() -> None:
    wrong: list[int] = []

    def work(seed: int) -> None:
        for k in range(200):
            array = empty_aligned((50,), np.int64)
            array[...] = seed * 1000 + k
            handle = lend(array)
            del array
            if not (adopt(handle) == seed * 1000 + k).all():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ---- strings -----------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=12))
def test_strings_round_trip(values: list[bytes]) -> None:
    array = np.empty(len(values), object)
    array[:] = values
    assert adopt(lend(array)).tolist() == values


def test_strings_keep_shape_and_text_becomes_utf8() -> None:
    array = np.array([["", "grün"], ["\0x", "y" * 1000]], dtype=object)
    back = adopt(lend(array))
    assert back.shape == (2, 2)
    assert back.tolist() == [[b"", "grün".encode()], [b"\0x", b"y" * 1000]]
    assert adopt(lend(np.array(b"one", object))).item() == b"one"
    assert adopt(lend(np.array(["ab", "c"]))).tolist() == [b"ab", b"c"]


def test_the_bytes_of_strings_are_not_copied_on_the_way_out() -> None:
    value = b"a string that does not fit into its struct"
    handle = lend(np.array([value], object))
    words = (ctypes.c_uint64 * 3).from_address(_data(handle))
    assert words[0] == len(value) << 2 | 3
    assert ctypes.string_at(words[1]) == value
    assert words[1] == ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value
    assert ctypes.c_char.from_address(words[1] + len(value)).value == b"\0"
    _delete(handle)


@pytest.mark.parametrize("size", [0, 1, 22, 23, 24, 4096])
def test_strings_that_the_host_owns_are_read(size: int) -> None:
    handle = _allocate(7, (ctypes.c_int64 * 1)(2), 1, 48)
    _copy(_data(handle) + 24, b"s" * size, size)
    assert adopt(handle).tolist() == [b"", b"s" * size]


def test_strings_that_lie_behind_their_table_are_read() -> None:
    raw = empty_aligned((64,), np.uint8)
    raw[:24].view(np.uint32)[:3] = [5 << 2 | 2, 40, 0]
    raw[40:45] = list(b"hello")
    assert tensors._read_strings(raw.ctypes.data, 1) == [b"hello"]


def test_other_objects_than_strings_are_refused_by_position() -> None:
    with pytest.raises(HostError, match="found: a int at flat index 1"):
        lend(np.array([b"a", 3], object))


# ---- DLPack ------------------------------------------------------------------------------------

DLPACK = [d for d in NUMBERS if not d.is_quantized]


@pytest.mark.parametrize("dtype", DLPACK, ids=str)
def test_dlpack_round_trip_in_the_same_memory(dtype: DType) -> None:
    array = filled((2, 3), dtype)
    back = from_dlpack(HostTensor.from_numpy(array, dtype))
    assert back.dtype == array.dtype
    assert back.shape == (2, 3)
    assert back.ctypes.data == array.ctypes.data
    assert back.tobytes() == array.tobytes()


def test_quantised_tensors_are_handed_out_as_plain_integers() -> None:
    tensor = HostTensor.from_numpy(np.zeros(3, np.int8), as_dtype("qint8"))
    assert HostTensor.from_dlpack(tensor).dtype is as_dtype("int8")


@pytest.mark.parametrize("dtype", ["float32", "int16", "bool", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numpy_takes_and_gives(dtype: str, shape: tuple[int, ...]) -> None:
    array = filled(shape, as_dtype(dtype))
    taken = np.from_dlpack(HostTensor.from_numpy(array))
    assert np.array_equal(taken, array)
    assert not array.size or taken.ctypes.data == array.ctypes.data
    given = from_dlpack(array)
    assert np.array_equal(given, array)
    assert not array.size or given.ctypes.data == array.ctypes.data


def test_strides_of_a_producer_are_put_in_order() -> None:
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (array.T, array[:, ::2], array[::-1, :, 1:]):
        back = from_dlpack(view)
        assert back.flags.c_contiguous and back.flags.writeable  # noqa: PT018
        assert np.array_equal(back, view)


@pytest.mark.skipif(np.__version__ < "2.1", reason="NumPy 2.0 gives nobody read-only memory")
def test_read_only_memory_stays_read_only() -> None:
    array = filled((3,), as_dtype("float32"))
    array.flags.writeable = False
    assert not from_dlpack(array).flags.writeable
    tensor = HostTensor.from_numpy(array)
    assert not np.from_dlpack(tensor).flags.writeable
    with pytest.raises(DLPackError) as caught:
        tensor.__dlpack__()
    assert isinstance(caught.value, BufferError)
    assert caught.value.code == "dlpack-refused"
    assert "needed: __dlpack__(max_version=(1, 0)), or copy=True" in str(caught.value)
    copy = np.from_dlpack(tensor, copy=True)
    assert copy.flags.writeable
    assert copy.ctypes.data != array.ctypes.data


class Producer:
    """Hands out one managed tensor of its own making, and counts calls of its deleter."""

    def __init__(
        self, *, device: int = 1, code: int = 2, bits: int = 32, lanes: int = 1, major: int = 1
    ) -> None:
        self.deleted = 0
        self.device = device
        self.memory = np.arange(6, dtype=np.float32)
        self.dims = (ctypes.c_int64 * 2)(2, 3)
        self.deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._count)
        view = (self.memory.ctypes.data, device, 0, 2, code, bits, lanes,
                ctypes.addressof(self.dims), 0, 0)  # fmt: skip
        function = ctypes.cast(self.deleter, ctypes.c_void_p).value or 0
        self.versioned = Versioned(major, 0, 0, function, 0, View(*view))
        self.plain = Plain(View(*view), 0, function)

    def _count(self, _: int) -> None:
        self.deleted += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)

    def capsule(self, struct: Any, name: bytes) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
        return new(ctypes.addressof(struct), name, None)


class View(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_uint64), ("device", ctypes.c_int32), ("id", ctypes.c_int32),
        ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.c_uint64), ("strides", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
    )  # fmt: skip


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_uint64),
        ("deleter", ctypes.c_uint64), ("flags", ctypes.c_uint64), ("view", View),
    )  # fmt: skip


class Plain(ctypes.Structure):
    _fields_ = (("view", View), ("context", ctypes.c_uint64), ("deleter", ctypes.c_uint64))


class New(Producer):
    def __dlpack__(self, *, max_version: tuple[int, int]) -> Any:
        assert max_version == (1, 1)
        return self.capsule(self.versioned, b"dltensor_versioned")


class Old(Producer):
    """A producer from before DLPack 1.0: its ``__dlpack__`` takes no version."""

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.capsule(self.plain, b"dltensor")


@pytest.mark.parametrize("kind", [New, Old])
def test_the_deleter_is_called_once_when_the_last_array_goes(kind: type[Producer]) -> None:
    source = kind()
    back = from_dlpack(source)
    part = back[1]
    assert part.tolist() == [3, 4, 5]
    del back
    gc.collect()
    assert source.deleted == 0
    del part
    gc.collect()
    assert source.deleted == 1


@pytest.mark.parametrize("kind", [New, Old])
def test_the_deleter_is_called_once_for_memory_that_is_copied(kind: type[Producer]) -> None:
    source = kind()
    strides = (ctypes.c_int64 * 2)(1, 2)
    source.versioned.view.strides = source.plain.view.strides = ctypes.addressof(strides)
    back = from_dlpack(source)
    assert back.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert source.deleted == 1


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"device": 2}, "found: device (2, 0)"),
        ({"code": 3, "bits": 64}, "no TensorFlow dtype is like DLPack's code 3, 64 bits, 1 lanes"),
        ({"lanes": 4}, "code 2, 32 bits, 4 lanes"),
        ({"code": 0, "bits": 4}, "elements are packed: code 0, 4 bits, 1 lanes"),
        ({"major": 2}, "the struct is of DLPack 2.0, known is 1.x"),
    ],
)
def test_what_cannot_be_taken_is_refused_and_left_to_its_owner(
    facts: dict[str, int], text: str
) -> None:
    source = New(**facts)
    with pytest.raises(DLPackError) as caught:
        from_dlpack(source)
    assert text in str(caught.value)
    assert caught.value.code == "dlpack-refused"
    assert source.deleted == 0


def test_a_capsule_that_was_taken_is_refused() -> None:
    class Used(Producer):
        def __dlpack__(self, **_: Any) -> Any:
            return self.capsule(self.plain, b"used_dltensor")

    with pytest.raises(DLPackError, match="must return a fresh capsule"):
        from_dlpack(Used())


def test_absurd_dimensions_are_refused() -> None:
    source = New()
    for first, second in ((-1, 3), (1 << 62, 8)):
        source.dims[0], source.dims[1] = first, second
        with pytest.raises(DLPackError, match="dimensions are no valid shape"):
            from_dlpack(source)
    source.dims[0], source.dims[1] = 2, 3
    source.versioned.view.rank = 1 << 30
    with pytest.raises(DLPackError, match="dimensions are no valid shape"):
        from_dlpack(source)


def test_null_is_answered_with_a_status() -> None:
    for name, arguments in (
        ("DS_TensorToDLPack", (None, 1, 0)),
        ("DS_TensorFromDLPack", (None, 0, None)),
        ("DS_RunKernelOnArrays", (None, None, None, 0, None, 0)),
        ("DS_RunKernelOnArrays", (None, None, None, -5, (ctypes.c_int64 * 2)(), 2)),
    ):
        function = declare(name, ctypes.c_void_p, *[ctypes.c_void_p] * (len(arguments) + 1))
        with pytest.raises(HostError, match="must not be NULL"), Status("a call") as status:
            function(*arguments, status.pointer)
    declare("DS_DeleteDLPack", None, ctypes.c_void_p, ctypes.c_int)(None, 1)
    declare("DS_DropDLPackCapsule", None, ctypes.c_void_p)(None)


def test_a_capsule_that_nobody_takes_frees_its_tensor() -> None:
    tensor = HostTensor.from_numpy(filled((3,), as_dtype("float32")))
    capsules = [tensor.__dlpack__(), tensor.__dlpack__(max_version=(1, 0))]
    del tensor
    assert tensors.held() == 1
    capsules.clear()
    gc.collect()
    assert tensors.held() == 0


def test_what_cannot_be_given_is_refused() -> None:
    text = HostTensor.from_numpy(np.array([b"a"], object))
    with pytest.raises(DLPackError, match="DLPack has no dtype for string"):
        text.__dlpack__()
    numbers = HostTensor.from_numpy(np.zeros(3, np.float32))
    assert numbers.__dlpack_device__() == (1, 0)
    with pytest.raises(DLPackError, match="a device must be the CPU"):
        numbers.__dlpack__(dl_device=(2, 0))
    with pytest.raises(DLPackError, match="has no streams"):
        numbers.__dlpack__(stream=1)
    small = HostTensor.from_numpy(np.zeros(3, ml_dtypes.int4))
    with pytest.raises(DLPackError, match="need DLPack's versioned struct"):
        small.__dlpack__()


@pytest.mark.parametrize("label", ["float32", "bfloat16", "int64", "bool", "complex64"])
def test_torch_takes_and_gives(label: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: nothing to exchange with")
    array = filled((2, 3), as_dtype(label))
    taken = torch.from_dlpack(HostTensor.from_numpy(array))
    assert str(taken.dtype) == f"torch.{label}"
    assert taken.data_ptr() == array.ctypes.data
    back = from_dlpack(taken.t())
    assert back.dtype == array.dtype
    assert back.tolist() == array.T.tolist()
    same = from_dlpack(taken)
    assert same.ctypes.data == array.ctypes.data
    del taken, back, same


def test_large_blocks_that_are_kept_go_back() -> None:
    free_kept()
    shape = (ctypes.c_int64 * 1)(1 << 20)
    for _ in range(3):  # the block of the first is that of the others
        _delete(_allocate(1, shape, 1, 4 << 20))
    assert 4 << 20 <= free_kept() < 5 << 20  # with what is before the elements
    assert free_kept() == 0

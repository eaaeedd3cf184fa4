// Tensors of other libraries: see drystone_host/dlpack.h.
#include "drystone_host/dlpack.h"

#include "core/dlpack.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/dtype_names.h"
#include "core/failure.h"
#include "core/live.h"
#include "core/tensor.h"
#include "library/of_programs.h"

namespace drystone::host {
namespace {

// ---- the structs of DLPack 1.x, as its specification lays them out ----

using Device = DLPackDevice;

struct ElementType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct View {
  void* data;
  Device device;
  std::int32_t rank;
  ElementType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; NULL: row-major
  std::uint64_t byte_offset;
};

struct Unversioned {
  View view;
  void* context;
  void (*deleter)(Unversioned*);
};

struct Versioned {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(Versioned*);
  std::uint64_t flags;
  View view;
};

static_assert(sizeof(View) == 48 && sizeof(Unversioned) == 64 && sizeof(Versioned) == 80);

constexpr std::int32_t kCpu = 1;
constexpr std::uint32_t kMajor = 1;
constexpr std::uint64_t kPadded = 4;  // sub-byte elements take a byte each

struct Pair {
  TF_DataType dtype;
  std::uint8_t code;
  std::uint8_t bits;
};

// Codes: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 8... the 8-bit floats, 17 the 4-bit one.
// The first row of a code and width is what an import gives.
constexpr Pair kTypes[] = {
    {TF_FLOAT, 2, 32}, {TF_DOUBLE, 2, 64}, {TF_HALF, 2, 16}, {TF_BFLOAT16, 4, 16},
    {TF_INT8, 0, 8}, {TF_INT16, 0, 16}, {TF_INT32, 0, 32}, {TF_INT64, 0, 64},
    {TF_UINT8, 1, 8}, {TF_UINT16, 1, 16}, {TF_UINT32, 1, 32}, {TF_UINT64, 1, 64},
    {TF_COMPLEX64, 5, 64}, {TF_COMPLEX128, 5, 128}, {TF_BOOL, 6, 8},
    {TF_FLOAT8_E4M3B11FNUZ, 9, 8}, {TF_FLOAT8_E4M3FN, 10, 8}, {TF_FLOAT8_E4M3FNUZ, 11, 8},
    {TF_FLOAT8_E5M2, 12, 8}, {TF_FLOAT8_E5M2FNUZ, 13, 8}, {TF_FLOAT4_E2M1FN, 17, 4},
    {TF_INT4, 0, 4}, {TF_UINT4, 1, 4}, {TF_INT2, 0, 2}, {TF_UINT2, 1, 2},
    {TF_QINT8, 0, 8}, {TF_QUINT8, 1, 8}, {TF_QINT16, 0, 16}, {TF_QUINT16, 1, 16},
    {TF_QINT32, 0, 32},
};

const Pair& outward(TF_DataType dtype) {
  for (const Pair& pair : kTypes) {
    if (pair.dtype == dtype) return pair;
  }
  fail(TF_INVALID_ARGUMENT, "DLPack has no dtype for " + dtype_name(dtype));
}

TF_DataType inward(const ElementType& type, bool padded) {
  const std::string shown = "code " + std::to_string(type.code) + ", " +
                            std::to_string(type.bits) + " bits, " + std::to_string(type.lanes) +
                            " lanes";
  for (const Pair& pair : kTypes) {
    if (pair.code != type.code || pair.bits != type.bits || type.lanes != 1) continue;
    if (type.bits < 8 && !padded) fail(TF_INVALID_ARGUMENT, "elements are packed: " + shown);
    return pair.dtype;
  }
  fail(TF_INVALID_ARGUMENT, "no TensorFlow dtype is like DLPack's " + shown);
}

// ---- out ----

// A managed tensor with what it points to.
template <class Form>
struct Exported {
  Form form{};
  std::unique_ptr<TF_Tensor> tensor;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  void (*before_end)(const TF_Tensor&) noexcept = nullptr;

  ~Exported() {
    if (before_end != nullptr && tensor != nullptr) before_end(*tensor);
  }
};

template <class Form>
void drop_exported(Form* form) {
  if (form != nullptr) delete static_cast<Exported<Form>*>(form->context);
}

template <class Form>
std::unique_ptr<Exported<Form>> exported(const TF_Tensor& tensor, const Device& device) {
  const Pair& type = outward(tensor.dtype);
  if (type.bits < 8 && std::is_same_v<Form, Unversioned>) {
    fail(TF_INVALID_ARGUMENT, "elements of less than a byte need DLPack's versioned struct");
  }
  auto made = std::make_unique<Exported<Form>>();
  made->tensor.reset(share(tensor));
  const int rank = tensor.dims.rank();
  made->shape.assign(tensor.dims.data(), tensor.dims.data() + rank);
  made->strides.resize(made->shape.size());
  std::int64_t stride = 1;
  for (int k = rank - 1; k >= 0; --k) {
    made->strides[static_cast<std::size_t>(k)] = stride;
    // Without elements the product of the others may overflow, and strides mean nothing.
    if (__builtin_mul_overflow(stride, tensor.dims[k], &stride)) stride = 0;
  }
  made->form.context = made.get();
  made->form.deleter = drop_exported<Form>;
  made->form.view = View{tensor.memory->data, device, rank, {type.code, type.bits, 1},
                         made->shape.data(), made->strides.data(), 0};
  return made;
}

// ---- in ----

template <class Form>
void give_back(void*, std::size_t, void* managed) {
  auto* form = static_cast<Form*>(managed);
  if (form->deleter != nullptr) form->deleter(form);
}

std::string shown(const Device& device) {
  return std::to_string(device.type) + (device.type == kCpu ? "" : ", number " + std::to_string(device.id));
}

bool row_major(const View& view) {
  if (view.strides == nullptr) return true;
  std::int64_t expected = 1;
  for (int k = view.rank - 1; k >= 0; --k) {
    if (view.shape[k] == 0) return true;
    if (view.shape[k] != 1 && view.strides[k] != expected) return false;
    expected *= view.shape[k];
  }
  return true;
}

// Copy elements of `size` bytes from any strides into row-major order.
void gather(const View& view, const char* from, char* to, std::size_t size) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(view.rank), 0);
  while (true) {
    std::int64_t offset = 0;
    for (int k = 0; k < view.rank; ++k) offset += at[static_cast<std::size_t>(k)] * view.strides[k];
    std::memcpy(to, from + offset * static_cast<std::int64_t>(size), size);
    to += size;
    int k = view.rank - 1;
    for (; k >= 0; --k) {
      if (++at[static_cast<std::size_t>(k)] < view.shape[k]) break;
      at[static_cast<std::size_t>(k)] = 0;
    }
    if (k < 0) return;
  }
}

// Checks the view; the number of its elements. Of the CPU there is one.
std::int64_t checked_count(const View& view, const Device& device) {
  if (view.device.type != device.type || (device.type != kCpu && view.device.id != device.id)) {
    const std::string needed = device.type == kCpu ? "the CPU (1)" : shown(device);
    fail(TF_INVALID_ARGUMENT, "the memory lies on DLPack device type " + shown(view.device) + ", not on " + needed);
  }
  const auto count = elements(view.shape, view.rank);
  if (!count) fail(TF_INVALID_ARGUMENT, "the dimensions are no valid shape");
  if (view.data == nullptr && *count != 0) {
    fail(TF_INVALID_ARGUMENT, "the managed tensor has elements but no data");
  }
  return *count;
}

template <class Form>
TF_Tensor* copied(Form* form, TF_DataType dtype) {
  const View& view = form->view;
  std::unique_ptr<TF_Tensor> tensor(new_tensor(dtype, view.shape, view.rank));
  const auto* data = static_cast<const char*>(view.data) + view.byte_offset;
  gather(view, data, static_cast<char*>(tensor->memory->data), stored_size(dtype));
  give_back<Form>(nullptr, 0, form);
  return tensor.release();
}

template <class Form>
TF_Tensor* lent(Form* form, TF_DataType dtype) {
  const View& view = form->view;
  auto tensor = std::make_unique<TF_Tensor>();
  tensor->dtype = dtype;
  tensor->dims.assign(view.shape, view.rank);
  tensor->memory = new Memory();
  born(Kind::memory);
  tensor->memory->data =
      view.data == nullptr ? nullptr : static_cast<char*>(view.data) + view.byte_offset;
  tensor->memory->length = static_cast<std::size_t>(tensor->count()) * stored_size(dtype);
  tensor->memory->dtype = dtype;
  tensor->memory->deallocator = give_back<Form>;
  tensor->memory->argument = form;
  return tensor.release();
}

template <class Form>
TF_Tensor* taken(void* managed, std::uint64_t* flags, std::uint64_t given, const Device& device) {
  auto* form = static_cast<Form*>(managed);
  const std::int64_t count = checked_count(form->view, device);
  const TF_DataType dtype = inward(form->view.dtype, (given & kPadded) != 0);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), stored_size(dtype), &bytes)) {
    fail(TF_INVALID_ARGUMENT, "the managed tensor is larger than memory can be");
  }
  const bool copy = count != 0 && !row_major(form->view);
  if (copy && device.type != kCpu) fail(TF_INVALID_ARGUMENT, "memory of a device is not in row-major order");
  TF_Tensor* tensor = copy ? copied(form, dtype) : lent(form, dtype);
  if (flags != nullptr) {
    *flags = (given & (DS_DLPACK_READ_ONLY | DS_DLPACK_COPIED)) | (copy ? DS_DLPACK_COPIED : 0);
  }
  return tensor;
}

// ---- Python's capsules ----

std::atomic<int (*)(void*, const char*)> capsule_is_valid{nullptr};
std::atomic<void* (*)(void*, const char*)> capsule_pointer{nullptr};

}  // namespace

void* to_dlpack(const TF_Tensor& tensor, bool versioned, std::uint64_t flags, const DLPackDevice& device,
                void (*before_end)(const TF_Tensor&) noexcept) {
  if (!versioned) {
    auto made = exported<Unversioned>(tensor, device);
    made->before_end = before_end;
    return &made.release()->form;
  }
  auto made = exported<Versioned>(tensor, device);
  made->before_end = before_end;
  made->form.major = kMajor;
  made->form.minor = 1;
  made->form.flags = (flags & (DS_DLPACK_READ_ONLY | DS_DLPACK_COPIED)) |
                     (made->form.view.dtype.bits < 8 ? kPadded : 0);
  return &made.release()->form;
}

TF_Tensor* from_dlpack(void* managed, bool versioned, std::uint64_t* flags, const DLPackDevice& device) {
  if (!versioned) return taken<Unversioned>(managed, flags, 0, device);
  const auto* form = static_cast<const Versioned*>(managed);
  if (form->major != kMajor) {
    fail(TF_FAILED_PRECONDITION, "the struct is of DLPack " + std::to_string(form->major) + "." +
                                     std::to_string(form->minor) + ", known is 1.x");
  }
  return taken<Versioned>(managed, flags, form->flags, device);
}

}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

void* DS_TensorToDLPack(const TF_Tensor* tensor, int versioned, uint64_t flags, TF_Status* status) {
  void* result = nullptr;
  guarded(status, __func__, [&] {
    require(tensor, "tensor");
    if (tensor->memory == nullptr) fail(TF_INVALID_ARGUMENT, "the tensor has no value");
    if (tensor->memory->device != 0) fail(TF_INVALID_ARGUMENT, "the tensor lies on a device");
    result = to_dlpack(*tensor, versioned != 0, flags, {kCpu, 0}, nullptr);
  });
  return result;
}

TF_Tensor* DS_TensorFromDLPack(void* managed, int versioned, uint64_t* flags, TF_Status* status) {
  TF_Tensor* tensor = nullptr;
  guarded(status, __func__, [&] {
    require(managed, "managed");
    tensor = from_dlpack(managed, versioned != 0, flags, {kCpu, 0});
  });
  return tensor;
}

void DS_DeleteDLPack(void* managed, int versioned) {
  if (managed == nullptr) return;
  if (versioned == 0) give_back<Unversioned>(nullptr, 0, managed);
  else give_back<Versioned>(nullptr, 0, managed);
}

void DS_SetCapsuleFunctions(int (*is_valid)(void*, const char*),
                            void* (*pointer)(void*, const char*)) {
  if (is_refused("DS_SetCapsuleFunctions", __builtin_return_address(0))) return;
  capsule_is_valid.store(is_valid);
  capsule_pointer.store(pointer);
}

void DS_DropDLPackCapsule(void* capsule) {
  const auto is_valid = capsule_is_valid.load();
  const auto pointer = capsule_pointer.load();
  if (capsule == nullptr || is_valid == nullptr || pointer == nullptr) return;
  for (const int versioned : {0, 1}) {
    const char* name = versioned == 0 ? "dltensor" : "dltensor_versioned";
    if (is_valid(capsule, name) != 0) DS_DeleteDLPack(pointer(capsule, name), versioned);
  }
}

}  // extern "C"

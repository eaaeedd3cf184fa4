// The bytes are a program: each step calls one core function with numbers and objects picked by bytes.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "drystone/tstring.h"
#include "drystone_host/core.h"
#include "fuzz_input.h"

namespace {

struct World {
  std::vector<TF_Tensor*> tensors;
  std::vector<TF_Status*> statuses;
  std::vector<TF_Buffer*> buffers;

  ~World() {
    for (TF_Tensor* t : tensors) TF_DeleteTensor(t);
    for (TF_Status* s : statuses) TF_DeleteStatus(s);
    for (TF_Buffer* b : buffers) TF_DeleteBuffer(b);
  }
};

template <class T>
T* pick(Input* in, const std::vector<T*>& from) {
  const std::size_t which = in->below(from.size() + 1);
  return which == from.size() ? nullptr : from[which];
}

// Tensors stay small, so that a run stays fast; absurd sizes are asked for too, and must be refused.
std::vector<std::int64_t> dims(Input* in) {
  std::vector<std::int64_t> out(in->below(7));
  for (auto& dim : out) {
    dim = in->below(5) == 0 ? static_cast<std::int64_t>(in->number()) : static_cast<int>(in->below(5));
  }
  return out;
}

bool affordable(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(product, dim, &product)) return true;  // refused
  }
  return product < 1 << 16;
}

void tensor_step(Input* in, World* world) {
  const auto shape = dims(in);
  const auto type = static_cast<TF_DataType>(in->below(40));
  const int rank = static_cast<int>(in->below(8) == 0 ? in->number() : shape.size());
  const bool honest = rank <= static_cast<int>(shape.size());
  if (!honest || !affordable(shape) || world->tensors.size() > 64) return;
  if (TF_Tensor* t = TF_AllocateTensor(type, shape.data(), rank, in->number() % (1 << 20))) {
    world->tensors.push_back(t);
  }
}

void string_step(Input* in, TF_Tensor* t) {
  if (t == nullptr || TF_TensorType(t) != TF_STRING || TF_TensorElementCount(t) == 0) return;
  auto* strings = static_cast<TF_TString*>(TF_TensorData(t));
  const auto count = static_cast<std::size_t>(TF_TensorElementCount(t));
  TF_TString* a = &strings[in->below(count)];
  TF_TString* b = &strings[in->below(count)];
  static const char text[] = "a text of more than twenty-two bytes, for the heap";
  switch (in->below(6)) {
    case 0: TF_StringCopy(a, text, in->below(sizeof text)); break;
    case 1: TF_StringAssignView(a, text, in->below(sizeof text)); break;
    case 2: if (TF_StringGetSize(a) + TF_StringGetSize(b) < 4096) TF_TString_Append(a, b); break;
    case 3: TF_TString_Assign(a, b); break;
    case 4: TF_TString_Move(a, b); break;
    default: TF_TString_Resize(a, in->below(100), 'x');
  }
}

void step(Input* in, World* world) {
  TF_Status* status = pick(in, world->statuses);
  TF_Tensor* tensor = pick(in, world->tensors);
  const auto shape = dims(in);
  switch (in->below(12)) {
    case 0: if (world->statuses.size() < 8) world->statuses.push_back(TF_NewStatus()); break;
    case 1: TF_SetStatus(status, static_cast<TF_Code>(in->number()), "text"); break;
    case 2: TF_SetStatusFromIOError(status, static_cast<int>(in->number()), "doing"); break;
    case 3: TF_SetPayload(status, "k", "v"); break;
    case 4: tensor_step(in, world); break;
    case 5: string_step(in, tensor); break;
    case 6: TF_SetShape(tensor, shape.data(), static_cast<int>(shape.size())); break;
    case 7: TF_TensorBitcastFrom(pick(in, world->tensors), static_cast<TF_DataType>(in->below(40)),
                                 tensor, shape.data(), static_cast<int>(shape.size()), status); break;
    case 8: if (TF_Tensor* t = DS_ShareTensor(tensor)) world->tensors.push_back(t); break;
    case 9: {
      const std::string bytes = in->text(64);
      TF_Buffer* buffer = TF_NewBufferFromString(bytes.data(), bytes.size());
      if (world->buffers.size() < 8) world->buffers.push_back(buffer);
      else TF_DeleteBuffer(buffer);
      break;
    }
    case 10: TF_TensorFromProto(pick(in, world->buffers), tensor, status); break;
    default: (void)TF_Dim(tensor, static_cast<int>(in->number()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  World world;
  for (int k = 0; k < 64 && in.left() > 0; ++k) step(&in, &world);
  return 0;
}

// Kernels of variants: tensors wrapped in scalars. Built with sanitizers.
#include "kernels_help.h"

namespace {

using namespace help;

void add_tensors(TF_OpKernelContext*, TF_Tensor* a, TF_Tensor* b, TF_Tensor* out) {
  static_cast<float*>(TF_TensorData(out))[0] =
      static_cast<float*>(TF_TensorData(a))[0] + static_cast<float*>(TF_TensorData(b))[0];
  for (TF_Tensor* t : {a, b, out}) TF_DeleteTensor(t);
}

void zero_tensor(TF_OpKernelContext*, TF_Tensor* input, TF_Tensor* out) {
  static_cast<float*>(TF_TensorData(out))[0] = 0;
  TF_DeleteTensor(input);
  TF_DeleteTensor(out);
}

TF_Tensor* variant(const std::vector<float>& values) {
  Status status;
  std::vector<TF_Tensor*> parts;
  for (const float value : values) parts.push_back(floats({value}));
  TF_Tensor* out = DS_NewVariant(parts.data(), static_cast<int>(parts.size()), status);
  CHECK(status.ok());
  for (TF_Tensor* part : parts) TF_DeleteTensor(part);
  return out;
}

std::vector<float> parts_of(const TF_Tensor* of) {
  Status status;
  std::vector<float> out;
  for (int k = 0; k < DS_VariantNumParts(of, status); ++k) {
    TF_Tensor* part = DS_VariantPart(of, k, status);
    out.push_back(floats_of(part)[0]);
    TF_DeleteTensor(part);
  }
  CHECK(status.ok());
  return out;
}

// Runs AddN or ZerosLike over variants; NULL on failure.
TF_Tensor* combine(const std::vector<TF_Tensor*>& given, bool add, TF_Status* status) {
  const Op op{"Combine",
              {arg("x", TF_VARIANT) + field(5, "N")},
              {arg("y", TF_VARIANT)},
              {attr_def("N", "int")}};
  const auto count = static_cast<int>(given.size());
  DS_Kernel* kernel = must_make(op, {"Combine", {{"N", attr::integer(count)}}, {}});
  on_compute = [add](TF_OpKernelContext* ctx) {
    Status inner;
    if (add) TF_AddNVariant(ctx, add_tensors, inner);
    else TF_ZerosLikeVariant(ctx, zero_tensor, inner);
    TF_OpKernelContext_Failure(ctx, inner);
    TF_AddNVariant(nullptr, add_tensors, inner);
    CHECK(inner.code() == TF_INVALID_ARGUMENT);
    TF_AddNVariant(ctx, nullptr, inner);
    CHECK(inner.says(TF_INVALID_ARGUMENT, "binary_add_func must not be NULL"));
    TF_ZerosLikeVariant(ctx, nullptr, inner);
    CHECK(inner.code() == TF_INVALID_ARGUMENT);
  };
  TF_Tensor* output = nullptr;
  DS_RunKernel(kernel, nullptr, given.data(), count, &output, 1, status);
  DS_DeleteKernel(kernel);
  on_compute = nullptr;
  return output;
}

void test_variants() {
  Status status;
  TF_Tensor* a = variant({1, 2});
  TF_Tensor* b = variant({10, 20});
  TF_Tensor* single = variant({5});
  TF_Tensor* sum = combine({a, b, a}, true, status);
  CHECK(status.ok() && parts_of(sum) == std::vector<float>({12, 24}));
  TF_Tensor* alone = combine({a}, true, status);
  CHECK(status.ok() && parts_of(alone) == std::vector<float>({1, 2}));
  TF_Tensor* zeros = combine({a}, false, status);
  CHECK(status.ok() && parts_of(zeros) == std::vector<float>({0, 0}));
  CHECK(combine({a, single}, true, status) == nullptr);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the variants wrap 2 and 1 tensors"));
  TF_Tensor* junk = tensor<uint64_t>(TF_VARIANT, {}, {42});
  CHECK(combine({junk}, false, status) == nullptr);
  CHECK(status.says(TF_NOT_FOUND, "the variant wraps nothing that is alive"));
  TF_Tensor* matrix = tensor<uint64_t>(TF_VARIANT, {2}, {42, 43});
  CHECK(DS_VariantNumParts(matrix, status) == -1);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the variant tensor is no scalar"));
  CHECK(DS_VariantPart(a, 2, status) == nullptr && status.code() == TF_OUT_OF_RANGE);
  CHECK(DS_VariantPart(nullptr, 0, status) == nullptr && !status.ok());
  CHECK(DS_NewVariant(nullptr, 1, status) == nullptr && !status.ok());
  CHECK(DS_NewVariant(nullptr, -1, status) == nullptr && !status.ok());
  TF_Tensor* empty = DS_NewVariant(nullptr, 0, status);
  CHECK(status.ok() && DS_VariantNumParts(empty, status) == 0);
  for (TF_Tensor* t : {a, b, single, sum, alone, zeros, junk, matrix, empty}) TF_DeleteTensor(t);
}

}  // namespace

int main() {
  register_op("Combine");
  test_variants();
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.tensors == 0 && live.memory_blocks == 0 && live.kernels == 0 && live.handles == 0);
  return help::report();
}

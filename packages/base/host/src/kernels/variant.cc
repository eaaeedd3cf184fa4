// Variants: see kernels/variant.h and drystone/kernels_experimental.h.
#include "kernels/variant.h"

#include <algorithm>
#include <utility>

#include "kernels/context.h"

namespace drystone::host::kernels {
namespace {

Handles<Variant>& variants() {
  static auto* all = new Handles<Variant>(0xD5'0A'F7'02U);
  return *all;
}

}  // namespace

Variant::~Variant() { variants().forget(number); }

std::shared_ptr<const Variant> variant_of(const TF_Tensor& tensor) {
  const std::uint64_t number = handle_at(tensor, TF_VARIANT, 0);
  if (tensor.dims.rank() != 0) fail(TF_INVALID_ARGUMENT, "the variant tensor is no scalar");
  auto found = variants().find(number);
  if (found == nullptr) fail(TF_NOT_FOUND, "the variant wraps nothing that is alive");
  return found;
}

TF_Tensor* new_variant(std::vector<std::unique_ptr<TF_Tensor>> parts) {
  auto variant = std::make_shared<Variant>();
  variant->parts = std::move(parts);
  variant->number = variants().add(variant);
  const std::uint64_t number = variant->number;
  return handle_tensor(TF_VARIANT, number, std::move(variant));
}

namespace {

using Parts = std::vector<std::unique_ptr<TF_Tensor>>;
using AddFunc = void (*)(TF_OpKernelContext*, TF_Tensor*, TF_Tensor*, TF_Tensor*);

std::unique_ptr<TF_Tensor> like(const TF_OpKernelContext* ctx, const TF_Tensor& tensor) {
  return ctx->allocate(tensor.dtype, tensor.dims.data(), tensor.dims.rank(),
                       ctx->kernel().on_cpu());
}

void check_alike(const TF_Tensor& a, const TF_Tensor& b) {
  const bool same = a.dtype == b.dtype && a.dims.rank() == b.dims.rank() &&
                    std::equal(a.dims.data(), a.dims.data() + a.dims.rank(), b.dims.data());
  if (!same) fail(TF_INVALID_ARGUMENT, "the variants wrap tensors of two dtypes or shapes");
}

Parts sum(TF_OpKernelContext* ctx, const Parts& a, const Parts& b, AddFunc add) {
  if (a.size() != b.size()) {
    fail(TF_INVALID_ARGUMENT, "the variants wrap " + std::to_string(a.size()) + " and " +
                                  std::to_string(b.size()) + " tensors");
  }
  Parts out;
  for (std::size_t k = 0; k < a.size(); ++k) {
    check_alike(*a[k], *b[k]);
    out.push_back(like(ctx, *a[k]));
    std::unique_ptr<TF_Tensor> left(share(*a[k]));
    std::unique_ptr<TF_Tensor> right(share(*b[k]));
    std::unique_ptr<TF_Tensor> total(share(*out[k]));
    add(ctx, left.release(), right.release(), total.release());
    ctx->check_failed();
  }
  return out;
}

std::shared_ptr<const Variant> variant_input(const TF_OpKernelContext* ctx, int index) {
  return variant_of(*ctx->input(ctx->input_index(index)));
}

}  // namespace
}  // namespace drystone::host::kernels

using namespace drystone::host;
using namespace drystone::host::kernels;

extern "C" {

TF_Tensor* DS_NewVariant(const TF_Tensor* const* parts, int num_parts, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    if (num_parts < 0) fail(TF_INVALID_ARGUMENT, "num_parts must not be negative");
    if (num_parts > 0) require(parts, "parts");
    Parts held;
    for (int k = 0; k < num_parts; ++k) {
      require(parts[k], "parts[k]");
      held.emplace_back(share(*parts[k]));
    }
    out = new_variant(std::move(held));
  });
  return out;
}

int DS_VariantNumParts(const TF_Tensor* variant, TF_Status* status) {
  int out = -1;
  guarded(status, __func__, [&] {
    require(variant, "variant");
    out = static_cast<int>(variant_of(*variant)->parts.size());
  });
  return out;
}

TF_Tensor* DS_VariantPart(const TF_Tensor* variant, int index, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    require(variant, "variant");
    const auto held = variant_of(*variant);
    if (index < 0 || static_cast<std::size_t>(index) >= held->parts.size()) {
      fail(TF_OUT_OF_RANGE, "the variant has no part " + std::to_string(index));
    }
    out = share(*held->parts[static_cast<std::size_t>(index)]);
  });
  return out;
}

void TF_AddNVariant(TF_OpKernelContext* ctx, AddFunc binary_add_func, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    require(reinterpret_cast<const void*>(binary_add_func), "binary_add_func");
    const std::size_t output = ctx->output_index(0);
    auto first = variant_input(ctx, 0);
    if (ctx->num_inputs() == 1) {
      ctx->set_output(output, ctx->input(0));
      return;
    }
    Parts total = sum(ctx, first->parts, variant_input(ctx, 1)->parts, binary_add_func);
    for (int k = 2; k < ctx->num_inputs(); ++k) {
      total = sum(ctx, total, variant_input(ctx, k)->parts, binary_add_func);
    }
    ctx->set_output(output, std::unique_ptr<TF_Tensor>(new_variant(std::move(total))));
  });
}

void TF_ZerosLikeVariant(TF_OpKernelContext* ctx,
                         void (*zeros_like_func)(TF_OpKernelContext*, TF_Tensor*, TF_Tensor*),
                         TF_Status* status) {
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    require(reinterpret_cast<const void*>(zeros_like_func), "zeros_like_func");
    const std::size_t output = ctx->output_index(0);
    Parts zeros;
    const auto input = variant_input(ctx, 0);
    for (const auto& part : input->parts) {
      zeros.push_back(like(ctx, *part));
      std::unique_ptr<TF_Tensor> from(share(*part));
      std::unique_ptr<TF_Tensor> to(share(*zeros.back()));
      zeros_like_func(ctx, from.release(), to.release());
      ctx->check_failed();
    }
    ctx->set_output(output, std::unique_ptr<TF_Tensor>(new_variant(std::move(zeros))));
  });
}

}  // extern "C"

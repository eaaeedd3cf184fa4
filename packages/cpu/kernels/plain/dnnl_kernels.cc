// Products and convolutions by oneDNN: registered here, made by a library of their own, which is
// opened with the first of them. oneDNN is large: who needs none of it does not load it.
#include <dlfcn.h>

#include <memory>
#include <mutex>

#include "core/family.h"
#include "dnnl/entry.h"
#include "plain/helper_libraries.h"

namespace drystone::cpu {
namespace {

using dnnl_part::Entry;
using Find = const Entry* (*)(const char*, int);

constexpr char kLibrary[] = "libdrystone_cpu_dnnl.so";

// Opened once; it stays open.
Find library() {
  static std::mutex mutex;
  static Find found = nullptr;
  const std::lock_guard lock(mutex);
  if (found != nullptr) return found;
  void* handle = open_helper_library(kLibrary);
  void* address = handle == nullptr ? nullptr : dlsym(handle, "drystone_cpu_dnnl_entry");
  if (address == nullptr) {
    const char* why = dlerror();
    fail(TF_UNAVAILABLE,
         std::string("oneDNN's kernels cannot be loaded: ") + (why == nullptr ? "" : why));
  }
  found = reinterpret_cast<Find>(address);
  return found;
}

struct Made {
  const Entry* entry;
  void* kernel;
};

void* make(const char* op, bool is_narrow, TF_OpKernelConstruction* construction) noexcept {
  try {
    const Entry* entry = library()(op, is_narrow ? 1 : 0);
    if (entry == nullptr) fail(TF_INTERNAL, std::string("oneDNN's part has no kernel for ") + op);
    auto made = std::make_unique<Made>(Made{entry, nullptr});
    made->kernel = entry->create(construction);
    return made->kernel == nullptr ? nullptr : made.release();
  } catch (const std::exception& error) {
    report(construction, &error);
  }
  return nullptr;
}

void compute(void* state, TF_OpKernelContext* context) {
  const auto* made = static_cast<const Made*>(state);
  made->entry->compute(made->kernel, context);
}

void destroy(void* state) {
  const std::unique_ptr<Made> made(static_cast<Made*>(state));
  if (made != nullptr && made->kernel != nullptr) made->entry->destroy(made->kernel);
}

struct Row {
  const char* op;
  const char* attrs[3];  // that must be float32, or all of 16 bits
};

constexpr Row kRows[] = {
    {"MatMul", {"T"}},
    {"_FusedMatMul", {"T"}},
    {"BatchMatMul", {"T"}},
    {"BatchMatMulV2", {"T"}},
    {"BatchMatMulV3", {"Ta", "Tb", "Tout"}},
    {"Einsum", {"T"}},
    {"Drystone>Attention", {"T"}},
    {"Conv2D", {"T"}},
    {"_FusedConv2D", {"T"}},
    {"Conv3D", {"T"}},
    {"_FusedConv3D", {"T"}},
    {"DepthwiseConv2dNative", {"T"}},
    {"_FusedDepthwiseConv2dNative", {"T"}},
    {"Drystone>FusedConvolution", {"T"}},
    {"Conv2DBackpropInput", {"T"}},
    {"Conv2DBackpropFilter", {"T"}},
    {"Conv3DBackpropInputV2", {"T"}},
    {"Conv3DBackpropFilterV2", {"T"}},
    {"DepthwiseConv2dNativeBackpropInput", {"T"}},
    {"DepthwiseConv2dNativeBackpropFilter", {"T"}},
};

template <std::size_t K, bool kIsNarrow>
void add_row(const std::vector<TF_DataType>& types) {
  std::vector<Constraint> constraints;
  for (const char* attr : kRows[K].attrs) {
    if (attr != nullptr) constraints.push_back({attr, types});
  }
  add_kernel(
      kRows[K].op, constraints,
      [](TF_OpKernelConstruction* construction) {
        return make(kRows[K].op, kIsNarrow, construction);
      },
      &compute, &destroy);
}

template <std::size_t... K>
void add_rows(std::index_sequence<K...>) {
  (add_row<K, false>({TF_FLOAT}), ...);
  (add_row<K, true>({TF_HALF, TF_BFLOAT16}), ...);
}

template <class Make>
void add_one(const char* op, const std::vector<Constraint>& constraints, Make make_kernel) {
  add_kernel(op, constraints, make_kernel, &compute, &destroy);
}

void add_quantized() {
  add_one("Drystone>QuantizedLayer", {{"Tx", {TF_UINT8, TF_INT8}}},
          [](TF_OpKernelConstruction* construction) {
            return make("Drystone>QuantizedLayer", false, construction);
          });
  add_one("QuantizedMatMul",
          {{"T1", {TF_QUINT8}}, {"T2", {TF_QUINT8, TF_QINT8}}, {"Toutput", {TF_QINT32}}},
          [](TF_OpKernelConstruction* construction) {
            return make("QuantizedMatMul", false, construction);
          });
  add_one("QuantizedConv2D",
          {{"Tinput", {TF_QUINT8}}, {"Tfilter", {TF_QUINT8}}, {"out_type", {TF_QINT32}}},
          [](TF_OpKernelConstruction* construction) {
            return make("QuantizedConv2D", false, construction);
          });
}

}  // namespace

const Family registered([] {
  if (!has_helper_library(kLibrary)) return;  // built without oneDNN
  add_rows(std::make_index_sequence<std::size(kRows)>());
  add_quantized();
});

}  // namespace drystone::cpu

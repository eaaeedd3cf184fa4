#include "lt.h"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "libraries.h"

namespace drystone::gpu {
namespace {

// What is used of cublasLt.h, version 13: handles are opaque, numbers are those of the header.
using Handle = void*;
using Desc = void*;
struct Algo {
  std::uint64_t data[8];
};
struct Heuristic {
  Algo algo;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
enum : int { kCompute32F = 68, kComputeTf32 = 77 };
enum : int { kReal32F = 0, kReal16F = 2, kReal16BF = 14 };
enum : int { kDescTransA = 3, kDescTransB = 4, kDescEpilogue = 7, kDescBias = 8 };
enum : int { kLayoutBatch = 5, kLayoutStride = 6 };
enum : int { kPreferenceWorkspace = 1 };
constexpr std::uint32_t kPlain = 1, kRelu = 2, kBias = 4;

// The functions, and who opened them.
struct Functions {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*desc_create)(Desc*, int, int);
  int (*desc_destroy)(Desc);
  int (*desc_set)(Desc, int, const void*, std::size_t);
  int (*layout_create)(Desc*, int, std::uint64_t, std::uint64_t, std::int64_t);
  int (*layout_destroy)(Desc);
  int (*layout_set)(Desc, int, const void*, std::size_t);
  int (*preference_create)(Desc*);
  int (*preference_destroy)(Desc);
  int (*preference_set)(Desc, int, const void*, std::size_t);
  int (*heuristic)(Handle, Desc, Desc, Desc, Desc, Desc, Desc, int, Heuristic*, int*);
  int (*matmul)(Handle, Desc, const void*, const void*, Desc, const void*, Desc, const void*,
                const void*, Desc, void*, Desc, const Algo*, void*, std::size_t, void*);
  bool ok = true;

  template <class F>
  void find(void* library, const char* name, F* function) {
    *function = reinterpret_cast<F>(dlsym(library, name));
    ok = ok && *function != nullptr;
  }

  Functions() {
    std::string why;
    void* library = open_nvidia("libcublasLt.so.13", &why);
    if (library == nullptr) {
      ok = false;
      return;
    }
    find(library, "cublasLtCreate", &create);
    find(library, "cublasLtDestroy", &destroy);
    find(library, "cublasLtMatmulDescCreate", &desc_create);
    find(library, "cublasLtMatmulDescDestroy", &desc_destroy);
    find(library, "cublasLtMatmulDescSetAttribute", &desc_set);
    find(library, "cublasLtMatrixLayoutCreate", &layout_create);
    find(library, "cublasLtMatrixLayoutDestroy", &layout_destroy);
    find(library, "cublasLtMatrixLayoutSetAttribute", &layout_set);
    find(library, "cublasLtMatmulPreferenceCreate", &preference_create);
    find(library, "cublasLtMatmulPreferenceDestroy", &preference_destroy);
    find(library, "cublasLtMatmulPreferenceSetAttribute", &preference_set);
    find(library, "cublasLtMatmulAlgoGetHeuristic", &heuristic);
    find(library, "cublasLtMatmul", &matmul);
  }
};

const Functions& functions() {
  static const Functions found;
  return found;
}

int real_type(Type type) {
  return type == Type::f32 ? kReal32F : type == Type::f16 ? kReal16F : kReal16BF;
}

// Descriptions of one product. cuBLASLt's matrices are column by column, so it is given the product
// of the transposed matrices: columns of ours are rows of theirs, b comes first.
struct Call {
  Desc desc = nullptr;
  Desc a = nullptr, b = nullptr, to = nullptr;
  Algo algo = {};

  ~Call() {
    const Functions& lt = functions();
    if (desc != nullptr) lt.desc_destroy(desc);
    for (Desc layout : {a, b, to}) {
      if (layout != nullptr) lt.layout_destroy(layout);
    }
  }

  template <class T>
  bool set(int attribute, const T& value) {
    return functions().desc_set(desc, attribute, &value, sizeof value) == 0;
  }

  bool layout(Desc* made, int type, std::int64_t rows, std::int64_t columns, std::int64_t batch,
              std::int64_t step) {
    const Functions& lt = functions();
    const auto height = static_cast<std::uint64_t>(rows),
               width = static_cast<std::uint64_t>(columns);
    if (lt.layout_create(made, type, height, width, rows) != 0) return false;
    const auto count = static_cast<std::int32_t>(batch);
    return lt.layout_set(*made, kLayoutBatch, &count, sizeof count) == 0 &&
           lt.layout_set(*made, kLayoutStride, &step, sizeof step) == 0;
  }

  bool describe(const Product& p, const void* bias, bool with_relu) {
    const int type = real_type(p.type);
    const int how = p.tf32 && p.type == Type::f32 ? kComputeTf32 : kCompute32F;
    if (functions().desc_create(&desc, how, kReal32F) != 0) return false;
    const std::int32_t first = p.transpose_b, second = p.transpose_a;
    std::uint32_t epilogue = (bias != nullptr ? kBias : 0U) | (with_relu ? kRelu : 0U);
    if (epilogue == 0) epilogue = kPlain;
    if (!set(kDescTransA, first) || !set(kDescTransB, second) || !set(kDescEpilogue, epilogue)) {
      return false;
    }
    if (bias != nullptr && !set(kDescBias, bias)) return false;
    const std::int64_t m = p.columns, n = p.rows, k = p.inner;
    return layout(&a, type, first ? k : m, first ? m : k, p.batch, p.b_step) &&
           layout(&b, type, second ? n : k, second ? k : n, p.batch, p.a_step) &&
           layout(&to, type, m, n, p.batch, m * n);
  }
};

class Opened final : public Lt {
 public:
  Opened(Stream& stream, Handle handle, void* workspace, std::size_t bytes)
      : stream_(stream), handle_(handle), workspace_(workspace), bytes_(bytes) {}
  ~Opened() override { functions().destroy(handle_); }

  Work product(const Product& p, const void* a, const void* b, const After& after, bool with_relu,
               void* to) override {
    const bool is_added = after.residual != nullptr;
    const Key key = {p.batch,  p.rows,   p.columns,     p.inner,   p.a_step,
                     p.b_step, p.type,   p.transpose_a, p.transpose_b,
                     p.tf32,   after.bias != nullptr, is_added, with_relu};
    const auto kept = chosen_.find(key);
    if (kept != chosen_.end() && kept->second == nullptr) return nullptr;
    const bool is_new = kept == chosen_.end();
    const auto call = is_new ? std::make_shared<Call>() : kept->second;
    if (is_new && !call->describe(p, after.bias, with_relu)) return nothing(key);
    const void* added = is_added ? after.residual : to;
    const float beta = is_added ? 1.0f : 0.0f;
    // One call with one algorithm: b is their first matrix.
    auto work = [this, call, a, b, added, beta, to, bias = after.bias](const Algo& algo) {
      const float alpha = 1.0f;
      if (bias != nullptr && !call->set(kDescBias, bias)) return -1;
      return functions().matmul(handle_, call->desc, &alpha, b, call->a, a, call->b, &beta, added,
                                call->to, to, call->to, &algo, workspace_, bytes_,
                                stream_.native());
    };
    if (is_new) {
      if (!choose(*call, work)) return nothing(key);
      chosen_.emplace(key, call);
    }
    return [work, call] {
      if (work(call->algo) != 0) throw std::runtime_error("cuBLASLt refuses a product");
    };
  }

 private:
  // Sizes, steps and type of a product, what is transposed, and what follows it.
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, Type, bool, bool, bool, bool, bool, bool>;

  Work nothing(const Key& key) {
    chosen_.emplace(key, nullptr);
    return nullptr;
  }

  template <class Use>
  bool choose(Call& call, const Use& work) const {
    double best = 1e30;
    for (const Heuristic& one : candidates(call)) {
      if (work(one.algo) != 0) continue;
      const double seconds = stream_.time([&] { static_cast<void>(work(one.algo)); });
      if (seconds < best) {
        best = seconds;
        call.algo = one.algo;
      }
    }
    return best < 1e30;
  }

  std::vector<Heuristic> candidates(const Call& call) const {
    const Functions& lt = functions();
    std::vector<Heuristic> found(8);
    Desc preference = nullptr;
    if (lt.preference_create(&preference) != 0) return {};
    const std::uint64_t most = bytes_;
    int count = 0;
    const bool answered =
        lt.preference_set(preference, kPreferenceWorkspace, &most, sizeof most) == 0 &&
        lt.heuristic(handle_, call.desc, call.a, call.b, call.to, call.to, preference,
                     static_cast<int>(found.size()), found.data(), &count) == 0;
    lt.preference_destroy(preference);
    found.resize(answered ? static_cast<std::size_t>(count) : 0);
    return found;
  }

  Stream& stream_;
  Handle handle_;
  void* workspace_;
  std::size_t bytes_;
  std::map<Key, std::shared_ptr<Call>> chosen_;  // null where there is no algorithm
};

}  // namespace

std::unique_ptr<Lt> Lt::open(Stream& stream, void* workspace, std::size_t workspace_bytes) {
  Handle handle = nullptr;
  if (!functions().ok || functions().create(&handle) != 0) return nullptr;
  return std::make_unique<Opened>(stream, handle, workspace, workspace_bytes);
}

}  // namespace drystone::gpu

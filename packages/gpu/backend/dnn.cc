#include "dnn.h"

#include <dlfcn.h>

#include <array>
#include <map>
#include <stdexcept>
#include <vector>

#include "libraries.h"

namespace drystone::gpu {
namespace {

// What is used of cudnn.h, version 9: handles are opaque, numbers are those of the header.
using Handle = void*;
using Desc = void*;
struct Performance {
  int algo, status;
  float time;
  std::size_t memory;
  int determinism, math, reserved[3];
};
enum : int { kFloat = 0, kHalf = 2, kBfloat16 = 9 };
enum : int { kNhwc = 1 };
enum : int { kCrossCorrelation = 1 };
enum : int { kDefaultMath = 0, kTensorOps = 1, kFma = 3 };  // the first has TF32
enum : int { kActivationRelu = 1, kActivationIdentity = 5, kPropagateNan = 1 };
enum : int { kPrecompGemm = 1 };  // the one algorithm that goes without an activation

struct Functions {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, void*);
  int (*tensor_create)(Desc*);
  int (*tensor_destroy)(Desc);
  int (*tensor_set)(Desc, int, int, int, int, int, int);
  int (*filter_create)(Desc*);
  int (*filter_destroy)(Desc);
  int (*filter_set)(Desc, int, int, int, int, int, int);
  int (*window_create)(Desc*);
  int (*window_destroy)(Desc);
  int (*window_set)(Desc, int, int, int, int, int, int, int, int);
  int (*window_groups)(Desc, int);
  int (*window_math)(Desc, int);
  int (*activation_create)(Desc*);
  int (*activation_destroy)(Desc);
  int (*activation_set)(Desc, int, int, double);
  int (*algorithms)(Handle, Desc, Desc, Desc, Desc, int, int*, Performance*);
  int (*workspace)(Handle, Desc, Desc, Desc, Desc, int, std::size_t*);
  int (*forward)(Handle, const void*, Desc, const void*, Desc, const void*, Desc, int, void*,
                 std::size_t, const void*, Desc, const void*, Desc, const void*, Desc, Desc, void*);
  bool ok = true;

  template <class F>
  void find(void* library, const char* name, F* function) {
    *function = reinterpret_cast<F>(dlsym(library, name));
    ok = ok && *function != nullptr;
  }

  Functions() {
    std::string why;
    void* library = open_nvidia("libcudnn.so.9", &why);
    if (library == nullptr) {
      ok = false;
      return;
    }
    find(library, "cudnnCreate", &create);
    find(library, "cudnnDestroy", &destroy);
    find(library, "cudnnSetStream", &set_stream);
    find(library, "cudnnCreateTensorDescriptor", &tensor_create);
    find(library, "cudnnDestroyTensorDescriptor", &tensor_destroy);
    find(library, "cudnnSetTensor4dDescriptor", &tensor_set);
    find(library, "cudnnCreateFilterDescriptor", &filter_create);
    find(library, "cudnnDestroyFilterDescriptor", &filter_destroy);
    find(library, "cudnnSetFilter4dDescriptor", &filter_set);
    find(library, "cudnnCreateConvolutionDescriptor", &window_create);
    find(library, "cudnnDestroyConvolutionDescriptor", &window_destroy);
    find(library, "cudnnSetConvolution2dDescriptor", &window_set);
    find(library, "cudnnSetConvolutionGroupCount", &window_groups);
    find(library, "cudnnSetConvolutionMathType", &window_math);
    find(library, "cudnnCreateActivationDescriptor", &activation_create);
    find(library, "cudnnDestroyActivationDescriptor", &activation_destroy);
    find(library, "cudnnSetActivationDescriptor", &activation_set);
    find(library, "cudnnGetConvolutionForwardAlgorithm_v7", &algorithms);
    find(library, "cudnnGetConvolutionForwardWorkspaceSize", &workspace);
    find(library, "cudnnConvolutionBiasActivationForward", &forward);
  }
};

const Functions& functions() {
  static const Functions found;
  return found;
}

int real_type(Type type) {
  return type == Type::f32 ? kFloat : type == Type::f16 ? kHalf : kBfloat16;
}

// Descriptions of one convolution.
struct Call {
  Desc from = nullptr, to = nullptr, bias = nullptr, filter = nullptr, window = nullptr;
  Desc activation = nullptr;
  int algo = 0;

  ~Call() {
    const Functions& dnn = functions();
    for (Desc tensor : {from, to, bias}) {
      if (tensor != nullptr) dnn.tensor_destroy(tensor);
    }
    if (filter != nullptr) dnn.filter_destroy(filter);
    if (window != nullptr) dnn.window_destroy(window);
    if (activation != nullptr) dnn.activation_destroy(activation);
  }

  bool describe(const Window& w, std::int32_t groups, Type type, bool with_relu) {
    const Functions& dnn = functions();
    const int real = real_type(type), relu = with_relu ? kActivationRelu : kActivationIdentity;
    return tensor(&from, real, w.batch, w.channels, w.height, w.width) &&
           tensor(&to, real, w.batch, w.out_channels, w.out_height, w.out_width) &&
           tensor(&bias, real, 1, w.out_channels, 1, 1) && dnn.filter_create(&filter) == 0 &&
           dnn.filter_set(filter, real, kNhwc, w.out_channels, w.channels / groups, w.filter_h,
                          w.filter_w) == 0 &&
           dnn.window_create(&window) == 0 &&
           dnn.window_set(window, w.top, w.left, w.stride_h, w.stride_w, w.dilation_h, w.dilation_w,
                          kCrossCorrelation, kFloat) == 0 &&
           dnn.window_groups(window, groups) == 0 &&
           dnn.window_math(window, math_of(w, type)) == 0 &&
           dnn.activation_create(&activation) == 0 &&
           dnn.activation_set(activation, relu, kPropagateNan, 0.0) == 0;
  }

  static int math_of(const Window& w, Type type) {
    if (type != Type::f32) return kTensorOps;
    return w.tf32 ? kDefaultMath : kFma;
  }

  static bool tensor(Desc* made, int real, int n, int c, int h, int w) {
    const Functions& dnn = functions();
    return dnn.tensor_create(made) == 0 && dnn.tensor_set(*made, kNhwc, real, n, c, h, w) == 0;
  }
};

class Opened final : public Dnn {
 public:
  Opened(Stream& stream, Handle handle, void* workspace, std::size_t bytes)
      : stream_(stream), handle_(handle), workspace_(workspace), bytes_(bytes) {}
  ~Opened() override { functions().destroy(handle_); }

  Work convolution(const Window& w, std::int32_t groups, Type type, const void* from,
                   const void* filter, const After& after, bool with_relu, void* to) override {
    const bool is_added = after.residual != nullptr;
    const Key key = key_of(w, groups, type, is_added, with_relu);
    const auto kept = chosen_.find(key);
    if (kept != chosen_.end() && kept->second == nullptr) return nullptr;
    const bool is_new = kept == chosen_.end();
    const auto call = is_new ? std::make_shared<Call>() : kept->second;
    if (is_new && !call->describe(w, groups, type, with_relu)) return nothing(key);
    const void* bias = after.bias != nullptr ? after.bias : zeros(w.out_channels, type);
    const void* added = is_added ? after.residual : to;
    const float second = is_added ? 1.0f : 0.0f;
    auto work = [=, this](int algo) {
      const float one = 1.0f;
      return functions().forward(handle_, &one, call->from, from, call->filter, filter,
                                 call->window, algo, workspace_, bytes_, &second, call->to, added,
                                 call->bias, bias, call->activation, call->to, to);
    };
    if (is_new) {
      if (!choose(*call, with_relu, work)) return nothing(key);
      chosen_.emplace(key, call);
    }
    return [work, call] {
      if (work(call->algo) != 0) throw std::runtime_error("cuDNN refuses a convolution");
    };
  }

 private:
  using Key = std::vector<std::int32_t>;

  static Key key_of(const Window& w, std::int32_t groups, Type type, bool is_added,
                    bool with_relu) {
    return {w.batch,        w.height,     w.width,      w.channels, w.out_height,
            w.out_width,    w.out_channels, w.filter_h, w.filter_w, w.stride_h,
            w.stride_w,     w.dilation_h, w.dilation_w, w.top,      w.left,
            groups, static_cast<std::int32_t>(type), is_added ? 1 : 0, with_relu ? 1 : 0,
            w.tf32 ? 1 : 0};
  }

  Work nothing(const Key& key) {
    chosen_.emplace(key, nullptr);
    return nullptr;
  }

  // The quickest of the algorithms that fit into the workspace.
  template <class Use>
  bool choose(Call& call, bool with_relu, const Use& work) const {
    const Functions& dnn = functions();
    std::array<Performance, 8> all = {};
    int count = 0;
    if (dnn.algorithms(handle_, call.from, call.filter, call.window, call.to,
                       static_cast<int>(all.size()), &count, all.data()) != 0) {
      return false;
    }
    double best = 1e30;
    for (int k = 0; k < count; ++k) {
      const int algo = all[static_cast<std::size_t>(k)].algo;
      std::size_t needed = 0;
      if (!with_relu && algo != kPrecompGemm) continue;
      if (dnn.workspace(handle_, call.from, call.filter, call.window, call.to, algo, &needed) !=
              0 ||
          needed > bytes_ || work(algo) != 0) {
        continue;
      }
      const double seconds = stream_.time([&] { static_cast<void>(work(algo)); });
      if (seconds < best) {
        best = seconds;
        call.algo = algo;
      }
    }
    return best < 1e30;
  }

  const void* zeros(std::int32_t count, Type type) {
    const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
    if (bytes > zeros_bytes_) {
      zeros_ = stream_.allocate(bytes);
      stream_.clear(zeros_, bytes);
      zeros_bytes_ = bytes;
    }
    return zeros_;
  }

  Stream& stream_;
  Handle handle_;
  void* workspace_;
  std::size_t bytes_;
  void* zeros_ = nullptr;
  std::size_t zeros_bytes_ = 0;
  std::map<Key, std::shared_ptr<Call>> chosen_;  // null where there is no algorithm
};

}  // namespace

std::unique_ptr<Dnn> Dnn::open(Stream& stream, void* workspace, std::size_t workspace_bytes) {
  Handle handle = nullptr;
  if (!functions().ok || functions().create(&handle) != 0) return nullptr;
  if (functions().set_stream(handle, stream.native()) != 0) return nullptr;
  return std::make_unique<Opened>(stream, handle, workspace, workspace_bytes);
}

}  // namespace drystone::gpu

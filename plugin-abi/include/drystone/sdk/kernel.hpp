// Kernels as classes.
//
// Since ABI 1.0. Needs the host's kernel functions.
//
//   class Scale {
//    public:
//     Error init(Construction& node);             // optional: read attributes, once per node
//     Error compute(KernelContext& call);         // any number of threads at once
//   };
//   Error add_all() {
//     if (Error e = NewOp("Scale")...add(); !e.ok()) return e;
//     return NewKernel::of<Scale>("Scale", "CPU").type("T", TF_FLOAT).add();
//   }
//   TF_PLATFORM_STRINGS()
//   DRYSTONE_KERNELS(add_all)
//
// The macro defines TF_InitKernel. That function cannot report a failure: an error of add_all goes to
// the host's log, and what was registered before it stays.
//
// An asynchronous kernel has `void compute(KernelContext& call, Done done)` instead and is registered
// with NewKernel::async<Scale>(...). It may return before the work is done; KernelContext and inputs
// stay valid until done(error) is called, exactly once, from any thread. A Done that is dropped
// without a call reports an INTERNAL error rather than let the caller wait forever.
#ifndef DRYSTONE_SDK_KERNEL_HPP_
#define DRYSTONE_SDK_KERNEL_HPP_

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "drystone/kernels.h"
#include "drystone/logging.h"
#include "drystone/sdk/construction.hpp"
#include "drystone/sdk/error.hpp"
#include "drystone/sdk/guard.hpp"
#include "drystone/sdk/op.hpp"
#include "drystone/sdk/status.hpp"
#include "drystone/sdk/tensor.hpp"

namespace drystone::sdk {

// One call of a kernel. Cheap to copy: two of one call are the same.
class KernelContext {
 public:
  explicit KernelContext(TF_OpKernelContext* context) : context_(context) {}
  TF_OpKernelContext* get() const { return context_; }

  int inputs() const { return TF_NumInputs(context_); }
  int outputs() const { return TF_NumOutputs(context_); }
  TF_DataType output_dtype(int index) const {
    return TF_ExpectedOutputDataType(context_, index);
  }
  // OUT_OF_RANGE for an index that is not there.
  Result<Tensor> input(int index) const {
    Status status;
    TF_Tensor* out = nullptr;
    TF_GetInput(context_, index, &out, status.get());
    Tensor owner(out);
    if (Error error = status.take(); !error.ok()) return error;
    return owner;
  }
  // Fresh memory for an output, already set as that output; fill it before the kernel is done.
  Result<Tensor> output(int index, const std::vector<std::int64_t>& dims) const {
    const TF_DataType dtype = output_dtype(index);
    const std::int64_t count = Shape::count_of(dims);
    const std::size_t size = dtype == TF_STRING ? sizeof(TF_TString) : TF_DataTypeSize(dtype);
    if (count < 0 || size == 0 || static_cast<std::size_t>(count) > SIZE_MAX / size) {
      return invalid_argument("output " + std::to_string(index) + " cannot have these dimensions");
    }
    Status status;
    Tensor out(TF_AllocateOutput(context_, index, dtype, dims.data(),
                                 static_cast<int>(dims.size()),
                                 static_cast<std::size_t>(count) * size, status.get()));
    if (Error error = status.take(); !error.ok()) return error;
    return out;
  }
  // The memory of one of `candidates` (numbers of inputs) where nothing else needs it, else fresh
  // memory; set as output `index` either way.
  Result<Tensor> output_in_place(int index, const std::vector<int>& candidates,
                                 const std::vector<std::int64_t>& dims) const {
    Status status;
    int forwarded = -1;
    Tensor out(TF_ForwardInputOrAllocateOutput(
        context_, candidates.data(), static_cast<int>(candidates.size()), index, dims.data(),
        static_cast<int>(dims.size()), &forwarded, status.get()));
    if (Error error = status.take(); !error.ok()) return error;
    return out;
  }
  // Hand a tensor on as an output, without a copy.
  Error set_output(int index, const Tensor& tensor) const {
    Status status;
    TF_SetOutput(context_, index, tensor.get(), status.get());
    return status.take();
  }
  void fail(const Error& error) const {
    Status status;
    store(error, status.get());
    TF_OpKernelContext_Failure(context_, status.get());
  }

 private:
  TF_OpKernelContext* context_;
};

// Ends one asynchronous call. May be moved, also to another thread.
class Done {
 public:
  Done(TF_OpKernelContext* context, TF_AsyncOpKernelDoneCallback* callback)
      : context_(context), callback_(callback) {}
  Done(Done&& other) noexcept
      : context_(other.context_), callback_(std::exchange(other.callback_, nullptr)) {}
  Done& operator=(Done&&) = delete;
  Done(const Done&) = delete;
  ~Done() {
    if (callback_ != nullptr) (*this)(Error(TF_INTERNAL, "the kernel dropped its callback"));
  }

  void operator()(const Error& error) {
    if (callback_ == nullptr) return;
    if (!error.ok()) KernelContext(context_).fail(error);
    TF_RunAsyncOpKernelDoneCallback(std::exchange(callback_, nullptr));
  }

 private:
  TF_OpKernelContext* context_;
  TF_AsyncOpKernelDoneCallback* callback_;
};

template <class Kernel, class = void>
struct has_init : std::false_type {};
template <class Kernel>
struct has_init<Kernel, std::void_t<decltype(std::declval<Kernel&>().init(
                            std::declval<Construction&>()))>> : std::true_type {};

// The C functions of a kernel class.
template <class Kernel>
struct KernelTable {
  static void* create(TF_OpKernelConstruction* construction) noexcept {
    Kernel* made = nullptr;
    const Error error = guarded("creating the kernel", [&]() -> Error {
      auto fresh = std::make_unique<Kernel>();
      if constexpr (has_init<Kernel>::value) {
        Construction node(construction);
        if (Error failure = fresh->init(node); !failure.ok()) return failure;
      }
      made = fresh.release();
      return {};
    });
    if (error.ok()) return made;
    Status status;
    store(error, status.get());
    TF_OpKernelConstruction_Failure(construction, status.get());
    return nullptr;
  }
  static void compute(void* self, TF_OpKernelContext* context) noexcept {
    KernelContext call(context);
    const Error error = guarded("the kernel", [&]() -> Error {
      if (self == nullptr) return failed_precondition("the kernel was not created");
      return static_cast<Kernel*>(self)->compute(call);
    });
    if (!error.ok()) call.fail(error);
  }
  static void compute_async(void* self, TF_OpKernelContext* context,
                            TF_AsyncOpKernelDoneCallback* callback) noexcept {
    Done done(context, callback);
    if (self == nullptr) return done(failed_precondition("the kernel was not created"));
    // What is thrown drops the Done, which reports it.
    const Error ignored = guarded("the kernel", [&] {
      KernelContext call(context);
      static_cast<Kernel*>(self)->compute(call, std::move(done));
      return Error();
    });
    static_cast<void>(ignored);
  }
  static void destroy(void* self) noexcept { delete static_cast<Kernel*>(self); }
};

class [[nodiscard]] NewKernel {
 public:
  // `device`: a device type, such as "CPU".
  template <class Kernel>
  static NewKernel of(const char* op, const char* device) {
    using Table = KernelTable<Kernel>;
    return NewKernel(
        op, TF_NewKernelBuilder(op, device, &Table::create, &Table::compute, &Table::destroy));
  }
  template <class Kernel>
  static NewKernel async(const char* op, const char* device) {
    using Table = KernelTable<Kernel>;
    return NewKernel(op, TF_NewAsyncKernelBuilder(op, device, &Table::create,
                                                  &Table::compute_async, &Table::destroy));
  }

  // Only for nodes whose attribute has this dtype.
  NewKernel& type(const char* attr, TF_DataType dtype) {
    TF_KernelBuilder_TypeConstraint(builder_.get(), attr, dtype, status_.get());
    if (Error error = status_.take(); error_.ok()) error_ = error;
    return *this;
  }
  // This input or output lies in memory that the CPU reads, whatever the device.
  NewKernel& host_memory(const char* argument) {
    TF_KernelBuilder_HostMemory(builder_.get(), argument);
    return *this;
  }
  // The highest wins; the host's own kernels have -1.
  NewKernel& priority(std::int32_t value) {
    TF_KernelBuilder_Priority(builder_.get(), value);
    return *this;
  }
  // Only for nodes with this text in the attribute "_kernel".
  NewKernel& label(const char* text) {
    TF_KernelBuilder_Label(builder_.get(), text);
    return *this;
  }
  // Make the kernel known. Use the builder no more.
  Error add() {
    if (!error_.ok()) return error_;
    TF_RegisterKernelBuilder(name_.c_str(), builder_.release(), status_.get());
    return status_.take();
  }

 private:
  struct Delete {
    void operator()(TF_KernelBuilder* builder) const { TF_DeleteKernelBuilder(builder); }
  };
  NewKernel(const char* op, TF_KernelBuilder* builder) : name_(op), builder_(builder) {}

  std::string name_;
  std::unique_ptr<TF_KernelBuilder, Delete> builder_;
  Status status_;
  Error error_;
};

inline void register_kernels(Error (*add_all)()) noexcept {
  const Error error = guarded("registering kernels", [&] { return add_all(); });
  if (!error.ok()) TF_Log(TF_ERROR, "kernels were not registered: %s", error.message().c_str());
}

}  // namespace drystone::sdk

// Defines the library's entry symbol. `add_all`: Error (*)(). Use it once, outside of any namespace.
#define DRYSTONE_KERNELS(add_all)                  \
  extern "C" TF_CAPI_EXPORT void TF_InitKernel() { \
    ::drystone::sdk::register_kernels(&(add_all)); \
  }

#endif  // DRYSTONE_SDK_KERNEL_HPP_

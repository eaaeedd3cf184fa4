// What a kernel of drystone-cpu is written with: attributes of a node, tensors of a call.
//
//   class Softplus {
//    public:
//     explicit Softplus(const Node&) {}
//     void compute(Call& call) const {
//       const Tensor x = call.input(0);
//       const Tensor y = call.output(0, x.dims(), 0);   // may take over the memory of input 0
//       ...
//     }
//   };
//   const Family registered([] { add<Softplus>("Softplus", {{"T", {TF_FLOAT, TF_DOUBLE}}}); });
//
// A failure is thrown: fail(TF_INVALID_ARGUMENT, "...") ends the call with that status. compute() may
// run in several threads at once.
#ifndef DRYSTONE_CPU_CORE_KERNEL_H_
#define DRYSTONE_CPU_CORE_KERNEL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "drystone/kernel_views.h"
#include "drystone/kernels.h"
#include "drystone/threads.h"

namespace drystone::cpu {

using Dims = std::vector<std::int64_t>;
using DimsView = std::span<const std::int64_t>;

// `check`, `found` and `needed`: the parts of the message where it tells of a check, else "".
struct Failure : std::exception {
  Failure(TF_Code code_, std::string message_) : code(code_), message(std::move(message_)) {}
  Failure(TF_Code code_, std::string check_, std::string found_, std::string needed_)
      : code(code_),
        message(check_ + ": " + found_ + "; needed: " + needed_),
        check(std::move(check_)),
        found(std::move(found_)),
        needed(std::move(needed_)) {}
  const char* what() const noexcept override { return message.c_str(); }
  TF_Code code;
  std::string message;
  std::string check, found, needed;
};

[[noreturn]] void fail(TF_Code code, std::string message);
// Fails with the parts of a message, which are fields of the error in Python: those of the NumPy kernel
// that makes the same check.
[[noreturn]] void fail_check(TF_Code code, std::string check, std::string found, std::string needed);
// Fails with INVALID_ARGUMENT as a tensor of 2^63 elements and more; `found`: its dims.
[[noreturn]] void fail_too_many(std::string found);
// Fails with RESOURCE_EXHAUSTED where the system gives no memory; `found`: for what.
[[noreturn]] void fail_no_memory(const std::string& found);
// Fails with INVALID_ARGUMENT unless it holds.
inline void require(bool holds, const char* message) {
  if (!holds) [[unlikely]] fail(TF_INVALID_ARGUMENT, message);
}

// Thrown when the host has noted the failure of the call already.
struct AlreadyFailed : std::exception {};

// "[2,3]"
std::string text(DimsView dims);
// The product; 1 for none.
std::int64_t product(DimsView dims);

// A tensor of a call: a view of the host's memory.
class Call;
class Tensor {
 public:
  TF_DataType dtype() const { return view_.dtype; }
  int rank() const { return view_.rank; }
  std::int64_t count() const { return view_.count; }
  DimsView dims() const { return {view_.dims, static_cast<std::size_t>(view_.rank)}; }
  std::int64_t dim(int k) const { return view_.dims[k]; }
  const void* data() const { return view_.data; }
  template <class T>
  const T* as() const { return static_cast<const T*>(view_.data); }
  // Of an output, or a variable that is changed.
  template <class T>
  T* write() const { return static_cast<T*>(view_.data); }
  // The same dims with other elements.
  Tensor with(TF_DataType dtype, void* data) const {
    Tensor out = *this;
    out.view_.dtype = dtype;
    out.view_.data = data;
    return out;
  }

 private:
  friend class Call;
  DS_View view_ = DS_VIEW_INIT;
};

// Inputs and outputs in the place of those of a call: see core/widened_call.h.
class CallOverride {
 public:
  virtual Tensor input(const Call& call, int i) = 0;
  virtual Tensor output(const Call& call, int i, DimsView dims) = 0;

 protected:
  ~CallOverride() = default;
};

class Call {
 public:
  explicit Call(TF_OpKernelContext* context, CallOverride* override = nullptr)
      : context_(context), override_(override) {}

  int inputs() const { return TF_NumInputs(context_); }
  int outputs() const { return TF_NumOutputs(context_); }
  Tensor input(int i) const {
    if (override_ != nullptr) return override_->input(*this, i);
    return held_input(i);
  }
  // The host's, with or without an override.
  Tensor held_input(int i) const {
    Tensor out;
    if (DS_ViewInput(context_, i, &out.view_) == 0) throw AlreadyFailed();
    return out;
  }
  // The output, not initialised. It may take over the memory of input `forward_from` (-1: of none),
  // which the kernel reads no more once it has written over it.
  Tensor output(int i, DimsView dims, int forward_from = -1) const {
    if (override_ != nullptr) return override_->output(*this, i, dims);
    return held_output(i, dims, forward_from);
  }
  Tensor held_output(int i, DimsView dims, int forward_from = -1) const {
    Tensor out;
    if (DS_NewOutput(context_, i, dims.data(), static_cast<int>(dims.size()), forward_from,
                     &out.view_) == 0) {
      throw AlreadyFailed();
    }
    return out;
  }
  // Output `i` shows what input `input` holds, with other dims.
  void share(int i, int input, DimsView dims) const {
    if (DS_ShareInput(context_, i, input, dims.data(), static_cast<int>(dims.size())) == 0) throw AlreadyFailed();
  }
  // The value of the variable that input `i` refers to.
  Tensor variable(int i) const {
    Tensor out;
    if (DS_ViewVariable(context_, i, &out.view_) == 0) throw AlreadyFailed();
    return out;
  }
  // The same for changing it in place; it is locked until the call ends.
  Tensor change_variable(int i) const {
    Tensor out;
    if (DS_ChangeVariable(context_, i, &out.view_) == 0) throw AlreadyFailed();
    return out;
  }
  void assign_variable(int i, int value) const {
    if (DS_AssignVariable(context_, i, value) == 0) throw AlreadyFailed();
  }
  void share_variable(int i, int input) const {
    if (DS_ShareVariableValue(context_, i, input) == 0) throw AlreadyFailed();
  }
  // Whether input `i` is likely to be the same in every call: what is made of it is worth keeping.
  bool is_constant(int i) const {
    return override_ == nullptr && DS_InputIsConstant(context_, i) != 0;
  }
  // Memory until the call ends, aligned to 64 bytes, not initialised. Fails like an output that does not
  // fit into the machine's memory.
  template <class T>
  T* scratch(std::int64_t count) const {
    return static_cast<T*>(scratch_bytes(count, sizeof(T)));
  }
  // Fails where scratch memory of so many elements would: before a kernel makes as many of its own.
  void check_room(std::int64_t count, std::size_t size) const {
    constexpr std::int64_t kAlways = 1 << 16;
    if (count > kAlways) scratch_bytes(count, size);  // pages that are not touched
  }
  TF_OpKernelContext* context() const { return context_; }

 private:
  void* scratch_bytes(std::int64_t count, std::size_t size) const;

  TF_OpKernelContext* context_;
  CallOverride* override_;
};

// The run that a kernel works for is over; what is left of the call goes unnoticed.
struct Stopped : Failure {
  Stopped() : Failure(TF_CANCELLED, "the run is over") {}
};

// Whether it is: for loops that may take long, some hundred times a second.
bool should_stop();
// Throws Stopped then.
inline void check_stop() {
  if (should_stop()) throw Stopped();
}

// body(begin, end) for ranges of [0, count), by several threads where that pays. `cost`: about how
// many nanoseconds an item takes. Ranges are no longer than about a millisecond, between which it is
// looked whether the run is over: throws Stopped then.
template <class Body>
void parallel(std::int64_t count, std::int64_t cost, Body&& body) {
  constexpr std::int64_t kRange = 1'000'000;
  struct Work {
    std::remove_reference_t<Body>* body;
    std::int64_t range;
    std::atomic<bool> is_over{false};
  } work{&body, std::max<std::int64_t>(kRange / std::max<std::int64_t>(cost, 1), 1)};
  DS_ParallelFor(
      count, cost,
      [](void* argument, std::int64_t begin, std::int64_t end) {
        auto& [of, range, is_over] = *static_cast<Work*>(argument);
        try {
          for (; end - begin > range && !is_over; begin += range) {
            (*of)(begin, begin + range);
            check_stop();
          }
          if (!is_over) (*of)(begin, end);
        } catch (const Stopped&) {
          is_over = true;
        }
      },
      &work);
  if (work.is_over) throw Stopped();
}

// A node whose kernel is made: its attributes, with the op's defaults. Getters fail with
// INVALID_ARGUMENT for an attribute that is missing or of another kind.
class Node {
 public:
  explicit Node(TF_OpKernelConstruction* construction) : construction_(construction) {}

  std::string name() const;
  bool has(const char* attr) const;
  TF_DataType type(const char* attr) const;
  std::vector<TF_DataType> types(const char* attr) const;
  std::int64_t integer(const char* attr) const;
  std::vector<std::int64_t> integers(const char* attr) const;
  float real(const char* attr) const;
  std::vector<float> reals(const char* attr) const;
  bool boolean(const char* attr) const;
  std::string string(const char* attr) const;
  std::vector<std::string> strings(const char* attr) const;
  TF_OpKernelConstruction* construction() const { return construction_; }

 private:
  TF_OpKernelConstruction* construction_;
};

// An attribute that must hold one of the types.
struct Constraint {
  const char* attr;
  std::vector<TF_DataType> types;
};

using Create = void* (*)(TF_OpKernelConstruction*);
using Compute = void (*)(void*, TF_OpKernelContext*);
using Delete = void (*)(void*);

// Registers a kernel for the CPU. One TF_DataType at most per constraint is registered at once by
// the interface, so that several make one kernel per combination.
void add_kernel(const char* op, const std::vector<Constraint>& constraints, Create create,
                Compute compute, Delete destroy);

// What escapes from a kernel becomes the call's, or the node's, failure.
void report(TF_OpKernelContext* context, const std::exception* error) noexcept;
void report(TF_OpKernelConstruction* construction, const std::exception* error) noexcept;

template <class Kernel>
void add(const char* op, const std::vector<Constraint>& constraints = {}) {
  add_kernel(
      op, constraints,
      [](TF_OpKernelConstruction* construction) -> void* {
        try {
          return new Kernel(Node(construction));
        } catch (const std::exception& error) {
          report(construction, &error);
        } catch (...) {
          report(construction, nullptr);
        }
        return nullptr;
      },
      [](void* kernel, TF_OpKernelContext* context) {
        try {
          Call call(context);
          static_cast<const Kernel*>(kernel)->compute(call);
        } catch (const AlreadyFailed&) {  // NOLINT(bugprone-empty-catch): the host knows
        } catch (const std::exception& error) {
          report(context, &error);
        } catch (...) {
          report(context, nullptr);
        }
      },
      [](void* kernel) { delete static_cast<Kernel*>(kernel); });
}

// The same for a kernel without attributes: a function.
template <void (*Function)(Call&)>
class Plain {
 public:
  explicit Plain(const Node&) {}
  void compute(Call& call) const { Function(call); }
};

template <void (*Function)(Call&)>
void add(const char* op, const std::vector<Constraint>& constraints = {}) {
  add<Plain<Function>>(op, constraints);
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_KERNEL_H_

// Stacks: what loops of frames keep for their gradients. They live as long as their handle.
#include <mutex>

#include "core/containers.h"
#include "core/family.h"
#include "drystone/sdk/dtype.hpp"

namespace drystone::cpu {
namespace {

struct Stack {
  std::mutex mutex;
  TF_DataType dtype = TF_FLOAT;
  std::int64_t limit = -1;
  bool closed = false;
  std::vector<Held> values;
};

const DS_ObjectKind kKind = kind_of<Stack>("stack");

void check(const Stack& stack, TF_DataType dtype) {
  require(!stack.closed, "a stack must not be closed");
  if (stack.dtype != dtype) {
    fail(TF_INVALID_ARGUMENT, "the stack has elements of dtype " +
                                  sdk::dtype_name(stack.dtype) + ", the node is for " +
                                  sdk::dtype_name(dtype));
  }
}

class Make {
 public:
  explicit Make(const Node& node) : dtype_(node.type("elem_type")) {}
  void compute(Call& call) const {
    auto made = std::make_unique<Stack>();
    made->dtype = dtype_;
    made->limit = scalar_int(call.input(0), "max_size");
    make_resource(call, 0, kKind, std::move(made));
  }

 private:
  TF_DataType dtype_;
};

class Push {
 public:
  explicit Push(const Node& node) : dtype_(node.type("T")) {}
  void compute(Call& call) const {
    auto& stack = resource<Stack>(call, 0, kKind);
    Held value = hold_input(call, 1);
    set_output(call, 0, value.get());
    const std::lock_guard lock(stack.mutex);
    check(stack, dtype_);
    if (stack.limit >= 0 && static_cast<std::int64_t>(stack.values.size()) >= stack.limit) {
      fail(TF_INVALID_ARGUMENT, "a stack must not outgrow its size of " + std::to_string(stack.limit));
    }
    stack.values.push_back(std::move(value));
  }

 private:
  TF_DataType dtype_;
};

class Pop {
 public:
  explicit Pop(const Node& node) : dtype_(node.type("elem_type")) {}
  void compute(Call& call) const {
    auto& stack = resource<Stack>(call, 0, kKind);
    Held value;
    {
      const std::lock_guard lock(stack.mutex);
      check(stack, dtype_);
      require(!stack.values.empty(), "a stack must not be empty to pop");
      value = std::move(stack.values.back());
      stack.values.pop_back();
    }
    set_output(call, 0, value.get());
  }

 private:
  TF_DataType dtype_;
};

void close(Call& call) {
  auto& stack = resource<Stack>(call, 0, kKind);
  std::vector<Held> gone;
  const std::lock_guard lock(stack.mutex);
  stack.closed = true;
  stack.values.swap(gone);
}

}  // namespace

const Family registered([] {
  add<Make>("StackV2", {{"elem_type", element_types()}});
  add<Push>("StackPushV2", {{"T", element_types()}});
  add<Pop>("StackPopV2", {{"elem_type", element_types()}});
  add<close>("StackCloseV2");
});

}  // namespace drystone::cpu

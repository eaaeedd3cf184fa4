// Calls that change several variables, in two orders at once.
#include <atomic>
#include <chrono>
#include <thread>

#include "drystone/kernel_views.h"
#include "kernels_help.h"

namespace {

using help::arg;
using help::floats;
using help::floats_of;
using help::must_make;
using help::register_op;
using help::Status;

std::atomic<int> have_first{0};

// Gives the other call time to ask for its first variable, too.
void meet() {
  ++have_first;
  const auto start = std::chrono::steady_clock::now();
  while (have_first < 2 && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(50)) {
    std::this_thread::yield();
  }
}

void add_one(TF_OpKernelContext* ctx, int input) {
  DS_View value = DS_VIEW_INIT;
  if (DS_ChangeVariable(ctx, input, &value) != 0) static_cast<float*>(value.data)[0] += 1;
}

void run(DS_Kernel* kernel, TF_Tensor* first, TF_Tensor* second, TF_Status* status) {
  DS_KernelCall call{};
  call.struct_size = DS_KERNEL_CALL_STRUCT_SIZE;
  call.deadline_ms = 20'000;
  TF_Tensor* inputs[] = {first, second};
  DS_RunKernel(kernel, &call, inputs, 2, nullptr, 0, status);
}

// Neither waits for the other for ever, and both changes are made.
void test_crossed_order() {
  TF_Tensor* zero = floats({0});
  Status status;
  DS_Variable* variables[2];
  TF_Tensor* handles[2];
  for (int k = 0; k < 2; ++k) {
    variables[k] = DS_NewVariable("v", nullptr, TF_FLOAT, zero, status);
    handles[k] = DS_VariableHandle(variables[k], status);
  }
  TF_DeleteTensor(zero);
  CHECK(status.ok());
  help::on_compute = [](TF_OpKernelContext* ctx) {
    add_one(ctx, 0);
    meet();
    add_one(ctx, 1);
    add_one(ctx, 0);
  };
  const help::Op op{"Both", {arg("a", TF_RESOURCE), arg("b", TF_RESOURCE)}, {}, {}};
  DS_Kernel* one = must_make(op, {"Both", {}, {}});
  DS_Kernel* other = must_make(op, {"Both", {}, {}});
  Status crossed;
  std::thread thread([&] { run(other, handles[1], handles[0], crossed); });
  run(one, handles[0], handles[1], status);
  thread.join();
  CHECK(status.ok() && crossed.ok());
  // The same variable twice, and one that nothing else is locked with.
  run(one, handles[0], handles[0], status);
  CHECK(status.ok());
  const float sums[] = {6, 3};
  for (int k = 0; k < 2; ++k) {
    TF_Tensor* value = DS_VariableTensor(variables[k], status);
    CHECK(status.ok() && floats_of(value)[0] == sums[k]);
    TF_DeleteTensor(value);
    TF_DeleteTensor(handles[k]);
    DS_DeleteVariable(variables[k]);
  }
  DS_DeleteKernel(one);
  DS_DeleteKernel(other);
  help::on_compute = nullptr;
}

}  // namespace

int main() {
  register_op("Both");
  test_crossed_order();
  return help::report();
}

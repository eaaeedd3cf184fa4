// What a call of a plugin's kernel costs above its own work, in nanoseconds:
//   kernel_call [CALLS]
// prints one line per kernel and per kind of handle, "NAME NANOSECONDS", the least of several rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "drystone/kernel_views.h"
#include "drystone/kernels.h"
#include "drystone/sdk/wire.hpp"
#include "drystone_host/kernels.h"

namespace {

using drystone::wire::Writer;

void none(void*, TF_OpKernelContext*) {}

void set_input(void*, TF_OpKernelContext* ctx) {
  TF_Tensor* input = nullptr;
  TF_GetInput(ctx, 0, &input, nullptr);
  TF_SetOutput(ctx, 0, input, nullptr);
  TF_DeleteTensor(input);
}

void allocate(void*, TF_OpKernelContext* ctx) {
  const int64_t dims[] = {16};
  TF_DeleteTensor(TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 1, 64, nullptr));
}

void views(void*, TF_OpKernelContext* ctx) {
  DS_View in = DS_VIEW_INIT;
  DS_View out = DS_VIEW_INIT;
  if (DS_ViewInput(ctx, 0, &in) != 0) DS_NewOutput(ctx, 0, in.dims, in.rank, -1, &out);
}

void done_at_once(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done) {
  TF_RunAsyncOpKernelDoneCallback(done);
}

void stop(const TF_Status* status, const char* what) {
  if (TF_GetCode(status) == TF_OK) return;
  std::fprintf(stderr, "%s: %s\n", what, TF_Message(status));
  std::exit(1);
}

std::string message(std::uint32_t field, const std::string& bytes) {
  std::string out;
  Writer(&out).bytes(field, bytes);
  return out;
}

// An OpDef with one float input, and one float output if wanted.
std::string op_def(const std::string& name, bool has_output) {
  std::string arg;
  Writer writer(&arg);
  writer.bytes(1, "x");
  writer.varint(3, TF_FLOAT);
  return message(1, name) + message(2, arg) + (has_output ? message(3, arg) : "");
}

DS_Kernel* make(const std::string& op, bool has_output, TF_KernelBuilder* builder) {
  TF_Status* status = TF_NewStatus();
  TF_RegisterKernelBuilder(op.c_str(), builder, status);
  stop(status, "register");
  const std::string node_bytes = message(1, "node") + message(2, op);
  const std::string op_bytes = op_def(op, has_output);
  const TF_Buffer node{node_bytes.data(), node_bytes.size(), nullptr};
  const TF_Buffer def{op_bytes.data(), op_bytes.size(), nullptr};
  DS_Kernel* kernel =
      DS_NewKernel(DS_FindKernel(&node, &def, nullptr, status), &node, &def, nullptr, status);
  stop(status, "new kernel");
  TF_DeleteStatus(status);
  return kernel;
}

// The shortest of five rounds, in nanoseconds a call.
template <class Call>
void print_least(const char* name, int calls, const Call& call) {
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) call();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / calls);
  }
  std::printf("%s %.0f\n", name, best);
}

void measure(const char* name, DS_Kernel* kernel, int calls) {
  const int64_t dims[] = {16};
  TF_Tensor* input = TF_AllocateTensor(TF_FLOAT, dims, 1, 64);
  TF_Status* status = TF_NewStatus();
  const int outputs = DS_KernelNumOutputs(kernel);
  print_least(name, calls, [&] {
    TF_Tensor* output = nullptr;
    DS_RunKernel(kernel, nullptr, &input, 1, &output, outputs, status);
    TF_DeleteTensor(output);
  });
  stop(status, name);
  TF_DeleteStatus(status);
  TF_DeleteTensor(input);
  DS_DeleteKernel(kernel);
}

// What a kernel makes for each call: decision 0113.
void measure_handles(int calls) {
  const int64_t dims[] = {6};
  print_least("tensor", calls, [&] { TF_DeleteTensor(TF_AllocateTensor(TF_FLOAT, dims, 1, 24)); });
  print_least("status", calls, [] { TF_DeleteStatus(TF_NewStatus()); });
  print_least("buffer", calls, [] { TF_DeleteBuffer(TF_NewBuffer()); });
}

}  // namespace

int main(int count, char** arguments) {
  const int calls = count > 1 ? std::max(std::atoi(arguments[1]), 1) : 1'000'000;
  measure("no-op", make("None", false, TF_NewKernelBuilder("None", "CPU", nullptr, none, nullptr)),
          calls);
  measure("get-input-set-output",
          make("Same", true, TF_NewKernelBuilder("Same", "CPU", nullptr, set_input, nullptr)),
          calls);
  measure("allocate-output",
          make("Fill", true, TF_NewKernelBuilder("Fill", "CPU", nullptr, allocate, nullptr)),
          calls);
  measure("views", make("Views", true, TF_NewKernelBuilder("Views", "CPU", nullptr, views, nullptr)),
          calls);
  measure("async",
          make("Later", false,
               TF_NewAsyncKernelBuilder("Later", "CPU", nullptr, done_at_once, nullptr)),
          calls);
  measure_handles(calls);
  return 0;
}

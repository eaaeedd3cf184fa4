// What the executor costs above the work of kernels, in nanoseconds per node:
//   plan_run [RUNS]
// prints one line per plan, "NAME NANOSECONDS", the least of several rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "drystone/kernel_views.h"
#include "drystone/kernels.h"
#include "drystone/sdk/wire.hpp"
#include "drystone/session.h"

namespace {

using drystone::wire::Writer;

// out = a + b, for one element.
void add(void*, TF_OpKernelContext* ctx) {
  DS_View a = DS_VIEW_INIT;
  DS_View b = DS_VIEW_INIT;
  DS_View out = DS_VIEW_INIT;
  if (DS_ViewInput(ctx, 0, &a) == 0 || DS_ViewInput(ctx, 1, &b) == 0) return;
  if (DS_NewOutput(ctx, 0, a.dims, a.rank, 0, &out) == 0) return;
  *static_cast<float*>(out.data) = *static_cast<float*>(a.data) + *static_cast<float*>(b.data);
}

// out = a < b, for one element.
void less(void*, TF_OpKernelContext* ctx) {
  DS_View a = DS_VIEW_INIT;
  DS_View b = DS_VIEW_INIT;
  DS_View out = DS_VIEW_INIT;
  if (DS_ViewInput(ctx, 0, &a) == 0 || DS_ViewInput(ctx, 1, &b) == 0) return;
  if (DS_NewOutput(ctx, 0, a.dims, a.rank, -1, &out) == 0) return;
  *static_cast<bool*>(out.data) = *static_cast<float*>(a.data) < *static_cast<float*>(b.data);
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

std::string arg(const char* name, TF_DataType dtype) {
  std::string out;
  Writer writer(&out);
  writer.bytes(1, name);
  writer.varint(3, dtype);
  return out;
}

std::string op_def(const char* op, TF_DataType result) {
  return message(1, op) + message(2, arg("a", TF_FLOAT)) + message(2, arg("b", TF_FLOAT)) +
         message(3, arg("c", result));
}

std::string packed(const std::vector<int>& values) {
  std::string out;
  for (const int value : values) Writer::pack(&out, static_cast<std::uint64_t>(value));
  return out;
}

std::string instruction(int kind, const char* op, int number, const std::vector<int>& inputs, int outputs,
                        const std::vector<int>& blocks = {}) {
  std::string out;
  Writer writer(&out);
  writer.varint(1, static_cast<std::uint64_t>(kind));
  writer.bytes(2, message(1, "node") + message(2, op));
  writer.varint(3, static_cast<std::uint64_t>(number));
  writer.bytes(4, packed(inputs));
  writer.varint(5, static_cast<std::uint64_t>(outputs));
  if (!blocks.empty()) writer.bytes(7, packed(blocks));
  return out;
}

std::string block(int feeds, const std::vector<std::string>& instructions, const std::vector<int>& fetches) {
  std::string out;
  Writer writer(&out);
  writer.varint(2, static_cast<std::uint64_t>(feeds));
  for (const std::string& in : instructions) writer.bytes(3, in);
  writer.bytes(4, packed(fetches));
  return out;
}

std::string plan(const std::vector<std::string>& blocks) {
  std::string out;
  Writer writer(&out);
  writer.varint(1, 1);
  writer.bytes(3, op_def("Plus", TF_FLOAT));
  writer.bytes(3, op_def("Below", TF_BOOL));
  for (const std::string& one : blocks) writer.bytes(4, one);
  return out;
}

// A chain of additions.
std::string chain(int nodes) {
  std::vector<std::string> instructions;
  for (int k = 0; k < nodes; ++k) {
    instructions.push_back(instruction(0, "Plus", 0, {k == 0 ? 0 : k + 1, 1}, 1));
  }
  return plan({block(2, instructions, {nodes + 1})});
}

// while (x < limit) x = x + step.
std::string loop() {
  const std::string body = instruction(0, "Plus", 0, {0, 1}, 1);
  return plan({block(3, {instruction(13, "While", 0, {0, 1, 2}, 3, {1, 2})}, {3}),
               block(3, {instruction(0, "Below", 1, {0, 2}, 1)}, {3}),
               block(3, {body}, {3, 1, 2})});
}

TF_Tensor* scalar(float value) {
  TF_Tensor* out = TF_AllocateTensor(TF_FLOAT, nullptr, 0, sizeof value);
  *static_cast<float*>(TF_TensorData(out)) = value;
  return out;
}

void measure(const char* name, const std::string& bytes, std::vector<TF_Tensor*> feeds, int runs, double nodes) {
  TF_Status* status = TF_NewStatus();
  DS_Session* session = DS_NewSession(nullptr, status);
  const TF_Buffer buffer{bytes.data(), bytes.size(), nullptr};
  DS_Plan* loaded = DS_NewPlan(session, &buffer, nullptr, 0, status);
  stop(status, name);
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int run = 0; run < runs; ++run) {
      TF_Tensor* fetch = nullptr;
      DS_RunPlan(loaded, nullptr, feeds.data(), static_cast<int>(feeds.size()), &fetch, 1, status);
      stop(status, name);
      TF_DeleteTensor(fetch);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / (runs * nodes));
  }
  std::printf("%s %.0f\n", name, best);
  DS_DeletePlan(loaded);
  DS_DeleteSession(session);
  for (TF_Tensor* feed : feeds) TF_DeleteTensor(feed);
  TF_DeleteStatus(status);
}

}  // namespace

int main(int count, char** arguments) {
  const int runs = count > 1 ? std::max(std::atoi(arguments[1]), 1) : 1000;
  TF_RegisterKernelBuilder("Plus", TF_NewKernelBuilder("Plus", "CPU", nullptr, add, nullptr), nullptr);
  TF_RegisterKernelBuilder("Below", TF_NewKernelBuilder("Below", "CPU", nullptr, less, nullptr), nullptr);
  measure("one-node", chain(1), {scalar(1), scalar(2)}, runs * 100, 1);
  measure("chain-per-node", chain(1000), {scalar(1), scalar(2)}, runs, 1000);
  measure("loop-per-iteration", loop(), {scalar(0), scalar(1), scalar(10000)}, std::max(runs / 10, 1), 10000);
  return 0;
}

// Blocks whose kernels run at once: random graphs give what they give in order, effects keep their
// order, the first failure is the run's, and several threads may run one plan.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "drystone/kernel_views.h"
#include "plans_help.h"

namespace {

using help::field;

constexpr int kWidth = 64;     // elements of every value
constexpr int kRuns = 20;      // the first ones are measured and compared
std::atomic<int> at_once{0};
std::atomic<int> most_at_once{0};
std::atomic<bool> fails{false};
int counter = 0;  // of a stateful op: runs in which it is not alone are a race

// c = a / 2 + b, in the memory of a where it may; takes a while.
void blend(void*, TF_OpKernelContext* ctx) {
  const int now = at_once.fetch_add(1) + 1;
  int most = most_at_once.load();
  while (now > most && !most_at_once.compare_exchange_weak(most, now)) continue;
  usleep(200);
  DS_View a = DS_VIEW_INIT;
  DS_View b = DS_VIEW_INIT;
  DS_View out = DS_VIEW_INIT;
  if (DS_ViewInput(ctx, 0, &a) != 0 && DS_ViewInput(ctx, 1, &b) != 0 &&
      DS_NewOutput(ctx, 0, a.dims, a.rank, 0, &out) != 0) {
    for (int k = 0; k < kWidth; ++k) {
      static_cast<float*>(out.data)[k] =
          static_cast<float*>(a.data)[k] / 2 + static_cast<float*>(b.data)[k];
    }
  }
  at_once.fetch_sub(1);
}

// c = a + b + how often it ran in this run.
void count(void*, TF_OpKernelContext* ctx) {
  DS_View a = DS_VIEW_INIT;
  DS_View b = DS_VIEW_INIT;
  DS_View out = DS_VIEW_INIT;
  if (DS_ViewInput(ctx, 0, &a) == 0 || DS_ViewInput(ctx, 1, &b) == 0) return;
  if (DS_NewOutput(ctx, 0, a.dims, a.rank, -1, &out) == 0) return;
  ++counter;
  for (int k = 0; k < kWidth; ++k) {
    static_cast<float*>(out.data)[k] = static_cast<float*>(a.data)[k] +
                                       static_cast<float*>(b.data)[k] + static_cast<float>(counter);
  }
}

// As blend, unless it is told to fail.
void fragile(void* state, TF_OpKernelContext* ctx) {
  if (!fails.load()) return blend(state, ctx);
  const help::Status status;
  TF_SetStatus(status, TF_INVALID_ARGUMENT, "told to fail");
  TF_OpKernelContext_Failure(ctx, status);
}

enum Op { kBlend, kCount, kFragile };
constexpr const char* kOps[] = {"Blend", "Count", "Fragile"};

std::string op_def(Op op) {
  return field(1, kOps[op]) + field(2, help::arg("a", TF_FLOAT)) + field(2, help::arg("b", TF_FLOAT)) +
         field(3, help::arg("c", TF_FLOAT)) + (op == kCount ? field(17, std::uint64_t{1}) : "");
}

std::string instruction(Op op, int number, int a, int b) {
  const std::string name = "n" + std::to_string(number);
  return help::binary(name, kOps[op], a, b, field(3, static_cast<std::uint64_t>(op)));
}

std::string whole_plan(const std::vector<std::string>& instructions, const std::vector<int>& fetches) {
  std::string block = field(2, std::uint64_t{2});
  for (const std::string& one : instructions) block += field(3, one);
  block += field(4, help::packed(fetches));
  return field(1, std::uint64_t{1}) + field(3, op_def(kBlend)) + field(3, op_def(kCount)) +
         field(3, op_def(kFragile)) + field(4, block);
}

// A random graph of two feeds.
std::string random_plan(unsigned seed, bool with_effects, bool is_fragile) {
  std::mt19937 random(seed);
  const int nodes = 24;
  std::vector<std::string> instructions;
  for (int k = 0; k < nodes; ++k) {
    const auto pick = [&] { return static_cast<int>(random() % static_cast<unsigned>(k + 2)); };
    Op op = with_effects && random() % 3 == 0 ? kCount : kBlend;
    if (is_fragile && k == nodes / 2) op = kFragile;
    const int a = pick();
    instructions.push_back(instruction(op, k, a, pick()));
  }
  return whole_plan(instructions, {nodes + 1, nodes, nodes / 2 + 1});
}

using Values = std::vector<std::vector<float>>;

struct Plan : help::LoadedPlan {
  Plan(const std::string& bytes, int inter_op_threads)
      : LoadedPlan(bytes, inter_op_threads, 0) {
    if (plan == nullptr) std::fprintf(stderr, "plan: %s\n", status.text().c_str());
    CHECK(plan != nullptr);
  }

  // Nothing when it fails.
  Values run(const help::Status& status, TF_Buffer* trace = nullptr) const {
    TF_Tensor* feeds[] = {help::floats(std::vector<float>(kWidth, 1)), help::floats(std::vector<float>(kWidth, 3))};
    TF_Tensor* fetches[3] = {};
    DS_RunOptions options{};
    options.struct_size = DS_RUN_OPTIONS_STRUCT_SIZE;
    options.trace = trace;
    DS_RunPlan(plan, &options, feeds, 2, fetches, 3, status);
    Values out;
    for (TF_Tensor* fetch : fetches) {
      CHECK((fetch != nullptr) == status.ok());
      if (fetch != nullptr) out.push_back(help::floats_of(fetch));
      TF_DeleteTensor(fetch);
    }
    for (TF_Tensor* feed : feeds) TF_DeleteTensor(feed);
    return out;
  }
};

void check_random(unsigned seed, bool with_effects) {
  const std::string bytes = random_plan(seed, with_effects, false);
  const Plan in_order(bytes, 1);
  const Plan parallel(bytes, 4);
  const help::Status status;
  counter = 0;
  const Values wanted = in_order.run(status);
  for (int k = 0; k < kRuns; ++k) {
    counter = 0;
    CHECK(parallel.run(status) == wanted);
    CHECK(status.ok());
  }
}

void check_failure() {
  const Plan plan(random_plan(7, false, true), 4);
  const help::Status status;
  const Values wanted = plan.run(status);
  for (int k = 0; k < kRuns; ++k) {
    fails = k % 3 == 2;
    const Values found = plan.run(status);
    if (fails) CHECK(status.says(TF_INVALID_ARGUMENT, "node 'n12'"));
    else CHECK(found == wanted);
  }
  fails = false;
}

void check_threads() {
  const Plan plan(random_plan(8, false, false), 4);
  const help::Status first;
  const Values wanted = plan.run(first);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      const help::Status status;
      for (int k = 0; k < kRuns; ++k) {
        if (plan.run(status) != wanted) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

void check_trace() {
  const Plan plan(random_plan(9, false, false), 4);
  const help::Status status;
  for (int k = 0; k < kRuns; ++k) plan.run(status);
  TF_Buffer trace{};
  plan.run(status, &trace);
  const std::string text(static_cast<const char*>(trace.data), trace.length);
  trace.data_deallocator(const_cast<void*>(trace.data), trace.length);
  CHECK(text.starts_with("{\"events\":[["));
  std::size_t events = 0;
  for (std::size_t at = text.find("]]]"); at != std::string::npos; at = text.find("]]]", at + 1)) ++events;
  CHECK(events > 0);
}

}  // namespace

int main() {
  setenv("DRYSTONE_NUM_THREADS", "4", 1);
  void (*const computes[])(void*, TF_OpKernelContext*) = {blend, count, fragile};
  for (int op = 0; op < 3; ++op) {
    help::must_register(TF_NewKernelBuilder(kOps[op], "CPU", nullptr, computes[op], nullptr), kOps[op]);
  }
  for (unsigned seed = 0; seed < 4; ++seed) check_random(seed, seed % 2 == 1);
  CHECK(most_at_once > 1);
  check_failure();
  check_threads();
  check_trace();
  return help::report();
}

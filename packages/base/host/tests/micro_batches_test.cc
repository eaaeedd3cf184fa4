// Plans that run some examples of a batch at a time: sizes of batches, rows that are not aligned, what
// is not as the plan says, failures, and the end of a run.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "drystone/kernel_views.h"
#include "executor/micro_batches.h"
#include "plans_help.h"

namespace {

using drystone::host::executor::micro_batch_size;
using drystone::host::executor::MicroBatches;
using help::field;

std::atomic<int> calls{0};
bool is_slow = false;
std::mutex mutex;
std::set<std::thread::id> threads;    // that ran a kernel; under the mutex
std::int64_t fails_from = -1;        // rows of an input for which the kernel fails
float fails_at = -1;                 // first element of one
bool adds_a_row = false;             // what no op may do that has rows of examples
DS_Cancellation* cancels = nullptr;  // in its first call

// c = a + b, row by row; b may be one row.
void add(void*, TF_OpKernelContext* ctx) {
  ++calls;
  if (is_slow) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  }
  if (is_slow) usleep(2000);
  DS_View a = DS_VIEW_INIT;
  DS_View b = DS_VIEW_INIT;
  DS_View out = DS_VIEW_INIT;
  if (DS_ViewInput(ctx, 0, &a) == 0 || DS_ViewInput(ctx, 1, &b) == 0) return;
  DS_Cancel(cancels);
  const bool is_due = a.dims[0] > 0 && static_cast<float*>(a.data)[0] == fails_at;
  if (is_due || (fails_from >= 0 && a.dims[0] >= fails_from)) {
    const help::Status status;
    TF_SetStatus(status, TF_INVALID_ARGUMENT, ("rows: " + std::to_string(a.dims[0])).c_str());
    return TF_OpKernelContext_Failure(ctx, status);
  }
  const std::int64_t dims[] = {a.dims[0] + (adds_a_row ? 1 : 0), a.dims[1]};
  if (DS_NewOutput(ctx, 0, dims, 2, -1, &out) == 0) return;
  const auto* x = static_cast<const float*>(a.data);
  const auto* y = static_cast<const float*>(b.data);
  auto* z = static_cast<float*>(out.data);
  for (std::int64_t k = 0; k < dims[0] * dims[1]; ++k) {
    const std::int64_t row = k / dims[1];
    z[k] = row >= a.dims[0] ? 0 : x[k] + y[b.dims[0] == 1 ? k % dims[1] : k];
  }
}

// What a plan may say of itself, rightly or not.
struct Said {
  std::vector<int> feeds = {1, 0};
  std::vector<int> fetches = {1, 1, 0};
  std::uint64_t bytes = 8;
  std::uint64_t least = 1;
  std::uint64_t kind = 0;  // of the last node
};

// Feeds x and bias; y = x + bias, z = y + x. Fetches y, z, bias.
std::string plan_bytes(const Said& said) {
  const std::string op_def = field(1, "Plus") + field(2, help::arg("a", TF_FLOAT)) +
                             field(2, help::arg("b", TF_FLOAT)) + field(3, help::arg("c", TF_FLOAT));
  const std::string block = field(2, std::uint64_t{2}) + field(3, help::binary("y", "Plus", 0, 1, "")) +
                            field(3, help::binary("z", "Plus", 2, 0, field(1, said.kind))) + field(4, help::packed({2, 3, 1})) +
                            field(8, help::packed(said.feeds)) + field(9, help::packed(said.fetches)) +
                            field(10, said.bytes) + field(11, said.least);
  return field(1, std::uint64_t{1}) + field(3, op_def) + field(4, block);
}

TF_Tensor* matrix(std::int64_t rows, std::int64_t columns, float first) {
  const std::int64_t dims[] = {rows, columns};
  const auto count = static_cast<std::size_t>(rows * columns);
  TF_Tensor* out = TF_AllocateTensor(TF_FLOAT, dims, 2, count * sizeof(float));
  for (std::size_t k = 0; k < count; ++k) {
    static_cast<float*>(TF_TensorData(out))[k] = first + static_cast<float>(k);
  }
  return out;
}

struct Found {
  std::vector<float> y, z, bias;
  bool operator==(const Found&) const = default;
};

struct Plan : help::LoadedPlan {
  explicit Plan(std::int64_t micro_batch_bytes, const Said& said = {}, int at_once = 1)
      : LoadedPlan(plan_bytes(said), at_once, micro_batch_bytes) {}

  // Also says in `calls` how often a kernel ran.
  Found run(std::int64_t rows, std::int64_t columns = 2, std::int64_t biases = 1,
            DS_Cancellation* cancellation = nullptr) const {
    calls = 0;
    TF_Tensor* feeds[] = {matrix(rows, columns, 1), matrix(biases, columns, 100)};
    TF_Tensor* fetches[3] = {};
    DS_RunOptions options{};
    options.struct_size = DS_RUN_OPTIONS_STRUCT_SIZE;
    options.cancellation = cancellation;
    DS_RunPlan(plan, &options, feeds, 2, fetches, 3, status);
    Found out;
    std::vector<float>* values[] = {&out.y, &out.z, &out.bias};
    for (int k = 0; k < 3; ++k) {
      CHECK((fetches[k] != nullptr) == status.ok());
      if (fetches[k] != nullptr) *values[k] = help::floats_of(fetches[k]);
      if (fetches[k] != nullptr && k < 2 && !adds_a_row) CHECK(TF_Dim(fetches[k], 0) == rows);
      TF_DeleteTensor(fetches[k]);
    }
    for (TF_Tensor* feed : feeds) TF_DeleteTensor(feed);
    return out;
  }
};

void check_sizes() {
  const MicroBatches batches{{1}, {1}, 1000, 4};
  CHECK(micro_batch_size(batches, 16, 1, 1) == 1);
  CHECK(micro_batch_size(batches, 16, 2000, 1) == 2);
  CHECK(micro_batch_size(batches, 16, 6000, 1) == 4);      // all of one size
  CHECK(micro_batch_size(batches, 17, 6000, 1) == 6);      // 6, 6, 5
  CHECK(micro_batch_size(batches, 13, 5000, 1) == 5);      // 5, 5, 3
  CHECK(micro_batch_size(batches, 16, 15'999, 1) == 8);
  CHECK(micro_batch_size(batches, 16, 16'000, 1) == 16);
  CHECK(micro_batch_size(batches, 100, 16'000, 17) == 100);  // 16 fit: 17 would pay
  CHECK(micro_batch_size(batches, 100, 16'000, 16) == 15);
}

void check_results() {
  const Plan whole(-1);
  for (const std::int64_t columns : {2, 16}) {  // rows of 8 bytes are not aligned, of 64 are
    for (const std::int64_t rows : {0, 1, 2, 7, 16, 17}) {
      const Found wanted = whole.run(rows, columns);
      CHECK(calls == 2);
      for (const std::int64_t room : {1, 16, 24, 1000}) {
        const Plan plan(room);
        CHECK(plan.run(rows, columns) == wanted);
        CHECK(plan.status.ok());
        CHECK(room > 1 || calls == 2 * std::max<std::int64_t>(rows, 1));
      }
    }
  }
}

void check_rows_of_examples() {
  const Plan plan(1, {{4, 0}, {4, 4, 0}, 8, 1, 0});
  const Plan whole(-1);
  CHECK(plan.run(12) == whole.run(12));
  plan.run(12);
  CHECK(calls == 2 * 3);
  CHECK(plan.run(14) == whole.run(14));  // no whole number of examples
  plan.run(14);
  CHECK(calls == 2);
  const Plan both(1, {{1, 1}, {1, 1, 1}, 8, 1, 0});
  CHECK(both.run(5, 2, 5) == whole.run(5, 2, 5));
  both.run(5, 2, 5);
  CHECK(calls == 2 * 5);
  both.run(0, 2, 5);  // none beside five: nothing is read
  CHECK(calls == 2);
  CHECK(both.run(5, 2, 1) == whole.run(5, 2, 1));  // one row for all: as a whole
  both.run(5, 2, 1);
  CHECK(calls == 2);
}

void check_what_is_not_as_said() {
  constexpr std::uint64_t kSwitch = 1;
  const Plan with_frames(1, {{1, 0}, {1, 1, 0}, 8, 1, kSwitch});
  CHECK(with_frames.plan != nullptr);  // it runs as a whole
  adds_a_row = true;
  const Plan plan(1);
  const Plan whole(-1);
  CHECK(plan.run(3) == whole.run(3));
  adds_a_row = false;
}

void check_failures() {
  const Plan plan(8);
  fails_from = 0;
  plan.run(6);
  CHECK(plan.status.says(TF_INVALID_ARGUMENT, "rows: 6"));  // what the caller gave
  fails_from = 2;  // only the last run, of all, fails: no micro-batch does
  plan.run(6);
  CHECK(plan.status.ok());
  fails_from = -1;
  cancels = DS_NewCancellation();
  plan.run(6, 2, 1, cancels);
  CHECK(plan.status.says(TF_CANCELLED, ""));
  CHECK(calls == 1);
  DS_DeleteCancellation(std::exchange(cancels, nullptr));
  plan.run(6);
  CHECK(plan.status.ok());
}

// Four threads take micro-batches of their own.
void check_threads() {
  const Plan whole(-1);
  const Plan plan(8, {}, 4);
  is_slow = true;
  for (const std::int64_t rows : {4, 7, 16, 64}) CHECK(plan.run(rows) == whole.run(rows));
  threads.clear();
  plan.run(16);
  CHECK(threads.size() > 1);
  CHECK(calls == 2 * 16);
  plan.run(5);  // five for four threads: two rounds, in which three do nothing
  CHECK(calls == 2 * 5);
  fails_at = 1 + 2 * 9;  // of row 9, and of no whole batch
  CHECK(plan.run(16) == whole.run(16));
  CHECK(plan.status.ok());
  fails_at = -1;
  fails_from = 0;
  plan.run(16);
  CHECK(plan.status.says(TF_INVALID_ARGUMENT, "rows: 16"));
  fails_from = -1;
  cancels = DS_NewCancellation();
  plan.run(64, 2, 1, cancels);
  CHECK(plan.status.says(TF_CANCELLED, ""));
  CHECK(calls <= 4);
  DS_DeleteCancellation(std::exchange(cancels, nullptr));
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  const Found wanted = whole.run(16);
  for (int k = 0; k < 3; ++k) {
    callers.emplace_back([&] {
      const Plan own(8, {}, 4);
      for (int again = 0; again < 5; ++again) wrong += own.run(16) == wanted ? 0 : 1;
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
  is_slow = false;
}

void check_malformed() {
  for (const Said& said : {Said{{1}, {1, 1, 0}, 8, 1, 0}, Said{{1, 0}, {1, 1}, 8, 1, 0},
                           Said{{0, 0}, {1, 1, 0}, 8, 1, 0}, Said{{1, 0}, {0, 0, 0}, 8, 1, 0},
                           Said{{1, 0}, {1, 1, 0}, 0, 1, 0}, Said{{1, 0}, {1, 1, 0}, 8, 0, 0},
                           Said{{-1, 1}, {1, 1, 0}, 8, 1, 0}}) {
    const Plan plan(1, said);
    CHECK(plan.plan == nullptr);
    CHECK(plan.status.says(TF_INVALID_ARGUMENT, "its micro-batches do not fit its first block"));
  }
}

}  // namespace

int main() {
  setenv("DRYSTONE_NUM_THREADS", "4", 1);
  help::must_register(TF_NewKernelBuilder("Plus", "CPU", nullptr, add, nullptr), "Plus");
  check_sizes();
  check_results();
  check_rows_of_examples();
  check_what_is_not_as_said();
  check_failures();
  check_threads();
  check_malformed();
  return help::report();
}

// Runs plans from many threads: plans_stress KERNELS.so SECONDS THREADS PLAN...
//
// Plans have no feeds. Each is run by all threads on one session and by each thread on its own, with
// cancellations and deadlines at random. A plan whose name has ".stateless." must give the same bytes, or
// fail with the same code, whenever it is not stopped; one that gives some is a region of the host's
// own backend, too, whose calls overlap in one arena. Built with sanitizers by nox -s sanitize.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "drystone/session.h"
#include "drystone/tstring.h"
#include "drystone_host/core.h"
#include "drystone_host/library.h"
#include "drystone_host/subgraph.h"

namespace {

using Clock = std::chrono::steady_clock;

struct DeleteStatus {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
};
using Status = std::unique_ptr<TF_Status, DeleteStatus>;
Status new_status() { return Status(TF_NewStatus()); }

[[noreturn]] void stop(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void load_kernels(const char* path) {
  const Status status = new_status();
  DS_Library* library = DS_OpenLibrary(path, status.get());
  if (TF_GetCode(status.get()) == TF_OK) DS_InitLibrary(library, "TF_InitKernel", status.get());
  if (TF_GetCode(status.get()) != TF_OK) stop(TF_Message(status.get()));
}

// A session with one plan.
class Loaded {
 public:
  explicit Loaded(const std::string& bytes) {
    const Status status = new_status();
    session_ = DS_NewSession(nullptr, status.get());
    TF_Buffer* buffer = TF_NewBufferFromString(bytes.data(), bytes.size());
    plan_ = DS_NewPlan(session_, buffer, nullptr, 0, status.get());
    TF_DeleteBuffer(buffer);
    if (plan_ == nullptr) message_ = TF_Message(status.get());
  }
  ~Loaded() {
    DS_DeletePlan(plan_);
    DS_DeleteSession(session_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  DS_Plan* plan() const { return plan_; }
  DS_Session* session() const { return session_; }
  const std::string& message() const { return message_; }

 private:
  DS_Session* session_ = nullptr;
  DS_Plan* plan_ = nullptr;
  std::string message_;
};

void append(const TF_Tensor* tensor, std::string* out) {
  for (int d = 0; d < TF_NumDims(tensor); ++d) *out += std::to_string(TF_Dim(tensor, d)) + ",";
  const char* data = static_cast<const char*>(TF_TensorData(tensor));
  if (TF_TensorType(tensor) != TF_STRING) {
    if (TF_TensorByteSize(tensor) > 0) out->append(data, TF_TensorByteSize(tensor));
    return;
  }
  const auto* strings = reinterpret_cast<const TF_TString*>(data);
  for (std::int64_t k = 0; k < TF_TensorElementCount(tensor); ++k) {
    out->append(TF_TString_GetDataPointer(&strings[k]), TF_TString_GetSize(&strings[k]));
  }
}

struct Answer {
  TF_Code code = TF_OK;
  std::string bytes;  // or the message
  std::vector<TF_DataType> types;
};

Answer run(DS_Plan* plan, const DS_RunOptions* options) {
  const Status status = new_status();
  std::vector<TF_Tensor*> fetches(static_cast<std::size_t>(DS_PlanNumFetches(plan)));
  DS_RunPlan(plan, options, nullptr, 0, fetches.data(), static_cast<int>(fetches.size()),
             status.get());
  Answer out{TF_GetCode(status.get()), TF_Message(status.get()), {}};
  for (TF_Tensor* fetch : fetches) {
    if (fetch != nullptr) append(fetch, &out.bytes);
    if (fetch != nullptr) out.types.push_back(TF_TensorType(fetch));
    TF_DeleteTensor(fetch);
  }
  return out;
}

// A plan as the executable of an operator without inputs.
class Region {
 public:
  Region(const std::string& bytes, const std::vector<TF_DataType>& types)
      : outputs_(types.size()) {
    const Status status = new_status();
    number_ = DS_NewOperator(DS_PlanBackend(), DS_PlanFns(), 0, nullptr, 0, types.data(),
                             static_cast<std::int32_t>(outputs_), status.get());
    TF_Buffer* buffer = TF_NewBufferFromString(bytes.data(), bytes.size());
    DS_PlanExecutableDef def{};
    def.struct_size = DS_PLAN_EXECUTABLE_DEF_STRUCT_SIZE;
    def.plan = buffer;
    void* made = DS_NewPlanExecutable(&def, status.get());
    TF_DeleteBuffer(buffer);
    if (made == nullptr) stop(TF_Message(status.get()));
    executable_ = DS_AddExecutable(number_, made, nullptr, 0, nullptr, status.get());
    if (TF_GetCode(status.get()) != TF_OK) stop(TF_Message(status.get()));
  }
  ~Region() { DS_DeleteOperator(number_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  Answer run() const {
    std::vector<TF_Tensor*> fetches(outputs_);
    Answer out;
    if (!DS_RunOperator(number_, nullptr, 0, fetches.data(), static_cast<int>(outputs_))) {
      return {TF_INTERNAL, "the region computed nothing", {}};
    }
    for (TF_Tensor* fetch : fetches) {
      append(fetch, &out.bytes);
      TF_DeleteTensor(fetch);
    }
    return out;
  }
  bool has_arena() const {
    const Status status = new_status();
    DS_ExecutableState state{};
    state.struct_size = DS_EXECUTABLE_STATE_STRUCT_SIZE;
    DS_DescribeExecutable(number_, executable_, &state, status.get());
    return state.arena > 0;
  }

 private:
  std::size_t outputs_;
  std::int64_t number_ = -1;
  std::int64_t executable_ = -1;
};

bool was_stopped(TF_Code code) { return code == TF_CANCELLED || code == TF_DEADLINE_EXCEEDED; }

struct Subject {
  std::string name;
  std::string bytes;
  bool is_stateless = false;
  Answer first;
  std::unique_ptr<Loaded> shared;
  std::unique_ptr<Region> region;  // NULL: it has state, or fails
};

struct Stress {
  std::vector<Subject> subjects;
  std::atomic<std::int64_t> runs{0}, stopped{0}, failed{0}, wrong{0};
  Clock::time_point end;

  void judge(const Subject& subject, const Answer& answer) {
    runs.fetch_add(1);
    if (was_stopped(answer.code)) stopped.fetch_add(1);
    else if (answer.code != TF_OK) failed.fetch_add(1);
    if (!subject.is_stateless || was_stopped(answer.code)) return;
    if (answer.code == subject.first.code &&
        (answer.code != TF_OK || answer.bytes == subject.first.bytes)) return;
    if (wrong.fetch_add(1) < 10) {
      std::fprintf(stderr, "%s: code %d, first %d: %s\n", subject.name.c_str(), answer.code,
                   subject.first.code, answer.code != TF_OK ? answer.bytes.c_str() : "other bytes");
    }
  }

  // One run, which may be cancelled by another thread, or have a short time.
  void once(Subject& subject, DS_Plan* plan, std::mt19937& rng) {
    DS_RunOptions options{};
    options.struct_size = DS_RUN_OPTIONS_STRUCT_SIZE;
    const auto chance = rng() % 8;
    if (chance == 0) options.deadline_ms = 1 + static_cast<std::int64_t>(rng() % 3);
    if (chance != 1) return judge(subject, run(plan, &options));
    options.cancellation = DS_NewCancellation();
    const auto wait = std::chrono::microseconds(rng() % 2000);
    std::thread canceller([&] {
      std::this_thread::sleep_for(wait);
      DS_Cancel(options.cancellation);
    });
    judge(subject, run(plan, &options));
    canceller.join();
    DS_DeleteCancellation(options.cancellation);
  }

  // Makes a region of it, which has laid its arena out.
  void add_region(Subject& subject) {
    constexpr int kUntilLaidOut = 4;
    subject.region = std::make_unique<Region>(subject.bytes, subject.first.types);
    for (int k = 0; k < kUntilLaidOut; ++k) judge(subject, subject.region->run());
  }

  void work(unsigned seed) {
    std::mt19937 rng(seed);
    while (Clock::now() < end) {
      Subject& subject = subjects[rng() % subjects.size()];
      const auto chance = rng() % 16;
      if (chance < 6 && subject.region != nullptr) {
        for (int k = 0; k < 4; ++k) judge(subject, subject.region->run());
      } else if (chance == 15) {
        const Loaded own(subject.bytes);
        once(subject, own.plan(), rng);
        DS_ResetSession(own.session());
        once(subject, own.plan(), rng);
      } else {
        for (int k = 0; k < 4; ++k) once(subject, subject.shared->plan(), rng);
      }
    }
  }
};

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) stop(std::string(path) + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

void report_live() {
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  std::printf("live: %lld tensors, %lld kernels\n", static_cast<long long>(live.tensors),
              static_cast<long long>(live.kernels));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) stop("usage: plans_stress KERNELS.so SECONDS THREADS PLAN...");
  load_kernels(arguments[1]);
  Stress stress;
  for (int k = 4; k < count; ++k) {
    Subject subject;
    subject.name = arguments[k];
    subject.is_stateless = subject.name.find(".stateless.") != std::string::npos;
    subject.bytes = read_file(arguments[k]);
    subject.shared = std::make_unique<Loaded>(subject.bytes);
    if (subject.shared->plan() == nullptr) {
      std::printf("left out: %s: %s\n", subject.name.c_str(), subject.shared->message().c_str());
      continue;
    }
    subject.first = run(subject.shared->plan(), nullptr);
    if (subject.is_stateless && subject.first.code == TF_OK && !subject.first.types.empty()) {
      stress.add_region(subject);
    }
    stress.subjects.push_back(std::move(subject));
  }
  stress.end = Clock::now() + std::chrono::seconds(std::atoi(arguments[2]));
  std::vector<std::thread> threads;
  for (int k = 0; k < std::max(1, std::atoi(arguments[3])); ++k) {
    threads.emplace_back([&stress, k] { stress.work(static_cast<unsigned>(k)); });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%zu plans, %lld runs, %lld stopped, %lld failed, %lld wrong\n",
              stress.subjects.size(), static_cast<long long>(stress.runs),
              static_cast<long long>(stress.stopped), static_cast<long long>(stress.failed),
              static_cast<long long>(stress.wrong));
  const auto laid_out = std::count_if(
      stress.subjects.begin(), stress.subjects.end(),
      [](const Subject& s) { return s.region != nullptr && s.region->has_arena(); });
  std::printf("%lld regions with an arena\n", static_cast<long long>(laid_out));
  stress.subjects.clear();
  report_live();
  return stress.wrong == 0 ? 0 : 1;
}

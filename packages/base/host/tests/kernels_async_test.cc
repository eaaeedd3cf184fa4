// Asynchronous kernels, deferred work, deadlines, and many threads at once. Built with sanitizers.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "kernels_help.h"

namespace {

using namespace help;
using namespace std::chrono_literals;

const Op kOne{"One", {arg("x", TF_FLOAT)}, {arg("y", TF_FLOAT)}, {}};
const Op kLater{"Later", {arg("x", TF_FLOAT)}, {arg("y", TF_FLOAT)}, {}};

std::vector<std::thread> threads;

void join() {
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

void pass_on(TF_OpKernelContext* ctx) {
  Status status;
  TF_Tensor* x = nullptr;
  TF_GetInput(ctx, 0, &x, status);
  TF_SetOutput(ctx, 0, x, status);
  CHECK(status.ok());
  TF_DeleteTensor(x);
}

// Runs a kernel once and answers the status' code; the output goes unless it is wanted.
TF_Code run(DS_Kernel* kernel, TF_Tensor* x, int64_t deadline_ms, const char* text = "",
            TF_Tensor** wanted = nullptr) {
  Status status;
  DS_KernelCall facts = call();
  facts.deadline_ms = deadline_ms;
  TF_Tensor* y = nullptr;
  DS_RunKernel(kernel, &facts, &x, 1, &y, 1, status);
  if (*text != '\0') CHECK(status.says(status.code(), text));
  if (wanted != nullptr) *wanted = y;
  else TF_DeleteTensor(y);
  return status.code();
}

void test_async(TF_Tensor* x) {
  DS_Kernel* kernel = must_make(kLater, {"Later", {}, {}});
  on_async = [](TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
    threads.emplace_back([ctx, done] {
      std::this_thread::sleep_for(5ms);
      pass_on(ctx);
      TF_RunAsyncOpKernelDoneCallback(done);
      TF_RunAsyncOpKernelDoneCallback(done);  // ignored
    });
  };
  for (int k = 0; k < 3; ++k) CHECK(run(kernel, x, 0) == TF_OK);
  join();
  on_async = [](TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
    pass_on(ctx);
    TF_RunAsyncOpKernelDoneCallback(done);
  };
  for (int k = 0; k < 3000; ++k) CHECK(run(kernel, x, 0) == TF_OK);  // callbacks are used again
  on_async = [](TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
    Status why;
    TF_SetStatus(why, TF_UNAVAILABLE, "busy");
    TF_OpKernelContext_Failure(ctx, why);
    TF_RunAsyncOpKernelDoneCallback(done);
  };
  CHECK(run(kernel, x, 0, "node 'node' (op Later, kernel 'Async' of the host program): busy") ==
        TF_UNAVAILABLE);
  TF_RunAsyncOpKernelDoneCallback(nullptr);
  DS_DeleteKernel(kernel);
}

void test_deadline(TF_Tensor* x) {
  DS_Kernel* kernel = must_make(kLater, {"Later", {}, {}});
  std::atomic<bool> go{false};
  on_async = [&](TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
    threads.emplace_back([&go, ctx, done] {
      while (!go) std::this_thread::sleep_for(1ms);
      Status status;
      TF_Buffer* out = TF_NewBuffer();
      TF_GetSerializedConfigProto(ctx, out, status);
      CHECK(status.ok() && take(out).empty());
      CHECK(text_of(TF_GetResourceMgrDefaultContainerName(ctx)) == "localhost");
      pass_on(ctx);
      TF_RunAsyncOpKernelDoneCallback(done);
      TF_RunAsyncOpKernelDoneCallback(done);
    });
  };
  CHECK(run(kernel, x, 20, "was not done after 20 ms") == TF_DEADLINE_EXCEEDED);
  DS_DeleteKernel(kernel);  // the call that was given up still has it
  CHECK(deleted == created - 1);
  go = true;
  join();
  CHECK(deleted == created);
}

void test_async_throws(TF_Tensor* x) {
  DS_Kernel* kernel = must_make(kLater, {"Later", {}, {}});
  TF_AsyncOpKernelDoneCallback* later = nullptr;
  on_async = [&](TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback* done) {
    later = done;
    throw std::runtime_error("early");
  };
  CHECK(run(kernel, x, 0, "its compute function threw a C++ exception: early") == TF_INTERNAL);
  TF_RunAsyncOpKernelDoneCallback(later);  // whoever had it calls after all
  on_async = [](TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
    pass_on(ctx);
    TF_RunAsyncOpKernelDoneCallback(done);
    throw std::runtime_error("late");
  };
  CHECK(run(kernel, x, 0, "exception: late") == TF_INTERNAL);
  DS_DeleteKernel(kernel);
}

void test_deferred(TF_Tensor* x) {
  DS_Kernel* kernel = must_make(kOne, {"One", {}, {}});
  std::atomic<int> over{0};
  on_compute = [&](TF_OpKernelContext* ctx) {
    pass_on(ctx);
    TF_DecNumDeferredOps(ctx);  // without its Inc: ignored
    for (int k = 0; k < 2; ++k) {
      TF_IncNumDeferredOps(ctx);
      threads.emplace_back([&over, ctx] {
        std::this_thread::sleep_for(5ms);
        ++over;
        TF_DecNumDeferredOps(ctx);
      });
    }
  };
  CHECK(run(kernel, x, 0) == TF_OK && over == 2);
  join();
  std::atomic<bool> go{false};
  on_compute = [&](TF_OpKernelContext* ctx) {
    pass_on(ctx);
    TF_IncNumDeferredOps(ctx);
    threads.emplace_back([&go, ctx] {
      while (!go) std::this_thread::sleep_for(1ms);
      TF_DecNumDeferredOps(ctx);
    });
  };
  CHECK(run(kernel, x, 20, "was not done after 20 ms") == TF_DEADLINE_EXCEEDED);
  go = true;
  join();
  TF_IncNumDeferredOps(nullptr);
  TF_DecNumDeferredOps(nullptr);
  on_compute = nullptr;
  DS_DeleteKernel(kernel);
}

void test_threads(TF_Tensor* x) {
  DS_Kernel* kernel = must_make(kOne, {"One", {}, {}});
  on_compute = pass_on;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) good += run(kernel, x, 0) == TF_OK;
    });
  }
  join();
  CHECK(good == 2000);
  on_compute = nullptr;
  DS_DeleteKernel(kernel);
}

// Registering, listing and running from several threads at once.
void test_registry_threads() {
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int k = 0; k < 50; ++k) {
        const std::string op = "T" + std::to_string(t) + "_" + std::to_string(k);
        Status status;
        TF_RegisterKernelBuilder(
            "t", TF_NewKernelBuilder(op.c_str(), "CPU", nullptr, compute, nullptr), status);
        CHECK(status.ok());
        TF_Buffer* json = TF_NewBuffer();
        DS_ListKernels(nullptr, json, status);
        CHECK(status.ok() && take(json).find('"' + op + '"') != std::string::npos);
      }
    });
  }
  join();
}

}  // namespace

int main() {
  register_op("One");
  must_register(TF_NewAsyncKernelBuilder("Later", "CPU", create, compute_async, destroy), "Async");
  TF_Tensor* x = floats({1, 2});
  for (auto* test : {test_async, test_deadline, test_async_throws, test_deferred, test_threads}) {
    test(x);
  }
  test_registry_threads();
  TF_DeleteTensor(x);
  CHECK(created == deleted);
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.tensors == 0 && live.memory_blocks == 0 && live.kernels == 0);
  return help::report();
}

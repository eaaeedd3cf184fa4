// Operators of regions that a backend of a plugin compiled: see drystone_host/subgraph.h.
#ifndef DRYSTONE_HOST_SUBGRAPH_OPERATOR_H_
#define DRYSTONE_HOST_SUBGRAPH_OPERATOR_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/failure.h"
#include "core/plugin_call.h"
#include "core/status.h"
#include "core/tensor.h"
#include "drystone/subgraph.h"
#include "drystone_host/subgraph.h"

namespace drystone::host::subgraph {

// Functions and data of a backend, which live as long as its library.
struct Backend {
  const DS_SubgraphBackend* itself = nullptr;
  const DS_SubgraphFns* fns = nullptr;

  // Nothing leaves it, whatever the plugin throws. NULL is ignored.
  void destroy(void* executable) const noexcept;
};

// Calls a function of a plugin's; what it throws becomes a status.
template <class Call>
void calling(TF_Status* status, Call&& call) {
  const PluginCall running("a function of a subgraph backend", "");
  try {
    std::forward<Call>(call)();
  } catch (const std::exception& error) {
    set(status, TF_INTERNAL, "it threw a C++ exception", error.what());
  } catch (...) {
    set(status, TF_INTERNAL, "it threw a C++ exception", "of unknown type");
  }
}

// Whether executables are plans: calls may overlap, and a failure is the run's own.
bool is_plan_backend(const DS_SubgraphFns* fns);
// How many bytes the memory has that its runs share; 0: not laid out.
std::int64_t arena_of_plan(void* executable);

using Shapes = std::vector<std::vector<std::int64_t>>;

// What is known of a shape: a rank, or below 0, and dimensions, of which those below 0 are unknown.
struct Expected {
  std::int64_t rank = -1;
  std::vector<std::int64_t> dims;

  bool admits(const TF_Tensor& tensor) const;
  std::string text() const;
};

// One specialisation. Calls take turns, but for those of plans.
class Executable {
 public:
  Executable(Backend backend, void* handle, Shapes shapes, std::vector<std::int64_t> versions)
      : backend_(backend), is_plan_(is_plan_backend(backend.fns)), handle_(handle),
        shapes_(std::move(shapes)), versions_(std::move(versions)) {}
  ~Executable() { destroy(); }
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  bool fits(TF_Tensor* const* inputs) const;
  // Whether it computed the outputs; they are the caller's then, and NULL otherwise. `weights`: the
  // inputs whose versions are `versions`. Throws what made a plan fail.
  bool compute(TF_Tensor* const* inputs, const std::vector<std::int32_t>& weights,
               const std::int64_t* versions, TF_Tensor** outputs,
               const std::vector<TF_DataType>& types);
  // Ends it, or has the call do so that is under way, for which no caller waits: it may never return.
  void destroy() noexcept;
  // Those of its outputs, from now on.
  void expect(std::vector<Expected> shapes);
  void describe(DS_ExecutableState* state, TF_Status* status) const;
  std::int64_t arena() const;
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  bool compute_in_turn(TF_Tensor* const* inputs, const std::vector<std::int32_t>& weights,
                       const std::int64_t* versions, TF_Tensor** outputs,
                       const std::vector<TF_DataType>& types);
  bool has_packed(const std::int64_t* versions) const {
    return std::equal(versions_.begin(), versions_.end(), versions);
  }
  bool pack(TF_Tensor* const* inputs, const std::vector<std::int32_t>& weights,
            const std::int64_t* versions);
  void call_plugin(TF_Tensor* const* inputs, TF_Tensor** outputs, std::size_t count, TF_Status* status);
  bool execute(TF_Tensor* const* inputs, TF_Tensor** outputs,
               const std::vector<TF_DataType>& types);
  std::int64_t arena_unlocked() const { return is_plan_ && handle_ != nullptr ? arena_of_plan(handle_) : 0; }
  void check_outputs(TF_Tensor** outputs, const std::vector<TF_DataType>& types, TF_Status* status) const;
  void fail_with(const TF_Status& status);
  void destroy_if_unwanted() noexcept;

  const Backend backend_;
  const bool is_plan_;
  std::atomic<bool> is_unwanted_{false};
  mutable std::shared_mutex mutex_;      // of what follows
  void* handle_;                         // NULL: it has failed, or is destroyed
  const Shapes shapes_;
  std::vector<std::int64_t> versions_;   // of the weights that it was packed from
  std::vector<Expected> expected_;       // of outputs; fewer: nothing is known of the others
  std::optional<Failure> failure_;
  std::atomic<std::int64_t> runs_{0};
  std::int64_t packs_ = 1;
  std::atomic<std::uint64_t> used_{0};   // when it was used last
};

// Safe to use from several threads.
class Operator {
 public:
  Operator(Backend backend, std::int32_t inputs, std::vector<std::int32_t> weights,
           std::vector<TF_DataType> types)
      : backend_(backend), inputs_(inputs), weights_(std::move(weights)),
        types_(std::move(types)) {}

  // Whether an executable computed the outputs. `inputs` are the region's, then the version of each
  // weight: as many scalars of int64.
  bool compute(TF_Tensor* const* inputs, std::int32_t num_inputs, TF_Tensor** outputs,
               std::int32_t num_outputs);
  std::int64_t add(void* handle, Shapes shapes, std::vector<std::int64_t> versions);
  void remove(std::int64_t number) noexcept;
  // Destroys all executables, also for those who still hold the operator.
  void clear() noexcept;
  std::shared_ptr<Executable> find(std::int64_t number) const;
  std::int32_t num_inputs() const { return inputs_; }
  // Bytes in the arenas of its executables.
  std::int64_t arena() const;
  std::size_t num_weights() const { return weights_.size(); }
  std::size_t num_outputs() const { return types_.size(); }
  Backend backend() const { return backend_; }

 private:
  std::shared_ptr<Executable> fitting(TF_Tensor* const* inputs) const;

  struct Entry {
    std::int64_t number;
    std::shared_ptr<Executable> executable;
  };
  const Backend backend_;
  const std::int32_t inputs_;
  const std::vector<std::int32_t> weights_;
  const std::vector<TF_DataType> types_;
  mutable std::mutex mutex_;
  std::int64_t last_ = 0;
  std::vector<Entry> entries_;
};

using OperatorPtr = std::shared_ptr<Operator>;

// The operator of that number; NULL when it is gone, or never was.
OperatorPtr find_operator(std::int64_t number);

}  // namespace drystone::host::subgraph

#endif  // DRYSTONE_HOST_SUBGRAPH_OPERATOR_H_

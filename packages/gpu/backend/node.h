// One node as a kernel of the device: its rule's operations, for the shapes that a call comes with.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drystone/kernel_views.h"
#include "drystone/kernels.h"
#include "drystone/logging.h"
#include "drystone/sdk/guard.hpp"
#include "drystone/sdk/tensor.hpp"
#include "rules.h"
#include "streams.h"

namespace drystone::gpu {

// What a node comes to for one set of shapes.
struct Compiled {
  Graph graph;
  std::vector<int> inputs, results;  // values
  std::vector<int> constants;        // values that operations read, and that are known
  std::size_t scratch = 0;           // bytes of what lies in between, and of the constants
  std::map<int, std::size_t> offsets;
};

// One call of a kernel. Inputs and outputs are numbers of the node's.
class NodeCall {
 public:
  explicit NodeCall(TF_OpKernelContext* context);

  TF_OpKernelContext* get() const { return context_; }
  SP_Stream stream() const { return stream_; }
  // Another input; a missing one ends the call.
  void take(int input);
  void take(sdk::Tensor tensor, bool is_on_host);
  // The value of the variable that an input stands for, to be read.
  void take_variable(int input);
  std::size_t count() const { return inputs_.size(); }
  const TF_Tensor* input(std::size_t k) const { return inputs_[k].tensor.get(); }  // null: a variable
  bool is_on_host(std::size_t k) const { return inputs_[k].is_on_host; }
  TF_DataType dtype(std::size_t k) const { return inputs_[k].dtype; }
  const Dims& dims(std::size_t k) const { return inputs_[k].dims; }
  void* data(std::size_t k) const { return inputs_[k].data; }
  // Memory of the device until the work that is put on the stream now is done.
  void* temporary(std::size_t bytes);

 private:
  struct Input {
    sdk::Tensor tensor;
    bool is_on_host;
    TF_DataType dtype;
    Dims dims;
    void* data;
  };
  TF_OpKernelContext* context_;
  SP_Stream stream_ = nullptr;
  std::vector<Input> inputs_;
  std::vector<sdk::Tensor> temporaries_;
};

// Failures of the host's functions.
class Failed : public std::runtime_error {
 public:
  explicit Failed(const sdk::Error& error) : std::runtime_error(error.message()), error(error) {}
  sdk::Error error;
};

// The host has said that the call failed.
class AlreadyFailed {};

class Node {
 public:
  // `known`: of inputs that lie on the host, the values are part of what is compiled.
  Node(std::string def, const Rule& rule) : def_(std::move(def)), rule_(rule) {}

  std::shared_ptr<const Compiled> compiled(const NodeCall& call, std::size_t outputs);

 private:
  using Key = std::vector<std::int64_t>;
  struct Entry {
    Key key;
    std::shared_ptr<const Compiled> made;
  };

  static Key key_of(const NodeCall& call);
  std::shared_ptr<const Compiled> build(const NodeCall& call, std::size_t outputs) const;

  std::string def_;
  const Rule& rule_;
  std::mutex mutex_;
  std::list<Entry> kept_;  // the one that was used last is the first
};

// Puts the work of a node on the call's stream. `results`: where each goes, null where it is an input
// or known.
void put(NodeCall& call, const Compiled& compiled, const std::vector<void*>& results);

// The outputs of a call whose inputs were taken.
void give(NodeCall& call, Node& node);

// An output of new memory, on the device or on the host.
void* allocate(const NodeCall& call, int output, Type type, const Dims& dims, sdk::Tensor* made);

// A new tensor over the memory of another.
sdk::Tensor reshaped(const TF_Tensor* from, const Dims& dims);

// What a kernel does, without an exception that leaves it.
template <class Body>
void computed(TF_OpKernelContext* context, Body body) {
  const sdk::Error error = sdk::guarded("a kernel of the GPU", [&]() -> sdk::Error {
    try {
      body();
    } catch (const Unknown& unknown) {
      return {TF_UNIMPLEMENTED, unknown.what()};
    } catch (const Refused& refused) {
      return {TF_INVALID_ARGUMENT, refused.what()};
    } catch (const Failed& failed) {
      return failed.error;
    } catch (const AlreadyFailed&) {
      return {};
    } catch (const std::runtime_error& failed) {
      return {TF_INTERNAL, failed.what()};
    }
    return {};
  });
  if (error.ok()) return;
  const sdk::Status status;
  sdk::store(error, status.get());
  TF_OpKernelContext_Failure(context, status.get());
}

inline void check(sdk::Status& status) {
  if (const sdk::Error error = status.take(); !error.ok()) throw Failed(error);
}

// Registration: kernels_of_rules.cc, updates.cc, lists.cc, randoms.cc.
struct Registered {
  const char* op;
  void* (*create)(TF_OpKernelConstruction*);
  void (*compute)(void*, TF_OpKernelContext*);
  void (*destroy)(void*);
  std::vector<std::string> on_host;                             // arguments
  std::vector<std::pair<std::string, TF_DataType>> constraints;  // attributes
};
void add_kernel(const Registered& kernel);
void add_rule_kernels();
void add_update_kernels();
void add_list_kernels();
void add_random_kernels();

// The node of a construction as bytes; throws Failed.
std::string def_of(TF_OpKernelConstruction* construction);

// What a create function does; null and a failure of the construction where it throws.
template <class Body>
void* created(TF_OpKernelConstruction* construction, Body body) {
  void* made = nullptr;
  const sdk::Error error = sdk::guarded("a kernel of the GPU", [&]() -> sdk::Error {
    try {
      made = body();
    } catch (const Refused& refused) {
      return {TF_UNIMPLEMENTED, refused.what()};
    } catch (const Failed& failed) {
      return failed.error;
    }
    return {};
  });
  if (error.ok()) return made;
  const sdk::Status status;
  sdk::store(error, status.get());
  TF_OpKernelConstruction_Failure(construction, status.get());
  return nullptr;
}

}  // namespace drystone::gpu

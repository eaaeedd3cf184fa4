// Services of the embedder: see drystone_host/ops.h.
//
// A call of the embedder holds `lock` shared, and detaching holds it alone: after detaching no call
// can reach an embedder that is gone. A thread inside a call does not call again.
#include "ops/services.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "core/buffer.h"
#include "core/failure.h"
#include "drystone/sdk/wire.hpp"
#include "drystone_host/ops.h"
#include "library/of_programs.h"
#include "threads/abandonable_call.h"

namespace drystone::host::ops {
namespace {

// An OpList with an index by name.
class OpIndex {
 public:
  explicit OpIndex(std::string list) : list_(std::move(list)) {
    wire::Reader in(list_);
    while (in.next()) {
      if (in.field() == 1) enter(in.bytes());
    }
    if (!in.ok()) fail(TF_DATA_LOSS, "the program's op list is no OpList");
  }
  OpIndex(const OpIndex&) = delete;
  OpIndex& operator=(const OpIndex&) = delete;

  const std::string& list() const { return list_; }
  std::optional<std::string> find(std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return std::nullopt;
    return std::string(found->second);
  }

 private:
  void enter(std::string_view def) {
    wire::Reader op(def);
    while (op.next()) {
      if (op.field() == 1) by_name_.emplace(op.bytes(), def);
    }
    if (!op.ok()) fail(TF_DATA_LOSS, "the program's op list holds a malformed OpDef");
  }

  const std::string list_;
  std::unordered_map<std::string_view, std::string_view> by_name_;  // into list_
};

struct Embedder {
  std::shared_mutex lock;  // of services
  DS_OpServices services{};
  std::mutex index_lock;  // of index; taken after `lock`
  std::shared_ptr<const OpIndex> index;  // NULL: not asked yet
};

// Never destroyed: threads of plugins may outlive main().
Embedder& embedder() {
  static auto& only = *new Embedder;
  return only;
}

thread_local bool inside = false;  // a call of the embedder runs on this thread

// Marks this thread as inside a call.
class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

// What `call(buffer, status)` of the embedder writes; "" where it writes nothing.
template <class Call>
std::string ask(const char* what, Call&& call) {
  TF_Status status;
  TF_Buffer out{};
  on_caller([&] {
    const Inside mark;
    call(&out, &status);
  });
  std::string bytes;
  if (out.data != nullptr) bytes.assign(static_cast<const char*>(out.data), out.length);
  if (out.data_deallocator != nullptr) {
    out.data_deallocator(const_cast<void*>(out.data), out.length);
  }
  if (status.code != TF_OK) pass_on(status, std::string(what) + ": ");
  return bytes;
}

// The index of the embedder's ops; the lock of services is held.
std::shared_ptr<const OpIndex> embedder_index() {
  Embedder& from = embedder();
  const std::lock_guard guard(from.index_lock);
  if (from.index == nullptr) {
    std::string list;
    if (from.services.op_list != nullptr) {
      list = ask("the program's op list", [&](TF_Buffer* out, TF_Status* status) {
        from.services.op_list(from.services.context, out, status);
      });
    }
    from.index = std::make_shared<const OpIndex>(std::move(list));
  }
  return from.index;
}

void attach(const DS_OpServices& table, std::shared_ptr<const OpIndex> index) {
  if (inside) fail(TF_FAILED_PRECONDITION, "services must not be changed from within a service");
  const std::unique_lock alone(embedder().lock);
  const std::lock_guard guard(embedder().index_lock);
  embedder().services = table;
  embedder().index = std::move(index);
}

}  // namespace

std::optional<std::string> find_embedder_op(std::string_view name) {
  if (inside) return std::nullopt;
  const std::shared_lock shared(embedder().lock);
  return embedder_index()->find(name);
}

std::string embedder_ops() {
  if (inside) return "";
  const std::shared_lock shared(embedder().lock);
  return embedder_index()->list();
}

std::string embedder_kernels(const char* op) {
  if (inside) return "";
  const std::shared_lock shared(embedder().lock);
  const DS_OpServices& services = embedder().services;
  if (services.kernel_list == nullptr) return "";
  return ask("the program's kernel list", [&](TF_Buffer* out, TF_Status* status) {
    services.kernel_list(services.context, op, out, status);
  });
}

}  // namespace drystone::host::ops

extern "C" {

TF_CAPI_EXPORT void DS_SetOpServices(const DS_OpServices* services, TF_Status* status) {
  namespace host = drystone::host;
  const void* const caller = __builtin_return_address(0);
  host::guarded(status, __func__, [&] {
    host::require_program("DS_SetOpServices", caller);
    DS_OpServices table{};
    if (services != nullptr) {
      if (services->struct_size < sizeof(std::size_t)) {
        host::fail(TF_FAILED_PRECONDITION, "DS_OpServices.struct_size must be set");
      }
      std::memcpy(&table, services, std::min(services->struct_size, sizeof table));
    }
    host::ops::attach(table, nullptr);
  });
}

TF_CAPI_EXPORT void DS_SetOpList(const TF_Buffer* op_list, TF_Status* status) {
  namespace host = drystone::host;
  const void* const caller = __builtin_return_address(0);
  host::guarded(status, __func__, [&] {
    host::require_program("DS_SetOpList", caller);
    std::string list(op_list == nullptr ? std::string_view() : host::view(op_list));
    host::ops::attach(DS_OpServices{},
                      std::make_shared<const host::ops::OpIndex>(std::move(list)));
  });
}

}  // extern "C"

// Objects of plugins that outlive a call: see drystone/kernel_state.h.
#include "kernels/node_state.h"

#include <cstdint>
#include <new>

#include "core/failure.h"
#include "kernels/context.h"
#include "kernels/views.h"

namespace drystone::host::kernels {
namespace {

// What the memory of a resource tensor is. The number says nothing: it is not looked up.
struct ResourceMemory {
  ResourceMemory(const DS_ObjectKind* kind, void* made) noexcept : object(kind, made) {}
  std::uint64_t number = 2;
  Object object;
};

extern "C" void drop_resource(void*, std::size_t, void* memory) {
  delete static_cast<ResourceMemory*>(memory);
}

void check(const DS_ObjectKind* kind) {
  require(kind, "kind");
  if (kind->struct_size < DS_OBJECT_KIND_STRUCT_SIZE || kind->destroy == nullptr) {
    fail(TF_INVALID_ARGUMENT, "kind->struct_size and kind->destroy must be set");
  }
}

}  // namespace

Object::~Object() {
  answered(0, [&] {
    destroy_(object_);
    return 0;
  });
}

}  // namespace drystone::host::kernels

using namespace drystone::host;
using namespace drystone::host::kernels;

void* DS_NodeStates::get(std::string_view node, const DS_ObjectKind& kind, void* (*create)(void*),
                         void* argument) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Object>& place = objects_[Key(&kind, node)];
  if (place == nullptr) {
    void* made = create(argument);
    if (made == nullptr) fail(TF_RESOURCE_EXHAUSTED, "a state cannot be made");
    place = std::make_unique<Object>(&kind, made);
  }
  return place->get();
}

void DS_NodeStates::note_damage(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (damage_.empty()) damage_ = text;
  is_damaged_.store(true, std::memory_order_relaxed);
}

std::string DS_NodeStates::damage() {
  const std::lock_guard lock(mutex_);
  return damage_;
}

extern "C" {

TF_Bool DS_NewResource(TF_OpKernelContext* ctx, int i, const DS_ObjectKind* kind, void* object) {
  return tried(ctx, [&] {
    check(kind);
    auto memory = std::make_unique<ResourceMemory>(kind, object);
    std::unique_ptr<TF_Tensor> made(TF_NewTensor(TF_RESOURCE, nullptr, 0, &memory->number,
                                                 sizeof memory->number, drop_resource,
                                                 memory.get()));
    if (made == nullptr) throw std::bad_alloc();
    static_cast<void>(memory.release());  // the tensor's
    ctx->set_output(ctx->output_index(i), std::move(made));
  });
}

void* DS_ResourceObject(TF_OpKernelContext* ctx, int i, const DS_ObjectKind* kind) {
  void* out = nullptr;
  tried(ctx, [&] {
    check(kind);
    const Memory* memory = ctx->inputs[ctx->input_index(i)]->memory;
    if (memory != nullptr && memory->deallocator == drop_resource) {
      const Object& object = static_cast<ResourceMemory*>(memory->argument)->object;
      if (object.kind() == kind) out = object.get();
    }
    if (out == nullptr) {
      fail(TF_NOT_FOUND, "input " + std::to_string(i) + " stands for no " +
                             (kind->name == nullptr ? "object" : kind->name));
    }
  });
  return out;
}

void* DS_NodeState(TF_OpKernelContext* ctx, const DS_ObjectKind* kind,
                   void* (*create)(void* argument), void* argument) {
  void* out = nullptr;
  tried(ctx, [&] {
    check(kind);
    require(reinterpret_cast<const void*>(create), "create");
    DS_NodeStates& states = ctx->call->states != nullptr ? *ctx->call->states : ctx->kernel().states;
    out = states.get(ctx->kernel().node.name(), *kind, create, argument);
  });
  return out;
}

DS_NodeStates* DS_NewNodeStates(void) { return new (std::nothrow) DS_NodeStates(); }

void DS_DeleteNodeStates(DS_NodeStates* states) { delete states; }

}  // extern "C"

// Loading libraries by TensorFlow's own functions: drystone/registry.h.
#include "drystone/registry.h"

#include <memory>
#include <unordered_set>

#include "core/buffer.h"
#include "core/failure.h"
#include "drystone/sdk/wire.hpp"
#include "library/loaded.h"
#include "library/registering.h"

// A handle that was given out; the library itself belongs to the host.
struct TF_Library {
  DS_Library* library;
  std::string ops;  // a serialized OpList
};

namespace drystone::host {
namespace {

constexpr std::uint32_t kOpOfList = 1;
constexpr std::uint32_t kNameOfOp = 1;

std::string_view op_name(std::string_view op) {
  wire::Reader reader(op);
  while (reader.next()) {
    if (reader.field() == kNameOfOp) return reader.bytes();
  }
  return {};
}

// The definitions that the library registered, as an OpList.
std::string ops_of(const DS_Library& library) {
  const std::unique_ptr<TF_Buffer, void (*)(TF_Buffer*)> all(TF_GetAllOpList(), TF_DeleteBuffer);
  std::string out;
  if (all == nullptr) return out;
  const std::unordered_set<std::string_view> own(library.ops.begin(), library.ops.end());
  wire::Reader reader(view(all.get()));
  while (reader.next()) {
    if (reader.field() == kOpOfList && own.contains(op_name(reader.bytes()))) out.append(reader.raw());
  }
  return out;
}

// Opens a library for this program, not for one of its plugins.
DS_Library& open_for_program(const char* path, const void* caller) {
  if (current_library() != nullptr) {
    fail(TF_FAILED_PRECONDITION, "a plugin must not load another one while it is being loaded");
  }
  require_registering("a plugin loads no other one", caller);
  return *open_library(path);
}

void init_all(DS_Library& library) {
  if (library.results.empty()) fail(TF_FAILED_PRECONDITION, library.path + " has no entry symbol");
  for (const DS_EntryResult& result : library.results) init_library(library, result.entry->symbol);
}

// As drystone's loader in Python has it: what left nothing that anybody can use did not load.
void require_registrations(const DS_Library& library) {
  constexpr std::size_t kMostReasons = 8;
  for (const auto* kind : {&library.ops, &library.kernels, &library.optimizers, &library.passes, &library.schemes,
                           &library.devices, &library.profilers}) {
    if (!kind->empty()) return;
  }
  std::string why;
  for (std::size_t k = 0; k < library.errors.size() && k < kMostReasons; ++k) {
    why += (k == 0 ? ": " : "; ") + library.errors[k];
  }
  fail(TF_FAILED_PRECONDITION, library.path + " registered nothing" + why);
}

TF_Library* load(const char* path, TF_Status* status, const char* function, bool kernels_only,
                 const void* caller) {
  TF_Library* out = nullptr;
  guarded(status, function, [&] {
    require(status, "status");
    DS_Library& library = open_for_program(path, caller);
    if (!kernels_only) init_all(library);
    else if (!library.exports("TF_InitKernel")) {
      fail(TF_FAILED_PRECONDITION, library.path + " does not export TF_InitKernel");
    } else {
      init_library(library, "TF_InitKernel");
    }
    require_registrations(library);
    out = new TF_Library{&library, ops_of(library)};
  });
  return out;
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status) {
  return load(library_filename, status, "TF_LoadLibrary", true, __builtin_return_address(0));
}

TF_Buffer TF_GetOpList(TF_Library* lib_handle) {
  TF_Buffer out = {};
  if (lib_handle == nullptr) return out;
  out.data = lib_handle->ops.data();
  out.length = lib_handle->ops.size();
  return out;
}

void TF_DeleteLibraryHandle(TF_Library* lib_handle) { delete lib_handle; }

TF_Library* TF_LoadPluggableDeviceLibrary(const char* library_filename, TF_Status* status) {
  return load(library_filename, status, "TF_LoadPluggableDeviceLibrary", false,
              __builtin_return_address(0));
}

void TF_DeletePluggableDeviceLibraryHandle(TF_Library* lib_handle) { delete lib_handle; }

}  // extern "C"

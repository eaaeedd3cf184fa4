// TF_FunctionLibraryDefinition: op definitions of a graph's functions, over the known ops.
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/buffer.h"
#include "core/failure.h"
#include "core/live.h"
#include "core/live_set.h"
#include "drystone/optimizer.h"
#include "drystone/sdk/wire.hpp"
#include "ops/registry.h"

struct TF_FunctionLibraryDefinition {
  TF_FunctionLibraryDefinition() { drystone::host::born(drystone::host::Kind::item); }
  ~TF_FunctionLibraryDefinition() { drystone::host::died(drystone::host::Kind::item); }
  TF_FunctionLibraryDefinition(const TF_FunctionLibraryDefinition&) = delete;
  TF_FunctionLibraryDefinition& operator=(const TF_FunctionLibraryDefinition&) = delete;

  std::unordered_map<std::string, std::string> signatures;
};

namespace drystone::host {
namespace {

// Never destroyed: threads of plugins may outlive main().
LiveSet<TF_FunctionLibraryDefinition>& given_libraries() {
  static auto& all = *new LiveSet<TF_FunctionLibraryDefinition>("library", "it deleted a function library that had been deleted");
  return all;
}

// GraphDef.library 2; FunctionDefLibrary.function 1; FunctionDef.signature 1; OpDef.name 1.
constexpr std::uint32_t kLibrary = 2;
constexpr std::uint32_t kFirst = 1;

// Calls `visit` with every occurrence of a length-delimited field; whether the bytes are sound.
template <class Visit>
bool each(std::string_view message, std::uint32_t field, Visit&& visit) {
  wire::Reader reader(message);
  bool ok = true;
  while (reader.next()) {
    if (reader.field() == field && reader.type() == wire::Type::bytes) {
      ok = visit(reader.bytes()) && ok;
    }
  }
  return ok && reader.ok();
}

bool add_function(std::string_view function, TF_FunctionLibraryDefinition* out) {
  return each(function, kFirst, [&](std::string_view signature) {
    std::string name;
    const bool ok = each(signature, kFirst, [&](std::string_view text) {
      name = text;
      return true;
    });
    out->signatures.insert_or_assign(name, std::string(signature));
    return ok;
  });
}

void read_library(std::string_view graph, TF_FunctionLibraryDefinition* out) {
  const bool ok = each(graph, kLibrary, [&](std::string_view library) {
    return each(library, kFirst,
                [&](std::string_view function) { return add_function(function, out); });
  });
  if (!ok) fail(TF_INVALID_ARGUMENT, "the buffer holds no GraphDef");
}

void look_up(const TF_FunctionLibraryDefinition* library, const char* name, TF_Buffer* out) {
  given_libraries().require(library);
  require(name, "name");
  const auto function = library->signatures.find(name);
  if (function != library->signatures.end()) return fill(out, function->second);
  const auto known = find_op_def(name);
  if (!known) {
    fail(TF_NOT_FOUND, "op " + std::string(name) + " is neither known to the host nor a function "
                                                   "of the graph");
  }
  fill(out, *known);
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

TF_FunctionLibraryDefinition* TF_NewFunctionLibraryDefinition(const TF_Buffer* graph,
                                                              TF_Status* status) {
  TF_FunctionLibraryDefinition* out = nullptr;
  guarded(status_or_none(status), "TF_NewFunctionLibraryDefinition", [&] {
    auto made = std::make_unique<TF_FunctionLibraryDefinition>();
    read_library(view(graph), made.get());
    given_libraries().add(made.get());
    out = made.release();
  });
  return out;
}

void TF_DeleteFunctionLibraryDefinition(TF_FunctionLibraryDefinition* library) { given_libraries().erase(library); }

void TF_LookUpOpDef(TF_FunctionLibraryDefinition* library, const char* name, TF_Buffer* out,
                    TF_Status* status) {
  guarded(status, "TF_LookUpOpDef", [&] { look_up(library, name, out); });
}

}  // extern "C"

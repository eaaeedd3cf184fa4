// Libraries of the embedding interface: drystone_host/library.h.
#include "drystone_host/library.h"

#include "core/buffer.h"
#include "core/failure.h"
#include "core/json.h"
#include "library/contents.h"
#include "library/loaded.h"
#include "library/of_programs.h"
#include "library/open.h"
#include "library/registering.h"

namespace drystone::host {
namespace {

const char* called_state(const DS_EntryResult& result) {
  if (!result.called) return "new";
  return result.failure ? "failed" : "ok";
}

void describe(const DS_Library& library, Json* json) {
  json->object();
  json->text("path", library.path);
  json->key("entries");
  json->array();
  for (const DS_EntryResult& result : library.results) {
    json->object();
    json->text("symbol", result.entry->symbol);
    json->text("module", result.entry->module);
    json->text("state", called_state(result));
    json->text("code", code_name(result.failure ? result.failure->code : TF_OK));
    json->text("message", result.failure ? result.failure->message : "");
    json->close();
  }
  json->close();
  json->texts("ops", library.ops);
  json->texts("kernels", library.kernels);
  json->texts("optimizers", library.optimizers);
  json->texts("passes", library.passes);
  json->texts("schemes", library.schemes);
  json->texts("devices", library.devices);
  json->texts("profilers", library.profilers);
  json->texts("errors", library.errors);
  json->texts("warnings", library.warnings);
  json->close();
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

DS_Library* DS_OpenLibraryWithout(const char* path, const char* const* functions, int count,
                                  TF_Status* status) {
  DS_Library* out = nullptr;
  const void* const caller = __builtin_return_address(0);
  guarded(status, "DS_OpenLibrary", [&] {
    require(status, "status");
    require_program("DS_OpenLibraryWithout", caller);
    std::vector<std::string> without;
    if (count > 0) require(functions, "functions");
    for (int k = 0; k < count; ++k) {
      require(functions[k], "a name in functions");
      without.emplace_back(functions[k]);
    }
    out = open_library(path, without);
  });
  return out;
}

DS_Library* DS_OpenLibrary(const char* path, TF_Status* status) {
  DS_Library* out = nullptr;
  const void* const caller = __builtin_return_address(0);
  guarded(status, "DS_OpenLibrary", [&] {
    require(status, "status");
    require_registering("a plugin loads no other one", caller);
    out = open_library(path);
  });
  return out;
}

void DS_InspectFile(const char* path, TF_Buffer* out, TF_Status* status) {
  guarded(status, "DS_InspectFile", [&] {
    require(path, "path");
    fill(out, digest_and_records(path));
  });
}

int DS_LibraryEntries(const DS_Library* library, const char** symbols, int max) {
  if (library == nullptr) return 0;
  const int count = static_cast<int>(library->results.size());
  for (int k = 0; k < count && k < max && symbols != nullptr; ++k) {
    symbols[k] = library->results[static_cast<std::size_t>(k)].entry->symbol;
  }
  return count;
}

void DS_InitLibrary(DS_Library* library, const char* entry_symbol, TF_Status* status) {
  const void* const caller = __builtin_return_address(0);
  guarded(status, "DS_InitLibrary", [&] {
    require_program("DS_InitLibrary", caller);
    require(library, "library");
    require(entry_symbol, "entry_symbol");
    init_library(*library, entry_symbol);
  });
}

void DS_VouchForLibrary(DS_Library* library) {
  if (is_refused("DS_VouchForLibrary", __builtin_return_address(0))) return;
  if (library != nullptr) library->is_vouched_for = true;
}

void* DS_LibrarySymbol(DS_Library* library, const char* name) {
  return library == nullptr ? nullptr : find_own_symbol(library->handle, name);
}

void DS_DescribeLibrary(const DS_Library* library, TF_Buffer* json, TF_Status* status) {
  guarded(status, "DS_DescribeLibrary", [&] {
    require(library, "library");
    const std::lock_guard<std::recursive_mutex> held(library_lock());
    Json out;
    describe(*library, &out);
    fill(json, out.str());
  });
}

void DS_ListEntries(TF_Buffer* json, TF_Status* status) {
  guarded(status, "DS_ListEntries", [&] {
    Json out;
    out.array();
    for (const Entry& entry : entries()) {
      out.object();
      out.text("symbol", entry.symbol);
      out.text("module", entry.module);
      out.close();
    }
    out.close();
    fill(json, out.str());
  });
}

void DS_ListAliases(TF_Buffer* json, TF_Status* status) {
  guarded(status, "DS_ListAliases", [&] {
    const std::lock_guard<std::recursive_mutex> held(library_lock());
    Json out;
    out.array();
    for (const std::string& name : aliases()) out.text(name);
    out.close();
    fill(json, out.str());
  });
}

}  // extern "C"

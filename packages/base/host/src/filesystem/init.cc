// TF_InitPlugin: calling it, and registering what it offers.
#include "filesystem/init.h"

#include <set>

#include "core/guarded.h"
#include "filesystem/registry.h"
#include "filesystem/tables.h"
#include "filesystem/uri.h"

namespace drystone::host {
namespace {

constexpr std::size_t kMostSchemes = 1024;

// What TF_InitPlugin filled in. Frees the plugin's arrays when it goes, each piece once, even if
// schemes share one.
class Offer {
 public:
  explicit Offer(const TF_FilesystemPluginInfo& info) : info_(info) {}
  ~Offer() {
    std::set<void*> pieces;
    for (std::size_t k = 0; k < info_.num_schemes; ++k) {
      const TF_FilesystemPluginOps& ops = info_.ops[k];
      pieces.insert({ops.scheme, ops.filesystem_ops, ops.random_access_file_ops,
                     ops.writable_file_ops, ops.read_only_memory_region_ops});
    }
    pieces.insert(info_.ops);
    for (void* piece : pieces) {
      if (piece != nullptr) info_.plugin_memory_free(piece);
    }
  }
  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;

  std::size_t size() const { return info_.num_schemes; }
  const TF_FilesystemPluginOps& operator[](std::size_t k) const { return info_.ops[k]; }

 private:
  const TF_FilesystemPluginInfo& info_;
};

// Calls the entry function. One without a parameter leaves the zeroed struct alone: an argument
// that is not looked at does no harm in the calling conventions of the supported machines.
void ask(void* function, TF_FilesystemPluginInfo* info) {
  const auto entry = reinterpret_cast<void (*)(TF_FilesystemPluginInfo*)>(function);
  try {
    entry(info);
  } catch (const Failure&) {
    throw;
  } catch (const std::exception& error) {
    fail(TF_INTERNAL, std::string("threw an exception: ") + error.what());
  } catch (...) {
    fail(TF_INTERNAL, "threw an exception of unknown type");
  }
}

bool registered_nothing(const Library& library) {
  return library.ops.empty() && library.kernels.empty() && library.optimizers.empty() &&
         library.passes.empty() && library.schemes.empty() && library.devices.empty() &&
         library.profilers.empty();
}

void check(const TF_FilesystemPluginInfo& info) {
  if (info.plugin_memory_allocate == nullptr || info.plugin_memory_free == nullptr) {
    fail(TF_FAILED_PRECONDITION,
         "plugin_memory_allocate and plugin_memory_free in TF_FilesystemPluginInfo must be set");
  }
  if (info.num_schemes > kMostSchemes) {
    fail(TF_FAILED_PRECONDITION,
         "num_schemes in TF_FilesystemPluginInfo is " + std::to_string(info.num_schemes) +
             "; needed: at most " + std::to_string(kMostSchemes));
  }
  if (info.ops == nullptr) {
    fail(TF_FAILED_PRECONDITION,
         "ops in TF_FilesystemPluginInfo must be set when num_schemes is not 0");
  }
}

std::string scheme_of(const TF_FilesystemPluginOps& ops) {
  if (ops.scheme == nullptr) {
    fail(TF_FAILED_PRECONDITION, "scheme in TF_FilesystemPluginOps must be set");
  }
  const std::string scheme = ops.scheme;
  if (!scheme.empty() && !valid_scheme(scheme)) {
    fail(TF_FAILED_PRECONDITION,
         "the scheme \"" + scheme + "\" is not a letter followed by letters, digits, \"+\", \"-\" "
         "and \".\", 64 at most");
  }
  return scheme;
}

void add_scheme(Library& library, const TF_FilesystemPluginOps& ops,
                const TF_FilesystemPluginInfo& info) {
  const std::string scheme = scheme_of(ops);
  std::vector<std::string> warnings;
  register_scheme(scheme, library.path, [&] {
    Plugin plugin{scheme, library.path, checked_tables(ops, warnings), info.plugin_memory_free,
                  !library.is_vouched_for};
    return make_plugin_filesystem(std::move(plugin));
  });
  for (const auto& warning : warnings) {
    library.warnings.push_back("scheme \"" + scheme + "\": " + warning);
  }
  library.schemes.push_back(scheme);
}

std::string named(const TF_FilesystemPluginOps& ops, std::size_t index) {
  const std::string place = "scheme " + std::to_string(index);
  return ops.scheme == nullptr ? place : place + " (\"" + ops.scheme + "\")";
}

}  // namespace

void init_filesystem(Library& library, void* function) {
  Guarded<TF_FilesystemPluginInfo> info;
  ask(function, info.get());
  info.check("TF_FilesystemPluginInfo");
  if (info->num_schemes == 0) {
    if (registered_nothing(library)) {
      library.warnings.emplace_back("TF_InitPlugin offered no filesystem and registered nothing");
    }
    return;
  }
  check(*info);
  const Offer offer(*info);
  Maybe first;
  for (std::size_t k = 0; k < offer.size(); ++k) {
    Maybe failure = failure_of([&] { add_scheme(library, offer[k], *info); });
    if (!failure) continue;
    failure->message = library.path + ": " + named(offer[k], k) + ": " + failure->message;
    record_error(failure->message);
    if (!first) first = std::move(failure);
  }
  if (first) fail(first->code, first->message);
}

}  // namespace drystone::host

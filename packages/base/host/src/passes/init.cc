// Registration of a plugin's passes: DS_InitPasses and DS_RegisterPass.
#include "passes/init.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "core/answers.h"
#include "core/failure.h"
#include "device/calls.h"
#include "device/padded_struct.h"
#include "drystone/passes.h"
#include "passes/registry.h"

namespace drystone::host {
namespace {

using InitPasses = void (*)(DS_PassRegistrationParams*, TF_Status*);

// What the library whose entry function runs on this thread has registered so far.
thread_local std::vector<RegisteredPass>* registering = nullptr;

class Registering {
 public:
  explicit Registering(std::vector<RegisteredPass>* passes) noexcept : before_(registering) {
    registering = passes;
  }
  ~Registering() { registering = before_; }
  Registering(const Registering&) = delete;
  Registering& operator=(const Registering&) = delete;

 private:
  std::vector<RegisteredPass>* before_;
};

constexpr std::size_t kMostOps = std::size_t{1} << 16;

bool is_name(const char* name) {
  const std::string text = name == nullptr ? "" : text_at(name).value_or("");
  return !text.empty() && text.size() < 256 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

void check(const DS_Pass& pass) {
  if (pass.struct_size < DS_PASS_STRUCT_SIZE) {
    fail(TF_INVALID_ARGUMENT, "DS_Pass.struct_size is " + std::to_string(pass.struct_size) +
                                  "; it must be set to DS_PASS_STRUCT_SIZE, which is " +
                                  std::to_string(DS_PASS_STRUCT_SIZE) + " here");
  }
  if (!is_name(pass.name)) {
    fail(TF_INVALID_ARGUMENT,
         "DS_Pass.name is no name: it must be letters, digits, '_', '-' and '.'");
  }
  const std::string of = "pass " + std::string(pass.name) + ": ";
  if (pass.grouping < DS_PassGrouping_PrePlacement ||
      pass.grouping > DS_PassGrouping_PostPartitioning) {
    fail(TF_INVALID_ARGUMENT, of + "DS_Pass.grouping is " + std::to_string(pass.grouping) +
                                  ", which is none of DS_PassGrouping");
  }
  if (pass.run == nullptr) fail(TF_INVALID_ARGUMENT, of + "DS_Pass.run is not set");
}

std::vector<std::string> ops_of(const DS_Pass& pass) {
  std::vector<std::string> out;
  for (const char* const* op = pass.ops; op != nullptr; ++op) {
    const bool is_there = out.size() < kMostOps && can_read(op, sizeof *op);
    if (is_there && *op == nullptr) break;
    const auto text = is_there ? text_at(*op) : std::nullopt;
    if (!text) {
      fail(TF_INVALID_ARGUMENT, "pass " + std::string(pass.name) + ": DS_Pass.ops has no end, or holds what is no text");
    }
    out.push_back(*text);
  }
  return out;
}

RegisteredPass copy_of(const DS_Pass& pass) {
  RegisteredPass out;
  out.name = pass.name;
  out.library = current_origin();
  out.grouping = pass.grouping;
  out.phase = pass.phase;
  out.ops = ops_of(pass);
  out.is_default = pass.is_default != 0;
  out.context = pass.context;
  out.run = pass.run;
  return out;
}

void add(const DS_Pass& pass) {
  if (registering == nullptr) {
    fail(TF_FAILED_PRECONDITION, "passes can be registered from DS_InitPasses only");
  }
  check(pass);
  for (const RegisteredPass& other : *registering) {
    if (other.name == pass.name) {
      fail(TF_ALREADY_EXISTS, "pass " + other.name + " is registered twice by " + other.library);
    }
  }
  if (const auto present = find_pass(pass.name); present != nullptr) {
    fail(TF_ALREADY_EXISTS,
         "pass " + present->name + " is registered by " + present->library + " already");
  }
  registering->push_back(copy_of(pass));
}

}  // namespace

void init_passes(Library& library, void* function) {
  auto params =
      DRYSTONE_PADDED_STRUCT(DS_PassRegistrationParams, DS_PASS_REGISTRATION_PARAMS_STRUCT_SIZE);
  params->major_version = DS_PASSES_MAJOR;
  params->minor_version = DS_PASSES_MINOR;
  params->patch_version = DS_PASSES_PATCH;
  std::vector<RegisteredPass> passes;
  {
    const Registering scope(&passes);
    const auto init = reinterpret_cast<InitPasses>(function);
    call_entry("DS_InitPasses", [&](TF_Status* status) { init(params.get(), status); });
  }
  params.settle();
  require_major("pass interface", DS_PASSES_MAJOR, params->major_version, params->minor_version,
                params->patch_version);
  std::vector<std::string> names;
  for (const RegisteredPass& pass : passes) names.push_back(pass.name);
  add_passes(std::move(passes));
  library.passes = std::move(names);
}

}  // namespace drystone::host

using namespace drystone::host;

extern "C" void DS_RegisterPass(const DS_Pass* pass, TF_Status* status) {
  guarded(status, "DS_RegisterPass", [&] {
    require(pass, "pass");
    add(*pass);
  });
}

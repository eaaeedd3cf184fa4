// Running a plugin's pass: DS_RunPass.
#include "core/buffer.h"
#include "core/failure.h"
#include "core/plugin_call.h"
#include "core/readable.h"
#include "drystone_host/passes.h"
#include "library/crash_report.h"
#include "library/loaded.h"
#include "passes/registry.h"

namespace drystone::host {
namespace {

std::string name_of(const RegisteredPass& pass) {
  return "pass " + pass.name + " of " + pass.library;
}

// The caller reads them: what cannot be read is left out.
void check_results(const RegisteredPass& pass, const DS_PassCall& call) {
  bool is_good = true;
  for (int k = 0; k < call.num_graphs; ++k) {
    TF_Buffer& result = *call.results[k];
    if (is_readable(result.data, result.length)) continue;
    result = {nullptr, 0, nullptr};
    is_good = false;
  }
  if (is_good) return;
  fail(TF_INTERNAL, name_of(pass) + " gave a graph that lies where nothing can be read", {{DS_PAYLOAD_LIBRARY, pass.library}});
}

void run(const RegisteredPass& pass, const DS_PassCall& call) {
  TF_Status status;
  const LentBuffers graphs(const_cast<TF_Buffer* const*>(call.graphs), call.num_graphs);
  const LentBuffers results(call.results, call.num_graphs);
  prepare_thread();
  HostState host;
  const PluginCall running(pass.name.c_str(), pass.library.c_str());
  try {
    pass.run(pass.context, &call, &status);
  } catch (const std::exception& error) {
    fail(TF_INTERNAL, name_of(pass) + " threw a C++ exception: " + error.what());
  } catch (...) {
    fail(TF_INTERNAL, name_of(pass) + " threw a C++ exception");
  }
  check_results(pass, call);
  settle_changes(pass.library, host, "while its pass " + pass.name + " ran");
  if (status.code != TF_OK) pass_on(status, name_of(pass) + " failed: ", {{DS_PAYLOAD_LIBRARY, pass.library}});
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" void DS_RunPass(const char* name, const DS_PassCall* call, TF_Status* status) {
  guarded(status, "DS_RunPass", [&] {
    require(name, "name");
    require(call, "call");
    const auto pass = find_pass(name);
    if (pass == nullptr) fail(TF_NOT_FOUND, "there is no pass " + std::string(name));
    run(*pass, *call);
  });
}

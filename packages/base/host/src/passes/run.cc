// Running a plugin's pass: DS_RunPass.
#include "core/buffer.h"
#include "core/failure.h"
#include "core/given_buffer.h"
#include "core/plugin_call.h"
#include "drystone_host/passes.h"
#include "library/crash_report.h"
#include "library/loaded.h"
#include "passes/registry.h"

namespace drystone::host {
namespace {

std::string name_of(const RegisteredPass& pass) {
  return "pass " + pass.name + " of " + pass.library;
}

// The caller reads them, and deletes them.
void check_results(const RegisteredPass& pass, const DS_PassCall& call, const FreedBlocks& freed) {
  std::string problem;
  for (int k = 0; k < call.num_graphs; ++k) {
    const char* const found = settled(call.results[k], freed);
    if (problem.empty()) problem = found;
  }
  if (problem.empty()) return;
  fail(TF_INTERNAL, name_of(pass) + " gave a bad graph: " + problem, {{DS_PAYLOAD_LIBRARY, pass.library}});
}

void run(const RegisteredPass& pass, const DS_PassCall& call) {
  TF_Status status;
  const LentBuffers graphs(const_cast<TF_Buffer* const*>(call.graphs), call.num_graphs);
  const LentBuffers results(call.results, call.num_graphs);
  prepare_thread();
  HostState host;
  FreedBlocks freed;
  const PluginCall running(pass.name.c_str(), pass.library.c_str());
  try {
    freed.begin();
    pass.run(pass.context, &call, &status);
    freed.end();
  } catch (const std::exception& error) {
    fail(TF_INTERNAL, name_of(pass) + " threw a C++ exception: " + error.what());
  } catch (...) {
    fail(TF_INTERNAL, name_of(pass) + " threw a C++ exception");
  }
  check_results(pass, call, freed);
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

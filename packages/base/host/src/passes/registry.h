// The passes that plugins registered, by name and in order.
#ifndef DRYSTONE_HOST_PASSES_REGISTRY_H_
#define DRYSTONE_HOST_PASSES_REGISTRY_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/passes.h"

namespace drystone::host {

// What DS_RegisterPass was given.
struct RegisteredPass {
  std::string name;
  std::string library;
  DS_PassGrouping grouping = DS_PassGrouping_PrePlacement;
  int phase = 0;
  std::vector<std::string> ops;
  bool is_default = false;
  void* context = nullptr;
  void (*run)(void*, const DS_PassCall*, TF_Status*) = nullptr;
};

// Take all passes of a library, or none: fails with ALREADY_EXISTS, naming both libraries.
void add_passes(std::vector<RegisteredPass> passes);

// The pass of that name, or null.
std::shared_ptr<const RegisteredPass> find_pass(std::string_view name);

// All of them, in the order of registration.
std::vector<std::shared_ptr<const RegisteredPass>> all_passes();

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_PASSES_REGISTRY_H_

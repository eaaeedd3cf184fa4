// The libraries in the folder of drystone_cpu, which this one opens when they are needed.
#ifndef DRYSTONE_CPU_PLAIN_HELPER_LIBRARIES_H_
#define DRYSTONE_CPU_PLAIN_HELPER_LIBRARIES_H_

#include <string>

namespace drystone::cpu {

// Whether there is a file of that name.
bool has_helper_library(const std::string& name);

// dlopen of the file of that name; NULL where that fails, and dlerror() says why. It stays open.
void* open_helper_library(const std::string& name);

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_PLAIN_HELPER_LIBRARIES_H_

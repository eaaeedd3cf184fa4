// The libraries in the folder of drystone_cpu, which this one opens when they are needed.
#ifndef DRYSTONE_CPU_PLAIN_PARTS_H_
#define DRYSTONE_CPU_PLAIN_PARTS_H_

#include <string>

namespace drystone::cpu {

// Whether there is a file of that name.
bool has_part(const std::string& name);

// dlopen of the file of that name; NULL where that fails, and dlerror() says why. It stays open.
void* open_part(const std::string& name);

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_PLAIN_PARTS_H_

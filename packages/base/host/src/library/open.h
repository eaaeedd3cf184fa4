// The only place of this repository that opens shared libraries.
#ifndef DRYSTONE_HOST_LIBRARY_OPEN_H_
#define DRYSTONE_HOST_LIBRARY_OPEN_H_

#include <string>
#include <vector>

namespace drystone::host {

// dlopen(path, RTLD_NOW | RTLD_LOCAL | flags); NULL with *error set to the linker's text on failure.
void* open_file(const char* path, int flags, std::string* error);

// Address of a symbol of an open library (or of what it needs), or NULL.
void* find_symbol(void* handle, const char* name) noexcept;

// Address of a symbol that the file behind `handle` defines itself, or NULL.
void* find_own_symbol(void* handle, const char* name) noexcept;

// Address of a symbol that a library defines or needs which is open already, or NULL.
void* find_open_symbol(const char* path, const char* name) noexcept;

// Opens a plugin so that its undefined symbols bind to the host, and `without`, undefined functions,
// to stubs. Throws Failure.
void* open_plugin(const std::string& path, const std::vector<std::string>& without);

// Names of TensorFlow's libraries that aliases were opened for, sorted.
std::vector<std::string> aliases();

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_OPEN_H_

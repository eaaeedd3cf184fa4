/* A small host, built with the headers of some release, that tries a plugin built with another's.
 *
 * It gives the plugin exactly the structs of its own headers, with guard bytes around them, calls
 * what the plugin offers and prints a line for each module. It links nothing of drystone's host.
 */
#include <dlfcn.h>

#include "guarded.h"
#include "old_host.h"

static const struct {
  const char* symbol;
  void (*attempt)(void*);
} kModules[] = {{"SE_InitPlugin", try_device},
                {"TF_InitProfiler", try_profiler},
                {"TF_InitGraph", try_optimizer},
                {"TF_InitKernel", try_kernels},
                {"TF_InitPlugin", try_filesystem}};

int main(int count, char** arguments) {
  expect(count == 2, "usage: old_host PLUGIN");
  void* const library = dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) printf("%s\n", dlerror());
  expect(library != NULL, "cannot be opened");
  for (size_t k = 0; k < sizeof kModules / sizeof kModules[0]; ++k) {
    void* const entry = dlsym(library, kModules[k].symbol);
    if (entry != NULL) kModules[k].attempt(entry);
  }
  return 0;
}

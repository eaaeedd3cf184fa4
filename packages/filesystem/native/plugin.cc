// The entry function: "posix://" and "ram://".
#include "drystone/filesystem.h"
#include "drystone/platform_strings.h"
#include "schemes.h"
#include "tables.h"

TF_PLATFORM_STRINGS()

void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  using namespace drystone::files;
  info->plugin_memory_allocate = allocate;
  info->plugin_memory_free = release;
  info->ops = static_cast<TF_FilesystemPluginOps*>(allocate(2 * sizeof *info->ops));
  if (info->ops == nullptr) return;
  info->num_schemes = 2;
  fill_scheme(&info->ops[0], "posix", init_posix);
  fill_scheme(&info->ops[1], "ram", init_ram);
}

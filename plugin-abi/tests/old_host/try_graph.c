/* Tries optimizers, kernels and filesystems. */
#include "drystone/filesystem.h"
#include "drystone/optimizer.h"
#include "guarded.h"
#include "old_host.h"

static void run(const TP_Optimizer* optimizer, TF_Status* status) {
  const TF_Buffer graph = {.data = "graph", .length = 5};
  TF_Buffer out = {0};
  void* const state = optimizer->create_func == NULL ? NULL : optimizer->create_func();
  optimizer->optimize_func(state, &graph, NULL, &out, status);
  expect(TF_GetCode(status) == TF_OK, "optimize_func failed");
  expect(out.length == 5 && memcmp(out.data, "graph", 5) == 0, "not the graph");
  out.data_deallocator((void*)out.data, out.length);
  if (optimizer->destroy_func != NULL) optimizer->destroy_func(state);
}

void try_optimizer(void* entry) {
  TF_Status* const status = TF_NewStatus();
  TP_OptimizerConfigs* const configs = guarded(TP_OPTIMIZER_CONFIGS_STRUCT_SIZE);
  TP_Optimizer* const optimizer = guarded(TP_OPTIMIZER_STRUCT_SIZE);
  TP_OptimizerRegistrationParams* const params =
      guarded(TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE);
  params->optimizer_configs = configs;
  params->optimizer = optimizer;
  void (*init)(TP_OptimizerRegistrationParams*, TF_Status*);
  memcpy(&init, &entry, sizeof init);
  init(params, status);
  expect(TF_GetCode(status) == TF_OK, "TF_InitGraph failed");
  check_guards(params, TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE, "registration params");
  check_guards(configs, TP_OPTIMIZER_CONFIGS_STRUCT_SIZE, "TP_OptimizerConfigs");
  check_guards(optimizer, TP_OPTIMIZER_STRUCT_SIZE, "TP_Optimizer");
  run(optimizer, status);
  printf("optimizer %s remapping %d\n", params->device_type, (int)configs->remapping);
  free_guarded(params);
  free_guarded(optimizer);
  free_guarded(configs);
  TF_DeleteStatus(status);
}

void try_kernels(void* entry) {
  void (*init)(void);
  memcpy(&init, &entry, sizeof init);
  init();
  printf("kernels %d ops %d\n", registered_kernels, registered_ops);
}

void try_filesystem(void* entry) {
  TF_FilesystemPluginInfo info = {0};
  void (*init)(TF_FilesystemPluginInfo*);
  memcpy(&init, &entry, sizeof init);
  init(&info);
  expect(info.num_schemes == 1, "no scheme");
  const TF_FilesystemPluginOps* const ops = info.ops;
  TF_Status* const status = TF_NewStatus();
  TF_Filesystem filesystem = {0};
  TF_RandomAccessFile file = {0};
  char text[6] = {0};
  ops->filesystem_ops->init(&filesystem, status);
  ops->filesystem_ops->new_random_access_file(&filesystem, "stone://a", &file, status);
  const int64_t count = ops->random_access_file_ops->read(&file, 0, 5, text, status);
  expect(count == 5 && TF_GetCode(status) == TF_OK, "the file cannot be read");
  printf("filesystem %s reads %s\n", ops->scheme, text);
  ops->filesystem_ops->cleanup(&filesystem);
  TF_DeleteStatus(status);
}

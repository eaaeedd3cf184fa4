/* Sizes and offsets of the contract, as TensorFlow published them: wrong ones do not compile.
 *
 * abi.lock guards every struct against change; the numbers here say what the first release had to
 * be to load plugins that were built for TensorFlow. Valid for machines with 64-bit pointers.
 */
#include <stddef.h>

#include "drystone/attrtype.h"
#include "drystone/device.h"
#include "drystone/env.h"
#include "drystone/filesystem.h"
#include "drystone/kernels.h"
#include "drystone/optimizer.h"
#include "drystone/profiler.h"
#include "drystone/tstring.h"

#define SIZE(Type, bytes) _Static_assert(sizeof(Type) == (bytes), #Type)
#define STATED(MACRO, bytes) _Static_assert((MACRO) == (bytes), #MACRO)
#define AT(Type, member, offset) \
  _Static_assert(offsetof(Type, member) == (offset), #Type "." #member)

_Static_assert(sizeof(void*) == 8, "a 64-bit machine");

/* status, buffer, tensor, strings */
SIZE(TF_Code, 4);
SIZE(TF_DataType, 4);
SIZE(TF_Bool, 1);
SIZE(TF_Buffer, 24);
AT(TF_Buffer, data, 0);
AT(TF_Buffer, length, 8);
AT(TF_Buffer, data_deallocator, 16);
STATED(TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE, 9);
AT(TF_AllocatorAttributes, on_host, 8);
SIZE(TF_TString, 24);
SIZE(TF_StringView, 16);
_Static_assert(TF_TString_SmallCapacity == 22, "22 bytes inline");
_Static_assert(TF_INT4 == 29 && TF_UINT4 == 30 && TF_FLOAT8_E4M3FN == 25, "numbers of DataType");
_Static_assert(TF_UNAUTHENTICATED == 16 && TF_DATA_LOSS == 15, "canonical codes");
_Static_assert(TF_ATTR_FUNC == 8, "attribute types");

/* graph optimizer */
STATED(TP_OPTIMIZER_CONFIGS_STRUCT_SIZE, 92);
SIZE(TP_OptimizerConfigs, 96);
AT(TP_OptimizerConfigs, disable_model_pruning, 16);
AT(TP_OptimizerConfigs, auto_mixed_precision, 48);
AT(TP_OptimizerConfigs, auto_mixed_precision_onednn_bfloat16, 52);
AT(TP_OptimizerConfigs, auto_mixed_precision_mkl, 56);
AT(TP_OptimizerConfigs, remapping, 68);
AT(TP_OptimizerConfigs, scoped_allocator_optimization, 88);
STATED(TP_OPTIMIZER_STRUCT_SIZE, 40);
AT(TP_Optimizer, create_func, 16);
AT(TP_Optimizer, optimize_func, 24);
AT(TP_Optimizer, destroy_func, 32);
STATED(TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE, 56);
AT(TP_OptimizerRegistrationParams, major_version, 16);
AT(TP_OptimizerRegistrationParams, device_type, 32);
AT(TP_OptimizerRegistrationParams, optimizer_configs, 40);
AT(TP_OptimizerRegistrationParams, optimizer, 48);
STATED(DS_OPTIMIZER_ORDER_STRUCT_SIZE, 28);
AT(DS_OptimizerOrder, phase, 16);
AT(DS_OptimizerOrder, priority, 24);

/* kernels */
STATED(TF_InputRange_Args_STRUCT_SIZE, 32);
AT(TF_InputRange_Args, start, 16);
AT(TF_InputRange_Args, status, 24);

/* environment and filesystem */
SIZE(TF_ThreadOptions, 24);
SIZE(TF_FileStatistics, 24);
AT(TF_FileStatistics, is_directory, 16);
SIZE(TF_Filesystem_Option, 32);
SIZE(TF_Filesystem_Option_Value, 16);
SIZE(TF_Filesystem_Option_Value_Union, 16);
STATED(TF_RANDOM_ACCESS_FILE_OPS_SIZE, 16);
STATED(TF_WRITABLE_FILE_OPS_SIZE, 48);
STATED(TF_READ_ONLY_MEMORY_REGION_OPS_SIZE, 24);
STATED(TF_FILESYSTEM_OPS_SIZE, 264);
AT(TF_FilesystemOps, new_random_access_file, 16);
AT(TF_FilesystemOps, path_exists, 104);
AT(TF_FilesystemOps, get_children, 152);
AT(TF_FilesystemOps, decode_transaction_token, 216);
AT(TF_FilesystemOps, get_filesystem_configuration_keys, 256);
SIZE(TF_FilesystemPluginOps, 104);
AT(TF_FilesystemPluginOps, filesystem_ops_abi, 8);
AT(TF_FilesystemPluginOps, filesystem_ops_api, 12);
AT(TF_FilesystemPluginOps, filesystem_ops_size, 16);
AT(TF_FilesystemPluginOps, filesystem_ops, 24);
AT(TF_FilesystemPluginOps, random_access_file_ops, 48);
AT(TF_FilesystemPluginOps, writable_file_ops, 72);
AT(TF_FilesystemPluginOps, read_only_memory_region_ops, 96);
SIZE(TF_FilesystemPluginInfo, 32);
AT(TF_FilesystemPluginInfo, plugin_memory_free, 24);

/* device */
STATED(SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE, 64);
AT(SE_PlatformRegistrationParams, platform, 32);
STATED(SP_PLATFORM_STRUCT_SIZE, 35);
SIZE(SP_Platform, 40);
AT(SP_Platform, use_bfc_allocator, 33);
STATED(SP_PLATFORM_FNS_STRUCT_SIZE, 88);
STATED(SP_DEVICE_STRUCT_SIZE, 56);
AT(SP_Device, device_handle, 24);
STATED(SP_DEVICE_FNS_STRUCT_SIZE, 40);
STATED(SP_DEVICE_MEMORY_BASE_STRUCT_SIZE, 40);
STATED(SP_TIMER_FNS_STRUCT_SIZE, 24);
STATED(SP_ALLOCATORSTATS_STRUCT_SIZE, 96);
AT(SP_AllocatorStats, bytes_limit, 48);
STATED(SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE, 32);
STATED(SE_CREATE_DEVICE_FNS_PARAMS_STRUCT_SIZE, 24);
STATED(SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE, 24);
STATED(SP_STREAMEXECUTOR_STRUCT_SIZE, 288);
AT(SP_StreamExecutor, allocate, 16);
AT(SP_StreamExecutor, create_stream, 80);
AT(SP_StreamExecutor, memcpy_dtoh, 184);
AT(SP_StreamExecutor, mem_zero, 256);
AT(SP_StreamExecutor, host_callback, 280);
_Static_assert(SE_EVENT_COMPLETE == 3, "event states");

/* profiler */
STATED(TP_PROFILER_STRUCT_SIZE, 24);
STATED(TP_PROFILER_FNS_STRUCT_SIZE, 40);
STATED(TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE, 64);

int drystone_layout(void);
int drystone_layout(void) { return 0; }

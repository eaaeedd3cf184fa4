/* Work of code that others compiled for the device, as a compiler's run time launches it. */
#include <stdlib.h>
#include <string.h>

#include "drystone/kernels.h"
#include "strict.h"

enum { kMost = 8 };

typedef struct Launch {
  Work work;
  void (*run)(void* const* memory, int64_t number);
  int64_t number;
  const void* memory[kMost];
  int count;
} Launch;

static void run_launch(Work* work) {
  Launch* const launch = (Launch*)work;
  void* real[kMost];
  for (int k = 0; k < launch->count; ++k) real[k] = strict_real(launch->memory[k]);
  launch->run(real, launch->number);
}

static void end_launch(Work* work) { free(work); }

/* Has the device run a function on `count` blocks of its memory, the last of which it writes: of `bytes`
 * each, 1 or more. `number` is handed to it. False, and maybe a fault, where that cannot be. */
TF_CAPI_EXPORT bool strict_launch(SP_Stream stream, void (*run)(void* const* memory, int64_t number), int64_t number,
                                  const void* const* memory, uint64_t bytes, int count) {
  if (stream == NULL || count < 1 || count > kMost) return false;
  Launch* const launch = calloc(1, sizeof *launch);
  if (launch == NULL) return false;
  *launch = (Launch){.work = {run_launch, end_launch}, .run = run, .number = number, .count = count};
  memcpy(launch->memory, memory, (size_t)count * sizeof *memory);
  Range ranges[kMost];
  for (int k = 0; k < count; ++k) ranges[k] = (Range){memory[k], bytes, k == count - 1, NULL};
  TF_Status* const status = TF_NewStatus();
  strict_enqueue(stream, "compiled code", &launch->work, ranges, count, status);
  const bool is_on_its_way = TF_GetCode(status) == TF_OK;
  TF_DeleteStatus(status);
  return is_on_its_way;
}

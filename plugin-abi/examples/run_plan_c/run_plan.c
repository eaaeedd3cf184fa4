/* Runs a model without Python: `run_plan KERNELS.so MODEL.plan INPUT.raw OUTPUT DIM...`.
 *
 * The plan was written by `drystone explain --plan`; it takes one feed of float32 numbers. Each fetch
 * is written to OUTPUT.k.raw, and its name and dimensions are printed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "drystone/session.h"
#include "drystone_host/library.h"

enum { kMostDims = 8, kMostFetches = 16, kNameSize = 4096 };

static void fail(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* Ends the program with the text of a status that is not OK. */
static void check(const char* what, const TF_Status* status) {
  if (TF_GetCode(status) != TF_OK) fail(what, TF_Message(status));
}

/* A file's bytes, with their number; never returns NULL. */
static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) fail(path, "it cannot be opened");
  if (fseek(file, 0, SEEK_END) != 0) fail(path, "it cannot be read");
  const long length = ftell(file);
  if (length < 0 || fseek(file, 0, SEEK_SET) != 0) fail(path, "it cannot be read");
  void* bytes = malloc((size_t)length + 1);
  if (bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
    fail(path, "it cannot be read");
  }
  fclose(file);
  *size = (size_t)length;
  return bytes;
}

static void load_kernels(const char* path, TF_Status* status) {
  DS_Library* library = DS_OpenLibrary(path, status);
  check(path, status);
  DS_InitLibrary(library, "TF_InitKernel", status);
  check(path, status);
}

static DS_Plan* load_plan(DS_Session* session, const char* path, TF_Status* status) {
  size_t size = 0;
  void* bytes = read_file(path, &size);
  TF_Buffer* buffer = TF_NewBufferFromString(bytes, size);
  DS_Plan* plan = DS_NewPlan(session, buffer, NULL, 0, status);
  TF_DeleteBuffer(buffer);
  free(bytes);
  check(path, status);
  return plan;
}

static TF_Tensor* read_tensor(const char* path, char** dims_text, int rank) {
  int64_t dims[kMostDims];
  int64_t count = 1;
  if (rank > kMostDims) fail(path, "too many dimensions");
  for (int k = 0; k < rank; ++k) {
    dims[k] = strtoll(dims_text[k], NULL, 10);
    count *= dims[k];
  }
  size_t size = 0;
  float* numbers = read_file(path, &size);
  if (count < 0 || size != (size_t)count * sizeof(float)) fail(path, "it has another size");
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, dims, rank, size);
  if (tensor == NULL) fail(path, "no tensor has these dimensions");
  float* to = TF_TensorData(tensor);
  for (int64_t k = 0; k < count; ++k) to[k] = numbers[k];
  free(numbers);
  return tensor;
}

static void write_tensor(const char* stem, int number, const TF_Tensor* tensor) {
  char path[kNameSize];
  snprintf(path, sizeof path, "%s.%d.raw", stem, number);
  FILE* file = fopen(path, "wb");
  const size_t size = TF_TensorByteSize(tensor);
  if (file == NULL || fwrite(TF_TensorData(tensor), 1, size, file) != size || fclose(file) != 0) {
    fail(path, "it cannot be written");
  }
}

static void run(DS_Plan* plan, TF_Tensor* feed, const char* output, TF_Status* status) {
  TF_Tensor* fetches[kMostFetches];
  const int count = DS_PlanNumFetches(plan);
  if (count > kMostFetches) fail("the plan", "it has too many fetches");
  DS_RunPlan(plan, NULL, &feed, 1, fetches, count, status);
  check("the run", status);
  for (int k = 0; k < count; ++k) {
    printf("%s", DS_PlanFetchName(plan, k));
    for (int d = 0; d < TF_NumDims(fetches[k]); ++d) printf(" %lld", (long long)TF_Dim(fetches[k], d));
    printf("\n");
    write_tensor(output, k, fetches[k]);
    TF_DeleteTensor(fetches[k]);
  }
}

int main(int count, char** arguments) {
  if (count < 5) fail("usage", "run_plan KERNELS.so MODEL.plan INPUT.raw OUTPUT DIM...");
  TF_Status* status = TF_NewStatus();
  load_kernels(arguments[1], status);
  DS_Session* session = DS_NewSession(NULL, status);
  check("a session", status);
  DS_Plan* plan = load_plan(session, arguments[2], status);
  TF_Tensor* feed = read_tensor(arguments[3], arguments + 5, count - 5);
  run(plan, feed, arguments[4], status);
  TF_DeleteTensor(feed);
  DS_DeletePlan(plan);
  DS_DeleteSession(session);
  TF_DeleteStatus(status);
  return 0;
}

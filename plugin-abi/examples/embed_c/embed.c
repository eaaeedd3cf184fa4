/* A program without Python that hosts plugins: `embed KERNELS.so FILESYSTEM.so`.
 *
 * It loads the example kernels and the example filesystem, stores two vectors as files of the
 * filesystem, reads them back into tensors, adds them with a kernel, and stores and prints the sum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/registry.h"
#include "drystone_host/core.h"
#include "drystone_host/filesystem.h"
#include "drystone_host/kernels.h"
#include "drystone_host/library.h"
#include "node.h"

enum { kCount = 4 };

/* Ends the program with the text of a status that is not OK. */
static void done(const char* what, const TF_Status* status) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s: %s\n", what, TF_Message(status));
  exit(1);
}

static void load_kernels(const char* path, TF_Status* status) {
  DS_Library* library = DS_OpenLibrary(path, status);
  done(path, status);
  DS_InitLibrary(library, "TF_InitKernel", status);
  done(path, status);
}

static void load_filesystem(const char* path, TF_Status* status) {
  TF_RegisterFilesystemPlugin(path, status);
  done(path, status);
}

/* A vector of kCount floats from a file. */
static TF_Tensor* read_vector(const char* path, TF_Status* status) {
  const int64_t dims[1] = {kCount};
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, dims, 1, kCount * sizeof(float));
  DS_ReadableFile* file = DS_OpenReadableFile(path, status);
  done(path, status);
  DS_ReadFile(file, 0, kCount * sizeof(float), TF_TensorData(tensor), status);
  done(path, status);
  DS_CloseReadableFile(file);
  return tensor;
}

static void write_vector(const char* path, const float* values, TF_Status* status) {
  DS_WriteWholeFile(path, values, kCount * sizeof(float), status);
  done(path, status);
}

/* a + weight * b, by a kernel of the library. */
static TF_Tensor* add(TF_Tensor* a, TF_Tensor* b, float weight, TF_Status* status) {
  Message message = weighted_sum_node("sum", TF_FLOAT, weight);
  if (message.failed) exit(1);
  TF_Buffer* node = TF_NewBufferFromString(message.bytes, message.length);
  free(message.bytes);
  const int64_t id = DS_FindKernel(node, NULL, NULL, status);
  done("no kernel", status);
  DS_Kernel* kernel = DS_NewKernel(id, node, NULL, NULL, status);
  done("the kernel cannot be made", status);
  TF_Tensor* inputs[2] = {a, b};
  TF_Tensor* output = NULL;
  DS_RunKernel(kernel, NULL, inputs, 2, &output, 1, status);
  done("the kernel failed", status);
  DS_DeleteKernel(kernel);
  TF_DeleteBuffer(node);
  return output;
}

static void list(const char* directory, TF_Status* status) {
  TF_StringStream* names = TF_GetChildren(directory, status);
  done(directory, status);
  const char* name = NULL;
  while (TF_StringStreamNext(names, &name)) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    printf("%s: %lld bytes\n", path, (long long)DS_GetFileSize(path, status));
    done(path, status);
  }
  TF_StringStreamDone(names);
}

int main(int count, char** arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: %s KERNELS.so FILESYSTEM.so\n", arguments[0]);
    return 2;
  }
  TF_Status* status = TF_NewStatus();
  printf("drystone host %s\n", DS_HostVersion());
  load_kernels(arguments[1], status);
  load_filesystem(arguments[2], status);
  DS_RecursivelyCreateDir("ramdemo://box/data", status);
  done("ramdemo://box/data", status);
  const float first[kCount] = {1, 2, 3, 4};
  const float second[kCount] = {10, 20, 30, 40};
  write_vector("ramdemo://box/data/a", first, status);
  write_vector("ramdemo://box/data/b", second, status);
  TF_Tensor* a = read_vector("ramdemo://box/data/a", status);
  TF_Tensor* b = read_vector("ramdemo://box/data/b", status);
  TF_Tensor* sum = add(a, b, 0.5f, status);
  write_vector("ramdemo://box/data/sum", TF_TensorData(sum), status);
  list("ramdemo://box/data", status);
  const float* values = TF_TensorData(sum);
  printf("a + 0.5 b = %g %g %g %g\n", values[0], values[1], values[2], values[3]);
  TF_DeleteTensor(a);
  TF_DeleteTensor(b);
  TF_DeleteTensor(sum);
  TF_DeleteStatus(status);
  DS_CleanupFilesystems();
  return 0;
}

/* Open files and memory regions of the example, and their tables. */
#ifndef RAMDEMO_FILES_H_
#define RAMDEMO_FILES_H_

#include "drystone/filesystem.h"
#include "store.h"

/* Open a node; the mutex of the store is held. NULL with an error when there is no memory. */
void* file_open(Store* store, Node* node, TF_Status* status);

/* A copy of a node's bytes; the mutex is held. NULL with an error when there is no memory. */
void* region_open(const Node* node, TF_Status* status);

void readable_table(TF_RandomAccessFileOps* ops);
void writable_table(TF_WritableFileOps* ops);
void region_table(TF_ReadOnlyMemoryRegionOps* ops);

#endif /* RAMDEMO_FILES_H_ */

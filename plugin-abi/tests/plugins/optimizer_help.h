/* What the test optimizers share: copying, and reports of what an item answers. */
#ifndef DRYSTONE_TESTS_OPTIMIZER_HELP_H_
#define DRYSTONE_TESTS_OPTIMIZER_HELP_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/optimizer.h"

static void free_bytes(void* data, size_t length) {
  (void)length;
  free(data);
}

/* Fill an empty buffer with a copy of bytes. */
static inline void put_bytes(const void* data, size_t length, TF_Buffer* out) {
  void* copy = malloc(length == 0 ? 1 : length);
  memcpy(copy, data, length);
  out->data = copy;
  out->length = length;
  out->data_deallocator = free_bytes;
}

static inline void copy_graph(const TF_Buffer* graph, TF_Buffer* optimized) {
  put_bytes(graph->data, graph->length, optimized);
}

/* Replace every occurrence of one name by another of the same length: a changed graph. */
static inline void replace_name(const TF_Buffer* graph, const char* from, const char* to,
                                TF_Buffer* optimized) {
  const size_t size = strlen(from);
  copy_graph(graph, optimized);
  char* bytes = (char*)optimized->data;
  for (size_t k = 0; k + size <= optimized->length; ++k) {
    if (memcmp(bytes + k, from, size) == 0) memcpy(bytes + k, to, size);
  }
}

/* Add a node of op NoOp: fields name (1) and op (2) of a NodeDef in field 1 of the GraphDef. */
static inline void append_node(const TF_Buffer* graph, const char* name, const char* op,
                               TF_Buffer* optimized) {
  const size_t names = strlen(name), ops = strlen(op);
  const size_t body = names + ops + 4;
  char* bytes = (char*)malloc(graph->length + body + 2);
  memcpy(bytes, graph->data, graph->length);
  char* next = bytes + graph->length;
  *next++ = 0x0a;
  *next++ = (char)body;
  *next++ = 0x0a;
  *next++ = (char)names;
  memcpy(next, name, names);
  next += names;
  *next++ = 0x12;
  *next++ = (char)ops;
  memcpy(next, op, ops);
  optimized->data = bytes;
  optimized->length = graph->length + body + 2;
  optimized->data_deallocator = free_bytes;
}

/* Append names, in the order of the list, to a NUL-terminated report. */
static inline void report_names(char* report, char** values, const size_t* lengths, int count) {
  for (int k = 0; k < count; ++k) {
    strcat(report, " ");
    strncat(report, values[k], lengths[k]);
  }
}

/* What an optimizer learns of its item, as the message of an ABORTED status: names to preserve,
 * fetches, and the number and bytes of the properties of the node `name`. */
static inline void report_item(const TF_GrapplerItem* item, const char* name, TF_Status* status) {
  char report[4096] = "preserve:";
  char storage[1024];
  char* values[64];
  size_t lengths[64];
  int count = 0;
  size_t bytes = 0;
  TF_GetNodesToPreserveListSize(item, &count, &bytes, status);
  if (TF_GetCode(status) != TF_OK) return;
  TF_GetNodesToPreserveList(item, values, lengths, count, storage, bytes, status);
  if (TF_GetCode(status) != TF_OK) return;
  report_names(report, values, lengths, count);
  strcat(report, "; fetch:");
  TF_GetFetchNodesListSize(item, &count, &bytes, status);
  if (TF_GetCode(status) != TF_OK) return;
  TF_GetFetchNodesList(item, values, lengths, count, storage, bytes, status);
  if (TF_GetCode(status) != TF_OK) return;
  report_names(report, values, lengths, count);
  TF_GraphProperties* const properties = TF_NewGraphProperties(item);
  TF_InferStatically(properties, 1, 0, 0, 0, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_GetOutputPropertiesListSize(properties, name, &count, status);
    sprintf(report + strlen(report), "; outputs of %s: %d,", name, count);
    for (int k = 0; k < count; ++k) {
      TF_Buffer* list[64];
      for (int n = 0; n <= k; ++n) list[n] = TF_NewBuffer();
      TF_GetOutputPropertiesList(properties, name, list, k + 1, status);
      const unsigned char* data = (const unsigned char*)list[k]->data;
      for (size_t n = 0; n < list[k]->length; ++n) {
        sprintf(report + strlen(report), "%02x", data[n]);
      }
      for (int n = 0; n <= k; ++n) TF_DeleteBuffer(list[n]);
    }
  }
  TF_DeleteGraphProperties(properties);
  if (TF_GetCode(status) == TF_OK) TF_SetStatus(status, TF_ABORTED, report);
}

#endif /* DRYSTONE_TESTS_OPTIMIZER_HELP_H_ */

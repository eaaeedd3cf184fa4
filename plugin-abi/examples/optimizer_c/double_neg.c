/* An optimizer in plain C11: the negative of a negative is the number itself.
 *
 *   y = Neg(x), z = Neg(y)      becomes      z = Identity(x)
 *
 * z keeps its name, device and attributes, so nothing that reads it changes. y is left alone; the
 * host removes it once nothing needs it. y must not be a node to preserve: it may be fed, and its
 * value is then not the negative of x. Negation only flips a sign bit (or wraps, for the smallest
 * integer), so the result is exact.
 *
 * This file is the optimizer; graph.c finds its way through the GraphDef bytes. */
#include <stdlib.h>
#include <string.h>

#include "drystone/optimizer.h"
#include "drystone/platform_strings.h"
#include "drystone/status.h"
#include "graph.h"

/* Record what processor and which ABI version this library was built for. Once per library. */
TF_PLATFORM_STRINGS()

/* Names of the nodes to preserve: feeds, fetches, and what the user asked for. */
typedef struct Names {
  int count;
  char** values; /* not NUL-terminated */
  size_t* lengths;
  char* storage;
} Names;

static void names_free(Names* names) {
  free(names->values);
  free(names->lengths);
  free(names->storage);
}

/* Ask for the sizes, make room, ask for the names. names_free is due whatever the status says. */
static void names_read(Names* names, const TF_GrapplerItem* item, TF_Status* status) {
  size_t size = 0;
  size_t room;
  memset(names, 0, sizeof *names);
  TF_GetNodesToPreserveListSize(item, &names->count, &size, status);
  if (TF_GetCode(status) != TF_OK || names->count == 0) return;
  room = (size_t)names->count;
  names->values = (char**)malloc(room * sizeof *names->values);
  names->lengths = (size_t*)malloc(room * sizeof *names->lengths);
  names->storage = (char*)malloc(size + 1);
  if (names->values == NULL || names->lengths == NULL || names->storage == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "double_neg: no memory for names");
    return;
  }
  TF_GetNodesToPreserveList(item, names->values, names->lengths, names->count, names->storage,
                            size, status);
}

static int names_have(const Names* names, Text name) {
  int k;
  for (k = 0; k < names->count; ++k) {
    if (names->lengths[k] == name.size && memcmp(names->values[k], name.data, name.size) == 0) {
      return 1;
    }
  }
  return 0;
}

/* The node whose negative `node` negates, where both are negations that wait for nothing else. */
static const Node* negated_twice(const Graph* graph, const Node* node, const Names* preserved) {
  const Node* inner;
  if (!text_is(node->op, "Neg") || node->inputs != 1) return NULL;
  inner = graph_find(graph, node->input);
  if (inner == NULL || !text_is(inner->op, "Neg") || inner->inputs != 1) return NULL;
  return inner == node || names_have(preserved, inner->name) ? NULL : inner;
}

/* The bytes of the graph with every double negation replaced. 0 when memory is exhausted. */
static int rewrite(const Graph* graph, const Names* preserved, Bytes* out) {
  size_t copied = 0; /* of the graph's bytes, so far */
  size_t k;
  for (k = 0; k < graph->count; ++k) {
    const Node* node = &graph->nodes[k];
    const Node* inner = negated_twice(graph, node, preserved);
    if (inner == NULL) continue;
    if (!bytes_append(out, graph->bytes.data + copied, node->start - copied)) return 0;
    if (!write_identity(node, inner->input, out)) return 0;
    copied = node->end;
  }
  return bytes_append(out, graph->bytes.data + copied, graph->bytes.size - copied);
}

static void free_bytes(void* data, size_t length) {
  (void)length;
  free(data);
}

static void optimize(void* optimizer, const TF_Buffer* input, const TF_GrapplerItem* item,
                     TF_Buffer* output, TF_Status* status) {
  Graph graph;
  Names preserved;
  Bytes result = {0};
  (void)optimizer; /* there is no create_func */
  if (!graph_read(&graph, input->data, input->length)) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT,
                 "double_neg: the bytes are no GraphDef, or memory is exhausted");
    return;
  }
  names_read(&preserved, item, status);
  if (TF_GetCode(status) == TF_OK && !rewrite(&graph, &preserved, &result)) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "double_neg: no memory for the new graph");
  }
  if (TF_GetCode(status) == TF_OK) {
    output->data = result.data; /* the host frees it with the function given here */
    output->length = result.size;
    output->data_deallocator = free_bytes;
  } else {
    free(result.data);
  }
  names_free(&preserved);
  graph_free(&graph);
}

/* The library's only export. The host has allocated the structs and preset sizes and versions. */
TF_CAPI_EXPORT void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  if (!DRYSTONE_HAS_MEMBER(TP_OptimizerRegistrationParams, params, optimizer)) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT,
                 "double_neg: the host's TP_OptimizerRegistrationParams is too short");
    return;
  }
  params->device_type = "CPU";
  params->optimizer->optimize_func = optimize; /* no state: create_func and destroy_func stay NULL */
  TF_SetStatus(status, TF_OK, "");
}

/* A subgraph backend: regions of element-wise float ops, computed in one loop over the elements.
 *
 * A region is compiled to a program of one step a node. Every input has the shape of the outputs,
 * or is one number; for other shapes compile declines, and the host runs the region. */
#include <stdlib.h>
#include <string.h>

#include "drystone/platform_strings.h"
#include "drystone/subgraph.h"

TF_PLATFORM_STRINGS()

enum { kMost = 64 }; /* nodes, inputs and outputs of a region */

typedef enum { kAdd, kSub, kMul, kNeg, kNone } Op;

typedef struct {
  Op op;
  int from[2]; /* places of the operands: inputs first, then the results of steps */
} Step;

typedef struct {
  int inputs, steps, outputs;
  int rank;
  int64_t dims[8];
  int64_t elements;
  int single[kMost]; /* by input: whether it is one number */
  int out[kMost];
  Step step[kMost];
} Program;

static Op op_of(const DS_SubgraphNode* node) {
  static const char* const names[] = {"AddV2", "Sub", "Mul", "Neg"};
  if (node->num_outputs != 1 || node->output_types[0] != TF_FLOAT) return kNone;
  for (int k = 0; k < 4; ++k) {
    if (strcmp(node->op, names[k]) == 0) return (Op)k;
  }
  return kNone;
}

static unsigned char wants(const DS_SubgraphBackend* backend, void* selector,
                           const DS_SubgraphNode* node) {
  (void)backend;
  (void)selector;
  return op_of(node) != kNone;
}

static unsigned char accept(const DS_SubgraphBackend* backend, const DS_SubgraphRegion* region,
                            TF_Status* status) {
  (void)backend;
  if (region->num_nodes + region->num_inputs <= kMost && region->num_outputs <= kMost) return 1;
  TF_SetStatus(status, TF_UNIMPLEMENTED, "the region is too large");
  return 0;
}

static int64_t count(const DS_SubgraphValue* value) {
  int64_t elements = 1;
  for (int k = 0; k < value->rank; ++k) elements *= value->dims[k];
  return elements;
}

/* Whether a value has more to say of the outputs' shape than another: one number has least. */
static int larger(const DS_SubgraphValue* value, const DS_SubgraphValue* than) {
  if (count(than) == 1) return count(value) != 1 || value->rank > than->rank;
  return count(value) > 1 && count(value) > count(than);
}

/* The shape of the outputs is that of the largest input; others must be like it, or one number. */
static int set_shape(Program* program, const DS_SubgraphRegion* region) {
  const DS_SubgraphValue* largest = region->inputs[0];
  for (int k = 1; k < region->num_inputs; ++k) {
    if (larger(region->inputs[k], largest)) largest = region->inputs[k];
  }
  if (largest->rank < 0 || largest->rank > 8) return 0;
  program->rank = largest->rank;
  program->elements = count(largest);
  for (int k = 0; k < largest->rank; ++k) program->dims[k] = largest->dims[k];
  for (int k = 0; k < region->num_inputs; ++k) {
    const DS_SubgraphValue* value = region->inputs[k];
    const size_t bytes = (size_t)largest->rank * sizeof(int64_t);
    program->single[k] = value->rank <= largest->rank && count(value) == 1;
    if (program->single[k]) continue;
    if (value->rank != largest->rank) return 0;
    if (bytes != 0 && memcmp(value->dims, largest->dims, bytes) != 0) return 0;
  }
  return 1;
}

/* Every step must have an operand of the full shape, or its result would be smaller. */
static int add_steps(Program* program, const DS_SubgraphRegion* region) {
  for (int k = 0; k < region->num_nodes; ++k) {
    const DS_SubgraphNode* node = region->nodes[k];
    Step* step = &program->step[k];
    int full = program->elements == 1;
    step->op = op_of(node);
    if (step->op == kNone) return 0;
    for (int i = 0; i < node->num_inputs; ++i) {
      const int32_t* from = node->inputs + 2 * (size_t)i;
      const int inside = from[0] >= 0;
      step->from[i] = inside ? region->num_inputs + from[0] : from[1];
      full = full || inside || !program->single[step->from[i]];
    }
    if (node->num_inputs == 1) step->from[1] = step->from[0];
    if (!full) return 0;
  }
  for (int k = 0; k < region->num_outputs; ++k) {
    if (region->outputs[k]->node < 0) return 0;
    program->out[k] = region->num_inputs + region->outputs[k]->node;
  }
  return 1;
}

static void* compile(const DS_SubgraphBackend* backend, const DS_SubgraphRegion* region,
                     TF_Status* status) {
  (void)backend;
  Program* program = calloc(1, sizeof(Program));
  if (program == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a program");
    return NULL;
  }
  program->inputs = region->num_inputs;
  program->steps = region->num_nodes;
  program->outputs = region->num_outputs;
  if (region->num_inputs > 0 && set_shape(program, region) && add_steps(program, region)) {
    return program;
  }
  free(program);
  TF_SetStatus(status, TF_UNIMPLEMENTED, "inputs of different shapes");
  return NULL;
}

static float apply(Op op, float a, float b) {
  switch (op) {
    case kAdd: return a + b;
    case kSub: return a - b;
    case kMul: return a * b;
    default: return -a;
  }
}

static void execute(const DS_SubgraphBackend* backend, void* executable, TF_Tensor* const* inputs,
                    int32_t num_inputs, TF_Tensor** outputs, int32_t num_outputs,
                    TF_Status* status) {
  (void)backend;
  const Program* program = executable;
  const float* from[kMost];
  float* to[kMost];
  float value[kMost];
  for (int k = 0; k < num_inputs; ++k) from[k] = TF_TensorData(inputs[k]);
  for (int k = 0; k < num_outputs; ++k) {
    outputs[k] = TF_AllocateTensor(TF_FLOAT, program->dims, program->rank,
                                   (size_t)program->elements * sizeof(float));
    if (outputs[k] == NULL) {
      TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for an output");
      return;
    }
    to[k] = TF_TensorData(outputs[k]);
  }
  for (int64_t i = 0; i < program->elements; ++i) {
    for (int k = 0; k < num_inputs; ++k) value[k] = from[k][program->single[k] ? 0 : i];
    for (int k = 0; k < program->steps; ++k) {
      const Step* step = &program->step[k];
      value[num_inputs + k] = apply(step->op, value[step->from[0]], value[step->from[1]]);
    }
    for (int k = 0; k < num_outputs; ++k) to[k][i] = value[program->out[k]];
  }
}

static void destroy(const DS_SubgraphBackend* backend, void* executable) {
  (void)backend;
  free(executable);
}

/* A program holds no pointers, so its bytes are all there is to write. A backend whose layout changes
 * states another version. */
static void free_bytes(void* data, size_t length) {
  (void)length;
  free(data);
}

static void serialize(const DS_SubgraphBackend* backend, void* executable, TF_Buffer* bytes,
                      TF_Status* status) {
  (void)backend;
  void* copy = malloc(sizeof(Program));
  if (copy == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a program");
    return;
  }
  bytes->data = memcpy(copy, executable, sizeof(Program));
  bytes->length = sizeof(Program);
  bytes->data_deallocator = free_bytes;
}

static void* deserialize(const DS_SubgraphBackend* backend, const DS_SubgraphRegion* region,
                         const TF_Buffer* bytes, TF_Status* status) {
  (void)backend;
  Program* program = bytes->length == sizeof(Program) ? malloc(sizeof(Program)) : NULL;
  if (program != NULL) memcpy(program, bytes->data, sizeof(Program));
  if (program != NULL && program->inputs == region->num_inputs) return program;
  free(program);
  TF_SetStatus(status, TF_DATA_LOSS, "no program of this region");
  return NULL;
}

TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->major_version = DS_SUBGRAPH_MAJOR;
  params->minor_version = DS_SUBGRAPH_MINOR;
  params->patch_version = DS_SUBGRAPH_PATCH;
  params->backend->struct_size = DS_SUBGRAPH_BACKEND_STRUCT_SIZE;
  params->backend->name = "elementwise";
  params->backend->minimum_size = 2;
  params->backend->version = "1";
  params->selector_fns->struct_size = DS_SUBGRAPH_SELECTOR_FNS_STRUCT_SIZE;
  params->selector_fns->select = wants;
  params->fns->struct_size = DS_SUBGRAPH_FNS_STRUCT_SIZE;
  params->fns->accept = accept;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
  params->fns->serialize = serialize;
  params->fns->deserialize = deserialize;
}

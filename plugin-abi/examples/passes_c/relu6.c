/* A pass over graphs in plain C11: every Relu becomes a Relu6.
 *
 *   y = Relu(x)      becomes      y = Relu6(x)
 *
 * The two ops have the same inputs and attributes, so a node only gets another op; everything else
 * of the GraphDef is copied byte for byte. Setting "only": the name of the one node to change. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/passes.h"
#include "drystone/platform_strings.h"
#include "drystone/status.h"

/* Record what processor and which ABI version this library was built for. Once per library. */
TF_PLATFORM_STRINGS()

enum { FIELD_NAME = 1, FIELD_OP = 2, GRAPH_NODE = 1 };
enum { TYPE_VARINT = 0, TYPE_FIXED64 = 1, TYPE_BYTES = 2, TYPE_FIXED32 = 5 };

typedef struct Text {
  const char* data;
  size_t size;
} Text;

/* One field of a protobuf message; all of it, and the payload of a length-delimited one. */
typedef struct Field {
  uint64_t number;
  int type;
  Text whole;
  Text payload;
} Field;

static int read_varint(Text* rest, uint64_t* value) {
  unsigned shift;
  *value = 0;
  for (shift = 0; shift < 64 && rest->size > 0; shift += 7) {
    const unsigned char byte = (unsigned char)*rest->data;
    ++rest->data;
    --rest->size;
    *value |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) return 1;
  }
  return 0;
}

/* Take one field off `rest`. 0 for malformed bytes. */
static int read_field(Text* rest, Field* field) {
  const char* const start = rest->data;
  uint64_t tag, size = 0;
  if (!read_varint(rest, &tag) || tag >> 3 == 0) return 0;
  field->number = tag >> 3;
  field->type = (int)(tag & 7);
  if (field->type == TYPE_VARINT) {
    if (!read_varint(rest, &size)) return 0;
    size = 0;
  } else if (field->type == TYPE_FIXED64) {
    size = 8;
  } else if (field->type == TYPE_FIXED32) {
    size = 4;
  } else if (field->type != TYPE_BYTES || !read_varint(rest, &size)) {
    return 0;
  }
  if (size > rest->size) return 0;
  field->payload.data = rest->data;
  field->payload.size = (size_t)size;
  rest->data += size;
  rest->size -= (size_t)size;
  field->whole.data = start;
  field->whole.size = (size_t)(rest->data - start);
  return 1;
}

static int text_is(Text text, const char* word, size_t size) {
  return text.size == size && memcmp(text.data, word, size) == 0;
}

/* The bytes so far; `out` has room for one more byte a node, which is what Relu6 needs over Relu,
 * and for one more in each length. */
typedef struct Bytes {
  char* data;
  size_t size;
} Bytes;

static void append(Bytes* out, Text text) {
  if (text.size != 0) memcpy(out->data + out->size, text.data, text.size);
  out->size += text.size;
}

static void append_varint(Bytes* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->data[out->size++] = (char)(value | 0x80);
  out->data[out->size++] = (char)value;
}

/* Whether a node is one to change; `only` is empty for every Relu. */
static int is_wanted(Text message, Text only) {
  Text name = {0}, op = {0};
  Field field;
  while (message.size > 0 && read_field(&message, &field)) {
    if (field.type != TYPE_BYTES) continue;
    if (field.number == FIELD_NAME) name = field.payload;
    if (field.number == FIELD_OP) op = field.payload;
  }
  return text_is(op, "Relu", 4) && (only.size == 0 || text_is(name, only.data, only.size));
}

static void append_node(Bytes* out, Text message) {
  static const Text relu6 = {"Relu6", 5};
  Field field;
  append_varint(out, GRAPH_NODE << 3 | TYPE_BYTES);
  append_varint(out, message.size + 1); /* one letter more */
  while (message.size > 0 && read_field(&message, &field)) {
    if (field.number == FIELD_OP && field.type == TYPE_BYTES) {
      append_varint(out, FIELD_OP << 3 | TYPE_BYTES);
      append_varint(out, relu6.size);
      append(out, relu6);
    } else {
      append(out, field.whole);
    }
  }
}

/* The text of {"only": "NAME"}; empty where nothing is set. Names that need escapes are not found. */
static Text only_of(const char* settings) {
  Text none = {"", 0}, found;
  const char* const key = strstr(settings, "\"only\": \"");
  const char* end;
  if (key == NULL) return none;
  found.data = key + 9;
  end = strchr(found.data, '"');
  if (end == NULL) return none;
  found.size = (size_t)(end - found.data);
  return found;
}

static void free_bytes(void* data, size_t length) {
  (void)length;
  free(data);
}

/* One graph; `result` stays empty where there is nothing to change. */
static void rewrite(const TF_Buffer* graph, Text only, TF_Buffer* result, TF_Status* status) {
  Text rest = {(const char*)graph->data, graph->length};
  Bytes out = {NULL, 0};
  int changed = 0;
  Field field;
  out.data = (char*)malloc(graph->length * 2 + 16); /* a node of Relu has more bytes than it gains */
  if (out.data == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "relu6: no memory for the graph");
    return;
  }
  while (rest.size > 0) {
    if (!read_field(&rest, &field)) {
      free(out.data);
      TF_SetStatus(status, TF_INVALID_ARGUMENT, "relu6: the bytes are no GraphDef");
      return;
    }
    if (field.number == GRAPH_NODE && field.type == TYPE_BYTES && is_wanted(field.payload, only)) {
      append_node(&out, field.payload);
      changed = 1;
    } else {
      append(&out, field.whole);
    }
  }
  if (!changed) {
    free(out.data);
    return;
  }
  result->data = out.data;
  result->length = out.size;
  result->data_deallocator = free_bytes;
}

static void run(void* context, const DS_PassCall* call, TF_Status* status) {
  const Text only = only_of(call->settings);
  int32_t k;
  (void)context;
  for (k = 0; k < call->num_graphs && TF_GetCode(status) == TF_OK; ++k) {
    rewrite(call->graphs[k], only, call->results[k], status);
  }
}

TF_CAPI_EXPORT void DS_InitPasses(DS_PassRegistrationParams* params, TF_Status* status) {
  static const char* const ops[] = {"Relu", NULL};
  DS_Pass pass = {0};
  params->major_version = DS_PASSES_MAJOR;
  params->minor_version = DS_PASSES_MINOR;
  params->patch_version = DS_PASSES_PATCH;
  pass.struct_size = DS_PASS_STRUCT_SIZE;
  pass.name = "Relu6";
  pass.grouping = DS_PassGrouping_PrePlacement;
  pass.phase = 5;
  pass.ops = ops;
  pass.run = run; /* is_default stays 0: values change, so users ask for it */
  DS_RegisterPass(&pass, status);
}

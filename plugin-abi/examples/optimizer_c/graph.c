#include "graph.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_NAME = 1, FIELD_OP = 2, FIELD_INPUT = 3, GRAPH_NODE = 1 };
enum { TYPE_VARINT = 0, TYPE_FIXED64 = 1, TYPE_BYTES = 2, TYPE_FIXED32 = 5 };

/* One field of a message: number, wire type, and the payload of a length-delimited one. */
typedef struct Field {
  uint64_t number;
  int type;
  Text payload;
} Field;

int text_is(Text text, const char* word) {
  return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

static int text_order(Text a, Text b) {
  const size_t common = a.size < b.size ? a.size : b.size;
  const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
  if (order != 0) return order;
  return (a.size > b.size) - (a.size < b.size);
}

int bytes_append(Bytes* bytes, const char* data, size_t size) {
  if (size > bytes->room - bytes->size || bytes->data == NULL) {
    const size_t room = (bytes->size + size) * 2 + 64;
    char* grown = (char*)realloc(bytes->data, room);
    if (grown == NULL) return 0;
    bytes->data = grown;
    bytes->room = room;
  }
  if (size != 0) memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
  return 1;
}

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
  uint64_t tag, size = 0;
  if (!read_varint(rest, &tag) || tag >> 3 == 0) return 0;
  field->number = tag >> 3;
  field->type = (int)(tag & 7);
  field->payload.data = rest->data;
  field->payload.size = 0;
  if (field->type == TYPE_VARINT) return read_varint(rest, &size);
  if (field->type == TYPE_FIXED64) size = 8;
  else if (field->type == TYPE_FIXED32) size = 4;
  else if (field->type != TYPE_BYTES || !read_varint(rest, &size)) return 0;
  if (size > rest->size) return 0;
  field->payload.data = rest->data;
  field->payload.size = (size_t)size;
  rest->data += size;
  rest->size -= (size_t)size;
  return 1;
}

static int read_node(Node* node) {
  Text rest = node->message;
  Field field;
  while (rest.size > 0) {
    if (!read_field(&rest, &field)) return 0;
    if (field.type != TYPE_BYTES) continue;
    if (field.number == FIELD_NAME) node->name = field.payload;
    if (field.number == FIELD_OP) node->op = field.payload;
    if (field.number == FIELD_INPUT && node->inputs++ == 0) node->input = field.payload;
  }
  return 1;
}

static int add_node(Graph* graph, Text message, size_t start, size_t end, size_t* room) {
  Node node = {0};
  if (graph->count == *room) {
    Node* grown = (Node*)realloc(graph->nodes, (*room * 2 + 64) * sizeof *grown);
    if (grown == NULL) return 0;
    graph->nodes = grown;
    *room = *room * 2 + 64;
  }
  node.message = message;
  node.start = start;
  node.end = end;
  if (!read_node(&node)) return 0;
  graph->nodes[graph->count++] = node;
  return 1;
}

static int name_order(const void* a, const void* b) {
  return text_order((*(const Node* const*)a)->name, (*(const Node* const*)b)->name);
}

static int sort_names(Graph* graph) {
  size_t k;
  graph->by_name = (const Node**)malloc((graph->count + 1) * sizeof *graph->by_name);
  if (graph->by_name == NULL) return 0;
  for (k = 0; k < graph->count; ++k) graph->by_name[k] = &graph->nodes[k];
  qsort(graph->by_name, graph->count, sizeof *graph->by_name, name_order);
  return 1;
}

int graph_read(Graph* graph, const void* data, size_t size) {
  Text rest = {(const char*)data, size};
  size_t room = 0;
  int ok = 1;
  memset(graph, 0, sizeof *graph);
  graph->bytes = rest;
  while (ok && rest.size > 0) {
    const size_t start = graph->bytes.size - rest.size;
    Field field;
    ok = read_field(&rest, &field);
    if (ok && field.number == GRAPH_NODE && field.type == TYPE_BYTES) {
      ok = add_node(graph, field.payload, start, graph->bytes.size - rest.size, &room);
    }
  }
  if (ok && sort_names(graph)) return 1;
  graph_free(graph);
  return 0;
}

void graph_free(Graph* graph) {
  free(graph->nodes);
  free((void*)graph->by_name);
  memset(graph, 0, sizeof *graph);
}

const Node* graph_find(const Graph* graph, Text input) {
  size_t low = 0, high = graph->count;
  if (input.size > 2 && memcmp(input.data + input.size - 2, ":0", 2) == 0) input.size -= 2;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = text_order(graph->by_name[middle]->name, input);
    if (order == 0) return graph->by_name[middle];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return NULL; /* no node's name holds a ':' or begins with '^' */
}

static int write_varint(Bytes* out, uint64_t value) {
  char bytes[10];
  size_t size = 0;
  for (; value >= 0x80; value >>= 7) bytes[size++] = (char)(value | 0x80);
  bytes[size++] = (char)value;
  return bytes_append(out, bytes, size);
}

static int write_text(Bytes* out, unsigned number, Text text) {
  return write_varint(out, (uint64_t)number << 3 | TYPE_BYTES) && write_varint(out, text.size) &&
         bytes_append(out, text.data, text.size);
}

int write_identity(const Node* node, Text input, Bytes* out) {
  static const Text identity = {"Identity", 8};
  Bytes message = {0};
  Text rest = node->message;
  int ok = 1;
  while (ok && rest.size > 0) {
    const char* start = rest.data;
    Field field;
    ok = read_field(&rest, &field);
    if (!ok) break;
    if (field.type == TYPE_BYTES && field.number == FIELD_OP) {
      ok = write_text(&message, FIELD_OP, identity);
    } else if (field.type == TYPE_BYTES && field.number == FIELD_INPUT) {
      ok = write_text(&message, FIELD_INPUT, input);
    } else {
      ok = bytes_append(&message, start, (size_t)(rest.data - start));
    }
  }
  if (ok) {
    const Text whole = {message.data, message.size};
    ok = write_text(out, GRAPH_NODE, whole);
  }
  free(message.data);
  return ok;
}

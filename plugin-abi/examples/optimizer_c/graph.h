/* Just enough of the protobuf wire format to find nodes in a GraphDef and to write one again. */
#ifndef DOUBLE_NEG_GRAPH_H_
#define DOUBLE_NEG_GRAPH_H_

#include <stddef.h>

/* Bytes of another owner's; not NUL-terminated. */
typedef struct Text {
  const char* data;
  size_t size;
} Text;

/* Bytes that grow; free(data) when done. */
typedef struct Bytes {
  char* data;
  size_t size;
  size_t room;
} Bytes;

/* One NodeDef. All texts lie in the graph's bytes. */
typedef struct Node {
  Text message; /* the NodeDef itself */
  Text name;
  Text op;
  Text input;    /* the first one; "name", "name:port" or "^name" */
  size_t inputs; /* how many, control inputs included */
  size_t start;  /* where the field begins in the graph's bytes, tag included ... */
  size_t end;    /* ... and where it ends */
} Node;

typedef struct Graph {
  Text bytes;
  Node* nodes; /* in the order of the bytes */
  size_t count;
  const Node** by_name; /* the same, sorted by name */
} Graph;

int text_is(Text text, const char* word);
int bytes_append(Bytes* bytes, const char* data, size_t size);

/* Read a serialised GraphDef, which must outlive the graph. 0 when it is malformed or memory is
 * exhausted; otherwise graph_free is due. */
int graph_read(Graph* graph, const void* data, size_t size);
void graph_free(Graph* graph);

/* The node whose first output the input text names; NULL for a control input, for another output,
 * and where there is no such node. */
const Node* graph_find(const Graph* graph, Text input);

/* Append the node as an Identity of `input`, everything else kept byte for byte. 0 when memory is
 * exhausted. */
int write_identity(const Node* node, Text input, Bytes* out);

#endif /* DOUBLE_NEG_GRAPH_H_ */

/* Writing a NodeDef, the protocol buffer message that describes a node, without a protobuf library. */
#ifndef EMBED_NODE_H_
#define EMBED_NODE_H_

#include <stddef.h>

/* Bytes of a message that is being written. Zero it first; free(bytes) in the end. */
typedef struct Message {
  unsigned char* bytes;
  size_t length;
  int failed; /* there was no memory */
} Message;

/* A node "name" of an op with two edges "a" and "b", and the attributes T = dtype and weight. */
Message weighted_sum_node(const char* name, int dtype, float weight);

#endif /* EMBED_NODE_H_ */

/* A NodeDef by hand: see node.h. Field numbers are those of TensorFlow's published messages. */
#include "node.h"

#include <stdlib.h>
#include <string.h>

enum {
  kNodeName = 1,
  kNodeOp = 2,
  kNodeInput = 3,
  kNodeAttr = 5,
  kEntryKey = 1,
  kEntryValue = 2,
  kAttrFloat = 4,
  kAttrType = 6,
  kNumber = 0, /* ways a value is written */
  kBytes = 2,
  kFourBytes = 5
};

static void put(Message* message, const void* bytes, size_t length) {
  unsigned char* grown = realloc(message->bytes, message->length + length + 1);
  if (grown == NULL) {
    message->failed = 1;
    return;
  }
  memcpy(grown + message->length, bytes, length);
  message->bytes = grown;
  message->length += length;
}

static void put_number(Message* message, size_t number) {
  for (; number >= 128; number >>= 7) {
    const unsigned char low = (unsigned char)(number | 128);
    put(message, &low, 1);
  }
  const unsigned char last = (unsigned char)number;
  put(message, &last, 1);
}

static void put_tag(Message* message, int field, int way) {
  put_number(message, (size_t)(field << 3 | way));
}

static void put_bytes(Message* message, int field, const void* bytes, size_t length) {
  put_tag(message, field, kBytes);
  put_number(message, length);
  put(message, bytes, length);
}

static void put_text(Message* message, int field, const char* text) {
  put_bytes(message, field, text, strlen(text));
}

/* Adds an attribute, and frees its value. */
static void put_attr(Message* node, const char* name, Message* value) {
  Message entry = {NULL, 0, 0};
  put_text(&entry, kEntryKey, name);
  put_bytes(&entry, kEntryValue, value->bytes, value->length);
  put_bytes(node, kNodeAttr, entry.bytes, entry.length);
  node->failed |= entry.failed | value->failed;
  free(entry.bytes);
  free(value->bytes);
}

Message weighted_sum_node(const char* name, int dtype, float weight) {
  Message node = {NULL, 0, 0};
  Message type = {NULL, 0, 0};
  Message number = {NULL, 0, 0};
  put_text(&node, kNodeName, name);
  put_text(&node, kNodeOp, "ExampleWeightedSum");
  put_text(&node, kNodeInput, "a");
  put_text(&node, kNodeInput, "b");
  put_tag(&type, kAttrType, kNumber);
  put_number(&type, (size_t)dtype);
  put_attr(&node, "T", &type);
  put_tag(&number, kAttrFloat, kFourBytes);
  put(&number, &weight, sizeof weight); /* little-endian, as all supported machines are */
  put_attr(&node, "weight", &number);
  return node;
}

/* The files of the example: named pieces of memory in directories. Knows nothing of plugins. */
#ifndef RAMDEMO_STORE_H_
#define RAMDEMO_STORE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <threads.h>

/* A file or directory. Lives as long as the store names it or it is open. */
typedef struct Node {
  char* path; /* "/a/b"; the root is "/" */
  bool is_directory;
  bool is_named; /* false once it was deleted */
  int open;      /* how many have it open */
  char* data;
  size_t length;
  size_t capacity;
  int64_t mtime_nsec;
} Node;

/* All functions except create and destroy want the mutex held. */
typedef struct Store {
  mtx_t mutex;
  Node** nodes; /* sorted by path */
  size_t count;
  size_t capacity;
} Store;

/* A store with an empty root directory; NULL without memory. */
Store* store_create(void);
void store_destroy(Store* store);

/* The node of a path, or NULL. */
Node* store_find(const Store* store, const char* path);

/* A new, empty node; the path must be free. NULL without memory. */
Node* store_add(Store* store, const char* path, bool is_directory);

/* A new, empty file without a name; NULL without memory. Wants no mutex. */
Node* store_draft(const char* path);

/* Name a draft by its path, in place of a file that has the name; false without memory. */
bool store_show(Store* store, Node* draft);

/* Take the name away; frees the node unless it is open. */
void store_remove(Store* store, Node* node);

/* Give a node another path, which must be free; false without memory. */
bool store_rename(Store* store, Node* node, const char* path);

/* One who had the node open is done with it. */
void store_close(Node* node);

/* Add bytes at the end; false without memory. */
bool store_append(Node* node, const char* data, size_t length);

/* The node above a path when it is a directory, else NULL. */
Node* store_parent(const Store* store, const char* path);

/* The name of a child in its directory, or NULL when `node` lies elsewhere. */
const char* store_name_in(const Node* node, const char* directory);

#endif /* RAMDEMO_STORE_H_ */

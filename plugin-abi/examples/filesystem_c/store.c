/* The files of the example: see store.h. */
#include "store.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static char* copied(const char* text, size_t length) {
  char* out = malloc(length + 1);
  if (out == NULL) return NULL;
  memcpy(out, text, length);
  out[length] = '\0';
  return out;
}

static void touch(Node* node) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  node->mtime_nsec = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void node_free(Node* node) {
  if (node == NULL) return;
  free(node->path);
  free(node->data);
  free(node);
}

Store* store_create(void) {
  Store* store = calloc(1, sizeof *store);
  if (store == NULL) return NULL;
  if (mtx_init(&store->mutex, mtx_plain) != thrd_success) {
    free(store);
    return NULL;
  }
  if (store_add(store, "/", true) == NULL) {
    store_destroy(store);
    return NULL;
  }
  return store;
}

void store_destroy(Store* store) {
  for (size_t k = 0; k < store->count; ++k) node_free(store->nodes[k]);
  free(store->nodes);
  mtx_destroy(&store->mutex);
  free(store);
}

/* Where a path is, or would be. */
static size_t place(const Store* store, const char* path) {
  size_t low = 0;
  size_t high = store->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(store->nodes[middle]->path, path) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Node* store_find(const Store* store, const char* path) {
  const size_t k = place(store, path);
  if (k == store->count || strcmp(store->nodes[k]->path, path) != 0) return NULL;
  return store->nodes[k];
}

/* Room for one node more. */
static bool grow(Store* store) {
  if (store->count < store->capacity) return true;
  const size_t capacity = store->capacity == 0 ? 16 : 2 * store->capacity;
  Node** nodes = realloc(store->nodes, capacity * sizeof *nodes);
  if (nodes == NULL) return false;
  store->nodes = nodes;
  store->capacity = capacity;
  return true;
}

static void insert(Store* store, Node* node) {
  const size_t k = place(store, node->path);
  memmove(store->nodes + k + 1, store->nodes + k, (store->count - k) * sizeof *store->nodes);
  store->nodes[k] = node;
  store->count += 1;
  node->is_named = true;
}

static void take_out(Store* store, Node* node) {
  const size_t k = place(store, node->path);
  store->count -= 1;
  memmove(store->nodes + k, store->nodes + k + 1, (store->count - k) * sizeof *store->nodes);
  node->is_named = false;
}

Node* store_draft(const char* path) {
  Node* node = calloc(1, sizeof *node);
  if (node == NULL) return NULL;
  node->path = copied(path, strlen(path));
  if (node->path == NULL) {
    node_free(node);
    return NULL;
  }
  touch(node);
  return node;
}

Node* store_add(Store* store, const char* path, bool is_directory) {
  Node* node = store_draft(path);
  if (node == NULL || !grow(store)) {
    node_free(node);
    return NULL;
  }
  node->is_directory = is_directory;
  insert(store, node);
  return node;
}

bool store_show(Store* store, Node* draft) {
  if (!grow(store)) return false;
  Node* there = store_find(store, draft->path);
  if (there != NULL) store_remove(store, there);
  insert(store, draft);
  return true;
}

void store_remove(Store* store, Node* node) {
  take_out(store, node);
  if (node->open == 0) node_free(node);
}

bool store_rename(Store* store, Node* node, const char* path) {
  char* name = copied(path, strlen(path));
  if (name == NULL) return false;
  take_out(store, node);
  free(node->path);
  node->path = name;
  insert(store, node);
  return true;
}

void store_close(Node* node) {
  node->open -= 1;
  if (node->open == 0 && !node->is_named) node_free(node);
}

bool store_append(Node* node, const char* data, size_t length) {
  if (length > SIZE_MAX / 2 - node->length) return false;
  const size_t needed = node->length + length;
  if (needed > node->capacity) {
    const size_t capacity = needed < 64 ? 64 : 2 * needed;
    char* grown = realloc(node->data, capacity);
    if (grown == NULL) return false;
    node->data = grown;
    node->capacity = capacity;
  }
  if (length != 0) memcpy(node->data + node->length, data, length);
  node->length = needed;
  touch(node);
  return true;
}

Node* store_parent(const Store* store, const char* path) {
  const char* slash = strrchr(path, '/');
  if (slash == NULL) return NULL;
  char* above = slash == path ? copied("/", 1) : copied(path, (size_t)(slash - path));
  if (above == NULL) return NULL;
  Node* node = store_find(store, above);
  free(above);
  return node != NULL && node->is_directory ? node : NULL;
}

const char* store_name_in(const Node* node, const char* directory) {
  const size_t length = strcmp(directory, "/") == 0 ? 0 : strlen(directory);
  if (strncmp(node->path, directory, length) != 0 || node->path[length] != '/') return NULL;
  const char* name = node->path + length + 1;
  return *name == '\0' || strchr(name, '/') != NULL ? NULL : name;
}

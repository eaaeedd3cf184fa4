/* Strings in tensors. A TF_STRING tensor's memory is an array of TF_TString, 24 bytes each.
 *
 * Since ABI 1.0. The two low bits of the first byte say which of four forms a string has:
 *   SMALL   up to 22 bytes inside the struct itself, NUL-terminated
 *   LARGE   bytes on the heap (malloc), with size and capacity; this string owns them
 *   OFFSET  bytes that lie a fixed distance after the struct, in the same block of memory
 *   VIEW    bytes that another owner holds and keeps alive
 * Zeroed memory is an empty SMALL string, so a freshly allocated tensor is valid.
 *
 * Who owns what: LARGE bytes go with the string; free them with TF_StringDealloc (a string that lies
 * in a tensor is freed with the tensor). Never copy the struct with memcpy unless the source is then
 * forgotten. Threads: as for any plain struct.
 *
 * Each operation exists twice: as an inline function (TF_TString_...) for code that handles many
 * strings, and as a function of the host (TF_String...) for languages that cannot inline C. The bytes
 * of a string may hold NULs; the terminating NUL is not counted and OFFSET and VIEW strings need none.
 */
#ifndef DRYSTONE_TSTRING_H_
#define DRYSTONE_TSTRING_H_

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TF_TString_Type {
  TF_TSTR_SMALL = 0x00,
  TF_TSTR_LARGE = 0x01,
  TF_TSTR_OFFSET = 0x02,
  TF_TSTR_VIEW = 0x03,
  TF_TSTR_TYPE_MASK = 0x03
} TF_TString_Type;

/* Sizes are stored as `size << 2 | form`, little-endian. */
typedef struct TF_TString_Large {
  size_t size;
  size_t cap; /* bytes that fit without growing, the NUL not counted */
  char* ptr;
} TF_TString_Large;

typedef struct TF_TString_Offset {
  uint32_t size;
  uint32_t offset; /* from the start of the struct to the bytes */
  uint32_t count;  /* free for the writer's use */
} TF_TString_Offset;

typedef struct TF_TString_View {
  size_t size;
  const char* ptr;
  /* Newer TensorFlow headers keep an owner here that counts references. Plugins built with older ones
   * leave the word undefined, so the host neither reads nor calls it: the bytes of a view must live
   * as long as the string, by any owner. */
  void* owner;
} TF_TString_View;

typedef struct TF_TString_Raw {
  uint8_t raw[24];
} TF_TString_Raw;

typedef union TF_TString_Union {
  TF_TString_Large large;
  TF_TString_Offset offset;
  TF_TString_View view;
  TF_TString_Raw raw;
} TF_TString_Union;

enum { TF_TString_SmallCapacity = (sizeof(TF_TString_Union) - sizeof(char) - sizeof(uint8_t)) };

typedef struct TF_TString_Small {
  uint8_t size; /* size << 2 */
  char str[TF_TString_SmallCapacity + sizeof(char)];
} TF_TString_Small;

typedef struct TF_TString {
  union {
    TF_TString_Small smll;
    TF_TString_Large large;
    TF_TString_Offset offset;
    TF_TString_View view;
    TF_TString_Raw raw;
  } u;
} TF_TString;

/* ---- functions of the host; a NULL string is accepted everywhere ---- */

/* Make uninitialised memory an empty string. */
TF_CAPI_EXPORT extern void TF_StringInit(TF_TString* t);
/* Replace the bytes by a copy of `size` bytes; `src` may lie in `dst` itself. NULL with size 0 is
 * the empty string. */
TF_CAPI_EXPORT extern void TF_StringCopy(TF_TString* dst, const char* src, size_t size);
/* Replace the bytes by a view of `size` bytes that the caller keeps alive. */
TF_CAPI_EXPORT extern void TF_StringAssignView(TF_TString* dst, const char* src, size_t size);
/* The bytes. They live until the string is next changed. */
TF_CAPI_EXPORT extern const char* TF_StringGetDataPointer(const TF_TString* tstr);
/* The form. */
TF_CAPI_EXPORT extern TF_TString_Type TF_StringGetType(const TF_TString* str);
/* The number of bytes. */
TF_CAPI_EXPORT extern size_t TF_StringGetSize(const TF_TString* tstr);
/* How many bytes fit without growing; 0 for OFFSET and VIEW. */
TF_CAPI_EXPORT extern size_t TF_StringGetCapacity(const TF_TString* str);
/* Free what the string owns and leave it empty. */
TF_CAPI_EXPORT extern void TF_StringDealloc(TF_TString* tstr);

/* ---- the same inline ---- */

static inline void TF_TString_Init(TF_TString* str) { memset(str, 0, sizeof(TF_TString)); }

static inline TF_TString_Type TF_TString_GetType(const TF_TString* str) {
  return (TF_TString_Type)(str->u.raw.raw[0] & TF_TSTR_TYPE_MASK);
}

static inline size_t TF_TString_GetSize(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return str->u.smll.size >> 2;
    case TF_TSTR_OFFSET:
      return str->u.offset.size >> 2;
    case TF_TSTR_LARGE:
      return str->u.large.size >> 2;
    default:
      return str->u.view.size >> 2;
  }
}

static inline size_t TF_TString_GetCapacity(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return TF_TString_SmallCapacity;
    case TF_TSTR_LARGE:
      return str->u.large.cap;
    default:
      return 0;
  }
}

static inline const char* TF_TString_GetDataPointer(const TF_TString* str) {
  switch (TF_TString_GetType(str)) {
    case TF_TSTR_SMALL:
      return str->u.smll.str;
    case TF_TSTR_LARGE:
      return str->u.large.ptr;
    case TF_TSTR_OFFSET:
      return (const char*)str + str->u.offset.offset;
    default:
      return str->u.view.ptr;
  }
}

static inline void TF_TString_Dealloc(TF_TString* str) {
  if (TF_TString_GetType(str) == TF_TSTR_LARGE) free(str->u.large.ptr);
  TF_TString_Init(str);
}

/* Set the size of a string that has the room and owns its bytes, and end it with NUL. */
static inline char* TF_TString_SetSize_(TF_TString* str, size_t size) {
  char* bytes;
  /* It has the room, but compilers that know `size` warn of bytes beyond a small string. */
  if (TF_TString_GetType(str) == TF_TSTR_SMALL && size <= TF_TString_SmallCapacity) {
    str->u.smll.size = (uint8_t)(size << 2);
    bytes = str->u.smll.str;
  } else {
    str->u.large.size = size << 2 | TF_TSTR_LARGE;
    bytes = str->u.large.ptr;
  }
  bytes[size] = '\0';
  return bytes;
}

/* Make room for `capacity` bytes and own them. The bytes so far are kept; where memory is exhausted
 * the string is left as it was. */
static inline bool TF_TString_Grow_(TF_TString* str, size_t capacity) {
  const size_t size = TF_TString_GetSize(str);
  const char* from = TF_TString_GetDataPointer(str);
  const TF_TString_Type type = TF_TString_GetType(str);
  TF_TString grown;
  const bool owned = type == TF_TSTR_SMALL || type == TF_TSTR_LARGE;
  if (owned && capacity <= TF_TString_GetCapacity(str)) return true;
  if (capacity < size) capacity = size;
  TF_TString_Init(&grown);
  if (capacity > TF_TString_SmallCapacity) {
    const size_t rounded = ((capacity + 1 + 15) & ~(size_t)15) - 1;
    if (rounded < capacity) return false;
    grown.u.large.ptr = (char*)malloc(rounded + 1);
    if (grown.u.large.ptr == NULL) return false;
    grown.u.large.cap = rounded;
    grown.u.large.size = TF_TSTR_LARGE;
  }
  if (size != 0) memcpy(TF_TString_SetSize_(&grown, size), from, size);
  if (size == 0) TF_TString_SetSize_(&grown, 0);
  if (type == TF_TSTR_LARGE) free(str->u.large.ptr);
  *str = grown;
  return true;
}

/* Room for at least `new_cap` bytes. */
static inline void TF_TString_Reserve(TF_TString* str, size_t new_cap) {
  (void)TF_TString_Grow_(str, new_cap);
}

/* The same, at least doubling, so that many appends cost linear time. */
static inline void TF_TString_ReserveAmortized(TF_TString* str, size_t new_cap) {
  const size_t now = TF_TString_GetCapacity(str);
  if (new_cap > now) (void)TF_TString_Grow_(str, new_cap > 2 * now ? new_cap : 2 * now);
}

/* Set the size; new bytes are undefined. Returns the bytes, or NULL when memory is exhausted. */
static inline char* TF_TString_ResizeUninitialized(TF_TString* str, size_t new_size) {
  if (!TF_TString_Grow_(str, new_size)) return NULL;
  return TF_TString_SetSize_(str, new_size);
}

/* Set the size; new bytes are `c`. */
static inline char* TF_TString_Resize(TF_TString* str, size_t new_size, char c) {
  const size_t size = TF_TString_GetSize(str);
  char* bytes = TF_TString_ResizeUninitialized(str, new_size);
  if (bytes != NULL && new_size > size) memset(bytes + size, c, new_size - size);
  return bytes;
}

/* The bytes for writing; a view or offset string becomes one that owns its bytes first. */
static inline char* TF_TString_GetMutableDataPointer(TF_TString* str) {
  const size_t size = TF_TString_GetSize(str);
  return TF_TString_ResizeUninitialized(str, size);
}

static inline void TF_TString_Copy(TF_TString* dst, const char* src, size_t size) {
  TF_TString fresh;
  char* bytes;
  TF_TString_Init(&fresh);
  bytes = TF_TString_ResizeUninitialized(&fresh, src == NULL ? 0 : size);
  if (bytes == NULL) return;
  if (src != NULL && size != 0) memcpy(bytes, src, size);
  TF_TString_Dealloc(dst);
  *dst = fresh;
}

static inline void TF_TString_AssignView(TF_TString* dst, const char* src, size_t size) {
  TF_TString_Dealloc(dst);
  dst->u.view.size = size << 2 | TF_TSTR_VIEW;
  dst->u.view.ptr = src;
  dst->u.view.owner = NULL;
}

/* `src` may lie in `dst` itself. */
static inline void TF_TString_AppendN(TF_TString* dst, const char* src, size_t src_size) {
  const size_t size = TF_TString_GetSize(dst);
  const uintptr_t from = (uintptr_t)src, start = (uintptr_t)TF_TString_GetDataPointer(dst);
  const bool inside = from >= start && from < start + size;
  char* bytes;
  if (src_size == 0 || src == NULL) return;
  TF_TString_ReserveAmortized(dst, size + src_size);
  bytes = TF_TString_ResizeUninitialized(dst, size + src_size);
  if (bytes != NULL) memcpy(bytes + size, inside ? bytes + (from - start) : src, src_size);
}

static inline void TF_TString_Append(TF_TString* dst, const TF_TString* src) {
  TF_TString_AppendN(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
}

/* A copy; of a view, another view of the same bytes. */
static inline void TF_TString_Assign(TF_TString* dst, const TF_TString* src) {
  if (dst == src) return;
  if (TF_TString_GetType(src) == TF_TSTR_VIEW || TF_TString_GetType(src) == TF_TSTR_OFFSET) {
    TF_TString_AssignView(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
  } else {
    TF_TString_Copy(dst, TF_TString_GetDataPointer(src), TF_TString_GetSize(src));
  }
}

/* Take over what `src` holds, which becomes empty; an offset string is viewed where it lies. */
static inline void TF_TString_Move(TF_TString* dst, TF_TString* src) {
  if (dst == src) return;
  if (TF_TString_GetType(src) == TF_TSTR_OFFSET) {
    TF_TString_Assign(dst, src);
    return;
  }
  TF_TString_Dealloc(dst);
  *dst = *src;
  TF_TString_Init(src);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_TSTRING_H_ */

// SPDX-License-Identifier: Apache-2.0
//
// Error text and compiler helpers shared by all of our .c files.
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "pprof/base.h"

#define PPI_VERSION "0.2.0"

#define PPI_LIKELY(x) __builtin_expect(!!(x), 1)
#define PPI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#ifdef __cplusplus
#define PPI_STATIC_ASSERT static_assert
#else
#define PPI_STATIC_ASSERT _Static_assert
#endif
// For declarations of data: without it, gcc accesses the data through the table
// of addresses for other libraries' data.
#define PPI_HIDDEN __attribute__((visibility("hidden")))
// Keeps gcc from computing a value again at each use, or as part of another
// one.
#define PPI_COMPUTED(value) __asm__("" : "+r"(value))
// Sets a flag that every marker may set and only one has to: the others only
// read it, so that its cache line stays with all threads.
#define PPI_STORE_ONCE(pointer, value)                         \
  do {                                                         \
    if (__atomic_load_n(pointer, __ATOMIC_RELAXED) != (value)) \
      __atomic_store_n(pointer, value, __ATOMIC_RELAXED);      \
  } while (0)
// PPI_THEN makes a call that answers a status if `status` is good so far;
// PPI_TRY makes one, and returns its status if it failed.
#define PPI_THEN(status, ...)                                  \
  do {                                                         \
    if ((status) == PPROF_STATUS_OK) (status) = (__VA_ARGS__); \
  } while (0)
#define PPI_TRY(...)                                      \
  do {                                                    \
    pprof_status ppi_tried_ = (__VA_ARGS__);              \
    if (ppi_tried_ != PPROF_STATUS_OK) return ppi_tried_; \
  } while (0)
#define PPI_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PPI_MAX(a, b) ((a) > (b) ? (a) : (b))

// PPI_ORDER defines `name`, which qsort takes: by each of `keys` in turn.
// PPI_ORDER_FOR_ALL is that for other files, too, PPI_ORDER_OF_POINTERS for an
// array of pointers.
#define PPI_ORDER_FOR_ALL(name, type, keys)       \
  int name(const void *left, const void *right) { \
    const type *a = left, *b = right;             \
    keys return 0;                                \
  }
#define PPI_ORDER(name, type, keys) static PPI_ORDER_FOR_ALL(name, type, keys)
#define PPI_ORDER_OF_POINTERS(name, type, keys)          \
  static int name(const void *left, const void *right) { \
    const type *a = *(const type *const *)left;          \
    const type *b = *(const type *const *)right;         \
    keys return 0;                                       \
  }
#define PPI_UP(key)               \
  if (a->key < b->key) return -1; \
  if (a->key > b->key) return 1;
#define PPI_DOWN(key)             \
  if (a->key > b->key) return -1; \
  if (a->key < b->key) return 1;
#define PPI_BY_TEXT(key) PPI_BY(strcmp(a->key, b->key))
#define PPI_BY(compared)     \
  {                          \
    int order = compared;    \
    if (order) return order; \
  }

PPROF_BEGIN_C_

// ppi_fail formats a message into `error` (which may be NULL) and returns
// `status`, so that a function can say `return ppi_fail(...)`.
pprof_status ppi_fail(pprof_error *error, pprof_status status,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ppi_text_cut answers how many bytes of `text`, `limit` at most, hold no half
// of a UTF-8 character at their end.
size_t ppi_text_cut(const char *text, size_t limit);

// ppi_copy_options copies a caller's size-first structure over zeroes. It
// answers false when bytes beyond what we know are not zero.
bool ppi_copy_options(void *out, size_t out_size, const void *options);

PPROF_END_C_

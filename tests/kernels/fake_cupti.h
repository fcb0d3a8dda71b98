// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for libcupti: its entry points, played by the test. Calls of the
// program happen, and records come, when the test says so.
#ifndef PPT_FAKE_CUPTI_H_
#define PPT_FAKE_CUPTI_H_

#include "cupti_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fake_cupti {
  // What the entry points answer, by name, once so many calls were answered
  // with success; NULL ends the list. What fails does nothing.
  struct {
    const char *name;
    int result;
    uint32_t after;
  } results[8];
  size_t dropped;
  size_t records_a_buffer;  // a buffer is complete when it has so many
  // What was asked for so far.
  uint32_t num_subscribed, num_unsubscribed, num_finalized, num_calls;
  uint32_t num_kinds;      // that are enabled now
  uint32_t num_no_buffer;  // requests that were answered with none
  // A call of the driver on this thread, or of the runtime with the driver's
  // inside: its callbacks are made, `inside` between the driver's, where it is
  // not NULL. Answers its correlation.
  uint32_t (*call)(const char *function, int result, void (*inside)(void *),
                   void *argument);
  // A node becomes part of a graph; its number is 1000 more.
  void (*capture_node)(uintptr_t node);
  // A graph gets a copy of a node.
  void (*clone_node)(uintptr_t node, uintptr_t original);
  // The device is done with something: `record` is one of its records.
  void (*deliver)(const void *record, size_t size);
  // CUDA is initialized, and it ends: a call after that ends the process.
  void (*initialize)(void);
  void (*end)(void);
  // The context goes, with what it has not done: what it has done is told.
  void (*reset)(void);
  // The clock that the client has registered.
  uint64_t (*now)(void);
} fake_cupti;

// Exported: the one that this library is.
typedef fake_cupti *fake_cupti_get_type(void);

#ifdef __cplusplus
}
#endif

#endif  // PPT_FAKE_CUPTI_H_

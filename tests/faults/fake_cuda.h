// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the CUDA driver, built as a libcuda.so.1 that the ordinary
// search path finds. Its device does nothing but keep order: an event happens
// when it is recorded, or, in a stream that is held, when that is let go.
//
// The cu... functions are for the library under test alone. The program's own
// part goes through the controls below, so that every cu... call is counted,
// and judged by what the documentation of the driver and docs/devices.md say
// of it: who may call what, on which thread, in which state.
//
// Environment: FAKE_CUDA_FAIL="cuInit=999,..." has calls answer that from the
// first on. Built with FAKE_CUDA_VERSION below 13000 it lacks what that version
// of the driver lacked.
#ifndef PPT_FAKE_CUDA_H_
#define PPT_FAKE_CUDA_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FAKE_CAPTURE_GLOBAL, FAKE_CAPTURE_THREAD_LOCAL, FAKE_CAPTURE_RELAXED };

typedef enum fake_cuda_fault {
  FAKE_FAULT_ONCE,
  FAKE_FAULT_ALWAYS,  // at each later call of the function, too
  FAKE_FAULT_STICKY   // as do all calls that touch the device
} fake_cuda_fault;

typedef struct fake_cuda_controls {
  // The program's part. A new context is current on the thread that made it.
  // `code` is what the driver answers to who uses a destroyed one, or what was
  // in it. Its address comes back for the next context.
  void *(*context_create)(void);
  void (*context_destroy)(void *context, int code);
  // A handle comes back for the next stream once its own is destroyed.
  void *(*stream_create)(void *context);
  void (*stream_destroy)(void *stream);
  void (*stream_hold)(void *stream, bool hold);
  int (*capture_begin)(void *stream, int mode);
  int (*capture_end)(void *stream);  // 901: something has broken it

  // Faults. `function` answers `code` at its `at`-th call from now.
  void (*fail)(const char *function, int code, uint64_t at,
               fake_cuda_fault fault);
  // The driver is gone, as at the end of a process: every call answers 4, and
  // its name goes to the file `path`.
  void (*deinitialise)(const char *path);

  // What was called: by name, or all (NULL).
  uint64_t (*num_calls)(const char *function);
  uint64_t (*num_calls_of_children)(void);  // forked ones
  uint64_t (*num_collectors)(void);         // threads that stay in relaxed mode
  uint64_t (*num_live_events)(void);
  // The first call that was wrong, or "".
  const char *(*first_violation)(void);
} fake_cuda_controls;

__attribute__((visibility("default"))) const fake_cuda_controls *fake_cuda(
    void);

#ifdef __cplusplus
}
#endif

#endif  // PPT_FAKE_CUDA_H_

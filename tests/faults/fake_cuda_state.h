// SPDX-License-Identifier: Apache-2.0
//
// What the stand-in for the CUDA driver is made of: shared by the driver's
// functions and the controls. One mutex guards all of it; handles are never
// freed, so that use after destroy is counted, not suffered.
#pragma once

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#include "fake_cuda.h"

enum {
  INVALID_VALUE = 1,
  NOT_INITIALIZED = 3,
  DEINITIALIZED = 4,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_READY = 600,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
  CAPTURE_IMPLICIT = 906,
  MAX_CONTEXTS = 16,
  MAX_STREAMS = 256,
  MAX_DEPTH = 8
};

#define FUNCTIONS(X)                   \
  X(cuInit)                            \
  X(cuDeviceGetCount)                  \
  X(cuDevicePrimaryCtxGetState)        \
  X(cuStreamGetCtx)                    \
  X(cuCtxGetCurrent)                   \
  X(cuCtxGetDevice)                    \
  X(cuCtxGetId)                        \
  X(cuStreamGetId)                     \
  X(cuStreamIsCapturing)               \
  X(cuThreadExchangeStreamCaptureMode) \
  X(cuCtxPushCurrent_v2)               \
  X(cuCtxPopCurrent_v2)                \
  X(cuStreamCreate)                    \
  X(cuStreamDestroy_v2)                \
  X(cuEventCreate)                     \
  X(cuEventDestroy_v2)                 \
  X(cuEventRecord)                     \
  X(cuEventRecordWithFlags)            \
  X(cuEventElapsedTime)                \
  X(cuEventElapsedTime_v2)             \
  X(cuGetErrorName)

enum {
#define NUMBER(name) F_##name,
  FUNCTIONS(NUMBER)
#undef NUMBER
      NUM_FUNCTIONS
};

// What is in a context goes with it; `gone` is what the driver answers then.
typedef struct context {
  uint64_t id;  // 0: never used
  int gone;
} context;

typedef struct stream {
  context *owner;
  int gone;
  uint64_t id;
  bool is_alive, is_held;
  bool is_ours;         // made by the program, not through cuStreamCreate
  int capture, mode;    // capture: 0 none, 1 active, 2 invalidated
  pthread_t capturing;  // the thread that began it
} stream;

typedef struct event {
  struct event *next;
  context *owner;
  int gone;
  stream *in;  // held: it has not happened
  uint64_t happened_ns;
  uint64_t number;  // of the record call
  bool is_alive, is_recorded;
} event;

typedef struct fault {
  int code;
  uint64_t at;  // 0: none
  fake_cuda_fault kind;
} fault;

typedef struct fake_state {
  pthread_mutex_t mutex;
  pid_t owner;
  bool is_initialised;
  const char *deinitialised;  // where calls are noted then
  int broken;                 // a sticky error
  uint64_t calls[NUM_FUNCTIONS];
  fault faults[NUM_FUNCTIONS];
  context contexts[MAX_CONTEXTS];
  event *events;
  stream streams[MAX_STREAMS];
  uint64_t num_contexts, num_streams, num_records, num_collectors;
  char violation[160];
} fake_state;

extern fake_state fake;
extern const char *const fake_names[];
extern uint64_t *fake_calls_of_children;  // their parent sees it
extern __thread int fake_capture_mode;
extern __thread context *fake_current;  // of the program's thread

// fake_enter begins every call of the driver and answers what that is to answer
// at once, or 0; fake_leave ends it.
int fake_enter(int function);
int fake_leave(int code);
void fake_violate(int function, const char *what);
stream *fake_stream_new(context *owner);
void fake_stream_let_go(stream *in);
void fake_stream_end(stream *ended);

static inline uint64_t fake_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

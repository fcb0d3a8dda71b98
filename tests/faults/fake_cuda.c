// SPDX-License-Identifier: Apache-2.0
//
// The functions of the stand-in for the CUDA driver. Numbers and meanings of
// results are typed from the driver's documentation.
#include <stdlib.h>

#include "fake_cuda_state.h"

#ifndef FAKE_CUDA_VERSION
#define FAKE_CUDA_VERSION 13000
#endif

#define API __attribute__((visibility("default")))

static __thread context *pushed[MAX_DEPTH];
static __thread int num_pushed;

static context *current_context(void) {
  return num_pushed ? pushed[num_pushed - 1] : fake_current;
}

// The program may be told what is wrong with a handle; it is never followed.
static int find_stream(void *handle, stream **out) {
  stream *found = handle;
  bool is_place = found >= fake.streams && found < fake.streams + MAX_STREAMS;
  if (!is_place || !found->is_alive) return INVALID_HANDLE;
  *out = found;
  return found->gone;
}

// What goes with a context must not be asked for any more. A marker cannot
// know in time.
static int find_event(int function, void *handle, event **out) {
  event *found = handle;
  if (!found) return INVALID_HANDLE;
  if (!found->is_alive) {
    fake_violate(function, "an event that was destroyed");
    return INVALID_HANDLE;
  }
  if (found->gone && fake_capture_mode == FAKE_CAPTURE_RELAXED)
    fake_violate(function, "an event whose context is gone");
  *out = found;
  return found->gone;
}

// The legacy stream waits for every other one, so a word to it disturbs a
// capture.
static stream *any_capture(void) {
  for (int i = 0; i < MAX_STREAMS; i++)
    if (fake.streams[i].is_alive && fake.streams[i].capture == 1)
      return &fake.streams[i];
  return NULL;
}

// Questions that may not be asked while somebody captures, each thread in its
// own mode.
static int check_captures(int function) {
  int code = 0;
  for (int i = 0; i < MAX_STREAMS; i++) {
    stream *one = &fake.streams[i];
    if (!one->is_alive || one->capture != 1) continue;
    bool own = pthread_equal(one->capturing, pthread_self());
    bool forbids = fake_capture_mode != FAKE_CAPTURE_RELAXED &&
                   (own || fake_capture_mode == FAKE_CAPTURE_GLOBAL) &&
                   (one->mode == FAKE_CAPTURE_GLOBAL ||
                    (one->mode == FAKE_CAPTURE_THREAD_LOCAL && own));
    if (!forbids) continue;
    fake_violate(function, "forbidden while a stream captures");
    one->capture = 2;
    code = CAPTURE_UNSUPPORTED;
  }
  return code;
}

API int cuInit(unsigned flags) {
  int code = fake_enter(F_cuInit);
  if (!code && flags) code = INVALID_VALUE;
  if (!code) fake.is_initialised = true;
  return fake_leave(code);
}

API int cuDeviceGetCount(int *out_num) {
  int code = fake_enter(F_cuDeviceGetCount);
  if (!code && !fake.is_initialised) code = NOT_INITIALIZED;
  if (!code) *out_num = 1;
  return fake_leave(code);
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *out_flags,
                                   int *out_active) {
  int code = fake_enter(F_cuDevicePrimaryCtxGetState);
  *out_flags = 0;
  *out_active = !code && device == 0 && fake_current;
  return fake_leave(code);
}

// Of an A100, as far as anybody asks; by the driver's numbers.
API int cuDeviceGetAttribute(int *out, int attribute, int device) {
  static const int values[][2] = {{39, 2048},  {75, 8},   {81, 167936},
                                  {82, 65536}, {106, 32}, {111, 1024}};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (values[i][0] == attribute && device == 0) {
      *out = values[i][1];
      return 0;
    }
  return 1;  // an invalid value
}

#if FAKE_CUDA_VERSION >= 9020
API int cuStreamGetCtx(void *handle, void **out) {
  stream *found;
  int code = fake_enter(F_cuStreamGetCtx);
  if (!code && !handle) {
    stream *capturing = any_capture();
    *out = current_context();
    if (capturing) {
      capturing->capture = 2;
      code = CAPTURE_IMPLICIT;
    } else if (!*out) {
      code = INVALID_CONTEXT;
    }
  } else if (!code) {
    code = find_stream(handle, &found);
    if (!code) *out = found->owner;
  }
  return fake_leave(code);
}
#endif

API int cuCtxGetCurrent(void **out) {
  int code = fake_enter(F_cuCtxGetCurrent);
  if (!code) *out = current_context();
  return fake_leave(code);
}

API int cuCtxGetDevice(int *out) {
  int code = fake_enter(F_cuCtxGetDevice);
  if (!code && !current_context()) code = INVALID_CONTEXT;
  if (!code) *out = 0;
  return fake_leave(code);
}

#if FAKE_CUDA_VERSION >= 12000
API int cuCtxGetId(void *handle, unsigned long long *out) {
  const context *asked = handle ? handle : current_context();
  int code = fake_enter(F_cuCtxGetId);
  if (!code) code = asked ? asked->gone : INVALID_CONTEXT;
  if (!code) *out = asked->id;
  return fake_leave(code);
}

API int cuStreamGetId(void *handle, unsigned long long *out) {
  stream *found;
  int code = fake_enter(F_cuStreamGetId);
  if (!code && !handle) {
    *out = 1;
    code = current_context() ? 0 : INVALID_CONTEXT;
  } else if (!code) {
    code = find_stream(handle, &found);
    if (!code && found->capture) {
      fake_violate(F_cuStreamGetId, "ends the capture of its stream");
      found->capture = 2;
      code = CAPTURE_UNSUPPORTED;
    }
    if (!code) *out = found->id;
  }
  return fake_leave(code);
}
#endif

#if FAKE_CUDA_VERSION >= 10000
API int cuStreamIsCapturing(void *handle, int *out) {
  stream *found;
  int code = fake_enter(F_cuStreamIsCapturing);
  if (!code && !handle) {
    *out = 0;
    code = any_capture()        ? CAPTURE_IMPLICIT
           : !current_context() ? INVALID_CONTEXT
                                : 0;
  } else if (!code) {
    code = find_stream(handle, &found);
    if (!code) *out = found->capture;
  }
  return fake_leave(code);
}
#endif

#if FAKE_CUDA_VERSION >= 10010
API int cuThreadExchangeStreamCaptureMode(int *mode) {
  int code = fake_enter(F_cuThreadExchangeStreamCaptureMode);
  if (!code) {
    int before = fake_capture_mode;
    if (*mode == FAKE_CAPTURE_RELAXED && before != *mode) fake.num_collectors++;
    if (before == FAKE_CAPTURE_RELAXED && before != *mode)
      fake.num_collectors--;
    fake_capture_mode = *mode;
    *mode = before;
  }
  return fake_leave(code);
}
#endif

API int cuCtxPushCurrent_v2(void *handle) {
  context *wanted = handle;
  int code = fake_enter(F_cuCtxPushCurrent_v2);
  if (!code && !wanted) code = INVALID_CONTEXT;
  if (!code) code = wanted->gone;
  if (!code && num_pushed == MAX_DEPTH) {
    fake_violate(F_cuCtxPushCurrent_v2, "never taken back");
    code = INVALID_CONTEXT;
  }
  if (!code) pushed[num_pushed++] = wanted;
  return fake_leave(code);
}

API int cuCtxPopCurrent_v2(void **out) {
  int code = fake_enter(F_cuCtxPopCurrent_v2);
  if (num_pushed)
    *out = pushed[--num_pushed];
  else if (!code)
    code = INVALID_CONTEXT;
  return fake_leave(code);
}

API int cuStreamCreate(void **out, unsigned flags) {
  int code = fake_enter(F_cuStreamCreate);
  context *owner = current_context();
  if (!code) code = check_captures(F_cuStreamCreate);
  if (!code) code = owner ? owner->gone : INVALID_CONTEXT;
  if (!code && flags != 1)
    fake_violate(F_cuStreamCreate, "blocks the legacy one");
  if (!code) *out = fake_stream_new(owner);
  return fake_leave(code);
}

API int cuStreamDestroy_v2(void *handle) {
  stream *found;
  int code = fake_enter(F_cuStreamDestroy_v2);
  if (!code) code = check_captures(F_cuStreamDestroy_v2);
  if (!code) code = find_stream(handle, &found);
  if (!code && found->is_ours)
    fake_violate(F_cuStreamDestroy_v2, "the program's stream");
  if (!code) fake_stream_end(found);
  return fake_leave(code);
}

API int cuEventCreate(void **out, unsigned flags) {
  int code = fake_enter(F_cuEventCreate);
  context *owner = current_context();
  if (!code) code = check_captures(F_cuEventCreate);
  if (!code) code = owner ? owner->gone : INVALID_CONTEXT;
  if (!code && flags & 2)
    fake_violate(F_cuEventCreate, "an event without times");
  if (!code) {
    event *made = calloc(1, sizeof *made);
    if (!made) abort();
    *made = (event){.next = fake.events, .owner = owner, .is_alive = true};
    *out = fake.events = made;
  }
  return fake_leave(code);
}

API int cuEventDestroy_v2(void *handle) {
  event *found;
  int code = fake_enter(F_cuEventDestroy_v2);
  if (!code) code = check_captures(F_cuEventDestroy_v2);
  if (!code) code = find_event(F_cuEventDestroy_v2, handle, &found);
  if (!code) found->is_alive = false;
  return fake_leave(code);
}

// Into the legacy stream, when there is none.
static int put(int function, event *recorded, stream *into) {
  if (into && into->owner != recorded->owner) {
    fake_violate(function, "an event of another context");
    return INVALID_HANDLE;
  }
  if (into && into->is_ours == (fake_capture_mode == FAKE_CAPTURE_RELAXED))
    fake_violate(function, "into a stream of somebody else");
  if (into && into->capture == 1) {
    fake_violate(function, "into a stream that captures");
    into->capture = 2;
    return CAPTURE_UNSUPPORTED;
  }
  if (recorded->in)
    fake_violate(function, "an event that is in a stream still");
  recorded->is_recorded = true;
  recorded->number = ++fake.num_records;
  recorded->in = into && into->is_held ? into : NULL;
  recorded->happened_ns = fake_now_ns();
  return 0;
}

static int record(int function, void *handle, void *in) {
  event *found;
  stream *into = NULL;
  int code = fake_enter(function);
  if (!code) code = find_event(function, handle, &found);
  if (!code && in) code = find_stream(in, &into);
  if (!code && !in) {
    stream *capturing = any_capture();
    if (capturing) {
      fake_violate(function, "into the legacy stream while another captures");
      capturing->capture = 2;
      code = CAPTURE_IMPLICIT;
    }
  }
  if (!code) code = put(function, found, into);
  return fake_leave(code);
}

API int cuEventRecord(void *handle, void *in) {
  return record(F_cuEventRecord, handle, in);
}

#if FAKE_CUDA_VERSION >= 11010
API int cuEventRecordWithFlags(void *handle, void *in, unsigned flags) {
  if (!flags) return record(F_cuEventRecordWithFlags, handle, in);
  // A node of the graph; nothing happens before that is launched.
  event *found;
  stream *into;
  int code = fake_enter(F_cuEventRecordWithFlags);
  if (!code) code = find_event(F_cuEventRecordWithFlags, handle, &found);
  if (!code) code = find_stream(in, &into);
  if (!code && !into->capture) code = INVALID_VALUE;
  return fake_leave(code);
}
#endif

static int elapsed(int function, float *out_ms, void *from, void *to) {
  event *first, *second;
  int code = fake_enter(function);
  if (!code) code = check_captures(function);
  if (!code) code = find_event(function, from, &first);
  if (!code) code = find_event(function, to, &second);
  if (!code && (!first->is_recorded || !second->is_recorded))
    code = INVALID_HANDLE;
  if (!code && (first->in || second->in)) code = NOT_READY;
  if (!code && first->owner != second->owner) code = INVALID_HANDLE;
  if (!code)
    *out_ms = (float)(int64_t)(second->happened_ns - first->happened_ns) / 1e6f;
  return fake_leave(code);
}

API int cuEventElapsedTime(float *out_ms, void *from, void *to) {
  return elapsed(F_cuEventElapsedTime, out_ms, from, to);
}

#if FAKE_CUDA_VERSION >= 12080
API int cuEventElapsedTime_v2(float *out_ms, void *from, void *to) {
  return elapsed(F_cuEventElapsedTime_v2, out_ms, from, to);
}
#endif

API int cuGetErrorName(int code, const char **out) {
  static const struct {
    int code;
    const char *name;
  } known[] = {{0, "CUDA_SUCCESS"},
               {2, "CUDA_ERROR_OUT_OF_MEMORY"},
               {3, "CUDA_ERROR_NOT_INITIALIZED"},
               {4, "CUDA_ERROR_DEINITIALIZED"},
               {35, "CUDA_ERROR_INSUFFICIENT_DRIVER"},
               {100, "CUDA_ERROR_NO_DEVICE"},
               {101, "CUDA_ERROR_INVALID_DEVICE"},
               {201, "CUDA_ERROR_INVALID_CONTEXT"},
               {400, "CUDA_ERROR_INVALID_HANDLE"},
               {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
               {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
               {719, "CUDA_ERROR_LAUNCH_FAILED"},
               {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
               {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
               {999, "CUDA_ERROR_UNKNOWN"}};
  fake_leave(fake_enter(F_cuGetErrorName));
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].code == code) return *out = known[i].name, 0;
  return INVALID_VALUE;
}

// What waits, for the device or for a lock that recording threads hold, or has
// the device wait or call back: nobody may even ask.
#define FORBIDDEN(name)            \
  API int name(void);              \
  API int name(void) {             \
    fake_violate(F_cuInit, #name); \
    abort();                       \
  }
FORBIDDEN(cuCtxSynchronize)
FORBIDDEN(cuStreamSynchronize)
FORBIDDEN(cuEventSynchronize)
FORBIDDEN(cuEventQuery)
FORBIDDEN(cuStreamWaitEvent)
FORBIDDEN(cuStreamQuery)
FORBIDDEN(cuStreamAddCallback)
FORBIDDEN(cuLaunchHostFunc)

// SPDX-License-Identifier: Apache-2.0
//
// The stand-in's other side: what a test has it do, what it has seen, and the
// judgement that every call of the driver begins with.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_cuda_state.h"

fake_state fake = {.mutex = PTHREAD_MUTEX_INITIALIZER};
uint64_t *fake_calls_of_children;
__thread int fake_capture_mode = FAKE_CAPTURE_GLOBAL;
__thread context *fake_current;

const char *const fake_names[] = {
#define NAME(name) #name,
    FUNCTIONS(NAME)
#undef NAME
};

static int function_of(const char *name) {
  for (int i = 0; i < NUM_FUNCTIONS; i++)
    if (strcmp(fake_names[i], name) == 0) return i;
  abort();
}

void fake_violate(int function, const char *what) {
  if (!fake.violation[0])
    snprintf(fake.violation, sizeof fake.violation, "%s: %s",
             fake_names[function], what);
}

static void read_faults(const char *text) {
  char name[64];
  int code, len = 0;
  while (text && sscanf(text, "%63[^=]=%d%n", name, &code, &len) == 2) {
    fake.faults[function_of(name)] = (fault){code, 1, FAKE_FAULT_ALWAYS};
    text += len + (text[len] == ',');
  }
}

__attribute__((constructor)) static void prepare(void) {
  fake_calls_of_children =
      mmap(NULL, sizeof *fake_calls_of_children, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (fake_calls_of_children == MAP_FAILED) abort();
  fake.owner = getpid();
  read_faults(getenv("FAKE_CUDA_FAIL"));
}

static void note_late_call(int function) {
  int file = open(fake.deinitialised, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) abort();
  (void)!write(file, fake_names[function], strlen(fake_names[function]));
  (void)!write(file, "\n", 1);
  close(file);
}

// What the program may ask of a device that is broken, too.
static bool touches_the_device(int function) {
  return function != F_cuInit && function != F_cuGetErrorName &&
         function != F_cuDeviceGetCount && function != F_cuCtxGetCurrent &&
         function != F_cuThreadExchangeStreamCaptureMode;
}

// The marking threads and the collector's have their own calls each.
static void judge_thread(int function) {
  bool relaxed = fake_capture_mode == FAKE_CAPTURE_RELAXED;
  switch (function) {
    case F_cuEventElapsedTime:
    case F_cuEventElapsedTime_v2:
    case F_cuEventCreate:
    case F_cuEventDestroy_v2:
    case F_cuStreamCreate:
    case F_cuStreamDestroy_v2:
    case F_cuCtxPushCurrent_v2:
    case F_cuCtxPopCurrent_v2:
      if (!relaxed) fake_violate(function, "on a thread that is not relaxed");
      break;
    case F_cuStreamIsCapturing:
    case F_cuStreamGetCtx:
    case F_cuStreamGetId:
      if (relaxed) fake_violate(function, "on the collector's thread");
      break;
    default:
      break;
  }
}

static int take_fault(int function) {
  fault *next = &fake.faults[function];
  if (fake.deinitialised) {
    note_late_call(function);
    return DEINITIALIZED;
  }
  if (next->at && --next->at == 0) {
    if (next->kind == FAKE_FAULT_STICKY) fake.broken = next->code;
    if (next->kind != FAKE_FAULT_ONCE) next->at = 1;
    return next->code;
  }
  return touches_the_device(function) ? fake.broken : 0;
}

int fake_enter(int function) {
  if (getpid() != fake.owner) {
    __atomic_fetch_add(fake_calls_of_children, 1, __ATOMIC_RELAXED);
    return NOT_INITIALIZED;
  }
  pthread_mutex_lock(&fake.mutex);
  fake.calls[function]++;
  judge_thread(function);
  int code = take_fault(function);
  if (!code && !fake.is_initialised && touches_the_device(function))
    return NOT_INITIALIZED;
  return code;
}

int fake_leave(int code) {
  if (getpid() == fake.owner) pthread_mutex_unlock(&fake.mutex);
  return code;
}

// A free place that was used before is taken first.
stream *fake_stream_new(context *owner) {
  stream *place = NULL;
  for (int i = 0; i < MAX_STREAMS; i++) {
    stream *one = &fake.streams[i];
    bool is_free = !one->is_alive || one->gone;
    if (is_free && (!place || (one->owner && !place->owner))) place = one;
  }
  if (!place) abort();
  // 1 and 2 are the default streams.
  *place =
      (stream){.owner = owner, .id = 3 + fake.num_streams++, .is_alive = true};
  return place;
}

void fake_stream_let_go(stream *in) {
  for (event *one = fake.events; one; one = one->next) {
    if (one->in != in) continue;
    one->in = NULL;
    one->happened_ns = fake_now_ns() + one->number;
  }
}

void fake_stream_end(stream *ended) {
  fake_stream_let_go(ended);
  ended->is_alive = false;
}

// The address of one that is gone comes back first.
static void *program_context_create(void) {
  pthread_mutex_lock(&fake.mutex);
  context *place = NULL;
  for (int i = 0; i < MAX_CONTEXTS; i++) {
    context *one = &fake.contexts[i];
    if ((!one->id || one->gone) && (!place || (one->id && !place->id)))
      place = one;
  }
  if (!place) abort();
  *place = (context){.id = ++fake.num_contexts};
  fake_current = place;
  fake.is_initialised = true;
  pthread_mutex_unlock(&fake.mutex);
  return place;
}

static void program_context_destroy(void *handle, int code) {
  context *destroyed = handle;
  pthread_mutex_lock(&fake.mutex);
  destroyed->gone = code;
  for (event *one = fake.events; one; one = one->next)
    if (one->owner == destroyed && !one->gone) one->gone = code;
  for (int i = 0; i < MAX_STREAMS; i++)
    if (fake.streams[i].owner == destroyed && !fake.streams[i].gone)
      fake.streams[i].gone = code;
  if (fake_current == destroyed) fake_current = NULL;
  pthread_mutex_unlock(&fake.mutex);
}

static void *program_stream_create(void *owner) {
  pthread_mutex_lock(&fake.mutex);
  stream *made = fake_stream_new(owner);
  made->is_ours = true;
  pthread_mutex_unlock(&fake.mutex);
  return made;
}

static void program_stream_destroy(void *handle) {
  pthread_mutex_lock(&fake.mutex);
  fake_stream_end(handle);
  pthread_mutex_unlock(&fake.mutex);
}

static void program_stream_hold(void *handle, bool hold) {
  stream *held = handle;
  pthread_mutex_lock(&fake.mutex);
  held->is_held = hold;
  if (!hold) fake_stream_let_go(held);
  pthread_mutex_unlock(&fake.mutex);
}

static int program_capture_begin(void *handle, int mode) {
  stream *begun = handle;
  pthread_mutex_lock(&fake.mutex);
  begun->capture = 1;
  begun->mode = mode;
  begun->capturing = pthread_self();
  pthread_mutex_unlock(&fake.mutex);
  return 0;
}

static int program_capture_end(void *handle) {
  stream *ended = handle;
  pthread_mutex_lock(&fake.mutex);
  int code = ended->capture == 1 ? 0 : CAPTURE_INVALIDATED;
  ended->capture = 0;
  pthread_mutex_unlock(&fake.mutex);
  return code;
}

static void set_fault(const char *function, int code, uint64_t at,
                      fake_cuda_fault kind) {
  pthread_mutex_lock(&fake.mutex);
  fake.faults[function_of(function)] = (fault){code, at, kind};
  pthread_mutex_unlock(&fake.mutex);
}

static void deinitialise(const char *path) {
  pthread_mutex_lock(&fake.mutex);
  fake.deinitialised = path;
  pthread_mutex_unlock(&fake.mutex);
}

static uint64_t num_calls(const char *function) {
  uint64_t num = 0;
  pthread_mutex_lock(&fake.mutex);
  for (int i = 0; i < NUM_FUNCTIONS; i++)
    if (!function || strcmp(fake_names[i], function) == 0) num += fake.calls[i];
  pthread_mutex_unlock(&fake.mutex);
  return num;
}

static uint64_t num_calls_of_children(void) {
  return __atomic_load_n(fake_calls_of_children, __ATOMIC_RELAXED);
}

static uint64_t num_collectors(void) {
  pthread_mutex_lock(&fake.mutex);
  uint64_t num = fake.num_collectors;
  pthread_mutex_unlock(&fake.mutex);
  return num;
}

static uint64_t num_live_events(void) {
  uint64_t num = 0;
  pthread_mutex_lock(&fake.mutex);
  for (const event *one = fake.events; one; one = one->next)
    num += one->is_alive && !one->gone;
  pthread_mutex_unlock(&fake.mutex);
  return num;
}

static const char *first_violation(void) {
  return fake.violation;
}

const fake_cuda_controls *fake_cuda(void) {
  static const fake_cuda_controls controls = {
      .context_create = program_context_create,
      .context_destroy = program_context_destroy,
      .stream_create = program_stream_create,
      .stream_destroy = program_stream_destroy,
      .stream_hold = program_stream_hold,
      .capture_begin = program_capture_begin,
      .capture_end = program_capture_end,
      .fail = set_fault,
      .deinitialise = deinitialise,
      .num_calls = num_calls,
      .num_calls_of_children = num_calls_of_children,
      .num_collectors = num_collectors,
      .num_live_events = num_live_events,
      .first_violation = first_violation,
  };
  return &controls;
}

// SPDX-License-Identifier: Apache-2.0
//
// Times NVTX ranges on devices: on the default stream of the current CUDA
// context, and on streams that the program has named. It also keeps these
// names, which may come before the program's driver.
#include "device.h"

#include <string.h>

#include "nvtx.h"
#include "pprof/cuda.h"

#define LEGACY_STREAM ((void *)1)  // another word for the default stream, NULL
#define NUM_STREAMS 64u
#define TIMED_STREAMS 8u  // of one device, beside its default stream

typedef struct named_stream {
  pprof_device *device;  // NULL: named before there was a context
  void *stream;
  char name[64];
} named_stream;

static struct {
  ppi_guard guard;
  uint32_t num;      // atomic
  uint32_t waiting;  // some have no device yet; atomic
  named_stream streams[NUM_STREAMS];
} named;

void ppi_nvtx_device_in_forked_child(void) {
  ppi_guard_give(&named.guard);
}

static named_stream *place_of(const pprof_device *device, void *stream) {
  for (uint32_t i = 0; i < named.num; i++)
    if (named.streams[i].device == device && named.streams[i].stream == stream)
      return &named.streams[i];
  return named.num < NUM_STREAMS ? &named.streams[named.num] : NULL;
}

static void remember(pprof_device *device, void *stream, const char *name) {
  named_stream *place = place_of(device, stream);
  if (!place) return;
  size_t len = strnlen(name, sizeof place->name - 1);
  memcpy(place->name, name, len);
  place->name[len] = 0;
  place->device = device;
  place->stream = stream;
  if (place == &named.streams[named.num])
    __atomic_store_n(&named.num, named.num + 1, __ATOMIC_RELEASE);
  if (!device) __atomic_store_n(&named.waiting, 1, __ATOMIC_RELAXED);
}

void ppi_nvtx_stream_name(void *stream, const char *name) {
  pprof_device *device = pprof_cuda_device();
  if (stream == LEGACY_STREAM) stream = NULL;
  if (device) pprof_stream_name(device, stream, name);
  if (!ppi_guard_take(&named.guard)) return;
  remember(device, stream, name);
  ppi_guard_give(&named.guard);
}

// Streams named too early are the current context's, now that there is one.
static void give_names(pprof_device *device) {
  if (!ppi_guard_take(&named.guard)) return;
  for (uint32_t i = 0; i < named.num; i++) {
    named_stream *stream = &named.streams[i];
    if (stream->device) continue;
    pprof_stream_name(device, stream->stream, stream->name);
    __atomic_store_n(&stream->device, device, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&named.waiting, 0, __ATOMIC_RELAXED);
  ppi_guard_give(&named.guard);
}

void ppi_nvtx_device_push(uint32_t domain, int level) {
  pprof_device *device = pprof_cuda_device();
  if (!device) return;
  if (PPI_UNLIKELY(__atomic_load_n(&named.waiting, __ATOMIC_RELAXED)))
    give_names(device);
  pprof_inject_place_ place = {domain, level, device, NULL};
  pprof_inject_device_begin_(&place);
  uint32_t num = __atomic_load_n(&named.num, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0, timed = 0; i < num && timed < TIMED_STREAMS; i++) {
    const named_stream *stream = &named.streams[i];
    if (__atomic_load_n(&stream->device, __ATOMIC_ACQUIRE) != device ||
        !stream->stream)
      continue;
    place.stream = stream->stream;
    pprof_inject_device_begin_(&place);
    timed++;
  }
}

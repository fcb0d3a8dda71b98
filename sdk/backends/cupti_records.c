// SPDX-License-Identifier: Apache-2.0
//
// Turns CUPTI's records into kernels, copies and synchronizations. Read by the
// collector.
#include "cupti_records.h"

#include <stdio.h>

#include "base/base.h"

static const char *copy_name(uint8_t kind) {
  static const char *const names[] = {
      "MEMCPY",      "MEMCPY_HtoD", "MEMCPY_DtoH", "MEMCPY_HtoA",
      "MEMCPY_AtoH", "MEMCPY_AtoA", "MEMCPY_AtoD", "MEMCPY_DtoA",
      "MEMCPY_DtoD", "MEMCPY_HtoH", "MEMCPY_PtoP"};
  return kind < sizeof names / sizeof *names ? names[kind] : names[0];
}

// Their common fields, each at its own offset.
#define WORK_OF(record, of_kind)                                               \
  {                                                                            \
    .kind = PPI_DEVICE_WORK_##of_kind, .correlation = (record)->correlation,   \
    .device = (int)(record)->device, .context = (record)->context,             \
    .stream = (record)->stream, .start = (record)->start, .end = (record)->end \
  }

// The two kinds of copies have their correlation and node elsewhere.
static ppi_device_work copy_of(const ppi_cupti_memcpy *record,
                               uint32_t correlation, uint64_t node) {
  ppi_device_work work = WORK_OF(record, COPY);
  work.correlation = correlation;
  work.bytes = record->bytes;
  work.name = copy_name(record->copy_kind);
  work.node = node;
  return work;
}

static ppi_device_work set_of(const ppi_cupti_memset *record) {
  ppi_device_work work = WORK_OF(record, SET);
  work.bytes = record->bytes;
  work.name = "MEMSET";
  work.node = record->graph_node;
  return work;
}

static ppi_launch_shape shape_of(const ppi_cupti_kernel *record) {
  ppi_launch_shape shape = {.registers = record->registers};
  const int32_t shared[] = {record->static_shared, record->dynamic_shared};
  for (int i = 0; i < 3; i++) {
    shape.grid[i] = (uint32_t)PPI_MAX(record->grid[i], 0);
    shape.block[i] = (uint32_t)PPI_MAX(record->block[i], 0);
  }
  for (int i = 0; i < 2; i++)
    shape.shared_bytes += (uint32_t)PPI_MAX(shared[i], 0);
  return shape;
}

static ppi_device_work kernel_of(const ppi_cupti_kernel *record) {
  ppi_device_work work = WORK_OF(record, KERNEL);
  work.name = record->name ? record->name : "?";
  work.node = record->graph_node;
  work.shape = shape_of(record);
  return work;
}

// NULL: a kind of memory that is not allocated.
static const char *place_of(const ppi_cupti_memory *record, char *room,
                            size_t size) {
  switch (record->memory_kind) {
    case PPI_CUPTI_MEMORY_PINNED:
      return "pinned";
    case PPI_CUPTI_MEMORY_MANAGED:
      return "managed";
    case PPI_CUPTI_MEMORY_DEVICE:
    case PPI_CUPTI_MEMORY_ARRAY:
      snprintf(room, size, "gpu:%u", record->device);
      return room;
  }
  return NULL;
}

static bool read_memory(const ppi_cupti_memory *record, ppi_device_work *out) {
  static char room[24];  // one collector per process
  const char *place = place_of(record, room, sizeof room);
  bool is_taken = record->operation == PPI_CUPTI_MEMORY_TAKEN;
  if (!place || (!is_taken && record->operation != PPI_CUPTI_MEMORY_GIVEN))
    return false;
  *out = (ppi_device_work){
      .kind = is_taken ? PPI_DEVICE_WORK_TAKE : PPI_DEVICE_WORK_GIVE,
      .correlation = record->correlation,
      .device = (int)record->device,
      .context = record->context,
      .stream = record->stream,
      .start = record->time,
      .end = record->time,
      .bytes = record->bytes,
      .name = place};
  return true;
}

// False: the record is uninteresting or unreadable.
bool ppi_cupti_read(const void *record, ppi_device_work *out) {
  switch (*(const uint32_t *)record) {
    case PPI_CUPTI_KIND_CONCURRENT_KERNEL:
      *out = kernel_of(record);
      return true;
    case PPI_CUPTI_KIND_MEMSET:
      *out = set_of(record);
      return true;
    case PPI_CUPTI_KIND_MEMCPY: {
      const ppi_cupti_memcpy *copy = record;
      *out = copy_of(copy, copy->correlation, copy->graph_node);
      return true;
    }
    case PPI_CUPTI_KIND_MEMORY2:
      return read_memory(record, out);
    case PPI_CUPTI_KIND_MEMCPY2: {
      const ppi_cupti_memcpy2 *copy = record;
      *out = copy_of(record, copy->correlation, copy->graph_node);
      return true;
    }
  }
  return false;
}

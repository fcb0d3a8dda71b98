// SPDX-License-Identifier: Apache-2.0
//
// The binary interface between NVTX 3 and a tool, in our own words, for 64-bit
// Linux: export tables, modules, structures of calls. A test compares it with
// the real headers if the CUDA toolkit is installed; the build needs none.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef void (*nvtx_function)(void);

// getExportTable(id) answers one of the tables below, or NULL.
enum { NVTX_TABLE_CALLBACKS = 1, NVTX_TABLE_VERSION = 3 };
typedef const void *(*nvtx_get_export_table)(uint32_t id);
// Not NVTX's: through it, pprof emits its own records.
enum { NVTX_TABLE_PPROF = 0x70707266 };

// A module's table has `num` places; 0 is not used. Each points at the slot
// that calls go through as soon as it is filled.
typedef struct nvtx_callbacks {
  size_t size;
  int (*get_module_table)(uint32_t module, nvtx_function ***out_table,
                          unsigned *out_num);
} nvtx_callbacks;

typedef struct nvtx_version_info {
  size_t size;
  uint32_t version, reserved;
  void (*set_tool_version)(uint32_t version);
} nvtx_version_info;

enum {
  NVTX_MODULE_CORE = 1,
  NVTX_MODULE_CUDA,
  NVTX_MODULE_OPENCL,
  NVTX_MODULE_CUDART,
  NVTX_MODULE_CORE2,
  NVTX_MODULE_SYNC,
  NVTX_NUM_MODULES,
  NVTX_MAX_CALLS = 16
};

enum {
  NVTX_CORE_MARK_EX = 1,
  NVTX_CORE_MARK_A,
  NVTX_CORE_MARK_W,
  NVTX_CORE_START_EX,
  NVTX_CORE_START_A,
  NVTX_CORE_START_W,
  NVTX_CORE_END,
  NVTX_CORE_PUSH_EX,
  NVTX_CORE_PUSH_A,
  NVTX_CORE_PUSH_W,
  NVTX_CORE_POP,
  NVTX_CORE_NAME_CATEGORY_A,
  NVTX_CORE_NAME_CATEGORY_W,
  NVTX_CORE_NAME_THREAD_A,
  NVTX_CORE_NAME_THREAD_W
};

enum {
  NVTX_CORE2_MARK = 1,
  NVTX_CORE2_START,
  NVTX_CORE2_END,
  NVTX_CORE2_PUSH,
  NVTX_CORE2_POP,
  NVTX_CORE2_RESOURCE_CREATE,
  NVTX_CORE2_RESOURCE_DESTROY,
  NVTX_CORE2_NAME_CATEGORY_A,
  NVTX_CORE2_NAME_CATEGORY_W,
  NVTX_CORE2_REGISTER_STRING_A,
  NVTX_CORE2_REGISTER_STRING_W,
  NVTX_CORE2_DOMAIN_CREATE_A,
  NVTX_CORE2_DOMAIN_CREATE_W,
  NVTX_CORE2_DOMAIN_DESTROY,
  NVTX_CORE2_INITIALIZE
};

enum {
  NVTX_CUDA_NAME_DEVICE_A = 1,
  NVTX_CUDA_NAME_DEVICE_W,
  NVTX_CUDA_NAME_CONTEXT_A,
  NVTX_CUDA_NAME_CONTEXT_W,
  NVTX_CUDA_NAME_STREAM_A,
  NVTX_CUDA_NAME_STREAM_W,
  NVTX_CUDA_NAME_EVENT_A,
  NVTX_CUDA_NAME_EVENT_W
};

enum {
  NVTX_CUDART_NAME_DEVICE_A = 1,
  NVTX_CUDART_NAME_DEVICE_W,
  NVTX_CUDART_NAME_STREAM_A,
  NVTX_CUDART_NAME_STREAM_W,
  NVTX_CUDART_NAME_EVENT_A,
  NVTX_CUDART_NAME_EVENT_W
};

enum {
  NVTX_SYNC_CREATE = 1,
  NVTX_SYNC_DESTROY,
  NVTX_SYNC_ACQUIRE_START,
  NVTX_SYNC_ACQUIRE_FAILED,
  NVTX_SYNC_ACQUIRE_SUCCESS,
  NVTX_SYNC_RELEASING
};

enum {
  NVTX_MESSAGE_ASCII = 1,
  NVTX_MESSAGE_WIDE = 2,
  NVTX_MESSAGE_REGISTERED = 3
};
enum { NVTX_COLOR_ARGB = 1 };
enum {
  NVTX_PAYLOAD_U64 = 1,
  NVTX_PAYLOAD_I64,
  NVTX_PAYLOAD_DOUBLE,
  NVTX_PAYLOAD_U32,
  NVTX_PAYLOAD_I32,
  NVTX_PAYLOAD_FLOAT
};
// The payload is an array of `payload_num` blobs with schemas.
#define NVTX_PAYLOAD_SCHEMA ((int32_t)0xdfbd0009)

typedef union nvtx_message {
  const char *ascii;
  const wchar_t *wide;
  void *registered;
} nvtx_message;

typedef struct nvtx_attributes {
  uint16_t version, size;  // the caller's; fields beyond `size` are not there
  uint32_t category;
  int32_t color_type;
  uint32_t color;  // 0xAARRGGBB
  int32_t payload_type;
  int32_t payload_num;
  union {
    uint64_t u64;
    int64_t i64;
    double f64;
    uint32_t u32;
    int32_t i32;
    float f32;
    const void *pointer;
  } payload;
  int32_t message_type;
  nvtx_message message;
} nvtx_attributes;

// A resource's type: class << 16 | index.
enum {
  NVTX_RESOURCE_THREAD_NATIVE = 1 << 16 | 3,
  NVTX_RESOURCE_THREAD_POSIX = 1 << 16 | 4,
  NVTX_RESOURCE_CU_STREAM = 4 << 16 | 3,
  NVTX_RESOURCE_CUDART_STREAM = 5 << 16 | 1
};
typedef struct nvtx_resource_attributes {
  uint16_t version, size;
  int32_t type;
  union {
    const void *pointer;
    uint64_t number;
  } identifier;
  int32_t message_type;
  nvtx_message message;
} nvtx_resource_attributes;

// Extensions: once per unit and extension. A slot holds a function, or one of
// the first two values.
enum { NVTX_SLOT_FRESH = 0, NVTX_SLOT_DISABLED = 1 };
enum {
  NVTX_EXTENSION_MEMORY = 1,
  NVTX_EXTENSION_PAYLOAD = 2,
  NVTX_EXTENSION_COUNTERS = 4,
  NVTX_MAX_EXTENSION_CALLS = 63
};
typedef struct nvtx_segment {
  size_t id, num_slots;
  intptr_t *slots;
} nvtx_segment;
typedef struct nvtx_extension {
  uint16_t version, size, module;
  uint16_t compat;  // major << 8 | minor
  size_t num_segments;
  nvtx_segment *segments;
  intptr_t (*get_export_function)(uint32_t id);
  const void *info;
} nvtx_extension;

enum {
  NVTX_PAYLOAD_SCHEMA_REGISTER = 0,
  NVTX_PAYLOAD_ENUM_REGISTER,
  NVTX_PAYLOAD_MARK,
  NVTX_PAYLOAD_PUSH,
  NVTX_PAYLOAD_POP,
  NVTX_PAYLOAD_START,
  NVTX_PAYLOAD_END,
  NVTX_PAYLOAD_DOMAIN_IS_ENABLED,
  NVTX_PAYLOAD_EVENT_SUBMIT = 16,
  NVTX_PAYLOAD_EVENT_BATCH_SUBMIT
};
enum {
  NVTX_COUNTER_REGISTER = 0,
  NVTX_COUNTER_SAMPLE_INT64,
  NVTX_COUNTER_SAMPLE_FLOAT64,
  NVTX_COUNTER_SAMPLE,
  NVTX_COUNTER_SAMPLE_NO_VALUE,
  NVTX_COUNTER_BATCH_SUBMIT
};
#define NVTX_COUNTER_STATIC_FIRST (UINT64_C(1) << 24)
#define NVTX_COUNTER_DYNAMIC_FIRST (UINT64_C(1) << 32)
typedef struct nvtx_counter_attributes {
  size_t size;
  uint64_t schema;
  const char *name, *description;
  uint64_t scope;
  const void *semantics;
  uint64_t id;  // 0: the tool gives one
} nvtx_counter_attributes;
typedef struct nvtx_event_batch {
  uint64_t schema;
  size_t size;
  const void *events;
  uint64_t scope, flags;
  const void *flex_data;
  size_t flex_data_size, flex_data_offset;
} nvtx_event_batch;
typedef struct nvtx_counter_batch {
  uint64_t id;
  const void *counters;
  size_t size;
  uint64_t flags;
  const int64_t *timestamps;
  size_t timestamps_size;
} nvtx_counter_batch;

// SPDX-License-Identifier: Apache-2.0
//
// rocprofiler-sdk's buffers as a source of kernels. The declarations follow its
// headers of version 1. Debian has no headers to check them against, and the
// backend was not run on hardware.
#pragma once

#include "kernels/source.h"

PPROF_BEGIN_C_

enum {
  PPI_ROCM_SUCCESS = 0,
  PPI_ROCM_VERSION = 10000,  // 1.0.0, and below 2.0.0
  PPI_ROCM_CATEGORY_TRACING = 1,
  PPI_ROCM_BUFFER_COPY = 10,  // kinds of records in buffers
  PPI_ROCM_BUFFER_KERNEL = 11,
  PPI_ROCM_CALL_HIP = 5,  // kinds of callbacks
  PPI_ROCM_CALL_CODE = 10,
  PPI_ROCM_CODE_SYMBOL = 2,  // of these: a kernel has come
  PPI_ROCM_ENTER = 1,
  PPI_ROCM_EXIT = 2,
  PPI_ROCM_POLICY_DISCARD = 1,
  PPI_ROCM_AGENT_GPU = 2,
  PPI_ROCM_AGENT_VERSION = 1
};

// Its structures of one number are numbers here: they are passed alike.
typedef struct ppi_rocm_call {
  uint64_t context, thread;
  uint64_t correlation, external, ancestor;
  int32_t kind, operation, phase;
  void *payload;
} ppi_rocm_call;

typedef struct ppi_rocm_header {
  uint32_t category, kind;
  void *payload;
} ppi_rocm_header;

typedef struct ppi_rocm_kernel {
  uint64_t size;
  int32_t kind, operation;
  uint64_t correlation, external;
  uint64_t thread;
  uint64_t start, end;
  uint64_t info_size;
  uint64_t agent, queue, kernel, dispatch;
  uint32_t private_bytes, group_bytes;
  uint32_t block[3], all[3];  // all: work-items, of all blocks
} ppi_rocm_kernel;

typedef struct ppi_rocm_copy {
  uint64_t size;
  int32_t kind, operation;
  uint64_t correlation, external;
  uint64_t thread;
  uint64_t start, end;
  uint64_t to_agent, from_agent;
  uint64_t bytes;
} ppi_rocm_copy;

typedef struct ppi_rocm_symbol {
  uint64_t size;
  uint64_t kernel, code_object;
  const char *name;
  uint64_t object;
  uint32_t argument_bytes, argument_alignment, group_bytes, private_bytes;
  uint32_t scalar_registers, vector_registers;
} ppi_rocm_symbol;

typedef struct ppi_rocm_agent {
  uint64_t size, id;
  int32_t type;
} ppi_rocm_agent;

typedef struct ppi_rocm_client {
  size_t size;
  const char *name;
  uint32_t handle;
} ppi_rocm_client;

typedef struct ppi_rocm_tool {
  size_t size;
  int (*initialize)(void (*finalize)(ppi_rocm_client client), void *data);
  void (*finalize)(void *data);
  void *data;
} ppi_rocm_tool;

typedef void ppi_rocm_callback(ppi_rocm_call call, uint64_t *user, void *data);
typedef void ppi_rocm_records(uint64_t context, uint64_t buffer,
                              ppi_rocm_header **headers, size_t num, void *data,
                              uint64_t num_dropped);
typedef int ppi_rocm_operation(int kind, int32_t operation, void *data);
typedef int ppi_rocm_agents(int version, const void **agents, size_t num,
                            void *data);

// The used functions of the library: name, parameters.
#define PPI_ROCM_LIST(X)                                                \
  X(rocprofiler_create_context, (uint64_t * context))                   \
  X(rocprofiler_create_buffer,                                          \
    (uint64_t context, size_t size, size_t watermark, int policy,       \
     ppi_rocm_records *, void *data, uint64_t *buffer))                 \
  X(rocprofiler_configure_buffer_tracing_service,                       \
    (uint64_t context, int kind, const int32_t *operations, size_t num, \
     uint64_t buffer))                                                  \
  X(rocprofiler_configure_callback_tracing_service,                     \
    (uint64_t context, int kind, const int32_t *operations, size_t num, \
     ppi_rocm_callback *, void *data))                                  \
  X(rocprofiler_iterate_callback_tracing_kind_operations,               \
    (int kind, ppi_rocm_operation *, void *data))                       \
  X(rocprofiler_query_callback_tracing_kind_operation_name,             \
    (int kind, int32_t operation, const char **name, uint64_t *len))    \
  X(rocprofiler_query_available_agents,                                 \
    (int version, ppi_rocm_agents *, size_t size, void *data))          \
  X(rocprofiler_start_context, (uint64_t context))                      \
  X(rocprofiler_stop_context, (uint64_t context))                       \
  X(rocprofiler_flush_buffer, (uint64_t buffer))                        \
  X(rocprofiler_get_timestamp, (uint64_t * ns))

typedef struct ppi_rocm_api {
#define PPI_ROCM_DECLARE(name, parameters) int(*name) parameters;
  PPI_ROCM_LIST(PPI_ROCM_DECLARE)
#undef PPI_ROCM_DECLARE
} ppi_rocm_api;

// ppi_rocm_source is the one of this process.
const ppi_kernel_source *ppi_rocm_source(void);

PPROF_END_C_

// SPDX-License-Identifier: Apache-2.0
//
// The used part of CUPTI's binary interface, checked against its headers if
// there are any (tests/kernels/cupti_layout_test.sh).
#pragma once

#include "pprof/base.h"

enum {
  PPI_CUPTI_OK = 0,
  PPI_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
  PPI_CUPTI_DOMAIN_DRIVER = 1,
  PPI_CUPTI_DOMAIN_RUNTIME = 2,
  PPI_CUPTI_DOMAIN_RESOURCE = 3,
  // Of the resource domain.
  PPI_CUPTI_CU_INIT_FINISHED = 5,
  PPI_CUPTI_GRAPHNODE_CREATED = 13,
  PPI_CUPTI_GRAPHNODE_CLONED = 20,
  PPI_CUPTI_ENTER = 0,
  PPI_CUPTI_EXIT = 1,
  PPI_CUPTI_KIND_MEMCPY = 1,
  PPI_CUPTI_KIND_MEMSET = 2,
  PPI_CUPTI_KIND_CONCURRENT_KERNEL = 10,
  PPI_CUPTI_KIND_MEMCPY2 = 22,  // between devices
  PPI_CUPTI_KIND_MEMORY2 = 49,
  PPI_CUPTI_MEMORY_TAKEN = 1,
  PPI_CUPTI_MEMORY_GIVEN = 2,
  PPI_CUPTI_MEMORY_PINNED = 2,  // kinds
  PPI_CUPTI_MEMORY_DEVICE = 3,
  PPI_CUPTI_MEMORY_ARRAY = 4,
  PPI_CUPTI_MEMORY_MANAGED = 5,
  PPI_CUPTI_ATTRIBUTE_ZEROED = 5,
  PPI_CUPTI_FLUSH_FORCED = 1
};

// The common begin of all versions of a record since CUPTI 11.1; the library
// writes its newest version.
typedef struct ppi_cupti_kernel {
  uint32_t kind;
  uint8_t caches[2];
  uint16_t registers;  // of a thread
  uint32_t partitioned[2];
  uint64_t start, end;
  uint64_t completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char *name;
  uint64_t more[4];
  uint64_t graph_node;
} ppi_cupti_kernel;

typedef struct ppi_cupti_memcpy {
  uint32_t kind;
  uint8_t copy_kind, from, to, flags;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t device, context, stream;
  uint32_t correlation;
  uint64_t more[2];
  uint64_t graph_node;
} ppi_cupti_memcpy;

typedef struct ppi_cupti_memcpy2 {
  uint32_t kind;
  uint8_t copy_kind, from, to, flags;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t device, context, stream;
  uint32_t from_device, from_context, to_device, to_context;
  uint32_t correlation;
  uint64_t more;
  uint64_t graph_node;
} ppi_cupti_memcpy2;

typedef struct ppi_cupti_memset {
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t device, context, stream;
  uint32_t correlation;
  uint64_t more[2];
  uint64_t graph_node;
} ppi_cupti_memset;

// Memory that the program takes or gives back.
typedef struct ppi_cupti_memory {
  uint32_t kind;
  uint32_t operation, memory_kind;
  uint32_t correlation;
  uint64_t address, bytes;
  uint64_t time;
  uint64_t pc;
  uint32_t process, device, context, stream;
} ppi_cupti_memory;

typedef struct ppi_cupti_call {
  uint32_t site;
  const char *function;
  const void *parameters;
  void *result;
  const char *symbol;
  void *context;
  uint32_t context_id;
  uint64_t *data;
  uint32_t correlation;
} ppi_cupti_call;

// The data of callbacks of the resource domain about a graph's node.
typedef struct ppi_cupti_graph {
  void *graph, *original_graph;
  void *node, *original_node;
} ppi_cupti_graph;

typedef struct ppi_cupti_resource {
  void *context, *handle;
  const ppi_cupti_graph *graph;
} ppi_cupti_resource;

typedef void ppi_cupti_callback(void *user, uint32_t domain, uint32_t id,
                                const void *data);
typedef void ppi_cupti_request(uint8_t **buffer, size_t *size, size_t *max);
typedef void ppi_cupti_complete(void *context, uint32_t stream, uint8_t *buffer,
                                size_t size, size_t valid);

// The used functions of the library: name, parameters.
#define PPI_CUPTI_LIST(X)                                                   \
  X(cuptiSubscribe, (void **subscriber, ppi_cupti_callback *, void *user))  \
  X(cuptiUnsubscribe, (void *subscriber))                                   \
  X(cuptiEnableCallback,                                                    \
    (uint32_t on, void *subscriber, uint32_t domain, uint32_t id))          \
  X(cuptiGetCallbackName, (uint32_t domain, uint32_t id, const char **))    \
  X(cuptiActivityEnable, (uint32_t kind))                                   \
  X(cuptiActivityDisable, (uint32_t kind))                                  \
  X(cuptiActivityRegisterCallbacks,                                         \
    (ppi_cupti_request *, ppi_cupti_complete *))                            \
  X(cuptiActivityRegisterTimestampCallback, (uint64_t(*now)(void)))         \
  X(cuptiActivitySetAttribute, (uint32_t attribute, size_t * size, void *)) \
  X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **))  \
  X(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t, size_t *)) \
  X(cuptiActivityFlushAll, (uint32_t flag))                                 \
  X(cuptiGetGraphNodeId, (void *node, uint64_t *))                          \
  X(cuptiGetResultString, (int code, const char **))                        \
  X(cuptiGetVersion, (uint32_t *))                                          \
  X(cuptiFinalize, (void))

typedef struct ppi_cupti_api {
#define PPI_CUPTI_DECLARE(name, parameters) int(*name) parameters;
  PPI_CUPTI_LIST(PPI_CUPTI_DECLARE)
#undef PPI_CUPTI_DECLARE
} ppi_cupti_api;

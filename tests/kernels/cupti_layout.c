// SPDX-License-Identifier: Apache-2.0
//
// What cupti_abi.h says of CUPTI's binary interface, beside CUPTI's own
// headers: it compiles where both say the same.
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <stddef.h>

#include "../../sdk/backends/cupti_abi.h"

#define SAME(ours, our_field, theirs, their_field)                           \
  _Static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field), \
                 #ours "." #our_field);                                      \
  _Static_assert(                                                            \
      sizeof(((ours *)0)->our_field) == sizeof(((theirs *)0)->their_field),  \
      "size of " #ours "." #our_field)
#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

EQUAL(PPI_CUPTI_MULTIPLE_SUBSCRIBERS,
      CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
EQUAL(PPI_CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
EQUAL(PPI_CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
EQUAL(PPI_CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
EQUAL(PPI_CUPTI_CU_INIT_FINISHED, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
EQUAL(PPI_CUPTI_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
EQUAL(PPI_CUPTI_GRAPHNODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
EQUAL(PPI_CUPTI_ENTER, CUPTI_API_ENTER);
EQUAL(PPI_CUPTI_EXIT, CUPTI_API_EXIT);
EQUAL(PPI_CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
EQUAL(PPI_CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
EQUAL(PPI_CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
EQUAL(PPI_CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
EQUAL(PPI_CUPTI_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
EQUAL(PPI_CUPTI_MEMORY_TAKEN, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
EQUAL(PPI_CUPTI_MEMORY_GIVEN, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
EQUAL(PPI_CUPTI_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
EQUAL(PPI_CUPTI_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
EQUAL(PPI_CUPTI_MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
EQUAL(PPI_CUPTI_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
EQUAL(PPI_CUPTI_ATTRIBUTE_ZEROED,
      CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
EQUAL(PPI_CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

#define KERNEL(ours, theirs) SAME(ppi_cupti_kernel, ours, KERNEL_TYPE, theirs)
KERNEL(kind, kind);
KERNEL(registers, registersPerThread);
KERNEL(start, start);
KERNEL(end, end);
KERNEL(device, deviceId);
KERNEL(context, contextId);
KERNEL(stream, streamId);
KERNEL(grid[0], gridX);
KERNEL(block[0], blockX);
KERNEL(static_shared, staticSharedMemory);
KERNEL(dynamic_shared, dynamicSharedMemory);
KERNEL(correlation, correlationId);
KERNEL(name, name);

#ifdef HAS_NODES
KERNEL(graph_node, graphNodeId);
SAME(ppi_cupti_memcpy, graph_node, MEMCPY_TYPE, graphNodeId);
SAME(ppi_cupti_memcpy2, graph_node, MEMCPY2_TYPE, graphNodeId);
SAME(ppi_cupti_memset, graph_node, MEMSET_TYPE, graphNodeId);
#endif
SAME(ppi_cupti_graph, node, CUpti_GraphData, node);
SAME(ppi_cupti_graph, original_node, CUpti_GraphData, originalNode);
SAME(ppi_cupti_resource, graph, CUpti_ResourceData, resourceDescriptor);

#define MEMCPY(ours, theirs) SAME(ppi_cupti_memcpy, ours, MEMCPY_TYPE, theirs)
MEMCPY(copy_kind, copyKind);
MEMCPY(bytes, bytes);
MEMCPY(start, start);
MEMCPY(end, end);
MEMCPY(device, deviceId);
MEMCPY(context, contextId);
MEMCPY(stream, streamId);
MEMCPY(correlation, correlationId);

#define BETWEEN(ours, theirs) \
  SAME(ppi_cupti_memcpy2, ours, MEMCPY2_TYPE, theirs)
BETWEEN(copy_kind, copyKind);
BETWEEN(bytes, bytes);
BETWEEN(start, start);
BETWEEN(device, deviceId);
BETWEEN(stream, streamId);
BETWEEN(correlation, correlationId);

#define MEMSET(ours, theirs) SAME(ppi_cupti_memset, ours, MEMSET_TYPE, theirs)
MEMSET(bytes, bytes);
MEMSET(start, start);
MEMSET(end, end);
MEMSET(device, deviceId);
MEMSET(context, contextId);
MEMSET(stream, streamId);
MEMSET(correlation, correlationId);

#define MEMORY(ours, theirs) SAME(ppi_cupti_memory, ours, MEMORY_TYPE, theirs)
MEMORY(kind, kind);
MEMORY(operation, memoryOperationType);
MEMORY(memory_kind, memoryKind);
MEMORY(correlation, correlationId);
MEMORY(address, address);
MEMORY(bytes, bytes);
MEMORY(time, timestamp);
MEMORY(device, deviceId);
MEMORY(context, contextId);
MEMORY(stream, streamId);

#define CALL(ours, theirs) \
  SAME(ppi_cupti_call, ours, CUpti_CallbackData, theirs)
CALL(site, callbackSite);
CALL(function, functionName);
CALL(result, functionReturnValue);
CALL(context, context);
CALL(context_id, contextUid);
CALL(data, correlationData);
CALL(correlation, correlationId);

int main(void) {
  return 0;
}

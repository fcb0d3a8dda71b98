// SPDX-License-Identifier: Apache-2.0
//
// Handles calls that name threads, CUDA streams and resources. Objects of user
// synchronisation are accepted and not recorded.
#include "chain.h"
#include "device.h"
#include "text.h"

static void name_thread(uint32_t tid, const char *name) {
  if (!name || !tid || !pprof_inject_name_thread_(tid, name))
    pprof_inject_bad_();
}

static void name_thread_a(uint32_t tid, const char *name) {
  name_thread(tid, name);
  PPI_NVTX_PASS(PPI_NVTX_NEXT(CORE, NAME_THREAD_A), (uint32_t, const char *),
                tid, name);
}

static void name_thread_w(uint32_t tid, const wchar_t *name) {
  char text[256];
  name_thread(tid, ppi_nvtx_utf8(name, text, sizeof text));
  PPI_NVTX_PASS(PPI_NVTX_NEXT(CORE, NAME_THREAD_W), (uint32_t, const wchar_t *),
                tid, name);
}

static void name_stream(void *stream, const char *name) {
  if (name)
    ppi_nvtx_stream_name(stream, name);
  else
    pprof_inject_bad_();
}

#define STREAM_HANDLERS(prefix, module)                              \
  static void prefix##_stream_a(void *stream, const char *name) {    \
    name_stream(stream, name);                                       \
    PPI_NVTX_PASS(PPI_NVTX_NEXT(module, NAME_STREAM_A),              \
                  (void *, const char *), stream, name);             \
  }                                                                  \
  static void prefix##_stream_w(void *stream, const wchar_t *name) { \
    char text[256];                                                  \
    name_stream(stream, ppi_nvtx_utf8(name, text, sizeof text));     \
    PPI_NVTX_PASS(PPI_NVTX_NEXT(module, NAME_STREAM_W),              \
                  (void *, const wchar_t *), stream, name);          \
  }
STREAM_HANDLERS(cu, CUDA)
STREAM_HANDLERS(cudart, CUDART)

static const char *message_of(const nvtx_resource_attributes *attributes,
                              char *text, size_t size) {
  switch (attributes->message_type) {
    case NVTX_MESSAGE_ASCII:
      return attributes->message.ascii;
    case NVTX_MESSAGE_WIDE:
      return ppi_nvtx_utf8(attributes->message.wide, text, size);
    case NVTX_MESSAGE_REGISTERED: {
      const ppi_nvtx_string *string =
          ppi_nvtx_string_of(attributes->message.registered);
      return string ? string->text : NULL;
    }
    default:
      return NULL;
  }
}

static void name_resource(const nvtx_resource_attributes *attributes) {
  char text[256];
  const char *name = message_of(attributes, text, sizeof text);
  if (attributes->type == NVTX_RESOURCE_THREAD_NATIVE)
    name_thread((uint32_t)attributes->identifier.number, name);
  else if (attributes->type == NVTX_RESOURCE_CU_STREAM ||
           attributes->type == NVTX_RESOURCE_CUDART_STREAM)
    name_stream((void *)(uintptr_t)attributes->identifier.number, name);
}

// A handle that only shows that an object exists. With a next tool, it is that
// tool's handle.
static const char resource;

static void *resource_create(void *handle,
                             const nvtx_resource_attributes *attributes) {
  ppi_nvtx_domain *domain = ppi_nvtx_domain_of(handle);
  if (domain && attributes && attributes->size >= sizeof *attributes)
    name_resource(attributes);
  else
    pprof_inject_bad_();
  nvtx_function next = PPI_NVTX_NEXT(CORE2, RESOURCE_CREATE);
  if (next && domain)
    return ((void *(*)(void *, const void *))next)(ppi_nvtx_next_domain(domain),
                                                   attributes);
  return (void *)(uintptr_t)&resource;
}

static void resource_destroy(void *handle) {
  PPI_NVTX_PASS(PPI_NVTX_NEXT(CORE2, RESOURCE_DESTROY), (void *), handle);
}

static void *sync_create(void *handle, const void *attributes) {
  nvtx_function next = PPI_NVTX_NEXT(SYNC, CREATE);
  if (next)
    return ((void *(*)(void *, const void *))next)(ppi_nvtx_next_handle(handle),
                                                   attributes);
  return (void *)(uintptr_t)&resource;
}

#define SYNC_HANDLER(name, call)                                \
  static void name(void *handle) {                              \
    PPI_NVTX_PASS(PPI_NVTX_NEXT(SYNC, call), (void *), handle); \
  }
SYNC_HANDLER(sync_destroy, DESTROY)
SYNC_HANDLER(sync_start, ACQUIRE_START)
SYNC_HANDLER(sync_failed, ACQUIRE_FAILED)
SYNC_HANDLER(sync_success, ACQUIRE_SUCCESS)
SYNC_HANDLER(sync_releasing, RELEASING)

const ppi_nvtx_handler ppi_nvtx_naming_handlers[] = {
    PPI_NVTX_HANDLER(CORE, NAME_THREAD_A, name_thread_a),
    PPI_NVTX_HANDLER(CORE, NAME_THREAD_W, name_thread_w),
    PPI_NVTX_HANDLER(CORE2, RESOURCE_CREATE, resource_create),
    PPI_NVTX_HANDLER(CORE2, RESOURCE_DESTROY, resource_destroy),
    PPI_NVTX_HANDLER(CUDA, NAME_STREAM_A, cu_stream_a),
    PPI_NVTX_HANDLER(CUDA, NAME_STREAM_W, cu_stream_w),
    PPI_NVTX_HANDLER(CUDART, NAME_STREAM_A, cudart_stream_a),
    PPI_NVTX_HANDLER(CUDART, NAME_STREAM_W, cudart_stream_w),
    PPI_NVTX_HANDLER(SYNC, CREATE, sync_create),
    PPI_NVTX_HANDLER(SYNC, DESTROY, sync_destroy),
    PPI_NVTX_HANDLER(SYNC, ACQUIRE_START, sync_start),
    PPI_NVTX_HANDLER(SYNC, ACQUIRE_FAILED, sync_failed),
    PPI_NVTX_HANDLER(SYNC, ACQUIRE_SUCCESS, sync_success),
    PPI_NVTX_HANDLER(SYNC, RELEASING, sync_releasing),
};
const size_t ppi_nvtx_num_naming_handlers =
    sizeof ppi_nvtx_naming_handlers / sizeof *ppi_nvtx_naming_handlers;

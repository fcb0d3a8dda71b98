// SPDX-License-Identifier: Apache-2.0
//
// Looks up the function of every traced call. An entry stays forever once it
// exists: a call of an earlier session may still be under way.
#include "cupti_functions.h"

#include "base/mem.h"
#include "kernels/api_call.h"

#define MOST_IDS 4096u

enum { DRIVER, RUNTIME, NUM_DOMAINS };

static ppi_cupti_function *functions[NUM_DOMAINS][MOST_IDS];  // atomic

static const char *const launches[] = {"cuLaunch", "cuGraphLaunch", "cuMemcpy",
                                       "cuMemset", NULL};
static const char *const memory[] = {"cuMemAlloc", "cuMemFree",
                                     "cuMemHostAlloc", NULL};
// These may wait for a device; memory is kept by most programs.
static const char *const waits[] = {"cuStreamSynchronize",
                                    "cuCtxSynchronize",
                                    "cuEventSynchronize",
                                    "cudaStreamSynchronize",
                                    "cudaDeviceSynchronize",
                                    "cudaEventSynchronize",
                                    "cudaMalloc",
                                    "cudaFree",
                                    "cudaHostAlloc",
                                    "cuMemAlloc",
                                    "cuMemFree",
                                    "cuMemHostAlloc",
                                    "cuMemCreate",
                                    "cuMemRelease",
                                    NULL};
// Functions that only query or set state are called so often that they would
// hide the rest. Of the driver's own calls, those that do work count.
static const char *const asking[] = {
    "cudaGet",          "cudaPeek",         "cudaSetDevice",
    "cudaDeviceGet",    "cudaStreamGet",    "cudaStreamIsCapturing",
    "cudaEventQuery",   "cudaStreamQuery",  "cudaFuncGet",
    "cudaPointerGet",   "cudaDriverGet",    "cudaRuntimeGet",
    "cudaDeviceCanAcc", "cudaThreadExchan", NULL};
static const char *const doing[] = {"cuLaunch", "cuGraphLaunch", "cuMem", NULL};

static bool begins(const char *name, const char *const *with) {
  while (*with && strncmp(name, *with, strlen(*with)) != 0) with++;
  return *with;
}

static bool is_reported(uint32_t domain, const char *name) {
  if (begins(name, waits)) return true;
  if (!ppi_calls_are_wanted()) return false;
  return domain == DRIVER ? begins(name, doing) : !begins(name, asking);
}

static bool has_records(uint32_t domain, const char *name) {
  return domain == DRIVER && (begins(name, launches) || begins(name, memory));
}

static ppi_launch_kind kind_of(const char *name) {
  static const char *const graphs[] = {"cuGraphLaunch", NULL};
  if (begins(name, memory)) return PPI_LAUNCH_MEMORY;
  return begins(name, graphs) ? PPI_LAUNCH_GRAPH : PPI_LAUNCH_WORK;
}

// The runtime's names end with the version that introduced them.
static char *reported_name(uint32_t domain, const char *name) {
  const char *end = domain == RUNTIME ? strstr(name, "_v") : NULL;
  if (end && strspn(end + 2, "0123456789") != strlen(end + 2)) end = NULL;
  size_t len = end ? (size_t)(end - name) : strlen(name);
  char *copy = ppi_alloc(len + 1);
  if (!copy) return NULL;
  memcpy(copy, name, len);
  copy[len] = '\0';
  return copy;
}

static ppi_cupti_function *add_function(uint32_t domain, uint32_t id,
                                        const char *name) {
  ppi_cupti_function *function = ppi_alloc(sizeof *function);
  char *reported = function ? reported_name(domain, name) : NULL;
  if (!reported) {
    ppi_free(function);
    return NULL;
  }
  *function = (ppi_cupti_function){
      .site = {reported, PPROF_CATEGORY_RUNTIME, 0, 0, {0, 0}},
      .is_launch = has_records(domain, name),
      .kind = kind_of(name)};
  __atomic_store_n(&functions[domain][id], function, __ATOMIC_RELEASE);
  return function;
}

static void enable(const ppi_cupti_api *api, void *subscriber, uint32_t domain,
                   uint32_t id) {
  static const uint32_t domains[] = {PPI_CUPTI_DOMAIN_DRIVER,
                                     PPI_CUPTI_DOMAIN_RUNTIME};
  const char *name = NULL;
  if (api->cuptiGetCallbackName(domains[domain], id, &name) || !name) return;
  bool reported = is_reported(domain, name),
       is_launch = has_records(domain, name);
  ppi_cupti_function *function = functions[domain][id];
  if (!function && !reported && !is_launch) return;
  if (!function) function = add_function(domain, id, name);
  if (!function) return;
  __atomic_store_n(&function->is_reported, reported, __ATOMIC_RELAXED);
  api->cuptiEnableCallback(reported || is_launch, subscriber, domains[domain],
                           id);
}

void ppi_cupti_enable_functions(const ppi_cupti_api *api, void *subscriber) {
  for (uint32_t domain = 0; domain < NUM_DOMAINS; domain++)
    for (uint32_t id = 1; id < MOST_IDS; id++)
      enable(api, subscriber, domain, id);
}

ppi_cupti_function *ppi_cupti_function_of(uint32_t domain, uint32_t id) {
  if (id >= MOST_IDS) return NULL;
  if (domain == PPI_CUPTI_DOMAIN_DRIVER)
    return __atomic_load_n(&functions[DRIVER][id], __ATOMIC_ACQUIRE);
  if (domain == PPI_CUPTI_DOMAIN_RUNTIME)
    return __atomic_load_n(&functions[RUNTIME][id], __ATOMIC_ACQUIRE);
  return NULL;
}

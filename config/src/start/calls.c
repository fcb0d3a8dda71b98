// SPDX-License-Identifier: Apache-2.0
//
// Lists the real calls, and lets a test replace them.
#include "start/calls.h"

#include <pthread.h>

#include "cupti.h"
#include "opencl_layer.h"
#include "rocm.h"
#include "session/choice_session.h"

static void open_backends(uint64_t backends) {
  static const pprof_backend *(*const get[])(void) = {
#define BACKEND(name) pprof_backend_##name,
      PPI_BACKENDS(BACKEND)
#undef BACKEND
  };
  for (size_t i = 0; i < sizeof get / sizeof *get; i++)
    if (backends >> i & 1) pprof_device_get(get[i](), 0);
}

// OpenCL and ROCm are present only if their loaders have loaded us; CUPTI by
// its library.
static ppi_kernel_source sources[2];

static void link_sources(void) {
  sources[0] = *ppi_opencl_source();
  sources[0].next = &sources[1];
  sources[1] = *ppi_rocm_source();
  sources[1].next = ppi_cupti_source();
}

static pprof_status set_kernels(pprof_session *session, bool are_on) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, link_sources);
  return ppi_session_set_kernels(session, &sources[0], are_on);
}

#define REAL(name, call) .name = call,
static const ppi_compose_calls real_calls = {
    PPI_COMPOSE_CALLS(REAL).session_set_choice = ppi_session_set_choice,
    .session_set_kernels = set_kernels,
    .open_backends = open_backends,
};
const ppi_compose_calls *ppi_running_calls = &real_calls;

void ppi_compose_set_calls(const ppi_compose_calls *replacement) {
  ppi_running_calls = replacement ? replacement : &real_calls;
}

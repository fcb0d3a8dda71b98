// SPDX-License-Identifier: Apache-2.0
//
// Every marker call and macro once, for a .c and a .cc file, with and without
// PPROF_DISABLE. Runs without a session: nothing here may have an effect.
#ifndef TESTS_API_MARKERS_H_
#define TESTS_API_MARKERS_H_

#include "pprof/device.h"
#include "pprof/mark.h"

PPROF_SITE(markers_file_site, "file", PPROF_CATEGORY_PREPROCESS);

static int markers_depth;
static int markers_num_evaluated;

static pprof_device *markers_device(void) {
  markers_num_evaluated++;
  return pprof_device_get(pprof_backend_cpu(), 0);
}

static void markers_host(uint64_t request, const char *name) {
  PPROF_SITE(block_site, "block", PPROF_CATEGORY_INFERENCE);
  const pprof_work_amount work = {sizeof(pprof_work_amount), 1, 2, 3, 4};
  PPROF_SCOPE("scope");
  PPROF_SCOPE_CAT("scope with a category", PPROF_CATEGORY_CPU_TASK);
  const uint32_t category = pprof_category_register(name);
  pprof_thread_name(name);
  pprof_push(&markers_file_site);
  pprof_flow(request);
  (void)pprof_flow_context(request, pprof_flow_traceparent(name));
  pprof_work(&work);
  pprof_push_name(name, category);
  pprof_mark(&block_site);
  pprof_count(&block_site, (double)request);
  pprof_pop();
  pprof_pop();
  const pprof_range range = pprof_range_begin(&block_site);
  pprof_range_flow(range, request);
  pprof_range_work(range, &work);
  pprof_range_end(range);
  const pprof_request served = pprof_request_begin(request, &block_site);
  pprof_request_input(served, request);
  pprof_request_waited(served, request);
  pprof_serve(&served, 1);
  pprof_serve_since(&served, 1, request);
  pprof_token(served, request);
  pprof_request_end(served);
  pprof_step(request);
  markers_depth++;
}

static void markers_on_device(void *stream) {
  PPROF_SITE(site, "device", PPROF_CATEGORY_INFERENCE);
  const pprof_work_amount work = {sizeof(pprof_work_amount), 1, 0, 0, 0};
  pprof_device *device = markers_device();
  PPROF_DEVICE_SCOPE(device, stream, "device scope");
  pprof_stream_name(device, stream, "stream");
  pprof_device_push(device, stream, &site);
  pprof_device_work(device, stream, &work);
  pprof_device_next(device, stream, &site);
  pprof_device_pop(device, stream);
  const pprof_range range = pprof_device_range_begin(device, stream, &site);
  pprof_device_range_end(range, stream);
}

// Only used by the scope: a macro that drops its arguments would warn here.
static void markers_used_once(void *stream) {
  pprof_device *const device = NULL;
  PPROF_DEVICE_SCOPE(device, stream, "used once");
}

static int markers_all(void) {
  markers_host(7, "name");
  markers_on_device(NULL);
  markers_used_once(NULL);
  return markers_num_evaluated == 1 && markers_depth == 1 ? 0 : 1;
}

#endif  // TESTS_API_MARKERS_H_

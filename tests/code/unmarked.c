// SPDX-License-Identifier: Apache-2.0
//
// Two functions that do the same work: one with every kind of marker, one with
// none. With PPROF_DISABLE they are the same instructions
// (marker_code_test.py).
#define PPROF_DISABLE
#include "pprof/mark.h"

int work(int value);

int with_markers(int value);
int with_markers(int value) {
  PPROF_SITE(site, "site", PPROF_CATEGORY_USER_DEFINED);
  PPROF_SCOPE("whole");
  pprof_range range = pprof_range_begin(&site);
  int sum = 0;
  pprof_thread_name("worker");
  for (int i = 0; i < value; i++) {
    PPROF_SCOPE_CAT("inner", PPROF_CATEGORY_FORWARD);
    pprof_push(&site);
    pprof_flow(7);
    sum += work(i);
    pprof_work(NULL);
    pprof_pop();
    pprof_push_name("name", PPROF_CATEGORY_FORWARD);
    pprof_mark(&site);
    pprof_count(&site, 1.5);
    pprof_pop();
    pprof_step(1);
  }
  pprof_request request = pprof_request_begin(7, &site);
  pprof_request_input(request, 7);
  pprof_request_waited(request, 7);
  pprof_serve(&request, 1);
  pprof_serve_since(&request, 1, 7);
  pprof_token(request, 7);
  pprof_request_end(request);
  pprof_range_flow(range, 7);
  pprof_range_work(range, NULL);
  pprof_range_end(range);
  return sum;
}

int without_markers(int value);
int without_markers(int value) {
  int sum = 0;
  for (int i = 0; i < value; i++) sum += work(i);
  return sum;
}

// SPDX-License-Identifier: Apache-2.0
//
// Measures the resident memory of a flight recorder: flight [MILLIONS
// [RING_MIB]]. Ranges of varied lengths and requests go through a session with
// a ring and no log. The figures are the process's resident memory after the
// first million ranges and at the end, and the content of a dump at the end.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flight/flight.h"
#include "pprof/mark.h"
#include "pprof/session.h"
#include "rows.h"
#include "session/state/session_impl.h"

enum { BURST = 10000, MILLION = 1000000, MIB = 1 << 20 };

PPROF_SITE(stage, "stage", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(inner, "inner", PPROF_CATEGORY_OPERATOR);

// Resident MiB from /proc; 0 when /proc has none.
static double resident_mib(void) {
  unsigned long long size, pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%llu %llu", &size, &pages) != 2) pages = 0;
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / MIB;
}

// Two ranges, the inner one of a length that is not always the same.
static void record(uint64_t request) {
  pprof_push(&stage);
  pprof_flow(request);
  pprof_push(&inner);
  for (volatile uint64_t i = request * 7919 % 61; i > 0; i--) continue;
  pprof_pop();
  pprof_pop();
}

static int fail(const char *what, pprof_status status) {
  fprintf(stderr, "flight: %s: %s\n", what, pprof_status_string(status));
  return 1;
}

static pprof_status make_session(uint64_t ring_bytes, const char *path,
                                 pprof_session **out, pprof_sink **out_sink) {
  static const char *const texts[] = {"stage \"stage\" > 1h", "request > 1h",
                                      "p99(\"inner\", 10s) > 1h"};
  ppi_rule rules[3];
  char why[256];
  size_t column;
  for (int i = 0; i < 3; i++) {
    pprof_status status =
        ppi_rule_parse(texts[i], &rules[i], &column, why, sizeof why);
    if (status != PPROF_STATUS_OK) return status;
  }
  const ppi_flight_options flight = {.before_ns = UINT64_C(10000000000),
                                     .path = path,
                                     .rules = rules,
                                     .num_rules = 3};
  pprof_options options = {.size = sizeof options};
  pprof_status status = pprof_session_create(&options, out, NULL);
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_session_set_ring(*out, ring_bytes);
  if (status == PPROF_STATUS_OK)
    status = ppi_flight_create(&flight, out_sink, NULL);
  if (status == PPROF_STATUS_OK)
    status = pprof_session_add_sink(*out, *out_sink);
  return status == PPROF_STATUS_OK ? pprof_session_start(*out) : status;
}

// The spool's pages are counted from their first use: the first figure is taken
// when they have been used.
static void run(pprof_session *session, uint64_t num_ranges,
                double *first_mib) {
  for (uint64_t i = 0; i < num_ranges / 2; i++) {
    record(i / 8);
    // No faster than the collector: lost ranges would be no load.
    if (i % BURST == 0) (void)pprof_session_flush(session);
    if (i == MILLION / 2) *first_mib = resident_mib();
  }
}

int main(int argc, char **argv) {
  uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
  uint64_t ring_mib = argc > 2 ? strtoull(argv[2], NULL, 10) : 16;
  char path[64], where[4096];
  snprintf(path, sizeof path, "/tmp/pprof-bench-%d.flight.pplog", getpid());
  pprof_session *session = NULL;
  pprof_sink *sink = NULL;
  pprof_status status = make_session(ring_mib * MIB, path, &session, &sink);
  if (status != PPROF_STATUS_OK) return fail("start", status);
  double first_mib = 0;
  run(session, millions * MILLION, &first_mib);
  double last_mib = resident_mib();
  status = ppi_flight_trigger(sink, NULL, where, sizeof where);
  if (status != PPROF_STATUS_OK) return fail("dump", status);
  status = pprof_session_stop(session, NULL);
  if (status != PPROF_STATUS_OK) return fail("stop", status);
  pprof_stats stats = {.size = sizeof stats};
  status = pprof_session_stats(session, &stats);
  ppi_flight_state state = ppi_flight_look(sink);
  printf("ranges                %12" PRIu64 "\n", stats.recorded);
  printf("lost                  %12" PRIu64 "\n", stats.lost);
  printf("overwritten           %12" PRIu64 "\n", state.num_overwritten);
  printf("resident MiB, first   %12.1f\n", first_mib);
  printf("resident MiB, last    %12.1f\n", last_mib);
  pprof_session_destroy(session);
  unlink(where);
  bench_row("flight recorder, resident at the end to the first million's",
            last_mib / first_mib, "x", 1.05);
  bool flat = last_mib <= first_mib * 1.05 + 1;
  if (!flat) printf("not flat\n");
  return status != PPROF_STATUS_OK || stats.lost != 0 ||
         state.num_failed != 0 || !flat;
}

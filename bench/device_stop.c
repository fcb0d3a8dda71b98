// SPDX-License-Identifier: Apache-2.0
//
// Stops a session with ranges behind a long kernel. The stop waits for them up
// to its limit, then marks them late; the program's own work goes on untouched.
#include <stdio.h>

#include "device_bench.h"
#include "device_kernels.h"

enum { RANGES = 50, LIMIT_MS = 200 };

PPROF_SITE(site, "stop", PPROF_CATEGORY_INFERENCE);

typedef struct outcome {
  double stop_ms;
  pprof_stats stats;
  uint64_t num_timed;
  bool is_running_after;  // the kernel ran on when the stop had returned
} outcome;

static bool stop_behind(bench_run *run, cudaStream_t stream, unsigned kernel_ms,
                        outcome *out) {
  bench_session session = {.stop_wait_ms = LIMIT_MS};
  pprof_stream_name(run->device, stream, "stop");
  if (!bench_session_start(&session)) return false;
  bench_launch_spin(stream, kernel_ms * UINT64_C(1000000), NULL);
  for (int i = 0; i < RANGES; i++) {
    pprof_device_push(run->device, stream, &site);
    bench_launch_tiny(stream);
    pprof_device_pop(run->device, stream);
  }
  uint64_t begin = bench_now_ns();
  bool ok = bench_session_stop(&session);
  out->stop_ms = (double)(bench_now_ns() - begin) / 1e6;
  out->is_running_after = cudaStreamQuery(stream) == cudaErrorNotReady;
  out->stats = session.stats;
  out->num_timed = session.capture->num_timed;
  BENCH_CHECK(cudaStreamSynchronize(stream));
  bench_session_destroy(&session);
  return ok;
}

static bench_row *add_row(bench_run *run, const char *id, const char *what,
                          const outcome *result) {
  bench_row *row = bench_row_add(&run->report, "stop", id, what);
  row->figure_unit = "ms";
  row->figure = result->stop_ms;
  bench_row_figure(row, "recorded", (double)result->stats.recorded);
  bench_row_figure(row, "late", (double)result->stats.late);
  bench_row_figure(row, "lost", (double)result->stats.lost);
  bench_row_figure(row, "timed", (double)result->num_timed);
  return row;
}

bool bench_part_stop(bench_run *run) {
  cudaStream_t stream = bench_stream_create();
  outcome done = {0}, late = {0};
  bool ok = stop_behind(run, stream, LIMIT_MS / 4, &done) &&
            stop_behind(run, stream, 3 * LIMIT_MS, &late);
  // The error of the query above, which is no error.
  cudaGetLastError();
  if (ok) {
    bench_row *row =
        add_row(run, "stop_in_time", "stop behind a kernel of 50 ms", &done);
    bench_row_judge(row, "all ranges timed",
                    done.num_timed == RANGES && done.stats.late == 0 &&
                        done.stats.lost == 0 && !done.is_running_after);
    row = add_row(run, "stop_late", "stop behind a kernel of 600 ms", &late);
    bench_row_judge(row, "200 ms + 50 ms, all ranges late",
                    late.stats.late == RANGES && late.stats.lost == 0 &&
                        late.is_running_after && late.stop_ms <= LIMIT_MS + 50);
  }
  BENCH_CHECK(cudaStreamDestroy(stream));
  return ok;
}

// SPDX-License-Identifier: Apache-2.0
//
// The parts of the device benchmark share these: options, the GPU, a session
// that keeps its events, clocks.
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "device_report.h"
#include "pprof/pprof.h"

typedef struct bench_options {
  bool quick;
  double minutes;       // of the part `place`
  const char *only;     // parts, joined by commas; NULL: all
  const char *out;      // JSON; NULL: none
  const char *scratch;  // folder for logs
} bench_options;

// The driver's call, as the cuda backend makes it; the Runtime's adds to it.
typedef int (*bench_event_record)(cudaEvent_t event, cudaStream_t stream);

typedef int (*bench_is_capturing)(cudaStream_t stream,
                                  enum cudaStreamCaptureStatus *out);

typedef struct bench_run {
  bench_options options;
  bench_report report;
  pprof_device *device;
  bench_event_record record;        // cuEventRecord
  bench_is_capturing is_capturing;  // cuStreamIsCapturing
} bench_run;

// A part adds its rows to run->report. False: it could not measure, and stderr
// has the reason. A missed bound is no failure.
typedef bool (*bench_part)(bench_run *run);
bool bench_part_host(bench_run *run);
bool bench_part_gpu(bench_run *run);
bool bench_part_spin(bench_run *run);
bool bench_part_pipeline(bench_run *run);
bool bench_part_place(bench_run *run);
bool bench_part_rate(bench_run *run);
bool bench_part_stop(bench_run *run);
bool bench_part_kernels(bench_run *run);

// Ends the program, naming the call, when CUDA answers an error.
#define BENCH_CHECK(call) bench_check(call, #call)
void bench_check(cudaError_t error, const char *call);
// Prints the failure to stderr and answers false.
__attribute__((format(printf, 1, 2))) bool bench_fail(const char *format, ...);

// Makes the device current on a new thread, for driver calls too.
void bench_thread_begin(void);
// Checks the result of cuEventRecord; call it outside timed sections.
void bench_record(const bench_run *run, cudaEvent_t event, cudaStream_t stream);
uint64_t bench_now_ns(void);  // CLOCK_MONOTONIC
void bench_sleep_us(unsigned us);
cudaStream_t bench_stream_create(void);  // non-blocking
cudaEvent_t bench_event_create(void);
// Between two events that are done.
double bench_elapsed_us(cudaEvent_t from, cudaEvent_t to);

// bench_gate holds streams back until it is opened, so that the host can build
// up their queues.
typedef struct bench_gate {
  uint32_t *open;  // mapped host memory
} bench_gate;
bench_gate bench_gate_create(void);
void bench_gate_close(bench_gate *gate, cudaStream_t stream);
void bench_gate_open(bench_gate *gate);
void bench_gate_destroy(bench_gate *gate);

// bench_barrier lets `num` threads go on within a fraction of a microsecond; it
// spins, and yields after a while.
typedef struct bench_barrier {
  unsigned num, arrived, round;
} bench_barrier;
void bench_barrier_wait(bench_barrier *barrier);

// bench_event has the fields of a pprof_event that parts use.
typedef struct bench_event {
  uint64_t start_ns, end_ns, device_start_ns, device_end_ns, device_error_ns;
  uint32_t site, stream, kind, flags;
} bench_event;

enum { BENCH_MAX_DEFINITIONS = 512 };

// bench_capture is a sink that counts events. It keeps the events of sites with
// names that begin with `keeps`. Read all but `num_events` after the stop.
typedef struct bench_capture {
  pprof_sink base;
  const char *keeps;    // NULL: none
  uint64_t num_events;  // atomic
  uint64_t num_timed;   // device ranges that have device times
  uint64_t num_untimed;
  bench_event *events;
  size_t num_kept, capacity;
  bool is_kept[BENCH_MAX_DEFINITIONS];
  char site_names[BENCH_MAX_DEFINITIONS][16];
  char stream_names[BENCH_MAX_DEFINITIONS][16];
} bench_capture;

void bench_capture_init(bench_capture *capture);

typedef struct bench_session {
  const char *keeps;      // for the capture
  const char *log_path;   // NULL: no log
  uint32_t stop_wait_ms;  // 0: the default
  pprof_session *session;
  bench_capture *capture;
  pprof_stats stats;  // exact after the stop
} bench_session;

// The caller sets the fields before `session`. False: stderr has the reason.
bool bench_session_start(bench_session *session);
// Waits until `num_events` were delivered in all, or lost; 10 s at most.
bool bench_session_wait(bench_session *session, uint64_t num_events);
bool bench_session_stop(bench_session *session);
uint64_t bench_session_lost(const bench_session *session);
void bench_session_destroy(bench_session *session);

// The number in the name of the event's site or stream, e.g. 3 of "spin3"; -1
// when there is none.
int bench_site_number(const bench_capture *capture, const bench_event *event);
int bench_stream_number(const bench_capture *capture, const bench_event *event);

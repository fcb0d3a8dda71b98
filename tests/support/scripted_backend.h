// SPDX-License-Identifier: Apache-2.0
//
// A device that follows a script, for tests of the code above a pprof_backend.
// It models in-order streams of a device with a skewed clock that drifts and
// ticks coarsely. It keeps the true times for the test to compare with, and
// counts breaches of the backend contract.
//
//   scripted_script script = {.now = test_now, .skew_ns = 5000000};
//   scripted_device *fake = scripted_device_create(&script);
//   pprof_device *device = pprof_device_get(scripted_device_backend(fake),
//                                           scripted_device_index(fake));
//   void *stream = scripted_stream_create(fake, 1);
//   pprof_device_push(device, stream, &site);
//   scripted_stream_submit(stream, 1000000);   // 1 ms of work
//   pprof_device_pop(device, stream);
//   test_advance(2000000);                     // now the collector sees it
//   EXPECT_EQ(scripted_device_num_violations(fake), 0);
//
// The model. Host time is script.now(). An operation put on a stream at host
// time h begins at max(h, end of the one before it on that stream). Work takes
// its duration, an event its latency; the event happens, in truth, at its end,
// and a query finds it ready ready_delay_ns later. The device's clock shows for
// the host time t
//   t + skew + (t - zero) * drift_ppb / 10^9, rounded down to resolution_ns,
// zero being host time at creation. Times of events are read from that clock;
// without ABSOLUTE_TIME only differences, rounded to a float of milliseconds.
//
// Safe from any thread. Nothing is ever freed (as with pprof_device), so that
// use after destroy is counted, not suffered. A device index is used once.
#pragma once

#include "pprof/device.h"

PPROF_BEGIN_C_

typedef struct scripted_device scripted_device;

// Zero means: no such thing.
typedef struct scripted_script {
  const char *name;       // of the backend; NULL: "scripted"
  uint64_t (*now)(void);  // host time in ns; NULL: CLOCK_MONOTONIC
  uint32_t caps;          // PPROF_BACKEND_ABSOLUTE_TIME, PPROF_BACKEND_CAPTURE
  bool no_pool_0;         // events of pool 0 are refused, as CUDA does
  bool no_anchor;         // the table has anchor = NULL
  const char *untimed_hint;
  const char *caveat;
  const char *error_text;  // why it answers DEVICE, once it does
  const char *open_error;  // open fails with UNAVAILABLE and this text
  // The device's clock.
  int64_t skew_ns;
  int64_t drift_ppb;  // + : the device's clock runs fast
  uint64_t resolution_ns;
  // The k-th event recorded (from 0) takes latencies_ns[k % num_latencies].
  const uint64_t *latencies_ns;
  size_t num_latencies;
  uint64_t ready_delay_ns;
  // An anchor's bracket is [now - width, now]; its event happens this many
  // thousandths into it.
  uint64_t anchor_width_ns;
  uint32_t anchor_position_permille;
  // Faults, by count; calls are counted from 1.
  uint64_t fail_create_at;  // that event_create: NO_MEMORY
  uint64_t fail_record_at;  // that event_record: INVALID
  uint64_t sticky_at;       // that call of record, query, elapsed, anchor or
                            // stream_info and all later ones: DEVICE
} scripted_script;

scripted_device *scripted_device_create(const scripted_script *script);
const pprof_backend *scripted_device_backend(scripted_device *device);
int scripted_device_index(scripted_device *device);

// Switches that a test throws while running.
void scripted_device_break(scripted_device *device);  // sticky error from here
void scripted_device_starve_anchors(scripted_device *device, bool starve);
void scripted_device_fail_creates(scripted_device *device, bool fail);
void scripted_device_fail_records(scripted_device *device, bool fail);

// A new stream is timed and not capturing. Its events must be of the same pool,
// such as a CUDA context; most backends have one pool, 0.
void *scripted_stream_create(scripted_device *device, uint64_t pool);
void scripted_stream_set_timed(void *stream, bool timed);
void scripted_stream_set_capturing(void *stream, bool capturing);
// A stream on hold begins nothing: its events are late until it is released,
// and happen at that time or later.
void scripted_stream_hold(void *stream, bool hold);
void scripted_stream_submit(void *stream, uint64_t duration_ns);
// When the last operation put on it ends, in true host time; UINT64_MAX while
// it is on hold with operations waiting.
uint64_t scripted_stream_end_ns(void *stream);

// An event recorded by a call; records keep the calls' order, without anchors.
typedef struct scripted_record {
  void *stream;
  void *event;
  uint64_t record_ns;  // host time of the call
  uint64_t true_ns;    // host time at which the event happened
  int64_t device_ns;   // what the device's clock showed then
  bool happens;        // false on hold: the two times are not known yet
} scripted_record;
size_t scripted_device_num_records(scripted_device *device);
bool scripted_device_record(scripted_device *device, size_t i,
                            scripted_record *out);
int64_t scripted_device_clock(scripted_device *device, uint64_t host_ns);

// The stream of this handle is destroyed and another one made in its place, as
// drivers do.
void scripted_stream_remake(void *stream);

// A context is destroyed or reset: its events are gone with it. Once pool_check
// has reported so, touching them is a breach.
void scripted_device_destroy_pool(scripted_device *device, uint64_t pool);

// Graphs. Operations put on a capturing stream do not run. The end of the
// capture makes a graph of them, which can be launched on any stream. Events
// that are nodes of a graph are not counted as live.
typedef struct scripted_graph scripted_graph;
scripted_graph *scripted_stream_end_capture(void *stream);
void scripted_graph_launch(scripted_graph *graph, void *stream);

size_t scripted_device_num_live_events(scripted_device *device);
// Event calls made after a sticky error was answered.
size_t scripted_device_num_calls_after_error(scripted_device *device);
// Breaches of contract: collector's functions called on another thread than
// the one that called collector_enter last, an event recorded again before it
// happened, queried or read without being recorded, read before it was ready,
// used after its destroy, used with a stream or pool of another kind, recorded
// on a stream that is capturing or not timed; an event of a graph that is
// destroyed or recorded otherwise, and one of a pool known to be gone.
size_t scripted_device_num_violations(scripted_device *device);
const char *scripted_device_first_violation(scripted_device *device);  // or ""

PPROF_END_C_

// SPDX-License-Identifier: Apache-2.0
//
// A sink of one's own: it counts events per site while the program runs. The
// collector's thread calls it; the main thread reads it after the stop.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprof/pprof.h"

enum { MAX_SITES = 256, NAME_LEN = 48 };

struct counter {
  pprof_sink base;
  char names[MAX_SITES][NAME_LEN];
  uint64_t num_events[MAX_SITES], total_ns[MAX_SITES];
};

// Names are borrowed for the call, so they are copied.
static pprof_status counter_define(pprof_sink *sink,
                                   const pprof_definition *definition) {
  struct counter *counter = (struct counter *)sink;
  uint32_t id = pprof_definition_id(definition);
  if (pprof_definition_get_kind(definition) == PPROF_DEFINITION_SITE &&
      id < MAX_SITES)
    snprintf(counter->names[id], NAME_LEN, "%s",
             pprof_definition_name(definition));
  return PPROF_STATUS_OK;
}

static pprof_status counter_events(pprof_sink *sink, const pprof_batch *batch) {
  struct counter *counter = (struct counter *)sink;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->site >= MAX_SITES) continue;
    counter->num_events[event->site]++;
    counter->total_ns[event->site] += event->end_ns - event->start_ns;
  }
  return PPROF_STATUS_OK;
}

static void counter_destroy(pprof_sink *sink) {
  struct counter *counter = (struct counter *)sink;
  for (size_t i = 0; i < MAX_SITES; i++)
    if (counter->num_events[i])
      printf("%-12s %6llu events %12llu ns\n", counter->names[i],
             (unsigned long long)counter->num_events[i],
             (unsigned long long)counter->total_ns[i]);
  free(counter);
}

static double work(int rounds) {
  double sum = 0;
  PPROF_SCOPE("outer");
  for (int i = 0; i < rounds; i++) {
    PPROF_SCOPE("inner");
    for (int j = 1; j < 20000; j++) sum += 1.0 / j;
  }
  return sum;
}

int main(void) {
  pprof_session *session = NULL;
  pprof_options options = {.size = sizeof(options)};
  pprof_error error = {""};
  struct counter *counter = calloc(1, sizeof(*counter));
  if (!counter) return 1;
  counter->base = (pprof_sink){.size = sizeof(counter->base),
                               .define = counter_define,
                               .events = counter_events,
                               .destroy = counter_destroy};
  if (pprof_session_create(&options, &session, &error) != PPROF_STATUS_OK ||
      pprof_session_add_sink(session, &counter->base) != PPROF_STATUS_OK ||
      pprof_session_start(session) != PPROF_STATUS_OK) {
    fprintf(stderr, "custom_sink: %s\n", error.text);
    return 1;
  }
  double sum = work(10);
  pprof_status status = pprof_session_stop(session, &error);
  pprof_session_destroy(session);  // destroys the sink, which prints
  return status == PPROF_STATUS_OK && sum > 0 ? 0 : 1;
}

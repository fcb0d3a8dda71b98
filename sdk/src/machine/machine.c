// SPDX-License-Identifier: Apache-2.0
//
// Samples the table of sources on a thread. Each source has a share of a core:
// its cost decides how often it is asked.
#include "machine/machine.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/start_thread.h"
#include "base/wait.h"
#include "machine/machine_nvml.h"
#include "mark/recorder.h"
#include "names/choice.h"

// A thread that comes later than that had no processor, or its process stood
// still.
#define LATE_NS PPI_MACHINE_PERIOD_NS
// The greatest age of the thread's waiting time.
#define LOOK_NS 1000000000ull

const ppi_machine_source ppi_machine_wakes = {
    .name = "the thread", .period_ns = PPI_MACHINE_PERIOD_NS, .share = 40};

#define SOURCE(name, what, ms, share)                                     \
  const ppi_machine_source ppi_machine_##name = {#name,                   \
                                                 what,                    \
                                                 (ms)*1000000ull,         \
                                                 share,                   \
                                                 ppi_machine_open_##name, \
                                                 ppi_machine_sample_##name};
PPI_MACHINE_SOURCES(SOURCE)
#undef SOURCE

#define ROW(name, ...) &ppi_machine_##name,
static const ppi_machine_source *const sources[] = {PPI_MACHINE_SOURCES(ROW)};
#undef ROW
enum { NUM_SOURCES = sizeof sources / sizeof *sources };

typedef struct source_state {
  bool is_open;
  uint64_t due_ns;
  ppi_machine_costs costs;
} source_state;

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  pthread_t thread;
  bool has_thread, is_ended, hangs;  // ended: under the mutex
  bool is_running, stops;
  ppi_machine_options options;
  source_state states[NUM_SOURCES];
  ppi_machine_costs wakes;
  uint64_t cpu_ns;  // of the thread, behind its last round
  uint32_t epoch;
} machine = {.mutex = PTHREAD_MUTEX_INITIALIZER};

// ---- everything stood still ----

static struct {
  double stood, ready;
  uint64_t cpu_ns, queued_ns;
  uint64_t looked_ns;  // at queued_ns
} stall;

// The calling thread's time of waiting for a processor; 0: unknown.
static uint64_t queued_ns(void) {
  char text[64];
  double ran, waited;
  bool is_known =
      ppi_machine_read("/proc/thread-self/schedstat", text, sizeof text) &&
      sscanf(text, "%lf %lf", &ran, &waited) == 2;
  return is_known ? (uint64_t)waited : 0;
}

// A thread that is late without waiting for a processor was stopped, and so
// were all others. If it did wait, or that is unknown, everything stood still
// if the process used no processor meanwhile.
static bool stood_still(uint64_t late_ns, uint64_t used_ns,
                        uint64_t waited_ns) {
  bool is_known = stall.queued_ns > 0;
  bool was_stopped = is_known && waited_ns < late_ns / 2;
  return late_ns >= LATE_NS && (was_stopped || used_ns < late_ns / 10);
}

static void look_at_lateness(uint64_t now_ns, uint64_t late_ns) {
  bool is_late = late_ns >= LATE_NS;
  uint64_t cpu_ns = ppi_machine_now_ns(CLOCK_PROCESS_CPUTIME_ID);
  bool looks = is_late || now_ns - stall.looked_ns >= LOOK_NS;
  uint64_t now_queued_ns = looks ? queued_ns() : stall.queued_ns;
  uint64_t used_ns = cpu_ns - stall.cpu_ns;
  uint64_t waited_ns = now_queued_ns - PPI_MIN(now_queued_ns, stall.queued_ns);
  bool stood = stood_still(late_ns, used_ns, waited_ns);
  stall.cpu_ns = cpu_ns;
  stall.queued_ns = now_queued_ns;
  if (looks) stall.looked_ns = now_ns;
  if (stood) {
    stall.stood += (double)(late_ns / 1000);
    stall.ready += (double)(PPI_MIN(waited_ns, late_ns) / 1000);
  }
  ppi_machine_put("process.stood_still_us", stall.stood);
  ppi_machine_put("process.stood_ready_us", stall.ready);
}

// ---- the sources ----

static void open_sources(void) {
  char absent[512] = "";
  stall.stood = stall.ready = 0;
  stall.cpu_ns = ppi_machine_now_ns(CLOCK_PROCESS_CPUTIME_ID);
  stall.queued_ns = queued_ns();
  for (size_t i = 0; i < NUM_SOURCES; i++) {
    const ppi_machine_source *source = sources[i];
    bool is_wanted = !(machine.options.without >> i & 1);
    machine.states[i] = (source_state){.is_open = is_wanted && source->open()};
    if (!is_wanted || machine.states[i].is_open) continue;
    size_t len = strlen(absent);
    snprintf(absent + len, sizeof absent - len, "%s%s (%s)", len ? ", " : "",
             source->name, source->what);
  }
  pthread_mutex_lock(&machine.mutex);
  if (absent[0] && machine.options.note)
    machine.options.note(machine.options.user, "machine absent", absent);
  pthread_mutex_unlock(&machine.mutex);
}

static void close_sources(void) {
  for (size_t i = 0; i < NUM_SOURCES; i++)
    if (machine.states[i].is_open && strncmp(sources[i]->name, "gpu", 3) == 0)
      ppi_nvml_close();
}

// Answers its cost.
static uint64_t ask(size_t index, uint64_t now_ns) {
  const ppi_machine_source *source = sources[index];
  source_state *state = &machine.states[index];
  uint64_t before_ns = ppi_machine_now_ns(CLOCK_THREAD_CPUTIME_ID);
  source->sample();
  uint64_t cost_ns = ppi_machine_now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
  state->due_ns = now_ns + ppi_machine_rest_ns(source, &state->costs, cost_ns);
  return cost_ns;
}

// The thread's work since the last round, without the sources.
static uint64_t rest_ns(uint64_t asked_ns) {
  uint64_t cpu_ns = ppi_machine_now_ns(CLOCK_THREAD_CPUTIME_ID);
  uint64_t own_ns = cpu_ns - machine.cpu_ns - asked_ns;
  machine.cpu_ns = cpu_ns;
  return ppi_machine_rest_ns(&ppi_machine_wakes, &machine.wakes, own_ns);
}

// Answers the time of the next round.
static uint64_t sample(uint64_t late_ns, bool asks_all) {
  uint64_t now_ns = ppi_machine_now_ns(CLOCK_MONOTONIC);
  uint64_t asked_ns = 0;
  uint32_t epoch = __atomic_load_n(ppi_epoch_page, __ATOMIC_ACQUIRE);
  // A window that has opened knows no level yet.
  if (epoch != machine.epoch) ppi_machine_repeat();
  machine.epoch = epoch;
  look_at_lateness(now_ns, late_ns);
  for (size_t i = 0; i < NUM_SOURCES; i++)
    if (machine.states[i].is_open &&
        (asks_all || machine.states[i].due_ns <= now_ns))
      asked_ns += ask(i, now_ns);
  uint64_t next_ns = now_ns + rest_ns(asked_ns);
  return PPI_MAX(next_ns, ppi_machine_now_ns(CLOCK_MONOTONIC));
}

static void begin(void) {
  machine.wakes = (ppi_machine_costs){0};
  machine.cpu_ns = ppi_machine_now_ns(CLOCK_THREAD_CPUTIME_ID);
  ppi_machine_repeat();
  open_sources();
  sample(0, true);
}

// Records the last value of each level.
static void end(void) {
  ppi_machine_repeat();
  sample(0, true);
  close_sources();
}

// ---- the thread ----

// True: it is to stop.
static bool wait_until(uint64_t due_ns) {
  pthread_mutex_lock(&machine.mutex);
  while (!machine.stops &&
         ppi_wait_until(&machine.wake, &machine.mutex, due_ns)) {
  }
  bool stops = machine.stops;
  pthread_mutex_unlock(&machine.mutex);
  return stops;
}

static void *machine_main(void *argument) {
  (void)argument;
  begin();
  uint64_t due_ns = ppi_machine_now_ns(CLOCK_MONOTONIC) + PPI_MACHINE_PERIOD_NS;
  while (!wait_until(due_ns)) {
    uint64_t now_ns = ppi_machine_now_ns(CLOCK_MONOTONIC);
    due_ns = sample(now_ns - PPI_MIN(now_ns, due_ns), false);
  }
  end();
  pthread_mutex_lock(&machine.mutex);
  machine.is_ended = true;
  pthread_cond_broadcast(&machine.wake);
  pthread_mutex_unlock(&machine.mutex);
  return NULL;
}

bool ppi_machine_start(const ppi_machine_options *options) {
  if (machine.is_running || machine.hangs) return false;
  machine.options = *options;
  machine.stops = machine.is_ended = false;
  uint32_t category = pprof_category_register("Machine");
  ppi_choice_set_machine(category);
  ppi_machine_set_category(category);
  ppi_wait_init(&machine.wake);
  machine.is_running =
      options->is_by_hand || ppi_start_thread(&machine.thread, "pprof-machine",
                                              machine_main, NULL) == 0;
  machine.has_thread = machine.is_running && !options->is_by_hand;
  if (options->is_by_hand) begin();
  return machine.is_running;
}

void ppi_machine_sample(uint64_t late_ns) {
  sample(late_ns, true);
}

static void end_thread(uint64_t wait_ms) {
  uint64_t end_ns = ppi_machine_now_ns(CLOCK_MONOTONIC) + wait_ms * 1000000u;
  pthread_mutex_lock(&machine.mutex);
  machine.stops = true;
  pthread_cond_broadcast(&machine.wake);
  while (!machine.is_ended &&
         ppi_wait_until(&machine.wake, &machine.mutex, end_ns)) {
  }
  machine.hangs = !machine.is_ended;
  // The receiver of notes may be gone when the driver answers.
  if (machine.hangs) machine.options.note = NULL;
  pthread_mutex_unlock(&machine.mutex);
  if (machine.hangs)
    pthread_detach(machine.thread);
  else
    pthread_join(machine.thread, NULL);
}

void ppi_machine_stop(uint64_t wait_ms) {
  if (!machine.is_running) return;
  if (machine.has_thread)
    end_thread(wait_ms);
  else
    end();
  machine.is_running = machine.has_thread = false;
}

void ppi_machine_in_forked_child(void) {
  machine.is_running = machine.has_thread = machine.hangs = false;
  pthread_mutex_init(&machine.mutex, NULL);
  memset(machine.states, 0, sizeof machine.states);
  ppi_nvml_in_forked_child();
}

// SPDX-License-Identifier: Apache-2.0
//
// make_page_log KIND FILE [N]: logs for the page, from events made here, the
// same at every call. KIND:
//   requests  N requests of a pipeline of two models on one device
//   hostile   the same with names that try to be markup, and odd times; N
//             chooses which
//   many      N ranges of eight threads and a device
//   service   N requests that come 300 at a time, and wait in line for six
//             threads
//   troubled  N milliseconds in each of which a thread waits for another one,
//             beside a device at its power cap and too hot, a quota, and a stop
//   bare      one range
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "event/recorded_wait.h"
#include "log/write/log_writer.h"
#include "pprof/log.h"

#define US(n) ((uint64_t)(n)*1000)
enum { NUM_SITES = 12, NUM_LANES = 8, BATCH = 512 };

static pprof_sink *sink;
static uint64_t state = 1;

static uint64_t random_below(uint64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % n;
}

// Events of a lane on their way, and how many it has had.
static struct lane {
  pprof_event events[BATCH];
  uint64_t flows[BATCH];
  size_t num;
  uint64_t seq;
} lanes[NUM_LANES + 1];

static void flush(uint32_t id) {
  struct lane *lane = &lanes[id];
  pprof_batch batch = {.size = sizeof(batch),
                       .stride = sizeof(pprof_event),
                       .events = lane->events,
                       .num_events = lane->num,
                       .first_seq = lane->seq,
                       .end_seq = lane->seq + lane->num,
                       .lane = id};
  if (lane->num && sink->events(sink, &batch) != PPROF_STATUS_OK) exit(3);
  lane->seq += lane->num;
  lane->num = 0;
}

static void add(pprof_event event, uint64_t flow) {
  struct lane *lane = &lanes[event.lane];
  if (flow) {
    lane->flows[lane->num] = flow;
    event.flows = &lane->flows[lane->num];
    event.num_flows = 1;
  }
  lane->events[lane->num++] = event;
  if (lane->num == BATCH) flush(event.lane);
}

static pprof_event range(uint32_t lane, uint32_t site, uint64_t from_ns,
                         uint64_t to_ns) {
  return (pprof_event){.start_ns = from_ns,
                       .end_ns = to_ns,
                       .site = site,
                       .lane = lane,
                       .kind = PPROF_KIND_RANGE};
}

static const char *const names[NUM_SITES] = {
    "request", "decode",   "resize",   "detect", "classify", "post",
    "upload",  "download", "tokenize", "attend", "sample",   "in the queue"};

static const char *const hostile_names[NUM_SITES] = {
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    "<!--",
    "]]>&lt;b&gt;",
    "\" onmouseover=\"alert(1)",
    "__proto__",
    "constructor",
    "\xe2\x80\xaegnp.exe",
    "javascript:alert(1)",
    "",
    "|`*_[x](javascript:alert(1))",
    "{{7*7}}${7*7}\\u003cb\\u003e"};

// The first dozen logs have these as they are, later ones what random pieces of
// them make.
static const char *hostile_name(uint64_t n, uint64_t i) {
  static char name[NUM_SITES * 64];
  const char *whole = hostile_names[(i + n) % NUM_SITES];
  if (n < NUM_SITES) return whole;
  size_t len = 0;
  for (uint64_t left = 1 + random_below(NUM_SITES); left > 0; left--) {
    const char *from = hostile_names[random_below(NUM_SITES)];
    uint64_t size = 1 + random_below(63);
    for (; *from && size > 0; size--) name[len++] = *from++;
    name[len++] = (char)(1 + random_below(127));
  }
  name[len - 1] = '\0';
  return name;
}

static void define(pprof_definition definition) {
  if (sink->define(sink, &definition) != PPROF_STATUS_OK) exit(3);
}

static void define_all(bool is_hostile, uint64_t n) {
  static const char *const threads[NUM_LANES] = {
      "main", "worker 1", "worker 2", "post", "t5", "t6", "t7", "t8"};
  static const uint32_t categories[NUM_SITES] = {
      PPROF_CATEGORY_USER_DEFINED, PPROF_CATEGORY_DATALOADER,
      PPROF_CATEGORY_OPERATOR,     PPROF_CATEGORY_INFERENCE,
      PPROF_CATEGORY_INFERENCE,    PPROF_CATEGORY_POSTPROCESS,
      PPROF_CATEGORY_MEMCPY,       PPROF_CATEGORY_MEMCPY,
      PPROF_CATEGORY_OPERATOR,     PPROF_CATEGORY_INFERENCE,
      PPROF_CATEGORY_INFERENCE,    PPROF_CATEGORY_USER_DEFINED};
  for (uint32_t i = 0; i < NUM_SITES; i++) {
    const char *name = is_hostile ? hostile_name(n, i) : names[i];
    define((pprof_definition){PPROF_DEFINITION_SITE, i + 1, categories[i], 0, 0,
                              name});
  }
  for (uint32_t i = 0; i < NUM_LANES; i++)
    define(
        (pprof_definition){PPROF_DEFINITION_LANE, i + 1, 0, 0, 4000 + i,
                           is_hostile ? hostile_name(n, i + 3) : threads[i]});
  define((pprof_definition){PPROF_DEFINITION_DEVICE, 1, 0, 0, 0,
                            is_hostile ? hostile_name(n, 0) : "gpu:0"});
  define((pprof_definition){PPROF_DEFINITION_STREAM, 1, 1, 0, 7, "models"});
  define((pprof_definition){PPROF_DEFINITION_STREAM, 2, 1, 0, 8,
                            is_hostile ? hostile_names[1] : "copies"});
}

static uint64_t device_free_ns, worker_free_ns[4];

// Submitted at `at_ns`, when `after_ns` is over, and behind what is there.
static uint64_t device_range(uint32_t lane, uint32_t site, uint64_t at_ns,
                             uint64_t length_ns, uint64_t flow) {
  pprof_event event = range(lane, site, at_ns, at_ns + US(20));
  uint64_t start_ns = at_ns + US(30);
  if (start_ns < device_free_ns) start_ns = device_free_ns;
  event.kind = PPROF_KIND_DEVICE_RANGE;
  event.device_start_ns = start_ns;
  event.device_end_ns = start_ns + length_ns;
  event.device_error_ns = 500;
  event.stream = site == 7 || site == 8 ? 2 : 1;
  add(event, flow);
  return device_free_ns = event.device_end_ns;
}

// Every 20th request decodes for long: that is the tail.
static void make_request(uint64_t i, uint64_t at_ns) {
  uint32_t worker = 2 + (uint32_t)(i % 2);
  uint64_t flow = i + 1, start_ns = at_ns;
  if (at_ns < worker_free_ns[worker]) at_ns = worker_free_ns[worker];
  uint64_t decode_ns = US(900 + random_below(300)) + (i % 20 == 7) * US(9000);
  pprof_event inner =
      range(worker, 3, at_ns + US(50), at_ns + decode_ns - US(30));
  inner.depth = 1;
  add(inner, flow);
  add(range(worker, 2, at_ns, at_ns + decode_ns), flow);
  at_ns += decode_ns + US(15);
  at_ns = device_range(worker, 7, at_ns, US(80), flow);
  at_ns =
      device_range(worker, 4, at_ns + US(25),
                   US(1400 + random_below(500)) + (i == 0) * US(8000), flow);
  at_ns =
      device_range(worker, 5, at_ns + US(40), US(600 + random_below(90)), flow);
  worker_free_ns[worker] = at_ns + US(50);
  at_ns = device_range(worker, 8, at_ns + US(25), US(60), flow);
  add(range(4, 6, at_ns + US(30), at_ns + US(180)), flow);
  pprof_event whole = range(1, 1, start_ns, at_ns + US(200));
  whole.flags = PPROF_FLAG_ASYNC;
  add(whole, flow);
}

static void make_requests(uint64_t n, bool is_hostile) {
  for (uint64_t i = 0; i < n; i++) make_request(i, US(3000) * i);
  if (!is_hostile) return;
  add(range(5, 1, 0, 0), 0);
  add(range(5, 2, UINT64_C(1) << 52, UINT64_C(1) << 52), 0);
  add(range(6, 3, 5, UINT64_C(1) << 50), UINT64_MAX);
  pprof_event counter = range(7, 11, US(70), US(70));
  counter.kind = PPROF_KIND_COUNTER;
  for (int i = 0; i < 20; i++) {
    counter.start_ns = counter.end_ns = US(70 * i);
    counter.value = i % 3 ? (double)i * 1e300 : -1.0 / 3;
    add(counter, 0);
  }
}

// On each lane an outer range with ten inside.
static void make_many(uint64_t n) {
  uint64_t at_ns[NUM_LANES + 1] = {0};
  for (uint64_t i = 0; i < n; i++) {
    uint32_t lane = 1 + (uint32_t)(i / 11 % NUM_LANES);
    uint64_t *now = &at_ns[lane];
    uint64_t length_ns = US(2 + random_below(9));
    if (random_below(100000) == 0) length_ns = US(20000);
    if (i % 11 < 9) {
      pprof_event inner =
          range(lane, 2 + (uint32_t)(i % 11), *now, *now + length_ns);
      inner.depth = 1;
      add(inner, 0);
    } else if (i % 11 == 9) {
      device_range(lane, 4, *now, US(4), 0);
    } else {
      uint64_t from_ns = *now < US(70) ? 0 : *now - US(70);
      add(range(lane, 1, from_ns, *now), 0);
      length_ns = US(80);
    }
    *now += length_ns;
  }
}

// Each is of all its life on no thread, and so is its wait for one.
static void make_service(uint64_t n) {
  uint64_t free_ns[NUM_LANES + 1] = {0}, came_ns = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint32_t lane = 2 + (uint32_t)(i % 6);
    came_ns += i % 300 ? US(40) : US(200000);
    uint64_t from_ns = came_ns + US(5);
    if (from_ns < free_ns[lane]) from_ns = free_ns[lane];
    uint64_t end_ns = from_ns + US(2000 + random_below(2500));
    pprof_event inner = range(lane, 5, from_ns + US(20), end_ns - US(90));
    inner.depth = 1;
    add(range(1, 6, came_ns, came_ns + US(4)), i + 1);
    add(inner, i + 1);
    add(range(lane, 2, from_ns, end_ns), i + 1);
    pprof_event waits = range(1, 12, came_ns + US(4), from_ns);
    pprof_event whole = range(1, 1, came_ns, end_ns);
    waits.flags = whole.flags = PPROF_FLAG_ASYNC;
    add(waits, i + 1);
    add(whole, i + 1);
    free_ns[lane] = end_ns + US(3);
  }
}

enum { LOCK = NUM_SITES + 1, REASONS, THROTTLED, STOOD_STILL };

static void sample(uint32_t site, uint64_t at_ms, double value) {
  pprof_event counter = range(8, site, US(1000 * at_ms), US(1000 * at_ms));
  counter.kind = PPROF_KIND_COUNTER;
  counter.value = value;
  add(counter, 0);
}

// Power cap 500 to 1000 ms, heat 1200 to 1300, quota 1400 to 1500 for 50, all
// stood still 1700 to 1800 for 40.
static void make_machine(void) {
  static const char *const counters[] = {
      "gpu:0.event_reasons", "cgroup.throttled_us", "process.stood_still_us"};
  const uint32_t machine = PPROF_CATEGORY_FIRST_REGISTERED;
  define((pprof_definition){PPROF_DEFINITION_CATEGORY, machine, 0, 0, 0,
                            "Machine"});
  for (uint32_t i = 0; i < 3; i++)
    define((pprof_definition){PPROF_DEFINITION_SITE, REASONS + i, machine, 0, 0,
                              counters[i]});
  for (uint64_t ms = 0; ms <= 2000; ms += 100) {
    double reasons = ms >= 500 && ms < 1000 ? 4 : ms == 1200 ? 8 : 0;
    sample(REASONS, ms, reasons);
    sample(THROTTLED, ms, ms >= 1500 ? 50000 : 0);
    sample(STOOD_STILL, ms, ms >= 1800 ? 40000 : 0);
  }
}

static void make_troubled(uint64_t n) {
  static const pprof_numbers by_worker_2 = {
      sizeof by_worker_2, PPI_WAIT_NUMBERS, 0, {16, 4002, 3, PPI_WAIT_MUTEX}};
  define((pprof_definition){PPROF_DEFINITION_CATEGORY, PPROF_CATEGORY_WAIT, 0,
                            0, 0, "Wait"});
  define((pprof_definition){PPROF_DEFINITION_SITE, LOCK, PPROF_CATEGORY_WAIT, 0,
                            0, "wait for lock"});
  for (uint64_t i = 0; i < n; i++) {
    uint64_t at_ns = US(1000 * i);
    pprof_event wait = range(2, LOCK, at_ns + US(50), at_ns + US(600));
    wait.depth = 1;
    wait.numbers = &by_worker_2;
    add(wait, 0);
    add(range(2, 2, at_ns, at_ns + US(900)), 0);
    add(range(3, 3, at_ns, at_ns + US(599)), 0);
    add(range(3, 6, at_ns + US(602), at_ns + US(700)), 0);
  }
  make_machine();
}

// Eight long stages with a short one in each, and four short ones.
static void make_parts(uint64_t n) {
  uint64_t at_ns = 0;
  for (uint64_t i = 0; i < n * NUM_SITES; i++) {
    uint32_t site = 1 + (uint32_t)(i % NUM_SITES);
    uint64_t length_ns = site <= 8 ? US(1000) : US(30);
    pprof_event inner = range(1, 13 - site, at_ns + US(5), at_ns + US(25));
    inner.depth = 1;
    if (site <= 8) add(inner, 0);
    add(range(1, site, at_ns, at_ns + length_ns), 0);
    at_ns += length_ns;
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  bool is_hostile = strcmp(argv[1], "hostile") == 0;
  pprof_error error = {""};
  ppi_text texts[] = {
      {"uuid", "00112233445566778899aabbccddeeff"},
      {"host", is_hostile ? "<b>host</b>" : "example"},
      {"pid", "4242"},
      {"version", "0.1.0"},
      {"time_base_realtime_ns", "1700000000000000000"},
      {"command", is_hostile ? "</title><script>alert(1)</script>" : "made"},
  };
  const pprof_run_info info = {texts, sizeof texts / sizeof *texts, NULL};
  state += n;
  if (pprof_log_writer_create(argv[2], &sink, &error) != PPROF_STATUS_OK ||
      sink->begin(sink, &info) != PPROF_STATUS_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 3;
  }
  define_all(is_hostile, n);
  if (strcmp(argv[1], "many") == 0)
    make_many(n);
  else if (strcmp(argv[1], "parts") == 0)
    make_parts(n);
  else if (strcmp(argv[1], "service") == 0)
    make_service(n);
  else if (strcmp(argv[1], "troubled") == 0)
    make_troubled(n);
  else if (strcmp(argv[1], "bare") == 0)
    add(range(1, 2, 0, US(10)), 0);
  else
    make_requests(is_hostile ? 30 : n, is_hostile);
  ppi_total items[NUM_LANES + 2];
  size_t num = 0;
  uint64_t all = 0;
  for (uint32_t i = 1; i <= NUM_LANES; i++) {
    flush(i);
    items[num++] = (ppi_total){i, PPI_TOTAL_RECORDED, lanes[i].seq};
    all += lanes[i].seq;
  }
  items[num++] = (ppi_total){PPROF_ALL_LANES, PPI_TOTAL_RECORDED, all};
  items[num++] = (ppi_total){PPROF_ALL_LANES, PPI_TOTAL_CRASH_SAFE, 1};
  const pprof_totals totals = {items, num, NULL, 0};
  if (sink->finish(sink, &totals) != PPROF_STATUS_OK) return 3;
  sink->destroy(sink);
  return 0;
}

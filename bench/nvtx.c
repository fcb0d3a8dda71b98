// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of NVTX calls under injection: nvtx LIBPPROF LIBPPROF_NVTX
// EMPTY_TOOL [REPETITIONS]. The same calls go to no tool, to an empty tool and
// to ours, against the floor of the same repetition. Figures are medians. The
// benchmark counts our tool's records in its log.
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "pprof/event.h"
#include "pprof/log.h"
#include "pprof/session.h"
#include "rows.h"
#include "tests/nvtx/client.h"
#include "timing.h"

enum { MAX_ROWS = 12, NUM_NAMES = 64, NUM_INITS = 200 };
typedef enum tool { TOOL_NONE, TOOL_EMPTY, TOOL_OURS } tool;

#define NAME_7 "forward"
#define NAME_21 "aten::convolution_fwd"
#define NAME_48 "transformer.layers.11.attention.softmax_dropout_"

static nvtxDomainHandle_t domain;
static nvtxEventAttributes_t plain_21, registered_7, registered_21,
    registered_48;
// They differ in a number, so that they fold; those of letters do not.
static char names[NUM_NAMES][49], letters[NUM_NAMES][49];

static void pairs_a(const char *name) {
  for (int i = 0; i < BURST; i++) {
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

static void pairs_ex(const nvtxEventAttributes_t *event) {
  for (int i = 0; i < BURST; i++) {
    nvtxDomainRangePushEx(domain, event);
    nvtxDomainRangePop(domain);
  }
}

static void run_7(void) {
  pairs_a(NAME_7);
}
static void run_21(void) {
  pairs_a(NAME_21);
}
static void run_48(void) {
  pairs_a(NAME_48);
}
static void run_many(void) {
  for (int i = 0; i < BURST; i++) {
    nvtxRangePushA(names[i % NUM_NAMES]);
    nvtxRangePop();
  }
}
// An interpreter passes temporary texts. The time includes their copy.
static void run_temporaries(void) {
  static __thread char text[sizeof names[0]];
  for (int i = 0; i < BURST; i++) {
    memcpy(text, names[i % NUM_NAMES], sizeof text);
    nvtxRangePushA(text);
    nvtxRangePop();
  }
}
static void run_letters(void) {
  static __thread char text[sizeof letters[0]];
  for (int i = 0; i < BURST; i++) {
    memcpy(text, letters[i % NUM_NAMES], sizeof text);
    nvtxRangePushA(text);
    nvtxRangePop();
  }
}
// A server passes names with a new number each time.
static void run_new(void) {
  static __thread char text[] =
      "transformer.layers.11.attention.softmax_0000000";
  for (int i = 0; i < BURST; i++) {
    char *digit = text + sizeof text - 2;
    while (*digit == '9') *digit-- = '0';
    ++*digit;
    nvtxRangePushA(text);
    nvtxRangePop();
  }
}
static void run_plain_21(void) {
  pairs_ex(&plain_21);
}
static void run_registered_7(void) {
  pairs_ex(&registered_7);
}
static void run_registered_21(void) {
  pairs_ex(&registered_21);
}
static void run_registered_48(void) {
  pairs_ex(&registered_48);
}

static const struct row {
  const char *name;
  void (*run)(void);
  bool is_known;  // one name, met before: what the bound is of
} rows[] = {
    {"floor", run_floor, false},
    {"7 letters", run_7, true},
    {"21 letters", run_21, true},
    {"48 letters", run_48, true},
    {"48 letters, 64 names", run_many, false},
    {"48, at one address", run_temporaries, false},
    {"the same, of letters", run_letters, false},
    {"48, ever new", run_new, false},
    {"domain, 21 letters", run_plain_21, true},
    {"domain, registered, 7", run_registered_7, true},
    {"domain, registered, 21", run_registered_21, true},
    {"domain, registered, 48", run_registered_48, true},
};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

typedef struct column {
  double ns[MAX_ROWS], ratio[MAX_ROWS];
} column;

typedef struct bench_run {
  int num_threads, repetitions;
  pthread_barrier_t barrier;
  pprof_status (*flush)(pprof_session *session);
  pprof_session *session;
  uint64_t failed_flushes;
  double *ns[MAX_ROWS];  // by row, thread, repetition
} bench_run;

typedef struct worker {
  bench_run *bench;
  int number;
  pthread_t thread;
} worker;

static void measure(const worker *self, int row, int repetition) {
  bench_run *bench = self->bench;
  pthread_barrier_wait(&bench->barrier);
  uint64_t start = thread_ns();
  rows[row].run();
  uint64_t ns = thread_ns() - start;
  pthread_barrier_wait(&bench->barrier);
  if (repetition >= 0)
    bench->ns[row][self->number * bench->repetitions + repetition] =
        (double)ns / BURST;
  if (self->number == 0 && bench->session && row != 0 &&
      bench->flush(bench->session) != PPROF_STATUS_OK)
    bench->failed_flushes++;
}

static void *work(void *argument) {
  const worker *self = argument;
  pin(self->number);
  // Repetition -1 warms up.
  for (int i = -1; i < self->bench->repetitions; i++)
    for (int row = 0; row < NUM_ROWS; row++) measure(self, row, i);
  return NULL;
}

static void summarise(const bench_run *bench, column *out) {
  size_t num = (size_t)bench->num_threads * (size_t)bench->repetitions;
  double *ratios = calloc(num, sizeof *ratios);
  if (!ratios) exit(1);
  for (int row = NUM_ROWS - 1; row >= 0; row--) {
    for (size_t i = 0; i < num; i++)
      ratios[i] = bench->ns[row][i] / bench->ns[0][i];
    out->ratio[row] = median(ratios, num);
    if (row != 0) out->ns[row] = median(bench->ns[row], num);
  }
  out->ns[0] = median(bench->ns[0], num);
  free(ratios);
}

static bool run_threads(bench_run *bench, column *out) {
  worker workers[MAX_THREADS];
  size_t num = (size_t)bench->num_threads * (size_t)bench->repetitions;
  for (int row = 0; row < NUM_ROWS; row++)
    if (!(bench->ns[row] = calloc(num, sizeof(double)))) return false;
  pthread_barrier_init(&bench->barrier, NULL, (unsigned)bench->num_threads);
  for (int i = 0; i < bench->num_threads; i++) {
    workers[i] = (worker){.bench = bench, .number = i};
    // A thread less would wait at the barrier for ever.
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) exit(1);
  }
  for (int i = 0; i < bench->num_threads; i++)
    pthread_join(workers[i].thread, NULL);
  pthread_barrier_destroy(&bench->barrier);
  summarise(bench, out);
  for (int row = 0; row < NUM_ROWS; row++) free(bench->ns[row]);
  return bench->failed_flushes == 0;
}

static nvtxEventAttributes_t event_of(const char *name) {
  nvtxEventAttributes_t event = {.version = NVTX_VERSION,
                                 .size = sizeof event,
                                 .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                 .message = {.ascii = name}};
  return event;
}

static nvtxEventAttributes_t event_registered(const char *name) {
  nvtxEventAttributes_t event = event_of(NULL);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, name);
  return event;
}

// Makes this file's unit ask the tool at `path` again; NULL: no tool.
static void choose_tool(const char *path) {
  client_reset();
  if (path)
    setenv("NVTX_INJECTION64_PATH", path, 1);
  else
    unsetenv("NVTX_INJECTION64_PATH");
}

static void attach(const char *path) {
  choose_tool(path);
  nvtxInitialize(NULL);
  domain = nvtxDomainCreateA("bench");
  plain_21 = event_of(NAME_21);
  registered_7 = event_registered(NAME_7);
  registered_21 = event_registered(NAME_21);
  registered_48 = event_registered(NAME_48);
}

static void make_names(void) {
  for (int i = 0; i < NUM_NAMES; i++) {
    snprintf(names[i], sizeof names[i], "%.45s_%02d", NAME_48, i);
    snprintf(letters[i], sizeof letters[i], "%.45s_%c%c", NAME_48, 'a' + i / 26,
             'a' + i % 26);
  }
}

// The time of one more linkage unit's first call, in us.
static double init_us(const char *path) {
  choose_tool(path);
  uint64_t start = thread_ns();
  nvtxInitialize(NULL);
  return (double)(thread_ns() - start) / 1000;
}

static void measure_init(const char *const *paths, double out[3]) {
  static double us[3][NUM_INITS];
  for (int i = -1; i < NUM_INITS; i++)
    for (int t = TOOL_NONE; t <= TOOL_OURS; t++) {
      double taken = init_us(paths[t]);
      if (i >= 0) us[t][i] = taken;
    }
  for (int t = TOOL_NONE; t <= TOOL_OURS; t++)
    out[t] = median(us[t], NUM_INITS);
}

// The session that our tool started, through the library it uses.
static bool find_session(const char *libpprof, bench_run *bench) {
  void *library = dlopen(libpprof, RTLD_NOW | RTLD_NOLOAD);
  pprof_session *(*current)(void);
  void *found = library ? dlsym(library, "pprof_session_current") : NULL;
  void *flush = library ? dlsym(library, "pprof_session_flush") : NULL;
  if (!found || !flush) return false;
  memcpy(&current, &found, sizeof current);
  memcpy(&bench->flush, &flush, sizeof flush);
  bench->session = current();
  return bench->session != NULL;
}

// The last row of plain names is an interpreter's, with temporary texts.
static void print_rows(const column *one, const column *two) {
  char what[64];
  for (int row = 1; row < NUM_ROWS; row++) {
    double bound = rows[row].is_known ? bench_bound(1.15, 1.35) : 0;
    snprintf(what, sizeof what, "NVTX, libpprof.so, %s, 1 thread",
             rows[row].name);
    bench_row(what, one->ratio[row], "x floor", bound);
    snprintf(what, sizeof what, "NVTX, libpprof.so, %s, 2 threads",
             rows[row].name);
    bench_row(what, two->ratio[row], "x floor", bound);
  }
}

static void print_table(const column *none, const column *empty,
                        const column *one, const column *two) {
  printf("%-24s %9s %9s %17s %17s\n", "", "no tool", "empty", "1 thread",
         "2 threads");
  printf("%-24s %9s %9s %9s %7s %9s %7s\n", "a pair", "ns", "ns", "ns", "ratio",
         "ns", "ratio");
  for (int row = 0; row < NUM_ROWS; row++)
    printf("%-24s %9.2f %9.2f %9.2f %7.2f %9.2f %7.2f\n", rows[row].name,
           none->ns[row], empty->ns[row], one->ns[row], one->ratio[row],
           two->ns[row], two->ratio[row]);
}

// In a process of its own, so that its log is whole afterwards.
static int measure_all(char **argv, int repetitions) {
  const char *const paths[] = {NULL, argv[3], argv[2]};
  column none, empty, one, two;
  double init[3];
  // The tool finds it by its name then, wherever it lies.
  if (!dlopen(argv[1], RTLD_NOW)) {
    fprintf(stderr, "nvtx: %s\n", dlerror());
    return 1;
  }
  make_names();
  bench_run bench = {.num_threads = 1, .repetitions = repetitions};
  attach(NULL);
  bool ok = run_threads(&bench, &none);
  attach(paths[TOOL_EMPTY]);
  ok = run_threads(&bench, &empty) && ok;
  attach(paths[TOOL_OURS]);
  if (!find_session(argv[1], &bench)) {
    fprintf(stderr, "nvtx: %s starts no session\n", argv[2]);
    return 1;
  }
  ok = run_threads(&bench, &one) && ok;
  bench.num_threads = 2;
  ok = run_threads(&bench, &two) && ok;
  measure_init(paths, init);
  print_table(&none, &empty, &one, &two);
  printf(
      "\none more linkage unit: no tool %.1f us, empty %.1f us, ours %.1f us,"
      " ratio %.2f\n",
      init[TOOL_NONE], init[TOOL_EMPTY], init[TOOL_OURS],
      init[TOOL_OURS] / init[TOOL_EMPTY]);
  print_rows(&one, &two);
  fflush(stdout);
  return ok ? 0 : 1;
}

typedef struct counting {
  pprof_sink base;
  uint64_t num_events, lost;
} counting;

static pprof_status count_events(pprof_sink *sink, const pprof_batch *batch) {
  ((counting *)sink)->num_events += batch->num_events;
  return PPROF_STATUS_OK;
}

static pprof_status count_lost(pprof_sink *sink, const pprof_totals *totals) {
  ((counting *)sink)->lost =
      pprof_totals_value(totals, PPROF_ALL_LANES, "lost");
  return PPROF_STATUS_OK;
}

// Every pair is in the log, and none was lost.
static bool log_agrees(const char *path, int repetitions) {
  const uint64_t expected =
      (uint64_t)(NUM_ROWS - 1) * BURST * (uint64_t)(repetitions + 1) * (1 + 2);
  counting sink = {.base = {.size = sizeof(pprof_sink),
                            .events = count_events,
                            .finish = count_lost}};
  pprof_error error = {""};
  pprof_status status = pprof_log_read(path, &sink.base, &error);
  printf("log: %" PRIu64 " events, %" PRIu64 " expected, %" PRIu64 " lost\n",
         sink.num_events, expected, sink.lost);
  if (status != PPROF_STATUS_OK) fprintf(stderr, "nvtx: %s\n", error.text);
  return status == PPROF_STATUS_OK && sink.num_events == expected &&
         sink.lost == 0;
}

static bool child_succeeds(char **argv, int repetitions, const char *log) {
  int status = 1;
  pid_t child = fork();
  if (child == 0) {
    setenv("PPROF_OUTPUT", log, 1);
    unsetenv("PPROF_CONFIG");
    unsetenv("PPROF_SET");
    unsetenv("PPROF_NVTX_CHAIN");
    exit(measure_all(argv, repetitions));
  }
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv) {
  const char *tmp = getenv("TMPDIR");
  char folder[512], log[600];
  long asked = argc > 4 ? strtol(argv[4], NULL, 10) : 100;
  if (argc < 4 || argc > 5 || asked < 1 || asked > MAX_REPETITIONS) {
    fprintf(stderr,
            "usage: nvtx LIBPPROF LIBPPROF_NVTX EMPTY_TOOL [REPETITIONS, at "
            "most %d]\n",
            MAX_REPETITIONS);
    return 2;
  }
  snprintf(folder, sizeof folder, "%s/nvtx.XXXXXX", tmp ? tmp : "/tmp");
  if (!mkdtemp(folder)) return 1;
  snprintf(log, sizeof log, "%s/nvtx.pplog", folder);
  print_machine("under injection", (int)asked);
  fflush(stdout);
  bool ok = child_succeeds(argv, (int)asked, log);
  ok = log_agrees(log, (int)asked) && ok;
  unlink(log);
  rmdir(folder);
  return ok ? 0 : 1;
}

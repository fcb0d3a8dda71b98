// SPDX-License-Identifier: Apache-2.0
//
// Turns spans and requests into events. Each service has a row. A request has
// the same range and marks as one from pprof_request_begin, pprof_serve and
// pprof_token.
#include "spans/span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "json/hash.h"

#define MOST_SERVICES 1024
#define MOST_EARLY ((size_t)4096)
#define MOST_NS (UINT64_C(1) << 62)
// Ten years: a longer span has a wrong time.
#define MOST_LENGTH_NS (UINT64_C(315360000) * 1000000000)
// One year from 1970: an earlier start is not of a time-of-day clock.
#define EARLY_NS (UINT64_C(31536000) * 1000000000)

void ppi_span_clear(ppi_span *span) {
  *span = (ppi_span){.served = {-1, -1, -1, -1, -1, -1, -1}};
}

// 53 bits: the number is exact in JSON.
uint64_t ppi_span_number(const char *id) {
  uint64_t number = ppi_hash_bytes(0, id, strlen(id)) >> 11;
  return number ? number : 1;
}

double ppi_span_real(const char *text) {
  char *end;
  double value = strtod(text, &end);
  bool is_one = end != text && !*end && value >= 0 && value <= 1e15;
  return is_one ? value : -1;
}

bool ppi_span_whole(const char *text, uint64_t *out) {
  char *end;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  *out = strtoull(text, &end, 10);
  return !*end && errno == 0;
}

// A double is up to 256 ns off for a time of day.
bool ppi_span_time(const char *text, uint64_t *out) {
  if (ppi_span_whole(text, out)) return true;
  char *end;
  double ns = strtod(text, &end);
  bool is_one = end != text && !*end && ns >= 0 && ns < (double)MOST_NS;
  *out = is_one ? (uint64_t)ns : 0;
  return is_one;
}

void ppi_span_file_clear(ppi_span_file *file) {
  ppi_free(file->services);
  ppi_free(file->early);
  *file = (ppi_span_file){.take = NULL};
}

// The row of a service, from 1; services beyond the bound share the last row.
static size_t row_of(ppi_span_file *file, const char *service) {
  size_t at = 0;
  while (at < file->num_services && strcmp(file->services[at], service) != 0)
    at++;
  if (at < file->num_services) return at + 1;
  if (at == MOST_SERVICES) return at;
  PPI_MUST_ROOM(file->services, file->services_capacity, at + 1);
  strcpy(file->services[at], service);
  file->num_services++;
  return at + 1;
}

// ---- events ----

static void put(ppi_span_file *file, const ppi_span *span,
                ppi_span_event event) {
  event.service = span->service;
  event.row = row_of(file, span->service);
  if (!event.category) event.category = "UserDefined";
  if (!event.end_ns) event.end_ns = event.start_ns;
  file->take(file->context, &event);
}

static bool has_times(const ppi_span *span) {
  return span->start_ns && span->start_ns <= span->end_ns &&
         span->end_ns < MOST_NS &&
         span->end_ns - span->start_ns < MOST_LENGTH_NS;
}

static void put_range(ppi_span_file *file, const ppi_span *span,
                      const char *name, uint64_t from_ns, uint64_t to_ns) {
  put(file, span,
      (ppi_span_event){.kind = PPROF_KIND_RANGE,
                       .name = name,
                       .start_ns = from_ns,
                       .end_ns = to_ns,
                       .flags = PPROF_FLAG_ASYNC,
                       .flows = {span->flow ? span->flow : span->id}});
}

void ppi_span_put_counter(ppi_span_file *file, const ppi_span *span,
                          const char *name, double value) {
  put(file, span,
      (ppi_span_event){.kind = PPROF_KIND_COUNTER,
                       .name = name,
                       .start_ns = span->start_ns,
                       .value = value});
}

// ---- requests ----

// Marks of a request. LOOSE_TOKENS: tokens that came one by one, or a first
// token after an unknown schedule.
typedef enum mark { QUEUED, SERVED, TOKENS, LOOSE_TOKENS } mark;

static void put_mark(ppi_span_file *file, const ppi_span *span, mark kind,
                     uint64_t time_ns, double num) {
  static const char *const names[] = {"queued", "served", "token", "token"};
  bool is_loose = kind == QUEUED || kind == LOOSE_TOKENS;
  put(file, span,
      (ppi_span_event){
          .kind = PPROF_KIND_MARK,
          .name = names[kind],
          .start_ns = time_ns,
          .flags = PPROF_FLAG_REQUEST | (is_loose ? PPROF_FLAG_PROJECTED : 0u),
          .flows = {span->id},
          .items = num});
}

static uint64_t after(const ppi_span *span, uint64_t from_ns, double seconds) {
  double ns = seconds * 1e9 + 0.5;
  uint64_t left_ns = span->end_ns - from_ns;
  return ns < (double)left_ns ? from_ns + (uint64_t)ns : span->end_ns;
}

// A first token before the end of queue and prefill shows a server that counts
// from the schedule. A server's clocks may differ by a millisecond.
static uint64_t first_token(ppi_span_file *file, const ppi_span *span) {
  const ppi_span_served *served = &span->served;
  double first = served->first;
  if (served->queue > 0.001 && served->prefill >= 0 &&
      first + 0.001 < served->queue + served->prefill) {
    first += served->queue;
    file->num_from_schedule++;
  }
  return after(span, span->start_ns, first);
}

static uint64_t last_token(const ppi_span *span, uint64_t first_ns) {
  const ppi_span_served *served = &span->served;
  if (served->decode >= 0) return after(span, first_ns, served->decode);
  return served->gap >= 0
             ? after(span, first_ns, served->gap * (served->tokens_out - 1))
             : span->end_ns;
}

static void put_tokens(ppi_span_file *file, const ppi_span *span,
                       uint64_t first_ns, bool is_divided) {
  double rest = span->served.tokens_out - 1;
  put_mark(file, span, is_divided ? TOKENS : LOOSE_TOKENS, first_ns, 1);
  if (rest < 1) return;
  uint64_t last_ns = last_token(span, first_ns);
  put_mark(file, span, rest > 1 ? LOOSE_TOKENS : TOKENS, last_ns, rest);
  put_range(file, span, "decode", first_ns, last_ns);
}

// The time of the schedule, from the prefill's length or the queue's; 0:
// unknown.
static uint64_t scheduled(const ppi_span *span, uint64_t first_ns) {
  const ppi_span_served *served = &span->served;
  double prefill_ns = served->prefill * 1e9;
  if (first_ns && prefill_ns >= 0 &&
      prefill_ns <= (double)(first_ns - span->start_ns))
    return first_ns - (uint64_t)(prefill_ns + 0.5);
  return served->queue >= 0 ? after(span, span->start_ns, served->queue) : 0;
}

// The begin of the queue; time before it is no queue. Seconds as floats may be
// a microsecond off.
static uint64_t queued(const ppi_span *span, uint64_t scheduled_ns) {
  double queue_ns = span->served.queue * 1e9;
  uint64_t length_ns = scheduled_ns - span->start_ns;
  if (queue_ns < 0) return scheduled_ns;
  return queue_ns + 1000 < (double)length_ns
             ? scheduled_ns - (uint64_t)(queue_ns + 0.5)
             : span->start_ns;
}

static void put_start(ppi_span_file *file, const ppi_span *span,
                      uint64_t scheduled_ns, uint64_t first_ns) {
  uint64_t queued_ns = queued(span, scheduled_ns);
  if (queued_ns > span->start_ns) {
    put_mark(file, span, QUEUED, queued_ns, 0);
    const char *name =
        span->served.queue >= 0 ? "before the queue" : "before the prefill";
    put_range(file, span, name, span->start_ns, queued_ns);
  }
  put_mark(file, span, SERVED, scheduled_ns, 0);
  if (span->served.queue >= 0)
    put_range(file, span, "queue", queued_ns, scheduled_ns);
  if (first_ns >= scheduled_ns)
    put_range(file, span, "prefill", scheduled_ns, first_ns);
}

static void put_phases(ppi_span_file *file, const ppi_span *span) {
  uint64_t first_ns = span->served.first >= 0 ? first_token(file, span) : 0;
  uint64_t scheduled_ns = scheduled(span, first_ns);
  if (scheduled_ns)
    put_start(file, span, scheduled_ns, first_ns);
  else if (first_ns)
    put_range(file, span, "to the first token", span->start_ns, first_ns);
  if (first_ns) put_tokens(file, span, first_ns, scheduled_ns);
}

static void put_request(ppi_span_file *file, const ppi_span *span) {
  file->num_requests++;
  put(file, span,
      (ppi_span_event){.kind = PPROF_KIND_RANGE,
                       .name = span->name,
                       .category = "Inference",
                       .start_ns = span->start_ns,
                       .end_ns = span->end_ns,
                       .flags = PPROF_FLAG_ASYNC | PPROF_FLAG_REQUEST,
                       .flows = {span->id, span->flow},
                       .items = span->served.tokens_in});
  put_phases(file, span);
}

static void put_good(ppi_span_file *file, const ppi_span *span) {
  const ppi_span_served *served = &span->served;
  if (served->first >= 0 || served->tokens_out >= 0) {
    put_request(file, span);
  } else {
    file->num_spans++;
    put_range(file, span, span->name, span->start_ns, span->end_ns);
  }
}

static bool hold(ppi_span_file *file, const ppi_span *span) {
  if (file->num_early == MOST_EARLY) return false;
  PPI_MUST_PUSH(file->early, file->num_early, file->early_capacity, *span);
  return true;
}

static void choose_clock(ppi_span_file *file, ppi_span_clock clock) {
  file->clock = clock;
  if (clock == PPI_SPAN_CLOCK_DAY) file->num_bad += file->num_early;
  for (size_t i = 0; clock == PPI_SPAN_CLOCK_OTHER && i < file->num_early; i++)
    put_good(file, &file->early[i]);
  file->num_early = 0;
}

void ppi_span_put(ppi_span_file *file, const ppi_span *span) {
  ppi_span_clock clock =
      span->start_ns < EARLY_NS ? PPI_SPAN_CLOCK_OTHER : PPI_SPAN_CLOCK_DAY;
  if (!has_times(span)) {
    file->num_bad++;
    return;
  }
  if (file->clock == PPI_SPAN_CLOCK_UNKNOWN) {
    if (clock == PPI_SPAN_CLOCK_OTHER && hold(file, span)) return;
    choose_clock(file, clock);
  }
  if (clock == file->clock)
    put_good(file, span);
  else
    file->num_bad++;
}

void ppi_span_file_end(ppi_span_file *file) {
  if (file->clock == PPI_SPAN_CLOCK_UNKNOWN)
    choose_clock(file, PPI_SPAN_CLOCK_OTHER);
}

// SPDX-License-Identifier: Apache-2.0
//
// Writes spans and requests as the text of a trace of our own. Each service has
// a row. A request has the same range and marks as one from
// pprof_request_begin, pprof_serve and pprof_token.
#include "spans/span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "file/json_put.h"
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

void ppi_span_text_begin(ppi_span_text *text) {
  ppi_page *page = &text->page;
  ppi_put_object(page, NULL);
  ppi_put_u64(page, "pprofTrace", 1);
  ppi_put_u64(page, "baseTimeNanoseconds", 0);
  ppi_put_array(page, "traceEvents");
}

void ppi_span_text_clear(ppi_span_text *text) {
  ppi_page_clear(&text->page);
  ppi_free(text->services);
  ppi_free(text->early);
  *text = (ppi_span_text){0};
}

// The row of a service, from 1; services beyond the bound share the last row.
static size_t row_of(ppi_span_text *text, const char *service) {
  size_t at = 0;
  while (at < text->num_services && strcmp(text->services[at], service) != 0)
    at++;
  if (at < text->num_services) return at + 1;
  if (at == MOST_SERVICES) return at;
  void *grown = ppi_grow(text->services, &text->services_capacity, at + 1,
                         sizeof *text->services);
  if (!grown) {
    text->page.failed = true;
    return 1;
  }
  text->services = grown;
  strcpy(text->services[at], service);
  text->num_services++;
  return at + 1;
}

// ---- events ----

static void put_head(ppi_span_text *text, const char *ph, const char *name,
                     const char *category, uint64_t time_ns, size_t row) {
  ppi_page *page = &text->page;
  ppi_put_line(page);
  ppi_put_object(page, NULL);
  ppi_put_text(page, "ph", ph);
  ppi_put_text(page, "name", name);
  ppi_put_text(page, "cat", category);
  ppi_put_u64(page, "pid", 1);
  ppi_put_u64(page, "tid", row);
  ppi_put_us(page, "ts", time_ns);
}

// A request's marks and range have `is_request`.
static void begin_args(ppi_page *page, bool is_async, bool is_request) {
  ppi_put_object(page, "args");
  ppi_put_u64(page, "window", 0);
  if (is_async) ppi_put_bool(page, "async", true);
  if (is_request) ppi_put_bool(page, "request", true);
}

// Numbers of 0 are none.
static void put_flows(ppi_page *page, uint64_t first, uint64_t second) {
  ppi_put_array(page, "flows");
  ppi_put_u64(page, NULL, first);
  if (second) ppi_put_u64(page, NULL, second);
  ppi_page_text(page, "]");
}

static void put_items(ppi_page *page, double num) {
  if (num <= 0) return;
  ppi_put_key(page, "items");
  ppi_page_fixed(page, num, 0);
}

static void see(ppi_span_text *text, uint64_t from_ns, uint64_t to_ns) {
  if (text->last_ns == 0 || from_ns < text->first_ns) text->first_ns = from_ns;
  text->last_ns = PPI_MAX(text->last_ns, to_ns);
}

static bool has_times(const ppi_span *span) {
  return span->start_ns && span->start_ns <= span->end_ns &&
         span->end_ns < MOST_NS &&
         span->end_ns - span->start_ns < MOST_LENGTH_NS;
}

static void put_range(ppi_span_text *text, const ppi_span *span,
                      const char *name, uint64_t from_ns, uint64_t to_ns) {
  ppi_page *page = &text->page;
  put_head(text, "X", name, "UserDefined", from_ns,
           row_of(text, span->service));
  ppi_put_us(page, "dur", to_ns - from_ns);
  begin_args(page, true, false);
  uint64_t flow = span->flow ? span->flow : span->id;
  if (flow) put_flows(page, flow, 0);
  ppi_page_text(page, "}}");
}

void ppi_span_put_counter(ppi_span_text *text, const ppi_span *span,
                          const char *name, double value) {
  put_head(text, "C", name, "UserDefined", span->start_ns,
           row_of(text, span->service));
  ppi_put_object(&text->page, "args");
  ppi_put_real(&text->page, "value", value);
  ppi_page_text(&text->page, "}}");
}

// ---- requests ----

// Marks of a request. LOOSE_TOKENS: tokens that came one by one, or a first
// token after an unknown schedule.
typedef enum mark { QUEUED, SERVED, TOKENS, LOOSE_TOKENS } mark;

static void put_mark(ppi_span_text *text, const ppi_span *span, mark kind,
                     uint64_t time_ns, double num) {
  static const char *const names[] = {"queued", "served", "token", "token"};
  ppi_page *page = &text->page;
  put_head(text, "i", names[kind], "UserDefined", time_ns,
           row_of(text, span->service));
  begin_args(page, false, true);
  put_flows(page, span->id, 0);
  put_items(page, num);
  if (kind == QUEUED || kind == LOOSE_TOKENS)
    ppi_put_bool(page, "projected", true);
  ppi_page_text(page, "}}");
}

static uint64_t after(const ppi_span *span, uint64_t from_ns, double seconds) {
  double ns = seconds * 1e9 + 0.5;
  uint64_t left_ns = span->end_ns - from_ns;
  return ns < (double)left_ns ? from_ns + (uint64_t)ns : span->end_ns;
}

// A first token before the end of queue and prefill shows a server that counts
// from the schedule. A server's clocks may differ by a millisecond.
static uint64_t first_token(ppi_span_text *text, const ppi_span *span) {
  const ppi_span_served *served = &span->served;
  double first = served->first;
  if (served->queue > 0.001 && served->prefill >= 0 &&
      first + 0.001 < served->queue + served->prefill) {
    first += served->queue;
    text->num_from_schedule++;
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

static void put_tokens(ppi_span_text *text, const ppi_span *span,
                       uint64_t first_ns, bool is_divided) {
  double rest = span->served.tokens_out - 1;
  put_mark(text, span, is_divided ? TOKENS : LOOSE_TOKENS, first_ns, 1);
  if (rest < 1) return;
  uint64_t last_ns = last_token(span, first_ns);
  put_mark(text, span, rest > 1 ? LOOSE_TOKENS : TOKENS, last_ns, rest);
  put_range(text, span, "decode", first_ns, last_ns);
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

static void put_start(ppi_span_text *text, const ppi_span *span,
                      uint64_t scheduled_ns, uint64_t first_ns) {
  uint64_t queued_ns = queued(span, scheduled_ns);
  if (queued_ns > span->start_ns) {
    put_mark(text, span, QUEUED, queued_ns, 0);
    const char *name =
        span->served.queue >= 0 ? "before the queue" : "before the prefill";
    put_range(text, span, name, span->start_ns, queued_ns);
  }
  put_mark(text, span, SERVED, scheduled_ns, 0);
  if (span->served.queue >= 0)
    put_range(text, span, "queue", queued_ns, scheduled_ns);
  if (first_ns >= scheduled_ns)
    put_range(text, span, "prefill", scheduled_ns, first_ns);
}

static void put_phases(ppi_span_text *text, const ppi_span *span) {
  uint64_t first_ns = span->served.first >= 0 ? first_token(text, span) : 0;
  uint64_t scheduled_ns = scheduled(span, first_ns);
  if (scheduled_ns)
    put_start(text, span, scheduled_ns, first_ns);
  else if (first_ns)
    put_range(text, span, "to the first token", span->start_ns, first_ns);
  if (first_ns) put_tokens(text, span, first_ns, scheduled_ns);
}

static void put_request(ppi_span_text *text, const ppi_span *span) {
  ppi_page *page = &text->page;
  text->num_requests++;
  put_head(text, "X", span->name, "Inference", span->start_ns,
           row_of(text, span->service));
  ppi_put_us(page, "dur", span->end_ns - span->start_ns);
  begin_args(page, true, true);
  put_flows(page, span->id, span->flow);
  put_items(page, span->served.tokens_in);
  ppi_page_text(page, "}}");
  put_phases(text, span);
}

static void put_good(ppi_span_text *text, const ppi_span *span) {
  const ppi_span_served *served = &span->served;
  see(text, span->start_ns, span->end_ns);
  if (served->first >= 0 || served->tokens_out >= 0) {
    put_request(text, span);
  } else {
    text->num_spans++;
    put_range(text, span, span->name, span->start_ns, span->end_ns);
  }
}

static bool hold(ppi_span_text *text, const ppi_span *span) {
  if (text->num_early == MOST_EARLY) return false;
  ppi_span *grown = ppi_grow(text->early, &text->early_capacity,
                             text->num_early + 1, sizeof *grown);
  text->page.failed |= !grown;
  if (!grown) return true;
  text->early = grown;
  grown[text->num_early++] = *span;
  return true;
}

static void choose_clock(ppi_span_text *text, ppi_span_clock clock) {
  text->clock = clock;
  if (clock == PPI_SPAN_CLOCK_DAY) text->num_bad += text->num_early;
  for (size_t i = 0; clock == PPI_SPAN_CLOCK_OTHER && i < text->num_early; i++)
    put_good(text, &text->early[i]);
  text->num_early = 0;
}

void ppi_span_put(ppi_span_text *text, const ppi_span *span) {
  ppi_span_clock clock =
      span->start_ns < EARLY_NS ? PPI_SPAN_CLOCK_OTHER : PPI_SPAN_CLOCK_DAY;
  if (!has_times(span)) {
    text->num_bad++;
    return;
  }
  if (text->clock == PPI_SPAN_CLOCK_UNKNOWN) {
    if (clock == PPI_SPAN_CLOCK_OTHER && hold(text, span)) return;
    choose_clock(text, clock);
  }
  if (clock == text->clock)
    put_good(text, span);
  else
    text->num_bad++;
}

// ---- the end ----

static void put_window(ppi_span_text *text, const char *name,
                       uint64_t time_ns) {
  ppi_page *page = &text->page;
  ppi_put_line(page);
  ppi_put_object(page, NULL);
  ppi_put_text(page, "ph", "i");
  ppi_put_text(page, "s", "p");
  ppi_put_text(page, "name", name);
  ppi_put_text(page, "cat", "window");
  ppi_put_u64(page, "pid", 1);
  ppi_put_u64(page, "tid", 1);
  ppi_put_us(page, "ts", time_ns);
  ppi_page_text(page, "}");
}

void ppi_span_text_end(ppi_span_text *text) {
  ppi_page *page = &text->page;
  if (text->clock == PPI_SPAN_CLOCK_UNKNOWN)
    choose_clock(text, PPI_SPAN_CLOCK_OTHER);
  if (text->num_services) {
    put_window(text, "window 0 opens", text->first_ns);
    put_window(text, "window 0 closes", text->last_ns);
  }
  for (size_t i = 0; i < text->num_services; i++) {
    ppi_put_line(page);
    ppi_put_object(page, NULL);
    ppi_put_text(page, "ph", "M");
    ppi_put_text(page, "name", "thread_name");
    ppi_put_u64(page, "pid", 1);
    ppi_put_u64(page, "tid", i + 1);
    ppi_put_object(page, "args");
    ppi_put_text(page, "name", text->services[i]);
    ppi_page_text(page, "}}");
  }
  ppi_page_text(page, "]}\n");
}

// SPDX-License-Identifier: Apache-2.0
//
// Imports a trace: reads the text, joins device work to launches, sweeps the
// ranges.
#include "import/import.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/say.h"
#include "import/convert.h"
#include "import/foreign.h"
#include "import/nsys.h"
#include "import/own_take.h"
#include "import/quick.h"
#include "import/sweeper.h"
#include "json/hash.h"
#include "json/source.h"
#include "spans/spans.h"

// Progress is reported once for so many bytes.
#define PROGRESS_BYTES (4u << 20)

// Reads the first bytes of a regular file. A pipe could not give them again.
static ssize_t read_head(const char *path, void *bytes, size_t size) {
  struct stat stat_of;
  if (stat(path, &stat_of) != 0 || !S_ISREG(stat_of.st_mode)) return -1;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  bool is_file = fstat(fd, &stat_of) == 0 && S_ISREG(stat_of.st_mode);
  ssize_t len = is_file ? read(fd, bytes, size) : -1;
  close(fd);
  return len;
}

static bool begins_as_json(const void *bytes, size_t len) {
  const char *text = bytes;
  size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < len && text[at] && strchr(" \t\r\n", text[at])) at++;
  return at < len && (text[at] == '{' || text[at] == '[');
}

// Any byte is a control character that text lacks.
static bool is_binary(const void *bytes, size_t len) {
  const unsigned char *at = bytes;
  while (len > 0 && *at >= '\t') at++, len--;
  return len > 0;
}

// The file's format if its first bytes, or else its name, are another tool's.
static const char *find_foreign(const char *path, const void *bytes,
                                size_t len) {
  const char *what = ppi_foreign_head(bytes, len);
  if (what || len == 0) return what;
  return begins_as_json(bytes, len) && !is_binary(bytes, len)
             ? NULL
             : ppi_foreign_name(path);
}

static bool is_gzip(const unsigned char *bytes, size_t len) {
  return len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

bool ppi_import_is_trace(const char *path) {
  unsigned char bytes[4096];
  ssize_t got = read_head(path, bytes, sizeof bytes);
  size_t len = got > 0 ? (size_t)got : 0;
  return is_gzip(bytes, len) || ppi_nsys_is_sqlite(bytes, len) ||
         find_foreign(path, bytes, len) || begins_as_json(bytes, len);
}

// ---- the outermost level ----

typedef enum top_key {
  TOP_OTHER,
  TOP_EVENTS,
  TOP_BASE,
  TOP_PADDLE,
  TOP_EXTRA,
  TOP_DISTRIBUTED,
  TOP_OWN,
  TOP_OWN_FORMAT,
  TOP_FTRACE,
  TOP_KINETO,
  TOP_DEVICES
} top_key;

static const struct {
  const char *text;
  top_key key;
} top_keys[] = {{"traceEvents", TOP_EVENTS},
                {"baseTimeNanoseconds", TOP_BASE},
                {"span_indx", TOP_PADDLE},
                {"ExtraInfo", TOP_EXTRA},
                {"distributedInfo", TOP_DISTRIBUTED},
                {"otherData", TOP_OWN},
                {"pprofTrace", TOP_OWN_FORMAT},
                {"systemTraceEvents", TOP_FTRACE},
                {"schemaVersion", TOP_KINETO},
                {"deviceProperties", TOP_DEVICES}};

static bool is_key(const ppi_json_token *token, const char *text) {
  return token->len == strlen(text) &&
         memcmp(token->text, text, token->len) == 0;
}

static int find_top_key(const ppi_json_token *token) {
  for (size_t i = 0; i < sizeof top_keys / sizeof *top_keys; i++)
    if (is_key(token, top_keys[i].text)) return top_keys[i].key;
  return TOP_OTHER;
}

static bool is_open(ppi_json_kind kind) {
  return kind == PPI_JSON_OBJECT || kind == PPI_JSON_ARRAY;
}

static bool is_close(ppi_json_kind kind) {
  return kind == PPI_JSON_OBJECT_END || kind == PPI_JSON_ARRAY_END;
}

static double number_of(const ppi_json_token *token) {
  char text[64];
  if (token->kind == PPI_JSON_NUMBER) return token->number;
  if (token->kind != PPI_JSON_STRING || token->len >= sizeof text) return -1;
  memcpy(text, token->text, token->len);
  text[token->len] = '\0';
  char *end;
  double value = strtod(text, &end);
  return end != text && *end == '\0' ? value : -1;
}

// Paddle's list of thread names by thread ids.
static void take_thread_name(ppi_importer *importer,
                             const ppi_json_token *token) {
  ppi_places *places = &importer->places;
  int64_t thread;
  if (token->kind != PPI_JSON_STRING ||
      !ppi_integer(importer->info_key, strlen(importer->info_key), &thread) ||
      thread <= 0)
    return;
  ppi_scalar name = {.kind = PPI_SCALAR_TEXT};
  name.len = (uint16_t)PPI_MIN(token->len, PPI_MAX_SCALAR);
  memcpy(name.text, token->text, name.len);
  for (size_t i = 0; i < places->num_rows; i++) {
    ppi_row *row = &places->rows[i];
    if (row->number == (uint64_t)thread && !row->name)
      ppi_place_name(&row->name, &name);
  }
}

static void take_extra(ppi_importer *importer, const ppi_json_token *token) {
  ppi_trace_header *header = &importer->header;
  header->dialects |= PPI_IS_PADDLE;
  if (strcmp(importer->info_key, "System Cpu Utilization") == 0)
    header->system_cpu = number_of(token);
  else if (strcmp(importer->info_key, "Process Cpu Utilization") == 0)
    header->process_cpu = number_of(token);
  else
    take_thread_name(importer, token);
}

static void take_rank(ppi_importer *importer, const ppi_json_token *token) {
  int64_t rank;
  if (strcmp(importer->info_key, "rank") != 0 ||
      token->kind != PPI_JSON_NUMBER ||
      !ppi_integer(token->text, token->len, &rank) ||
      token->len >= sizeof importer->header.rank)
    return;
  memcpy(importer->header.rank, token->text, token->len);
  importer->header.rank[token->len] = '\0';
}

// A trace of one run has its id here; with several runs each has an event.
static void take_uuid(ppi_importer *importer, const ppi_json_token *token) {
  size_t room = sizeof importer->header.uuid;
  if (strcmp(importer->info_key, "uuid") != 0 ||
      token->kind != PPI_JSON_STRING || token->len >= room)
    return;
  memcpy(importer->header.uuid, token->text, token->len);
  importer->header.uuid[token->len] = '\0';
}

// Counts lines of the kernel's events, without comments.
static void count_lines(ppi_importer *importer, const ppi_json_token *token) {
  if (token->kind != PPI_JSON_STRING && token->kind != PPI_JSON_STRING_PART)
    return;
  for (size_t i = 0; i < token->len; i++) {
    char c = token->text[i];
    if (!importer->is_in_line && c != '#' && c != '\n')
      importer->skips[PPI_SKIP_FTRACE_LINES]++;
    importer->is_in_line = c != '\n';
  }
}

// Takes a value beside the events. Members of the trace have depth 1.
static void take_value(ppi_importer *importer, const ppi_json_token *token) {
  bool is_member = importer->depth == 2;
  if (importer->top_key == TOP_BASE && importer->depth == 1)
    importer->header.has_base =
        (token->kind == PPI_JSON_NUMBER || token->kind == PPI_JSON_STRING) &&
        ppi_integer(token->text, token->len, &importer->header.base_ns);
  else if (importer->top_key == TOP_PADDLE && importer->depth == 1)
    importer->header.dialects |= PPI_IS_PADDLE;
  else if (importer->top_key == TOP_OWN_FORMAT && importer->depth == 1 &&
           !importer->has_events)
    importer->header.is_own = importer->fields.is_own =
        token->kind == PPI_JSON_NUMBER && token->number == 1;
  else if (importer->top_key == TOP_FTRACE && importer->depth == 1)
    count_lines(importer, token);
  else if (importer->top_key == TOP_DEVICES && importer->depth == 3 &&
           strcmp(importer->info_key, "name") == 0 &&
           token->kind == PPI_JSON_STRING)
    ppi_import_model(importer, token->text, token->len);
  else if (importer->top_key == TOP_EXTRA && is_member)
    take_extra(importer, token);
  else if (importer->top_key == TOP_DISTRIBUTED && is_member)
    take_rank(importer, token);
  else if (importer->top_key == TOP_OWN && is_member)
    take_uuid(importer, token);
}

static void take_key(ppi_importer *importer, const ppi_json_token *token) {
  if (importer->depth == 1) {
    importer->top_key = find_top_key(token);
    if (importer->top_key == TOP_KINETO || importer->top_key == TOP_DEVICES)
      importer->header.dialects |= PPI_IS_PYTORCH;
    if (!importer->foreign)
      importer->foreign = ppi_foreign_key(token->text, token->len);
  }
  size_t len = PPI_MIN(token->len, sizeof importer->info_key - 1);
  memcpy(importer->info_key, token->text, len);
  importer->info_key[len] = '\0';
  if (importer->top_key == TOP_OWN && is_key(token, "trust"))
    importer->header.is_older = !importer->header.is_own;
}

static void take_beside(ppi_importer *importer, const ppi_json_token *token) {
  bool is_array = token->kind == PPI_JSON_ARRAY;
  bool is_list = is_array && importer->depth == 1 &&
                 importer->top_key == TOP_EVENTS && !importer->is_array;
  if (token->kind == PPI_JSON_KEY) {
    take_key(importer, token);
  } else if (is_list || (is_array && importer->depth == 0)) {
    importer->is_array = importer->depth == 0;
    importer->has_events = true;
    importer->event_depth = importer->depth + 1;
  } else if (!is_open(token->kind) && !is_close(token->kind)) {
    take_value(importer, token);
  }
}

// The token is a fact of a run of our own: beside the events, or in the args of
// one.
static bool is_fact(const ppi_importer *importer, const ppi_json_token *token) {
  const ppi_fields *fields = &importer->fields;
  if (!importer->header.is_own) return false;
  if (importer->is_in_event)
    return fields->is_in_args && ppi_own_is_run(fields) &&
           !(fields->depth == 2 && is_close(token->kind));
  return importer->top_key == TOP_OWN && importer->event_depth == 0 &&
         importer->depth >= 2 &&
         !(importer->depth == 2 && is_close(token->kind));
}

static bool take_token(void *context, const ppi_json_token *token) {
  ppi_importer *importer = context;
  if (is_fact(importer, token)) ppi_own_take_fact(importer, token);
  if (importer->is_in_event) {
    if (ppi_fields_take(&importer->fields, token)) return true;
    importer->is_in_event = false;
    importer->depth--;
    ppi_convert(importer);
    return !importer->spill.error_number;
  }
  if (is_close(token->kind)) {
    // The list of events ends. A second list of that name is read, too.
    if (importer->depth-- == importer->event_depth) importer->event_depth = 0;
  } else if (importer->event_depth > 0 &&
             importer->depth == importer->event_depth &&
             token->kind == PPI_JSON_OBJECT) {
    ppi_fields_begin(&importer->fields);
    importer->is_in_event = true;
  } else if (importer->event_depth > 0) {
    if (importer->depth == importer->event_depth &&
        token->kind != PPI_JSON_STRING_PART)
      importer->skips[PPI_SKIP_MALFORMED]++;
  } else {
    take_beside(importer, token);
  }
  if (is_open(token->kind)) importer->depth++;
  return true;
}

// ---- reading ----

typedef struct trace_reading {
  const char *path;
  ppi_importer *importer;
  ppi_source source;
  // Both NULL: the file is JSON.
  ppi_nsys *nsys;
  ppi_spans *spans;
  const char *head;  // the first block, if it was read already
  size_t head_len;
  ppi_json *json;
  const ppi_import_options *options;
  uint64_t num_text;  // bytes of the text so far
  uint64_t reported;  // bytes of the last progress
  bool is_done;       // the JSON value is complete
  bool ends_open;     // the last byte, white space aside, ends an event
  uint64_t bad_at;    // the place of the damage
  const char *bad;    // the error; NULL: none
} trace_reading;

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void set_bad(trace_reading *reading, uint64_t at, const char *how) {
  if (reading->bad) return;
  reading->bad_at = at;
  reading->bad = how;
}

static void report_progress(trace_reading *reading) {
  const ppi_source *source = &reading->source;
  if (!reading->options || !reading->options->on_progress ||
      source->num_read - reading->reported < PROGRESS_BYTES)
    return;
  reading->reported = source->num_read;
  reading->options->on_progress(reading->options->context, source->num_read,
                                source->size);
}

// Answers false at the end of the JSON value or after an error.
static bool take_block(trace_reading *reading, const char *bytes, size_t len) {
  uint64_t from = reading->num_text;
  size_t used = 0;
  reading->num_text += len;
  if (from == 0 && len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) used = 3;
  if (!reading->is_done && used < len) {
    size_t parsed = 0;
    ppi_json_state state =
        ppi_json_write(reading->json, bytes + used, len - used, &parsed);
    used += parsed;
    if (state == PPI_JSON_BAD)
      set_bad(reading, from + used, ppi_json_error(reading->json));
    if (state == PPI_JSON_BAD || state == PPI_JSON_STOPPED) return false;
    reading->is_done = state == PPI_JSON_DONE;
  }
  if (!reading->is_done) return true;
  while (used < len && is_space(bytes[used])) used++;
  if (used == len) return true;
  set_bad(reading, from + used, "something follows the end of the trace");
  return false;
}

// A list of events may lack its closing bracket: the writing program was
// killed.
static void finish_json(trace_reading *reading) {
  ppi_importer *importer = reading->importer;
  size_t used;
  uint64_t end = reading->source.num_out;
  if (reading->is_done || reading->bad) return;
  if (ppi_json_write(reading->json, "", 0, &used) == PPI_JSON_DONE) return;
  if (importer->is_array && !importer->is_in_event && reading->ends_open) {
    importer->header.is_unclosed = true;
    return;
  }
  set_bad(reading, end, end == 0 ? "it is empty" : "it ends too early");
}

static void look_at_end(trace_reading *reading, const char *bytes, size_t len) {
  while (len > 0 && is_space(bytes[len - 1])) len--;
  if (len > 0)
    reading->ends_open = bytes[len - 1] == '}' || bytes[len - 1] == ',';
}

static pprof_status fail_bad(const trace_reading *reading, pprof_status status,
                             pprof_error *error) {
  if (reading->nsys)
    return ppi_fail(error, status, "%s: %s", reading->path, reading->bad);
  return ppi_fail(error, status, "%s@0x%" PRIx64 ": %s", reading->path,
                  reading->bad_at, reading->bad);
}

static pprof_status fail_without_events(const trace_reading *reading,
                                        pprof_error *error) {
  const char *foreign = reading->importer->foreign;
  if (foreign)
    return ppi_fail(error, PPROF_STATUS_INVALID, "%s: not a Chrome trace: %s",
                    reading->path, foreign);
  if (reading->bad) return fail_bad(reading, PPROF_STATUS_INVALID, error);
  if (reading->importer->has_events)
    return ppi_fail(error, PPROF_STATUS_INVALID,
                    "%s: not a Chrome trace: none of its %" PRIu64
                    " entries is an event, see docs/import.md",
                    reading->path,
                    reading->importer->skips[PPI_SKIP_MALFORMED]);
  return ppi_fail(error, PPROF_STATUS_INVALID,
                  "%s@0x%" PRIx64 ": not a trace: no traceEvents",
                  reading->path, reading->source.num_out);
}

static size_t next_block(trace_reading *reading, const char **out) {
  size_t len = reading->head_len;
  *out = reading->head;
  reading->head_len = 0;
  return len ? len : ppi_source_next(&reading->source, out);
}

static void read_spans(trace_reading *reading) {
  ppi_importer *importer = reading->importer;
  while (ppi_spans_read(reading->spans)) report_progress(reading);
  const char *failure = ppi_spans_failure(reading->spans);
  if (failure) set_bad(reading, reading->source.num_out, failure);
  importer->header.spans = ppi_spans_kind(reading->spans);
  importer->skips[PPI_SKIP_BAD_SPANS] =
      ppi_spans_num_bad(reading->spans, &importer->header.num_spans);
}

static void read_nsys(trace_reading *reading) {
  ppi_importer *importer = reading->importer;
  ppi_trace_header *header = &importer->header;
  header->spans = "a file of nsys";
  ppi_nsys_read(reading->nsys, importer);
  const char *failure = ppi_nsys_failure(reading->nsys);
  if (failure) set_bad(reading, 0, failure);
  importer->skips[PPI_SKIP_TABLE_ROWS] =
      ppi_nsys_left_out(reading->nsys, header->tables, sizeof header->tables);
  importer->skips[PPI_SKIP_LACKING_ROWS] =
      ppi_nsys_lacking(reading->nsys, header->lacking, sizeof header->lacking);
}

static void read_json(trace_reading *reading) {
  const char *bytes;
  size_t len;
  while ((len = next_block(reading, &bytes)) > 0) {
    if (!take_block(reading, bytes, len)) break;
    look_at_end(reading, bytes, len);
    report_progress(reading);
  }
}

// A JSON list without events is another tool's.
static bool is_foreign(const ppi_importer *importer) {
  bool is_list = importer->is_array && importer->skips[PPI_SKIP_MALFORMED];
  return importer->num_events == 0 && (importer->foreign || is_list);
}

static pprof_status read_trace(trace_reading *reading, pprof_error *error) {
  ppi_source *source = &reading->source;
  ppi_importer *importer = reading->importer;
  importer->has_events = reading->spans || reading->nsys;
  if (reading->nsys)
    read_nsys(reading);
  else if (reading->spans)
    read_spans(reading);
  else
    read_json(reading);
  if (importer->spill.error_number) return PPROF_STATUS_IO;
  if (source->error_number)
    return ppi_fail(error, PPROF_STATUS_IO, "cannot read %s: %s", reading->path,
                    strerror(source->error_number));
  if (source->damaged)
    set_bad(reading, source->num_out, "the gzip data is damaged or cut");
  if (reading->json) {
    finish_json(reading);
    importer->skips[PPI_SKIP_NOT_FINITE] +=
        ppi_json_num_not_finite(reading->json);
    importer->skips[PPI_SKIP_RAW_CONTROLS] +=
        ppi_json_num_raw_controls(reading->json);
  }
  if (!reading->nsys) memcpy(importer->hash, source->hash, sizeof source->hash);
  return importer->has_events && !is_foreign(importer)
             ? PPROF_STATUS_OK
             : fail_without_events(reading, error);
}

// Opens the file. Its first block decides the format: a trace, spans, or
// another tool's.
static pprof_status open_text(trace_reading *reading, pprof_error *error) {
  ppi_source *source = &reading->source;
  PPI_TRY(ppi_source_open(source, reading->path, error));
  reading->head_len = ppi_source_next(source, &reading->head);
  const char **foreign = &reading->importer->foreign;
  *foreign = find_foreign(reading->path, reading->head, reading->head_len);
  if (!*foreign) *foreign = ppi_foreign_bare(reading->head, reading->head_len);
  if (*foreign) return fail_without_events(reading, error);
  if (!ppi_spans_is(reading->head, reading->head_len)) {
    *foreign = ppi_foreign_list(reading->head, reading->head_len);
    return PPROF_STATUS_OK;
  }
  reading->spans = ppi_spans_open(source, reading->head, reading->head_len,
                                  ppi_own_take_span, reading->importer);
  ppi_trace_header *header = &reading->importer->header;
  header->spans = "spans";
  header->is_own = header->has_base = true;
  return PPROF_STATUS_OK;
}

static pprof_status import(trace_reading *reading, pprof_error *error) {
  ppi_importer *importer = reading->importer;
  unsigned char head[16];
  ssize_t len = read_head(reading->path, head, sizeof head);
  bool is_nsys = len > 0 && ppi_nsys_is_sqlite(head, (size_t)len);
  pprof_status status =
      is_nsys ? ppi_nsys_open(reading->path, &reading->nsys, error)
              : open_text(reading, error);
  if (status != PPROF_STATUS_OK) return status;
  if (!reading->nsys && !reading->spans) {
    reading->json = ppi_tool_must(ppi_json_create(take_token, importer));
    // ppi_quick_take needs the zeroes behind the source's blocks.
    ppi_json_set_whole(reading->json, ppi_quick_take);
  }
  status = read_trace(reading, error);
  if (status == PPROF_STATUS_OK && reading->bad && importer->num_events == 0)
    status = fail_bad(reading, PPROF_STATUS_INVALID, error);
  importer->header.is_damaged = reading->bad != NULL;
  importer->header.damaged_at = reading->bad_at;
  if (status == PPROF_STATUS_OK) status = ppi_sweep(importer);
  if (importer->spill.error_number)
    return ppi_fail(error, PPROF_STATUS_IO, "%s: no room for sorting: %s",
                    reading->path, strerror(importer->spill.error_number));
  if (status == PPROF_STATUS_OK && reading->bad)
    return fail_bad(reading, PPROF_STATUS_CORRUPT, error);
  return status;
}

pprof_status ppi_import_read(const char *path, pprof_sink *sink,
                             const ppi_import_options *options,
                             pprof_error *error) {
  ppi_importer *importer = ppi_tool_must(ppi_alloc(sizeof *importer));
  trace_reading reading = {
      .path = path, .importer = importer, .options = options};
  reading.source.fd = -1;
  ppi_importer_init(importer, path);
  importer->sink = sink;
  importer->options = options;
  pprof_status status = import(&reading, error);
  if (reading.json) ppi_json_destroy(reading.json);
  ppi_source_close(&reading.source);
  ppi_nsys_close(reading.nsys);
  ppi_spans_close(reading.spans);
  ppi_importer_clear(importer);
  ppi_free(importer);
  return status;
}

// SPDX-License-Identifier: Apache-2.0
//
// Writes profiles for `go tool pprof`, gzipped: for each path of stages its
// calls, its own host time and its own device time.
#include <zlib.h>

#include "base/mem.h"
#include "cli/say.h"
#include "export/formats.h"
#include "export/profile.pb-c.h"

enum { CALLS, HOST, DEVICE, NUM_VALUES };

// Samples are written one by one: each has its whole path.
typedef struct profile {
  ppi_export base;
  char **texts;
  size_t num_texts, texts_capacity;
  ppi_map places;     // of texts
  ppi_map functions;  // by text and category text; an id is a number + 1
  z_stream stream;
} profile;

// ---- texts and functions ----

// Only a deliberate collision of hashes is likely; a stage would then get
// another's name.
static int64_t add_text(profile *out, const char *text) {
  size_t at = ppi_tool_number(&out->places, ppi_map_key_of(text, ""));
  if (at == out->num_texts)
    PPI_MUST_PUSH(out->texts, out->num_texts, out->texts_capacity,
                  ppi_export_text(text, strlen(text)));
  return (int64_t)at;
}

static uint64_t add_function(profile *out, const ppi_report_path *frame) {
  int64_t name = add_text(out, frame->name);
  int64_t category = add_text(out, frame->category_name);
  return ppi_tool_number(&out->functions,
                         (ppi_map_key){(uint64_t)name, (uint64_t)category}) +
         1;
}

// ---- the file ----

// Concatenated messages are one message with all of their fields.
static void put_message(profile *out, const PpiProfile__Profile *part,
                        int flush) {
  size_t len = ppi_profile__profile__get_packed_size(part);
  uint8_t *raw = ppi_tool_must(len < UINT32_MAX ? ppi_alloc(len + 1) : NULL);
  ppi_profile__profile__pack(part, raw);
  out->stream.next_in = raw;
  out->stream.avail_in = (uInt)len;
  do {
    uint8_t packed[16384];
    out->stream.next_out = packed;
    out->stream.avail_out = sizeof packed;
    deflate(&out->stream, flush);
    fwrite(packed, 1, sizeof packed - out->stream.avail_out, out->base.file);
  } while (!out->stream.avail_out);
  ppi_free(raw);
}

static void put_sample(profile *out, const ppi_figures *figures,
                       const ppi_report_path *path) {
  const ppi_report_path *frames[PPI_PATH_LEVELS];
  uint64_t ids[PPI_PATH_LEVELS];
  int64_t values[NUM_VALUES] = {0};
  PpiProfile__Sample sample = PPI_PROFILE__SAMPLE__INIT, *one = &sample;
  PpiProfile__Profile part = PPI_PROFILE__PROFILE__INIT;
  sample.n_location_id = ppi_export_frames(figures, path, frames);
  for (size_t i = 0; i < sample.n_location_id; i++)
    ids[i] = add_function(out, frames[i]);
  sample.location_id = ids;
  sample.n_value = NUM_VALUES;
  sample.value = values;
  values[CALLS] =
      (int64_t)(ppi_spread_calls(&path->spread) + path->num_untimed);
  values[path->on_device ? DEVICE : HOST] =
      (int64_t)(path->on_device ? path->device_ns : path->self_ns);
  part.n_sample = 1;
  part.sample = &one;
  put_message(out, &part, Z_NO_FLUSH);
}

// Each function is a stage with one location of its own.
static void put_function(profile *out, size_t at) {
  PpiProfile__Function function = PPI_PROFILE__FUNCTION__INIT;
  PpiProfile__Function *functions = &function;
  PpiProfile__Location location = PPI_PROFILE__LOCATION__INIT;
  PpiProfile__Location *locations = &location;
  PpiProfile__Line line = PPI_PROFILE__LINE__INIT, *lines = &line;
  PpiProfile__Profile part = PPI_PROFILE__PROFILE__INIT;
  function.id = location.id = line.function_id = at + 1;
  function.name = function.system_name = (int64_t)out->functions.keys[at].high;
  function.filename = (int64_t)out->functions.keys[at].low;
  location.n_line = part.n_function = part.n_location = 1;
  location.line = &lines;
  part.function = &functions;
  part.location = &locations;
  put_message(out, &part, Z_NO_FLUSH);
}

static void put_rest(profile *out, const ppi_figures *figures,
                     const int64_t (*types)[2]) {
  PpiProfile__Profile made = PPI_PROFILE__PROFILE__INIT;
  PpiProfile__Type values[NUM_VALUES], *places[NUM_VALUES];
  for (size_t i = 0; i < NUM_VALUES; i++) {
    ppi_profile__type__init(&values[i]);
    values[i].type = types[i][0];
    values[i].unit = types[i][1];
    places[i] = &values[i];
  }
  made.n_sample_type = NUM_VALUES;
  made.sample_type = places;
  made.default_sample_type = types[HOST][0];
  made.n_string_table = out->num_texts;
  made.string_table = out->texts;
  for (size_t i = 0; i < figures->num_inputs; i++) {
    int64_t began_ns = (int64_t)figures->inputs[i].began_ns;
    if (!made.time_nanos || (began_ns && began_ns < made.time_nanos))
      made.time_nanos = began_ns;
  }
  made.duration_nanos = (int64_t)figures->wall_ns;
  put_message(out, &made, Z_FINISH);
}

static pprof_status close_profile(ppi_export *export, pprof_error *error) {
  static const char *const words[NUM_VALUES][2] = {
      [CALLS] = {"calls", "count"},
      [HOST] = {"host", "nanoseconds"},
      [DEVICE] = {"device", "nanoseconds"}};
  static const ppi_figures none;
  profile *out = (profile *)export;
  const ppi_figures *figures = ppi_report_figures(export->report);
  int64_t types[NUM_VALUES][2];
  if (!figures) figures = &none;
  add_text(out, "");
  for (size_t i = 0; i < NUM_VALUES; i++)
    for (size_t j = 0; j < 2; j++) types[i][j] = add_text(out, words[i][j]);
  for (size_t i = 0; i < figures->num_paths; i++)
    put_sample(out, figures, &figures->paths[i]);
  for (size_t i = 0; i < out->functions.num; i++) put_function(out, i);
  put_rest(out, figures, types);
  return ppi_export_end(export->file, error);
}

static void clear_profile(ppi_export *export) {
  profile *out = (profile *)export;
  deflateEnd(&out->stream);
  for (size_t i = 0; i < out->num_texts; i++) ppi_free(out->texts[i]);
  ppi_free(out->texts);
  ppi_map_clear(&out->places);
  ppi_map_clear(&out->functions);
}

static bool open_profile(ppi_export *export, const ppi_export_target *target,
                         pprof_error *error) {
  enum { GZIP = 15 + 16, MEMORY = 8 };
  (void)target;
  (void)error;
  if (deflateInit2(&((profile *)export)->stream, Z_DEFAULT_COMPRESSION,
                   Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
    ppi_tool_must(NULL);
  return true;
}

const ppi_export_format ppi_format_profile = {
    .name = "profile",
    .ending = ".pb.gz",
    .holds = "calls, own host and device time of each path of stages",
    .opened_by = "go tool pprof, speedscope, Pyroscope",
    .parts = PPI_PART_SUBMITS,
    .of_paths = true,
    .size = sizeof(profile),
    .open = open_profile,
    .close = close_profile,
    .clear = clear_profile,
};

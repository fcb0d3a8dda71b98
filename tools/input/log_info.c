// SPDX-License-Identifier: Apache-2.0
//
// Gathers the figures that `info` prints.
#include "input/log_info.h"

#include <sys/stat.h>

#include "input/input.h"
#include "input/joined.h"
#include "log/format/log_contents.h"
#include "log/read/log_section.h"

// A damaged file may claim any id; definitions beyond are counted, not kept.
enum { MAX_ID = 1 << 20 };
// Events of longer logs are not read, so that `info` answers at once.
enum { MAX_READ = 64 << 20 };

struct info_sink {
  pprof_sink base;
  struct ppi_tool_log_info *info;
};

// The run that is being read.
static struct ppi_tool_run_info *run_of(pprof_sink *sink) {
  struct ppi_tool_log_info *info = ((struct info_sink *)sink)->info;
  return &info->runs[info->num_runs - 1];
}

const char *ppi_tool_block_name(unsigned type) {
  static const char *const names[PPI_TOOL_NUM_TYPES] = {
      "?",           "info",    "definitions", "events",
      "checkpoints", "windows", "totals",      "contents"};
  return names[type < PPI_TOOL_NUM_TYPES ? type : 0];
}

const char *ppi_tool_run_info_text(const struct ppi_tool_run_info *run,
                                   const char *key) {
  for (size_t i = 0; i < run->texts.num; i++)
    if (strcmp(run->texts.items[i].key, key) == 0)
      return run->texts.items[i].value;
  return NULL;
}

static pprof_status info_begin(pprof_sink *sink, const pprof_run_info *run) {
  struct ppi_tool_log_info *log = ((struct info_sink *)sink)->info;
  PPI_MUST_ROOM(log->runs, log->runs_capacity, log->num_runs + 1);
  struct ppi_tool_run_info *info = &log->runs[log->num_runs++];
  *info = (struct ppi_tool_run_info){0};
  if (!ppi_texts_join(&info->texts, run->texts, run->num_texts))
    ppi_tool_must(NULL);
  return PPROF_STATUS_OK;
}

// The place of definition (kind, id), a new one if needed.
static struct ppi_tool_definition *place_of(struct ppi_tool_run_info *info,
                                            pprof_definition_kind kind,
                                            uint32_t id) {
  PPI_MUST_REACH(info->places[kind], info->num_places[kind],
                 info->places_capacity[kind], id);
  uint32_t *places = info->places[kind];
  if (places[id]) return &info->definitions[places[id] - 1];
  PPI_MUST_ROOM(info->definitions, info->definitions_capacity,
                info->num_definitions + 1);
  places[id] = (uint32_t)++info->num_definitions;
  info->num_of_kind[kind]++;
  memset(&info->definitions[places[id] - 1], 0, sizeof(*info->definitions));
  return &info->definitions[places[id] - 1];
}

static pprof_status info_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  struct ppi_tool_run_info *info = run_of(sink);
  pprof_definition_kind kind = pprof_definition_get_kind(definition);
  uint32_t id = pprof_definition_id(definition);
  if ((unsigned)kind >= PPI_TOOL_NUM_KINDS) return PPROF_STATUS_OK;
  // Attributes may be many and long, so they are only counted.
  if (id >= MAX_ID || kind == PPROF_DEFINITION_ATTRIBUTES) {
    info->num_of_kind[kind]++;
    return PPROF_STATUS_OK;
  }
  struct ppi_tool_definition *place = place_of(info, kind, id);
  const char *name = pprof_definition_name(definition);
  ppi_free(place->name);
  *place = (struct ppi_tool_definition){
      .kind = kind,
      .id = id,
      .parent = pprof_definition_parent(definition),
      .number = pprof_definition_number(definition),
      .name = ppi_tool_must(ppi_strdup(name ? name : ""))};
  return PPROF_STATUS_OK;
}

static pprof_status info_window(pprof_sink *sink, uint32_t index, bool opens,
                                uint64_t time_ns) {
  struct ppi_tool_run_info *info = run_of(sink);
  if (time_ns > info->last_ns) info->last_ns = time_ns;
  if (!opens) {
    for (size_t i = info->num_windows; i-- > 0;) {
      if (info->windows[i].index != index) continue;
      info->windows[i].closed = true;
      info->windows[i].closes_ns = time_ns;
      break;
    }
    return PPROF_STATUS_OK;
  }
  PPI_MUST_PUSH(info->windows, info->num_windows, info->windows_capacity,
                (struct ppi_tool_window){index, false, time_ns, 0});
  return PPROF_STATUS_OK;
}

static pprof_status info_finish(pprof_sink *sink, const pprof_totals *totals) {
  struct ppi_tool_run_info *info = run_of(sink);
  for (unsigned key = 0; key < PPI_NUM_TOTALS; key++)
    info->totals[key] =
        ppi_totals_get(totals, PPROF_ALL_LANES, (ppi_total_key)key);
  // A run has totals once.
  if (!info->notes.num &&
      !ppi_texts_join(&info->notes, totals->notes, totals->num_notes))
    ppi_tool_must(NULL);
  return PPROF_STATUS_OK;
}

static void count_block(struct ppi_tool_run_info *run,
                        const ppi_log_block *block) {
  const ppi_log_header *header = &block->header;
  unsigned type = header->type < PPI_TOOL_NUM_TYPES ? header->type : 0;
  struct ppi_tool_blocks *blocks = &run->blocks[type];
  blocks->num_blocks++;
  blocks->num_events += header->num_events;
  blocks->raw_bytes += header->raw_len;
  blocks->stored_bytes += block->size;
  if (header->codec < 32) run->codecs |= 1u << header->codec;
  if (block->ok && header->max_end_ns > run->last_ns)
    run->last_ns = header->max_end_ns;
}

// Counts the blocks of a run, or of a segment of one.
static pprof_status count_part(ppi_log_file *file, const char *path,
                               struct ppi_tool_run_info *run, bool *more) {
  ppi_log_block block;
  bool whole = false;
  while (ppi_log_file_next(file, &block)) {
    count_block(run, &block);
    whole = block.header.type == PPI_LOG_TOTALS;
  }
  const ppi_log_damage *damage = ppi_log_file_damage(file);
  ppi_log_damage_add(&run->damage, damage);
  run->complete =
      run->complete && whole && !damage->num_bytes && !damage->num_missing;
  return ppi_log_file_next_run(file, path, more, NULL);
}

// Counts blocks run by run, in the order in which the reader found the runs.
static pprof_status count_runs(ppi_log_file *file, const char *path,
                               uint64_t file_bytes,
                               struct ppi_tool_log_info *info) {
  pprof_status status = PPROF_STATUS_OK;
  bool more = true;
  for (size_t i = 0; more && i < info->num_runs; i++) {
    struct ppi_tool_run_info *run = &info->runs[i];
    uint64_t offset = ppi_log_file_run_offset(file);
    ppi_log_section before = {.len = 0}, next = {.len = 0};
    run->complete = true;
    do {
      ppi_log_peek(path, ppi_log_file_run_offset(file), &before);
      if (!run->compressor[0])
        memcpy(run->compressor, before.compressor, sizeof run->compressor);
      status = count_part(file, path, run, &more);
      if (more) ppi_log_peek(path, ppi_log_file_run_offset(file), &next);
    } while (status == PPROF_STATUS_OK && more &&
             ppi_log_section_goes_on(&before, &next));
    run->num_bytes =
        (more ? ppi_log_file_run_offset(file) : file_bytes) - offset;
    if (status != PPROF_STATUS_OK) break;
  }
  return status;
}

// Adds the sums of the blocks that the walk skips.
static void add_contents(const ppi_log_contents *contents,
                         struct ppi_tool_run_info *run) {
  for (size_t i = 0; i < PPI_LOG_CONTENTS_NUM_TYPES; i++) {
    const ppi_log_sums *sums = &contents->sums[i];
    struct ppi_tool_blocks *blocks = &run->blocks[ppi_log_contents_type(i)];
    blocks->num_blocks += sums->num_blocks;
    blocks->num_events += sums->num_events;
    blocks->raw_bytes += sums->raw_bytes;
    blocks->stored_bytes += sums->stored_bytes;
  }
  run->codecs |= contents->codecs;
  if (contents->max_end_ns > run->last_ns) run->last_ns = contents->max_end_ns;
}

static pprof_status skim_runs(ppi_log_file *file, const char *path,
                              uint64_t file_bytes,
                              struct ppi_tool_log_info *info) {
  ppi_log_contents *contents = ppi_tool_must(ppi_alloc(sizeof *contents));
  if (ppi_log_contents_skim(path, file, contents) && info->num_runs > 0)
    add_contents(contents, &info->runs[0]);
  pprof_status status = count_runs(file, path, file_bytes, info);
  ppi_free(contents);
  return status;
}

static int count_blocks(const char *path, struct ppi_tool_log_info *info) {
  struct stat status;
  ppi_log_file *file;
  if (stat(path, &status) != 0) return PPI_EXIT_DAMAGED;
  if (ppi_log_file_open(path, &file, NULL) != PPROF_STATUS_OK)
    return PPI_EXIT_DAMAGED;
  uint64_t bytes = (uint64_t)status.st_size;
  pprof_status counted = info->skimmed ? skim_runs(file, path, bytes, info)
                                       : count_runs(file, path, bytes, info);
  ppi_log_file_close(file);
  return counted == PPROF_STATUS_OK ? PPI_EXIT_DONE : PPI_EXIT_DAMAGED;
}

static int read_all(const char *path, struct info_sink *sink,
                    struct ppi_tool_watch *watch) {
  struct stat stat_;
  sink->info->skimmed = stat(path, &stat_) == 0 && stat_.st_size > MAX_READ;
  return sink->info->skimmed
             ? ppi_tool_skim(path, &sink->base, false, watch, NULL)
             : ppi_tool_read(path, &sink->base, watch);
}

int ppi_tool_log_info_read(const char *path, struct ppi_tool_log_info *out) {
  struct info_sink sink = {.base = {.size = sizeof(pprof_sink),
                                    .begin = info_begin,
                                    .define = info_define,
                                    .window = info_window,
                                    .finish = info_finish},
                           .info = out};
  struct ppi_tool_watch watch;
  struct ppi_tool_log log;
  *out = (struct ppi_tool_log_info){.path = path};
  int code = ppi_tool_log_open(path, &log);
  struct stat trace;
  if (log.made && stat(path, &trace) == 0)
    out->trace_bytes = (uint64_t)trace.st_size;
  int read = code == PPI_EXIT_DONE || code == PPI_EXIT_DAMAGED
                 ? read_all(log.path, &sink, &watch)
                 : PPI_EXIT_INPUT;
  if (read > code) code = read;
  if (code != PPI_EXIT_INPUT) {
    int counted = count_blocks(log.path, out);
    // Only the reader finds blocks that have a good checksum but do not decode.
    if (code != PPI_EXIT_DONE && out->num_runs == 1)
      out->runs[0].complete = false;
    if (counted > code) code = counted;
    out->joined = ppi_tool_is_joined(path);
  }
  ppi_tool_log_close(&log);
  return code;
}

static void clear_run(struct ppi_tool_run_info *run) {
  ppi_texts_clear(&run->texts);
  ppi_texts_clear(&run->notes);
  for (size_t i = 0; i < run->num_definitions; i++)
    ppi_free(run->definitions[i].name);
  for (size_t i = 0; i < PPI_TOOL_NUM_KINDS; i++) ppi_free(run->places[i]);
  ppi_free(run->definitions);
  ppi_free(run->windows);
}

void ppi_tool_log_info_clear(struct ppi_tool_log_info *info) {
  for (size_t i = 0; i < info->num_runs; i++) clear_run(&info->runs[i]);
  ppi_free(info->runs);
}

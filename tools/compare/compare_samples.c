// SPDX-License-Identifier: Apache-2.0
//
// Collects samples, machine and provenance of one input of `compare`.
#include "compare/compare_samples.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/say.h"
#include "event/columns.h"
#include "report/figures/sum.h"
#include "report/report.h"

ppi_runs ppi_compare_stage_runs(const ppi_compare_stage *stage) {
  return (ppi_runs){stage->values, stage->ends, stage->num_runs};
}

static const char *const place_keys[PPI_NUM_PROVENANCE] = {
    [PPI_PROVENANCE_HOST] = "host",
    [PPI_PROVENANCE_CPU] = "cpu",
    [PPI_PROVENANCE_NUM_CPUS] = "num_cpus",
    [PPI_PROVENANCE_KERNEL] = "kernel",
    [PPI_PROVENANCE_CONTAINER] = "container",
    [PPI_PROVENANCE_CLOCK] = "clock",
    [PPI_PROVENANCE_DEVICES] = "devices",
    [PPI_PROVENANCE_MODELS] = "device_models",
    [PPI_PROVENANCE_CONFIG] = "config",
    [PPI_PROVENANCE_VERSION] = "version"};

const char *ppi_provenance_name(ppi_provenance_key key) {
  return place_keys[key];
}

static ppi_samples *samples_of(pprof_sink *sink) {
  return (ppi_samples *)sink;
}

static void set_text(char **field, const char *text) {
  ppi_free(*field);
  *field = ppi_tool_must(ppi_strdup(text));
}

// Whether `value` is one of the lines of `list`.
static bool is_listed(const char *list, const char *value) {
  size_t len = strlen(value);
  for (const char *at = list; at; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (strncmp(at, value, len) == 0 && (at[len] == '\n' || !at[len]))
      return true;
  }
  return false;
}

static void add_place(ppi_samples *samples, ppi_provenance_key key,
                      const char *value) {
  char **list = &samples->places[key];
  if (*list && key != PPI_PROVENANCE_CONFIG && is_listed(*list, value)) return;
  size_t len = *list ? strlen(*list) + 1 : 0, more = strlen(value) + 1;
  *list = ppi_tool_must(ppi_realloc(*list, len + more));
  if (len) (*list)[len - 1] = '\n';
  memcpy(*list + len, value, more);
}

static void add_lines(ppi_samples *samples, ppi_provenance_key key,
                      const char *lines) {
  while (*lines) {
    char line[256];
    size_t len = strcspn(lines, "\n");
    snprintf(line, sizeof line, "%.*s", (int)len, lines);
    if (len) add_place(samples, key, line);
    lines += len + (lines[len] == '\n');
  }
}

// Adds the name without the number of the device: "cuda" of "cuda:1".
static void add_device(ppi_samples *samples, const char *name) {
  char kind[256];
  snprintf(kind, sizeof kind, "%s", name);
  size_t len = strlen(kind);
  while (len > 1 && isdigit((unsigned char)kind[len - 1])) len--;
  if (len > 1 && strchr(": ", kind[len - 1])) len--;
  kind[len] = '\0';
  add_place(samples, PPI_PROVENANCE_DEVICES, kind);
}

static bool names_a_file(const char *line, size_t len) {
  while (len && (*line == ' ' || *line == '-')) line++, len--;
  return (len >= 7 && memcmp(line, "output:", 7) == 0) ||
         (len >= 5 && memcmp(line, "path:", 5) == 0);
}

// The lines of `text`, without lines that name files.
static char *without_files(const char *text) {
  char *out = ppi_tool_must(ppi_alloc(strlen(text) + 1)), *end = out;
  while (*text) {
    size_t len = strcspn(text, "\n"), whole = len + (text[len] == '\n');
    if (!names_a_file(text, len)) {
      memcpy(end, text, whole);
      end += whole;
    }
    text += whole;
  }
  return out;
}

static void add_config(ppi_samples *samples, const char *text) {
  size_t known = samples->configs.num;
  char *config = without_files(text);
  if (ppi_tool_number(&samples->configs, ppi_map_key_of(config, "")) == known)
    add_place(samples, PPI_PROVENANCE_CONFIG, config);
  ppi_free(config);
}

static void forget_run(ppi_samples *samples) {
  for (size_t i = 0; i < samples->num_sites; i++)
    ppi_free(samples->sites[i].name);
  for (size_t i = 0; i < samples->num_categories; i++)
    ppi_free(samples->categories[i]);
  samples->num_sites = samples->num_categories = 0;
}

static pprof_sink *report_sink(const ppi_samples *samples) {
  return samples->report ? pprof_report_sink(samples->report) : NULL;
}

static pprof_status begin_report(ppi_samples *samples,
                                 const pprof_run_info *info) {
  const ppi_report_details details = {.answer = true, .warmup = -1};
  pprof_report_destroy(samples->report);
  samples->report = NULL;
  PPI_TRY(pprof_report_create(&samples->report));
  ppi_report_set_details(samples->report, &details);
  pprof_sink *sink = report_sink(samples);
  return sink->begin(sink, info);
}

static pprof_status samples_begin(pprof_sink *sink,
                                  const pprof_run_info *info) {
  ppi_samples *samples = samples_of(sink);
  const char *const keys[] = {"uuid", "host", "pid"};
  char **const fields[] = {&samples->uuid, &samples->host, &samples->pid};
  forget_run(samples);
  for (size_t i = 0; i < 3 && samples->num_runs == 0; i++) {
    const char *text = pprof_run_info_text(info, keys[i]);
    if (text) set_text(fields[i], text);
  }
  const char *started = pprof_run_info_text(info, "time_base_realtime_ns");
  if (samples->num_runs == 0 && started)
    samples->started_ns = strtoull(started, NULL, 10);
  for (unsigned i = 0; i < PPI_NUM_PROVENANCE; i++) {
    const char *text = pprof_run_info_text(info, place_keys[i]);
    if (!text || !text[0]) continue;
    if (i == PPI_PROVENANCE_CONFIG)
      add_config(samples, text);
    else
      (i == PPI_PROVENANCE_MODELS ? add_lines : add_place)(
          samples, (ppi_provenance_key)i, text);
  }
  samples->num_runs++;
  ppi_compare_machine_begin(&samples->machine);
  return samples->wants_energy ? begin_report(samples, info) : PPROF_STATUS_OK;
}

static void define_site(ppi_samples *samples, const pprof_definition *site) {
  PPI_MUST_REACH(samples->sites, samples->num_sites, samples->sites_capacity,
                 site->id);
  struct ppi_site_stages *own = &samples->sites[site->id];
  own->category = site->parent;
  own->fold = site->number < UINT32_MAX ? (uint32_t)site->number : 0;
  own->host = own->device = 0;
  set_text(&own->name, pprof_definition_name(site));
}

static pprof_status samples_define(pprof_sink *sink,
                                   const pprof_definition *definition) {
  ppi_samples *samples = samples_of(sink);
  if (definition->kind == PPROF_DEFINITION_SITE) {
    define_site(samples, definition);
  } else if (definition->kind == PPROF_DEFINITION_CATEGORY) {
    PPI_MUST_REACH(samples->categories, samples->num_categories,
                   samples->categories_capacity, definition->id);
    set_text(&samples->categories[definition->id], definition->name);
  } else if (definition->kind == PPROF_DEFINITION_DEVICE) {
    add_device(samples, definition->name);
  }
  pprof_sink *also = report_sink(samples);
  return also ? also->define(also, definition) : PPROF_STATUS_OK;
}

static ppi_map_key key_of(const ppi_compare_stage *stage) {
  ppi_map_key key = ppi_map_key_of(stage->name, stage->category);
  key.low ^= stage->on_device ^ (uint64_t)stage->energy << 1;
  return key;
}

const ppi_compare_stage *ppi_samples_find(const ppi_samples *samples,
                                          const ppi_compare_stage *like) {
  size_t number = ppi_map_find(&samples->numbers, key_of(like));
  return number < samples->num_stages ? &samples->stages[number] : NULL;
}

// The stage's place in `stages`.
static size_t find_or_add(ppi_samples *samples, const ppi_compare_stage *like) {
  size_t number = ppi_tool_number(&samples->numbers, key_of(like));
  if (number < samples->num_stages) return number;
  PPI_MUST_PUSH(
      samples->stages, samples->num_stages, samples->stages_capacity,
      (ppi_compare_stage){.name = ppi_tool_must(ppi_strdup(like->name)),
                          .category = ppi_tool_must(ppi_strdup(like->category)),
                          .on_device = like->on_device,
                          .is_step = like->is_step,
                          .energy = like->energy});
  return number;
}

// ---- energy, which a report divides ----

// Adds the energy of a stage, divided by `num` calls or items.
static void add_energy(ppi_samples *samples, const ppi_energy_row *row,
                       ppi_metric metric, double num) {
  const ppi_compare_stage like = {.name = (char *)row->name,
                                  .category = (char *)"",
                                  .on_device = true,
                                  .energy = metric};
  if (!(num > 0)) return;
  ppi_compare_stage *stage = &samples->stages[find_or_add(samples, &like)];
  stage->calls += row->calls;
  stage->total_ns += 1e9 * row->joules;
  stage->is_unresolved |= row->is_unresolved;
  if (row->is_unresolved) return;
  PPI_MUST_PUSH(stage->values, stage->num_values, stage->values_capacity,
                (float)(1e9 * row->joules / num));
  PPI_MUST_PUSH(stage->ends, stage->num_runs, stage->ends_capacity,
                stage->num_values);
  if (row->joules > 0) stage->error += row->error_joules / row->joules;
}

// Adds the energy of all stages by units, if the run has such units.
static void add_units(ppi_samples *samples, const ppi_figures *figures) {
  ppi_energy_unit units[PPI_ENERGY_UNITS];
  ppi_energy_row row = {.joules = ppi_figures_energy_of_stages(figures)};
  ppi_figures_energy_units(figures, units);
  for (size_t i = 0; i < PPI_ENERGY_UNITS && row.joules > 0; i++) {
    snprintf(row.name, sizeof row.name, "(%s)", units[i].name);
    row.calls = units[i].num;
    add_energy(samples, &row, PPI_METRIC_ENERGY, (double)row.calls);
  }
}

// Adds a stage's rows of all devices as one.
static void add_stage_energy(ppi_samples *samples, const ppi_figures *figures,
                             size_t at) {
  ppi_energy_row all = figures->energy[at];
  for (size_t i = 0; i < figures->num_energy; i++) {
    const ppi_energy_row *row = &figures->energy[i];
    if (i == at || row->kind != all.kind || strcmp(row->name, all.name) != 0)
      continue;
    if (i < at) return;
    all.joules += row->joules;
    all.error_joules += row->error_joules;
    all.calls += row->calls;
    all.is_unresolved |= row->is_unresolved;
  }
  add_energy(samples, &all, PPI_METRIC_ENERGY, (double)all.calls);
  add_energy(samples, &all, PPI_METRIC_ENERGY_PER_ITEM,
             ppi_figures_items_of(figures, all.name));
}

static pprof_status finish_report(ppi_samples *samples,
                                  const pprof_totals *totals) {
  pprof_sink *sink = report_sink(samples);
  pprof_status status = sink->finish(sink, totals);
  const ppi_figures *figures = ppi_report_figures(samples->report);
  if (status != PPROF_STATUS_OK || !figures || !figures->num_energy)
    return status;
  for (size_t i = 0; i < figures->num_energy; i++)
    if (figures->energy[i].kind == PPI_ENERGY_STAGE)
      add_stage_energy(samples, figures, i);
  add_units(samples, figures);
  return status;
}

// ---- times ----

static bool is_known(const ppi_samples *samples, uint32_t site) {
  return site < samples->num_sites && samples->sites[site].name;
}

// Each step of an imported trace has a name of its own.
static size_t make_stage(ppi_samples *samples,
                         const struct ppi_site_stages *own, bool on_device) {
  bool is_step = own->category == PPROF_CATEGORY_PROFILE_STEP;
  const char *category = own->category < samples->num_categories
                             ? samples->categories[own->category]
                             : NULL;
  const ppi_compare_stage like = {
      .name = is_step ? (char *)"ProfileStep" : own->name,
      .category = category ? (char *)category : (char *)"",
      .on_device = on_device,
      .is_step = is_step};
  return find_or_add(samples, &like);
}

static ppi_compare_stage *stage_of(ppi_samples *samples, uint32_t site,
                                   bool on_device) {
  struct ppi_site_stages *own = &samples->sites[site];
  size_t *place = on_device ? &own->device : &own->host;
  if (*place == 0) *place = make_stage(samples, own, on_device) + 1;
  return &samples->stages[*place - 1];
}

static void add_call(ppi_samples *samples, const pprof_event *event,
                     uint64_t start, uint64_t end) {
  bool on_device = event->kind == PPROF_KIND_DEVICE_RANGE;
  ppi_compare_stage *stage = stage_of(samples, event->site, on_device);
  if (event->flags & (PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED))
    stage->num_cut++;
  else
    ppi_calls_add(&stage->pending, start, end > start ? end - start : 0);
}

static bool is_timed(const pprof_event *event) {
  return !(event->flags & PPROF_FLAG_NO_DEVICE_TIME) && event->device_end_ns;
}

static void take_counter(ppi_samples *samples, const pprof_event *event) {
  if (!is_known(samples, event->site)) return;
  uint32_t category = samples->sites[event->site].category;
  const char *name =
      category < samples->num_categories ? samples->categories[category] : NULL;
  if (name && strcmp(name, PPI_CATEGORY_MACHINE) == 0)
    ppi_compare_machine_take(&samples->machine,
                             samples->sites[event->site].name, event);
}

static void take_event(ppi_samples *samples, const pprof_event *event) {
  bool is_ours = is_known(samples, event->site);
  if (event->kind == PPROF_KIND_RANGE && is_ours)
    add_call(samples, event, event->start_ns, event->end_ns);
  else if (event->kind == PPROF_KIND_DEVICE_RANGE && is_ours && is_timed(event))
    add_call(samples, event, event->device_start_ns, event->device_end_ns);
  else if (event->kind == PPROF_KIND_COUNTER)
    take_counter(samples, event);
}

// Of a range, a row of columns has the times.
static bool take_row(ppi_samples *samples, const ppi_columns *columns,
                     const ppi_column_row *row) {
  const pprof_event *event =
      row->is_whole ? NULL : &columns->shapes[row->at].event;
  if (!event || event->kind != PPROF_KIND_RANGE ||
      !is_known(samples, event->site))
    return false;
  add_call(samples, event, row->start_ns, row->end_ns);
  return true;
}

static pprof_status samples_events(pprof_sink *sink, const pprof_batch *batch) {
  const ppi_columns *columns = ppi_columns_of(batch);
  for (size_t i = 0; i < batch->num_events; i++) {
    pprof_event room;
    if (columns && take_row(samples_of(sink), columns, &columns->rows[i]))
      continue;
    take_event(samples_of(sink), ppi_batch_at(batch, i, &room));
  }
  pprof_sink *also = report_sink(samples_of(sink));
  return also ? also->events(also, batch) : PPROF_STATUS_OK;
}

static pprof_status samples_checkpoint(pprof_sink *sink,
                                       const pprof_checkpoint *checkpoint) {
  pprof_sink *also = report_sink(samples_of(sink));
  return also ? also->checkpoint(also, checkpoint) : PPROF_STATUS_OK;
}

static pprof_status samples_window(pprof_sink *sink, uint32_t index, bool opens,
                                   uint64_t time_ns) {
  pprof_sink *also = report_sink(samples_of(sink));
  return also ? also->window(also, index, opens, time_ns) : PPROF_STATUS_OK;
}

// Turns the calls of one run into samples, in the order of their starts, and
// frees the calls.
static void close_run(ppi_compare_stage *stage, size_t num_warm) {
  size_t num = stage->pending.num, more = num > num_warm ? num - num_warm : 0;
  if (num == 0) return;
  PPI_MUST_ROOM(stage->values, stage->values_capacity,
                stage->num_values + more + 1);
  if (stage->calls == 0) stage->first_ns = stage->pending.first_ns;
  stage->calls += num;
  stage->total_ns += stage->pending.total_ns;
  ppi_calls_durations(&stage->pending, num_warm,
                      stage->values + stage->num_values);
  stage->num_values += more;
  if (more == 0) return;
  PPI_MUST_PUSH(stage->ends, stage->num_runs, stage->ends_capacity,
                stage->num_values);
}

static void fold_site(ppi_samples *samples, uint32_t site) {
  enum { MOST_FOLDS = 4 };
  uint32_t root = site;
  for (int i = 0;
       i < MOST_FOLDS && is_known(samples, samples->sites[root].fold); i++)
    root = samples->sites[root].fold;
  for (int on_device = 0; on_device < 2 && root != site; on_device++) {
    const struct ppi_site_stages *own = &samples->sites[site];
    size_t from = on_device ? own->device : own->host;
    if (!from) continue;
    ppi_compare_stage *to = stage_of(samples, root, on_device);
    ppi_compare_stage *folded = &samples->stages[from - 1];
    if (to == folded) continue;
    to->num_cut += folded->num_cut;
    folded->num_cut = 0;
    ppi_calls_move(&folded->pending, &to->pending);
  }
}

static void free_stage(ppi_compare_stage *stage) {
  PPI_FREE_ALL(stage->name, stage->category, stage->values, stage->ends);
  ppi_calls_clear(&stage->pending);
}

// Drops stages that folded into others. No site's place is used after this.
static void drop_empty(ppi_samples *samples) {
  size_t num = 0;
  ppi_map_clear(&samples->numbers);
  for (size_t i = 0; i < samples->num_stages; i++) {
    ppi_compare_stage *stage = &samples->stages[i];
    if (stage->calls || stage->num_cut) {
      ppi_tool_number(&samples->numbers, key_of(stage));
      samples->stages[num++] = *stage;
    } else {
      free_stage(stage);
    }
  }
  samples->num_stages = num;
}

static pprof_status samples_finish(pprof_sink *sink,
                                   const pprof_totals *totals) {
  ppi_samples *samples = samples_of(sink);
  bool folds = false;
  for (size_t i = 0; i < samples->num_sites; i++) {
    if (!samples->sites[i].fold) continue;
    folds = true;
    fold_site(samples, (uint32_t)i);
  }
  for (size_t i = 0; i < samples->num_stages; i++)
    close_run(&samples->stages[i], samples->num_warm);
  if (folds) drop_empty(samples);
  return samples->report ? finish_report(samples, totals) : PPROF_STATUS_OK;
}

void ppi_samples_init(ppi_samples *samples, size_t num_warm) {
  *samples = (ppi_samples){.base = {.size = sizeof(pprof_sink) | PPI_IN_COLUMNS,
                                    PPI_SINK_CALLBACKS(samples_)},
                           .num_warm = num_warm};
}

double ppi_samples_adjust(ppi_samples *samples,
                          const ppi_compare_machine *base) {
  char clocks[64];
  if (!ppi_compare_clock_differs(base, &samples->machine, clocks,
                                 sizeof clocks))
    return 0;
  double by = ppi_compare_clock(&samples->machine) / ppi_compare_clock(base);
  for (size_t i = 0; i < samples->num_stages; i++)
    for (size_t k = 0;
         samples->stages[i].on_device && !samples->stages[i].energy &&
         k < samples->stages[i].num_values;
         k++)
      samples->stages[i].values[k] *= (float)by;
  return by;
}

void ppi_samples_clear(ppi_samples *samples) {
  forget_run(samples);
  for (size_t i = 0; i < samples->num_stages; i++)
    free_stage(&samples->stages[i]);
  for (unsigned i = 0; i < PPI_NUM_PROVENANCE; i++)
    ppi_free(samples->places[i]);
  ppi_map_clear(&samples->numbers);
  ppi_map_clear(&samples->configs);
  PPI_FREE_ALL(samples->stages, samples->sites, samples->categories,
               samples->uuid, samples->host, samples->pid);
  pprof_report_destroy(samples->report);
  *samples = (ppi_samples){.num_warm = 0};
}

int ppi_stages_compare(const void *a, const void *b) {
  const ppi_compare_stage *x = *(const ppi_compare_stage *const *)a;
  const ppi_compare_stage *y = *(const ppi_compare_stage *const *)b;
  if (x->is_step != y->is_step) return x->is_step ? -1 : 1;
  if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
  int order = strcmp(x->name, y->name);
  if (order == 0) order = strcmp(x->category, y->category);
  return order ? order : (int)x->on_device - (int)y->on_device;
}

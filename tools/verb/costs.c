// SPDX-License-Identifier: Apache-2.0
//
// Reads models' costs from options or the run's configuration.
#include "verb/costs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/say.h"
#include "cost/table/groups.h"
#include "file/text.h"
#include "launch/python.h"
#include "report/report.h"
#include "verb/thresholds.h"
#include "yaml/yaml_tree.h"

// The wanted costs: from options, or from the configuration of a run.
struct asked {
  const char *who;  // in messages
  const char *models, *dims;
};

static void take_figures(ppi_cost *cost, ppi_stage_cost *out) {
  ppi_cost_figures all = {0};
  for (size_t i = 0; i < cost->num_rows; i++)
    ppi_cost_add(&all, &cost->rows[i]);
  out->flops = (double)all.flops.value;
  out->bytes = (double)all.in_bytes.value + (double)all.weight_bytes.value +
               (double)all.out_bytes.value;
  out->params = (double)all.params.value;
  out->at_least = all.flops.at_least;
  if (all.type && strcmp(all.type, "mixed") != 0)
    snprintf(out->type, sizeof out->type, "%s", all.type);
}

static int count(const struct asked *asked, const char *path,
                 ppi_stage_cost *out) {
  ppi_cost cost;
  int code = ppi_tool_model_cost(asked->who, path, asked->dims, &cost);
  if (code == PPI_EXIT_DONE) take_figures(&cost, out);
  ppi_cost_clear(&cost);
  return code;
}

// A file's name may have a colon. The part after the last colon is a stage if
// the whole text is no file.
static int read_one(const struct asked *asked, const char *text, size_t len,
                    ppi_stage_costs *out) {
  char path[PATH_MAX];
  ppi_stage_cost *to = &out->items[out->num];
  if (len >= sizeof path || out->num == PPI_MAX_COSTS)
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s takes %d models at most",
                         asked->who, PPI_MAX_COSTS);
  memcpy(path, text, len);
  path[len] = '\0';
  *to = (ppi_stage_cost){.glob = ""};
  char *colon = strrchr(path, ':');
  if (colon && access(path, F_OK) != 0) {
    *colon = '\0';
    snprintf(to->glob, sizeof to->glob, "%.200s", colon + 1);
  }
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  snprintf(to->model, sizeof to->model, "%.100s", name);
  if (!*to->glob)
    snprintf(to->glob, sizeof to->glob, "%.*s",
             (int)PPI_MIN(strcspn(name, "."), 200u), name);
  int code = count(asked, path, to);
  if (code == PPI_EXIT_DONE) out->num++;
  return code;
}

static int read_models(const struct asked *asked, ppi_stage_costs *out) {
  const char *text = asked->models;
  int code = PPI_EXIT_DONE;
  out->num = 0;
  while (text && code == PPI_EXIT_DONE) {
    size_t len = strcspn(text, ",");
    code = read_one(asked, text, len, out);
    text = text[len] ? text + len + 1 : NULL;
  }
  return code;
}

int ppi_tool_costs_check(const struct ppi_tool_options *options) {
  const struct asked asked = {"--cost", options->tables.cost,
                              options->cost.dims};
  ppi_stage_costs costs;
  int code = ppi_tool_peaks_read(options->tables.peak, NULL);
  return code == PPI_EXIT_DONE ? read_models(&asked, &costs) : code;
}

// ---- the configuration of a run ----

struct texts {
  ppi_page models, dims, peaks;
};

static void clear_texts(struct texts *texts) {
  ppi_page_clear(&texts->models);
  ppi_page_clear(&texts->dims);
  ppi_page_clear(&texts->peaks);
}

// Joins the list as options write it.
static void join(const ppi_yaml_node *map, const char *key, ppi_page *out) {
  const ppi_yaml_node *list = ppi_yaml_find(map, key);
  if (!list || list->kind != PPI_YAML_LIST) return;
  for (const ppi_yaml_node *item = list->children; item; item = item->next) {
    if (item->kind != PPI_YAML_SCALAR) continue;
    ppi_page_format(out, "%s%s", out->len ? "," : "", item->text);
  }
}

static void find_texts(const char *config, struct texts *out) {
  ppi_yaml yaml;
  ppi_yaml_init(&yaml, "config");
  pprof_status status = ppi_yaml_parse(&yaml, config, strlen(config),
                                       (ppi_yaml_mark){1, 1}, &yaml.root, NULL);
  const ppi_yaml_node *cost =
      status == PPROF_STATUS_OK && yaml.root && yaml.root->kind == PPI_YAML_MAP
          ? ppi_yaml_find(yaml.root, "cost")
          : NULL;
  if (cost && cost->kind == PPI_YAML_MAP) {
    join(cost, "models", &out->models);
    join(cost, "dims", &out->dims);
    join(cost, "peaks", &out->peaks);
  }
  ppi_yaml_clear(&yaml);
}

// Takes the texts of the first run that has any.
static void texts_of(const ppi_figures *figures, struct texts *out) {
  *out = (struct texts){.models = {0}};
  for (size_t i = 0; i < figures->num_inputs; i++) {
    if (out->models.len || out->dims.len || out->peaks.len) return;
    find_texts(figures->inputs[i].config, out);
  }
}

// A run's models may be on another machine; the report then leaves them out.
static int take(const struct ppi_tool_options *options, struct texts *texts,
                struct ppi_tool_costs *out) {
  const struct ppi_table_options *tables = &options->tables;
  const struct asked asked = {
      tables->cost ? "--cost" : "cost.models",
      tables->cost ? tables->cost : texts->models.bytes,
      options->cost.dims ? options->cost.dims : texts->dims.bytes};
  if (texts->models.failed || texts->dims.failed || texts->peaks.failed)
    return ppi_tool_fail(PPI_EXIT_INPUT, "out of memory");
  int code = ppi_tool_peaks_read(
      tables->peak ? tables->peak : texts->peaks.bytes, &out->peaks);
  if (code == PPI_EXIT_DONE) code = read_models(&asked, &out->costs);
  return tables->cost ? code : PPI_EXIT_DONE;
}

static void say_unused(const struct ppi_tool_costs *costs) {
  for (size_t i = 0; i < costs->costs.num; i++) {
    const ppi_stage_cost *cost = &costs->costs.items[i];
    if (costs->rooflines.is_used[i]) continue;
    ppi_tool_say("no stage is called '%s': %s:STAGE names one", cost->glob,
                 cost->model);
  }
}

int ppi_tool_costs_take(const struct ppi_tool_options *options,
                        const pprof_report *report,
                        struct ppi_tool_costs *out) {
  const ppi_figures *figures = ppi_report_figures(report);
  struct texts texts;
  *out = (struct ppi_tool_costs){.peaks.num = 0};
  if (!figures) return PPI_EXIT_DONE;  // the writer of the report says so
  texts_of(figures, &texts);
  int code = take(options, &texts, out);
  clear_texts(&texts);
  const ppi_report_options how = {.peaks = &out->peaks, .costs = &out->costs};
  if (code != PPI_EXIT_DONE) return code;
  if (ppi_stage_rooflines(figures, &how, &out->rooflines) != PPROF_STATUS_OK)
    return ppi_tool_fail(PPI_EXIT_INPUT, "out of memory");
  if (figures->details.stages) say_unused(out);
  return code;
}

int ppi_tool_model_cost(const char *who, const char *path, const char *dims,
                        ppi_cost *out) {
  const char *const words[] = {path, dims ? dims : "", NULL};
  ppi_buffer text = {0};
  pprof_error error = {""};
  *out = (ppi_cost){.num_rows = 0};
  pprof_status status = ppi_tool_python_read("pprof._model", words, &text);
  if (status == PPROF_STATUS_OK) status = ppi_cost_read(&text, out, &error);
  ppi_buffer_clear(&text);
  if (status == PPROF_STATUS_OK) return PPI_EXIT_DONE;
  if (status == PPROF_STATUS_UNAVAILABLE)
    ppi_tool_say(
        "'%s' has no pprof and onnx for Python 3.9: python3 -m pip install "
        "'pprof-pipeline[cost]', or set PPROF_PYTHON",
        ppi_tool_python());
  else
    ppi_tool_say("%s%s%s: %s", who, *who ? " " : "", path, error.text);
  return status == PPROF_STATUS_INVALID ? PPI_EXIT_USAGE : PPI_EXIT_INPUT;
}

// SPDX-License-Identifier: Apache-2.0
//
// Reads models' costs from options or the run's configuration.
#include "verb/costs.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch/python.h"
#include "names/glob.h"
#include "verb/thresholds.h"
#include "yaml/yaml_tree.h"

// The wanted costs: from options, or from the configuration of a run.
struct asked {
  const char *who;  // in messages
  const char *models, *dims;
};

static void take_total(void *user, char *const *words, size_t num) {
  ppi_stage_cost *out = user;
  if (num != 6) return;
  out->flops = strtod(words[1], NULL);
  out->bytes = strtod(words[2], NULL);
  out->params = strtod(words[3], NULL);
  out->at_least = words[4][0] == '1';
  if (strcmp(words[5], "mixed") != 0)
    snprintf(out->type, sizeof out->type, "%s", words[5]);
}

static int count(const struct asked *asked, const char *path,
                 ppi_stage_cost *out) {
  const char *const words[] = {path, asked->dims ? asked->dims : "", NULL};
  ppi_buffer text = {0};
  int code = ppi_tool_model_ask(asked->who, words, NULL, &text,
                                (ppi_model_words){take_total, out});
  ppi_buffer_clear(&text);
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
  const char *name = ppi_base_name(path);
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

static bool fits_any(const ppi_figures *figures, const char *glob) {
  size_t i = 0;
  while (i < figures->num_names &&
         !ppi_glob_match(glob, figures->names[i].name))
    i++;
  return i < figures->num_names;
}

static void say_unused(const ppi_figures *figures,
                       const struct ppi_tool_costs *costs) {
  for (size_t i = 0; i < costs->peaks.num; i++) {
    const ppi_peak *peak = &costs->peaks.items[i];
    if (!fits_any(figures, peak->glob))
      ppi_tool_say("no stage is called '%s': the peak of %s is for none",
                   peak->glob, peak->type);
  }
  for (size_t i = 0; i < costs->costs.num; i++) {
    const ppi_stage_cost *cost = &costs->costs.items[i];
    if (costs->rooflines.is_used[i]) continue;
    ppi_tool_say("no stage is called '%s': %s:STAGE names one", cost->glob,
                 cost->model);
  }
}

int ppi_tool_costs_take(const struct ppi_tool_options *options,
                        const pprof_report *report, struct ppi_tool_costs *out,
                        ppi_findings_options *findings) {
  const ppi_figures *figures = ppi_report_figures(report);
  struct texts texts;
  *out = (struct ppi_tool_costs){.peaks.num = 0};
  ppi_tool_thresholds_read(options->threshold, findings);
  if (!figures) return PPI_EXIT_DONE;  // the writer of the report says so
  texts_of(figures, &texts);
  int code = take(options, &texts, out);
  ppi_page_clear(&texts.models);
  ppi_page_clear(&texts.dims);
  ppi_page_clear(&texts.peaks);
  const ppi_report_options how = {.peaks = &out->peaks, .costs = &out->costs};
  if (code != PPI_EXIT_DONE) return code;
  if (ppi_stage_rooflines(figures, &how, &out->rooflines) != PPROF_STATUS_OK)
    ppi_tool_must(NULL);
  findings->rooflines = out->rooflines.items;
  findings->num_rooflines = out->rooflines.num;
  say_unused(figures, out);
  return code;
}

// ---- Python's answer ----

static int refuse(const char *who, const char *text, bool is_usage) {
  return ppi_tool_fail(is_usage ? PPI_EXIT_USAGE : PPI_EXIT_INPUT, "%s%s%s",
                       who, *who ? " " : "", text);
}

static int read_lines(const char *who, ppi_buffer *text, ppi_model_words to) {
  char *words[PPI_PYTHON_WORDS];
  ppi_buffer_bytes(text, "", 1);
  for (char *next = text->failed ? NULL : (char *)text->data; next;) {
    size_t num = ppi_tool_python_split(strsep(&next, "\n"), words);
    if (num == 3 && strcmp(words[0], "error") == 0)
      return refuse(who, words[2], strcmp(words[1], "usage") == 0);
    if (num == 1 && strcmp(words[0], "end") == 0) return PPI_EXIT_DONE;
    if (num > 1) to.take(to.user, words, num);
  }
  if (text->failed) ppi_tool_must(NULL);
  return ppi_tool_fail(
      PPI_EXIT_INPUT,
      "'%s' has no pprof and onnx for Python 3.9: python3 -m pip install "
      "'pprof-pipeline[cost]', or set PPROF_PYTHON",
      ppi_tool_python());
}

int ppi_tool_model_ask(const char *who, const char *const *words, FILE *input,
                       ppi_buffer *text, ppi_model_words to) {
  ppi_tool_python_read("pprof._model", words, input, text);
  return read_lines(who, text, to);
}

static ppi_cell visible_cell(ppi_view *view, const char *text) {
  ppi_page page = {0};
  ppi_page_visible(&page, text);
  const char *made = page.failed ? NULL : ppi_view_text(view, "%s", page.bytes);
  ppi_page_clear(&page);
  return ppi_cell_text(ppi_tool_must((char *)made));
}

ppi_cell ppi_tool_cell_of(ppi_view *view, const char *word) {
  char *end;
  switch (*word) {
    case 't':
      return ppi_cell_text(word + 1);
    case 'v':
      return visible_cell(view, word + 1);
    case 'i':
      return ppi_cell_signed(strtoll(word + 1, NULL, 10));
    case 'n':
      return ppi_cell_time(strtoull(word + 1, NULL, 10));
    case 'd':
      return ppi_cell_decimal(strtod(word + 1, NULL));
    case 'r': {
      int64_t part = strtoll(word + 1, &end, 10);
      return ppi_cell_ratio(part, *end ? strtoull(end + 1, NULL, 10) : 0);
    }
    default:
      return (ppi_cell){0};
  }
}

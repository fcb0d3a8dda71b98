// SPDX-License-Identifier: Apache-2.0
#include "verb/costs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/say.h"
#include "cost/count/count.h"
#include "cost/table/groups.h"

static int fail(const char *path, pprof_status status,
                const pprof_error *error) {
  ppi_tool_say("--cost %s: %s", path, error->text);
  return status == PPROF_STATUS_INVALID ? PPI_EXIT_USAGE : PPI_EXIT_INPUT;
}

static void take_figures(ppi_cost *cost, ppi_stage_cost *out) {
  ppi_cost_figures all = {0};
  for (size_t i = 0; i < cost->num_rows; i++)
    ppi_cost_add(&all, &cost->rows[i]);
  out->flops = (double)all.flops.value;
  out->bytes = (double)all.in_bytes.value + (double)all.weight_bytes.value +
               (double)all.out_bytes.value;
  out->params = (double)all.params.value;
  out->at_least = all.flops.at_least;
  if (all.type > 0)
    snprintf(out->type, sizeof out->type, "%s", ppi_type_name(all.type));
}

static int count(const char *path, ppi_wanted_dims *dims, ppi_stage_cost *out) {
  pprof_error error = {""};
  ppi_model model;
  ppi_cost cost;
  pprof_status status = ppi_model_open(path, &model, &error);
  if (status) return fail(path, status, &error);
  status = ppi_cost_count(&model, dims, &cost, &error);
  int code = status ? fail(path, status, &error) : PPI_EXIT_DONE;
  if (!status) take_figures(&cost, out);
  ppi_cost_clear(&cost);
  ppi_model_close(&model);
  return code;
}

// A file's name may have a colon; what stands behind the last one is a stage
// where the whole is no file.
static int read_one(const char *text, size_t len, ppi_wanted_dims *dims,
                    ppi_stage_costs *out) {
  char path[PATH_MAX];
  ppi_stage_cost *to = &out->items[out->num];
  if (len >= sizeof path || out->num == PPI_MAX_COSTS) {
    ppi_tool_say("--cost takes %d models at most", PPI_MAX_COSTS);
    return PPI_EXIT_USAGE;
  }
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
  int code = count(path, dims, to);
  if (code == PPI_EXIT_DONE) out->num++;
  return code;
}

int ppi_tool_costs_read(const char *text, const char *dims,
                        ppi_stage_costs *out) {
  ppi_wanted_dims wanted;
  pprof_error error = {""};
  int code = PPI_EXIT_DONE;
  out->num = 0;
  if (!text) return code;
  if (ppi_dims_parse(dims, &wanted, &error)) {
    ppi_tool_say("%s", error.text);
    code = PPI_EXIT_USAGE;
  }
  while (text && code == PPI_EXIT_DONE) {
    size_t len = strcspn(text, ",");
    code = read_one(text, len, &wanted, out);
    text = text[len] ? text + len + 1 : NULL;
  }
  ppi_dims_clear(&wanted);
  return code;
}

// SPDX-License-Identifier: Apache-2.0
//
// Joins a stage with its cost in a model and its device's peak.
#include "view/stage_cost.h"

#include <string.h>

#include "names/glob.h"
#include "view/time_unit.h"

const ppi_stage_cost *ppi_stage_cost_find(const ppi_stage_costs *costs,
                                          const char *name) {
  for (size_t i = 0; costs && i < costs->num; i++)
    if (ppi_glob_match(costs->items[i].glob, name)) return &costs->items[i];
  return NULL;
}

// Peaks as the makers publish them: dense, in TFLOP/s; memory in TB/s. 0: not
// known here, which is better than wrong. A longer name stands before the names
// that it contains. Sources: docs/cost.md.
static const struct {
  const char *name;
  double f32, tf32, f16, fp8, int8, bytes;
} devices[] = {
    {"A100-SXM4-40GB", 19.5, 156, 312, 0, 624, 1.555},
    {"A100-PCIE-40GB", 19.5, 156, 312, 0, 624, 1.555},
    {"A100 80GB PCIe", 19.5, 156, 312, 0, 624, 1.935},
    {"A100-SXM4-80GB", 19.5, 156, 312, 0, 624, 2.039},
    {"H200 NVL", 0, 0, 0, 0, 0, 0},  // slower than the other
    {"H200", 67, 495, 989, 1979, 1979, 4.8},
    {"H100 80GB HBM3", 67, 495, 989, 1979, 1979, 3.35},
    {"L40S", 91.6, 183, 362, 733, 0, 0.864},
    {"GB200", 0, 0, 0, 0, 0, 0},  // faster than the other
    {"B200", 0, 0, 2250, 4500, 4500, 8},
    {"MI300X", 0, 0, 1307, 0, 0, 5.3},
};

ppi_roof ppi_roof_of(const char *device, const char *type) {
  ppi_roof roof = {0, 0};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    if (!strstr(device, devices[i].name)) continue;
    double flops = strcmp(type, "f32") == 0    ? devices[i].f32
                   : strcmp(type, "tf32") == 0 ? devices[i].tf32
                   : strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0
                       ? devices[i].f16
                   : strcmp(type, "fp8") == 0  ? devices[i].fp8
                   : strcmp(type, "int8") == 0 ? devices[i].int8
                                               : 0;
    roof.flops = flops * 1e12;
    roof.bytes = devices[i].bytes * 1e12;
    break;
  }
  return roof;
}

static void put_number(ppi_page *page, double value, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  for (; value >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes; i++)
    value /= 1000;
  ppi_page_three(page, value);
  ppi_page_format(page, " %s%s", prefixes[i], unit);
}

static void put_bound(ppi_page *page, const ppi_roofline_reported *reported) {
  bool by_memory = reported->intensity < reported->ridge;
  ppi_page_text(page, by_memory ? "  Memory-bound: " : "  Compute-bound: ");
  ppi_page_three(page, by_memory ? reported->ridge / reported->intensity
                                 : reported->intensity / reported->ridge);
  ppi_page_format(page, " times %s the ridge of ",
                  by_memory ? "below" : "above");
  ppi_page_three(page, reported->ridge);
  ppi_page_text(page, " FLOP/B; it reaches ");
  ppi_page_three(page, reported->reach);
  ppi_page_text(page, " % of what that allows.\n");
}

static void put_call(ppi_page *page, const ppi_stage_cost *cost,
                     const char *stage) {
  ppi_page_visible(page, stage);
  ppi_page_text(page, ", by ");
  ppi_page_visible(page, cost->model);
  ppi_page_text(page, cost->at_least ? ": at least " : ": ");
  put_number(page, cost->flops, "FLOP");
  ppi_page_format(page, " %s%sa call, ", cost->type, *cost->type ? " " : "");
  put_number(page, cost->bytes, "B");
  ppi_page_text(page, " if nothing is fused, ");
  ppi_page_three(page, cost->bytes > 0 ? cost->flops / cost->bytes : 0);
  ppi_page_text(page, " FLOP/B.\n");
}

void ppi_roofline_put(ppi_page *page, const ppi_stage_cost *cost,
                      const ppi_roofline *roofline) {
  const ppi_roofline_reported reported = ppi_roofline_tell(roofline);
  put_call(page, cost, roofline->stage);
  if (!(reported.rate > 0)) return;
  ppi_page_text(page, "  ");
  put_number(page, reported.rate, "FLOP/s of its own time");
  if (!(roofline->peak_flops > 0)) {
    ppi_page_text(page, "; no peak is known, --peak TYPE=FLOPS says it.\n");
    return;
  }
  ppi_page_text(page, ": MFU ");
  ppi_page_three(page, reported.mfu);
  ppi_page_text(page, " %, of the wall ");
  ppi_page_three(page, reported.wall_mfu);
  ppi_page_text(page, " %, of ");
  put_number(page, roofline->peak_flops, "FLOP/s.\n");
  if (reported.reach > 0)
    put_bound(page, &reported);
  else
    ppi_page_text(page,
                  "  Its roofline needs --peak bytes=B, bytes a second.\n");
}

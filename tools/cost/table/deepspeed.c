// SPDX-License-Identifier: Apache-2.0
//
// Prints a model's cost in the layout of DeepSpeed's FLOPS profiler.
#include "cost/table/deepspeed.h"

#include <string.h>

enum { WIDTH = 86, LABEL = 50 };

typedef enum what { PARAMS = 0, MACS, LATENCY, NUM_WHATS } what;

typedef struct writing {
  ppi_page *page;
  const ppi_cost_groups *modules;
  bool is_timed;
} writing;

// ---- numbers: two decimals, without zeros at their end ----

static void put_short(ppi_page *page, double value) {
  char digits[64];
  snprintf(digits, sizeof digits, "%.2f", value);
  size_t len = strlen(digits);
  while (len && digits[len - 1] == '0') len--;
  if (len && digits[len - 1] == '.') len--;
  ppi_page_bytes(page, digits, len);
}

static void put_scaled(ppi_page *page, double value, const char *unit) {
  static const char *const prefixes[] = {"", "K", "M", "G", "T", "P", "E"};
  size_t i = 0;
  for (; value >= 1000 && i + 1 < sizeof prefixes / sizeof *prefixes; i++)
    value /= 1000;
  put_short(page, value);
  if (*unit || i) ppi_page_format(page, " %s%s", prefixes[i], unit);
}

static void put_latency(ppi_page *page, double ns) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  size_t i = 0;
  for (; ns >= 1000 && i < 3; i++) ns /= 1000;
  put_short(page, ns);
  ppi_page_format(page, " %s", units[i]);
}

static double amount_of(const ppi_cost_figures *figures, what kind) {
  return kind == PARAMS ? (double)figures->params.value
         : kind == MACS ? (double)figures->macs.value
                        : figures->ns;
}

static void put_amount(ppi_page *page, const ppi_cost_figures *figures,
                       what kind) {
  if ((kind == PARAMS && figures->params.at_least) ||
      (kind == MACS && figures->macs.at_least))
    ppi_page_text(page, ">=");
  if (kind == LATENCY)
    put_latency(page, figures->ns);
  else
    put_scaled(page, amount_of(figures, kind), kind == MACS ? "MACs" : "");
}

static void put_rate(ppi_page *page, const ppi_cost_figures *figures) {
  double ns = figures->ns;
  put_scaled(page, ns > 0 ? 1e9 * figures->timed_flops / ns : 0, "FLOPS");
}

// ---- the parts of the page ----

static void put_heading(ppi_page *page, const char *heading) {
  size_t len = strlen(heading) + 2, left = (WIDTH - len) / 2;
  ppi_page_text(page, "\n");
  ppi_page_repeat(page, '-', left);
  ppi_page_format(page, " %s ", heading);
  ppi_page_repeat(page, '-', WIDTH - len - left);
  ppi_page_text(page, "\n");
}

static void put_label(ppi_page *page, const char *label) {
  ppi_page_text(page, label);
  ppi_page_repeat(page, ' ', LABEL - strlen(label));
}

static void put_step(const writing *to, const ppi_cost_times *times) {
  ppi_page *page = to->page;
  ppi_page_text(page, "Profile Summary");
  if (times->is_there && times->step >= 0)
    ppi_page_format(page, " at step %ld", times->step);
  else if (times->num_chosen)
    ppi_page_format(page, " of a mean step, of %zu", times->num_chosen);
  ppi_page_text(page, ":\n");
}

static void put_summary(const writing *to, const ppi_cost_times *times) {
  ppi_page *page = to->page;
  const ppi_cost_figures *all = &to->modules->all;
  put_heading(page, "Flops Profile");
  put_step(to, times);
  put_label(page, "params:");
  put_amount(page, all, PARAMS);
  put_label(page, "\nfwd MACs:");
  ppi_page_text(page, " ");
  put_amount(page, all, MACS);
  put_label(page, "\nfwd flops:");
  ppi_page_text(page, all->flops.at_least ? " >=" : " ");
  put_scaled(page, (double)all->flops.value, "");
  if (to->is_timed) {
    put_label(page, "\nfwd latency:");
    ppi_page_text(page, " ");
    put_latency(page, times->run_ns > 0 ? times->run_ns : all->ns);
    put_label(page, "\nfwd FLOPS = fwd flops / fwd latency:");
    ppi_page_text(page, " ");
    double ns = times->run_ns > 0 ? times->run_ns : all->ns;
    put_scaled(page, 1e9 * (double)all->flops.value / ns, "FLOPS");
  }
  ppi_page_text(page, "\n");
}

static const char *name_of(const ppi_cost_group *group) {
  return group->level ? group->name : "model";
}

// The greatest group of a depth that comes after `last` (NULL: any); of equal
// groups the first.
static const ppi_cost_group *next_of(const writing *to, size_t level, what kind,
                                     const ppi_cost_group *last) {
  const ppi_cost_group *found = NULL;
  for (size_t i = 0; i < to->modules->num; i++) {
    const ppi_cost_group *group = &to->modules->items[i];
    double own = amount_of(&group->figures, kind);
    double before = last ? amount_of(&last->figures, kind) : 0;
    bool comes = !last || own < before || (own == before && group > last);
    if (group->level != level || !comes) continue;
    if (!found || own > amount_of(&found->figures, kind)) found = group;
  }
  return found;
}

static void put_depth(const writing *to, size_t level, long top) {
  static const char *const labels[] = {"params      - ", "MACs        - ",
                                       "fwd latency - "};
  ppi_page_format(to->page, "depth %zu:\n", level);
  for (what kind = PARAMS; kind < (to->is_timed ? NUM_WHATS : LATENCY);
       kind++) {
    const ppi_cost_group *group = NULL;
    ppi_page_format(to->page, "    %s{", labels[kind]);
    for (long i = 0; i < top; i++) {
      group = next_of(to, level, kind, group);
      if (!group) break;
      ppi_page_text(to->page, i ? ", '" : "'");
      ppi_page_visible(to->page, level ? group->module : "model");
      ppi_page_text(to->page, "': '");
      put_amount(to->page, &group->figures, kind);
      ppi_page_text(to->page, "'");
    }
    ppi_page_text(to->page, "}\n");
  }
}

static void put_aggregated(const writing *to, long top) {
  size_t deepest = 0;
  put_heading(to->page, "Aggregated Profile");
  ppi_page_format(to->page,
                  "Top %ld modules in terms of params, MACs%s at different "
                  "model depths:\n",
                  top, to->is_timed ? " or fwd latency" : "");
  for (size_t i = 0; i < to->modules->num; i++)
    if (to->modules->items[i].level > deepest)
      deepest = to->modules->items[i].level;
  for (size_t level = 0; level <= deepest; level++) put_depth(to, level, top);
}

static void put_part(const writing *to, const ppi_cost_figures *figures,
                     what kind) {
  static const char *const names[] = {"Params", "MACs", "latency"};
  double all = amount_of(&to->modules->all, kind);
  put_amount(to->page, figures, kind);
  ppi_page_text(to->page, " = ");
  put_short(to->page, all > 0 ? 100 * amount_of(figures, kind) / all : 0);
  ppi_page_format(to->page, "%% %s", names[kind]);
}

static void put_profile(const writing *to, const ppi_cost_figures *figures) {
  put_part(to, figures, PARAMS);
  ppi_page_text(to->page, ", ");
  put_part(to, figures, MACS);
  if (!to->is_timed) return;
  ppi_page_text(to->page, ", ");
  put_part(to, figures, LATENCY);
  ppi_page_text(to->page, ", ");
  put_rate(to->page, figures);
}

// Groups with inner groups have their figures on a line of their own.
static void put_tree(const writing *to) {
  const ppi_cost_groups *all = to->modules;
  for (size_t i = 0; i < all->num; i++) {
    const ppi_cost_group *group = &all->items[i];
    size_t next = i + 1 < all->num ? all->items[i + 1].level : 0;
    ppi_page_repeat(to->page, ' ', 2 * group->level);
    ppi_page_text(to->page, group->level ? "(" : "");
    ppi_page_visible(to->page, name_of(group));
    ppi_page_text(to->page, group->level ? "): (" : "(");
    if (next > group->level) {
      ppi_page_text(to->page, "\n");
      ppi_page_repeat(to->page, ' ', 2 * group->level + 2);
    }
    put_profile(to, &group->figures);
    ppi_page_text(to->page, next > group->level ? "\n" : ")\n");
    for (size_t level = group->level; level > next; level--) {
      ppi_page_repeat(to->page, ' ', 2 * (level - 1));
      ppi_page_text(to->page, ")\n");
    }
  }
}

void ppi_cost_deepspeed(ppi_page *page, const ppi_cost *cost,
                        const ppi_cost_groups *modules, long top) {
  const writing to = {page, modules, modules->all.num_timed > 0};
  put_summary(&to, &cost->times);
  put_aggregated(&to, top > 0 ? top : 1);
  put_heading(page, "Detailed Profile");
  ppi_page_text(page,
                "Each module profile is listed after its name in the following "
                "order:\nparams, percentage of total params, MACs, percentage "
                "of total MACs");
  ppi_page_text(page, to.is_timed
                          ? ", fwd latency, percentage\nof total fwd latency, "
                            "fwd FLOPS\n\n"
                          : "\n\n");
  put_tree(&to);
}

// SPDX-License-Identifier: Apache-2.0
//
// Compares the clocks, quotas and neighbours of two inputs.
#include "compare/compare_machine.h"

#include <math.h>

#include "cli/say.h"

// Smaller differences are noise: of clocks, of shares of the time, of
// processors.
#define CLOCKS_DIFFER 0.03
#define SHARES_DIFFER 0.05
#define OTHERS_DIFFER 0.5

void ppi_compare_machine_begin(ppi_compare_machine *machine) {
  for (int i = 0; i < PPI_COMPARE_DEVICES; i++)
    machine->clocks[i].has_last = false;
  machine->throttled.has_last = machine->others.has_last = false;
}

static void take(ppi_compare_level *level, const pprof_event *event,
                 bool grows) {
  if (level->has_last && event->start_ns > level->last_ns) {
    double ns = (double)(event->start_ns - level->last_ns);
    level->sum += grows ? event->value - level->last : level->last * ns;
    level->ns += ns;
  }
  level->has_last = true;
  level->last_ns = event->start_ns;
  level->last = event->value;
}

void ppi_compare_machine_take(ppi_compare_machine *machine, const char *name,
                              const pprof_event *event) {
  unsigned device;
  char what[16];
  if (strcmp(name, "cgroup.throttled_us") == 0)
    take(&machine->throttled, event, true);
  else if (strcmp(name, "processors.others_us") == 0)
    take(&machine->others, event, true);
  else if (sscanf(name, "gpu:%u.%15s", &device, what) == 2 &&
           device < PPI_COMPARE_DEVICES && strcmp(what, "sm_mhz") == 0)
    take(&machine->clocks[device], event, false);
}

double ppi_compare_clock(const ppi_compare_machine *machine) {
  double sum = 0, ns = 0;
  for (int i = 0; i < PPI_COMPARE_DEVICES; i++) {
    sum += machine->clocks[i].sum;
    ns += machine->clocks[i].ns;
  }
  return ns > 0 ? sum / ns : 0;
}

// The share of the time, from us and ns; < 0: unknown.
static double share_of(const ppi_compare_level *level) {
  return level->ns > 0 ? 1e3 * level->sum / level->ns : -1;
}

bool ppi_compare_clock_differs(const ppi_compare_machine *a,
                               const ppi_compare_machine *b, char *to,
                               size_t size) {
  double of_a = ppi_compare_clock(a), of_b = ppi_compare_clock(b);
  if (!(of_a > 0) || !(of_b > 0) || fabs(of_b / of_a - 1) < CLOCKS_DIFFER)
    return false;
  snprintf(to, size, "%.0f %% %s clocks", 100 * fabs(of_b / of_a - 1),
           of_b < of_a ? "lower" : "higher");
  return true;
}

static bool differ(double a, double b, double by) {
  return a >= 0 && b >= 0 && fabs(a - b) > by;
}

void ppi_compare_machine_note(const ppi_compare_machine *a,
                              const ppi_compare_machine *b, const char *b_name,
                              ppi_page *notes) {
  char clocks[64];
  if (ppi_compare_clock_differs(a, b, clocks, sizeof clocks))
    ppi_tool_put(notes, "%s ran at %s: %.0f against %.0f MHz\n", b_name, clocks,
                 ppi_compare_clock(b), ppi_compare_clock(a));
  double of_a = share_of(&a->throttled), of_b = share_of(&b->throttled);
  if (differ(of_a, of_b, SHARES_DIFFER))
    ppi_tool_put(notes,
                 "%s was throttled by its cgroup for %.0f %% of the time, the "
                 "base for %.0f %%\n",
                 b_name, 100 * of_b, 100 * of_a);
  of_a = share_of(&a->others);
  of_b = share_of(&b->others);
  if (differ(of_a, of_b, OTHERS_DIFFER))
    ppi_tool_put(notes,
                 "%s ran while other processes took %.1f processors, the base "
                 "while they took %.1f\n",
                 b_name, of_b, of_a);
}

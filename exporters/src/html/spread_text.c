// SPDX-License-Identifier: Apache-2.0
//
// Writes distributions of stages for the page.
#include "html/spread_text.h"

#include <stdlib.h>

#include "base/mem.h"
#include "file/json_put.h"

enum { MOST = 150 };

typedef struct one {
  const ppi_report_name *name;
  bool on_device;
  const ppi_spread *spread;
} one;

// The class of a length: eight in an octave, from 0 for 1 ns.
static size_t class_of(uint64_t ns) {
  if (ns < 2) return 0;
  unsigned octave = 63u - (unsigned)__builtin_clzll(ns);
  uint64_t eighths = octave < 3 ? ns << (3 - octave) : ns >> (octave - 3);
  return 8 * octave + (eighths & 7);
}

void ppi_spread_count(uint64_t counts[PPI_SPREAD_CLASSES], uint64_t ns,
                      uint64_t num) {
  counts[class_of(ns)] += num;
}

void ppi_spread_put_counts(ppi_page *page, const char *name,
                           const uint64_t counts[PPI_SPREAD_CLASSES]) {
  ppi_put_array(page, name);
  for (size_t i = 0; i < PPI_SPREAD_CLASSES; i++) {
    if (!counts[i]) continue;
    ppi_put_array(page, NULL);
    PPI_PUT_NUMBERS(page, i, counts[i]);
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]");
}

void ppi_spread_put_name(ppi_page *page, const char *key, const char *name,
                         size_t most_bytes) {
  size_t len = strnlen(name, most_bytes);
  char *cut = ppi_alloc(len + 1);
  if (cut)
    ppi_put_text(page, key, memcpy(cut, name, len));
  else
    page->failed = true;
  ppi_free(cut);
}

static void count(void *context, uint64_t value, uint64_t num) {
  ppi_spread_count(context, value, num);
}

static void put_counts(ppi_page *page, const char *name,
                       const ppi_histogram *times) {
  uint64_t counts[PPI_SPREAD_CLASSES] = {0};
  ppi_histogram_each(times, count, counts);
  ppi_spread_put_counts(page, name, counts);
}

static void put_one(ppi_page *page, const one *of, size_t most) {
  const ppi_report_name *name = of->name;
  ppi_put_object(page, NULL);
  ppi_spread_put_name(page, "name", name->name, most);
  ppi_put_text(page, "category", name->category_name);
  ppi_put_text(page, "timed", of->on_device ? "device" : "host");
  put_counts(page, "all",
             of->on_device ? &name->device_times : &name->host_times);
  put_counts(page, "steady",
             of->on_device ? &name->device_phases.steady_times
                           : &name->host_phases.steady_times);
  ppi_page_text(page, "}");
}

PPI_ORDER(compare, one, PPI_DOWN(spread->sum) PPI_UP(name) PPI_UP(on_device))

pprof_status ppi_spreads_put(ppi_page *page, const ppi_figures *figures,
                             size_t most) {
  size_t num = 0;
  one *all = ppi_alloc((2 * figures->num_names + 1) * sizeof *all);
  if (!all) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < figures->num_names; i++) {
    const ppi_report_name *name = &figures->names[i];
    if (name->host_times.n) all[num++] = (one){name, false, &name->host};
    if (name->device_times.n) all[num++] = (one){name, true, &name->device};
  }
  qsort(all, num, sizeof *all, compare);
  ppi_put_line(page);
  ppi_put_array(page, "spreads");
  for (size_t i = 0; i < PPI_MIN(num, (size_t)MOST); i++) {
    if (i) ppi_put_line(page);
    put_one(page, &all[i], most);
  }
  ppi_page_text(page, "]");
  ppi_free(all);
  return PPROF_STATUS_OK;
}

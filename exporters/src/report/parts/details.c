// SPDX-License-Identifier: Apache-2.0
//
// Counts names by thread and parts of operators, which a report has on demand.
#include "report/parts/details.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/keyed.h"
#include "report/figures/rows.h"

ppi_run_row *ppi_run_thread_row_of(ppi_details *details, ppi_run_thread *thread,
                                   uint32_t site) {
  const ppi_run_thread_row fresh = {.thread = thread, .site = site};
  ppi_run_thread_row *row = ppi_keyed_mapped(
      PPI_KEYED(details->thread_rows, details->num_thread_rows,
                details->thread_rows_capacity),
      &details->thread_row_numbers, (ppi_map_key){thread->index, site}, &fresh);
  return row ? &row->row : NULL;
}

ppi_run_part *ppi_run_part_of(ppi_details *details, ppi_run_thread *thread,
                              const ppi_run_part *key) {
  bool by_thread = details->by_thread;
  const ppi_map_key numbers = {
      (uint64_t)(by_thread ? thread->index : 0) << 32 | key->op,
      (uint64_t)key->child << 32 | key->launch};
  ppi_run_part fresh = *key;
  fresh.thread = by_thread ? thread : NULL;
  return ppi_keyed_mapped(
      PPI_KEYED(details->parts, details->num_parts, details->parts_capacity),
      &details->part_numbers, numbers, &fresh);
}

// ---- threads that are summed up ----

static void merge_devices(ppi_device_spreads *into,
                          const ppi_device_spreads *from) {
  ppi_spread_merge(&into->all, &from->all);
  ppi_spread_merge(&into->unpaired, &from->unpaired);
  ppi_spread_merge(&into->kernels, &from->kernels);
  ppi_spread_merge(&into->general, &from->general);
}

// Adds each spread that a report may choose to show for the row.
static bool sum_row(ppi_run_row *into, ppi_run_row *from) {
  if (!from->is_sum) ppi_device_spreads_complete(&from->inside, &from->host);
  ppi_spread_merge(&into->host, &from->host);
  ppi_spread_merge(&into->submit, &from->submit);
  ppi_spread_merge(&into->own, &from->own);
  if (!from->has_pairs) merge_devices(&into->inside, &from->inside);
  into->self_ns += from->self_ns;
  into->is_sum = true;
  return ppi_histogram_merge(&into->host_times, &from->host_times);
}

static bool sum_rows(ppi_details *details, ppi_run_thread *left) {
  size_t num = details->num_thread_rows;
  ppi_run_thread_row *rows = details->thread_rows;
  bool done = true;
  ppi_map_clear(&details->thread_row_numbers);
  details->thread_rows = NULL;
  details->num_thread_rows = details->thread_rows_capacity = 0;
  for (size_t i = 0; i < num; i++) {
    bool is_left = rows[i].thread->is_swept;
    ppi_run_row *row =
        done ? ppi_run_thread_row_of(details, is_left ? left : rows[i].thread,
                                     rows[i].site)
             : NULL;
    if (!row) done = false;
    if (row && !is_left) {
      *row = rows[i].row;
      continue;
    }
    if (row) done = sum_row(row, &rows[i].row);
    ppi_histogram_clear(&rows[i].row.host_times);
  }
  ppi_free(rows);
  return done;
}

static bool sum_parts(ppi_details *details, ppi_run_thread *left) {
  size_t num = details->num_parts;
  ppi_run_part *parts = details->parts;
  bool done = true;
  ppi_map_clear(&details->part_numbers);
  details->parts = NULL;
  details->num_parts = details->parts_capacity = 0;
  for (size_t i = 0; i < num && done; i++) {
    const ppi_run_part key = {
        .op = parts[i].op, .child = parts[i].child, .launch = parts[i].launch};
    bool is_left = parts[i].thread->is_swept;
    ppi_run_part *part =
        ppi_run_part_of(details, is_left ? left : parts[i].thread, &key);
    if (!part) done = false;
    if (!part) break;
    ppi_spread_merge(&part->host, &parts[i].host);
    merge_devices(&part->device, &parts[i].device);
  }
  ppi_free(parts);
  return done;
}

bool ppi_run_sum_details(ppi_details *details, ppi_run_thread *left) {
  if (!details->by_thread) return true;
  return sum_rows(details, left) && sum_parts(details, left);
}

static char *site_name(ppi_run_ids *ids, uint32_t id) {
  const ppi_run_site *site = id ? ppi_run_site_at(ids, id) : NULL;
  return site ? site->name : "";
}

static uint64_t number_of(const ppi_run_thread *thread) {
  return thread->is_summed ? PPI_REPORT_LEFT_THREADS : thread->number;
}

// Lanes of the process and of devices have the number 0.
static char *called(const ppi_run_thread *thread) {
  static char none[] = "";
  bool has_name = thread->name && thread->number && !thread->is_summed;
  return has_name ? thread->name : none;
}

static bool note_threads(const ppi_details *details, const ppi_run_ids *ids,
                         ppi_figures *out) {
  if (!ids->num_summed_threads || !details->by_thread) return true;
  return ppi_figures_say(
      out, "threads",
      "%llu that have left have one row together, <left threads>",
      (unsigned long long)ids->num_summed_threads);
}

static bool fill_threads(ppi_details *details, ppi_run_ids *ids, char *process,
                         ppi_figures *out) {
  size_t num = details->num_thread_rows;
  ppi_report_thread_name *rows = ppi_alloc((num + 1) * sizeof *rows);
  bool done = rows;
  for (size_t i = 0; i < num && done; i++) {
    ppi_run_thread_row *from = &details->thread_rows[i];
    const ppi_run_site *site = ppi_run_site_at(ids, from->site);
    done = site;
    if (!done) break;
    rows[i] = (ppi_report_thread_name){
        .process = process,
        .thread = number_of(from->thread),
        .called = called(from->thread),
        .name = site->name,
        .category_name = site->place->name,
        .category = ppi_portable_category(site->category),
        .host = from->row.host,
        .submit = from->row.submit,
        .inside = ppi_run_inside(ids, &from->row),
        .host_times = from->row.host_times,
        .self_ns = from->row.self_ns};
  }
  done = done && ppi_figures_add_rows(out, PPI_FIGURES_threads, rows, num);
  ppi_free(rows);
  return done;
}

// In a run with kernels, only kernels, copies and sets have device times.
static bool is_shown(ppi_run_ids *ids, const ppi_run_part *part) {
  const ppi_run_site *site =
      part->launch ? ppi_run_site_at(ids, part->launch) : NULL;
  return !site || !ids->has_kernels ||
         ppi_device_class_of(site->category) != PPI_DEVICE_OTHER;
}

static bool fill_parts(ppi_details *details, ppi_run_ids *ids, char *process,
                       ppi_figures *out) {
  ppi_report_part *rows = ppi_alloc((details->num_parts + 1) * sizeof *rows);
  size_t num = 0;
  for (size_t i = 0; i < details->num_parts && rows; i++) {
    const ppi_run_part *part = &details->parts[i];
    if (is_shown(ids, part))
      rows[num++] = (ppi_report_part){
          .process = part->thread ? process : "",
          .thread = part->thread ? number_of(part->thread) : 0,
          .op = site_name(ids, part->op),
          .child = site_name(ids, part->child),
          .launch = site_name(ids, part->launch),
          .host = part->host,
          .device = *ppi_run_for_names(ids, &part->device)};
  }
  bool done = rows && ppi_figures_add_rows(out, PPI_FIGURES_parts, rows, num);
  ppi_free(rows);
  return done;
}

bool ppi_run_fill_details(ppi_details *details, ppi_run_ids *ids,
                          ppi_figures *out) {
  size_t size = strlen(ids->input.host) + strlen(ids->input.pid) + 2;
  char *process = ppi_alloc(size);
  if (!process) return false;
  snprintf(process, size, "%s %s", ids->input.host, ids->input.pid);
  bool done = fill_threads(details, ids, process, out) &&
              fill_parts(details, ids, process, out) &&
              note_threads(details, ids, out);
  ppi_free(process);
  return done;
}

void ppi_run_clear_details(ppi_details *details) {
  for (size_t i = 0; i < details->num_thread_rows; i++)
    ppi_histogram_clear(&details->thread_rows[i].row.host_times);
  ppi_map_clear(&details->thread_row_numbers);
  ppi_map_clear(&details->part_numbers);
  ppi_free(details->thread_rows);
  ppi_free(details->parts);
}

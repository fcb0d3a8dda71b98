// SPDX-License-Identifier: Apache-2.0
//
// Numbers site names in a run that reuses ids. Each name has one number: its
// id, until the first id is given to another name.
#include "report/parts/sites.h"

#include <string.h>

#include "base/mem.h"
#include "event/columns.h"
#include "event/recorded_wait.h"
#include "report/figures/rows.h"

#define OTHER_NAME "<other>"

uint32_t ppi_run_fold_of(const pprof_definition *definition) {
  return definition->number < PPI_RUN_MAX_ID ? (uint32_t)definition->number : 0;
}

// A shape may fold into a wider one, and no further.
#define MOST_FOLDS 4

uint32_t ppi_run_root(const ppi_run_ids *ids, uint32_t id) {
  for (int i = 0; i < MOST_FOLDS; i++) {
    const ppi_run_site *site =
        id < ids->sites.num ? ids->sites.items[id] : NULL;
    uint32_t fold = site ? site->fold : 0;
    const ppi_run_site *into =
        fold && fold < ids->sites.num ? ids->sites.items[fold] : NULL;
    if (!into || !into->name || into->category != site->category) break;
    id = fold;
  }
  return id;
}

bool ppi_run_fold_sites(ppi_run_ids *ids) {
  for (uint32_t id = 0; id < ids->sites.num; id++) {
    ppi_run_site *site = ids->sites.items[id];
    if (!site || !site->fold) continue;
    const ppi_run_site *root = ids->sites.items[ppi_run_root(ids, id)];
    if (site->name && root != site)
      ppi_numbers_of_fold(&site->numbers, site->name, root->name,
                          site->row.host.n);
    if (!ppi_set_text(&site->name, root->name)) return false;
  }
  return true;
}

// 0: no memory. No site has number 0.
static uint32_t number_of(ppi_run_labels *labels, ppi_run_ids *ids,
                          size_t name) {
  const ppi_table_ids *names = &labels->ids;
  if (name == SIZE_MAX || !PPI_REACH(labels->numbers, labels->num_numbers,
                                     labels->numbers_capacity, name + 1))
    return 0;
  if (labels->numbers[name]) return labels->numbers[name];
  uint32_t number = (uint32_t)PPI_MAX(ids->sites.num, 1);
  uint32_t category = names->names[name].category;
  const char *text = names->names[name].text;
  if (number > PPI_RUN_MAX_NAMES && strcmp(text, OTHER_NAME) != 0) {
    labels->num_others++;
    number = number_of(labels, ids,
                       ppi_table_ids_add(&labels->ids, category, OTHER_NAME));
  } else if (!ppi_run_new_site(ids, number, category, text)) {
    return 0;
  }
  return labels->numbers[name] = number;
}

// Takes over the sites so far: each id had one name.
static bool take_over(ppi_run_labels *labels, const ppi_run_ids *ids) {
  bool done = true;
  labels->is_used = true;
  for (uint32_t id = 0; id < ids->sites.num && done; id++) {
    const ppi_run_site *site = ids->sites.items[id];
    if (!site || !site->name) continue;
    const pprof_definition definition = {.kind = PPROF_DEFINITION_SITE,
                                         .id = id,
                                         .parent = site->category,
                                         .number = site->fold,
                                         .name = site->name};
    done = ppi_table_ids_define(&labels->ids, &definition) == PPROF_STATUS_OK;
    size_t name = done ? ppi_table_ids_name(&labels->ids, id) : 0;
    done = done && PPI_REACH(labels->numbers, labels->num_numbers,
                             labels->numbers_capacity, name + 1);
    if (done && !labels->numbers[name]) labels->numbers[name] = id;
  }
  return done;
}

static bool is_same(uint32_t category, const char *name,
                    const pprof_definition *definition) {
  return category == definition->parent && name &&
         strcmp(name, pprof_definition_name(definition)) == 0;
}

// Waits for one object have a number for each range that ends them.
static bool is_wait(const pprof_definition *definition) {
  const char *name = pprof_definition_name(definition);
  return definition->parent == PPROF_CATEGORY_WAIT &&
         ppi_wait_object(name) != name;
}

bool ppi_run_site_is_another(const ppi_run_labels *labels,
                             const ppi_run_ids *ids,
                             const pprof_definition *definition) {
  if (labels->is_used || is_wait(definition)) return true;
  uint32_t id = definition->id;
  const ppi_run_site *site = id < ids->sites.num ? ids->sites.items[id] : NULL;
  return id && site && site->place && site->is_defined &&
         !is_same(site->category, site->name, definition);
}

// A fold into an undefined site is set by a later definition, which repeats it.
static bool set_folds(ppi_run_labels *labels, ppi_run_ids *ids, size_t name) {
  const ppi_table_ids *names = &labels->ids;
  for (int i = 0; i < MOST_FOLDS; i++) {
    uint32_t number = name < labels->num_numbers ? labels->numbers[name] : 0;
    uint32_t fold = names->names[name].folds_into;
    if (!number || !fold || fold >= names->sites.num ||
        !names->sites.items[fold])
      break;
    name = names->sites.items[fold] - 1;
    uint32_t into = number_of(labels, ids, name);
    if (!into) return false;
    ppi_run_site *site = ids->sites.items[number];
    site->fold = into != number ? into : 0;
  }
  return true;
}

bool ppi_run_label_site(ppi_run_labels *labels, ppi_run_ids *ids,
                        const pprof_definition *definition) {
  pprof_definition named = *definition;
  named.name = pprof_definition_name(definition);
  if (!labels->is_used && !take_over(labels, ids)) return false;
  // Names without end take no memory.
  if (ids->sites.num > PPI_RUN_MAX_NAMES &&
      !ppi_table_ids_has(&labels->ids, named.parent, named.name)) {
    named.name = OTHER_NAME;
    labels->num_others++;
  }
  return ppi_table_ids_define(&labels->ids, &named) == PPROF_STATUS_OK &&
         set_folds(labels, ids, ppi_table_ids_name(&labels->ids, named.id));
}

pprof_status ppi_run_number_event(ppi_run_labels *labels, ppi_run_ids *ids,
                                  const pprof_batch *batch, size_t at,
                                  pprof_event *out) {
  const pprof_event *event = ppi_batch_at(batch, at, out);
  if (event != out) *out = *event;
  if (out->site == 0) return PPROF_STATUS_OK;
  if (out->site >= PPI_RUN_MAX_ID) return PPROF_STATUS_CORRUPT;
  size_t name = ppi_table_ids_name(&labels->ids, out->site), row = name;
  if (name == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
  bool is_new = name >= labels->num_numbers || !labels->numbers[name];
  const uint64_t *wait =
      ppi_wait_whole(batch, at, labels->ids.names[name].category);
  if (wait)
    row = ppi_table_ids_wait(&labels->ids, name, wait[PPI_WAIT_HOW],
                             wait[PPI_WAIT_IN]);
  uint32_t plain = number_of(labels, ids, name);
  bool done = plain && (!is_new || set_folds(labels, ids, name));
  out->site = done ? number_of(labels, ids, row) : 0;
  if (!out->site) return PPROF_STATUS_NO_MEMORY;
  if (out->site != plain)
    ((ppi_run_site *)ids->sites.items[out->site])->waits_as = plain;
  return PPROF_STATUS_OK;
}

pprof_status ppi_run_number_open(ppi_run_labels *labels, ppi_run_ids *ids,
                                 pprof_checkpoint *checkpoint,
                                 pprof_event **out) {
  *out = ppi_alloc((checkpoint->num_open + 1) * sizeof **out);
  if (!*out) return PPROF_STATUS_NO_MEMORY;
  pprof_status status = PPROF_STATUS_OK;
  const pprof_batch all = {.stride = sizeof *checkpoint->open,
                           .events = checkpoint->open,
                           .num_events = checkpoint->num_open};
  for (size_t i = 0; i < all.num_events && status == PPROF_STATUS_OK; i++)
    status = ppi_run_number_event(labels, ids, &all, i, &(*out)[i]);
  checkpoint->open = *out;
  return status;
}

bool ppi_run_note_others(const ppi_run_labels *labels, ppi_figures *out) {
  return !labels->num_others ||
         ppi_figures_say(
             out, "names",
             "%llu times a name that came after %u others counts as " OTHER_NAME
             " of its category",
             (unsigned long long)labels->num_others, PPI_RUN_MAX_NAMES);
}

void ppi_run_clear_labels(ppi_run_labels *labels) {
  ppi_table_ids_clear(&labels->ids);
  ppi_free(labels->numbers);
}

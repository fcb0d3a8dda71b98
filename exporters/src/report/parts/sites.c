// SPDX-License-Identifier: Apache-2.0
//
// Numbers site names in a run that reuses ids. Each name has one number: its
// id, until the first id is given to another name.
#include "report/parts/sites.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
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

static ppi_run_label *label_at(ppi_run_labels *labels, uint32_t id) {
  return PPI_REACH(labels->items, labels->num, labels->capacity, (size_t)id + 1)
             ? &labels->items[id]
             : NULL;
}

static ppi_map_key key_of(uint32_t category, const char *name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
  return (ppi_map_key){hash, category};
}

// Makes the name findable by its text.
static bool note_text(ppi_run_labels *labels, const ppi_run_ids *ids,
                      uint32_t number) {
  const ppi_run_site *site = ids->sites.items[number];
  size_t at =
      ppi_map_number(&labels->texts, key_of(site->category, site->name));
  return at < labels->num_numbers ||
         (at != SIZE_MAX && PPI_PUSH(labels->numbers, labels->num_numbers,
                                     labels->numbers_capacity, number));
}

// Another name with the same hash is not found; it gets one more number.
static uint32_t find_text(const ppi_run_labels *labels, const ppi_run_ids *ids,
                          uint32_t category, const char *name) {
  size_t at = ppi_map_find(&labels->texts, key_of(category, name));
  if (at >= labels->num_numbers) return 0;
  const ppi_run_site *site = ids->sites.items[labels->numbers[at]];
  return strcmp(site->name, name) == 0 ? labels->numbers[at] : 0;
}

// Takes over the sites so far: each id had one name.
static bool take_over(ppi_run_labels *labels, const ppi_run_ids *ids) {
  labels->is_used = true;
  bool done = true;
  for (uint32_t id = 0; id < ids->sites.num && done; id++) {
    const ppi_run_site *site = ids->sites.items[id];
    if (!site) continue;
    ppi_run_label *label = label_at(labels, id);
    if (!label) return false;
    label->category = site->category;
    label->fold = site->fold;
    if (!site->name) continue;
    label->name = ppi_strdup(site->name);
    label->number = id;
    done = label->name && note_text(labels, ids, id);
  }
  return done;
}

static uint32_t add_site(ppi_run_labels *labels, ppi_run_ids *ids,
                         uint32_t category, const char *name) {
  uint32_t number = (uint32_t)PPI_MAX(ids->sites.num, 1);
  ppi_run_site *site = ppi_run_new_site(ids, number, category, name);
  return site && note_text(labels, ids, number) ? number : 0;
}

static uint32_t number_of_text(ppi_run_labels *labels, ppi_run_ids *ids,
                               uint32_t category, const char *name) {
  uint32_t number = find_text(labels, ids, category, name);
  if (number) return number;
  if (ids->sites.num <= PPI_RUN_MAX_NAMES)
    return add_site(labels, ids, category, name);
  labels->num_others++;
  number = find_text(labels, ids, category, OTHER_NAME);
  return number ? number : add_site(labels, ids, category, OTHER_NAME);
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

// 0: no memory. No site has number 0.
static uint32_t own_number(ppi_run_labels *labels, ppi_run_ids *ids,
                           uint32_t id) {
  ppi_run_label *label = label_at(labels, id);
  if (!label || label->number) return label ? label->number : 0;
  char text[32];
  snprintf(text, sizeof text, "<site %u>", id);
  label->number = number_of_text(labels, ids, label->category,
                                 label->name ? label->name : text);
  return label->number;
}

// A fold into an undefined site is set by a later definition, which repeats it.
static bool set_folds(ppi_run_labels *labels, ppi_run_ids *ids, uint32_t id) {
  for (int i = 0; i < MOST_FOLDS && labels->items[id].number; i++) {
    uint32_t number = labels->items[id].number, fold = labels->items[id].fold;
    if (!fold || fold >= labels->num || !labels->items[fold].name) break;
    uint32_t into = own_number(labels, ids, fold);
    if (!into) return false;
    ppi_run_site *site = ids->sites.items[number];
    site->fold = into != number ? into : 0;
    id = fold;
  }
  return true;
}

static uint32_t number_of(ppi_run_labels *labels, ppi_run_ids *ids,
                          uint32_t id) {
  if (id < labels->num && labels->items[id].number)
    return labels->items[id].number;
  uint32_t number = own_number(labels, ids, id);
  return number && set_folds(labels, ids, id) ? number : 0;
}

bool ppi_run_label_site(ppi_run_labels *labels, ppi_run_ids *ids,
                        const pprof_definition *definition) {
  uint32_t id = definition->id;
  if (!labels->is_used && !take_over(labels, ids)) return false;
  ppi_run_label *label = label_at(labels, id);
  if (!label) return false;
  if (!is_same(label->category, label->name, definition)) {
    char *name = ppi_strdup(pprof_definition_name(definition));
    if (!name) return false;
    ppi_free(label->name);
    *label = (ppi_run_label){name, definition->parent, 0, 0};
  }
  label->fold = ppi_run_fold_of(definition);
  return set_folds(labels, ids, id);
}

// 0: no memory. `in`: the range that has the object, or ends the wait.
static uint32_t number_of_wait(ppi_run_labels *labels, ppi_run_ids *ids,
                               uint32_t id, const char *in, uint64_t how) {
  char text[PPI_WAIT_ROW];
  ppi_wait_row(labels->items[id].name, how, in, text);
  uint32_t plain = number_of(labels, ids, id);
  uint32_t number =
      plain ? number_of_text(labels, ids, PPROF_CATEGORY_WAIT, text) : 0;
  if (!number || number == plain) return number;
  ppi_run_site *site = ids->sites.items[number];
  site->waits_as = plain;
  return number;
}

// NULL: the event is no wait, or its ender is unknown.
static const char *ender_of(const ppi_run_labels *labels,
                            const pprof_batch *batch, size_t at,
                            uint64_t *out_how) {
  uint32_t id = pprof_batch_at(batch, at)->site;
  const ppi_run_label *label = id < labels->num ? &labels->items[id] : NULL;
  const uint64_t *wait =
      label && label->name ? ppi_wait_whole(batch, at, label->category) : NULL;
  uint64_t in = wait ? wait[PPI_WAIT_IN] : 0;
  *out_how = wait ? wait[PPI_WAIT_HOW] : 0;
  return in && in < labels->num ? labels->items[in].name : NULL;
}

pprof_status ppi_run_number_event(ppi_run_labels *labels, ppi_run_ids *ids,
                                  const pprof_batch *batch, size_t at,
                                  pprof_event *out) {
  uint64_t how;
  *out = *pprof_batch_at(batch, at);
  if (out->site == 0) return PPROF_STATUS_OK;
  if (out->site >= PPI_RUN_MAX_ID) return PPROF_STATUS_CORRUPT;
  const char *ender = ender_of(labels, batch, at, &how);
  out->site = ender ? number_of_wait(labels, ids, out->site, ender, how)
                    : number_of(labels, ids, out->site);
  return out->site ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
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
  char text[160];
  if (!labels->num_others) return true;
  snprintf(text, sizeof text,
           "%llu times a name that came after %u others counts as " OTHER_NAME
           " of its category",
           (unsigned long long)labels->num_others, PPI_RUN_MAX_NAMES);
  return ppi_figures_note(out, "names", text);
}

void ppi_run_clear_labels(ppi_run_labels *labels) {
  for (size_t i = 0; i < labels->num; i++) ppi_free(labels->items[i].name);
  ppi_free(labels->items);
  ppi_free(labels->numbers);
  ppi_map_clear(&labels->texts);
}

// SPDX-License-Identifier: Apache-2.0
//
// Keeps versions of the wanted and watched names, newest first.
#include "names/site_filter.h"

#include <string.h>

#include "base/mem.h"

static ppi_site_filter *next_version(ppi_site_filter *newest) {
  ppi_site_filter *next = ppi_alloc(sizeof *next);
  if (!next) return NULL;
  if (newest) *next = *newest;
  next->before = newest;
  next->own = NULL;
  next->version++;
  return next;
}

// Pairs with the acquire of threads that decide about a site.
static void publish(ppi_site_filter **newest, ppi_site_filter *next) {
  __atomic_store_n(newest, next, __ATOMIC_RELEASE);
}

bool ppi_site_filter_choose(ppi_site_filter **newest,
                            const ppi_choice *choice) {
  ppi_choice *copy = ppi_choice_copy(choice);
  ppi_site_filter *next = copy ? next_version(*newest) : NULL;
  if (!next) {
    ppi_free(copy);
    return false;
  }
  next->choice = next->own = copy;
  publish(newest, next);
  return true;
}

bool ppi_site_filter_watch(ppi_site_filter **newest, const char *name) {
  uint32_t num = *newest ? (*newest)->num_watched : 0;
  if (name ? num == PPI_SCHEDULE_MAX_RULES : num == 0) return !name;
  if (name && *newest && ppi_site_filter_watched(*newest, name)) return true;
  ppi_site_filter *next = next_version(*newest);
  if (!next) return false;
  if (name) {
    size_t len = strnlen(name, PPI_WATCHED_NAME - 1);
    memcpy(next->watched[num], name, len);
    next->watched[num][len] = 0;
  }
  next->num_watched = name ? num + 1 : 0;
  publish(newest, next);
  return true;
}

void ppi_site_filter_clear(ppi_site_filter **newest) {
  ppi_site_filter *filter = *newest;
  *newest = NULL;
  while (filter) {
    ppi_site_filter *before = filter->before;
    ppi_free(filter->own);
    ppi_free(filter);
    filter = before;
  }
}

const char *ppi_site_filter_watched(const ppi_site_filter *filter,
                                    const char *name) {
  for (uint32_t i = 0; i < filter->num_watched; i++)
    if (strcmp(filter->watched[i], name) == 0) return filter->watched[i];
  return NULL;
}

uint32_t ppi_site_filter_verdict(const ppi_site_filter *filter,
                                 const char *name, uint32_t category) {
  uint32_t verdict = 0;
  if (filter->choice && !ppi_choice_wants(filter->choice, name, category))
    verdict |= PPI_SITE_IS_EXCLUDED;
  if (ppi_site_filter_watched(filter, name)) verdict |= PPI_SITE_IS_WATCHED;
  if (filter->choice && ppi_choice_measures(filter->choice, name))
    verdict |= PPI_SITE_IS_MEASURED;
  return verdict;
}

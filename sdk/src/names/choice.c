// SPDX-License-Identifier: Apache-2.0
//
// Applies a choice to a name, and copies a choice.
#include "names/choice.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "event/fold.h"
#include "names/glob.h"

static bool matches_any(const char *const *globs, size_t num,
                        const char *name) {
  for (size_t i = 0; i < num; i++)
    if (ppi_glob_match(globs[i], name)) return true;
  return false;
}

static uint32_t machine;  // atomic; 0: none

void ppi_choice_set_machine(uint32_t category) {
  __atomic_store_n(&machine, category, __ATOMIC_RELEASE);
}

bool ppi_choice_is_machine(uint32_t category) {
  return category && category == __atomic_load_n(&machine, __ATOMIC_ACQUIRE);
}

bool ppi_choice_wants(const ppi_choice *choice, const char *name,
                      uint32_t category) {
  if (category == PPROF_CATEGORY_PROFILE_STEP ||
      ppi_choice_is_machine(category))
    return true;
  if (choice->timer_only && category != PPROF_CATEGORY_DATALOADER) return false;
  if (matches_any(choice->exclude, choice->num_exclude, name)) return false;
  return choice->num_include == 0 ||
         matches_any(choice->include, choice->num_include, name);
}

bool ppi_choice_measures(const ppi_choice *choice, const char *name) {
  return matches_any(choice->cpu, choice->num_cpu, name);
}

bool ppi_choice_keeps(const ppi_choice *choice, const char *name) {
  return matches_any(choice->keep, choice->num_keep, name);
}

// "step {n}" as shapes have it, "step {}".
static void put_holes(const char *pattern, char out[PPI_FOLD_TEXT]) {
  size_t len = 0;
  while (*pattern && len + 1 < PPI_FOLD_TEXT) {
    out[len++] = *pattern++;
    const char *end = pattern;
    while (out[len - 1] == '{' && isalnum((unsigned char)*end)) end++;
    if (*end == '}') pattern = end;
  }
  out[len] = 0;
}

bool ppi_choice_folds(const ppi_choice *choice, const char *shape) {
  char glob[PPI_FOLD_TEXT];
  for (size_t i = 0; i < choice->num_shapes; i++) {
    put_holes(choice->shapes[i], glob);
    if (ppi_glob_match(glob, shape)) return true;
  }
  return false;
}

uint32_t ppi_choice_category(const ppi_choice *choice, const char *name,
                             uint32_t given) {
  for (size_t i = 0; i < choice->num_categorised; i++)
    if (ppi_glob_match(choice->categorised[i], name))
      return choice->categories[i];
  return given;
}

bool ppi_choice_asks(const ppi_choice *choice) {
  return choice->num_include || choice->num_exclude || choice->num_cpu ||
         choice->num_keep || choice->num_categorised || choice->timer_only;
}

bool ppi_choice_shows(const ppi_choice *choice, const char *name) {
  return !choice->hash_names ||
         matches_any(choice->allow, choice->num_allow, name);
}

static size_t size_of(const char *const *globs, size_t num) {
  size_t size = num * sizeof *globs;
  for (size_t i = 0; i < num; i++) size += strlen(globs[i]) + 1;
  return size;
}

// Copies globs to `*places` and their texts to `*texts`, and moves both on.
static const char *const *copy_globs(const char *const *globs, size_t num,
                                     const char ***places, char **texts) {
  const char **copy = *places;
  for (size_t i = 0; i < num; i++) {
    size_t size = strlen(globs[i]) + 1;
    copy[i] = memcpy(*texts, globs[i], size);
    *texts += size;
  }
  *places += num;
  return copy;
}

ppi_choice *ppi_choice_copy(const ppi_choice *from) {
  size_t num = from->num_include + from->num_exclude + from->num_allow +
               from->num_cpu + from->num_keep + from->num_shapes +
               from->num_categorised;
  size_t size = size_of(from->include, from->num_include) +
                size_of(from->exclude, from->num_exclude) +
                size_of(from->allow, from->num_allow) +
                size_of(from->cpu, from->num_cpu) +
                size_of(from->keep, from->num_keep) +
                size_of(from->shapes, from->num_shapes) +
                size_of(from->categorised, from->num_categorised) +
                from->num_categorised * sizeof *from->categories;
  ppi_choice *copy = ppi_alloc(sizeof *copy + size);
  if (!copy) return NULL;
  *copy = *from;
  const char **places = (const char **)(void *)(copy + 1);
  uint32_t *categories = (uint32_t *)(void *)(places + num);
  char *texts = (char *)(categories + from->num_categorised);
  for (size_t i = 0; i < from->num_categorised; i++)
    categories[i] = from->categories[i];
  copy->categories = categories;
  copy->include = copy_globs(from->include, from->num_include, &places, &texts);
  copy->exclude = copy_globs(from->exclude, from->num_exclude, &places, &texts);
  copy->allow = copy_globs(from->allow, from->num_allow, &places, &texts);
  copy->cpu = copy_globs(from->cpu, from->num_cpu, &places, &texts);
  copy->keep = copy_globs(from->keep, from->num_keep, &places, &texts);
  copy->shapes = copy_globs(from->shapes, from->num_shapes, &places, &texts);
  copy->categorised =
      copy_globs(from->categorised, from->num_categorised, &places, &texts);
  return copy;
}

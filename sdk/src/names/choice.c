// SPDX-License-Identifier: Apache-2.0
//
// What a choice says of a name, and its copy.
#include "names/choice.h"

#include <string.h>

#include "base/mem.h"
#include "names/glob.h"

static bool matches_any(const char *const *globs, size_t num,
                        const char *name) {
  for (size_t i = 0; i < num; i++)
    if (ppi_glob_match(globs[i], name)) return true;
  return false;
}

bool ppi_choice_wants(const ppi_choice *choice, const char *name,
                      uint32_t category) {
  if (category == PPROF_CATEGORY_PROFILE_STEP) return true;
  if (choice->timer_only && category != PPROF_CATEGORY_DATALOADER) return false;
  if (matches_any(choice->exclude, choice->num_exclude, name)) return false;
  return choice->num_include == 0 ||
         matches_any(choice->include, choice->num_include, name);
}

bool ppi_choice_measures(const ppi_choice *choice, const char *name) {
  return matches_any(choice->cpu, choice->num_cpu, name);
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
  size_t num =
      from->num_include + from->num_exclude + from->num_allow + from->num_cpu;
  size_t size = size_of(from->include, from->num_include) +
                size_of(from->exclude, from->num_exclude) +
                size_of(from->allow, from->num_allow) +
                size_of(from->cpu, from->num_cpu);
  ppi_choice *copy = ppi_alloc(sizeof *copy + size);
  if (!copy) return NULL;
  *copy = *from;
  const char **places = (const char **)(void *)(copy + 1);
  char *texts = (char *)(places + num);
  copy->include = copy_globs(from->include, from->num_include, &places, &texts);
  copy->exclude = copy_globs(from->exclude, from->num_exclude, &places, &texts);
  copy->allow = copy_globs(from->allow, from->num_allow, &places, &texts);
  copy->cpu = copy_globs(from->cpu, from->num_cpu, &places, &texts);
  return copy;
}

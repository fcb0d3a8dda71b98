// SPDX-License-Identifier: Apache-2.0
//
// Folds names that differ only in numbers into one site.
#include "names/names_fold.h"

#include "base/guard.h"
#include "names/names_impl.h"

static const ppi_site_filter *filter_of(const ppi_names *names) {
  return __atomic_load_n(&names->filter, __ATOMIC_ACQUIRE);
}

static const ppi_choice *choice_of(const ppi_names *names) {
  const ppi_site_filter *filter = filter_of(names);
  return filter ? filter->choice : NULL;
}

uint32_t ppi_names_category(const ppi_names *names, const char *name,
                            size_t len, uint32_t given) {
  const ppi_choice *choice = choice_of(names);
  char text[PPI_MAX_NAME + 1];
  if (!choice || !choice->num_categorised) return given;
  len = PPI_MIN(len, PPI_MAX_NAME);
  memcpy(text, name, len);
  text[len] = 0;
  return ppi_choice_category(choice, text, given);
}

static bool has_chosen_shape(const ppi_choice *choice, const char *name,
                             size_t len) {
  ppi_fold fold;
  if (ppi_fold_name(name, len, PPI_FOLD_FREE, &fold) &&
      ppi_choice_folds(choice, fold.text))
    return true;
  return fold.has_glued && ppi_fold_name(name, len, PPI_FOLD_ALL, &fold) &&
         ppi_choice_folds(choice, fold.text);
}

bool ppi_names_folds(const ppi_names *names, bool is_nvtx, const char *name,
                     size_t len) {
  const ppi_choice *choice = choice_of(names);
  if (!names->shapes) return false;
  if (!choice) return is_nvtx;
  if (choice->fold != PPI_FOLDS_NVTX) return choice->fold == PPI_FOLDS_ALL;
  return is_nvtx || (choice->num_shapes && len <= PPI_MAX_NAME &&
                     has_chosen_shape(choice, name, len));
}

// The choice for the name itself; false: it stays a site of its own.
static bool judge(const ppi_names *names, const char *name, size_t len,
                  uint32_t category, uint32_t *out_verdict) {
  const ppi_site_filter *filter = filter_of(names);
  char text[PPI_MAX_NAME + 1];
  *out_verdict = 0;
  if (!filter) return true;
  memcpy(text, name, len);
  text[len] = 0;
  if (filter->choice && ppi_choice_keeps(filter->choice, text)) return false;
  *out_verdict = ppi_site_filter_verdict(filter, text, category);
  return !(*out_verdict & PPI_SITE_IS_WATCHED);
}

static ppi_reported reported_of(const ppi_names *names) {
  const ppi_choice *choice = choice_of(names);
  if (names->clear) return PPI_REPORTED_NOTHING;
  return choice && choice->full_names ? PPI_REPORTED_IN_FULL
                                      : PPI_REPORTED_NUMBERS;
}

bool ppi_names_folded(const ppi_names *names, const char *name, size_t len,
                      uint32_t category, ppi_folded *out) {
  ppi_fold fold;
  if (len > PPI_MAX_NAME) return false;
  out->site = ppi_shapes_folded(names->shapes, name, len, category, &fold);
  if (!out->site || !judge(names, name, len, category, &out->verdict))
    return false;
  const ppi_site_filter *filter = filter_of(names);
  bool asks = filter && (filter->num_watched ||
                         (filter->choice && ppi_choice_asks(filter->choice)));
  out->shape = asks ? NULL : ppi_names_given(names, out->site);
  out->reported = reported_of(names);
  out->numbers = fold.numbers;
  return true;
}

static bool is_forced(const void *user, const char *shape) {
  return ppi_choice_folds(user, shape);
}

// From then on, a member's events count for its fold, and so do earlier ones.
static void set_fold(void *user, uint32_t member, uint32_t site) {
  ppi_names *names = user;
  ppi_definition_record *record =
      (ppi_definition_record *)(names->spool->base + names->offsets[member]);
  __atomic_store_n(&record->fold, site, __ATOMIC_RELAXED);
  ppi_names_tell_again(names, member);
}

static void begin_fold(ppi_names *names, uint32_t shape, const ppi_fold *fold,
                       uint32_t category, uint32_t color) {
  bool is_new;
  uint32_t site = ppi_names_intern(names, fold->text, category, color, &is_new);
  if (!site || site == names->other) return;
  ppi_names_stay(names, site);
  ppi_shapes_fold(names->shapes, shape, site, ppi_names_given(names, site),
                  set_fold, names);
}

static void learn(ppi_names *names, uint32_t id, const char *name, size_t len,
                  uint32_t color) {
  const ppi_choice *choice = choice_of(names);
  uint32_t category = ppi_names_record(names, id)->parent;
  ppi_fold fold;
  if (choice && ppi_choice_keeps(choice, name)) return;
  uint32_t site = ppi_shapes_folded(names->shapes, name, len, category, &fold);
  if (site) {
    set_fold(names, id, site);
    return;
  }
  bool forces = choice && choice->num_shapes;
  bool folds_all = choice && choice->fold == PPI_FOLDS_ALL;
  ppi_shapes_set_members(names->shapes, folds_all ? 1 : PPI_SHAPE_MEMBERS);
  uint32_t shape = ppi_shapes_learn(names->shapes, id, name, len, category,
                                    forces ? is_forced : NULL, choice, &fold);
  if (shape) begin_fold(names, shape, &fold, category, color);
}

uint32_t ppi_names_learn(ppi_names *names, const char *name, uint32_t category,
                         uint32_t color) {
  bool is_new;
  if (category >= PPROF_CATEGORY_FIRST_REGISTERED + PPI_MAX_CATEGORIES)
    category = PPROF_CATEGORY_USER_DEFINED;
  ppi_calm before;
  ppi_lock_masked(&names->mutex, &before);
  uint32_t id = ppi_names_intern(names, name, category, color, &is_new);
  if (is_new) learn(names, id, name, ppi_names_kept(name), color);
  ppi_unlock_masked(&names->mutex, &before);
  return id;
}

void ppi_names_unlearn(ppi_names *names, uint32_t id) {
  const char *name = ppi_names_given(names, id);
  if (names->shapes)
    ppi_shapes_leave(names->shapes, id, name, strlen(name),
                     ppi_names_record(names, id)->parent);
}

// SPDX-License-Identifier: Apache-2.0
//
// Turns a name and its category into a site, and classifies each site once.
#include "import/sites.h"

#include <stdio.h>

#include "cli/say.h"
#include "json/hash.h"

// Our own traces have the names of their categories, so the class is exact.
static ppi_class own_class(ppi_importer *importer, const ppi_label *label) {
  ppi_class class = {PPROF_CATEGORY_USER_DEFINED, 0};
  bool is_new;
  if (ppi_import_category(label, &class.category)) return class;
  uint32_t id = ppi_intern_id(&importer->own_categories, label->cat,
                              label->cat_len, &is_new);
  if (id) class.category = PPROF_CATEGORY_FIRST_REGISTERED + id - 1;
  return class;
}

// Applies the configuration's category for a name. Device work keeps its
// category, but may become communication.
static void categorise(const ppi_importer *importer, const ppi_label *label,
                       ppi_class *class) {
  char name[PPI_IMPORT_MAX_NAME + 1];
  const ppi_import_options *options = importer->options;
  if (!options || !options->choice) return;
  snprintf(name, sizeof name, "%.*s", (int)label->name_len, label->name);
  uint32_t category = ppi_choice_category(options->choice, name,
                                          PPROF_CATEGORY_FIRST_REGISTERED);
  if (category >= PPROF_CATEGORY_FIRST_REGISTERED) return;
  bool is_device = class->is & (PPI_IS_DEVICE | PPI_IS_DEVICE_WITH_IDS);
  if (!is_device) class->category = category;
  class->is &= ~(uint32_t)PPI_IS_COMMUNICATION;
  if (category == PPROF_CATEGORY_COMMUNICATION)
    class->is |= PPI_IS_COMMUNICATION;
}

static ppi_class classify(ppi_importer *importer, const ppi_label *label) {
  if (importer->header.is_own) return own_class(importer, label);
  ppi_class class = ppi_classify(label);
  categorise(importer, label, &class);
  if (class.is & PPI_IS_PYTHON_FRAME && importer->options &&
      importer->options->by_stack)
    class = (ppi_class){
        PPI_CATEGORY_PYTHON_FUNCTION,
        (class.is & ~(uint32_t)PPI_IS_PYTHON_FRAME) | PPI_IS_CALLER};
  return class;
}

// ---- names that fold ----

// Only names from users fold. Digits of kernels and operators have a meaning,
// and our own traces are already folded.
static bool may_fold(const ppi_importer *importer, const ppi_class *class) {
  return !importer->header.is_own &&
         (class->category == PPROF_CATEGORY_USER_DEFINED ||
          class->category == PPROF_CATEGORY_PYTHON_USER_DEFINED);
}

// Names of different categories do not fold together.
static uint32_t category_key(const ppi_label *label) {
  return (uint32_t)ppi_hash_bytes(11, label->cat, label->cat_len);
}

static uint32_t folded_site(const ppi_importer *importer,
                            const ppi_label *label) {
  ppi_fold fold;
  if (!importer->shapes) return 0;
  return ppi_shapes_folded(importer->shapes, label->name, label->name_len,
                           category_key(label), &fold);
}

static void set_fold(void *user, uint32_t member, uint32_t site) {
  ppi_importer *importer = user;
  if (member < importer->num_folds) importer->folds[member] = site;
}

uint32_t ppi_import_fold(const ppi_importer *importer, uint32_t site) {
  return site < importer->num_folds ? importer->folds[site] : 0;
}

// ---- sites ----

static size_t make_key(char *key, const ppi_label *label) {
  memcpy(key, label->cat, label->cat_len);
  for (char *zero; (zero = memchr(key, '\0', label->cat_len)) != NULL;)
    *zero = ' ';
  key[label->cat_len] = '\0';
  memcpy(key + label->cat_len + 1, label->name, label->name_len);
  return label->cat_len + 1 + label->name_len;
}

static uint32_t intern(ppi_importer *importer, const ppi_label *label,
                       const ppi_class *class, bool *out_is_new) {
  char key[PPI_MAX_SCALAR + 1 + PPI_IMPORT_MAX_NAME + 1];
  size_t len = make_key(key, label);
  uint32_t site = ppi_intern_id(&importer->names, key, len, out_is_new);
  if (!*out_is_new) return site;
  size_t num = (size_t)site + 1;
  PPI_MUST_ROOM(importer->classes, importer->classes_capacity, num);
  PPI_MUST_ROOM(importer->folds, importer->folds_capacity, num);
  importer->classes[site] = *class;
  for (; importer->num_folds < num; importer->num_folds++)
    importer->folds[importer->num_folds] = 0;
  return site;
}

// After a failure the names do not fold.
static void learn(ppi_importer *importer, uint32_t site, const ppi_label *label,
                  const ppi_class *class) {
  ppi_fold fold;
  bool is_new;
  if (!importer->shapes)
    importer->shapes = ppi_shapes_create(PPI_IMPORT_MAX_SITES + 1024);
  if (!importer->shapes) return;
  uint32_t shape =
      ppi_shapes_learn(importer->shapes, site, label->name, label->name_len,
                       category_key(label), NULL, NULL, &fold);
  if (!shape) return;
  const ppi_label into = {label->cat, fold.text, label->cat_len, fold.len};
  uint32_t folded = intern(importer, &into, class, &is_new);
  if (folded)
    ppi_shapes_fold(importer->shapes, shape, folded,
                    ppi_import_site_name(importer, folded), set_fold, importer);
}

static uint32_t find_site(ppi_importer *importer, const ppi_label *label,
                          const ppi_class *given) {
  char key[PPI_MAX_SCALAR + 1 + PPI_IMPORT_MAX_NAME + 1];
  bool is_new;
  uint32_t site = ppi_intern_find(&importer->names, key, make_key(key, label));
  if (!site) site = folded_site(importer, label);
  if (site) return site;
  ppi_class class = given ? *given : classify(importer, label);
  site = intern(importer, label, &class, &is_new);
  if (site && is_new && may_fold(importer, &class))
    learn(importer, site, label, &class);
  return site;
}

// Beyond the bound the names of one category share a site. The event keeps its
// class.
static uint32_t other_site(ppi_importer *importer, const ppi_label *label) {
  ppi_class class = classify(importer, label);
  const char cat[] = {'\1', (char)('0' + class.category),
                      (char)('0' + class.is % 64), (char)('0' + class.is / 64)};
  ppi_label other = {cat, "<other>", sizeof cat, 7};
  importer->names_overflowed++;
  importer->names.max_items += 1024;
  importer->names.max_bytes += 1 << 20;
  uint32_t site = find_site(importer, &other, &class);
  importer->names.max_items -= 1024;
  importer->names.max_bytes -= 1 << 20;
  return site;
}

uint32_t ppi_import_site(ppi_importer *importer, const ppi_label *label) {
  uint32_t site = find_site(importer, label, NULL);
  return site ? site : other_site(importer, label);
}

uint32_t ppi_import_site_behind(ppi_importer *importer, uint32_t site,
                                const char *text, size_t len) {
  char name[PPI_IMPORT_MAX_NAME + 1];
  bool is_new;
  for (uint32_t fold; (fold = ppi_import_fold(importer, site)) != 0;)
    site = fold;
  const char *cat = ppi_intern_item_of(&importer->names, site)->text;
  const char *base = ppi_import_site_name(importer, site);
  int base_len = snprintf(name, sizeof name, "%s @ ", base);
  if (base_len < 0 || (size_t)base_len + len >= sizeof name) {
    importer->skips[PPI_SKIP_NAMES_CUT]++;
    return site;
  }
  memcpy(name + base_len, text, len);
  const ppi_label label = {cat, name, strlen(cat), (size_t)base_len + len};
  const ppi_class class = importer->classes[site];
  uint32_t named = intern(importer, &label, &class, &is_new);
  if (named) return named;
  importer->names_overflowed++;
  return site;
}

void ppi_import_set_fold(ppi_importer *importer, const ppi_label *from,
                         const ppi_label *to) {
  uint32_t member = ppi_import_site(importer, from);
  uint32_t site = ppi_import_site(importer, to);
  uint32_t root = site;
  while (ppi_import_fold(importer, root)) root = importer->folds[root];
  if (member != root) importer->folds[member] = root;
}

const char *ppi_import_site_name(const ppi_importer *importer, uint32_t site) {
  const ppi_intern_item *item = ppi_intern_item_of(&importer->names, site);
  return item ? item->text + strlen(item->text) + 1 : "";
}

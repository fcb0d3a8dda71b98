// SPDX-License-Identifier: Apache-2.0
//
// A name and its category are a site; what they mean is decided once.
#include "import/sites.h"

#include <string.h>

#include "base/mem.h"

static uint32_t add_class(ppi_importer *importer, uint32_t site,
                          const ppi_class *class) {
  ppi_class *classes = ppi_grow(importer->classes, &importer->classes_capacity,
                                site + 1, sizeof *classes);
  if (!classes) return 0;
  importer->classes = classes;
  classes[site] = *class;
  return site;
}

// Our own traces have what their categories are called, and need no guess.
static ppi_class own_class(ppi_importer *importer, const ppi_label *label) {
  ppi_class class = {PPROF_CATEGORY_USER_DEFINED, 0};
  bool is_new;
  if (ppi_import_category(label, &class.category)) return class;
  uint32_t id = ppi_intern_id(&importer->own_categories, label->cat,
                              label->cat_len, &is_new);
  if (id) class.category = PPROF_CATEGORY_FIRST_REGISTERED + id - 1;
  return class;
}

static ppi_class classify(ppi_importer *importer, const ppi_label *label) {
  return importer->header.is_own ? own_class(importer, label)
                                 : ppi_classify(label);
}

static uint32_t find_site(ppi_importer *importer, const ppi_label *label,
                          const ppi_class *known) {
  char key[PPI_MAX_SCALAR + 1 + PPI_MAX_NAME + 1];
  bool is_new;
  for (size_t i = 0; i < label->cat_len; i++)
    key[i] = label->cat[i] ? label->cat[i] : ' ';
  key[label->cat_len] = '\0';
  memcpy(key + label->cat_len + 1, label->name, label->name_len);
  uint32_t site = ppi_intern_id(&importer->names, key,
                                label->cat_len + 1 + label->name_len, &is_new);
  if (!is_new) return site;
  ppi_class class = known ? *known : classify(importer, label);
  return add_class(importer, site, &class);
}

// Beyond the bound names of one category are one; what the event is does not
// change.
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
  if (site || importer->names.failed) return site;
  return other_site(importer, label);
}

const char *ppi_import_site_name(const ppi_importer *importer, uint32_t site) {
  const ppi_intern_item *item = ppi_intern_item_of(&importer->names, site);
  return item ? item->text + strlen(item->text) + 1 : "";
}

// SPDX-License-Identifier: Apache-2.0
//
// Keeps the sites of a trace: each name with its category once.
#pragma once

#include "import/importer.h"

// ppi_import_site finds the site of a label; 0 when out of memory.
uint32_t ppi_import_site(ppi_importer *importer, const ppi_label *label);
// ppi_import_site_behind answers the site of the same category with '@' and the
// text behind the name. Without room it answers `site`; 0: out of memory.
uint32_t ppi_import_site_behind(ppi_importer *importer, uint32_t site,
                                const char *text, size_t len);
// ppi_import_set_fold folds one label's site into another's; false: out of
// memory.
void ppi_import_set_fold(ppi_importer *importer, const ppi_label *from,
                         const ppi_label *to);
// ppi_import_fold answers the site that `site` folds into (event/fold.h), 0:
// none.
uint32_t ppi_import_fold(const ppi_importer *importer, uint32_t site);
const char *ppi_import_site_name(const ppi_importer *importer, uint32_t site);

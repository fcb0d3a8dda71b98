// SPDX-License-Identifier: Apache-2.0
//
// The sites of a trace: each name with its category, once.
#pragma once

#include "import/importer.h"

// ppi_import_site finds the site of a label; 0 when out of memory.
uint32_t ppi_import_site(ppi_importer *importer, const ppi_label *label);
// ppi_import_site_behind answers the site of the same category whose name has
// an '@' and the text behind it: itself where there is no room, 0 when out of
// memory.
uint32_t ppi_import_site_behind(ppi_importer *importer, uint32_t site,
                                const char *text, size_t len);
// ppi_import_set_fold has one label's site fold into another's; false: out of
// memory.
bool ppi_import_set_fold(ppi_importer *importer, const ppi_label *from,
                         const ppi_label *to);
// ppi_import_fold answers the site that one folds into (event/fold.h), 0: none.
uint32_t ppi_import_fold(const ppi_importer *importer, uint32_t site);
const char *ppi_import_site_name(const ppi_importer *importer, uint32_t site);

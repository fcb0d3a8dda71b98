// SPDX-License-Identifier: Apache-2.0
//
// Finds names in a copy of a dead process's definitions.
#include "recover/forensics_names.h"

// A name that took another's place after the look began: an open range may have
// the other name.
static bool is_newer(const ppi_spool *names,
                     const ppi_definition_record *record) {
  return record->kind == PPROF_DEFINITION_SITE &&
         record->number > names->header->names_changes;
}

const ppi_definition_record *ppi_forensics_find(const ppi_forensics *forensics,
                                                uint32_t kind, uint32_t id) {
  const ppi_definition_record *record, *found = NULL;
  uint64_t cursor = 0;
  if (!forensics->names.header) return NULL;
  while ((record = ppi_names_next(&forensics->names,
                                  forensics->names.header->names_end, &cursor)))
    if (record->kind == kind && record->id == id &&
        !is_newer(&forensics->names, record))
      found = record;
  return found;
}

const char *ppi_forensics_text(const ppi_forensics *forensics,
                               const char *key) {
  const ppi_definition_record *record;
  uint64_t cursor = 0;
  if (!forensics->names.header) return NULL;
  while (
      (record = ppi_names_next(&forensics->names,
                               forensics->names.header->names_end, &cursor))) {
    if (record->kind != PPI_DEFINITION_INFO || strcmp(record->name, key) != 0)
      continue;
    const char *value = ppi_names_value(record);
    if (value) return value;
  }
  return NULL;
}

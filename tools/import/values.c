// SPDX-License-Identifier: Apache-2.0
//
// The values of the event that was read last.
#include "import/values.h"

#include <string.h>

#include "json/hash.h"

bool ppi_import_ns(const ppi_scalar *scalar, int64_t *out) {
  return (scalar->kind == PPI_SCALAR_NUMBER ||
          scalar->kind == PPI_SCALAR_TEXT) &&
         ppi_decimal_ns(scalar->text, scalar->len, 3, out, NULL);
}

uint64_t ppi_import_id(const ppi_scalar *scalar) {
  int64_t id;
  if (!scalar ||
      (scalar->kind != PPI_SCALAR_NUMBER && scalar->kind != PPI_SCALAR_TEXT))
    return 0;
  if (ppi_integer(scalar->text, scalar->len, &id)) return (uint64_t)id;
  return ppi_hash_bytes(5, scalar->text, scalar->len) | 1;
}

uint64_t ppi_import_id_arg(const ppi_importer *importer, ppi_arg first,
                           ppi_arg second) {
  const ppi_scalar *scalar = ppi_fields_arg(&importer->fields, first);
  if (!scalar) scalar = ppi_fields_arg(&importer->fields, second);
  return ppi_import_id(scalar);
}

bool ppi_import_number(const ppi_importer *importer, ppi_arg arg, double *out) {
  const ppi_scalar *scalar = ppi_fields_arg(&importer->fields, arg);
  if (!scalar || scalar->kind != PPI_SCALAR_NUMBER ||
      !isfinite(ppi_scalar_number(scalar)))
    return false;
  *out = ppi_scalar_number(scalar);
  return true;
}

bool ppi_import_flops(const ppi_importer *importer, double *out) {
  return ppi_import_number(importer, PPI_ARG_FLOPS, out) ||
         ppi_import_number(importer, PPI_ARG_FLOPS_UPPER, out);
}

uint32_t ppi_import_attributes(ppi_importer *importer) {
  ppi_fields *fields = &importer->fields;
  bool is_new;
  if (fields->attributes_cut) importer->skips[PPI_SKIP_ATTRIBUTES_CUT]++;
  if (fields->attributes_len == 0) return 0;
  // Written without braces; the array has room for them.
  memmove(fields->attributes + 1, fields->attributes, fields->attributes_len);
  size_t from = fields->attributes[1] == ',';
  fields->attributes[from] = '{';
  fields->attributes[fields->attributes_len + 1] = '}';
  uint32_t id = ppi_intern_id(&importer->attributes, fields->attributes + from,
                              fields->attributes_len + 2 - from, &is_new);
  if (!id && !importer->attributes.failed)
    importer->skips[PPI_SKIP_ATTRIBUTES_DROPPED]++;
  return id;
}

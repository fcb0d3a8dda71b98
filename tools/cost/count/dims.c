// SPDX-License-Identifier: Apache-2.0
#include "cost/count/dims.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"

// The axis behind the last colon, which is cut off; -1: there is none.
static int take_axis(char *name) {
  char *colon = strrchr(name, ':');
  if (!colon || !isdigit((unsigned char)colon[1])) return -1;
  char *end;
  long axis = strtol(colon + 1, &end, 10);
  if (*end || axis > 31) return -1;
  *colon = '\0';
  return (int)axis;
}

// One "NAME=SIZE" of `len` characters. The name may have an equal sign in it.
static pprof_status parse_one(const char *text, size_t len,
                              ppi_wanted_dims *out, pprof_error *error) {
  const char *sign = memrchr(text, '=', len);
  char *end = NULL;
  errno = 0;
  long long size = sign ? strtoll(sign + 1, &end, 10) : -1;
  bool fits = sign && sign > text && end == text + len && end > sign + 1 &&
              size >= 0 && !errno;
  if (!fits)
    return ppi_fail(error, PPROF_STATUS_INVALID,
                    "--dim: '%.*s' is no NAME=SIZE, such as batch=8",
                    len > 80 ? 80 : (int)len, text);
  ppi_wanted_dim *items =
      ppi_grow(out->items, &out->capacity, out->num + 1, sizeof *items);
  if (items) out->items = items;
  char *name = items ? ppi_alloc((size_t)(sign - text) + 1) : NULL;
  if (!name) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  memcpy(name, text, (size_t)(sign - text));
  int axis = take_axis(name);
  items[out->num++] = (ppi_wanted_dim){name, axis, size, false};
  return PPROF_STATUS_OK;
}

pprof_status ppi_dims_parse(const char *text, ppi_wanted_dims *out,
                            pprof_error *error) {
  pprof_status status = PPROF_STATUS_OK;
  *out = (ppi_wanted_dims){0};
  while (text && !status) {
    size_t len = strcspn(text, ",");
    status = parse_one(text, len, out, error);
    text = text[len] ? text + len + 1 : NULL;
  }
  return status;
}

void ppi_dims_clear(ppi_wanted_dims *dims) {
  for (size_t i = 0; i < dims->num; i++) ppi_free(dims->items[i].name);
  ppi_free(dims->items);
  *dims = (ppi_wanted_dims){0};
}

int64_t ppi_dims_find(ppi_wanted_dims *dims, const char *name, int axis) {
  for (size_t i = 0; i < dims->num; i++) {
    ppi_wanted_dim *item = &dims->items[i];
    if (item->axis != axis || strcmp(item->name, name) != 0) continue;
    item->was_used = true;
    return item->size;
  }
  return -1;
}

const char *ppi_dims_unused(const ppi_wanted_dims *dims) {
  for (size_t i = 0; i < dims->num; i++)
    if (!dims->items[i].was_used) return dims->items[i].name;
  return NULL;
}

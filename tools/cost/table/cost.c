// SPDX-License-Identifier: Apache-2.0
//
// Reads the rows of a model's cost from the text of Python's pprof._model.
#include "cost/table/cost.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"

enum { NUM_TEXTS = 8, NUM_NUMBERS = 8, NUM_FIELDS = NUM_TEXTS + NUM_NUMBERS };
// Bounds the names, which their writer may nest without limit.
#define MOST_KEPT_BYTES ((size_t)1 << 30)

static void unescape(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    if (*from != '\\' || !from[1]) {
      *to++ = *from;
      continue;
    }
    from++;
    *to++ = *from == 't'   ? '\t'
            : *from == 'n' ? '\n'
            : *from == '0' ? ' '
                           : *from;
  }
  *to = '\0';
}

// Cuts the fields out of a line.
static size_t split(char *line, char *out[NUM_FIELDS]) {
  size_t num = 0;
  for (char *next = line; next && num < NUM_FIELDS;) {
    char *field = strsep(&next, "\t");
    unescape(field);
    out[num++] = field;
  }
  return num;
}

static ppi_value number(const char *text) {
  if (*text == '?') return (ppi_value){.known = false};
  return (ppi_value){.known = true, .i = strtoll(text, NULL, 10)};
}

static bool add_row(ppi_cost *cost, char *const fields[NUM_FIELDS]) {
  if (!PPI_ROOM(cost->rows, cost->capacity, cost->num_rows + 1)) return false;
  char *const *numbers = fields + NUM_TEXTS;
  cost->rows[cost->num_rows++] =
      (ppi_cost_row){.name = fields[0],
                     .op_type = fields[1],
                     .domain = fields[2],
                     .module = fields[3],
                     .output = fields[4],
                     .type = fields[5],
                     .shape = fields[6],
                     .reason = fields[7],
                     .times = number(numbers[0]).i,
                     .params = number(numbers[1]),
                     .param_bytes = number(numbers[2]),
                     .macs = number(numbers[3]),
                     .others = number(numbers[4]),
                     .in_bytes = number(numbers[5]),
                     .weight_bytes = number(numbers[6]),
                     .out_bytes = number(numbers[7])};
  return true;
}

static pprof_status no_memory(pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
}

pprof_status ppi_cost_read(ppi_buffer *text, ppi_cost *out,
                           pprof_error *error) {
  *out = (ppi_cost){.text = *text};
  *text = (ppi_buffer){0};
  ppi_buffer_bytes(&out->text, "", 1);
  if (out->text.failed) return no_memory(error);
  for (char *next = (char *)out->text.data; next;) {
    char *line = strsep(&next, "\n"), *fields[NUM_FIELDS];
    size_t num = split(line, fields);
    if (num == NUM_FIELDS && !add_row(out, fields)) return no_memory(error);
    if (num == 2) out->unused = fields[1];
    if (num == 1 && strcmp(line, "end") == 0) return PPROF_STATUS_OK;
    if (num != 3) continue;
    bool is_usage = strcmp(fields[1], "usage") == 0;
    return ppi_fail(error,
                    is_usage ? PPROF_STATUS_INVALID : PPROF_STATUS_CORRUPT,
                    "%s", fields[2]);
  }
  return ppi_fail(error, PPROF_STATUS_UNAVAILABLE, "its count did not end");
}

void ppi_cost_clear(ppi_cost *cost) {
  for (size_t i = 0; i < cost->num_kept; i++) ppi_free(cost->kept[i]);
  ppi_free(cost->kept);
  ppi_buffer_clear(&cost->text);
  ppi_free(cost->rows);
  *cost = (ppi_cost){.num_rows = 0};
}

const char *ppi_cost_keep(ppi_cost *cost, const char *text) {
  size_t len = strlen(text) + 1;
  if (len > MOST_KEPT_BYTES - cost->kept_bytes ||
      !PPI_ROOM(cost->kept, cost->kept_capacity, cost->num_kept + 1))
    return NULL;
  cost->kept_bytes += len;
  char *copy = ppi_strdup(text);
  if (copy) cost->kept[cost->num_kept++] = copy;
  return copy;
}

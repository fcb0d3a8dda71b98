// SPDX-License-Identifier: Apache-2.0
//
// Finds processes, rows, devices and streams by their ids.
#include "import/place.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/say.h"
#include "json/hash.h"

// Beyond any OS's thread ids.
#define FIRST_OWN_NUMBER (UINT64_C(1) << 40)
// Beyond any OS's process ids.
#define FIRST_OWN_PROCESS (INT64_C(1) << 24)

typedef struct place_id {
  uint64_t key;
  int64_t number;
  bool is_text;
} place_id;

// "123" is a number. Paddle's "123(Python)" and "123(C++)" are the same thread
// 123.
static place_id id_of(const ppi_scalar *scalar) {
  place_id id = {0, 0, false};
  size_t len = scalar->len;
  const char *bracket = memchr(scalar->text, '(', len);
  if (scalar->kind == PPI_SCALAR_NONE || scalar->kind == PPI_SCALAR_OTHER)
    return id;
  if (bracket && bracket > scalar->text && scalar->kind == PPI_SCALAR_TEXT &&
      scalar->text[len - 1] == ')')
    len = (size_t)(bracket - scalar->text);
  if (ppi_integer(scalar->text, len, &id.number)) {
    id.key = (uint64_t)id.number;
    return id;
  }
  id.is_text = true;
  id.key = ppi_hash_bytes(11, scalar->text, scalar->len);
  return id;
}

void ppi_place_name(char **name, const ppi_scalar *text) {
  size_t len = text->len;
  while (len > 0 && text->text[len - 1] == ' ') len--;
  if (len == 0 || text->kind != PPI_SCALAR_TEXT) return;
  len = ppi_utf8_cut(text->text, len);
  char *copy = ppi_tool_must(ppi_alloc(len + 1));
  memcpy(copy, text->text, len);
  for (char *zero; (zero = memchr(copy, '\0', len)) != NULL;) *zero = ' ';
  ppi_free(*name);
  *name = copy;
}

// ---- processes ----

uint32_t ppi_place_process(ppi_places *places, const ppi_scalar *pid) {
  place_id id = id_of(pid);
  for (size_t i = 0; i <= places->num_processes; i++) {
    // The process found last is tried first.
    size_t at = i == 0 ? places->last_process : i - 1;
    if (at >= places->num_processes) break;
    const ppi_process *process = &places->processes[at];
    if (process->key != id.key || process->is_text != id.is_text) continue;
    places->last_process = (uint32_t)at;
    return (uint32_t)at;
  }
  if (places->num_processes == PPI_MAX_PROCESSES) {
    places->num_processes_beyond++;
    return PPI_MAX_PROCESSES - 1;
  }
  PPI_MUST_ROOM(places->processes, places->processes_capacity,
                places->num_processes + 1);
  ppi_process *process = &places->processes[places->num_processes];
  *process =
      (ppi_process){.number = id.number, .is_text = id.is_text, .key = id.key};
  if (id.is_text) {
    process->number = (int64_t)places->num_processes + 1;
    ppi_place_name(&process->name, pid);
  }
  return (uint32_t)places->num_processes++;
}

static bool is_number_used(const ppi_places *places, int64_t number) {
  for (size_t i = 0; i < places->num_processes; i++)
    if (!places->processes[i].is_text && places->processes[i].number == number)
      return true;
  return false;
}

void ppi_place_number(ppi_places *places) {
  int64_t next = FIRST_OWN_PROCESS;
  for (size_t i = 0; i < places->num_processes; i++) {
    if (!places->processes[i].is_text) continue;
    while (is_number_used(places, next)) next++;
    places->processes[i].number = next++;
  }
}

// ---- rows ----

static ppi_map_key key_of(const place_id *id, uint32_t process,
                          bool is_python) {
  return (ppi_map_key){
      id->key, (uint64_t)process << 2 | (uint64_t)id->is_text << 1 | is_python};
}

static ppi_row *append_row(ppi_places *places, uint32_t process) {
  PPI_MUST_ROOM(places->rows, places->rows_capacity, places->num_rows + 1);
  ppi_row *row = &places->rows[places->num_rows];
  *row = (ppi_row){.process = process};
  row->number = FIRST_OWN_NUMBER + places->num_rows++;
  return row;
}

// The one row for a process's rows beyond the bound.
static uint32_t other_row(ppi_places *places, uint32_t process) {
  places->num_rows_beyond++;
  for (size_t i = places->num_rows; i-- > PPI_MAX_ROWS;)
    if (places->rows[i].process == process) return (uint32_t)i;
  ppi_row *row = append_row(places, process);
  static const ppi_scalar name = {PPI_SCALAR_TEXT, 7, 0, "<other>"};
  row->is_other = true;
  ppi_place_name(&row->name, &name);
  return (uint32_t)(row - places->rows);
}

uint32_t ppi_place_row(ppi_places *places, uint32_t process,
                       const ppi_scalar *tid, bool is_python) {
  place_id id = id_of(tid);
  ppi_map_key key = key_of(&id, process, is_python);
  size_t found = ppi_map_find(&places->row_ids, key);
  if (found != SIZE_MAX) return (uint32_t)found;
  if (places->num_rows >= PPI_MAX_ROWS) return other_row(places, process);
  ppi_row *row = append_row(places, process);
  ppi_tool_number(&places->row_ids, key);
  row->key = id.key;
  row->is_text = id.is_text;
  row->is_python = is_python;
  // 0 would mean the process, not a thread.
  if (!id.is_text && id.number > 0) row->number = (uint64_t)id.number;
  if (id.is_text) ppi_place_name(&row->name, tid);
  return (uint32_t)(row - places->rows);
}

// ---- devices ----

uint32_t ppi_place_device(ppi_places *places, const char *kind,
                          uint64_t number) {
  for (uint32_t i = 0; i < places->num_devices; i++)
    if (places->devices[i].number == number &&
        strcmp(places->devices[i].kind, kind) == 0)
      return i;
  if (places->num_devices == PPI_MAX_DEVICES) {
    places->num_devices_beyond++;
    return PPI_MAX_DEVICES - 1;
  }
  ppi_device *device = &places->devices[places->num_devices];
  device->number = number;
  snprintf(device->kind, sizeof device->kind, "%s", kind);
  return (uint32_t)places->num_devices++;
}

void ppi_place_device_name(const char *kind, uint64_t number, char *out,
                           size_t size) {
  size_t len = strlen(kind);
  bool ends_in_digit = len > 0 && kind[len - 1] >= '0' && kind[len - 1] <= '9';
  snprintf(out, size, "%s%s%" PRIu64, len > 0 ? kind : "GPU",
           ends_in_digit ? ":" : "", number);
}

uint32_t ppi_place_stream(ppi_places *places, uint32_t device, uint64_t number,
                          uint32_t row) {
  ppi_map_key key = {number, device};
  size_t at = ppi_map_find(&places->stream_ids, key);
  if (at != SIZE_MAX) return (uint32_t)at;
  if (places->num_streams == PPI_MAX_STREAMS) {
    places->num_devices_beyond++;
    return PPI_MAX_STREAMS - 1;
  }
  at = ppi_tool_number(&places->stream_ids, key);
  places->streams[at] = (ppi_stream){device, row, number};
  places->num_streams++;
  return (uint32_t)at;
}

void ppi_places_clear(ppi_places *places) {
  for (size_t i = 0; i < places->num_processes; i++) {
    ppi_free(places->processes[i].name);
    ppi_free(places->processes[i].labels);
    if (places->processes[i].facts)
      ppi_own_facts_clear(places->processes[i].facts);
    ppi_free(places->processes[i].facts);
  }
  for (size_t i = 0; i < places->num_rows; i++) ppi_free(places->rows[i].name);
  ppi_free(places->processes);
  ppi_free(places->rows);
  ppi_map_clear(&places->row_ids);
  ppi_map_clear(&places->stream_ids);
  memset(places, 0, sizeof *places);
}

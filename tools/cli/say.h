// SPDX-License-Identifier: Apache-2.0
//
// Prints messages on the terminal, and lists the exit codes.
#pragma once

#include <stdio.h>

#include "base/base.h"
#include "base/map.h"
#include "base/mem.h"
#include "file/text.h"

// Exit codes of the process; the highest that applies.
#define PPI_EXIT_LIST(X)                                                 \
  X(DONE, 0, "done")                                                     \
  X(CHECK, 1, "a check failed: the identity, --strict or --fail-on")     \
  X(USAGE, 2, "wrong usage or configuration, or an output not writable") \
  X(INPUT, 3, "an input cannot be read or is not ours")                  \
  X(DAMAGED, 4, "an input is damaged; what could be read is reported")   \
  X(INCOMPARABLE, 5, "the inputs cannot be compared or merged")
enum ppi_tool_exit {
#define PPI_EXIT_ENUM_(name, value, text) PPI_EXIT_##name = value,
  PPI_EXIT_LIST(PPI_EXIT_ENUM_)
#undef PPI_EXIT_ENUM_
};

// ppi_tool_worse answers the exit code of two that applies.
static inline int ppi_tool_worse(int code, int other) {
  return PPI_MAX(code, other);
}
// ppi_tool_show prints a line: a path, safe for a terminal.
void ppi_tool_show(FILE *out, const char *path);
// ppi_tool_name makes messages call the file `path` `name`; both stay the
// caller's and must live on. ppi_tool_name_of answers that name, or `path` if
// it has none.
void ppi_tool_name(const char *path, const char *name);
const char *ppi_tool_name_of(const char *path);
// ppi_tool_say prints "pprof-report: ..." on stderr.
void ppi_tool_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
// ppi_tool_list adds a name to a list, "a, b"; without room the list stays.
void ppi_tool_list(char *list, size_t size, const char *name);
// ppi_tool_fail says so, and answers `code`.
int ppi_tool_fail(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// ppi_tool_failed says why a call failed, and answers `code`.
int ppi_tool_failed(int code, pprof_status status, const pprof_error *error);
// ppi_tool_put puts a text of which all is visible, as ppi_page_visible has it,
// but the line's end behind the format.
void ppi_tool_put(ppi_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// ppi_tool_time writes ns since 1970 as "2026-11-21T07:30:00.123Z", with so
// many digits of a second; "": no such time.
void ppi_tool_time(uint64_t ns, int digits, char out[40]);
// ppi_tool_must answers `memory`. Of none it says so, and the process ends.
void *ppi_tool_must(void *memory) __attribute__((returns_nonnull));
// ppi_tool_number is the number of a key, the map's number of keys before the
// call if it is new.
size_t ppi_tool_number(ppi_map *map, ppi_map_key key);
// PPI_MUST_ROOM makes room as PPI_ROOM (base/mem.h) does.
#define PPI_MUST_ROOM(items, capacity, need) \
  ppi_tool_must(PPI_ROOM(items, capacity, need) ? (void *)(items) : NULL)
// PPI_MUST_PUSH appends as PPI_PUSH does.
#define PPI_MUST_PUSH(items, num, capacity, ...) \
  ppi_tool_must(PPI_PUSH(items, num, capacity, __VA_ARGS__) ? (items) : NULL)
// PPI_MUST_REACH makes room for an item at `id`. Items from `num` on are zero.
#define PPI_MUST_REACH(items, num, capacity, id)                         \
  for (PPI_MUST_ROOM(items, capacity, (size_t)(id) + 1); (num) <= (id);) \
  memset(&(items)[(num)++], 0, sizeof *(items))

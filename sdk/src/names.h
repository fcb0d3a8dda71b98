// SPDX-License-Identifier: Apache-2.0
//
// Names: process-wide categories, and per session the definitions (sites,
// categories, lanes, devices, streams, texts) in the spool's append-only area.
// Looking a name up is lock-free; adding one takes a mutex, once per name.
#ifndef PPI_NAMES_H_
#define PPI_NAMES_H_

#include "pprof/mark.h"
#include "spool.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_MAX_SITES 65536u
#define PPI_MAX_CATEGORIES 1024u

// A definition as it lies in the names area, 8-aligned, NUL-terminated.
// Kinds are pprof_definition_kind and the two below, whose name is the key and
// whose second string the value.
enum { PPI_DEFINITION_INFO = 100, PPI_DEFINITION_NOTE = 101 };
typedef struct ppi_definition_record {
  uint32_t size;  // of the whole record
  uint32_t kind;
  uint32_t id, parent;
  uint64_t number;
  uint32_t color;
  uint32_t name_len;
  char name[];  // name NUL [value NUL]
} ppi_definition_record;

typedef struct ppi_names ppi_names;

pprof_status ppi_names_create(ppi_spool *spool, ppi_names **out);
void ppi_names_destroy(ppi_names *names);

// ppi_names_site answers the id of the site with this content; the id of
// `<other>` (counted) when there are too many, 0 when not even that has room.
uint32_t ppi_names_site(ppi_names *names, const char *name, uint32_t category,
                        uint32_t color);
bool ppi_names_site_is(const ppi_names *names, uint32_t id, const char *name,
                       uint32_t category);
// ppi_names_define appends any other definition; false when there is no room.
bool ppi_names_define(ppi_names *names, const pprof_definition *definition);
bool ppi_names_text(ppi_names *names, uint32_t kind, const char *key,
                    const char *value);

// ppi_names_next walks the published records: *cursor starts at 0; NULL at
// `end` bytes, or where a record does not fit.
const ppi_definition_record *ppi_names_next(const ppi_spool *spool,
                                            uint64_t end, uint64_t *cursor);

const char *ppi_category_name(uint32_t category);
// A thread that is not in the child may have held the categories' lock.
void ppi_names_in_forked_child(void);

#ifdef __cplusplus
}
#endif

#endif  // PPI_NAMES_H_

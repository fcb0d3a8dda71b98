// SPDX-License-Identifier: Apache-2.0
//
// A session's own copy of the choice, and what names.c keeps of it.
#ifndef PPI_CHOICE_STATE_H_
#define PPI_CHOICE_STATE_H_

#include "names/choice.h"
#include "spool/spool.h"

#ifdef __cplusplus
extern "C" {
#endif

// One piece of memory, texts included.
ppi_choice *ppi_choice_copy(const ppi_choice *choice);

// What a session was given last; NULL: everything is wanted.
typedef struct ppi_choice_state ppi_choice_state;
// ppi_choice_begin puts it in force; before the first name.
struct ppi_names;
pprof_status ppi_choice_begin(const ppi_choice_state *state,
                              struct ppi_names *names,
                              ppi_spool_header *header);
void ppi_choice_destroy(ppi_choice_state *state);

// ppi_choice_wants: by name and category; `name` is the one in the program.
bool ppi_choice_wants(const ppi_choice *choice, const char *name,
                      uint32_t category);
// ppi_choice_measures: its ranges' CPU use.
bool ppi_choice_measures(const ppi_choice *choice, const char *name);
// ppi_choice_shows: or else as its hash.
bool ppi_choice_shows(const ppi_choice *choice, const char *name);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CHOICE_STATE_H_

// SPDX-License-Identifier: Apache-2.0
//
// Which sites are recorded: by name, by category (timer only), by request; and
// which names leave the process as they are. Set by config/; markers meet it
// once per site and epoch.
#ifndef PPI_CHOICE_H_
#define PPI_CHOICE_H_

#include "pprof/session.h"

#ifdef __cplusplus
extern "C" {
#endif

// All zero: everything is recorded, under its own name. In globs `*` stands for
// any text and `?` for one character; they must fit the whole name.
typedef struct ppi_choice {
  const char *const *include;  // none: all
  size_t num_include;
  const char *const *exclude;  // wins over include
  size_t num_exclude;
  const char *const *allow;  // with hash_names: names kept as they are
  size_t num_allow;
  const char *const *cpu;  // host ranges whose CPU use is measured; none: none
  size_t num_cpu;
  bool timer_only;          // ProfileStep and Dataloader ranges only
  bool hash_names;          // names are stored as ppi_name_hash makes them
  uint64_t requests_every;  // keep requests of one hash in so many; 0, 1: all
} ppi_choice;

// ppi_session_set_choice copies `choice`. In a session that runs, only
// include, exclude and cpu may differ from what is in force (INVALID); they
// hold from a new epoch on. Ranges of the category ProfileStep are never
// excluded.
pprof_status ppi_session_set_choice(pprof_session *session,
                                    const ppi_choice *choice);

bool ppi_glob_match(const char *glob, const char *text);

// ppi_name_hash writes "#" and the first 12 hexadecimal digits of the name's
// SHA-256.
#define PPI_NAME_HASH ((size_t)14)
void ppi_name_hash(const char *name, char out[PPI_NAME_HASH]);

// ppi_request_is_kept: of all requests, one in `every` (0, 1: all), the same
// ones in every process.
bool ppi_request_is_kept(uint64_t flow, uint64_t every);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CHOICE_H_

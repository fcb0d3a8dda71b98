// SPDX-License-Identifier: Apache-2.0
//
// Which sites are recorded: by name, by category (timer only), by request; and
// which names leave the process as they are. config/ sets it; a marker uses it
// once per site and epoch.
#pragma once

#include "pprof/session.h"

PPROF_BEGIN_C_

// Which names fold (fold.h): those that NVTX brings; those given at run time,
// too; none.
typedef enum ppi_folds {
  PPI_FOLDS_NVTX = 0,
  PPI_FOLDS_ALL,
  PPI_FOLDS_OFF
} ppi_folds;

// All zero: everything is recorded, under its own name. In globs `*` stands for
// any text and `?` for one character; they must fit the whole name.
typedef struct ppi_choice {
  const char *const *include;  // none: all
  size_t num_include;
  const char *const *exclude;  // wins over include
  size_t num_exclude;
  const char *const *allow;  // with hash_names: names kept as they are
  size_t num_allow;
  const char *const *cpu;  // host ranges with measured CPU use; none: none
  size_t num_cpu;
  const char *const *keep;  // names that do not fold
  size_t num_keep;
  // Shapes that fold from their first name on: `{n}`, or another word in
  // braces, stands for a number.
  const char *const *shapes;
  size_t num_shapes;
  // Categories of names given at run time: the first glob that fits decides.
  const char *const *categorised;
  const uint32_t *categories;  // of each
  size_t num_categorised;
  uint64_t fold;            // ppi_folds
  bool full_names;          // of those that fold, in traces
  bool timer_only;          // ProfileStep and Dataloader ranges only
  bool hash_names;          // names are stored as ppi_name_hash makes them
  uint64_t requests_every;  // keep requests of one hash in so many; 0, 1: all
} ppi_choice;

// ppi_choice_copy answers one piece of memory, texts included.
ppi_choice *ppi_choice_copy(const ppi_choice *choice);

// The category of the machine's counters: no choice leaves them out or hashes
// their names. Any thread.
void ppi_choice_set_machine(uint32_t category);
bool ppi_choice_is_machine(uint32_t category);
// ppi_choice_wants: by name and category; `name` is the one in the program.
bool ppi_choice_wants(const ppi_choice *choice, const char *name,
                      uint32_t category);
// ppi_choice_measures: is the CPU use of the name's ranges measured?
bool ppi_choice_measures(const ppi_choice *choice, const char *name);
// ppi_choice_keeps: a name that does not fold, whatever others do;
// ppi_choice_folds: a shape that folds from its first name on.
bool ppi_choice_keeps(const ppi_choice *choice, const char *name);
bool ppi_choice_folds(const ppi_choice *choice, const char *shape);
// ppi_choice_category answers the category of a name; `given`: none fits.
uint32_t ppi_choice_category(const ppi_choice *choice, const char *name,
                             uint32_t given);
// ppi_choice_asks: whether any rule goes by name.
bool ppi_choice_asks(const ppi_choice *choice);
// ppi_choice_shows: whether the name is stored; else its hash is.
bool ppi_choice_shows(const ppi_choice *choice, const char *name);

PPROF_END_C_

// SPDX-License-Identifier: Apache-2.0
//
// Shows the spools of operands (a process, a spool, an unfinished log), or of
// all processes of this user.
#pragma once

#include "cli/options.h"
#include "file/text.h"
#include "recover/forensics.h"

typedef struct ppi_spool_list ppi_spool_list;

struct ppi_spool_list {
  // Puts what a spool shows; false: it is refused, after a message that calls
  // it `named`.
  bool (*show)(ppi_spool_list *list, const char *path, const char *named,
               const ppi_forensics *found);
  // Whether a spool that is no operand is shown; NULL: all are.
  bool (*is_wanted)(const char *path);
  struct ppi_tool_options options;  // own ones: not all verbs have an output
  ppi_page page;
  bool json;
  size_t num_shown;
  int code;  // the highest so far
};

// ppi_spool_list_begin checks the output and begins JSON's list of processes.
// Answers PPI_EXIT_DONE, or another code after a message.
int ppi_spool_list_begin(ppi_spool_list *list,
                         const struct ppi_tool_options *options,
                         const char *schema);
// ppi_spool_list_operands shows the spools of all operands. `are_files`: a
// number is no process.
void ppi_spool_list_operands(ppi_spool_list *list, bool are_files);
// ppi_spool_list_all shows those of this user. None is an operand, so no
// failure counts.
void ppi_spool_list_all(ppi_spool_list *list);
// ppi_spool_list_end prints the page, or `nothing` (NULL: nothing) without a
// spool, and answers the exit code.
int ppi_spool_list_end(ppi_spool_list *list, const char *nothing);

// ppi_spool_put_head begins the object of a process in JSON.
void ppi_spool_put_head(ppi_spool_list *list, const char *path,
                        const ppi_forensics *found);
// ppi_spool_name finds the name of a definition; NULL: none.
const char *ppi_spool_name(const ppi_forensics *found, uint32_t kind,
                           uint32_t id);
// ppi_spool_tid is the OS thread of an item; 0: unknown.
uint64_t ppi_spool_tid(const ppi_forensics *found, const ppi_open_item *item);
// ppi_spool_state is the state of an item in a word or two.
const char *ppi_spool_state(const ppi_open_item *item);

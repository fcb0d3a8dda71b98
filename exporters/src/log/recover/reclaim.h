// SPDX-License-Identifier: Apache-2.0
//
// Removes what dead processes left in memory, beside a session that has
// started. A program that is killed again and again would fill the memory with
// spools.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_reclaim_options {
  // Folders of spools; NULL: the session's default folders.
  const char *folder;
  // The most memory that a run with this configuration uses. Larger spools
  // belong to another configuration and stay. Spools that cannot be recovered
  // may keep this much, or an eighth of the folder's file system if that is
  // less.
  uint64_t limit_bytes;
  // Called on reclaim's thread when it has finished with a message.
  void (*reported)(void *user, const char *text);
  void *user;
} ppi_reclaim_options;

typedef struct ppi_reclaim ppi_reclaim;

// ppi_reclaim_start looks for spools but this process's own. When there are
// any, a thread recovers each of a dead process of this user's into its run's
// log, the oldest first, as ppi_recover_in_place does; one with a whole log
// goes. While they take more than may be left, those go for which that fails.
// Only then the call waits, a moment, so that a program that dies at once does
// not leave more than is taken away. NULL: there is nothing to do, or no thread
// for it.
ppi_reclaim *ppi_reclaim_start(const ppi_reclaim_options *options);
// ppi_reclaim_news copies a message once; false: none (yet).
bool ppi_reclaim_news(ppi_reclaim *reclaim, char *out, size_t size);
// ppi_reclaim_finish waits at most this long for the current spool. The rest
// stays as it is, whatever becomes of the thread.
void ppi_reclaim_finish(ppi_reclaim *reclaim, uint64_t wait_ms);
// Frees it. With a running thread, it frees itself later, without a report.
void ppi_reclaim_destroy(ppi_reclaim *reclaim);

PPROF_END_C_

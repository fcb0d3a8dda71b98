// SPDX-License-Identifier: Apache-2.0
//
// What dead processes have left in memory, taken away beside a session that has
// started: a program that is killed again and again would fill it with spools.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_reclaim_options {
  // Of the spools; NULL: where a session puts its own by itself.
  const char *folder;
  // The most that a run like this one keeps in memory. A larger spool is
  // another configuration's and left alone; this much, or an eighth of the
  // folder's file system where that is less, may be left of what cannot be
  // recovered.
  uint64_t limit_bytes;
  // Called on reclaim's thread when it is done and there is something to say.
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
// ppi_reclaim_news copies what is to be reported, once; false: nothing (yet).
bool ppi_reclaim_news(ppi_reclaim *reclaim, char *out, size_t size);
// ppi_reclaim_finish lets it end the one it is at, which it waits for so long;
// what is not recovered then is left as it is, whatever becomes of the thread.
void ppi_reclaim_finish(ppi_reclaim *reclaim, uint64_t wait_ms);
// Frees it; one with a thread that has not ended frees itself and reports no
// more.
void ppi_reclaim_destroy(ppi_reclaim *reclaim);

PPROF_END_C_

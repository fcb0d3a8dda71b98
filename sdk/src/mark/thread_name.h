// SPDX-License-Identifier: Apache-2.0
//
// Names of threads: one that another thread gives by OS id, perhaps before the
// first marker, waits here.
#pragma once

#include "mark/thread.h"

void ppi_thread_name_copy(char to[PPI_THREAD_NAME], const char *name);
// ppi_thread_name_find takes the name that another thread gave this one, if
// any; the system's where it has none at all.
void ppi_thread_name_find(ppi_thread *thread);
// ppi_thread_name_keep remembers one, with ppi_thread_lock; false: there is no
// room. ppi_thread_name_forget forgets it again.
bool ppi_thread_name_keep(uint32_t tid, const char *name);
void ppi_thread_name_forget(uint32_t tid);

// SPDX-License-Identifier: Apache-2.0
//
// Lists the threads that run when a session starts, but the one that starts it.
// Ranges may be open on them.
#include "mark/older.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/descriptor.h"
#include "base/sort.h"
#include "base/thread_id.h"

enum { MOST = 4096 };

// Written while no marker runs.
static struct {
  uint64_t tids[MOST];  // sorted
  size_t num;
  bool is_cut;  // there are more
} older;

void ppi_older_list(void) {
  DIR *folder = ppi_fd_opendir("/proc/self/task");
  uint32_t self = ppi_thread_id();
  older.num = 0;
  older.is_cut = false;
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    uint64_t tid = strtoull(entry->d_name, NULL, 10);
    if (tid == 0 || tid == self) continue;
    if (older.num == MOST)
      older.is_cut = true;
    else
      older.tids[older.num++] = tid;
  }
  if (folder) closedir(folder);
  ppi_sort_numbers(older.tids, older.num);
}

bool ppi_older_has(uint32_t tid) {
  size_t at = ppi_count_below(older.tids, older.num, sizeof *older.tids, tid);
  return older.is_cut || (at < older.num && older.tids[at] == tid);
}

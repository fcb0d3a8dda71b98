// SPDX-License-Identifier: Apache-2.0
//
// What all files of a session may take on the disk together. Writers ask before
// they write; finished files that may go are removed for newer ones, the oldest
// first. Any thread; every call takes NULL, which limits nothing.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_disk ppi_disk;

// One reference, for the caller; NULL when out of memory. Destroy gives one
// back: who uses a disk from a thread of its own takes one.
ppi_disk *ppi_disk_create(uint64_t limit_bytes);
ppi_disk *ppi_disk_ref(ppi_disk *disk);
void ppi_disk_destroy(ppi_disk *disk);
// Who removes segments, and knows which of them are of the run: whatever else
// has a segment's name stays. Before the first one.
typedef void (*ppi_disk_remove)(const char *path, const char *uuid);
void ppi_disk_set_run(ppi_disk *disk, ppi_disk_remove remove, const char *uuid);

// Makes room for `bytes` and answers whether they fit. What has to go is
// removed from the file system at once.
bool ppi_disk_room(ppi_disk *disk, uint64_t bytes);
// The file `path` (absolute, or the folder stays) has `bytes` more, whether
// they fit or not, and from now on may be removed or not: the file that is
// there now, not another that gets its name. The age of a file is that of its
// first call. False when out of memory.
bool ppi_disk_add(ppi_disk *disk, const char *path, uint64_t bytes,
                  bool removable);
// The segment that is, or will be, called `path` may be removed. False when out
// of memory.
bool ppi_disk_add_segment(ppi_disk *disk, const char *path);
// Room and add in one step, for a thread that must not wait for the disk: what
// has to go stays in the file system until ppi_disk_sweep. The file becomes one
// that may not be removed.
bool ppi_disk_take(ppi_disk *disk, const char *path, uint64_t bytes);
// The file `path` yields: it goes before any other where one that does not
// needs room. False when out of memory.
bool ppi_disk_add_yielding(ppi_disk *disk, const char *path);
// Room for more of a file that yields, which nothing is removed for. False: it
// does not count any more, or never again; what is left of it should go.
bool ppi_disk_grow(ppi_disk *disk, const char *path, uint64_t bytes);
// A file that yielded is whole, is called `to` and stays.
void ppi_disk_settle(ppi_disk *disk, const char *path, const char *to);
void ppi_disk_sweep(ppi_disk *disk);
// `path` is not there any more, or is none of this session's.
void ppi_disk_forget(ppi_disk *disk, const char *path);
// Whether `path` counts; what was to go before it was there does not.
bool ppi_disk_knows(ppi_disk *disk, const char *path);
uint64_t ppi_disk_used(ppi_disk *disk);

PPROF_END_C_

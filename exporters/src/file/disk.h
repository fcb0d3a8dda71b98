// SPDX-License-Identifier: Apache-2.0
//
// The limit on the disk space of all files of a session. Writers ask before
// they write; the oldest removable files make room for newer ones. Any thread;
// every call takes NULL, which limits nothing.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_disk ppi_disk;

// One reference, for the caller; NULL when out of memory. Destroy gives one
// back; a thread of its own takes one.
ppi_disk *ppi_disk_create(uint64_t limit_bytes);
ppi_disk *ppi_disk_ref(ppi_disk *disk);
void ppi_disk_destroy(ppi_disk *disk);
// `remove` removes the segments of run `uuid` and leaves other files with such
// a name. Set it before the first segment.
typedef void (*ppi_disk_remove)(const char *path, const char *uuid);
void ppi_disk_set_run(ppi_disk *disk, ppi_disk_remove remove, const char *uuid);

// Makes room for `bytes` and answers whether they fit. The files that must go
// are removed from the file system at once.
bool ppi_disk_room(ppi_disk *disk, uint64_t bytes);
// Adds `bytes` to the file `path`, whether they fit or not. `path` is absolute,
// or the folder stays. `removable`: the file there now may be removed, not a
// later one of that name. Its age is that of its first call. False when out of
// memory.
bool ppi_disk_add(ppi_disk *disk, const char *path, uint64_t bytes,
                  bool removable);
// The segment that is, or will be, called `path` may be removed. False when out
// of memory.
bool ppi_disk_add_segment(ppi_disk *disk, const char *path);
// Room and add in one step, for a thread that must not wait for the disk: files
// that must go stay in the file system until ppi_disk_sweep. The file `path`
// may not be removed from then on.
bool ppi_disk_take(ppi_disk *disk, const char *path, uint64_t bytes);
// The file `path` yields: it is removed before any other when one that does not
// yield needs room. False when out of memory.
bool ppi_disk_add_yielding(ppi_disk *disk, const char *path);
// Adds to a file that yields; nothing is removed for it. False: the file no
// longer counts, and its owner should remove the rest.
bool ppi_disk_grow(ppi_disk *disk, const char *path, uint64_t bytes);
// A file that yielded is complete: it gets the name `to` and stays.
void ppi_disk_settle(ppi_disk *disk, const char *path, const char *to);
void ppi_disk_sweep(ppi_disk *disk);
// Stops counting `path`: it is gone, or is none of this session's files.
void ppi_disk_forget(ppi_disk *disk, const char *path);
// True: `path` counts. A file that waits for its removal does not.
bool ppi_disk_knows(ppi_disk *disk, const char *path);
uint64_t ppi_disk_used(ppi_disk *disk);

PPROF_END_C_

// SPDX-License-Identifier: Apache-2.0
//
// A file under its name plus .part until it is whole. The .part is locked, so
// that of two processes with one name each gets a file of its own.
#pragma once

#include "base/descriptor.h"
#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_part {
  char *path;       // what it is called in the end
  char *part_path;  // NULL: `path` is a pipe or a device, written in place
  int fd;           // the writer's once taken (-1 then); closing it unlocks
  ppi_fd_id id;     // what `fd` was when it was opened
  bool replaces;    // what has its name
} ppi_part;

// Whether a run has used the name `path`: files of it are there.
typedef bool (*ppi_part_taken)(const char *path);
// For what is one file: whether anything has the name, a link too.
bool ppi_part_is_there(const char *path);

// Whether `path` is written as it is: a device, or this user's or root's pipe.
bool ppi_part_goes_in_place(const char *path);

// ppi_part_open claims `path` and opens its .part, emptied. Where another
// process writes that, or has put there what is no file, both get a number in
// their names: "x.1.json" for "x.json". With NULL for `taken` the file replaces
// what has its name in the end. Else nothing is replaced, and the .part of a
// run that died is left alone as well: names that are taken are passed over,
// and the first free one is the file's.
//
// Errors: IO, INVALID (too long, a folder), NO_MEMORY; `*out` is then empty.
pprof_status ppi_part_open(const char *path, ppi_part_taken taken,
                           ppi_part *out, pprof_error *error);
// A pipe waits for its reader when it is opened: ppi_part_open leaves that,
// `fd` being -1, to whoever writes it. 0 or errno.
int ppi_part_open_pipe(ppi_part *part);
// ppi_part_own_table gives the calling thread, which alone writes the part from
// now on, a table of descriptors of its own with the part's in it. False where
// that is refused.
bool ppi_part_own_table(ppi_part *part);
// Whether `fd` is still the part's. Where the program has closed it, the .part
// is opened again, at its end, if it is still there. 0 or errno; `fd` is -1
// then.
int ppi_part_hold(ppi_part *part);
// The file is whole: it gets its name, in `path`. 0 or errno; `fd` stays as it
// is.
int ppi_part_commit(ppi_part *part);
// The file `from` is called `path`, or where something has that name, the same
// with a number, which `*aside` then is (ppi_free; else NULL). `keeps`: beside
// its present name, where the file system can. 0 or errno.
int ppi_part_settle(const char *from, bool keeps, const char *path,
                    char **aside);
// Closes `fd` when it is still the part's and frees the paths; `remove`: the
// .part goes.
void ppi_part_clear(ppi_part *part, bool remove);

// ppi_part_create opens `path` for reading and writing, made for its owner
// alone where it is not there. What is there already is taken only as this
// user's own plain file under this one name: whatever else lies in a folder of
// many users may be there to be written over, or read. -1 and errno; EEXIST:
// not that.
int ppi_part_create(const char *path);
// Whether `path` is a link of a user who is neither this one nor root.
bool ppi_part_is_foreign_link(const char *path);

// Whether another process writes the file; else it is locked for us until the
// file is closed.
bool ppi_part_is_buffered(int fd);
// "runs/x.json.gz" and "1" give "runs/x.1.json.gz". The caller frees it; NULL
// when out of memory.
char *ppi_part_sibling(const char *path, const char *infix);

PPROF_END_C_

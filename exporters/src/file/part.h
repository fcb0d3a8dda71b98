// SPDX-License-Identifier: Apache-2.0
//
// A file is called .part until it is complete. The .part is locked: if two
// processes want one name, each gets a file of its own.
#pragma once

#include <limits.h>

#include "base/descriptor.h"

PPROF_BEGIN_C_

// A path as a value: to make one needs no memory. A path that is too long for
// the system stays too long here, so that no call finds another file.
typedef struct ppi_path {
  char text[PATH_MAX + 8];
} ppi_path;
ppi_path ppi_path_make(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
// The program may change its folder before a file gets its name.
ppi_path ppi_path_absolute(const char *path);
// `name` in the folder of `beside`.
ppi_path ppi_path_beside(const char *beside, const char *name);
// "runs/x.json.gz" and 1 give "runs/x.1.json.gz"; 0: the path itself.
ppi_path ppi_part_sibling(const char *path, int number);

typedef struct ppi_part {
  ppi_path path;       // its final name; "": none
  ppi_path part_path;  // "": `path` is a pipe or a device, written in place
  int fd;              // the writer's once taken (-1 then); closing it unlocks
  ppi_fd_id id;        // what `fd` was when it was opened
  bool replaces;       // an existing file of its name
} ppi_part;

// True: files of a run have the name `path`.
typedef bool (*ppi_part_taken)(const char *path);
// True: `path` exists, be it as a link.
bool ppi_part_is_there(const char *path);

// True: `path` is written in place: a device, or a pipe of this user or root.
bool ppi_part_goes_in_place(const char *path);

// ppi_part_open claims `path` and opens its .part, emptied. If another process
// writes that, or it is no plain file, both names get a number: "x.1.json" for
// "x.json". With NULL for `taken` the file finally replaces one of its name.
// Else nothing is replaced, not even the .part of a dead run: the file gets the
// first free name.
//
// Errors: IO (also of a folder, or a path that is too long); `*out` is then
// empty.
pprof_status ppi_part_open(const char *path, ppi_part_taken taken,
                           ppi_part *out, pprof_error *error);
// Opening a pipe waits for its reader. ppi_part_open therefore leaves `fd` at
// -1, and the thread that writes it calls this. 0 or errno.
int ppi_part_open_pipe(ppi_part *part);
// ppi_part_own_table gives the calling thread, from now on the part's only
// writer, its own table of descriptors with the part's in it. False where the
// system refuses it.
bool ppi_part_own_table(ppi_part *part);
// Checks that `fd` is still the part's. If the program has closed it, this
// opens the .part again, at its end. 0 or errno; `fd` is -1 then.
int ppi_part_hold(ppi_part *part);
// Gives the complete file its name, in `path`. 0 or errno; `fd` stays as it is.
int ppi_part_commit(ppi_part *part);
// Renames the file `from` to `path`, or if that exists, to a name with a
// number, returned in `*path`. `keeps`: it keeps its old name as well, where
// the file system can. 0 or errno.
int ppi_part_settle(const char *from, bool keeps, ppi_path *path);
// Closes `fd` if it is still the part's and forgets the paths; `remove`:
// removes the .part as well.
void ppi_part_clear(ppi_part *part, bool remove);

// ppi_part_create opens `path` for reading and writing; a new file is its
// owner's alone. An existing file must be this user's own plain file with one
// name: in a shared folder another user may have put it there, to be
// overwritten or read. -1 and errno; EEXIST: it is no such file.
int ppi_part_create(const char *path);
// True: `path` is a link of a user other than this one and root.
bool ppi_part_is_foreign_link(const char *path);

// True: another process writes the file. Else this locks it until it is closed.
bool ppi_part_is_buffered(int fd);
PPROF_END_C_

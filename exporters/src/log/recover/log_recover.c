// SPDX-License-Identifier: Apache-2.0
//
// Which files belong together, what the result is called, and when the
// leftovers may go: after the rename, never before.
#include "log/recover/log_recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "file/part.h"
#include "log/format/staged.h"
#include "log/read/log_glance.h"
#include "log/recover/flight_recover.h"
#include "log/recover/log_rescue.h"
#include "log/recover/recover_find.h"
#include "log/recover/recover_path.h"
#include "log/write/log_writer.h"
#include "log/write/rotate.h"

typedef struct recover_job {
  ppi_recover_options options;
  bool in_place;  // nobody has asked for it
  ppi_recover_result *result;
  pprof_error *error;
  ppi_salvage *salvage;  // NULL: there is no spool
  char *spool_path;      // the one that `salvage` is of
  char *named_path;      // what the run calls its .part; may be gone
  char *part_path;       // NULL: there is no .part of this run
  bool owns_spool;       // the spool stages no other log's blocks
  bool foreign;          // another user's: its paths are not to be written to
  char *final_path, *temporary_path;
  char uuid[PPI_LOG_UUID_LEN + 1];
  uint32_t segment;  // that `final_path` is of; 0: the log is one file
} recover_job;

static pprof_status no_memory(recover_job *recovery) {
  return ppi_fail(recovery->error, PPROF_STATUS_NO_MEMORY, "out of memory");
}

static pprof_status fail_io(recover_job *recovery, const char *path,
                            int error) {
  return ppi_fail(recovery->error, PPROF_STATUS_IO, "%s: %s", path,
                  strerror(error));
}

// ---- looking at logs ----

static bool exists(const char *path) {
  return access(path, F_OK) == 0;
}

static bool ends_in_part(const char *path) {
  return ppi_recover_ends_in(path, ".part");
}

// ---- the result's name ----

// 0: free or this run's own and not whole; 1: this run's, whole; -1: another's.
static int look_at_final(const recover_job *recovery, const char *path) {
  if (!exists(path)) return 0;
  ppi_log_glance found;
  if (ppi_log_glance_at(path, &found, NULL) != PPROF_STATUS_OK) return -1;
  ppi_free(found.spool_path);
  if (!recovery->uuid[0] || strcmp(found.uuid, recovery->uuid) != 0) return -1;
  // The run's dump may have got the name that its log was to have.
  if (found.dump && recovery->salvage) return -1;
  return found.complete ? 1 : 0;
}

static char *default_final(const recover_job *recovery) {
  if (recovery->named_path) {
    if (!ends_in_part(recovery->named_path))
      return ppi_log_sibling_path(recovery->named_path, "recovered");
    char *path = ppi_strdup(recovery->named_path);
    if (path) path[strlen(path) - 5] = '\0';
    if (!path || !recovery->segment) return path;
    char *segment = ppi_segment_path(path, recovery->segment);
    ppi_free(path);
    return segment;
  }
  return ppi_recover_name_of(recovery->uuid, ".pplog");
}

// A newer run may have taken the name; then this one goes beside it.
static pprof_status find_final(recover_job *recovery, bool *out_whole) {
  const char *output = recovery->options.output;
  char *wanted = output ? ppi_strdup(output) : default_final(recovery);
  ppi_free(recovery->temporary_path);
  recovery->temporary_path = NULL;
  char infix[32] = "recovered";
  for (int n = 1; wanted && n < 10000; n++) {
    ppi_free(recovery->final_path);
    recovery->final_path =
        n == 1 ? ppi_strdup(wanted) : ppi_log_sibling_path(wanted, infix);
    if (!recovery->final_path) break;
    int found = look_at_final(recovery, recovery->final_path);
    if (found < 0 && output && recovery->options.overwrite) found = 0;
    *out_whole = found == 1;
    if (found >= 0 || output) {
      ppi_free(wanted);
      return found >= 0 ? PPROF_STATUS_OK
                        : fail_io(recovery, recovery->final_path, EEXIST);
    }
    snprintf(infix, sizeof infix, n == 1 ? "recovered" : "recovered%d", n);
  }
  ppi_free(wanted);
  return no_memory(recovery);
}

// ---- writing it ----

static pprof_status open_temporary(recover_job *recovery, int *out) {
  size_t size = strlen(recovery->final_path) + sizeof ".recovering";
  recovery->temporary_path = ppi_alloc(size);
  if (!recovery->temporary_path) return no_memory(recovery);
  snprintf(recovery->temporary_path, size, "%s.recovering",
           recovery->final_path);
  int fd = ppi_part_create(recovery->temporary_path);
  if (fd < 0) return fail_io(recovery, recovery->temporary_path, errno);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_OFD_SETLK, &lock) != 0 &&
      (errno == EAGAIN || errno == EACCES)) {
    close(fd);
    return ppi_fail(recovery->error, PPROF_STATUS_BUSY,
                    "%s: another recover is writing it",
                    recovery->temporary_path);
  }
  if (ftruncate(fd, 0) != 0) {
    int error = errno;
    close(fd);
    return fail_io(recovery, recovery->temporary_path, error);
  }
  *out = fd;
  return PPROF_STATUS_OK;
}

static pprof_status no_log(recover_job *recovery, pprof_status status) {
  return ppi_fail(recovery->error, status, "%s: %s", recovery->temporary_path,
                  pprof_status_string(status));
}

static const ppi_staging *own_staging(const recover_job *recovery) {
  return recovery->salvage && recovery->owns_spool
             ? ppi_salvage_staging(recovery->salvage)
             : NULL;
}

// One segment, or all of the run: what was on the way to its file and, of the
// last one, what no block has. *next: another one follows.
static pprof_status fill(recover_job *recovery, ppi_rescue *rescue,
                         uint64_t *cursor, uint32_t *next) {
  pprof_status status = PPROF_STATUS_OK;
  const ppi_staging *staging = own_staging(recovery);
  *next = 0;
  if (status == PPROF_STATUS_OK && staging)
    status = ppi_rescue_copy_staged(rescue, staging, cursor, next);
  ppi_salvage *salvage = *next ? NULL : recovery->salvage;
  ppi_text uuid = {"uuid", recovery->uuid};
  pprof_run_info none = {.texts = &uuid, .num_texts = 1};
  if (status == PPROF_STATUS_OK)
    status = ppi_rescue_finish(rescue, salvage,
                               salvage ? ppi_salvage_run_info(salvage) : &none);
  if (rescue->io_error)
    return fail_io(recovery, recovery->temporary_path, rescue->io_error);
  return status == PPROF_STATUS_OK ? status : no_log(recovery, status);
}

static pprof_status give_name(recover_job *recovery, int fd) {
  if (close(fd) != 0 ||
      rename(recovery->temporary_path, recovery->final_path) != 0)
    return fail_io(recovery, recovery->temporary_path, errno);
  return PPROF_STATUS_OK;
}

// Segments go into one file where the caller has named it.
static pprof_status next_file(recover_job *recovery, ppi_rescue *rescue,
                              int *fd, uint32_t segment) {
  pprof_status status = PPROF_STATUS_OK;
  bool whole;
  if (!recovery->options.output) {
    status = give_name(recovery, *fd);
    *fd = -1;
    recovery->segment = segment;
    if (status == PPROF_STATUS_OK) status = find_final(recovery, &whole);
    if (status == PPROF_STATUS_OK) status = open_temporary(recovery, fd);
  }
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_rescue_begin_segment(rescue, *fd, recovery->uuid);
  return status == PPROF_STATUS_OK ? status : no_log(recovery, status);
}

static pprof_status write_log(recover_job *recovery) {
  int fd = -1;
  ppi_rescue rescue;
  uint64_t cursor = 0;
  uint32_t next = 0;
  pprof_status status = open_temporary(recovery, &fd);
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_rescue_begin(&rescue, fd, recovery->uuid, recovery->result);
  if (status == PPROF_STATUS_OK && recovery->part_path)
    status = ppi_rescue_copy_file(&rescue, recovery->part_path, NULL);
  if (status != PPROF_STATUS_OK)
    status = rescue.io_error
                 ? fail_io(recovery, recovery->temporary_path, rescue.io_error)
                 : no_log(recovery, status);
  while (status == PPROF_STATUS_OK) {
    status = fill(recovery, &rescue, &cursor, &next);
    if (status != PPROF_STATUS_OK || !next) break;
    status = next_file(recovery, &rescue, &fd, next);
  }
  ppi_rescue_clear(&rescue);
  if (status == PPROF_STATUS_OK)
    status = give_name(recovery, fd);
  else if (fd >= 0)
    close(fd);
  if (status != PPROF_STATUS_OK && recovery->temporary_path)
    unlink(recovery->temporary_path);
  return status;
}

// A .part whose run died before the file's header was whole says nothing, not
// even whose it is; it goes unless somebody writes it. So does the beginning of
// the next segment's file.
static void remove_empty(const char *path, off_t most) {
  int fd = ppi_fd_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  struct stat stat;
  if (fcntl(fd, F_OFD_SETLK, &lock) == 0 && fstat(fd, &stat) == 0 &&
      S_ISREG(stat.st_mode) && stat.st_size <= most)
    unlink(path);
  close(fd);
}

static void remove_next(const recover_job *recovery) {
  if (!recovery->segment || !recovery->named_path) return;
  size_t size = strlen(recovery->named_path) + sizeof ".next";
  char *path = ppi_alloc(size);
  if (!path) return;
  snprintf(path, size, "%s.next", recovery->named_path);
  remove_empty(path, PPI_LOG_FILE_HEADER_SIZE);
  ppi_free(path);
}

// The final log is there and whole.
static void remove_leftovers(const recover_job *recovery) {
  if (recovery->options.keep) return;
  if (recovery->named_path && ends_in_part(recovery->named_path))
    remove_empty(recovery->named_path, PPI_LOG_FILE_HEADER_SIZE - 1);
  remove_next(recovery);
  if (recovery->part_path && ends_in_part(recovery->part_path))
    unlink(recovery->part_path);
  if (recovery->salvage && recovery->owns_spool) unlink(recovery->spool_path);
}

// Which segment the first staged run info is of, or the first one of a segment
// after `after`; 0: there is none.
static pprof_status staged_after(recover_job *recovery, uint32_t after,
                                 uint32_t *out_segment) {
  const ppi_staging *staging = own_staging(recovery);
  ppi_log_run *runs = ppi_alloc(PPI_LOG_MAX_RUNS * sizeof *runs);
  ppi_log_payload payload;
  ppi_log_glance found = {.segment = 0};
  uint64_t cursor = 0, number;
  uint32_t len;
  const void *bytes;
  pprof_status status = ppi_log_payload_init(&payload);
  if (!runs) status = PPROF_STATUS_NO_MEMORY;
  while (status == PPROF_STATUS_OK && staging && found.segment <= after &&
         ppi_staging_walk(staging, &cursor, &bytes, &len, &number)) {
    ppi_log_block block;
    if (ppi_log_parse_staged(bytes, len, runs, &block) && block.ok &&
        block.header.type == PPI_LOG_INFO)
      status = ppi_log_glance_info(&payload, &block, &found);
  }
  ppi_log_payload_clear(&payload);
  ppi_free(found.spool_path);
  ppi_free(runs);
  *out_segment = found.segment > after ? found.segment : 0;
  return status == PPROF_STATUS_OK ? status : no_memory(recovery);
}

static pprof_status make_whole(recover_job *recovery) {
  bool whole = false;
  pprof_status status = find_final(recovery, &whole);
  uint32_t another = 0;
  if (status == PPROF_STATUS_OK && recovery->segment)
    status = staged_after(recovery, recovery->segment, &another);
  if (status != PPROF_STATUS_OK) return status;
  recovery->result->already_whole = whole;
  if (!whole || another) {
    recovery->result->already_whole = false;
    status = write_log(recovery);
  }
  if (status != PPROF_STATUS_OK) return status;
  snprintf(recovery->result->path, sizeof recovery->result->path, "%s",
           recovery->final_path);
  remove_leftovers(recovery);
  return PPROF_STATUS_OK;
}

// ---- from what was given to what belongs to it ----

static void set_uuid(recover_job *recovery, const char *uuid) {
  if (uuid) snprintf(recovery->uuid, sizeof recovery->uuid, "%s", uuid);
}

static pprof_status take_salvage(recover_job *recovery, const char *path,
                                 pprof_error *error) {
  pprof_status status = ppi_salvage_open(path, &recovery->salvage, error);
  if (status != PPROF_STATUS_OK) return status;
  if (!recovery->options.keep && !ppi_salvage_claim(recovery->salvage))
    return ppi_fail(error, PPROF_STATUS_BUSY,
                    "%s: another recover is at it, or was", path);
  set_uuid(recovery, pprof_run_info_text(
                         ppi_salvage_run_info(recovery->salvage), "uuid"));
  recovery->foreign = !ppi_salvage_is_own(recovery->salvage);
  recovery->spool_path = ppi_strdup(path);
  return recovery->spool_path ? status : no_memory(recovery);
}

static bool same_run(const recover_job *recovery, const char *uuid) {
  return recovery->uuid[0] && strcmp(recovery->uuid, uuid) == 0;
}

// The run's own log under its final name, where it died between the rename and
// the removal of its spool: that log then is what there is to copy.
static char *find_whole(recover_job *recovery) {
  if (!recovery->segment && ends_in_part(recovery->named_path)) {
    char *base = ppi_strdup(recovery->named_path);
    if (!base) return NULL;
    base[strlen(base) - 5] = '\0';
    recovery->segment = ppi_segments_last(base, recovery->uuid);
    ppi_free(base);
  }
  char *path = default_final(recovery);
  if (path && look_at_final(recovery, path) == 1) return path;
  ppi_free(path);
  return NULL;
}

// A dump that was being written when the process died ends with what is in its
// file. One with nothing in it goes, and one that a recover which was killed
// was making.
static void finish_dump(const recover_job *recovery, const char *part) {
  ppi_log_glance found;
  ppi_recover_result ignored;
  if (ppi_log_glance_at(part, &found, NULL) != PPROF_STATUS_OK) {
    remove_empty(part, PPI_LOG_FILE_HEADER_SIZE - 1);
    return;
  }
  ppi_free(found.spool_path);
  if (!same_run(recovery, found.uuid)) return;
  if (found.dump && !found.death)
    ppi_recover(part, NULL, &ignored, NULL);
  else
    remove_empty(part, found.death ? INT64_MAX : PPI_LOG_FILE_HEADER_SIZE);
}

// All that have the recorder's name, or that name with a number.
static void finish_dumps(const recover_job *recovery, const char *path) {
  bool more = true;
  for (int n = 0; more && n < 10000; n++) {
    char infix[16];
    snprintf(infix, sizeof infix, "%d", n);
    char *name = n ? ppi_log_sibling_path(path, infix) : ppi_strdup(path);
    size_t size = name ? strlen(name) + sizeof ".part" : 0;
    char *part = name ? ppi_alloc(size) : NULL;
    if (part) snprintf(part, size, "%s.part", name);
    bool is_begun = part && exists(part);
    more = part && (is_begun || exists(name));
    if (is_begun) finish_dump(recovery, part);
    ppi_free(part);
    ppi_free(name);
  }
}

// What the spool calls `told`, as far as it is believed; NULL: no memory.
static char *place_of(const recover_job *recovery, const char *told,
                      const char *folder) {
  const ppi_recover_place place = {recovery->spool_path, recovery->uuid,
                                   recovery->foreign, folder};
  char *path = ppi_recover_place_of(&place, told);
  ppi_recover_result *result = recovery->result;
  if (path && strcmp(path, told) != 0 && !result->told_path[0])
    snprintf(result->told_path, sizeof result->told_path, "%s", told);
  return path;
}

// Beside the run's log, where it has one.
static char *dump_path(const recover_job *recovery) {
  const char *log = recovery->named_path;
  const char *slash = log ? strrchr(log, '/') : NULL;
  char *folder = slash ? ppi_strdup(log) : NULL;
  if (slash && !folder) return NULL;
  if (folder) folder[slash - log + 1] = '\0';
  char *path = place_of(
      recovery, ppi_ring_blocks(ppi_salvage_ring(recovery->salvage))->log_path,
      folder ? folder : recovery->options.folder);
  ppi_free(folder);
  return path;
}

// Of a flight recorder that the spool holds the ring of. Without a log this is
// all that there is to recover.
static pprof_status make_dump(recover_job *recovery, bool has_log) {
  const char *output = has_log ? NULL : recovery->options.output;
  ppi_recover_result *result = recovery->result;
  ppi_flight_recovery made;
  char *path = dump_path(recovery);
  if (!path) return no_memory(recovery);
  if (output && recovery->options.overwrite) unlink(output);
  if (!recovery->options.keep) finish_dumps(recovery, path);
  pprof_status status = ppi_flight_recover(
      recovery->salvage, output ? output : path, &made, recovery->error);
  ppi_free(path);
  if (status != PPROF_STATUS_OK) return status;
  snprintf(result->dump_path, sizeof result->dump_path, "%s", made.path);
  if (has_log) return status;
  snprintf(result->path, sizeof result->path, "%s", made.path);
  result->already_whole = made.already_whole;
  result->blocks_staged = made.num_blocks;
  result->records_recovered = made.num_records;
  remove_leftovers(recovery);
  return status;
}

// The .part that the caller gave, or what the spool calls its own: even when
// that one is gone, its name says what the result is called.
static pprof_status find_part(recover_job *recovery, const char *part,
                              const char *staged) {
  recovery->named_path =
      part ? ppi_strdup(part)
           : place_of(recovery, staged, recovery->options.folder);
  if (!recovery->named_path) return no_memory(recovery);
  // Of a file that has no info yet; what the file says counts more.
  pprof_status status = staged_after(recovery, 0, &recovery->segment);
  if (status != PPROF_STATUS_OK) return status;
  ppi_log_glance found;
  status = ppi_log_glance_at(recovery->named_path, &found, NULL);
  if (status == PPROF_STATUS_NO_MEMORY) return no_memory(recovery);
  if (status == PPROF_STATUS_OK) ppi_free(found.spool_path);
  if (status == PPROF_STATUS_OK && same_run(recovery, found.uuid)) {
    recovery->part_path = ppi_strdup(recovery->named_path);
    if (!recovery->part_path) return no_memory(recovery);
    if (found.segment) recovery->segment = found.segment;
  }
  if (!recovery->part_path) recovery->part_path = find_whole(recovery);
  return PPROF_STATUS_OK;
}

static pprof_status being_written(recover_job *recovery, const char *path) {
  return ppi_fail(recovery->error, PPROF_STATUS_BUSY, "%s: it is being written",
                  path);
}

// Where nobody has asked, a path alone is not believed: in another container it
// may lead elsewhere. The log's lock is asked, too, for it is where a program
// that closes descriptors it does not know cannot reach it.
static pprof_status check_place(recover_job *recovery) {
  if (!recovery->in_place) return PPROF_STATUS_OK;
  if (!recovery->part_path)
    return ppi_fail(recovery->error, PPROF_STATUS_UNAVAILABLE,
                    "%s: no log of its run is found", recovery->spool_path);
  if (ppi_recover_is_written(recovery->part_path))
    return being_written(recovery, recovery->part_path);
  const ppi_ring *ring = ppi_salvage_ring(recovery->salvage);
  char *dump = ring ? dump_path(recovery) : NULL;
  if (ring && !dump) return no_memory(recovery);
  bool stays = !ring || strcmp(dump, ppi_ring_blocks(ring)->log_path) == 0;
  ppi_free(dump);
  return stays ? PPROF_STATUS_OK
               : ppi_fail(recovery->error, PPROF_STATUS_UNAVAILABLE,
                          "%s: the folder of its dump is not known",
                          recovery->spool_path);
}

// `part` is the .part the caller gave; NULL: the one that the spool names.
static pprof_status with_spool(recover_job *recovery, const char *part) {
  const char *staged = ppi_recover_staged_log(recovery->salvage);
  bool has_log = part || staged[0];
  recovery->owns_spool =
      !part || !staged[0] || ppi_recover_same_file(part, staged);
  snprintf(recovery->result->spool_path, sizeof recovery->result->spool_path,
           "%s", recovery->spool_path);
  pprof_status status =
      has_log ? find_part(recovery, part, staged) : PPROF_STATUS_OK;
  if (status == PPROF_STATUS_OK) status = check_place(recovery);
  bool may_dump =
      !has_log || (!recovery->foreign && !recovery->options.log_only);
  if (status == PPROF_STATUS_OK && may_dump && recovery->owns_spool &&
      ppi_salvage_ring(recovery->salvage)) {
    status = make_dump(recovery, has_log);
    if (!has_log) return status;
  }
  return status == PPROF_STATUS_OK ? make_whole(recovery) : status;
}

static pprof_status from_spool(recover_job *recovery, const char *path) {
  pprof_status status = take_salvage(recovery, path, recovery->error);
  if (status != PPROF_STATUS_OK) return status;
  if (recovery->foreign) recovery->options.keep = true;
  return with_spool(recovery, NULL);
}

static pprof_status without_spool(recover_job *recovery, const char *path,
                                  bool complete, uint32_t segment) {
  if (complete && !ends_in_part(path)) {
    recovery->result->already_whole = true;
    snprintf(recovery->result->path, sizeof recovery->result->path, "%s", path);
    return PPROF_STATUS_OK;
  }
  recovery->named_path = ppi_strdup(path);
  recovery->part_path = ppi_strdup(path);
  recovery->segment = segment;
  if (!recovery->named_path || !recovery->part_path) return no_memory(recovery);
  return make_whole(recovery);
}

// `found` is of a .part that names no spool. *out: recovered with one.
static pprof_status with_found_spool(recover_job *recovery, const char *path,
                                     const ppi_log_glance *found, bool *out) {
  char *spool;
  pprof_status status = ppi_recover_find(path, found->uuid, &spool);
  *out = spool != NULL;
  if (status != PPROF_STATUS_OK) return no_memory(recovery);
  if (spool) {
    status = take_salvage(recovery, spool, recovery->error);
    ppi_free(spool);
    return status == PPROF_STATUS_OK ? with_spool(recovery, path) : status;
  }
  if (found->readable) return PPROF_STATUS_OK;
  if (ppi_recover_is_written(path)) return being_written(recovery, path);
  return ppi_fail(recovery->error, PPROF_STATUS_INVALID,
                  "%.170s: it has no block, and no spool of it is found; "
                  "recover its spool",
                  path);
}

// The spool that a .part names.
static pprof_status with_named_spool(recover_job *recovery, const char *path,
                                     const ppi_log_glance *found, bool *out) {
  pprof_error error = {{0}};
  pprof_status status = take_salvage(recovery, found->spool_path, &error);
  *out = false;
  if (status == PPROF_STATUS_BUSY || status == PPROF_STATUS_NO_MEMORY)
    return ppi_fail(recovery->error, status, "%s", error.text);
  // Another run may have been given the same name.
  if (status == PPROF_STATUS_OK && same_run(recovery, found->uuid) &&
      !recovery->foreign) {
    *out = true;
    return with_spool(recovery, path);
  }
  ppi_salvage_close(recovery->salvage);
  recovery->salvage = NULL;
  return PPROF_STATUS_OK;
}

static pprof_status from_glance(recover_job *recovery, const char *path,
                                const ppi_log_glance *found) {
  // Only what imports and merges write has several, and neither has a spool.
  if (found->several && (!found->complete || ends_in_part(path)))
    return ppi_fail(recovery->error, PPROF_STATUS_INVALID,
                    "%s: several runs; 'pprof-report merge' copies what is "
                    "readable of them",
                    path);
  bool done = false;
  pprof_status status = PPROF_STATUS_OK;
  // What is missing of a dump is in the spool no more.
  if (ends_in_part(path) && !found->dump)
    status = found->spool_path ? with_named_spool(recovery, path, found, &done)
                               : with_found_spool(recovery, path, found, &done);
  if (done || status != PPROF_STATUS_OK) return status;
  // The spool's lock says best whether the run lives; a child that it forked
  // may hold the log's for longer.
  if (ppi_recover_is_written(path)) return being_written(recovery, path);
  set_uuid(recovery, found->uuid);
  return without_spool(recovery, path, found->complete, found->segment);
}

static pprof_status from_log(recover_job *recovery, const char *path) {
  ppi_log_glance found;
  pprof_status status = ppi_log_glance_at(path, &found, recovery->error);
  if (status != PPROF_STATUS_OK) return status;
  status = from_glance(recovery, path, &found);
  ppi_free(found.spool_path);
  return status;
}

static void clear(recover_job *recovery) {
  ppi_salvage_close(recovery->salvage);
  ppi_free(recovery->spool_path);
  ppi_free(recovery->named_path);
  ppi_free(recovery->part_path);
  ppi_free(recovery->final_path);
  ppi_free(recovery->temporary_path);
}

static pprof_status run_job(recover_job *recovery, const char *path) {
  ppi_log_file *file = NULL;
  pprof_error *own = recovery->error;
  pprof_status status = ppi_log_file_open(path, &file, own);
  ppi_log_file_close(file);
  if (status == PPROF_STATUS_OK)
    status = from_log(recovery, path);
  else if (status == PPROF_STATUS_INVALID && ppi_recover_is_empty_part(path))
    status = from_glance(recovery, path, &(ppi_log_glance){.uuid = ""});
  else if (status == PPROF_STATUS_INVALID)
    status = from_spool(recovery, path);
  clear(recovery);
  if (status != PPROF_STATUS_OK && !own->text[0])
    ppi_fail(own, status, "%s: %s", path, pprof_status_string(status));
  return status;
}

pprof_status ppi_recover(const char *path, const ppi_recover_options *options,
                         ppi_recover_result *out, pprof_error *error) {
  memset(out, 0, sizeof *out);
  pprof_error own = {""};
  recover_job recovery = {.result = out, .error = &own};
  if (options) recovery.options = *options;
  pprof_status status = run_job(&recovery, path);
  if (error && status != PPROF_STATUS_OK) *error = own;
  return status;
}

pprof_status ppi_recover_in_place(const char *spool, ppi_recover_result *out,
                                  pprof_error *error) {
  memset(out, 0, sizeof *out);
  pprof_error own = {""};
  recover_job recovery = {.result = out, .error = &own, .in_place = true};
  pprof_status status = run_job(&recovery, spool);
  if (error && status != PPROF_STATUS_OK) *error = own;
  return status;
}

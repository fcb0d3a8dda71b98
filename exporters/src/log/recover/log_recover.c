// SPDX-License-Identifier: Apache-2.0
//
// Finds which files and which spool belong together.
#include "log/recover/log_recover.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "log/read/log_glance.h"
#include "log/recover/flight_recover.h"
#include "log/recover/recover_path.h"
#include "log/recover/recover_write.h"
#include "log/write/log_writer.h"
#include "log/write/rotate.h"
#include "spool/spool_folders.h"

// ---- the spool of a log's file ----
// Of a dead process that stages this file's blocks and has its uuid, among this
// user's spools in the sessions' default folders.
typedef struct search {
  const char *part, *uuid;  // the file's; "": no header
  ppi_path found;           // "": none yet
  bool is_named;        // by a spool, even of a living process or another user
  pprof_status status;  // or NO_MEMORY
} search;

// The log of the spool's staged blocks; "": none.
static const char *staged_log(const ppi_salvage *salvage) {
  const ppi_staging *staging = ppi_salvage_staging(salvage);
  if (!staging || !staging->claimed ||
      !memchr(staging->log_path, '\0', sizeof staging->log_path))
    return "";
  return staging->log_path;
}

static bool same_file(const char *a, const char *b) {
  struct stat left, right;
  return stat(a, &left) == 0 && stat(b, &right) == 0 &&
         left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

// Whether a log writer, or a forked child of it, has it open.
static bool is_written(const char *path) {
  int fd = ppi_fd_open(path, O_RDONLY, 0);
  if (fd < 0) return false;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  bool buffered = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(fd);
  return buffered;
}

static bool is_named(const ppi_salvage *salvage, const search *self) {
  const char *staged = staged_log(salvage);
  return staged[0] && same_file(self->part, staged);
}

// An empty file may have got its name from another run.
static bool is_of(const ppi_salvage *salvage, const search *self) {
  const char *uuid = pprof_run_info_text(ppi_salvage_run_info(salvage), "uuid");
  if (!ppi_salvage_is_own(salvage)) return false;
  return !self->uuid[0] || (uuid && strcmp(uuid, self->uuid) == 0);
}

static void look_at(const char *path, void *user) {
  search *self = user;
  ppi_salvage *salvage;
  if (self->found.text[0] || self->status != PPROF_STATUS_OK) return;
  pprof_status status = ppi_salvage_open(path, &salvage, NULL);
  bool is_alive = status == PPROF_STATUS_BUSY;
  if (is_alive) status = ppi_salvage_open_live(path, &salvage, NULL);
  if (status == PPROF_STATUS_OK) {
    bool names_it = is_named(salvage, self);
    self->is_named = self->is_named || names_it;
    if (names_it && !is_alive && is_of(salvage, self))
      self->found = ppi_path_make("%s", path);
    ppi_salvage_close(salvage);
  }
  if (status == PPROF_STATUS_NO_MEMORY) self->status = status;
}

// ---- from the given file to the files that belong to it ----

static void set_uuid(ppi_recover_job *recovery, const char *uuid) {
  if (uuid) snprintf(recovery->uuid, sizeof recovery->uuid, "%s", uuid);
}

static pprof_status take_salvage(ppi_recover_job *recovery, const char *path,
                                 pprof_error *error) {
  pprof_status status = ppi_salvage_open(path, &recovery->salvage, error);
  if (status != PPROF_STATUS_OK) return status;
  if (!recovery->options.keep && !ppi_salvage_claim(recovery->salvage))
    return ppi_fail(error, PPROF_STATUS_BUSY,
                    "%s: another recover is at it, or was", path);
  set_uuid(recovery, pprof_run_info_text(
                         ppi_salvage_run_info(recovery->salvage), "uuid"));
  recovery->foreign = !ppi_salvage_is_own(recovery->salvage);
  recovery->spool_path = ppi_path_make("%s", path);
  return status;
}

static bool same_run(const ppi_recover_job *recovery, const char *uuid) {
  return recovery->uuid[0] && strcmp(recovery->uuid, uuid) == 0;
}

// A dump that was being written at the death ends with the file's content.
// Empty dumps are removed, and so are those of a killed recover.
static void finish_dump(const ppi_recover_job *recovery, const char *part) {
  ppi_log_glance found;
  ppi_recover_result ignored;
  if (ppi_log_glance_at(part, &found, NULL) != PPROF_STATUS_OK) {
    ppi_recover_remove_empty(part, PPI_LOG_FILE_HEADER_SIZE - 1);
    return;
  }
  if (!same_run(recovery, found.uuid)) return;
  bool is_death =
      strncmp(found.flight, PPI_FLIGHT_DEATH, strlen(PPI_FLIGHT_DEATH)) == 0;
  if (found.flight[0] && !is_death)
    ppi_recover(part, NULL, &ignored, NULL);
  else
    ppi_recover_remove_empty(part,
                             is_death ? INT64_MAX : PPI_LOG_FILE_HEADER_SIZE);
}

// All files with the recorder's name, or that name with a number.
static void finish_dumps(const ppi_recover_job *recovery, const char *path) {
  bool more = true;
  for (int n = 0; more && n < 10000; n++) {
    const ppi_path name = ppi_log_numbered_path(path, n);
    const ppi_path part = ppi_path_make("%s.part", name.text);
    bool is_begun = access(part.text, F_OK) == 0;
    more = is_begun || access(name.text, F_OK) == 0;
    if (is_begun) finish_dump(recovery, part.text);
  }
}

// The path that the spool states, where it can be trusted.
static ppi_path place_of(const ppi_recover_job *recovery, const char *reported,
                         const char *folder) {
  const ppi_recover_place place = {recovery->spool_path.text, recovery->uuid,
                                   recovery->foreign, folder};
  const ppi_path path = ppi_recover_place_of(&place, reported);
  ppi_recover_result *result = recovery->result;
  if (strcmp(path.text, reported) != 0 && !result->reported_path[0])
    snprintf(result->reported_path, sizeof result->reported_path, "%s",
             reported);
  return path;
}

// Beside the run's log, where it has one.
static ppi_path dump_path(const ppi_recover_job *recovery) {
  const char *log = recovery->named_path.text;
  const ppi_path folder = ppi_path_beside(log, "");
  return place_of(
      recovery, ppi_ring_blocks(ppi_salvage_ring(recovery->salvage))->log_path,
      strchr(log, '/') ? folder.text : recovery->options.folder);
}

// For a flight recorder with its ring in the spool. Without a log, the dump is
// all that recover can make.
static pprof_status make_dump(ppi_recover_job *recovery, bool has_log) {
  const char *output = has_log ? NULL : recovery->options.output;
  ppi_recover_result *result = recovery->result;
  ppi_flight_recovery made;
  const ppi_path path = dump_path(recovery);
  if (output && recovery->options.overwrite) unlink(output);
  if (!recovery->options.keep) finish_dumps(recovery, path.text);
  pprof_status status = ppi_flight_recover(
      recovery->salvage, output ? output : path.text, &made, recovery->error);
  if (status != PPROF_STATUS_OK) return status;
  snprintf(result->dump_path, sizeof result->dump_path, "%s", made.path);
  if (has_log) return status;
  snprintf(result->path, sizeof result->path, "%s", made.path);
  result->already_whole = made.already_whole;
  result->blocks_staged = made.num_blocks;
  result->records_recovered = made.num_records;
  ppi_recover_remove_leftovers(recovery);
  return status;
}

// The caller's .part, or the one that the spool names. Even if that file is
// gone, its name decides the result's name.
static pprof_status find_part(ppi_recover_job *recovery, const char *part,
                              const char *staged) {
  recovery->named_path =
      part ? ppi_path_make("%s", part)
           : place_of(recovery, staged, recovery->options.folder);
  // For a file without info; the file's own info takes precedence.
  pprof_status status =
      ppi_recover_staged_after(recovery, 0, &recovery->segment);
  if (status != PPROF_STATUS_OK) return status;
  ppi_log_glance found;
  status = ppi_log_glance_at(recovery->named_path.text, &found, NULL);
  if (status == PPROF_STATUS_NO_MEMORY) return ppi_recover_no_memory(recovery);
  if (status == PPROF_STATUS_OK && same_run(recovery, found.uuid)) {
    recovery->part_path = recovery->named_path;
    if (found.segment) recovery->segment = found.segment;
  }
  if (!recovery->part_path.text[0])
    recovery->part_path = ppi_recover_find_whole(recovery);
  return PPROF_STATUS_OK;
}

static pprof_status being_written(ppi_recover_job *recovery, const char *path) {
  return ppi_fail(recovery->error, PPROF_STATUS_BUSY, "%s: it is being written",
                  path);
}

// In place, a path alone is not trusted: in another container it may lead
// elsewhere. The log's lock is tried, too: a program that closes unknown
// descriptors cannot close it.
static pprof_status check_place(ppi_recover_job *recovery) {
  if (!recovery->in_place) return PPROF_STATUS_OK;
  const char *part = recovery->part_path.text;
  if (!part[0])
    return ppi_fail(recovery->error, PPROF_STATUS_UNAVAILABLE,
                    "%s: no log of its run is found",
                    recovery->spool_path.text);
  if (is_written(part)) return being_written(recovery, part);
  const ppi_ring *ring = ppi_salvage_ring(recovery->salvage);
  bool stays = !ring || strcmp(dump_path(recovery).text,
                               ppi_ring_blocks(ring)->log_path) == 0;
  return stays ? PPROF_STATUS_OK
               : ppi_fail(recovery->error, PPROF_STATUS_UNAVAILABLE,
                          "%s: the folder of its dump is not known",
                          recovery->spool_path.text);
}

// `part` is the .part that the caller gave; NULL: the one that the spool names.
static pprof_status with_spool(ppi_recover_job *recovery, const char *part) {
  const char *staged = staged_log(recovery->salvage);
  bool has_log = part || staged[0];
  recovery->owns_spool = !part || !staged[0] || same_file(part, staged);
  snprintf(recovery->result->spool_path, sizeof recovery->result->spool_path,
           "%s", recovery->spool_path.text);
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
  return status == PPROF_STATUS_OK ? ppi_recover_make_whole(recovery) : status;
}

static pprof_status from_spool(ppi_recover_job *recovery, const char *path) {
  PPI_TRY(take_salvage(recovery, path, recovery->error));
  if (recovery->foreign) recovery->options.keep = true;
  return with_spool(recovery, NULL);
}

static pprof_status without_spool(ppi_recover_job *recovery, const char *path,
                                  bool complete, uint32_t segment) {
  if (complete && !ppi_recover_is_part(path)) {
    recovery->result->already_whole = true;
    snprintf(recovery->result->path, sizeof recovery->result->path, "%s", path);
    return PPROF_STATUS_OK;
  }
  recovery->named_path = recovery->part_path = ppi_path_make("%s", path);
  recovery->segment = segment;
  return ppi_recover_make_whole(recovery);
}

// A process that was killed during its start leaves an empty .part. Its spool
// is gone and had no records: the name is free again.
static bool is_nothing(ppi_recover_job *recovery, const char *path) {
  struct stat stat_;
  if (!ppi_recover_is_part(path) || stat(path, &stat_) != 0 ||
      stat_.st_size > 0 || stat_.st_uid != geteuid())
    return false;
  if (!recovery->options.keep) ppi_recover_remove_empty(path, 0);
  ppi_recover_result *result = recovery->result;
  result->was_nothing = true;
  snprintf(result->path, sizeof result->path, "%s", path);
  return true;
}

// `found` is from a .part without a spool's name. *out: nothing is left to do.
static pprof_status with_found_spool(ppi_recover_job *recovery,
                                     const char *path,
                                     const ppi_log_glance *found, bool *out) {
  search self = {.part = path, .uuid = found->uuid};
  ppi_spool_visit(geteuid(), look_at, &self);
  *out = self.found.text[0];
  if (self.status != PPROF_STATUS_OK) return ppi_recover_no_memory(recovery);
  if (*out) {
    pprof_status status =
        take_salvage(recovery, self.found.text, recovery->error);
    return status == PPROF_STATUS_OK ? with_spool(recovery, path) : status;
  }
  if (found->readable) return PPROF_STATUS_OK;
  if (is_written(path)) return being_written(recovery, path);
  *out = !self.is_named && is_nothing(recovery, path);
  if (*out) return PPROF_STATUS_OK;
  return ppi_fail(recovery->error, PPROF_STATUS_INVALID,
                  "%.170s: it has no block, and no spool of it is found; "
                  "recover its spool",
                  path);
}

// The spool that a .part names.
static pprof_status with_named_spool(ppi_recover_job *recovery,
                                     const char *path,
                                     const ppi_log_glance *found, bool *out) {
  pprof_error error = {{0}};
  pprof_status status = take_salvage(recovery, found->spool_path.text, &error);
  *out = false;
  if (status == PPROF_STATUS_BUSY || status == PPROF_STATUS_NO_MEMORY)
    return ppi_fail(recovery->error, status, "%s", error.text);
  // Another run may have got the same name.
  if (status == PPROF_STATUS_OK && same_run(recovery, found->uuid) &&
      !recovery->foreign) {
    *out = true;
    return with_spool(recovery, path);
  }
  ppi_salvage_close(recovery->salvage);
  recovery->salvage = NULL;
  return PPROF_STATUS_OK;
}

static pprof_status from_glance(ppi_recover_job *recovery, const char *path,
                                const ppi_log_glance *found) {
  // Only logs from imports and merges have several runs, and they have no
  // spool.
  if (found->several && (!found->complete || ppi_recover_is_part(path)))
    return ppi_fail(recovery->error, PPROF_STATUS_INVALID,
                    "%s: several runs; 'pprof-report merge' copies what is "
                    "readable of them",
                    path);
  bool done = false;
  pprof_status status = PPROF_STATUS_OK;
  // The spool does not have the missing part of a dump any more.
  if (ppi_recover_is_part(path) && !found->flight[0])
    status = found->spool_path.text[0]
                 ? with_named_spool(recovery, path, found, &done)
                 : with_found_spool(recovery, path, found, &done);
  if (done || status != PPROF_STATUS_OK) return status;
  // The spool's lock is the best evidence that the run lives. A forked child
  // may keep the log's lock for longer.
  if (is_written(path)) return being_written(recovery, path);
  set_uuid(recovery, found->uuid);
  return without_spool(recovery, path, found->complete, found->segment);
}

static pprof_status from_log(ppi_recover_job *recovery, const char *path) {
  ppi_log_glance found;
  PPI_TRY(ppi_log_glance_at(path, &found, recovery->error));
  return from_glance(recovery, path, &found);
}

static pprof_status run_job(ppi_recover_job *recovery, const char *path) {
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
  ppi_salvage_close(recovery->salvage);
  if (status != PPROF_STATUS_OK && !own->text[0])
    ppi_fail(own, status, "%s: %s", path, pprof_status_string(status));
  return status;
}

pprof_status ppi_recover(const char *path, const ppi_recover_options *options,
                         ppi_recover_result *out, pprof_error *error) {
  memset(out, 0, sizeof *out);
  pprof_error own = {""};
  ppi_recover_job recovery = {.result = out, .error = &own};
  if (options) recovery.options = *options;
  pprof_status status = run_job(&recovery, path);
  if (error && status != PPROF_STATUS_OK) *error = own;
  return status;
}

pprof_status ppi_recover_in_place(const char *spool, ppi_recover_result *out) {
  memset(out, 0, sizeof *out);
  pprof_error error = {""};
  ppi_recover_job recovery = {.result = out, .error = &error, .in_place = true};
  return run_job(&recovery, spool);
}

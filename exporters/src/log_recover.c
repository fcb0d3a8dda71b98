// SPDX-License-Identifier: Apache-2.0
//
// Which files belong together, what the result is called, and when the
// leftovers may go: after the rename, never before.
#include "log_recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_impl.h"
#include "log_rescue.h"
#include "log_writer.h"
#include "mem.h"

typedef struct recover_job {
  ppi_recover_options options;
  ppi_recover_result *result;
  pprof_error *error;
  ppi_salvage *salvage;  // NULL: there is no spool
  char *spool_path;      // the one that `salvage` is of
  char *named_path;      // what the run calls its .part; may be gone
  char *part_path;       // NULL: there is no .part of this run
  bool owns_spool;       // the spool stages no other log's blocks
  char *final_path, *temporary_path;
  char uuid[PPI_LOG_UUID_LEN + 1];
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

typedef struct glance {
  char uuid[PPI_LOG_UUID_LEN + 1];
  char *spool_path;  // NULL: it names none
  bool complete;     // the last block is the end of totals
} glance;

static void glance_info(ppi_log_payload *payload, const ppi_log_block *block,
                        glance *out) {
  bool whole;
  if (ppi_log_payload_open(payload, block) != PPROF_STATUS_OK ||
      ppi_log_payload_piece(payload, block, &whole) != PPROF_STATUS_OK ||
      !whole)
    return;
  for (size_t i = 0; i < payload->num_texts; i++) {
    const ppi_text *text = &payload->texts[i];
    if (strcmp(text->key, "spool") == 0 && text->value[0] && !out->spool_path)
      out->spool_path = ppi_strdup(text->value);
    if (strcmp(text->key, "uuid") == 0 && !out->uuid[0])
      snprintf(out->uuid, sizeof out->uuid, "%s", text->value);
  }
}

static pprof_status glance_at(const char *path, glance *out,
                              pprof_error *error) {
  memset(out, 0, sizeof *out);
  ppi_log_file *file;
  pprof_status status = ppi_log_file_open(path, &file, error);
  if (status != PPROF_STATUS_OK) return status;
  ppi_log_payload payload;
  status = ppi_log_payload_init(&payload);
  snprintf(out->uuid, sizeof out->uuid, "%s", ppi_log_file_uuid(file));
  ppi_log_block block;
  while (status == PPROF_STATUS_OK && ppi_log_file_next(file, &block)) {
    out->complete = block.ok && block.header.type == PPI_LOG_TOTALS &&
                    !(block.header.flags & PPI_LOG_MORE);
    if (block.ok && block.header.type == PPI_LOG_INFO)
      glance_info(&payload, &block, out);
  }
  ppi_log_payload_clear(&payload);
  ppi_log_file_close(file);
  return status;
}

static bool is_written(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  bool held = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(fd);
  return held;
}

static bool exists(const char *path) {
  return access(path, F_OK) == 0;
}

static bool ends_in_part(const char *path) {
  size_t len = strlen(path);
  return len > 5 && strcmp(path + len - 5, ".part") == 0;
}

// ---- the result's name ----

// 0: free or this run's own and not whole; 1: this run's, whole; -1: another's.
static int look_at_final(const recover_job *recovery, const char *path) {
  if (!exists(path)) return 0;
  glance found;
  if (glance_at(path, &found, NULL) != PPROF_STATUS_OK) return -1;
  ppi_free(found.spool_path);
  if (!recovery->uuid[0] || strcmp(found.uuid, recovery->uuid) != 0) return -1;
  return found.complete ? 1 : 0;
}

static char *default_final(const recover_job *recovery) {
  if (recovery->named_path) {
    if (!ends_in_part(recovery->named_path))
      return ppi_log_sibling_path(recovery->named_path, "recovered");
    char *path = ppi_strdup(recovery->named_path);
    if (path) path[strlen(path) - 5] = '\0';
    return path;
  }
  char name[PPI_LOG_UUID_LEN + 32];
  snprintf(name, sizeof name, "pprof.%s.pplog",
           recovery->uuid[0] ? recovery->uuid : "recovered");
  return ppi_strdup(name);
}

// A newer run may have taken the name; then this one goes beside it.
static pprof_status find_final(recover_job *recovery, bool *out_whole) {
  const char *output = recovery->options.output;
  char *wanted = output ? ppi_strdup(output) : default_final(recovery);
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
  int fd = open(recovery->temporary_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
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

static pprof_status fill(recover_job *recovery, int fd) {
  ppi_rescue rescue;
  pprof_status status =
      ppi_rescue_begin(&rescue, fd, recovery->uuid, recovery->result);
  if (status == PPROF_STATUS_OK && recovery->part_path)
    status = ppi_rescue_copy_file(&rescue, recovery->part_path, NULL);
  const ppi_staging *staging = recovery->salvage && recovery->owns_spool
                                   ? ppi_salvage_staging(recovery->salvage)
                                   : NULL;
  if (status == PPROF_STATUS_OK && staging)
    status = ppi_rescue_copy_staged(&rescue, staging);
  ppi_text uuid = {"uuid", recovery->uuid};
  pprof_run_info none = {&uuid, 1, NULL};
  if (status == PPROF_STATUS_OK)
    status = ppi_rescue_finish(
        &rescue, recovery->salvage,
        recovery->salvage ? ppi_salvage_run_info(recovery->salvage) : &none);
  int error = rescue.io_error;
  ppi_rescue_clear(&rescue);
  if (error) return fail_io(recovery, recovery->temporary_path, error);
  if (status == PPROF_STATUS_OK) return status;
  return ppi_fail(recovery->error, status, "%s: %s", recovery->temporary_path,
                  pprof_status_string(status));
}

static pprof_status write_log(recover_job *recovery) {
  int fd = -1;
  pprof_status status = open_temporary(recovery, &fd);
  if (status != PPROF_STATUS_OK) return status;
  status = fill(recovery, fd);
  if (close(fd) != 0 && status == PPROF_STATUS_OK)
    status = fail_io(recovery, recovery->temporary_path, errno);
  if (status == PPROF_STATUS_OK &&
      rename(recovery->temporary_path, recovery->final_path) != 0)
    status = fail_io(recovery, recovery->temporary_path, errno);
  if (status != PPROF_STATUS_OK) unlink(recovery->temporary_path);
  return status;
}

// A .part whose run died before the file's header was whole says nothing, not
// even whose it is; it goes unless somebody writes it.
static void remove_empty(const char *path) {
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  struct stat stat;
  if (fcntl(fd, F_OFD_SETLK, &lock) == 0 && fstat(fd, &stat) == 0 &&
      S_ISREG(stat.st_mode) && stat.st_size < PPI_LOG_FILE_HEADER_SIZE)
    unlink(path);
  close(fd);
}

// The final log is there and whole.
static void remove_leftovers(const recover_job *recovery) {
  if (recovery->options.keep) return;
  if (recovery->named_path && ends_in_part(recovery->named_path))
    remove_empty(recovery->named_path);
  if (recovery->part_path && ends_in_part(recovery->part_path))
    unlink(recovery->part_path);
  if (recovery->salvage && recovery->owns_spool) unlink(recovery->spool_path);
}

static pprof_status make_whole(recover_job *recovery) {
  bool whole = false;
  pprof_status status = find_final(recovery, &whole);
  if (status != PPROF_STATUS_OK) return status;
  recovery->result->already_whole = whole;
  if (!whole) status = write_log(recovery);
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
  set_uuid(recovery, pprof_run_info_text(
                         ppi_salvage_run_info(recovery->salvage), "uuid"));
  recovery->spool_path = ppi_strdup(path);
  return recovery->spool_path ? status : no_memory(recovery);
}

static bool same_run(const recover_job *recovery, const char *uuid) {
  return recovery->uuid[0] && strcmp(recovery->uuid, uuid) == 0;
}

static bool same_file(const char *a, const char *b) {
  struct stat left, right;
  return stat(a, &left) == 0 && stat(b, &right) == 0 &&
         left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

// The log whose blocks the spool stages, "" when there is none.
static const char *staged_log(const recover_job *recovery) {
  const ppi_staging *staging = ppi_salvage_staging(recovery->salvage);
  if (!staging || !staging->claimed ||
      !memchr(staging->log_path, '\0', sizeof staging->log_path))
    return "";
  return staging->log_path;
}

// The run's own log under its final name, where it died between the rename and
// the removal of its spool: that log then is what there is to copy.
static char *find_whole(const recover_job *recovery) {
  char *path = default_final(recovery);
  if (path && look_at_final(recovery, path) == 1) return path;
  ppi_free(path);
  return NULL;
}

// `part` is the .part the caller gave; NULL: the one that the spool names.
// Even when that one is gone, its name says what the result is called.
static pprof_status with_spool(recover_job *recovery, const char *part) {
  const char *staged = staged_log(recovery);
  const char *named = part ? part : staged;
  recovery->owns_spool = !part || !staged[0] || same_file(part, staged);
  if (!named[0]) return make_whole(recovery);
  recovery->named_path = ppi_strdup(named);
  if (!recovery->named_path) return no_memory(recovery);
  glance found;
  pprof_status status = glance_at(named, &found, NULL);
  if (status == PPROF_STATUS_OK) ppi_free(found.spool_path);
  if (status == PPROF_STATUS_OK && same_run(recovery, found.uuid)) {
    recovery->part_path = ppi_strdup(named);
    if (!recovery->part_path) return no_memory(recovery);
  }
  if (!recovery->part_path) recovery->part_path = find_whole(recovery);
  return make_whole(recovery);
}

// Nothing yet, or the first bytes of a log's header.
static bool is_empty_part(const char *path) {
  char start[PPI_LOG_FILE_HEADER_SIZE];
  FILE *file = ends_in_part(path) ? fopen(path, "rb") : NULL;
  if (!file) return false;
  size_t num = fread(start, 1, sizeof start, file);
  fclose(file);
  return num < sizeof start &&
         memcmp(start, PPI_LOG_MAGIC, PPI_MIN(num, strlen(PPI_LOG_MAGIC))) == 0;
}

static pprof_status from_spool(recover_job *recovery, const char *path) {
  pprof_status status = take_salvage(recovery, path, recovery->error);
  return status == PPROF_STATUS_OK ? with_spool(recovery, NULL) : status;
}

static pprof_status without_spool(recover_job *recovery, const char *path,
                                  bool complete) {
  if (complete && !ends_in_part(path)) {
    recovery->result->already_whole = true;
    snprintf(recovery->result->path, sizeof recovery->result->path, "%s", path);
    return PPROF_STATUS_OK;
  }
  recovery->named_path = ppi_strdup(path);
  recovery->part_path = ppi_strdup(path);
  if (!recovery->named_path || !recovery->part_path) return no_memory(recovery);
  return make_whole(recovery);
}

static pprof_status from_log(recover_job *recovery, const char *path) {
  glance found;
  pprof_status status = glance_at(path, &found, recovery->error);
  if (status != PPROF_STATUS_OK) return status;
  pprof_error spool_error = {{0}};
  pprof_status spool = PPROF_STATUS_IO;
  if (found.spool_path && ends_in_part(path))
    spool = take_salvage(recovery, found.spool_path, &spool_error);
  ppi_free(found.spool_path);
  if (spool == PPROF_STATUS_BUSY)
    return ppi_fail(recovery->error, spool, "%s", spool_error.text);
  // Another run may have been given the same name.
  if (spool == PPROF_STATUS_OK && same_run(recovery, found.uuid))
    return with_spool(recovery, path);
  // The spool's lock says best whether the run lives; a child that it forked
  // may hold the log's for longer.
  if (is_written(path))
    return ppi_fail(recovery->error, PPROF_STATUS_BUSY,
                    "%s: it is being written", path);
  ppi_salvage_close(recovery->salvage);
  recovery->salvage = NULL;
  set_uuid(recovery, found.uuid);
  return without_spool(recovery, path, found.complete);
}

static void clear(recover_job *recovery) {
  ppi_salvage_close(recovery->salvage);
  ppi_free(recovery->spool_path);
  ppi_free(recovery->named_path);
  ppi_free(recovery->part_path);
  ppi_free(recovery->final_path);
  ppi_free(recovery->temporary_path);
}

pprof_status ppi_recover(const char *path, const ppi_recover_options *options,
                         ppi_recover_result *out, pprof_error *error) {
  memset(out, 0, sizeof *out);
  recover_job recovery = {.result = out, .error = error};
  if (options) recovery.options = *options;
  ppi_log_file *file = NULL;
  pprof_status status = ppi_log_file_open(path, &file, error);
  ppi_log_file_close(file);
  if (status == PPROF_STATUS_OK)
    status = from_log(&recovery, path);
  else if (status == PPROF_STATUS_INVALID && is_empty_part(path))
    status = ppi_fail(error, status,
                      "%s: the run died before it wrote whose log this is; "
                      "recover its spool",
                      path);
  else if (status == PPROF_STATUS_INVALID)
    status = from_spool(&recovery, path);
  clear(&recovery);
  return status;
}

// SPDX-License-Identifier: Apache-2.0
//
// Names and writes the result, and removes the leftovers.
#include "log/recover/recover_write.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "log/format/staged.h"
#include "log/read/log_glance.h"
#include "log/recover/log_rescue.h"
#include "log/recover/recover_path.h"
#include "log/write/log_writer.h"
#include "log/write/rotate.h"

pprof_status ppi_recover_no_memory(ppi_recover_job *recovery) {
  return ppi_fail(recovery->error, PPROF_STATUS_NO_MEMORY, "out of memory");
}

static pprof_status fail_io(ppi_recover_job *recovery, const char *path,
                            int error) {
  return ppi_fail(recovery->error, PPROF_STATUS_IO, "%s: %s", path,
                  strerror(error));
}

// ---- the result's name ----

// 0: free, or this run's own and incomplete; 1: this run's and complete; -1:
// another's.
static int look_at_final(const ppi_recover_job *recovery, const char *path) {
  if (access(path, F_OK) != 0) return 0;
  ppi_log_glance found;
  if (ppi_log_glance_at(path, &found, NULL) != PPROF_STATUS_OK) return -1;
  if (!recovery->uuid[0] || strcmp(found.uuid, recovery->uuid) != 0) return -1;
  // The run's dump may have taken the log's name.
  if (found.flight[0] && recovery->salvage) return -1;
  return found.complete ? 1 : 0;
}

static ppi_path default_final(const ppi_recover_job *recovery) {
  const char *named = recovery->named_path.text;
  if (!named[0]) return ppi_recover_name_of(recovery->uuid, ".pplog");
  if (!ppi_recover_is_part(named))
    return ppi_log_sibling_path(named, "recovered");
  return ppi_segment_path(ppi_recover_without_part(named).text,
                          recovery->segment);
}

// A newer run may have taken the name; then this log goes beside it.
static pprof_status find_final(ppi_recover_job *recovery, bool *out_whole) {
  recovery->temporary_path.text[0] = '\0';
  const char *output = recovery->options.output;
  const ppi_path wanted =
      output ? ppi_path_make("%s", output) : default_final(recovery);
  ppi_path *path = &recovery->final_path;
  *path = wanted;
  for (int n = 1; n < 10000; n++) {
    int found = look_at_final(recovery, path->text);
    if (found < 0 && output && recovery->options.overwrite) found = 0;
    *out_whole = found == 1;
    if (found >= 0) return PPROF_STATUS_OK;
    if (output) break;
    char infix[32];
    snprintf(infix, sizeof infix, n == 1 ? "recovered" : "recovered%d", n);
    *path = ppi_log_sibling_path(wanted.text, infix);
  }
  return fail_io(recovery, path->text, EEXIST);
}

// ---- writing it ----

static pprof_status open_temporary(ppi_recover_job *recovery, int *out) {
  recovery->temporary_path =
      ppi_path_make("%s.recovering", recovery->final_path.text);
  const char *path = recovery->temporary_path.text;
  int fd = ppi_part_create(path);
  if (fd < 0) return fail_io(recovery, path, errno);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_OFD_SETLK, &lock) != 0 &&
      (errno == EAGAIN || errno == EACCES)) {
    close(fd);
    return ppi_fail(recovery->error, PPROF_STATUS_BUSY,
                    "%s: another recover is writing it", path);
  }
  if (ftruncate(fd, 0) != 0) {
    int error = errno;
    close(fd);
    return fail_io(recovery, path, error);
  }
  *out = fd;
  return PPROF_STATUS_OK;
}

static pprof_status no_log(ppi_recover_job *recovery, pprof_status status) {
  return ppi_fail(recovery->error, status, "%s: %s",
                  recovery->temporary_path.text, pprof_status_string(status));
}

static const ppi_staging *own_staging(const ppi_recover_job *recovery) {
  return recovery->salvage && recovery->owns_spool
             ? ppi_salvage_staging(recovery->salvage)
             : NULL;
}

// One segment, or the whole run: blocks on the way to the file and, for the
// last segment, records in no block. *next: another segment follows.
static pprof_status fill(ppi_recover_job *recovery, ppi_rescue *rescue,
                         uint64_t *cursor, uint32_t *next) {
  pprof_status status = PPROF_STATUS_OK;
  const ppi_staging *staging = own_staging(recovery);
  *next = 0;
  if (status == PPROF_STATUS_OK && staging)
    status = ppi_rescue_copy_staged(rescue, staging, cursor, next);
  ppi_salvage *salvage = *next ? NULL : recovery->salvage;
  ppi_text uuid = {"uuid", recovery->uuid};
  pprof_run_info none = {.texts = &uuid, .num_texts = 1};
  PPI_THEN(status,
           ppi_rescue_finish(rescue, salvage,
                             salvage ? ppi_salvage_run_info(salvage) : &none));
  if (rescue->io_error)
    return fail_io(recovery, recovery->temporary_path.text, rescue->io_error);
  return status == PPROF_STATUS_OK ? status : no_log(recovery, status);
}

static pprof_status give_name(ppi_recover_job *recovery, int fd) {
  if (close(fd) != 0 ||
      rename(recovery->temporary_path.text, recovery->final_path.text) != 0)
    return fail_io(recovery, recovery->temporary_path.text, errno);
  return PPROF_STATUS_OK;
}

// Segments go into one file if the caller has named it.
static pprof_status next_file(ppi_recover_job *recovery, ppi_rescue *rescue,
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

static pprof_status write_log(ppi_recover_job *recovery) {
  int fd = -1;
  ppi_rescue rescue;
  uint64_t cursor = 0;
  uint32_t next = 0;
  pprof_status status = open_temporary(recovery, &fd);
  if (status != PPROF_STATUS_OK) return status;
  status = ppi_rescue_begin(&rescue, fd, recovery->uuid, recovery->result);
  if (status == PPROF_STATUS_OK && recovery->part_path.text[0])
    status = ppi_rescue_copy_file(&rescue, recovery->part_path.text, NULL);
  if (status != PPROF_STATUS_OK)
    status = rescue.io_error ? fail_io(recovery, recovery->temporary_path.text,
                                       rescue.io_error)
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
  if (status != PPROF_STATUS_OK) unlink(recovery->temporary_path.text);
  return status;
}

// A .part without a complete file header does not even name its owner. It is
// removed unless a process writes it, and so is the started file of the next
// segment.
void ppi_recover_remove_empty(const char *path, off_t most) {
  int fd = ppi_fd_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  struct stat stat;
  if (fcntl(fd, F_OFD_SETLK, &lock) == 0 && fstat(fd, &stat) == 0 &&
      S_ISREG(stat.st_mode) && stat.st_size <= most)
    unlink(path);
  close(fd);
}

void ppi_recover_remove_leftovers(const ppi_recover_job *recovery) {
  if (recovery->options.keep) return;
  const char *named = recovery->named_path.text;
  if (ppi_recover_is_part(named))
    ppi_recover_remove_empty(named, PPI_LOG_FILE_HEADER_SIZE - 1);
  if (recovery->segment && named[0])
    ppi_recover_remove_empty(ppi_path_make("%s.next", named).text,
                             PPI_LOG_FILE_HEADER_SIZE);
  if (ppi_recover_is_part(recovery->part_path.text))
    unlink(recovery->part_path.text);
  if (recovery->salvage && recovery->owns_spool)
    unlink(recovery->spool_path.text);
}

pprof_status ppi_recover_staged_after(ppi_recover_job *recovery, uint32_t after,
                                      uint32_t *out_segment) {
  const ppi_staging *staging = own_staging(recovery);
  ppi_log_payload payload;
  ppi_log_glance found = {.segment = 0};
  ppi_log_block block;
  uint64_t cursor = 0;
  pprof_status status = ppi_log_payload_init(&payload);
  while (status == PPROF_STATUS_OK && staging && found.segment <= after &&
         ppi_log_next_staged(staging, &cursor, payload.runs, &block))
    if (block.ok && block.header.type == PPI_LOG_INFO)
      status = ppi_log_glance_info(&payload, &block, &found);
  ppi_log_payload_clear(&payload);
  *out_segment = found.segment > after ? found.segment : 0;
  return status == PPROF_STATUS_OK ? status : ppi_recover_no_memory(recovery);
}

pprof_status ppi_recover_make_whole(ppi_recover_job *recovery) {
  bool whole = false;
  pprof_status status = find_final(recovery, &whole);
  uint32_t another = 0;
  if (status == PPROF_STATUS_OK && recovery->segment)
    status = ppi_recover_staged_after(recovery, recovery->segment, &another);
  if (status != PPROF_STATUS_OK) return status;
  recovery->result->already_whole = whole;
  if (!whole || another) {
    recovery->result->already_whole = false;
    status = write_log(recovery);
  }
  if (status != PPROF_STATUS_OK) return status;
  snprintf(recovery->result->path, sizeof recovery->result->path, "%s",
           recovery->final_path.text);
  ppi_recover_remove_leftovers(recovery);
  return PPROF_STATUS_OK;
}

ppi_path ppi_recover_find_whole(ppi_recover_job *recovery) {
  const char *named = recovery->named_path.text;
  if (!recovery->segment && ppi_recover_is_part(named))
    recovery->segment =
        ppi_segments_last(ppi_recover_without_part(named).text, recovery->uuid);
  const ppi_path path = default_final(recovery);
  return look_at_final(recovery, path.text) == 1 ? path : (ppi_path){""};
}

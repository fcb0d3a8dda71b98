// SPDX-License-Identifier: Apache-2.0
//
// Merges runs of several logs into one. Runs are ordered by their content, not
// by their origin, and equal runs count once. So neither the order nor the
// grouping of merges matters.
#include "log/read/log_merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "file/part.h"
#include "log/read/log_section.h"
#include "log/write/log_io.h"

typedef struct merge_run {
  ppi_log_section section;
  ppi_log_merge_input *from;
} merge_run;

typedef struct merge_job {
  merge_run *runs;
  size_t num_runs, runs_capacity;
  ppi_log_merge_end end;  // the first failure
  pprof_error *error;
} merge_job;

// Keeps the first failure; answers whether there is none yet.
static bool go_on(merge_job *job, pprof_status status, ppi_log_merge_end end) {
  if (status != PPROF_STATUS_OK && job->end == PPI_LOG_MERGED) job->end = end;
  return job->end == PPI_LOG_MERGED;
}

static bool no_memory(merge_job *job) {
  return go_on(job,
               ppi_fail(job->error, PPROF_STATUS_NO_MEMORY, "out of memory"),
               PPI_LOG_MERGE_BAD_INPUT);
}

static bool fail_write(merge_job *job, const char *path, int error) {
  return go_on(job,
               ppi_fail(job->error, PPROF_STATUS_IO, "%s: cannot write: %s",
                        path, strerror(error)),
               PPI_LOG_MERGE_BAD_OUTPUT);
}

// ---- gathering ----

// The problem of a part of an input.
static void add_state(ppi_log_merge_input *input,
                      const ppi_log_section *section) {
  ppi_log_damage_add(&input->damage, &section->damage);
  input->complete = input->complete && section->complete;
}

static bool add_runs(merge_job *job, ppi_log_merge_input *input,
                     const ppi_log_section *sections, size_t num) {
  if (!PPI_ROOM(job->runs, job->runs_capacity, job->num_runs + num))
    return no_memory(job);
  input->damage = (ppi_log_damage){0, 0, 0, false};
  input->complete = true;
  input->num_repeated = 0;
  for (size_t i = 0; i < num; i++) {
    if (sections[i].len > 0)
      job->runs[job->num_runs++] = (merge_run){sections[i], input};
    else
      add_state(input, &sections[i]);
  }
  return true;
}

// A skipped input would look as if it had recorded nothing.
static bool gather(merge_job *job, ppi_log_merge_input *inputs, size_t num) {
  bool good = true;
  for (size_t i = 0; i < num && good; i++) {
    ppi_log_section *sections;
    size_t num_sections;
    good = go_on(
        job,
        ppi_log_sections(inputs[i].path, &sections, &num_sections, job->error),
        PPI_LOG_MERGE_BAD_INPUT);
    if (!good) break;
    good = add_runs(job, &inputs[i], sections, num_sections);
    ppi_free(sections);
  }
  return good;
}

// ---- ordering ----

// The rest of a piece, or the next piece.
typedef struct piece {
  ppi_log_pieces pieces;
  const uint8_t *bytes;
  size_t len;
} piece;

static bool refill(piece *of) {
  return of->len > 0 || ppi_log_pieces_next(&of->pieces, &of->bytes, &of->len);
}

static int compare_pieces(piece *left, piece *right) {
  for (;;) {
    bool more_left = refill(left), more_right = refill(right);
    if (!more_left || !more_right) return more_left - more_right;
    size_t len = left->len < right->len ? left->len : right->len;
    int order = memcmp(left->bytes, right->bytes, len);
    if (order) return order;
    left->bytes += len;
    right->bytes += len;
    left->len -= len;
    right->len -= len;
  }
}

static bool open_piece(merge_job *job, const merge_run *run, piece *out) {
  memset(out, 0, sizeof *out);
  return go_on(job,
               ppi_log_pieces_open(&out->pieces, run->from->path, &run->section,
                                   job->error),
               PPI_LOG_MERGE_BAD_INPUT);
}

static int compare_bytes(merge_job *job, const merge_run *left,
                         const merge_run *right) {
  piece a, b;
  int order = 0;
  if (!open_piece(job, left, &a)) return 0;
  if (open_piece(job, right, &b)) {
    order = compare_pieces(&a, &b);
    ppi_log_pieces_close(&b.pieces);
  }
  ppi_log_pieces_close(&a.pieces);
  return order;
}

// Length and checksum need no file, and separate most different runs.
static int compare_runs(const void *a, const void *b, void *job) {
  const merge_run *left = a, *right = b;
  const ppi_log_section *mine = &left->section, *other = &right->section;
  int order = strcmp(mine->uuid, other->uuid);
  if (order) return order;
  if (mine->segment != other->segment)
    return mine->segment < other->segment ? -1 : 1;
  if (mine->len != other->len) return mine->len < other->len ? -1 : 1;
  if (mine->crc != other->crc) return mine->crc < other->crc ? -1 : 1;
  return compare_bytes(job, left, right);
}

static bool is_same_run(const merge_run *left, const merge_run *right) {
  return left->section.uuid[0] &&
         strcmp(left->section.uuid, right->section.uuid) == 0 &&
         left->section.segment == right->section.segment;
}

// Which of two copies of a run has more of it.
static int rank(const merge_run *run) {
  const ppi_log_damage *damage = &run->section.damage;
  bool whole =
      run->section.complete && !damage->num_bytes && !damage->num_missing;
  return 2 * !run->from->imported + whole;
}

// Two runs with one identity and different bytes: the right one is unknown.
static bool conflict(merge_job *job, const merge_run *left,
                     const merge_run *right) {
  return go_on(
      job,
      ppi_fail(job->error, PPROF_STATUS_INVALID,
               "%s and %s: both hold run %s, with different bytes",
               left->from->name, right->from->name, right->section.uuid),
      PPI_LOG_MERGE_CONFLICT);
}

// Whether `run` replaces `other`; of equal ones, the first input stays.
static bool is_better(const merge_run *run, const merge_run *other) {
  int mine = rank(run), others = rank(other);
  return mine > others || (mine == others && run->from < other->from);
}

// The best of runs [from, to), which are copies of one, stays.
static bool keep_best(merge_job *job, size_t from, size_t to, size_t *kept) {
  const merge_run *best = &job->runs[from];
  for (size_t i = from + 1; i < to; i++)
    if (is_better(&job->runs[i], best)) best = &job->runs[i];
  for (size_t i = from; i < to; i++) {
    const merge_run *run = &job->runs[i];
    if (run == best) continue;
    if (rank(run) == rank(best) && compare_runs(best, run, job) != 0)
      return conflict(job, best, run);
    run->from->num_repeated++;
  }
  add_state(best->from, &best->section);
  job->runs[(*kept)++] = *best;
  return job->end == PPI_LOG_MERGED;
}

// Drops duplicates. A uuid names one run or, with a number, a segment of it;
// runs without a uuid are compared by their bytes.
static bool drop_repeated(merge_job *job) {
  size_t kept = 0;
  for (size_t i = 0, end; i < job->num_runs; i = end) {
    const merge_run *run = &job->runs[i];
    for (end = i + 1; end < job->num_runs; end++)
      if (!is_same_run(run, &job->runs[end]) &&
          compare_runs(run, &job->runs[end], job) != 0)
        break;
    if (!keep_best(job, i, end, &kept)) return false;
  }
  job->num_runs = kept;
  return job->end == PPI_LOG_MERGED;
}

static bool order_runs(merge_job *job) {
  if (job->num_runs == 0)
    return go_on(
        job,
        ppi_fail(job->error, PPROF_STATUS_INVALID, "there is no run to merge"),
        PPI_LOG_MERGE_BAD_INPUT);
  qsort_r(job->runs, job->num_runs, sizeof *job->runs, compare_runs, job);
  return drop_repeated(job);
}

// ---- writing ----

static bool copy_run(merge_job *job, const merge_run *run, int fd,
                     const char *output) {
  ppi_log_pieces pieces;
  if (!go_on(job,
             ppi_log_pieces_open(&pieces, run->from->path, &run->section,
                                 job->error),
             PPI_LOG_MERGE_BAD_INPUT))
    return false;
  const uint8_t *bytes;
  size_t len;
  int failed = 0;
  uint32_t crc = 0;
  while (!failed && ppi_log_pieces_next(&pieces, &bytes, &len)) {
    crc = (uint32_t)crc32(crc, bytes, (uInt)len);
    failed = ppi_write_all(fd, bytes, len);
  }
  bool same = pieces.done == run->section.len && crc == run->section.crc;
  ppi_log_pieces_close(&pieces);
  if (failed) return fail_write(job, output, failed);
  return same ||
         go_on(job,
               ppi_fail(job->error, PPROF_STATUS_IO,
                        "%s: has changed while it was read", run->from->name),
               PPI_LOG_MERGE_BAD_INPUT);
}

// A pipe or a device is written in place: a rename would replace it.
static char *temporary_of(const char *output) {
  struct stat existing;
  bool in_place = stat(output, &existing) == 0 && !S_ISREG(existing.st_mode);
  size_t size = strlen(output) + 40;
  char *made = ppi_alloc(size);
  if (made && in_place)
    snprintf(made, size, "%s", output);
  else if (made)
    snprintf(made, size, "%s.merging.%ld", output, (long)getpid());
  return made;
}

static bool write_runs(merge_job *job, const char *output, const char *path) {
  bool renames = strcmp(path, output) != 0;
  int fd = renames ? ppi_part_create(path) : ppi_fd_open(path, O_WRONLY, 0);
  if (fd >= 0 && renames && ftruncate(fd, 0) != 0) {
    int failed = errno;
    close(fd);
    return fail_write(job, path, failed);
  }
  if (fd < 0) return fail_write(job, path, errno);
  bool good = true;
  for (size_t i = 0; i < job->num_runs && good; i++)
    good = copy_run(job, &job->runs[i], fd, output);
  if (close(fd) != 0 && good) good = fail_write(job, output, errno);
  if (good && renames && rename(path, output) != 0)
    good = fail_write(job, output, errno);
  if (!good && renames) unlink(path);
  return good;
}

ppi_log_merge_end ppi_log_merge(ppi_log_merge_input *inputs, size_t num_inputs,
                                const char *output, pprof_error *error) {
  merge_job job = {.error = error};
  char *path = temporary_of(output);
  if (!path)
    no_memory(&job);
  else if (gather(&job, inputs, num_inputs) && order_runs(&job))
    write_runs(&job, output, path);
  ppi_free(path);
  ppi_free(job.runs);
  return job.end;
}

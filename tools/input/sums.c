// SPDX-License-Identifier: Apache-2.0
//
// Writes, reads and checks sums. The file is the key, then for each report its
// size, its checksum and its bytes: details, then figures.
#include "input/sums.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/sha256.h"
#include "file/buffer.h"
#include "file/codec_fast.h"
#include "file/part.h"
#include "input/input.h"
#include "input/segments.h"
#include "log/write/log_io.h"
#include "report/figures/sum.h"

enum {
  LEAST_LOG = 1 << 20,  // reports of smaller logs are fast
  MOST_FILE = 1 << 28,  // bytes
  MOST_REPORTS = 8,     // with different details, the latest first
  PART_OF_LOG = 4,      // a report larger than this part of its log costs more
  HEAD = 12,            // bytes before a report: size, checksum
  PAGE = 4096
};

// ---- the key ----

// Identifies a file and its state on this machine. A sender of a log cannot
// know these numbers, so nobody can send false sums along.
static bool put_file(ppi_buffer *key, const char *path, size_t *out_size) {
  struct stat file;
  if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return false;
  const uint64_t words[] = {
      (uint64_t)file.st_ino,         (uint64_t)file.st_size,
      (uint64_t)file.st_mtim.tv_sec, (uint64_t)file.st_mtim.tv_nsec,
      (uint64_t)file.st_ctim.tv_sec, (uint64_t)file.st_ctim.tv_nsec};
  ppi_buffer_bytes(key, words, sizeof words);
  *out_size += (size_t)file.st_size;
  return true;
}

// A log's header has its run's id, its end the checksum of its last block.
static bool put_log(ppi_buffer *key, const char *path, size_t *out_size) {
  uint8_t page[PAGE];
  size_t before = *out_size;
  if (!ppi_ends_with(path, ".pplog") || !put_file(key, path, out_size))
    return false;
  off_t end = (off_t)(*out_size - before);
  const off_t places[] = {0, end > PAGE ? end - PAGE : 0};
  int fd = ppi_fd_open(path, O_RDONLY | O_NONBLOCK, 0);
  bool is_read = fd >= 0;
  for (size_t i = 0; i < 2 && is_read; i++) {
    ssize_t len = pread(fd, page, sizeof page, places[i]);
    is_read = len > 0;
    if (is_read) ppi_buffer_bytes(key, page, (size_t)len);
  }
  if (fd >= 0) close(fd);
  return is_read;
}

// By its name: a debugger's own program stands in for the file.
static bool put_program(ppi_buffer *key) {
  char path[PATH_MAX];
  ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
  size_t size = 0;
  path[len > 0 ? len : 0] = '\0';
  return put_file(key, path, &size);
}

void ppi_tool_sums_of(const struct ppi_tool_options *options, const char *log,
                      ppi_tool_sums *out) {
  struct ppi_tool_segments segments;
  ppi_buffer key = {0};
  size_t size = 0;
  *out = (ppi_tool_sums){.path = NULL};
  ppi_tool_segments_of(&log, &segments);
  bool has_any = !options->no_sums && options->verb->takes & PPI_TAKES_SUMS &&
                 put_program(&key);
  for (size_t i = 0; i < segments.num && has_any; i++)
    has_any = put_log(&key, segments.paths[i], &size);
  if (has_any && !key.failed && size >= LEAST_LOG) {
    ppi_sha256(key.data, key.len, out->key);
    out->most = size / PART_OF_LOG;
    if (asprintf(&out->path, "%s.sum", segments.paths[0]) < 0)
      ppi_tool_must(NULL);
  }
  ppi_buffer_clear(&key);
  ppi_tool_segments_clear(&segments);
}

void ppi_tool_sums_clear(ppi_tool_sums *sums) {
  free(sums->path);
  sums->path = NULL;
}

// ---- the file ----

// The file's bytes, of this user or root, whom nobody can replace; false: there
// is no such file.
static bool load(const char *path, ppi_buffer *out) {
  struct stat file;
  int fd = ppi_fd_open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
  bool is_good = fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
                 (file.st_uid == geteuid() || file.st_uid == 0) &&
                 !(file.st_mode & (S_IWGRP | S_IWOTH)) &&
                 file.st_size <= MOST_FILE &&
                 ppi_buffer_room(out, (size_t)file.st_size + 1);
  while (is_good && out->len < (size_t)file.st_size) {
    ssize_t len =
        read(fd, out->data + out->len, (size_t)file.st_size - out->len);
    is_good = len > 0;
    if (is_good) out->len += (size_t)len;
  }
  if (fd >= 0) close(fd);
  return is_good;
}

static bool has_key(const ppi_tool_sums *sums, const ppi_buffer *file) {
  return file->len >= sizeof sums->key &&
         memcmp(file->data, sums->key, sizeof sums->key) == 0;
}

// Takes the next report, to be read. False: there is none; *out_damaged: the
// file has other bytes.
static bool next(const ppi_buffer *file, size_t *at, ppi_carry *out,
                 bool *out_damaged) {
  size_t left = file->len - *at;
  const uint8_t *bytes = file->data + *at;
  uint64_t len = 0;
  if (left >= HEAD) memcpy(&len, bytes, sizeof len);
  bool is_whole = left > HEAD && len <= left - HEAD;
  *out_damaged =
      left && (!is_whole || ppi_fast_crc32(0, bytes + HEAD, (size_t)len) !=
                                ppi_load32(bytes + sizeof len));
  if (!left || *out_damaged) return false;
  *out = (ppi_carry){
      .bytes = (uint8_t *)bytes + HEAD, .len = (size_t)len, .reads = true};
  *at += HEAD + (size_t)len;
  return true;
}

static void put(ppi_buffer *file, const ppi_carry *report) {
  uint64_t len = report->len;
  uint8_t crc[4];
  ppi_store32(crc, ppi_fast_crc32(0, report->bytes, report->len));
  ppi_buffer_bytes(file, &len, sizeof len);
  ppi_buffer_bytes(file, crc, sizeof crc);
  ppi_buffer_bytes(file, report->bytes, report->len);
}

static ppi_carry carry_details(const ppi_report_details *details) {
  ppi_carry carry = {.reads = false};
  ppi_report_details own = *details;
  ppi_report_details_carry(&carry, &own);
  return carry;
}

static bool begins_with(const ppi_carry *report, const ppi_carry *details) {
  return report->len >= details->len &&
         memcmp(report->bytes, details->bytes, details->len) == 0;
}

static pprof_report *new_report(const ppi_report_details *details) {
  pprof_report *report;
  ppi_report_details own = *details;
  own.jobs = NULL;
  if (pprof_report_create(&report) != PPROF_STATUS_OK) ppi_tool_must(NULL);
  ppi_report_set_details(report, &own);
  return report;
}

pprof_report *ppi_tool_sums_read(const ppi_tool_sums *sums,
                                 const ppi_report_details *details) {
  ppi_buffer file = {0};
  ppi_carry wanted = carry_details(details), found;
  pprof_report *report = NULL;
  size_t at = sizeof sums->key;
  bool is_damaged;
  if (sums->path && load(sums->path, &file) && has_key(sums, &file))
    while (!report && next(&file, &at, &found, &is_damaged)) {
      if (!begins_with(&found, &wanted)) continue;
      found.at = wanted.len;
      report = new_report(details);
      ppi_report_carry(&found, report);
    }
  if (report && found.failed) {
    pprof_report_destroy(report);
    report = NULL;
  }
  ppi_free(wanted.bytes);
  ppi_buffer_clear(&file);
  return report;
}

// Other reports of the same log stay, the latest ones.
static void keep_others(const ppi_tool_sums *sums, const ppi_carry *details,
                        ppi_buffer *out) {
  ppi_buffer file = {0};
  ppi_carry other;
  size_t at = sizeof sums->key, num = 1;
  bool is_damaged, is_same = load(sums->path, &file) && has_key(sums, &file);
  while (is_same && next(&file, &at, &other, &is_damaged)) {
    if (begins_with(&other, details)) continue;
    if (++num > MOST_REPORTS || out->len + other.len > sums->most) break;
    put(out, &other);
  }
  ppi_buffer_clear(&file);
}

static void replace(const char *path, const ppi_buffer *file) {
  ppi_part part;
  if (ppi_part_open(path, NULL, &part, NULL) != PPROF_STATUS_OK) return;
  // Another process may be writing it.
  bool is_written =
      strcmp(ppi_base_name(part.path.text), ppi_base_name(path)) == 0 &&
      ppi_write_all(part.fd, file->data, file->len) == 0 &&
      ppi_part_commit(&part) == 0;
  ppi_part_clear(&part, !is_written);
}

void ppi_tool_sums_write(const ppi_tool_sums *sums,
                         const ppi_report_details *details,
                         pprof_report *report) {
  if (!sums->path || !ppi_report_figures(report) ||
      ppi_report_total(report, PPI_TOTAL_INCOMPLETE))
    return;
  ppi_carry wanted = carry_details(details), all = carry_details(details);
  ppi_buffer file = {0};
  all.most = sums->most;
  ppi_report_carry(&all, report);
  if (!all.failed && all.len <= sums->most) {
    ppi_buffer_bytes(&file, sums->key, sizeof sums->key);
    put(&file, &all);
    keep_others(sums, &wanted, &file);
    if (!file.failed) replace(sums->path, &file);
  }
  ppi_buffer_clear(&file);
  ppi_free(all.bytes);
  ppi_free(wanted.bytes);
}

// ---- check ----

// Whether the log gives the same report once more.
static bool is_right(const char *log, ppi_carry *found) {
  ppi_report_details details = {0};
  struct ppi_tool_watch watch;
  struct ppi_tool_runs met = {.items = NULL};
  ppi_report_details_carry(found, &details);
  if (found->failed) return false;
  pprof_report *report = new_report(&details);
  ppi_carry again = carry_details(&details);
  ppi_tool_read_again(log, pprof_report_sink(report), &watch, &met);
  bool is_read = ppi_report_figures(report);
  if (is_read) ppi_report_carry(&again, report);
  is_read = is_read && !again.failed && again.len == found->len &&
            memcmp(again.bytes, found->bytes, found->len) == 0;
  ppi_free(again.bytes);
  ppi_free((char *)details.iteration);
  pprof_report_destroy(report);
  ppi_tool_runs_clear(&met);
  return is_read;
}

int ppi_tool_sums_check(const struct ppi_tool_options *options, const char *log,
                        ppi_page *page) {
  ppi_tool_sums sums;
  ppi_buffer file = {0};
  ppi_carry found;
  size_t at = sizeof sums.key;
  const char *verdict = "good";
  bool is_damaged = false, is_same = true;
  ppi_tool_sums_of(options, log, &sums);
  bool is_any = sums.path && load(sums.path, &file);
  if (is_any && !has_key(&sums, &file)) {
    verdict = "of another log or program, and not used";
  } else if (is_any) {
    while (is_same && next(&file, &at, &found, &is_damaged))
      is_same = is_right(log, &found);
    if (is_damaged) verdict = "damaged, and not used; delete it";
    if (!is_same) verdict = "not those of the log; delete it";
  }
  if (is_any) {
    ppi_page_visible(page, ppi_tool_name_of(sums.path));
    ppi_page_format(page, ": figures: %s\n", verdict);
  }
  ppi_buffer_clear(&file);
  ppi_tool_sums_clear(&sums);
  return is_damaged || !is_same ? PPI_EXIT_DAMAGED : PPI_EXIT_DONE;
}

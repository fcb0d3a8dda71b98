// SPDX-License-Identifier: Apache-2.0
//
// Warns of unfinished logs and of later runs beside the inputs.
#include "cli/unread.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/part.h"
#include "log/read/log_section.h"

enum { MAX_SHOWN = 3 };

static const char ending[] = ".pplog.part";

// The real time in which the process of a log ran: from its header to its last
// write.
struct lifetime {
  uint64_t first_ns, last_ns;
  dev_t device;
  ino_t inode;
};

static bool look_at(const char *path, struct lifetime *out) {
  ppi_log_section section;
  struct stat stat_;
  if (stat(path, &stat_) != 0 || !S_ISREG(stat_.st_mode)) return false;
  uint64_t last = (uint64_t)stat_.st_mtim.tv_sec * 1000000000 +
                  (uint64_t)stat_.st_mtim.tv_nsec;
  bool reported = ppi_log_peek(path, 0, &section) == PPROF_STATUS_OK &&
                  section.base_ns != 0;
  *out = (struct lifetime){reported ? section.base_ns : last, last,
                           stat_.st_dev, stat_.st_ino};
  return true;
}

static bool is_written(const char *path) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  bool buffered =
      fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  if (fd >= 0) close(fd);
  return buffered;
}

static size_t folder_len(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool same_folder(const char *path, const char *other) {
  size_t len = folder_len(path);
  return folder_len(other) == len && memcmp(path, other, len) == 0;
}

// Whether the file is missing from the inputs: an input of its folder ran at
// the same time, or the folder itself is an input.
static bool is_missed(const struct ppi_tool_options *options,
                      const char *path) {
  struct lifetime own, other;
  bool same_time = false;
  if (!look_at(path, &own) || is_written(path)) return false;
  for (int i = 0; i < options->num_inputs; i++) {
    const char *input = options->inputs[i];
    size_t len = strlen(input);
    if (!look_at(input, &other)) {
      // `input` names a log of segments as one file; this .part is its rest.
      if (strncmp(path, input, len) == 0 && strcmp(path + len, ".part") == 0)
        return false;
      continue;
    }
    if (other.device == own.device && other.inode == own.inode) return false;
    same_time |= same_folder(path, input) && !ppi_ends_with(input, ending) &&
                 (options->of_folder || (own.first_ns <= other.last_ns &&
                                         other.first_ns <= own.last_ns));
  }
  return same_time;
}

static int is_part(const struct dirent *entry) {
  return ppi_ends_with(entry->d_name, ending);
}

// Prints the line for the folder of `input`.
static void warn_of_folder(const struct ppi_tool_options *options,
                           const char *input) {
  struct dirent **entries;
  int len = (int)folder_len(input), num, num_missed = 0;
  char folder[4096], path[4096 + 256];
  ppi_page line = {0};
  snprintf(folder, sizeof folder, "%.*s", len, input);
  num = scandir(len ? folder : ".", &entries, is_part, alphasort);
  for (int i = 0; i < num; i++) {
    snprintf(path, sizeof path, "%s%s", folder, entries[i]->d_name);
    free(entries[i]);
    if (!is_missed(options, path) || num_missed++ >= MAX_SHOWN) continue;
    if (num_missed > 1) ppi_page_text(&line, ", ");
    ppi_page_visible(&line, path);
  }
  if (num >= 0) free(entries);
  if (num_missed > MAX_SHOWN)
    ppi_page_format(&line, " and %d more", num_missed - MAX_SHOWN);
  if (line.bytes && !line.failed)
    ppi_tool_say(
        "not read: %s, left unfinished%s; "
        "`pprof-report recover %s*%s` makes a log of each",
        line.bytes, options->of_folder ? "" : " at the same time", folder,
        ending);
  ppi_page_clear(&line);
}

// ---- later runs ----

// Whether the run of the log at `path` wanted the name of `input` and began
// after `*since_ns`. That becomes its begin.
static bool is_later(const char *path, const char *input, uint64_t *since_ns) {
  ppi_log_section found;
  if (ppi_log_peek(path, 0, &found) != PPROF_STATUS_OK ||
      strcmp(found.name_taken, input + folder_len(input)) != 0 ||
      found.base_ns <= *since_ns)
    return false;
  *since_ns = found.base_ns;
  return true;
}

static bool is_input(const struct ppi_tool_options *options, const char *path) {
  struct lifetime own, other;
  if (!look_at(path, &own)) return false;
  for (int i = 0; i < options->num_inputs; i++)
    if (look_at(options->inputs[i], &other) && other.device == own.device &&
        other.inode == own.inode)
      return true;
  return false;
}

// The latest numbered name of `input`, or its .part while it is written.
// Numbers may have gaps, since logs are removed.
static char *find_later(const char *input) {
  enum { MOST_NAMES = 10000, MOST_GAPS = 8 };
  ppi_log_section own;
  char *latest = NULL;
  if (ppi_log_peek(input, 0, &own) != PPROF_STATUS_OK || !own.base_ns)
    return NULL;
  for (int n = 1, gaps = 0; n < MOST_NAMES && gaps < MOST_GAPS; n++) {
    ppi_path path = ppi_part_sibling(input, n);
    if (access(path.text, F_OK) != 0)
      path = ppi_path_make("%s.part", ppi_part_sibling(input, n).text);
    gaps = access(path.text, F_OK) == 0 ? 0 : gaps + 1;
    if (gaps || !is_later(path.text, input, &own.base_ns)) continue;
    free(latest);
    latest = strdup(path.text);
  }
  return latest;
}

static void warn_of_later(const struct ppi_tool_options *options,
                          const char *input) {
  char *later = find_later(input);
  if (later && !is_input(options, later))
    ppi_tool_say(
        "%s: is of an earlier run; the latest found the name taken: "
        "`pprof-report %s`",
        input, later);
  free(later);
}

void ppi_tool_warn_unread(const struct ppi_tool_options *options) {
  for (int i = 0; i < options->num_inputs && !options->of_folder; i++)
    warn_of_later(options, options->inputs[i]);
  for (int i = 0; i < options->num_inputs; i++) {
    bool reported = false;
    for (int k = 0; k < i && !reported; k++)
      reported = same_folder(options->inputs[k], options->inputs[i]);
    if (!reported) warn_of_folder(options, options->inputs[i]);
  }
}

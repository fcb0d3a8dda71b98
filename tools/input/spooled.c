// SPDX-License-Identifier: Apache-2.0
//
// Copies standard input and gzipped logs into unnamed files, because a log is
// read at any place. Traces are inflated while they are read.
#include "input/spooled.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "json/source.h"
#include "log/format/log_format.h"
#include "log/write/log_io.h"

static int open_unnamed(void) {
  const char *set = secure_getenv("TMPDIR");
  const char *folder = set && *set ? set : "/tmp";
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // Some file systems have no unnamed files.
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/pprof-report.XXXXXX", folder);
  fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  return fd;
}

static bool begins_as_log(const char *bytes, size_t len) {
  static const char magic[] = PPI_LOG_MAGIC;
  return len >= sizeof magic - 1 && memcmp(bytes, magic, sizeof magic - 1) == 0;
}

// Reports damage; the bytes before it are still read.
static int judge(const ppi_source *source, const char *name) {
  if (source->error_number)
    return ppi_tool_fail(PPI_EXIT_INPUT, "cannot read %s: %s", name,
                         strerror(source->error_number));
  if (!source->damaged) return PPI_EXIT_DONE;
  return ppi_tool_fail(
      PPI_EXIT_DAMAGED,
      "%s: its gzip data is damaged or cut; the first %llu bytes of the log "
      "are read",
      name, (unsigned long long)source->num_out);
}

// Copies the input to a file named *out; NULL: the input is read as it is.
static int spool(ppi_source *source, const char *name, bool must, char **out) {
  const char *bytes;
  size_t len = ppi_source_next(source, &bytes);
  bool is_whole_file = !must && !source->is_gzip;
  if (is_whole_file || !(must || begins_as_log(bytes, len)))
    return PPI_EXIT_DONE;
  int fd = open_unnamed();
  int failed = fd < 0 ? errno : 0;
  for (; !failed && len; len = ppi_source_next(source, &bytes))
    failed = ppi_write_all(fd, bytes, len);
  if (!failed && asprintf(out, "/proc/self/fd/%d", fd) < 0) failed = ENOMEM;
  if (failed)
    return ppi_tool_fail(PPI_EXIT_INPUT,
                         "%s: no room for it in TMPDIR or /tmp: %s", name,
                         strerror(failed));
  ppi_tool_name(*out, name);
  return judge(source, name);
}

static int spool_input(const char **input) {
  ppi_source source;
  pprof_error error;
  char *made = NULL;
  bool is_standard = strcmp(*input, "-") == 0;
  int code = PPI_EXIT_DONE;
  if (is_standard && isatty(STDIN_FILENO))
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "-: standard input is a terminal; give it a log");
  pprof_status status =
      ppi_source_open(&source, is_standard ? "/dev/stdin" : *input, &error);
  if (status == PPROF_STATUS_OK)
    code = spool(&source, *input, is_standard, &made);
  else if (is_standard)
    ppi_tool_say("%s", error.text);
  // For other inputs, the reader reports the failure.
  if (status != PPROF_STATUS_OK && is_standard) code = PPI_EXIT_INPUT;
  ppi_source_close(&source);
  if (made) *input = made;
  return code;
}

int ppi_tool_inputs_spool(struct ppi_tool_options *options) {
  int code = PPI_EXIT_DONE;
  for (int i = 0; i < options->num_inputs; i++) {
    int answer = spool_input(&options->inputs[i]);
    if (answer > code) code = answer;
  }
  return code;
}

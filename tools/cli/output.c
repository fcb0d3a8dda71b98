// SPDX-License-Identifier: Apache-2.0
//
// Opens and closes the file that --output names.
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/lines.h"
#include "cli/look.h"
#include "file/part.h"

static bool is_stdout(const char *path) {
  return !path || strcmp(path, "-") == 0;
}

int ppi_tool_output_check(const struct ppi_tool_options *options,
                          const char *path) {
  struct stat existing, input;
  if (is_stdout(path) || stat(path, &existing) != 0) return PPI_EXIT_DONE;
  for (int i = 0; i < options->num_inputs; i++) {
    if (stat(options->inputs[i], &input) != 0) continue;
    if (input.st_dev != existing.st_dev || input.st_ino != existing.st_ino)
      continue;
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "%s: is an input, it will not be overwritten", path);
  }
  if (options->force || !S_ISREG(existing.st_mode)) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE, "%s: exists; --force overwrites it",
                       path);
}

int ppi_tool_output_checks(const struct ppi_tool_options *options,
                           const char *second) {
  int code = ppi_tool_output_check(options, options->output);
  return code == PPI_EXIT_DONE && second
             ? ppi_tool_output_check(options, second)
             : code;
}

int ppi_tool_output_check_log(const struct ppi_tool_options *options,
                              const char *path) {
  struct stat existing;
  if (is_stdout(path) || stat(path, &existing) != 0 ||
      S_ISREG(existing.st_mode))
    return ppi_tool_output_check(options, path);
  return ppi_tool_fail(PPI_EXIT_USAGE,
                       "%s: is no regular file; a log would replace it", path);
}

bool ppi_tool_output_is_folder(const char *path) {
  struct stat existing;
  if (is_stdout(path)) return false;
  size_t len = strlen(path);
  return (len && path[len - 1] == '/') ||
         (stat(path, &existing) == 0 && S_ISDIR(existing.st_mode));
}

static int remove_entry(const char *path, const struct stat *found, int kind,
                        struct FTW *place) {
  (void)found, (void)kind, (void)place;
  return remove(path);
}

void ppi_tool_remove_folder(const char *path) {
  nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

int ppi_tool_output_folder(const char *path) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE, "%s: cannot make the folder: %s", path,
                       strerror(errno));
}

static char *beside(const char *input, const char *ending) {
  static const char *const endings[] = {".pplog.part", ".pplog", ".part",
                                        ".spool", ".pplog.gz"};
  size_t len = strlen(input);
  for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
    if (!ppi_ends_with(input, endings[i])) continue;
    len -= strlen(endings[i]);
    break;
  }
  char *path = ppi_tool_must(malloc(len + strlen(ending) + 1));
  memcpy(path, input, len);
  strcpy(path + len, ending);
  return path;
}

int ppi_tool_output_name(const struct ppi_tool_options *options,
                         const char *ending, struct ppi_tool_options *out,
                         char **out_made) {
  const char *input = ppi_tool_name_of(options->inputs[0]);
  bool is_several = options->num_inputs > 1;
  *out = *options;
  *out_made = NULL;
  if (options->output) return PPI_EXIT_DONE;
  if (is_several || strcmp(input, "-") == 0)
    return ppi_tool_fail(
        PPI_EXIT_USAGE, "'%s' of %s needs a name: --output FILE",
        options->verb->name, is_several ? "several logs" : "standard input");
  out->output = *out_made = beside(input, ending);
  return PPI_EXIT_DONE;
}

// A link is followed only if this user or root made it.
static int open_output(const char *path) {
  struct stat existing;
  int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  bool is_link = lstat(path, &existing) == 0 && S_ISLNK(existing.st_mode);
  if (!is_link || ppi_part_is_foreign_link(path)) flags |= O_NOFOLLOW;
  return open(path, flags, 0666);
}

int ppi_tool_output_open(const struct ppi_tool_options *options, FILE **out) {
  const char *path = options->output;
  *out = !path && options->to_stderr ? stderr : stdout;
  if (is_stdout(path)) return PPI_EXIT_DONE;
  int code = ppi_tool_output_check(options, path);
  if (code != PPI_EXIT_DONE) return code;
  int fd = open_output(path);
  *out = fd < 0 ? NULL : fdopen(fd, "w");
  if (*out) return PPI_EXIT_DONE;
  ppi_tool_say("%s: cannot write: %s", path, strerror(errno));
  if (fd >= 0) close(fd);
  return PPI_EXIT_USAGE;
}

int ppi_tool_output_close(const struct ppi_tool_options *options, FILE *file,
                          int reason, int code) {
  bool standard = is_stdout(options->output);
  const char *path = !standard        ? options->output
                     : file == stderr ? "stderr"
                                      : "stdout";
  bool failed = ferror(file) != 0;
  if (!failed && fflush(file) != 0) {
    failed = true;
    reason = errno;
  }
  if (!standard && fclose(file) != 0 && !failed) {
    failed = true;
    reason = errno;
  }
  if (!failed || (standard && reason == EPIPE)) return code;
  ppi_tool_say("%s: cannot write: %s", path, strerror(reason));
  return code > PPI_EXIT_USAGE ? code : PPI_EXIT_USAGE;
}

void ppi_tool_output_share(const struct ppi_tool_options *options) {
  struct stat made;
  if (!options->output || is_stdout(options->output)) return;
  int fd =
      open(options->output, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  mode_t mask = umask(0);
  umask(mask);
  if (fstat(fd, &made) == 0 && S_ISREG(made.st_mode) && made.st_nlink == 1)
    fchmod(fd, 0666 & ~mask);
  close(fd);
}

int ppi_tool_output_page(const struct ppi_tool_options *options, ppi_page *page,
                         int code) {
  FILE *file;
  int opened = ppi_tool_output_open(options, &file);
  if (opened != PPI_EXIT_DONE) {
    ppi_page_clear(page);
    return opened;
  }
  errno = 0;
  pprof_status status = ppi_page_write(page, file);
  int reason = errno;
  if (status == PPROF_STATUS_NO_MEMORY) {
    ppi_tool_say("out of memory");
    code = PPI_EXIT_INPUT;
  }
  return ppi_tool_output_close(options, file, reason, code);
}

int ppi_tool_output_lines(const struct ppi_tool_options *options,
                          ppi_page *page, int code) {
  size_t columns =
      is_stdout(options->output) ? ppi_tool_terminal(STDOUT_FILENO) : 0;
  if (columns) ppi_tool_fit_lines(page, columns);
  return ppi_tool_output_page(options, page, code);
}

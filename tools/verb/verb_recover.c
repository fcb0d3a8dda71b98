// SPDX-License-Identifier: Apache-2.0
//
// Runs `recover`: makes a whole log of the files that a killed run left.
// Without an operand it lists the spools and the commands to type.
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "control/control_socket.h"
#include "input/open_ranges.h"
#include "log/format/log_file.h"
#include "log/recover/log_recover.h"
#include "recover/salvage.h"
#include "spool/spool_folders.h"
#include "verb/verbs.h"

static const char *text_of(const ppi_salvage *salvage, const char *key) {
  const char *text = pprof_run_info_text(ppi_salvage_run_info(salvage), key);
  return text ? text : "unknown";
}

// The path of the flight recorder's dump; NULL: there was none.
static const char *dump_of(const ppi_salvage *salvage) {
  const ppi_ring *ring = ppi_salvage_ring(salvage);
  return ring ? ppi_ring_blocks(ring)->log_path : NULL;
}

// Texts and paths come from the spool, so they may hold codes for a terminal.
static void print_spool(const char *path, const ppi_salvage *salvage) {
  const ppi_staging *staging = ppi_salvage_staging(salvage);
  const char *dump = dump_of(salvage);
  bool has_log = staging && staging->log_path[0];
  ppi_page page = {0};
  ppi_tool_put(&page, "%s\n", path);
  ppi_tool_put(&page, "  process %s on %s: %s\n", text_of(salvage, "pid"),
               text_of(salvage, "host"), text_of(salvage, "command"));
  if (dump) ppi_tool_put(&page, "  its flight recorder's dump %s\n", dump);
  if (has_log) ppi_tool_put(&page, "  its log %s\n", staging->log_path);
  if (!has_log && !dump) ppi_page_text(&page, "  it wrote no log\n");
  ppi_tool_put(&page, "  pprof-report recover %s%s\n",
               has_log || dump ? "" : "-o FILE ", path);
  ppi_page_write(&page, stdout);
}

struct listing {
  unsigned num_dead, num_alive;
};

static bool is_unused(const char *path) {
  return ppi_spool_is_name(ppi_base_name(path)) && ppi_salvage_is_unused(path);
}

static void print_unused(const char *path) {
  ppi_page page = {0};
  ppi_tool_put(&page, "%s\n", path);
  ppi_page_text(&page, "  its process died while it made it\n");
  ppi_tool_put(&page, "  pprof-report recover %s\n", path);
  ppi_page_write(&page, stdout);
}

static void list_spool(const char *path, void *user) {
  struct listing *listing = user;
  ppi_salvage *salvage;
  pprof_error error = {""};
  pprof_status status = ppi_salvage_open(path, &salvage, &error);
  if (status == PPROF_STATUS_BUSY) {
    listing->num_alive++;
  } else if (status != PPROF_STATUS_OK && is_unused(path)) {
    print_unused(path);
    listing->num_dead++;
  } else if (status != PPROF_STATUS_OK) {
    ppi_tool_say("%s", error.text);
  } else {
    print_spool(path, salvage);
    ppi_salvage_close(salvage);
    listing->num_dead++;
  }
}

static bool is_inside(const char *path, const char *folder) {
  size_t len = strlen(folder);
  return path && strncmp(path, folder, len) == 0 && path[len] == '/' &&
         !strchr(path + len + 1, '/');
}

static void recover_if_inside(const char *path, void *user) {
  const char *folder = user;
  ppi_salvage *salvage;
  ppi_recover_result result;
  pprof_error error = {""};
  if (ppi_salvage_open(path, &salvage, NULL) != PPROF_STATUS_OK) return;
  const ppi_staging *staging = ppi_salvage_staging(salvage);
  bool inside = ppi_salvage_is_own(salvage) &&
                (is_inside(staging ? staging->log_path : NULL, folder) ||
                 is_inside(dump_of(salvage), folder));
  ppi_salvage_close(salvage);
  const ppi_recover_options how = {.folder = folder};
  if (inside && ppi_recover(path, &how, &result, &error) != PPROF_STATUS_OK)
    ppi_tool_say("%s", error.text);
}

void ppi_tool_recover_logs_in(const char *folder) {
  ppi_spool_visit(geteuid(), recover_if_inside, (void *)folder);
}

static int list_spools(void) {
  struct listing listing = {0, 0};
  const char *runtime_folder = secure_getenv("XDG_RUNTIME_DIR");
  unsigned num_others = ppi_spool_visit(geteuid(), list_spool, &listing);
  if (!listing.num_dead) {
    ppi_page line = {0};
    bool has_own = runtime_folder && runtime_folder[0];
    ppi_tool_put(&line, "no spool of a dead process in /dev/shm%s%s\n",
                 has_own ? " or " : "", has_own ? runtime_folder : "");
    ppi_page_write(&line, stdout);
  }
  if (listing.num_alive) printf("%u of running processes\n", listing.num_alive);
  if (num_others) printf("%u of other users, not looked at\n", num_others);
  return PPI_EXIT_DONE;
}

// The end of a .part that a kill tore lies whole in the staging ring, so
// unreadable bytes there mean no loss.
static int judge(const char *path, const ppi_recover_result *result) {
  ppi_log_damage damage = {0, 0, 0, false};
  pprof_error error = {""};
  pprof_status status = ppi_log_scan(result->path, NULL, NULL, &damage, &error);
  bool torn = result->bytes_unreadable && !result->blocks_staged;
  if (torn)
    ppi_tool_say("%s: %" PRIu64 " bytes were unreadable", path,
                 result->bytes_unreadable);
  if (damage.num_missing)
    ppi_tool_say("%s: %" PRIu64 " blocks are missing", path,
                 damage.num_missing);
  if (status != PPROF_STATUS_OK && status != PPROF_STATUS_CORRUPT)
    return ppi_tool_fail(PPI_EXIT_INPUT, "%s", error.text);
  return torn || damage.num_missing ? PPI_EXIT_DAMAGED : PPI_EXIT_DONE;
}

// Prints the result and answers whether there was nothing to do.
static bool print_result(const ppi_recover_result *result) {
  ppi_page page = {0};
  if (result->dump_path[0] && strcmp(result->dump_path, result->path) != 0)
    ppi_tool_put(&page, "%s: the flight recorder's dump\n", result->dump_path);
  if (result->already_whole)
    ppi_tool_put(&page, "%s: is whole, nothing to recover\n", result->path);
  else
    ppi_tool_put(&page,
                 "%s: %" PRIu64 " blocks of the log, %" PRIu64
                 " staged, %" PRIu64 " records from the spool\n",
                 result->path, result->blocks_copied, result->blocks_staged,
                 result->records_recovered);
  ppi_page_write(&page, stdout);
  return result->already_whole;
}

// Reports a path of the spool at which its run left nothing. A spool may name
// any path.
static void say_elsewhere(const char *path, const ppi_recover_result *result) {
  ppi_tool_say(
      "%s: names %s, where its run has left nothing: written here, or "
      "to --output",
      path, result->reported_path);
}

// Reports a spool of a process that died while it made the spool.
static int print_never_used(const char *path) {
  ppi_page page = {0};
  ppi_tool_put(&page, "%s: was never in use, nothing to recover\n", path);
  ppi_page_write(&page, stdout);
  return PPI_EXIT_DONE;
}

static int recover_one(const char *path,
                       const struct ppi_tool_options *options) {
  char folder[PATH_MAX];
  struct stat of;
  if (stat(path, &of) == 0 && S_ISDIR(of.st_mode) && realpath(path, folder)) {
    ppi_tool_recover_logs_in(folder);
    return PPI_EXIT_DONE;
  }
  const ppi_recover_options how = {.output = options->output,
                                   .overwrite = options->force,
                                   .keep = options->keep};
  ppi_recover_result result;
  pprof_error error = {""};
  pprof_status status = ppi_recover(path, &how, &result, &error);
  if (status == PPROF_STATUS_INVALID && is_unused(path)) {
    if (!options->keep) unlink(path);
    return print_never_used(path);
  }
  if (status != PPROF_STATUS_OK)
    return ppi_tool_failed(PPI_EXIT_INPUT, status, &error);
  if (result.was_nothing) return print_never_used(path);
  if (result.reported_path[0] && !options->output) say_elsewhere(path, &result);
  bool whole = print_result(&result);
  return whole ? PPI_EXIT_DONE : judge(path, &result);
}

int ppi_tool_recover(const struct ppi_tool_options *options) {
  if (options->open) return ppi_tool_open_dead(options);
  if (options->num_inputs == 0) return list_spools();
  if (options->output && strcmp(options->output, "-") == 0)
    return ppi_tool_fail(PPI_EXIT_USAGE, "a log cannot be recovered to stdout");
  if (options->output && options->num_inputs > 1)
    return ppi_tool_fail(PPI_EXIT_USAGE, "'--output' is for one log, not %d",
                         options->num_inputs);
  int code = ppi_tool_output_check_log(options, options->output);
  for (int i = 0; i < options->num_inputs && code != PPI_EXIT_USAGE; i++)
    code = ppi_tool_worse(code, recover_one(options->inputs[i], options));
  if (!options->keep) ppi_control_sweep();
  return code;
}

// SPDX-License-Identifier: Apache-2.0
//
// `recover`: what a killed run left behind becomes a whole log. Without an
// operand: which spools there are, and what to type.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log_format.h"
#include "log_recover.h"
#include "output.h"
#include "salvage.h"
#include "verbs.h"

static bool is_spool_name(const char *name) {
  static const char start[] = "pprof-", end[] = ".spool";
  size_t len = strlen(name);
  return len > sizeof(start) + sizeof(end) &&
         memcmp(name, start, sizeof(start) - 1) == 0 &&
         strcmp(name + len - (sizeof(end) - 1), end) == 0;
}

static const char *text_of(const ppi_salvage *salvage, const char *key) {
  const char *text = pprof_run_info_text(ppi_salvage_run_info(salvage), key);
  return text ? text : "unknown";
}

static void print_spool(const char *path, const ppi_salvage *salvage) {
  const ppi_staging *staging = ppi_salvage_staging(salvage);
  printf("%s\n  process %s on %s: %s\n", path, text_of(salvage, "pid"),
         text_of(salvage, "host"), text_of(salvage, "command"));
  if (staging && staging->log_path[0])
    printf("  its log %s\n  pprof-report recover %s\n", staging->log_path,
           path);
  else
    printf("  it wrote no log\n  pprof-report recover -o FILE %s\n", path);
}

struct listing {
  unsigned num_dead, num_alive;
};

static void list_spool(const char *path, void *user) {
  struct listing *listing = user;
  ppi_salvage *salvage;
  pprof_error error = {""};
  pprof_status status = ppi_salvage_open(path, &salvage, &error);
  if (status == PPROF_STATUS_BUSY) {
    listing->num_alive++;
  } else if (status != PPROF_STATUS_OK) {
    ppi_tool_say("%s", error.text);
  } else {
    print_spool(path, salvage);
    ppi_salvage_close(salvage);
    listing->num_dead++;
  }
}

static int by_name(const struct dirent **left, const struct dirent **right) {
  return strcmp((*left)->d_name, (*right)->d_name);
}

static int wanted(const struct dirent *entry) {
  return is_spool_name(entry->d_name);
}

static void visit_folder(const char *folder,
                         void (*visit)(const char *path, void *user),
                         void *user) {
  struct dirent **entries;
  int num = scandir(folder, &entries, wanted, by_name);
  if (num < 0) return;
  for (int i = 0; i < num; i++) {
    char path[4096];
    int len = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
    if (len > 0 && (size_t)len < sizeof(path)) visit(path, user);
    free(entries[i]);
  }
  free(entries);
}

// The folders where a session puts its spool by itself.
static void visit_spools(void (*visit)(const char *path, void *user),
                         void *user) {
  const char *runtime_folder = getenv("XDG_RUNTIME_DIR");
  visit_folder("/dev/shm", visit, user);
  if (runtime_folder && runtime_folder[0])
    visit_folder(runtime_folder, visit, user);
}

static void recover_if_inside(const char *path, void *user) {
  const char *folder = user;
  size_t len = strlen(folder);
  ppi_salvage *salvage;
  ppi_recover_result result;
  pprof_error error = {""};
  if (ppi_salvage_open(path, &salvage, NULL) != PPROF_STATUS_OK) return;
  const ppi_staging *staging = ppi_salvage_staging(salvage);
  bool inside = staging && strncmp(staging->log_path, folder, len) == 0 &&
                staging->log_path[len] == '/';
  ppi_salvage_close(salvage);
  if (inside && ppi_recover(path, NULL, &result, &error) != PPROF_STATUS_OK)
    ppi_tool_say("%s", error.text);
}

void ppi_tool_recover_logs_in(const char *folder) {
  visit_spools(recover_if_inside, (void *)folder);
}

static int list_spools(void) {
  struct listing listing = {0, 0};
  const char *runtime_folder = getenv("XDG_RUNTIME_DIR");
  visit_spools(list_spool, &listing);
  if (!listing.num_dead)
    printf("no spool of a dead process in /dev/shm%s%s\n",
           runtime_folder && runtime_folder[0] ? " or " : "",
           runtime_folder ? runtime_folder : "");
  if (listing.num_alive) printf("%u of running processes\n", listing.num_alive);
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
  if (status != PPROF_STATUS_OK && status != PPROF_STATUS_CORRUPT) {
    ppi_tool_say("%s", error.text);
    return PPI_EXIT_INPUT;
  }
  return torn || damage.num_missing ? PPI_EXIT_DAMAGED : PPI_EXIT_DONE;
}

static int recover_one(const char *path,
                       const struct ppi_tool_options *options) {
  const ppi_recover_options how = {options->output, options->force,
                                   options->keep};
  ppi_recover_result result;
  pprof_error error = {""};
  pprof_status status = ppi_recover(path, &how, &result, &error);
  if (status != PPROF_STATUS_OK) {
    ppi_tool_say("%s",
                 error.text[0] ? error.text : pprof_status_string(status));
    return PPI_EXIT_INPUT;
  }
  if (result.already_whole) {
    printf("%s: is whole, nothing to recover\n", result.path);
    return PPI_EXIT_DONE;
  }
  printf("%s: %" PRIu64 " blocks of the log, %" PRIu64 " staged, %" PRIu64
         " records from the spool\n",
         result.path, result.blocks_copied, result.blocks_staged,
         result.records_recovered);
  return judge(path, &result);
}

int ppi_tool_recover(const struct ppi_tool_options *options) {
  if (options->num_inputs == 0) return list_spools();
  if (options->output && strcmp(options->output, "-") == 0) {
    ppi_tool_say("a log cannot be recovered to stdout");
    return PPI_EXIT_USAGE;
  }
  if (options->output && options->num_inputs > 1) {
    ppi_tool_say("'--output' is for one log, not %d", options->num_inputs);
    return PPI_EXIT_USAGE;
  }
  int code = ppi_tool_output_check(options, options->output);
  for (int i = 0; i < options->num_inputs && code != PPI_EXIT_USAGE; i++) {
    int answer = recover_one(options->inputs[i], options);
    if (answer > code) code = answer;
  }
  return code;
}

// SPDX-License-Identifier: Apache-2.0
//
// Runs `run`: starts a command with the variables that make it and its children
// record, then prints the tables of all their logs.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "launch/child.h"
#include "launch/hooks.h"
#include "launch/injection.h"
#include "launch/needs.h"
#include "launch/preset.h"
#include "launch/python.h"
#include "launch/unmarked.h"
#include "log/read/log_reader.h"
#include "log/recover/log_recover.h"
#include "names/glob.h"
#include "recover/forensics.h"
#include "schema/schema.h"
#include "start/compose.h"
#include "start/environment.h"
#include "verb/trial.h"
#include "verb/verbs.h"

// ---- whether a log has a name ----

typedef bool (*name_fits)(const void *user, const char *name,
                          uint32_t category);

struct name_finder {
  pprof_sink base;
  name_fits fits;
  const void *user;
  char spool[PATH_MAX];  // "": the run has none
  bool found;
};

static pprof_status find_begin(pprof_sink *sink, const pprof_run_info *info) {
  struct name_finder *finder = (struct name_finder *)sink;
  const char *path = pprof_run_info_text(info, "spool");
  if (path) snprintf(finder->spool, sizeof finder->spool, "%s", path);
  return PPROF_STATUS_OK;
}

// Ends the read at the first match.
static pprof_status find_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  struct name_finder *finder = (struct name_finder *)sink;
  if (definition->kind != PPROF_DEFINITION_SITE ||
      !finder->fits(finder->user, pprof_definition_name(definition),
                    pprof_definition_parent(definition)))
    return PPROF_STATUS_OK;
  finder->found = true;
  return PPROF_STATUS_UNAVAILABLE;
}

static bool spool_has(const struct name_finder *finder) {
  ppi_forensics in;
  const ppi_definition_record *record;
  uint64_t cursor = 0;
  bool found = false;
  if (ppi_forensics_read(finder->spool, &in, NULL) == PPROF_STATUS_OK &&
      in.names.header)
    while (!found && (record = ppi_names_next(
                          &in.names, in.names.header->names_end, &cursor)))
      found = record->kind == PPROF_DEFINITION_SITE &&
              finder->fits(finder->user,
                           ppi_definition_text(record->kind, record->name),
                           record->parent);
  ppi_forensics_clear(&in);
  return found;
}

// log_has_name searches the names of ranges, marks and counters, in the
// log and in the spool of a running process. An unreadable log has no names.
static bool log_has_name(const char *log, name_fits fits, const void *user) {
  struct name_finder finder = {.base = {.size = sizeof finder.base,
                                        .begin = find_begin,
                                        .define = find_define},
                               .fits = fits,
                               .user = user};
  pprof_error error;
  ppi_log_skim_all(&log, 1, &finder.base, &error);
  return finder.found || (finder.spool[0] && spool_has(&finder));
}

// ---- the verb ----

#define CUDA_INJECTION "CUDA_INJECTION64_PATH"

struct run {
  const struct ppi_tool_options *options;
  char library[PATH_MAX], folder[PATH_MAX], config[PATH_MAX];
  char preset[PATH_MAX];  // the file of it; "": none
  ppi_config settings;
  bool folder_is_new;
  bool still_runs;  // a process of the command
  const char **logs;
  int num_logs;
};

// False after a message: we do not replace another tool's variable.
static bool may_set(const struct run *run, const char *name, const char *value,
                    const char *advice) {
  const char *set = secure_getenv(name);
  if (!set || !set[0] || strcmp(set, value) == 0 || run->options->force)
    return true;
  ppi_tool_say("%s is set already, to %s; %s, or replace it with --force", name,
               set, advice);
  return false;
}

// Reads the configuration here, too: an error now is better than a program that
// records nothing.
static int check_config(struct run *run) {
  const char *path = run->preset[0] ? run->preset : run->options->run.config;
  pprof_error error = {""};
  bool enabled = true;
  pprof_status status = ppi_environment_enabled(&enabled, &error);
  PPI_THEN(status, ppi_compose_load(path, &run->settings, &error));
  bool log = run->settings.log;
  if (status != PPROF_STATUS_OK)
    ppi_tool_say("%s", error.text);
  else if (!enabled)
    ppi_tool_say("PPROF_ENABLE is 0: nothing would be recorded");
  else if (!log)
    ppi_tool_say("the configuration writes no log ('log' is false)");
  if (status != PPROF_STATUS_OK || !enabled || !log) return PPI_EXIT_USAGE;
  if (!path || realpath(path, run->config)) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE, "%s: %s", path, strerror(errno));
}

static int wanted(const struct dirent *entry) {
  return ppi_ends_with(entry->d_name, ".pplog") ||
         ppi_ends_with(entry->d_name, ".pplog.part");
}

static int use_folder(struct run *run, const char *path) {
  run->folder_is_new = mkdir(path, 0700) == 0;
  if (!run->folder_is_new && errno != EEXIST)
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s: cannot be made: %s", path,
                         strerror(errno));
  if (!run->folder_is_new && !ppi_trial_is_empty(path))
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s: is not an empty folder", path);
  if (realpath(path, run->folder)) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE, "%s: %s", path, strerror(errno));
}

// Makes pprof.CMD.PID in the current folder, or in the temporary one if that is
// not writable.
static int make_folder(struct run *run) {
  const char *temporary = secure_getenv("TMPDIR");
  if (run->options->run.logs) return use_folder(run, run->options->run.logs);
  char command[NAME_MAX + 1], path[PATH_MAX];
  snprintf(command, sizeof command, "%.100s",
           ppi_base_name(run->options->inputs[0]));
  const char *folders[] = {".", temporary && temporary[0] ? temporary : "/tmp"};
  for (size_t i = 0; i < 2; i++) {
    for (unsigned n = 0; n < 100; n++) {
      char number[16] = "";
      if (n) snprintf(number, sizeof number, ".%u", n + 1);
      int len = snprintf(path, sizeof path, "%s/pprof.%s.%ld%s", folders[i],
                         command, (long)getpid(), number);
      if (len > 0 && len < PATH_MAX && mkdir(path, 0700) == 0) {
        run->folder_is_new = true;
        return realpath(path, run->folder) ? PPI_EXIT_DONE : PPI_EXIT_USAGE;
      }
      if (errno != EEXIST) break;
    }
  }
  return ppi_tool_fail(PPI_EXIT_USAGE,
                       "no folder for the logs can be made here or in %s: %s",
                       folders[1], strerror(errno));
}

// CUDA loads the library before its first kernel, OpenCL as a layer, ROCm as a
// tool. None of them needs markers in the program.
static bool set_kernels(const struct run *run) {
  return !run->options->run.kernels ||
         (ppi_tool_variable_add("PPROF_SET", ";", "devices.kernels=true",
                                false) &&
          ppi_tool_variable_add("OPENCL_LAYERS", ":", run->library, false) &&
          ppi_tool_variable_add("ROCP_TOOL_LIBRARIES", ":", run->library,
                                false) &&
          setenv(CUDA_INJECTION, run->library, 1) == 0);
}

// Preloads the library before the C library, also in a program that marks by
// NVTX alone. The address sanitizer must allow a library before itself.
static int set_waits(const struct run *run) {
  char library[PATH_MAX];
  if (!run->options->run.waits && !run->settings.waits) return PPI_EXIT_DONE;
  if (!ppi_tool_find_waits(run->library, library)) return PPI_EXIT_USAGE;
  bool done = (run->settings.waits ||
               ppi_tool_variable_add("PPROF_SET", ";", "waits=on", false)) &&
              ppi_tool_variable_add("LD_PRELOAD", ":", library, false) &&
              ppi_tool_variable_add("ASAN_OPTIONS", ":",
                                    "verify_asan_link_order=0", false);
  return done ? PPI_EXIT_DONE : PPI_EXIT_USAGE;
}

// Sets variables; those that are set already stay.
static bool set_environment(const ppi_config_globs *variables) {
  bool done = true;
  for (uint64_t i = 0; done && i < variables->num; i++) {
    char name[PPI_CONFIG_MAX_GLOB];
    size_t len = strcspn(variables->items[i], "=");
    memcpy(name, variables->items[i], len);
    name[len] = 0;
    done = setenv(name, variables->items[i] + len + 1, 0) == 0;
  }
  return done;
}

static int set_variables(struct run *run) {
  if (!may_set(run, PPI_INJECTION, run->library,
               "to record beside that tool unset it and set"
               " PPROF_NVTX_CHAIN to that path") ||
      !may_set(run, "PPROF_OUTPUT", "",
               "unset it; --logs names the folder of the logs") ||
      (run->options->run.kernels &&
       !may_set(run, CUDA_INJECTION, run->library, "unset that other tool's")))
    return PPI_EXIT_USAGE;
  if (!ppi_tool_needs_meet(&run->settings.run,
                           (char *const *)run->options->inputs, run->folder) ||
      !ppi_tool_hooks_set(&run->options->run, &run->settings.run, run->folder))
    return PPI_EXIT_USAGE;
  // Each process has a log of its own, also after an exec, which keeps the
  // number.
  ppi_trial_set_output(run->folder, "");
  // PPROF_LEDGER is for Python's package.
  bool done = set_kernels(run) && setenv("PPROF_LEDGER", "1", 0) == 0 &&
              // Machine counters are on unless they are configured.
              (ppi_config_is_given(&run->settings, "machine") ||
               ppi_tool_variable_add("PPROF_SET", ";", "machine=on", false)) &&
              set_environment(&run->settings.run.environment) &&
              (!run->config[0] || setenv("PPROF_CONFIG", run->config, 1) == 0);
  if (done && ppi_tool_set_injection(run->library)) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE, "out of memory");
}

// ---- is anything marked? ----

// Names with one of the tables' categories are wanted, too.
static bool is_wanted_name(const void *user, const char *name,
                           uint32_t category) {
  const ppi_config *settings = user;
  if (category > PPROF_CATEGORY_PROFILE_STEP &&
      category < PPROF_CATEGORY_FIRST_REGISTERED)
    return true;
  for (uint64_t i = 0; i < settings->num_categorised; i++)
    if (ppi_glob_match(settings->categorised[i].from, name)) return true;
  return false;
}

// A server that loads a model has nothing to mark yet. Before the last look,
// only a serving process gets the line.
static bool look_for_names(void *user, pid_t child, bool is_last) {
  const struct run *run = user;
  struct dirent **entries;
  char path[PATH_MAX];
  bool found = false;
  int num = scandir(run->folder, &entries, wanted, alphasort);
  for (int i = 0; i < num; i++) {
    if (!found && ppi_tool_path_in(path, run->folder, entries[i]->d_name))
      found = log_has_name(path, is_wanted_name, &run->settings);
    free(entries[i]);
  }
  if (num >= 0) free(entries);
  return !found &&
         !ppi_tool_unmarked_say(&run->settings.run, child, num > 0, is_last);
}

// ---- logs of the command ----

// Recovers the log of a killed process. The log of a running process is read up
// to its end so far. Answers the path to read; NULL: the log is empty.
static char *settle_log(struct run *run, const char *path) {
  ppi_recover_result result;
  pprof_error error = {""};
  size_t len = strlen(path);
  if (len < 5 || strcmp(path + len - 5, ".part") != 0) return strdup(path);
  pprof_status status = ppi_recover(path, NULL, &result, &error);
  if (status == PPROF_STATUS_OK)
    return result.was_nothing ? NULL : strdup(result.path);
  run->still_runs |= status == PPROF_STATUS_BUSY;
  if (status == PPROF_STATUS_BUSY)
    ppi_tool_say("%s: its process still runs; as far as it goes", path);
  else
    ppi_tool_failed(PPI_EXIT_INPUT, status, &error);
  return strdup(path);
}

static int find_logs(struct run *run) {
  struct dirent **entries;
  // Recovers by spools first: the log of a process that was killed soon after
  // its start may not name its spool yet.
  ppi_tool_recover_logs_in(run->folder);
  int num = scandir(run->folder, &entries, wanted, alphasort);
  if (num < 0) num = 0, entries = NULL;
  run->logs = ppi_tool_must(calloc((size_t)num + 1, sizeof *run->logs));
  for (int i = 0; i < num; i++) {
    char path[PATH_MAX];
    if (ppi_tool_path_in(path, run->folder, entries[i]->d_name)) {
      run->logs[run->num_logs] = settle_log(run, path);
      if (run->logs[run->num_logs]) run->num_logs++;
    }
    free(entries[i]);
  }
  free(entries);
  return run->num_logs;
}

static void say_nothing_recorded(const struct run *run) {
  char names[256];
  ppi_tool_hooks_list(names, sizeof names);
  ppi_tool_say(
      "%s: nothing was recorded: neither it nor a child %s;"
      " PPROF_LOG_LEVEL=info shows what each process did. Do one of these:",
      run->options->inputs[0],
      run->num_logs ? "marked anything while it was recorded"
                    : "called a marker");
  ppi_tool_say(
      "  record a trace with viztracer or torch.profiler, and give it to"
      " pprof-report");
  ppi_tool_say("  mark packages from outside: --hooks takes %s, or a file",
               names);
  ppi_tool_say(
      "  mark its stages: `import pprof`, `with pprof.range(\"load\"):`,"
      " `pprof.step()`; or NVTX (nvtxRangePush, torch.cuda.nvtx.range)");
}

// Removes the folder if it has nothing but the preset.
static void drop_folder(const struct run *run) {
  if (run->preset[0]) unlink(run->preset);
  ppi_tool_python_drop(run->folder);
  if (run->folder_is_new) rmdir(run->folder);
}

static int report(struct run *run) {
  struct ppi_tool_options options = *run->options;
  bool any = false;
  int code = PPI_EXIT_DONE;
  if (find_logs(run)) {
    options.inputs = run->logs;
    options.num_inputs = run->num_logs;
    options.to_stderr = options.skip_useless = true;
    const struct ppi_table_options *asked = &options.tables;
    bool has_usual_tables = !asked->by && !asked->style && !asked->view &&
                            !asked->sort && !asked->tree && !asked->flat;
    // Each process of a server has its own role.
    if (run->preset[0] && run->num_logs > 1 &&
        strcmp(options.format, "table") == 0 && has_usual_tables)
      options.tables.by = "rank";
    code = ppi_tool_summary_of(&options, &any);
  }
  if (any && options.html)
    code = ppi_tool_worse(code, ppi_tool_html_of(&options, options.html));
  if (!any) say_nothing_recorded(run);
  ppi_tool_hooks_say(run->folder, any);
  if (!run->still_runs) ppi_tool_python_drop(run->folder);
  if (run->num_logs)
    ppi_tool_say("%d log%s in %s", run->num_logs, run->num_logs == 1 ? "" : "s",
                 run->folder);
  else
    drop_folder(run);
  for (int i = 0; i < run->num_logs; i++) free((char *)run->logs[i]);
  free(run->logs);
  return code;
}

static int write_preset(struct run *run) {
  const char *name = run->options->run.preset;
  char path[PATH_MAX];
  if (!name) return PPI_EXIT_DONE;
  if (!ppi_tool_preset_write(name, run->folder, path)) return PPI_EXIT_USAGE;
  strcpy(run->preset, path);
  return PPI_EXIT_DONE;
}

static void say_text(const char *text) {
  ppi_tool_say("%s", text);
}

static int prepare(struct run *run) {
  int code = make_folder(run);
  if (code == PPI_EXIT_DONE) code = write_preset(run);
  if (code == PPI_EXIT_DONE) code = check_config(run);
  if (code == PPI_EXIT_DONE) {
    ppi_environment_unknown(say_text);
    code = set_variables(run);
  }
  if (code == PPI_EXIT_DONE) code = set_waits(run);
  return code;
}

static int run_command(struct run *run) {
  bool started = false;
  static const uint64_t times_ns[] = {10000000000u, 60000000000u, 300000000000u,
                                      0};
  const ppi_tool_look look = {times_ns, look_for_names, run};
  int code = prepare(run);
  // Names that are stored as hashes match no pattern.
  bool looks = run->settings.run.given && !run->settings.hash_names;
  if (code == PPI_EXIT_DONE)
    code = ppi_tool_child_run((char *const *)run->options->inputs,
                              run->options->keeps_sigpipe, looks ? &look : NULL,
                              &started);
  if (!started) {
    drop_folder(run);
    return code;
  }
  int reported = report(run);
  return code ? code : reported;
}

// False after a message.
static bool is_one_configuration(const struct ppi_run_options *options) {
  if (!options->preset) return true;
  if (!options->config) return ppi_tool_preset_known(options->preset);
  ppi_tool_say(
      "--preset and --config are one configuration each; the folder of"
      " the logs has the preset as a file");
  return false;
}

int ppi_tool_run(const struct ppi_tool_options *options) {
  static struct run only;
  struct run *run = &only;
  run->options = options;
  int code = ppi_tool_summary_check(options);
  if (code == PPI_EXIT_DONE)
    code = ppi_tool_output_checks(options, options->html);
  if (code == PPI_EXIT_DONE &&
      !ppi_tool_find_injection(options->run.library, false, run->library))
    code = PPI_EXIT_USAGE;
  if (code == PPI_EXIT_DONE && !is_one_configuration(&options->run))
    code = PPI_EXIT_USAGE;
  return code == PPI_EXIT_DONE ? run_command(run) : code;
}

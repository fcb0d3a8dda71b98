// SPDX-License-Identifier: Apache-2.0
//
// The table of keys as help and as documentation.
#include <string.h>

#include "schema/schema.h"

static const char *type_words(const ppi_key *key) {
  switch (key->type) {
    case PPI_KEY_COUNT:
      return "number";
    case PPI_KEY_BOOL:
      return "true or false";
    case PPI_KEY_SIZE:
      return "size";
    case PPI_KEY_DURATION:
      return "duration";
    case PPI_KEY_CHOICE:
      return "one of";
    case PPI_KEY_CHOICES:
    case PPI_KEY_VIEWS:
      return "list of";
    case PPI_KEY_TEXT:
      return "text";
    case PPI_KEY_PATH:
      return "path";
    case PPI_KEY_STEPS:
      return "[a, b]";
    case PPI_KEY_MAP:
      return key->minimum ? "on, off or mapping" : "mapping";
    case PPI_KEY_WINDOWS:
      return "mapping or list";
    case PPI_KEY_EXPORTS:
      return "list";
    case PPI_KEY_RULES:
      return key->choices ? "mapping to" : "mapping";
    case PPI_KEY_TIME:
      return "time";
    case PPI_KEY_GLOBS:
      return "list of names";
    case PPI_KEY_CONDITIONS:
      return "list of rules";
  }
  return "";
}

static void put_value(const ppi_key *key, uint64_t value, FILE *out) {
  if (key->type == PPI_KEY_SIZE)
    ppi_write_size(value, out);
  else if (key->type == PPI_KEY_DURATION)
    ppi_write_duration(value, out);
  else
    fprintf(out, "%llu", (unsigned long long)value);
}

static void put_type(const ppi_key *key, FILE *out) {
  fputs(type_words(key), out);
  for (size_t i = 0; key->choices && key->choices[i]; i++)
    fprintf(out, "%s%s", i > 0 ? ", " : " ", key->choices[i]);
  bool ranged = key->type == PPI_KEY_COUNT || key->type == PPI_KEY_SIZE ||
                key->type == PPI_KEY_DURATION;
  if (!ranged) return;
  fputs(", ", out);
  put_value(key, key->minimum, out);
  if (key->minimum != key->maximum) {
    fputs(" to ", out);
    put_value(key, key->maximum, out);
  }
  bool may_be_none = key->fallback && strcmp(key->fallback, "none") == 0;
  if (may_be_none) fputs(", or none", out);
}

#define HELP_INDENT 6
#define HELP_WIDTH 78

// Words of `text`, broken before column HELP_WIDTH.
static void put_wrapped(const char *text, FILE *out) {
  size_t column = HELP_INDENT;
  fprintf(out, "%*s", HELP_INDENT - 1, "");
  while (*text) {
    size_t len = strcspn(text, " ");
    if (column + len + 1 > HELP_WIDTH) {
      fprintf(out, "\n%*s", HELP_INDENT - 1, "");
      column = HELP_INDENT;
    }
    fprintf(out, " %.*s", (int)len, text);
    column += len + 1;
    text += len + (text[len] == ' ');
  }
  fputc('\n', out);
}

void ppi_config_help(FILE *out) {
  fputs(
      "Keys of a configuration file, with their type and [default].\n"
      "Paths may hold %h (host), %p (process id), %r (rank), %t (start time),\n"
      "%q{NAME} (an environment variable) and %%.\n\n",
      out);
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    fprintf(out, "  %s: ", key->path);
    put_type(key, out);
    if (key->fallback && *key->fallback) fprintf(out, " [%s]", key->fallback);
    fputc('\n', out);
    put_wrapped(key->help, out);
  }
}

static const char markdown_intro[] =
    "# The configuration file\n"
    "\n"
    "A YAML file says what to record and where to put it. A program reads it "
    "with\n"
    "`pprof_start(\"profile.yaml\", &error)`, or is told of it by the "
    "variable\n"
    "`PPROF_CONFIG`. Every key may be left out; an empty file is valid.\n"
    "\n"
    "```yaml\n"
    "output: pipeline.%h.%p.pplog\n"
    "capture: {skip_first: 10, warmup: 2, active: 20, repeat: 1}\n"
    "exports:\n"
    "  - {format: chrome, path: pipeline.trace.json.gz}\n"
    "  - {format: table, path: pipeline.txt, views: [overview, model]}\n"
    "```\n"
    "\n"
    "Six files to begin with are in `examples/config`:\n"
    "\n"
    "| File | For |\n"
    "|---|---|\n"
    "| `first_look.yaml` | everything, with the tables and a timeline |\n"
    "| `serving.yaml` | a service: one request in ten, whole, in segments |\n"
    "| `flight_recorder.yaml` | nothing until a request is slow, then what led "
    "to it |\n"
    "| `training.yaml` | training steps in cycles, as Paddle users write them "
    "|\n"
    "| `timer_only.yaml` | only the time of steps and of loading data |\n"
    "| `many_ranks.yaml` | many processes that record the same seconds |\n"
    "\n"
    "The file is read strictly. An unknown key, a value of another type or out "
    "of\n"
    "range, a key given twice, a second document, an anchor, alias or tag is "
    "an\n"
    "error, and nothing is recorded:\n"
    "\n"
    "```\n"
    "profile.yaml:2:1: unknown key 'captre' (did you mean 'capture'?)\n"
    "```\n"
    "\n"
    "`pprof-report config validate FILE` says so beforehand, `pprof-report "
    "config\n"
    "show --origin FILE` prints what would be in force and where each value "
    "comes\n"
    "from. With this first line an editor completes and checks keys by\n"
    "[profile.schema.json](profile.schema.json), which `pprof-report config "
    "schema`\n"
    "prints:\n"
    "\n"
    "```yaml\n"
    "# yaml-language-server: $schema=profile.schema.json\n"
    "```\n"
    "\n"
    "More about capturing is in [capture.md](capture.md), about names and "
    "requests in\n"
    "[choice.md](choice.md), about the flight recorder in\n"
    "[flight-recorder.md](flight-recorder.md), about triggers in\n"
    "[trigger.md](trigger.md).\n"
    "\n"
    "A file may be 1 MiB long and 16 levels deep. Sizes are written `64MiB` "
    "(units\n"
    "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), durations `500ms` (units us, ms, "
    "s,\n"
    "min, h), times `2026-11-22T10:00:00Z`. Where true or false is asked for, "
    "`on` and\n"
    "`yes`, `off` and `no` are, too, without quotes.\n"
    "\n"
    "## Keys\n"
    "\n"
    "`[]` stands for an item of a list. While the program runs, a change of "
    "the file\n"
    "is taken over when all that changed is marked **R**; see "
    "[Reload](#reload).\n"
    "\n"
    "| Key | Type | Default | Meaning |\n"
    "|---|---|---|---|\n";

static const char markdown_rest[] =
    "\n"
    "## Paths\n"
    "\n"
    "| In a path | Stands for |\n"
    "|---|---|\n"
    "| `%h` | the host's name; `_` for what is no printable ASCII, for `/` and "
    "for a first `.` |\n"
    "| `%p` | the process id |\n"
    "| `%r` | the rank: `RANK`, `OMPI_COMM_WORLD_RANK`, `PMI_RANK` or "
    "`SLURM_PROCID`, else 0 |\n"
    "| `%t` | the time of the start, `20260131T235959Z` |\n"
    "| `%w` | the window's number; only in exports with `per: window`, and "
    "needed there |\n"
    "| `%q{NAME}` | the environment variable NAME; an error when it is not set "
    "|\n"
    "| `%%` | a percent sign |\n"
    "\n"
    "No log replaces or removes one of another run, be it whole, in segments "
    "or\n"
    "a `.part` that waits for `recover`; nor anything else. Where something "
    "has "
    "the\n"
    "name, the log takes the first number that is free: `x.1.pplog`, "
    "`x.2.pplog`; in\n"
    "segments `x.1.0001.pplog`. `pprof_stop` says so in its `error` even when "
    "it\n"
    "succeeds, and so do the log (`pprof-report info`: `name_taken`) and a "
    "message.\n"
    "Logs of `pprof-report trigger` and dumps do the same. So logs of a "
    "program "
    "that\n"
    "is started over and over pile up: name them with `%t`, and remove old "
    "ones.\n"
    "A device, or a folder of one's own, is an error.\n"
    "\n"
    "Exports are made of what a log holds, and can be made again: the latest "
    "run "
    "has\n"
    "the name, and what an earlier one left there is replaced, also where "
    "`log` "
    "is\n"
    "false. `%t` or `%p` keeps each. Only what another process still writes, "
    "or "
    "a\n"
    "pipe or folder of another user, makes an export take a number. With `%w`, "
    "files\n"
    "of windows that an earlier run had and this one has not stay.\n"
    "\n"
    "## The end of the program\n"
    "\n"
    "A program that ends by `exit`, or returns from `main`, without "
    "`pprof_stop` has\n"
    "what it recorded finished then: log, dumps and exports, behind its own "
    "`atexit`\n"
    "handlers and destructors, whose markers are in it. The process waits "
    "`exit_wait`\n"
    "for that and no longer, whatever a disk, a device or a thread does; what "
    "is not\n"
    "finished is left as a `.part` and a spool in memory, for `pprof-report "
    "recover`.\n"
    "So is what ends by `_exit`, `quick_exit`, `abort`, `exec` or a signal, "
    "SIGTERM\n"
    "too where the program has no handler for it: pprof sets none. Forked "
    "children\n"
    "that call `exit` leave their parent's session alone. `exit` in the "
    "callback "
    "of a\n"
    "window finishes nothing; inside a marker, interrupted by a signal, it "
    "waits\n"
    "`stop_wait` for it. Sessions of `pprof_session_create` are the program's "
    "to "
    "stop.\n"
    "Of forked children, daemons and `exec` see "
    "[conventions.md](conventions.md#processes).\n"
    "\n"
    "## What dead processes have left\n"
    "\n"
    "With `reclaim`, a thread of the next start looks through the folder of "
    "`spool`\n"
    "for spools of processes of the same user that died, and does to each, the "
    "oldest\n"
    "first, what `pprof-report recover` does: one whose log is whole is "
    "removed, others\n"
    "are recovered into their own logs. It writes nowhere but beside a `.part` "
    "or log\n"
    "that has the dead run's uuid: a spool whose log is in another container, "
    "on a disk\n"
    "that is full, or that had none, stays. What so stays may come to "
    "`memory_limit`, or\n"
    "to an eighth of the folder's file system where that is less, in all; "
    "above, the\n"
    "oldest are given up. Whether a process lives is asked of the lock on its "
    "file, so\n"
    "namespaces of processes do not matter. Spools that are larger than "
    "`memory_limit`,\n"
    "and those of other users, are left alone; those of other versions are not "
    "read, and\n"
    "only ever given up. A note of the log (`reclaim`, in `info` and below the "
    "reports)\n"
    "and a message say how many were recovered, removed, given up, with how "
    "many records,\n"
    "and left. A start waits until it is known what is there, and while that "
    "is "
    "more\n"
    "than may stay, for 100 ms at most. To look at a dead process with\n"
    "`recover --open`, or to keep its spool, switch it off.\n"
    "\n"
    "## Capture windows\n"
    "\n"
    "Which keys a window has says of which kind it is; keys of two kinds are "
    "an\n"
    "error.\n"
    "\n"
    "| Window | Keys | Records |\n"
    "|---|---|---|\n"
    "| cycles of steps | `active`, `skip_first`, `skip_first_wait`, `wait`, "
    "`warmup`, `repeat` | after `skip_first` steps, again and again: `wait` "
    "steps not, `warmup` steps and throws them away, `active` steps |\n"
    "| steps | `steps` | `[10, 20]`: steps 10 to 19, with step 9 as warm-up |\n"
    "| time | `duration`, `delay`, `at`, `every`, `repeat` | `duration` long, "
    "`delay` after the start or after `at` |\n"
    "| marker | `marker`, `from`, `to`, `then` | from the `from`-th begin of "
    "that range to the `to`-th end |\n"
    "| on demand | `on_demand` | when `pprof-report trigger` asks |\n"
    "\n"
    "Steps are what the program tells with `pprof_step`; step 0 begins at\n"
    "`pprof_start`. Where several windows speak of one moment, keeping it "
    "wins;\n"
    "windows given as `steps`, or in time without `every`, that certainly "
    "overlap\n"
    "are an error. Without `capture` everything is recorded as one window. A "
    "range\n"
    "belongs to the window it begins in and is cut at its end. More in\n"
    "[capture.md](capture.md).\n"
    "\n"
    "## Reload\n"
    "\n"
    "A file that changes while the program runs is read again, unless\n"
    "`control.reload` is false. It is taken over as a whole or not at all: "
    "where it\n"
    "is not valid, or changes a key that is not marked **R**, everything stays "
    "as it\n"
    "is, and the log's notes say why (`pprof-report info`).\n"
    "\n"
    "Only a path is read again. What has none (a text or a dictionary of "
    "Python's\n"
    "`pprof.start`), and what is named by a descriptor's number "
    "(`/dev/stdin`,\n"
    "`/dev/fd/3`, anything below `/proc`), is read once: another file may have "
    "the number\n"
    "later.\n"
    "\n"
    "## Environment\n"
    "\n"
    "| Variable | Meaning |\n"
    "|---|---|\n"
    "| `PPROF_CONFIG` | the file to read when the program names none |\n"
    "| `PPROF_OUTPUT` | instead of `output` |\n"
    "| `PPROF_SET` | further keys: "
    "`PPROF_SET=\"memory_limit=128MiB;devices.mode=off\"` |\n"
    "| `PPROF_REPORT` | `1`: as `report: stderr`, the first answer without a "
    "second command |\n"
    "| `PPROF_ENABLE` | `0`: `pprof_start` does nothing and succeeds; `1`: the "
    "first marker starts a program that has not started |\n"
    "| `PPROF_RECLAIM` | `0`: as `reclaim: false`, whatever is configured |\n"
    "| `NVTX_INJECTION64_PATH` | the path of `libpprof_nvtx.so`: records a "
    "program's NVTX calls, see [nvtx.md](nvtx.md) |\n"
    "| `PPROF_NVTX_CHAIN` | a second NVTX tool that gets the calls too |\n"
    "| `PPROF_NVTX` | `1`: `pprof_start` sets `NVTX_INJECTION64_PATH` when it "
    "is not set |\n"
    "| `PPROF_CUPTI_PATH` | the libcupti that `devices.kernels` uses |\n"
    "| `PPROF_ROCPROFILER_PATH` | the librocprofiler-sdk that it uses |\n"
    "| `PPROF_HOOKS` | what `pprof.hooks.install` and `run --hooks` have "
    "installed, "
    "for programs that this one starts |\n"
    "| `PPROF_LEDGER` | `1`: the Python package records collections, imports "
    "and "
    "held event loops, see machine.md |\n"
    "| `PPROF_QUIET` | `1`: a run does not say on a terminal where its log "
    "is |\n"
    "| `PPROF_LOG_LEVEL` | messages on stderr: `off` (default), `error`, "
    "`warn`, `info`, `debug` |\n"
    "\n"
    "What the program passes to `pprof_start` goes before `PPROF_CONFIG`. For "
    "each\n"
    "key, `PPROF_SET` goes before `PPROF_OUTPUT`, that before the file, and "
    "the file\n"
    "before the default. `PPROF_SET` takes values as the file does, lists and\n"
    "mappings in their short form (`capture={active: 5}`), and replaces lists "
    "as a\n"
    "whole. The configuration in force stands in the log (`pprof-report "
    "info`).\n";

// In a table '|' ends a cell; no key or text has one.
void ppi_config_markdown(FILE *out) {
  fputs(markdown_intro, out);
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    fprintf(out, "| `%s` | ", key->path);
    put_type(key, out);
    fputs(" | ", out);
    if (key->fallback && *key->fallback) fprintf(out, "`%s` ", key->fallback);
    fprintf(out, "| %s%s |\n", key->help, key->reloads ? " **R**" : "");
  }
  fputs(markdown_rest, out);
}

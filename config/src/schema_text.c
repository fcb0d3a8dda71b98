// SPDX-License-Identifier: Apache-2.0
//
// The table of keys as text: help, documentation, and a configuration in force.
#include <string.h>

#include "schema.h"

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
      return "mapping";
    case PPI_KEY_WINDOWS:
      return "mapping or list";
    case PPI_KEY_EXPORTS:
      return "list";
    case PPI_KEY_RULES:
      return "mapping";
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
  if (key->minimum == key->maximum) return;
  fputs(" to ", out);
  put_value(key, key->maximum, out);
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
    if (key->fallback) fprintf(out, " [%s]", key->fallback);
    fputc('\n', out);
    put_wrapped(key->help, out);
  }
}

static const char markdown_intro[] =
    "# The configuration file\n"
    "\n"
    "A YAML file says what to record and where to put it. A program "
    "reads it with\n"
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
    "The file is read strictly. An unknown key, a value of another type "
    "or out of\n"
    "range, a key given twice, a second document, an anchor, alias or "
    "tag is an\n"
    "error, and nothing is recorded:\n"
    "\n"
    "```\n"
    "profile.yaml:2:1: unknown key 'captre' (did you mean 'capture'?)\n"
    "```\n"
    "\n"
    "A file may be 1 MiB long and 16 levels deep. Sizes are written "
    "`64MiB` (units\n"
    "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), durations `500ms` (units "
    "us, ms, s,\n"
    "min, h).\n"
    "\n"
    "## Keys\n"
    "\n"
    "`[]` stands for an item of a list.\n"
    "\n"
    "| Key | Type | Default | Meaning |\n"
    "|---|---|---|---|\n";

static const char markdown_rest[] =
    "\n"
    "## Paths\n"
    "\n"
    "| In a path | Stands for |\n"
    "|---|---|\n"
    "| `%h` | the host's name |\n"
    "| `%p` | the process id |\n"
    "| `%r` | the rank: `RANK`, `OMPI_COMM_WORLD_RANK`, `PMI_RANK` or "
    "`SLURM_PROCID`, else 0 |\n"
    "| `%t` | the time of the start, `20260131T235959Z` |\n"
    "| `%q{NAME}` | the environment variable NAME; an error when it is "
    "not set |\n"
    "| `%%` | a percent sign |\n"
    "\n"
    "## Capture windows\n"
    "\n"
    "Windows go by steps: the program calls `pprof_step` between them, "
    "step 0 begins\n"
    "at `pprof_start`. After `skip_first` steps comes a cycle of `wait` "
    "steps not\n"
    "recorded, `warmup` steps recorded and thrown away, and `active` "
    "steps that are\n"
    "kept, `repeat` times. `steps: [10, 20]` keeps steps 10 to 19, with "
    "step 9 as\n"
    "warm-up. Where several windows speak of one step, keeping it wins. "
    "Without\n"
    "`capture` everything is recorded as one window. A range belongs to "
    "the window\n"
    "it begins in and is cut at its end.\n"
    "\n"
    "## Environment\n"
    "\n"
    "| Variable | Meaning |\n"
    "|---|---|\n"
    "| `PPROF_CONFIG` | the file to read when the program names none |\n"
    "| `PPROF_OUTPUT` | instead of `output` |\n"
    "| `PPROF_SET` | further keys: "
    "`PPROF_SET=\"memory_limit=128MiB;devices.mode=off\"` |\n"
    "| `PPROF_ENABLE` | `0`: `pprof_start` does nothing and succeeds |\n"
    "| `NVTX_INJECTION64_PATH` | the path of `libpprof_nvtx.so`: records a "
    "program's NVTX calls, see [nvtx.md](nvtx.md) |\n"
    "| `PPROF_NVTX_CHAIN` | a second NVTX tool that gets the calls too |\n"
    "| `PPROF_NVTX` | `1`: `pprof_start` sets `NVTX_INJECTION64_PATH` when "
    "it is not set |\n"
    "| `PPROF_LOG_LEVEL` | messages on stderr: `off` (default), `error`, "
    "`warn`, `info`, `debug` |\n"
    "\n"
    "What the program passes to `pprof_start` goes before "
    "`PPROF_CONFIG`. For each\n"
    "key, `PPROF_SET` goes before `PPROF_OUTPUT`, that before the file, "
    "and the file\n"
    "before the default. `PPROF_SET` takes values as the file does, "
    "lists and\n"
    "mappings in their short form (`capture={active: 5}`), and replaces "
    "`capture`\n"
    "and `exports` as a whole. The configuration in force stands in the "
    "log\n"
    "(`pprof-report info`).\n";

// In a table '|' ends a cell; no key or text has one.
void ppi_config_markdown(FILE *out) {
  fputs(markdown_intro, out);
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    fprintf(out, "| `%s` | ", key->path);
    put_type(key, out);
    fputs(" | ", out);
    if (key->fallback) fprintf(out, "`%s` ", key->fallback);
    fprintf(out, "| %s |\n", key->help);
  }
  fputs(markdown_rest, out);
}

// Text in double quotes, so that it reads back as what it was.
static void put_text(const char *text, FILE *out) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', out);
    if ((unsigned char)*text < 0x20)
      fprintf(out, "\\x%02x", *text);
    else
      fputc(*text, out);
  }
  fputc('"', out);
}

static void put_bits(const ppi_key *key, uint64_t bits, FILE *out) {
  const char *separator = "";
  fputc('[', out);
  for (size_t i = 0; key->choices[i]; i++) {
    if (!(bits >> i & 1)) continue;
    fprintf(out, "%s%s", separator, key->choices[i]);
    separator = ", ";
  }
  fputc(']', out);
}

static void put_key(const ppi_key *key, const void *base, FILE *out) {
  const void *at = (const char *)base + key->offset;
  const uint64_t *number = at;
  const ppi_config_text *text = at;
  switch (key->type) {
    case PPI_KEY_COUNT:
    case PPI_KEY_SIZE:
    case PPI_KEY_DURATION:
      put_value(key, *number, out);
      break;
    case PPI_KEY_BOOL:
      fputs(*number ? "true" : "false", out);
      break;
    case PPI_KEY_CHOICE:
      fputs(key->choices[*number], out);
      break;
    case PPI_KEY_CHOICES:
      put_bits(key, *number, out);
      break;
    case PPI_KEY_TEXT:
    case PPI_KEY_PATH:
      put_text(text->text, out);
      break;
    case PPI_KEY_VIEWS:
      fprintf(out, "[%s]", text->text);
      break;
    case PPI_KEY_STEPS:
      fprintf(out, "[%llu, %llu]", (unsigned long long)number[0],
              (unsigned long long)number[1]);
      break;
    case PPI_KEY_MAP:
    case PPI_KEY_WINDOWS:
    case PPI_KEY_EXPORTS:
    case PPI_KEY_RULES:
      break;
  }
}

static bool is_given(const ppi_key *key, const void *base) {
  const void *at = (const char *)base + key->offset;
  if (key->type == PPI_KEY_STEPS) return ((const uint64_t *)at)[2] != 0;
  if (key->type == PPI_KEY_VIEWS)
    return ((const ppi_config_text *)at)->text[0] != 0;
  return true;
}

// One item in short form. Of a window with `steps` that key alone is shown.
static void put_item(const char *prefix, bool steps_only, const void *base,
                     FILE *out) {
  const char *separator = "  - {";
  size_t len = strlen(prefix);
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    if (strncmp(key->path, prefix, len) != 0 || !is_given(key, base) ||
        (steps_only && key->type != PPI_KEY_STEPS))
      continue;
    fprintf(out, "%s%s: ", separator, key->path + len);
    put_key(key, base, out);
    separator = ", ";
  }
  fputs("}\n", out);
}

static void put_items(const ppi_config *config, const ppi_key *key, FILE *out) {
  bool windows = key->type == PPI_KEY_WINDOWS;
  uint64_t num = windows ? config->num_windows : config->num_exports;
  if (num == 0) return;
  fprintf(out, "%s:\n", key->path);
  for (uint64_t i = 0; i < num; i++) {
    if (windows)
      put_item("capture[].", config->windows[i].has_steps, &config->windows[i],
               out);
    else
      put_item("exports[].", false, &config->exports[i], out);
  }
}

static void put_rules(const ppi_config *config, const ppi_key *key, FILE *out) {
  ppi_config_rules rules = ppi_config_rules_of((ppi_config *)config, key);
  if (*rules.num == 0) return;
  fprintf(out, "  %s: {", strchr(key->path, '.') + 1);
  for (uint64_t i = 0; i < *rules.num; i++) {
    if (i > 0) fputs(", ", out);
    put_text(rules.items[i].from, out);
    fputs(": ", out);
    put_text(rules.items[i].category, out);
  }
  fputs("}\n", out);
}

void ppi_config_write(const ppi_config *config, FILE *out) {
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    const char *dot = strchr(key->path, '.');
    if (strchr(key->path, '[')) continue;
    if (key->type == PPI_KEY_RULES) {
      put_rules(config, key, out);
    } else if (key->type == PPI_KEY_WINDOWS || key->type == PPI_KEY_EXPORTS) {
      put_items(config, key, out);
    } else {
      fprintf(out, "%s%s:%s", dot ? "  " : "", dot ? dot + 1 : key->path,
              key->type == PPI_KEY_MAP ? "" : " ");
      put_key(key, config, out);
      fputc('\n', out);
    }
  }
}

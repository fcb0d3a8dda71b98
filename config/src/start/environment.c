// SPDX-License-Identifier: Apache-2.0
//
// Reads PPROF_* variables and expands % in paths. Called inside pprof_start,
// under its lock.
#include "start/environment.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/thread_id.h"
#include "file/utf8.h"

// One thread at a time has a copy. Thread-local variables would need room in
// the program's remaining static TLS.
static struct {
  uint32_t thread;  // 0: none; atomic
  const ppi_environment_copy *copy;
} answering;

void ppi_environment_answer_from(const ppi_environment_copy *copy) {
  answering.copy = copy;
  __atomic_store_n(&answering.thread, copy ? ppi_thread_id() : 0,
                   __ATOMIC_RELEASE);
}

static const ppi_environment_copy *copy_of_thread(void) {
  uint32_t thread = __atomic_load_n(&answering.thread, __ATOMIC_ACQUIRE);
  return thread && thread == ppi_thread_id() ? answering.copy : NULL;
}

// Like secure_getenv.
static char **entries(void) {
  static char *none[] = {NULL};
  return getauxval(AT_SECURE) ? none : environ;
}

bool ppi_environment_copy_take(ppi_environment_copy *out) {
  size_t len = 0, at = 0;
  for (char **entry = entries(); entry && *entry; entry++)
    len += strlen(*entry) + 1;
  char *texts = ppi_alloc(len + 1);
  if (!texts) return false;
  for (char **entry = entries(); entry && *entry; entry++) {
    size_t bytes = strlen(*entry) + 1;
    memcpy(texts + at, *entry, bytes);
    at += bytes;
  }
  *out = (ppi_environment_copy){texts, len};
  return true;
}

void ppi_environment_copy_clear(ppi_environment_copy *copy) {
  // Another thread may get the number of one that ended.
  if (answering.copy == copy) ppi_environment_answer_from(NULL);
  ppi_free(copy->texts);
  *copy = (ppi_environment_copy){NULL, 0};
}

static const char *lookup(const char *name) {
  const ppi_environment_copy *answers = copy_of_thread();
  if (!answers) return secure_getenv(name);
  size_t len = strlen(name);
  const char *end = answers->texts + answers->len;
  for (const char *at = answers->texts; at < end; at += strlen(at) + 1)
    if (strncmp(at, name, len) == 0 && at[len] == '=') return at + len + 1;
  return NULL;
}

static const char *variable(const char *name) {
  const char *text = lookup(name);
  return text && *text ? text : NULL;
}

const char *ppi_environment_config_path(void) {
  return variable("PPROF_CONFIG");
}

const char *ppi_environment_nvtx(void) {
  return variable("PPROF_NVTX");
}

// All PPROF_* that we read, here and in Python; then those of Google's pprof.
static const char *const known[] = {
    "CONFIG",      "CUPTI_PATH", "DUCKDB",           "ENABLE",        "HOOKS",
    "HOOKS_NOTES", "LEDGER",     "LIBRARY",          "LOG_LEVEL",     "NVTX",
    "NVTX_CHAIN",  "OUTPUT",     "PYTHON",           "PYTHON_FOLLOW", "QUIET",
    "RECLAIM",     "REPORT",     "ROCPROFILER_PATH", "ROLE",          "SET",
    "BINARY_PATH", "PATH",       "TMPDIR",           "TOOLS"};
enum { NUM_OURS = 20, NUM_KNOWN = sizeof known / sizeof *known };

static bool is_known(const char *name) {
  size_t i = 0;
  while (i < NUM_KNOWN && strcmp(known[i], name) != 0) i++;
  return i < NUM_KNOWN;
}

void ppi_environment_unknown(void (*report)(const char *text)) {
  static const char prefix[] = "PPROF_";
  const size_t skipped = sizeof prefix - 1;
  for (char **entry = entries(); entry && *entry; entry++) {
    char name[64], text[256];
    size_t len = strcspn(*entry, "=");
    if (strncmp(*entry, prefix, skipped) != 0 || len >= sizeof name) continue;
    snprintf(name, sizeof name, "%.*s", (int)(len - skipped), *entry + skipped);
    if (is_known(name)) continue;
    const char *near = ppi_nearest(name, known, NUM_OURS);
    snprintf(text, sizeof text, "unknown variable '%s%s'%s%s%s%s", prefix,
             ppi_quote_of(name).text, near ? " (did you mean '" : "",
             near ? prefix : "", near ? near : "", near ? "'?)" : "");
    report(text);
  }
}

typedef struct choice {
  const char *variable, *expected;
  const char *const *words;
  size_t num_words;
} choice;

static pprof_status word_of(const choice *of, size_t *out, pprof_error *error) {
  const char *text = variable(of->variable);
  if (!text) return PPROF_STATUS_OK;
  for (size_t i = 0; i < of->num_words; i++) {
    if (strcmp(text, of->words[i]) != 0) continue;
    *out = i;
    return PPROF_STATUS_OK;
  }
  return ppi_yaml_fail(of->variable, (ppi_yaml_mark){1, 1}, error,
                       "must be %s, not '%s'", of->expected,
                       ppi_quote_of(text).text);
}

static pprof_status switch_of(const char *name, bool *out, pprof_error *error) {
  static const char *const words[] = {"0", "1"};
  const char *text = variable(name);
  uint64_t value = 0;
  size_t word = 1;
  pprof_status status = PPROF_STATUS_OK;
  if (text && ppi_parse_bool(text, &value))
    word = value;
  else
    status = word_of(&(choice){name, "0 or 1", words, 2}, &word, error);
  *out = word;
  return status;
}

pprof_status ppi_environment_enabled(bool *out, pprof_error *error) {
  return switch_of("PPROF_ENABLE", out, error);
}

bool ppi_environment_asks(void) {
  bool enabled = false;
  return variable("PPROF_ENABLE") &&
         ppi_environment_enabled(&enabled, NULL) == PPROF_STATUS_OK && enabled;
}

pprof_status ppi_environment_reclaim(bool *out, pprof_error *error) {
  return switch_of("PPROF_RECLAIM", out, error);
}

static const char *const levels[] = {"off", "error", "warn", "info", "debug"};

pprof_status ppi_environment_log_level(ppi_message_level *out,
                                       pprof_error *error) {
  size_t level = PPI_MESSAGE_OFF;
  const choice of = {"PPROF_LOG_LEVEL", "off, error, warn, info or debug",
                     levels, 5};
  pprof_status status = word_of(&of, &level, error);
  *out = (ppi_message_level)level;
  return status;
}

// Paths, and texts of drivers, are escaped for a terminal.
static void make_visible(char *text) {
  unsigned char *at = (unsigned char *)text, *end = at + strlen(text);
  for (size_t length; at < end; at += length) {
    length = ppi_utf8_length(at, end);
    bool bad = !length || ppi_utf8_is_invisible(ppi_utf8_code(at, length));
    length = length ? length : 1;
    if (bad) memset(at, '?', length);
  }
}

static void put_line(const char *level, const char *format, va_list arguments) {
  char line[1024];
  vsnprintf(line, sizeof line, format, arguments);
  make_visible(line);
  fprintf(stderr, "pprof: %s%s%s\n", level, *level ? ": " : "", line);
}

void ppi_message(ppi_message_level level, const char *format, ...) {
  ppi_message_level wanted;
  if (ppi_environment_log_level(&wanted, NULL) != PPROF_STATUS_OK ||
      level > wanted)
    return;
  va_list arguments;
  va_start(arguments, format);
  put_line(levels[level], format, arguments);
  va_end(arguments);
}

void ppi_print_terminal(const char *format, ...) {
  bool quiet = false;
  if (!isatty(STDERR_FILENO)) return;
  if (variable("PPROF_QUIET") &&
      (switch_of("PPROF_QUIET", &quiet, NULL) != PPROF_STATUS_OK || quiet))
    return;
  va_list arguments;
  va_start(arguments, format);
  put_line("", format, arguments);
  va_end(arguments);
}

static uint32_t column_of(const char *text, const char *at) {
  uint32_t column = 1;
  for (; text < at; text++) column += ((unsigned char)*text & 0xc0) != 0x80;
  return column;
}

// The end of a "key=value" part: a ';' outside quotes. A quote counts where
// YAML lets one begin.
static const char *end_of_part(const char *at) {
  char quote = 0, before = '=';
  for (; *at && (quote || *at != ';'); before = *at++) {
    if (quote)
      quote = *at == quote && before != '\\' ? 0 : quote;
    else if ((*at == '"' || *at == '\'') && strchr("=[{,: ", before))
      quote = *at;
  }
  return at;
}

typedef struct setting {
  const char *variable;  // its whole text
  ppi_yaml yaml;
  pprof_error *error;
} setting;

#define SET_NAME "PPROF_SET"

static ppi_yaml_mark mark_at(const setting *set, const char *at) {
  return (ppi_yaml_mark){1, column_of(set->variable, at)};
}

static bool is_list_key(const char *name) {
  for (size_t i = 0; i < ppi_num_keys; i++)
    if (strcmp(ppi_keys[i].path, name) == 0)
      return ppi_keys[i].type == PPI_KEY_WINDOWS ||
             ppi_keys[i].type == PPI_KEY_EXPORTS;
  return false;
}

// The map called `name` below `map`, created if missing.
static pprof_status enter(setting *set, ppi_yaml_node **map, const char *name,
                          const char *at) {
  if (is_list_key(name))
    return ppi_yaml_fail(SET_NAME, mark_at(set, at), set->error,
                         "'%s' can only be set as a whole", name);
  ppi_yaml_node *found = ppi_yaml_find(*map, name);
  if (found && found->kind != PPI_YAML_MAP)
    return ppi_yaml_fail(SET_NAME, mark_at(set, at), set->error,
                         "'%s' was given a value before", name);
  if (!found) {
    found = ppi_yaml_add(&set->yaml, PPI_YAML_MAP, mark_at(set, at));
    if (!found)
      return ppi_fail(set->error, PPROF_STATUS_NO_MEMORY, "out of memory");
    pprof_status status =
        ppi_yaml_attach(&set->yaml, *map, found, name, set->error);
    if (status != PPROF_STATUS_OK) return status;
  }
  *map = found;
  return PPROF_STATUS_OK;
}

static pprof_status add_value(setting *set, ppi_yaml_node *map,
                              const char *name, const char *key_at,
                              const char *value, const char *end) {
  ppi_yaml_node *node = NULL;
  PPI_TRY(ppi_yaml_parse(&set->yaml, value, (size_t)(end - value),
                         mark_at(set, value), &node, set->error));
  if (!node)
    return ppi_yaml_fail(SET_NAME, mark_at(set, key_at), set->error,
                         "'%s' needs a value", name);
  node->key_line = 1;
  node->key_column = mark_at(set, key_at).column;
  return ppi_yaml_attach(&set->yaml, map, node, name, set->error);
}

#define LONGEST_KEY 64

// "devices.mode=off" between `at` and `end`.
static pprof_status add_part(setting *set, const char *at, const char *end) {
  ppi_yaml_node *map = set->yaml.root;
  const char *equals = memchr(at, '=', (size_t)(end - at));
  if (!equals)
    return ppi_yaml_fail(SET_NAME, mark_at(set, at), set->error,
                         "expected key=value");
  for (;;) {
    char name[LONGEST_KEY];
    size_t len = strcspn(at, ".=");
    if (len == 0 || len >= sizeof name)
      return ppi_yaml_fail(SET_NAME, mark_at(set, at), set->error,
                           "expected key=value");
    memcpy(name, at, len);
    name[len] = 0;
    if (at + len >= equals)
      return add_value(set, map, name, at, equals + 1, end);
    PPI_TRY(enter(set, &map, name, at));
    at += len + 1;
  }
}

static pprof_status build_settings(setting *set) {
  set->yaml.root =
      ppi_yaml_add(&set->yaml, PPI_YAML_MAP, (ppi_yaml_mark){1, 1});
  if (!set->yaml.root)
    return ppi_fail(set->error, PPROF_STATUS_NO_MEMORY, "out of memory");
  for (const char *at = set->variable; *at;) {
    at += strspn(at, " \t\n;");
    const char *end = end_of_part(at);
    PPI_TRY(end > at ? add_part(set, at, end) : PPROF_STATUS_OK);
    at = end;
  }
  return PPROF_STATUS_OK;
}

static pprof_status apply_output(ppi_config *config, pprof_error *error) {
  static const char name[] = "PPROF_OUTPUT";
  const ppi_yaml_mark mark = {1, 1};
  const char *text = variable(name);
  if (!text) return PPROF_STATUS_OK;
  if (strlen(text) >= sizeof config->output.text)
    return ppi_yaml_fail(name, mark, error, "longer than %zu bytes",
                         sizeof config->output.text - 1);
  const char *wrong = ppi_check_template(text, false);
  if (wrong) return ppi_yaml_fail(name, mark, error, "%s", wrong);
  strcpy(config->output.text, text);
  strcpy(config->output.where, "PPROF_OUTPUT:1:1");
  ppi_config_set_origin(config, "output", name);
  return PPROF_STATUS_OK;
}

// The default report, on stderr.
static pprof_status apply_report(ppi_config *config, pprof_error *error) {
  static const char name[] = "PPROF_REPORT";
  bool wanted = false;
  if (!variable(name)) return PPROF_STATUS_OK;
  PPI_TRY(switch_of(name, &wanted, error));
  config->report = wanted;
  ppi_config_set_origin(config, "report", name);
  return PPROF_STATUS_OK;
}

pprof_status ppi_environment_apply(ppi_config *config, pprof_error *error) {
  pprof_status status = apply_output(config, error);
  if (status == PPROF_STATUS_OK) status = apply_report(config, error);
  const char *text = variable(SET_NAME);
  if (status != PPROF_STATUS_OK || !text) return status;
  setting set = {.variable = text, .error = error};
  ppi_yaml_init(&set.yaml, SET_NAME);
  status = build_settings(&set);
  PPI_THEN(status, ppi_config_apply(config, &set.yaml, error));
  ppi_yaml_clear(&set.yaml);
  return status;
}

static const char *rank(void) {
  static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK",
                                      "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = variable(names[i]);
    if (text && !text[strspn(text, "0123456789")]) return text;
  }
  return "0";
}

typedef struct expansion {
  char *out;
  size_t len;
  bool too_long;
} expansion;

static void put(expansion *to, const char *text, size_t len) {
  if (len >= PATH_MAX - to->len) {
    to->too_long = true;
    return;
  }
  memcpy(to->out + to->len, text, len);
  to->len += len;
}

// Written text has no mark for a window.
static void put_plain(expansion *to, const char *text, size_t len) {
  size_t from = to->len;
  put(to, text, len);
  for (; from < to->len; from++)
    if (to->out[from] == PPI_PATH_WINDOW) to->out[from] = '_';
}

static void put_text(expansion *to, const char *text) {
  put_plain(to, text, strlen(text));
}

// A host's name has letters, digits, '-' and '.'. Other characters could lead
// to another folder or control a terminal, and are left out.
static void put_host(expansion *to) {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0 || !*host) strcpy(host, "host");
  for (char *at = host; *at; at++)
    if (*at <= ' ' || *at > '~' || *at == '/' || (at == host && *at == '.'))
      *at = '_';
  put_text(to, host);
}

static void put_time(expansion *to) {
  char text[32] = "";
  time_t now = time(NULL);
  struct tm parts;
  if (gmtime_r(&now, &parts))
    strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  put_text(to, text);
}

// %q{NAME} at `at`, which points at the q. Answers the rest, NULL if the
// variable is not set.
static const char *put_variable(expansion *to, const char *at,
                                char name[PPI_CONFIG_MAX_TEXT]) {
  size_t len = strcspn(at + 2, "}");
  memcpy(name, at + 2, len);
  name[len] = 0;
  const char *value = lookup(name);
  if (!value) return NULL;
  put_text(to, value);
  return at + 2 + len + 1;
}

static void put_short(expansion *to, char letter) {
  char pid[24];
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  if (letter == 'h') put_host(to);
  if (letter == 'p') put_text(to, pid);
  if (letter == 'r') put_text(to, rank());
  if (letter == 't') put_time(to);
  if (letter == '%') put(to, "%", 1);
  if (letter == 'w') put(to, &(char){PPI_PATH_WINDOW}, 1);
}

static pprof_status fail_at(const ppi_config_text *path, pprof_error *error,
                            const char *what, const char *name) {
  return ppi_fail(error, PPROF_STATUS_CONFIG, "%s%s%s%s",
                  path->where[0] ? path->where : "output", ": ", what, name);
}

pprof_status ppi_expand_path(const ppi_config_text *path, char out[PATH_MAX],
                             pprof_error *error) {
  expansion to = {.out = out};
  for (const char *at = path->text; *at;) {
    size_t plain = strcspn(at, "%");
    put_plain(&to, at, plain);
    at += plain;
    if (!*at) break;
    if (at[1] != 'q') {
      put_short(&to, at[1]);
      at += 2;
      continue;
    }
    char name[PPI_CONFIG_MAX_TEXT];
    at = put_variable(&to, at + 1, name);
    if (!at)
      return fail_at(path, error,
                     "environment variable not set: ", ppi_quote_of(name).text);
  }
  out[to.len] = 0;
  if (to.too_long) return fail_at(path, error, "the path is too long", "");
  if (to.len == 0) return fail_at(path, error, "the path is empty", "");
  return PPROF_STATUS_OK;
}

pprof_status ppi_expand_window(const char *path, uint32_t window,
                               char out[PATH_MAX]) {
  expansion to = {.out = out};
  char number[16];
  int len = snprintf(number, sizeof number, "%u", window);
  for (; *path; path++) {
    bool marked = *path == PPI_PATH_WINDOW;
    put(&to, marked ? number : path, marked ? (size_t)len : 1);
  }
  out[to.len] = 0;
  return to.too_long ? PPROF_STATUS_CONFIG : PPROF_STATUS_OK;
}

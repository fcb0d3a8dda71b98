// SPDX-License-Identifier: Apache-2.0
//
// Finds the whole runs in a folder and makes views over them.
#include "fleet/fleet.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "duckdb/duckdb.h"
#include "export/parquet.h"

enum { NUM_TOLD = 10, MAX_VIEWS = 32 };

static const char run_prefix[] = "run=", rank_prefix[] = "rank=";

static const char *behind(const char *name, const char *prefix) {
  size_t len = strlen(prefix);
  return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

static char *join(const char *folder, const char *name, const char *ending) {
  ppi_page path = {0};
  ppi_page_format(&path, "%s/%s%s", folder, name, ending);
  return ppi_tool_must(path.failed ? NULL : path.bytes);
}

// ---- what is whole ----

// A Parquet file has its magic at both ends. The four bytes before the last one
// are the footer's length.
static bool is_whole(const char *path) {
  unsigned char head[4], tail[8];
  struct stat found;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  bool read_both = fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
                   found.st_size >= 12 && pread(fd, head, 4, 0) == 4 &&
                   pread(fd, tail, 8, found.st_size - 8) == 8;
  close(fd);
  if (!read_both || memcmp(head, "PAR1", 4) != 0 ||
      memcmp(tail + 4, "PAR1", 4) != 0)
    return false;
  uint64_t len =
      tail[0] | tail[1] << 8 | tail[2] << 16 | (uint64_t)tail[3] << 24;
  return len + 12 <= (uint64_t)found.st_size;
}

static bool may_tell(size_t *num) {
  if (++*num == NUM_TOLD + 1) ppi_tool_say("further ones are not named");
  return *num <= NUM_TOLD;
}

// The SQL of an empty table, for a table that later versions added; NULL: every
// version writes it.
static const char *empty_of(const char *table) {
  const ppi_carried *later = ppi_parquet_later;
  while (later->name && strcmp(later->name, table) != 0) later++;
  return later->text;
}

static bool is_there(const char *path) {
  return access(path, F_OK) == 0;
}

// Whether all tables of a run are there.
static bool judge(ppi_fleet *fleet, const char *path) {
  for (size_t i = 0; ppi_parquet_tables[i]; i++) {
    char *file = join(path, ppi_parquet_tables[i], ".parquet");
    bool lacks = !is_there(file);
    bool whole =
        lacks ? empty_of(ppi_parquet_tables[i]) != NULL : is_whole(file);
    if (!whole && may_tell(&fleet->num_left_out))
      ppi_tool_say("%s: %s; the run is left out", file,
                   lacks ? "is missing" : "is cut or damaged");
    ppi_free(file);
    if (!whole) return false;
  }
  return true;
}

// The rank's folder `name` in the run's `folder`.
static void take_rank(ppi_fleet *fleet, const char *folder, const char *name) {
  char *end, *path = join(folder, name, "");
  long rank = strtol(behind(name, rank_prefix), &end, 10);
  if (*end || rank < 0) rank = -1;
  if (rank >= 0)
    PPI_MUST_PUSH(fleet->ranks, fleet->num_ranks, fleet->ranks_capacity, rank);
  if (!judge(fleet, path)) {
    ppi_free(path);
    return;
  }
  PPI_MUST_PUSH(fleet->runs, fleet->num_runs, fleet->capacity,
                (ppi_fleet_run){path, rank});
}

// Calls `take` for each entry with a name that begins with `prefix`.
static void each_entry(ppi_fleet *fleet, const char *folder, const char *prefix,
                       void (*take)(ppi_fleet *, const char *, const char *)) {
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));)
    if (behind(entry->d_name, prefix)) take(fleet, folder, entry->d_name);
  if (entries) closedir(entries);
}

static void take_run(ppi_fleet *fleet, const char *folder, const char *name) {
  char *path = join(folder, name, "");
  size_t before = fleet->num_runs + fleet->num_left_out;
  each_entry(fleet, path, rank_prefix, take_rank);
  bool found = fleet->num_runs + fleet->num_left_out > before;
  if (!found && may_tell(&fleet->num_left_out))
    ppi_tool_say("%s: cannot be read, or has no rank; the run is left out",
                 path);
  ppi_free(path);
}

static void take_part(ppi_fleet *fleet, const char *folder, const char *name) {
  if (may_tell(&fleet->num_left_out))
    ppi_tool_say("%s/%s: its export did not finish; the run is left out",
                 folder, name);
}

// ---- who is missing ----

static int by_number(const void *a, const void *b) {
  long left = *(const long *)a, right = *(const long *)b;
  return (left > right) - (left < right);
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const ppi_fleet_run *)a)->path,
                ((const ppi_fleet_run *)b)->path);
}

static void put_gap(ppi_page *page, long from, long to) {
  ppi_page_format(page, "%s%ld", page->len ? ", " : "", from);
  if (to > from) ppi_page_format(page, " to %ld", to);
}

// Ranks count from 0 to the greatest that is there.
static void tell_missing(ppi_fleet *fleet) {
  ppi_page gaps = {0};
  long next = 0, num = 0;
  if (fleet->num_ranks)
    qsort(fleet->ranks, fleet->num_ranks, sizeof *fleet->ranks, by_number);
  for (size_t i = 0; i < fleet->num_ranks; i++) {
    if (fleet->ranks[i] > next) {
      put_gap(&gaps, next, fleet->ranks[i] - 1);
      num += fleet->ranks[i] - next;
    }
    next = fleet->ranks[i] + 1;
  }
  if (num && !gaps.failed)
    ppi_tool_say("of ranks 0 to %ld, %ld %s missing: %s", next - 1, num,
                 num == 1 ? "is" : "are", gaps.bytes);
  ppi_page_clear(&gaps);
}

int ppi_fleet_open(ppi_fleet *fleet, const char *folder) {
  *fleet = (ppi_fleet){.folder = folder};
  each_entry(fleet, folder, run_prefix, take_run);
  each_entry(fleet, folder, PPI_PARQUET_PART, take_part);
  tell_missing(fleet);
  if (!fleet->num_runs)
    return ppi_tool_fail(
        PPI_EXIT_INPUT,
        "%s: no run in it; `pprof-report export parquet LOG... -o %s` "
        "puts them there",
        folder, folder);
  qsort(fleet->runs, fleet->num_runs, sizeof *fleet->runs, by_path);
  return fleet->num_left_out ? PPI_EXIT_DAMAGED : PPI_EXIT_DONE;
}

void ppi_fleet_clear(ppi_fleet *fleet) {
  for (size_t i = 0; i < fleet->num_runs; i++) ppi_free(fleet->runs[i].path);
  ppi_free(fleet->runs);
  ppi_free(fleet->ranks);
}

// ---- SQL ----

// Whether a table that came later is in no run.
static bool lacks_all(const ppi_fleet *fleet, const char *table) {
  bool found = !empty_of(table);
  for (size_t i = 0; i < fleet->num_runs && !found; i++) {
    char *file = join(fleet->runs[i].path, table, ".parquet");
    found = is_there(file);
    ppi_free(file);
  }
  return !found;
}

static void put_duckdb_table(ppi_page *page, const ppi_fleet *fleet,
                             const char *table) {
  const char *before = "";
  ppi_page_format(
      page, "CREATE TEMPORARY VIEW %s AS SELECT * FROM read_parquet([", table);
  for (size_t i = 0; i < fleet->num_runs; i++) {
    char *file = join(fleet->runs[i].path, table, ".parquet");
    if (!empty_of(table) || is_there(file)) {
      ppi_page_text(page, before);
      ppi_duck_text(page, file);
      before = ",";
    }
    ppi_free(file);
  }
  ppi_page_text(page,
                "], hive_partitioning = true, hive_types ="
                " {'run': 'VARCHAR', 'rank': 'BIGINT'});\n");
}

// The text with a backslash before each of these characters.
static void put_escaped(ppi_page *page, const char *text, const char *special) {
  for (; *text; text++) {
    if (strchr(special, *text)) ppi_page_text(page, "\\");
    ppi_page_bytes(page, text, 1);
  }
}

// A text literal of Spark's SQL, where a backslash is no plain character.
static void put_spark_text(ppi_page *page, const char *text) {
  ppi_page_text(page, "'");
  put_escaped(page, text, "'\\");
  ppi_page_text(page, "'");
}

// "FOLDER/run=*/rank=*/TABLE.parquet", or, if a run is left out, with the names
// of the others between braces. Escapes the special characters of FOLDER.
static void put_pattern(ppi_page *path, const ppi_fleet *fleet,
                        const char *table) {
  size_t begin = strlen(fleet->folder) + 1 + strlen(run_prefix);
  put_escaped(path, fleet->folder, "{}[]*?\\");
  ppi_page_format(path, "/%s", run_prefix);
  ppi_page_text(path, fleet->num_left_out ? "{" : "*");
  for (size_t i = 0; fleet->num_left_out && i < fleet->num_runs; i++) {
    const char *run = fleet->runs[i].path + begin;
    if (i) ppi_page_text(path, ",");
    ppi_page_bytes(path, run, strcspn(run, "/"));
  }
  if (fleet->num_left_out) ppi_page_text(path, "}");
  ppi_page_format(path, "/%s*/%s.parquet", rank_prefix, table);
}

static void put_spark_table(ppi_page *page, const ppi_fleet *fleet,
                            const char *table) {
  ppi_page path = {0};
  put_pattern(&path, fleet, table);
  ppi_page_format(
      page, "CREATE TEMPORARY VIEW %s USING parquet OPTIONS (basePath ", table);
  put_spark_text(page, fleet->folder);
  ppi_page_text(page, ", path ");
  if (!path.failed) put_spark_text(page, path.bytes);
  page->failed |= path.failed;
  ppi_page_text(page, ");\n");
  ppi_page_clear(&path);
}

static void put_table(ppi_page *page, const ppi_fleet *fleet,
                      ppi_fleet_engine engine, const char *table) {
  if (lacks_all(fleet, table))
    ppi_page_format(page, "CREATE TEMPORARY VIEW %s AS\n%s;\n", table,
                    empty_of(table));
  else if (engine == PPI_ON_SPARK)
    put_spark_table(page, fleet, table);
  else
    put_duckdb_table(page, fleet, table);
}

static bool is_part_of_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// Whether a word of `text` is surely no table: "t.word", "... AS word", or a
// word of a comment.
static bool is_no_table(const char *text, const char *at) {
  const char *line = at;
  while (line > text && line[-1] != '\n') line--;
  return strncmp(line, "--", 2) == 0 || (at > text && at[-1] == '.') ||
         (at - line > 3 && strncasecmp(at - 4, " AS ", 4) == 0);
}

static bool has_word(const char *text, const char *word) {
  size_t len = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += len)
    if ((at == text || !is_part_of_word(at[-1])) && !is_part_of_word(at[len]) &&
        !is_no_table(text, at))
      return true;
  return false;
}

// Whether the query, or a view that it needs, has the name.
static bool is_needed(const char *name, const char *query, const bool *needed) {
  bool found = has_word(query, name);
  for (size_t i = 0; ppi_fleet_views[i].name && !found; i++)
    found = needed[i] && has_word(ppi_fleet_views[i].text, name);
  return found;
}

// Puts only needed views, as engines read all files again for each one. A view
// uses only earlier ones.
void ppi_fleet_put_views(ppi_page *page, const ppi_fleet *fleet,
                         ppi_fleet_engine engine, const char *query) {
  bool needed[MAX_VIEWS] = {false};
  size_t num = 0;
  while (ppi_fleet_views[num].name) num++;
  if (engine == PPI_ON_DUCKDB) {
    ppi_page_text(page, "SET allowed_directories = [");
    ppi_duck_text(page, fleet->folder);
    ppi_page_text(page, "];\nSET enable_external_access = false;\n");
  }
  for (size_t i = PPI_MIN(num, MAX_VIEWS); i-- > 0;)
    needed[i] = is_needed(ppi_fleet_views[i].name, query, needed);
  for (size_t i = 0; ppi_parquet_tables[i]; i++)
    if (is_needed(ppi_parquet_tables[i], query, needed))
      put_table(page, fleet, engine, ppi_parquet_tables[i]);
  for (size_t i = 0; ppi_fleet_views[i].name; i++)
    if (needed[i])
      ppi_page_format(page, "CREATE TEMPORARY VIEW %s AS\n%s;\n",
                      ppi_fleet_views[i].name, ppi_fleet_views[i].text);
}

const char *ppi_fleet_query_of(const char *name) {
  const ppi_carried *view = ppi_fleet_views;
  while (view->name && strcmp(view->name, name) != 0) view++;
  return view->text;
}

// SPDX-License-Identifier: Apache-2.0
//
// Writes events into the tables of docs/sql.md. Events become rows as they
// come; definitions at the end, when they have their last names. Then SQL finds
// parents.
#include "export/sql.h"

#include <stdlib.h>

#include "cli/say.h"
#include "event/recorded_wait.h"
#include "export/formats.h"
#include "export/sql_hold.h"
#include "export/sql_schema.h"
#include "file/text.h"

// Tables that get rows, and how many columns each has.
// clang-format off
#define INSERTS(each) \
  each(RUN, "run", 8) each(SITE, "site", 5) each(LANE, "lane", 5) \
  each(DEVICE, "device", 4) each(STREAM, "stream", 5) \
  each(ATTRIBUTE, "attribute", 3) \
  each(HOST, "host_range", PPI_SQL_HOST_COLUMNS) \
  each(DEVICE_RANGE, "device_range", 19) each(MARK, "mark", 7) \
  each(COUNTER, "counter", 8) each(FLOW, "flow", 4) \
  each(CAPTURE, "capture", 4) each(TOTAL, "total", 4) each(NOTE, "note", 3) \
  each(SERVER, "server", 8) each(BLAME, "blame", 6) each(WAKER, "waker", 7)
// clang-format on
#define INTO(name, table, num_columns) INTO_##name,
#define ROW(name, table, num_columns) {table, num_columns},
typedef enum insert { INSERTS(INTO) NUM_INSERTS } insert;

static const struct {
  const char *table;
  int num_columns;
} inserts[] = {INSERTS(ROW)};

typedef struct sql {
  ppi_export base;
  ppi_db *db;
  ppi_db *file;  // the same of the format `sqlite`
  sqlite3_stmt *statements[NUM_INSERTS];
  uint64_t num[NUM_INSERTS];  // number of rows, and the last row's id
  sqlite3_stmt *closing;      // of a window
  ppi_sql_hold hold;          // rows of host ranges
  bool is_nsys;               // our tables are temporary
} sql;

// One row: the functions below put its values, then end it.
typedef struct row {
  sql *out;
  insert into;
  int at;
  ppi_sql_buffered *buffered;  // of a host range
} row;

static row begin_row(sql *out, insert into) {
  return (row){.out = out, .into = into};
}
static void hold(row *to, bool known, int64_t value) {
  int at = to->at++;
  if (!known) return;
  to->buffered->values[at] = value;
  to->buffered->nulls &= ~(1u << at);
}
static void put_int_if(row *to, bool known, uint64_t value) {
  if (to->buffered)
    hold(to, known, value > INT64_MAX ? INT64_MAX : (int64_t)value);
  else
    ppi_db_int_if(to->out->db, to->out->statements[to->into], ++to->at, known,
                  value);
}
static void put_int(row *to, uint64_t value) {
  put_int_if(to, true, value);
}
static void put_real_if(row *to, bool known, double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (to->buffered)
    hold(to, known, bits);
  else
    ppi_db_real_if(to->out->db, to->out->statements[to->into], ++to->at, known,
                   value);
}
static void put_text(row *to, const char *value) {
  ppi_db_text(to->out->db, to->out->statements[to->into], ++to->at, value);
}
// An unknown text is NULL.
static void put_text_if(row *to, const char *value) {
  put_text(to, *value ? value : NULL);
}
static void end_row(row *to) {
  ppi_db_row(to->out->db, to->out->statements[to->into]);
  to->out->num[to->into]++;
  if (ppi_db_failed(to->out->db)) to->out->base.status = PPROF_STATUS_IO;
}
static void put_id(row *to) {
  put_int(to, to->out->num[to->into] + 1);
}
static void put_run(row *to) {
  put_int(to, to->out->base.names.num_runs);
}

// ---- events ----

// Ids of rows count from 1.
static void put_named(row *to, pprof_definition_kind kind, uint32_t id) {
  put_int(to,
          (uint64_t)ppi_export_names_row(&to->out->base.names, kind, id) + 1);
}

static void put_if_any(row *to, pprof_definition_kind kind, uint32_t id) {
  if (id)
    put_named(to, kind, id);
  else
    put_int_if(to, false, 0);
}

static void put_work(row *to, const pprof_work_amount *work) {
  const double stated[4] = {work ? work->items : 0, work ? work->bytes : 0,
                            work ? work->flops : 0, work ? work->params : 0};
  for (size_t i = 0; i < 4; i++) put_real_if(to, stated[i] != 0, stated[i]);
}

static void put_cpu(row *to, const pprof_cpu_use *cpu) {
  static const pprof_cpu_use none;
  bool known = cpu && cpu->known & PPROF_CPU_TIMES;
  if (!cpu) cpu = &none;
  put_int_if(to, known, cpu->user_ns);
  put_int_if(to, known, cpu->sys_ns);
  put_int_if(to, cpu->known & PPROF_CPU_RUN_QUEUE, cpu->run_queue_ns);
  put_int_if(to, known, cpu->voluntary_switches);
  put_int_if(to, known, cpu->involuntary_switches);
  put_int_if(to, known, cpu->minor_faults);
  put_int_if(to, known, cpu->major_faults);
}

static void begin_event(row *to, const pprof_event *event) {
  put_id(to);
  put_run(to);
  put_named(to, PPROF_DEFINITION_LANE, event->lane);
  put_named(to, PPROF_DEFINITION_SITE, event->site);
}

// SQLite's numbers are signed: those of 2^63 and more come out negative.
static void put_flows(sql *out, const pprof_event *event, bool on_device) {
  uint64_t id = out->num[on_device ? INTO_DEVICE_RANGE : INTO_HOST];
  for (size_t i = 0; i < event->num_flows && !ppi_db_failed(out->db); i++) {
    row to = begin_row(out, INTO_FLOW);
    put_run(&to);
    out->db->api->bind_int64(out->statements[INTO_FLOW], ++to.at,
                             (int64_t)event->flows[i]);
    put_int_if(&to, !on_device, id);
    put_int_if(&to, on_device, id);
    end_row(&to);
  }
}

static uint32_t category_of(sql *out, const pprof_event *event) {
  ppi_export_names *names = &out->base.names;
  const ppi_export_name *named =
      ppi_export_names_of(names, PPROF_DEFINITION_SITE, event->site);
  return named->has_parent
             ? ppi_export_names_at(names, PPROF_DEFINITION_CATEGORY,
                                   named->parent)
                   ->id
             : 0;
}

// Puts the waker of the last wait.
static void put_waker(sql *out, const pprof_event *event, uint32_t category) {
  const uint64_t *wait = ppi_wait_numbers(event, category);
  if (!wait) return;
  row to = begin_row(out, INTO_WAKER);
  put_run(&to);
  put_int(&to, out->num[INTO_HOST]);
  put_int(&to, wait[PPI_WAIT_OBJECT]);
  put_text(&to, ppi_wait_kind_name(wait[PPI_WAIT_HOW]));
  put_int(&to, (wait[PPI_WAIT_HOW] & PPI_WAIT_TIMED_OUT) != 0);
  put_int_if(&to, wait[PPI_WAIT_BY] != 0, wait[PPI_WAIT_BY]);
  put_if_any(&to, PPROF_DEFINITION_SITE, (uint32_t)wait[PPI_WAIT_IN]);
  end_row(&to);
}

static void add_host(sql *out, const pprof_event *event, bool is_loose) {
  uint64_t end_ns = PPI_MAX(event->start_ns, event->end_ns);
  row to = begin_row(out, INTO_HOST);
  to.buffered = ppi_sql_hold_begin(&out->hold);
  begin_event(&to, event);
  // An event's value has a meaning only for steps.
  uint32_t category = category_of(out, event);
  bool has_step = category == PPROF_CATEGORY_PROFILE_STEP && event->value >= 0;
  put_int_if(&to, false, 0);
  put_int(&to, event->depth);
  put_int(&to, event->start_ns);
  put_int(&to, end_ns);
  put_int_if(&to, has_step, has_step ? (uint64_t)event->value : 0);
  put_int(&to, is_loose);
  put_int(&to, event->flags);
  put_int(&to, event->window);
  put_work(&to, event->work);
  put_if_any(&to, PPROF_DEFINITION_ATTRIBUTES, event->attributes);
  put_cpu(&to, event->cpu);
  const ppi_sql_place place = {
      .lane = ppi_export_names_row(&out->base.names, PPROF_DEFINITION_LANE,
                                   event->lane),
      .depth = event->depth,
      .start_ns = event->start_ns,
      .end_ns = end_ns};
  ppi_sql_hold_add(&out->hold, is_loose ? NULL : &place);
  out->num[INTO_HOST]++;
  put_flows(out, event, false);
  put_waker(out, event, category);
}

static void add_device(sql *out, const pprof_event *event) {
  row to = begin_row(out, INTO_DEVICE_RANGE);
  bool timed = ppi_export_is_timed(event);
  begin_event(&to, event);
  put_if_any(&to, PPROF_DEFINITION_STREAM, event->stream);
  put_int_if(&to, false, 0);
  put_int(&to, event->depth);
  put_int(&to, event->start_ns);
  put_int(&to, event->end_ns);
  put_int_if(&to, timed, event->device_start_ns);
  put_int_if(&to, timed, PPI_MAX(event->device_start_ns, event->device_end_ns));
  put_int_if(&to, timed, event->device_error_ns);
  put_int(&to, event->flags);
  put_int(&to, event->window);
  put_work(&to, event->work);
  put_if_any(&to, PPROF_DEFINITION_ATTRIBUTES, event->attributes);
  end_row(&to);
  put_flows(out, event, true);
}

static void add_point(sql *out, const pprof_event *event) {
  bool is_counter = event->kind == PPROF_KIND_COUNTER;
  row to = begin_row(out, is_counter ? INTO_COUNTER : INTO_MARK);
  begin_event(&to, event);
  put_int(&to, event->start_ns);
  if (is_counter) {
    // SQLite stores NaN as NULL.
    put_real_if(&to, true, event->value);
    bool has_change = event->work && event->work->bytes != 0;
    put_real_if(&to, has_change, has_change ? event->work->bytes : 0);
  }
  put_int(&to, event->window);
  if (!is_counter)
    put_if_any(&to, PPROF_DEFINITION_ATTRIBUTES, event->attributes);
  end_row(&to);
}

static void take(ppi_export *export, const pprof_event *event,
                 const pprof_batch *batch) {
  sql *out = (sql *)export;
  if (event->kind == PPROF_KIND_RANGE)
    add_host(out, event, ppi_export_is_loose(event, batch));
  else if (event->kind == PPROF_KIND_DEVICE_RANGE)
    add_device(out, event);
  else
    add_point(out, event);
  if (ppi_db_failed(out->db)) export->status = PPROF_STATUS_IO;
}

// ---- rows beside the events ----

static void begin(ppi_export *export, const pprof_run_info *info) {
  sql *out = (sql *)export;
  const ppi_report_details details = {.answer = true, .warmup = -1};
  const ppi_export_run *run = ppi_export_run_of(export);
  row to = begin_row(out, INTO_RUN);
  (void)info;
  put_id(&to);
  put_text_if(&to, run->uuid);
  put_text_if(&to, run->host);
  put_text_if(&to, run->pid);
  put_text_if(&to, run->rank);
  put_text_if(&to, run->command);
  put_text_if(&to, run->version);
  put_int_if(&to, run->base_ns, run->base_ns);
  end_row(&to);
  ppi_export_report(export, &details);
}

static void window(ppi_export *export, uint32_t index, bool opens,
                   uint64_t time_ns) {
  sql *out = (sql *)export;
  if (opens) {
    row to = begin_row(out, INTO_CAPTURE);
    put_run(&to);
    put_int(&to, index);
    put_int(&to, time_ns);
    put_int_if(&to, false, 0);
    end_row(&to);
    return;
  }
  ppi_db_int(out->db, out->closing, 1, time_ns);
  ppi_db_int(out->db, out->closing, 2, export->names.num_runs);
  ppi_db_int(out->db, out->closing, 3, index);
  ppi_db_row(out->db, out->closing);
}

static void put_total(sql *out, const ppi_total *total) {
  row to = begin_row(out, INTO_TOTAL);
  if (total->key >= PPI_NUM_TOTALS) return;  // of a newer version
  put_run(&to);
  if (total->lane == PPROF_ALL_LANES)
    put_int_if(&to, false, 0);
  else
    put_named(&to, PPROF_DEFINITION_LANE, total->lane);
  put_text(&to, ppi_total_name((ppi_total_key)total->key));
  put_int(&to, total->value);
  end_row(&to);
}

static void put_limit(sql *out, const ppi_limit *limit) {
  for (size_t i = 0; i < limit->num_servers; i++) {
    const ppi_limit_server *server = &limit->servers[i];
    row to = begin_row(out, INTO_SERVER);
    put_run(&to);
    put_text(&to, ppi_server_kind_name(server->kind));
    put_text(&to, server->name);
    put_int(&to, server->num);
    put_real_if(&to, true, server->utilization);
    put_real_if(&to, true, server->occupied);
    put_real_if(&to, true, server->demand_ns);
    put_real_if(&to, true, server->line_ns);
    end_row(&to);
  }
  for (size_t i = 0; i < limit->num_blames; i++) {
    const ppi_limit_blame *blame = &limit->blames[i];
    row to = begin_row(out, INTO_BLAME);
    put_run(&to);
    put_text(&to, ppi_blame_kind_name(blame->kind));
    put_text_if(&to, blame->name);
    put_real_if(&to, true, blame->ns);
    put_real_if(&to, true, blame->usual_ns);
    put_real_if(&to, true, blame->slow_ns);
    end_row(&to);
  }
}

static void finish(ppi_export *export, const pprof_totals *totals) {
  sql *out = (sql *)export;
  for (size_t i = 0; i < totals->num_items; i++)
    put_total(out, &totals->items[i]);
  for (size_t i = 0; i < totals->num_notes; i++) {
    row to = begin_row(out, INTO_NOTE);
    put_run(&to);
    put_text(&to, totals->notes[i].key);
    put_text(&to, totals->notes[i].value);
    end_row(&to);
  }
  put_limit(out, &ppi_report_figures(export->report)->limit);
}

// ---- the end ----

static void put_rest(row *to, pprof_definition_kind kind, uint32_t at) {
  const ppi_export_name *named =
      ppi_export_names_at(&to->out->base.names, kind, at);
  if (kind == PPROF_DEFINITION_STREAM)
    put_int_if(to, named->has_parent, (uint64_t)named->parent + 1);
  if (kind == PPROF_DEFINITION_LANE) put_int(to, named->id);
  if (kind == PPROF_DEFINITION_LANE)
    put_int_if(to, named->number, named->number);
  if (kind == PPROF_DEFINITION_DEVICE || kind == PPROF_DEFINITION_STREAM)
    put_int(to, named->number);
  put_text(to, named->text);
  if (kind != PPROF_DEFINITION_SITE) return;
  put_text(to, ppi_export_category(&to->out->base.names, at));
  put_int_if(to, named->color, named->color);
}

static void put_definitions(sql *out, pprof_definition_kind kind, insert into) {
  const struct ppi_export_rows *rows = &out->base.names.kinds[kind];
  for (size_t i = 0; i < rows->num; i++) {
    row to = begin_row(out, into);
    put_id(&to);
    put_int(&to, rows->items[i].run);
    put_rest(&to, kind, (uint32_t)i);
    end_row(&to);
  }
}

static void put_parents_and_views(sql *out) {
  if (out->hold.is_mixed) ppi_db_exec(out->db, ppi_sql_host_parents);
  ppi_db_exec(out->db, ppi_sql_places);
  if (out->num[INTO_DEVICE_RANGE]) ppi_db_exec(out->db, ppi_sql_device_parents);
  ppi_db_exec(out->db, ppi_sql_views);
  // The analysis reads so many rows of an index, not all.
  ppi_db_exec(out->db, "COMMIT; PRAGMA analysis_limit=1000; ANALYZE");
}

static void put_nsys(sql *out) {
  ppi_db_exec(out->db, ppi_sql_nsys);
  sqlite3_stmt *left = ppi_db_prepare(out->db, ppi_sql_nsys_left);
  if (left && ppi_db_next(out->db, left))
    out->base.left[PPI_PART_PLACE_STAGES] =
        (uint64_t)out->db->api->column_int64(left, 0);
  ppi_db_finalize(out->db, left);
  ppi_db_exec(out->db, "COMMIT");
}

static pprof_status close_sql(ppi_export *export, pprof_error *error) {
  sql *out = (sql *)export;
  put_definitions(out, PPROF_DEFINITION_SITE, INTO_SITE);
  put_definitions(out, PPROF_DEFINITION_LANE, INTO_LANE);
  put_definitions(out, PPROF_DEFINITION_DEVICE, INTO_DEVICE);
  put_definitions(out, PPROF_DEFINITION_STREAM, INTO_STREAM);
  put_definitions(out, PPROF_DEFINITION_ATTRIBUTES, INTO_ATTRIBUTE);
  ppi_sql_hold_finish(&out->hold);
  (out->is_nsys ? put_nsys : put_parents_and_views)(out);
  if (!ppi_db_failed(out->db)) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_IO, "cannot write: %s", out->db->failure);
}

static void clear_sql(ppi_export *export) {
  sql *out = (sql *)export;
  if (!out->db) return;
  for (size_t i = 0; i < NUM_INSERTS; i++)
    ppi_db_finalize(out->db, out->statements[i]);
  ppi_db_finalize(out->db, out->closing);
  ppi_sql_hold_clear(&out->hold);
  if (out->file) ppi_db_close(out->file);
  free(out->file);
}

// "INSERT INTO t VALUES(?,?)"
static sqlite3_stmt *prepare(ppi_db *db, insert into) {
  char text[256];
  int len = snprintf(text, sizeof text, "INSERT INTO %s VALUES(?",
                     inserts[into].table);
  for (int i = 1; i < inserts[into].num_columns; i++)
    len += snprintf(text + len, sizeof text - (size_t)len, ",?");
  snprintf(text + len, sizeof text - (size_t)len, ")");
  return ppi_db_prepare(db, text);
}

static bool fill_in(sql *out, ppi_db *db, bool is_nsys, pprof_error *error) {
  out->db = db;
  out->is_nsys = is_nsys;
  ppi_db_exec(db, "BEGIN");
  if (is_nsys)
    ppi_sql_exec_temporary(db, ppi_sql_tables, "CREATE TABLE ",
                           "CREATE TEMP TABLE ");
  else
    ppi_db_exec(db, ppi_sql_tables);
  for (size_t i = 0; i < NUM_INSERTS; i++)
    out->statements[i] = prepare(db, (insert)i);
  out->hold = (ppi_sql_hold){.db = db, .insert = out->statements[INTO_HOST]};
  out->closing = ppi_db_prepare(
      db, "UPDATE capture SET end_ns = ? WHERE run = ? AND number = ?");
  bool failed = ppi_db_failed(db);
  if (failed) ppi_fail(error, PPROF_STATUS_IO, "cannot write: %s", db->failure);
  return !failed;
}

ppi_export *ppi_sql_create(ppi_db *db, pprof_error *error) {
  sql *made = ppi_export_make(&ppi_format_sqlite, NULL);
  if (fill_in(made, db, false, error)) return &made->base;
  ppi_export_destroy(&made->base);
  return NULL;
}

// SQLite writes the file under a temporary name, which it has until it is
// whole.
static bool open_file(ppi_export *export, const ppi_export_target *target,
                      pprof_error *error) {
  sql *out = (sql *)export;
  if (!target->path) {
    ppi_fail(error, PPROF_STATUS_INVALID,
             "SQLite writes to a file of its own: --output FILE");
    return false;
  }
  out->db = out->file = ppi_tool_must(calloc(1, sizeof *out->file));
  bool is_nsys = target->schema && strcmp(target->schema, "nsys") == 0;
  return ppi_db_open(out->file, target->path, PPI_DB_NEW, error) ==
             PPROF_STATUS_OK &&
         fill_in(out, out->file, is_nsys, error);
}

const ppi_export_format ppi_format_sqlite = {
    .name = "sqlite",
    .ending = ".sqlite",
    .holds = "all of the log, or with --schema nsys what nsys has",
    .opened_by = "sqlite3, Python, DuckDB, pandas; tools for nsys's files",
    .parts = PPI_PART_ALL - PPI_PART_NUMBERS,
    .nsys_parts = PPI_PART_MARKS | PPI_PART_LOOSE | PPI_PART_SUBMITS,
    .size = sizeof(sql),
    .open = open_file,
    .begin = begin,
    .take = take,
    .window = window,
    .finish = finish,
    .close = close_sql,
    .clear = clear_sql,
};

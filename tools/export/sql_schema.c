// SPDX-License-Identifier: Apache-2.0
//
// Holds the schema of docs/sql.md.
#include "export/sql_schema.h"

#include "export/sql.h"
#include "file/text.h"

#define WORK "items DOUBLE, bytes DOUBLE, flops DOUBLE, params DOUBLE,"

// SQLite's integers have one size under every type name; DuckDB's do not.
// clang-format off
#define TABLES(ID) \
  "CREATE TABLE run(" ID ", uuid TEXT, host TEXT, pid BIGINT, rank BIGINT," \
  " command TEXT, version TEXT, base_ns BIGINT);" \
  "CREATE TABLE site(" ID ", run BIGINT, name TEXT, category TEXT," \
  " color BIGINT);" \
  "CREATE TABLE lane(" ID ", run BIGINT, number BIGINT, tid BIGINT," \
  " name TEXT);" \
  "CREATE TABLE device(" ID ", run BIGINT, number BIGINT, name TEXT);" \
  "CREATE TABLE stream(" ID ", run BIGINT, device BIGINT, number BIGINT," \
  " name TEXT);" \
  "CREATE TABLE attribute(" ID ", run BIGINT, json TEXT);" \
  "CREATE TABLE host_range(" ID ", run BIGINT, lane BIGINT, site BIGINT," \
  " parent BIGINT, depth BIGINT, start_ns BIGINT, end_ns BIGINT," \
  " step BIGINT, is_loose BIGINT, flags BIGINT, capture BIGINT, " WORK \
  " attribute BIGINT, user_ns BIGINT, sys_ns BIGINT, run_queue_ns BIGINT," \
  " voluntary_switches BIGINT, involuntary_switches BIGINT," \
  " minor_faults BIGINT, major_faults BIGINT);" \
  "CREATE TABLE device_range(" ID ", run BIGINT, lane BIGINT, site BIGINT," \
  " stream BIGINT, parent BIGINT, depth BIGINT, submit_ns BIGINT," \
  " submitted_ns BIGINT, start_ns BIGINT, end_ns BIGINT, error_ns BIGINT," \
  " flags BIGINT, capture BIGINT, " WORK " attribute BIGINT);" \
  "CREATE TABLE mark(" ID ", run BIGINT, lane BIGINT, site BIGINT," \
  " at_ns BIGINT, capture BIGINT, attribute BIGINT);" \
  "CREATE TABLE counter(" ID ", run BIGINT, lane BIGINT, site BIGINT," \
  " at_ns BIGINT, value DOUBLE, change_bytes DOUBLE, capture BIGINT);" \
  "CREATE TABLE flow(run BIGINT, flow BIGINT, host_range BIGINT," \
  " device_range BIGINT);" \
  "CREATE TABLE capture(run BIGINT, number BIGINT, start_ns BIGINT," \
  " end_ns BIGINT);" \
  "CREATE TABLE total(run BIGINT, lane BIGINT, name TEXT, value BIGINT);" \
  "CREATE TABLE note(run BIGINT, name TEXT, text TEXT);" \
  "CREATE TABLE waker(run BIGINT, host_range BIGINT, address BIGINT," \
  " kind TEXT, timed_out BIGINT, tid BIGINT, site BIGINT);"
// clang-format on

const char *const ppi_sql_tables = TABLES("id INTEGER PRIMARY KEY")
    // The limit model, as in JSON's `limit`.
    "CREATE TABLE server(run BIGINT, kind TEXT, name TEXT, num BIGINT,"
    " utilization DOUBLE, occupied DOUBLE, demand_ns DOUBLE,"
    " in_line_ns DOUBLE);"
    "CREATE TABLE blame(run BIGINT, kind TEXT, name TEXT, time_ns DOUBLE,"
    " usual_ns DOUBLE, slow_ns DOUBLE);";
const char *const ppi_sql_plain_tables = TABLES("id BIGINT");

// The parent is the latest range one level up that had begun, unless it had
// ended.
const char *const ppi_sql_host_parents =
    "CREATE INDEX host_range_place ON host_range(lane, depth, start_ns);"
    "UPDATE host_range SET parent = (SELECT CASE WHEN end_ns >="
    " host_range.end_ns THEN id END FROM (SELECT p.id, p.end_ns FROM"
    " host_range p WHERE p.lane = host_range.lane AND"
    " p.depth = host_range.depth - 1 AND p.start_ns <= host_range.start_ns"
    " AND p.is_loose = 0 ORDER BY p.start_ns DESC, p.end_ns DESC LIMIT 1))"
    " WHERE depth > 0 AND is_loose = 0;"
    "DROP INDEX host_range_place;";

const char *const ppi_sql_places =
    "CREATE INDEX host_range_start ON host_range(lane, start_ns, depth);";

// Goes up from the latest range that had begun to one that had not ended.
const char *const ppi_sql_device_parents =
    "UPDATE device_range SET parent = (WITH RECURSIVE up(id, end_ns, parent)"
    " AS (SELECT * FROM (SELECT p.id, p.end_ns, p.parent FROM host_range p"
    " WHERE p.lane = device_range.lane AND p.start_ns <="
    " device_range.submit_ns AND p.is_loose = 0"
    " ORDER BY p.start_ns DESC, p.depth DESC LIMIT 1)"
    " UNION ALL SELECT q.id, q.end_ns, q.parent FROM up JOIN host_range q"
    " ON q.id = up.parent WHERE up.end_ns < device_range.submit_ns)"
    " SELECT id FROM up WHERE end_ns >= device_range.submit_ns LIMIT 1);";

// A stage has all sites of one name and category, on the host or on a device.
#define CALLS                                                                \
  "CREATE VIEW call AS SELECT r.run, s.name, s.category, 'host' AS place,"   \
  " r.id AS host_range, NULL AS device_range, r.lane, r.start_ns, r.end_ns," \
  " r.end_ns - r.start_ns AS length_ns, r.flags & 1 AS is_cut"               \
  " FROM host_range r JOIN site s ON s.id = r.site"                          \
  " UNION ALL SELECT d.run, s.name, s.category, 'device', NULL, d.id,"       \
  " d.lane, d.start_ns, d.end_ns, d.end_ns - d.start_ns, d.flags & 1"        \
  " FROM device_range d JOIN site s ON s.id = d.site"                        \
  " WHERE d.start_ns IS NOT NULL;"

// How much later the run `me` began than `other`. A run compared with itself
// needs no time of day.
#define LATER \
  "CASE WHEN me.id = other.id THEN 0 ELSE me.base_ns - other.base_ns END"

const char *const ppi_sql_views =
    "CREATE INDEX host_range_parent ON host_range(parent);"
    "CREATE INDEX device_range_parent ON device_range(parent);"
    "CREATE INDEX flow_flow ON flow(run, flow);" CALLS
    // A call that an edge has cut is in no count, average or extreme.
    "CREATE VIEW stage AS SELECT run, name, category, place,"
    " SUM(is_cut = 0) AS calls, SUM(length_ns) AS total_ns,"
    " AVG(whole_ns) AS avg_ns, MIN(whole_ns) AS min_ns,"
    " MAX(whole_ns) AS max_ns FROM (SELECT *, CASE WHEN is_cut = 0"
    " THEN length_ns END AS whole_ns FROM call)"
    " GROUP BY run, name, category, place;"
    // Nearest rank, of whole calls.
    "CREATE VIEW stage_quantile AS SELECT run, name, category, place,"
    " COUNT(*) AS calls,"
    " MIN(CASE WHEN at * 100 >= num * 50 THEN length_ns END) AS p50_ns,"
    " MIN(CASE WHEN at * 100 >= num * 90 THEN length_ns END) AS p90_ns,"
    " MIN(CASE WHEN at * 100 >= num * 99 THEN length_ns END) AS p99_ns"
    " FROM (SELECT run, name, category, place, length_ns, ROW_NUMBER() OVER"
    " (PARTITION BY run, name, category, place ORDER BY length_ns) AS at,"
    " COUNT(*) OVER (PARTITION BY run, name, category, place) AS num"
    " FROM call WHERE is_cut = 0) ranked"
    " GROUP BY run, name, category, place;"
    "CREATE VIEW stage_self AS SELECT r.run, s.name, s.category,"
    " SUM((r.flags & 1) = 0) AS calls,"
    " SUM(r.end_ns - r.start_ns - COALESCE(c.inner_ns, 0)) AS self_ns FROM "
    "host_range r JOIN site s ON s.id = r.site"
    " LEFT JOIN (SELECT parent, SUM(end_ns - start_ns) AS inner_ns"
    " FROM host_range WHERE parent IS NOT NULL GROUP BY parent) c"
    " ON c.parent = r.id WHERE r.is_loose = 0"
    " GROUP BY r.run, s.name, s.category;"
    "CREATE VIEW step AS SELECT r.run, r.step AS number, r.start_ns,"
    " r.end_ns, r.end_ns - r.start_ns AS length_ns, r.items,"
    " r.flags & 1 AS is_cut FROM host_range r WHERE r.step IS NOT NULL;"
    "CREATE VIEW launch AS SELECT d.run, d.id AS device_range,"
    " s.name, s.category, p.name AS stage, v.name AS device,"
    " t.name AS stream, d.submit_ns, d.start_ns, d.end_ns,"
    " d.end_ns - d.start_ns AS length_ns,"
    " d.start_ns - d.submit_ns AS delay_ns, d.bytes, a.json AS attributes"
    " FROM device_range d JOIN site s ON s.id = d.site"
    // A call of the runtime is no stage.
    " LEFT JOIN host_range c ON c.id = d.parent"
    " LEFT JOIN site k ON k.id = c.site"
    " LEFT JOIN host_range r ON r.id = CASE WHEN k.category = 'CudaRuntime'"
    " THEN c.parent ELSE c.id END"
    " LEFT JOIN site p ON p.id = r.site"
    " LEFT JOIN stream t ON t.id = d.stream"
    " LEFT JOIN device v ON v.id = t.device"
    " LEFT JOIN attribute a ON a.id = d.attribute;"
    "CREATE VIEW request_range AS SELECT f.run, f.flow, s.name, s.category,"
    " 'host' AS place, r.start_ns, r.end_ns FROM flow f"
    " JOIN host_range r ON r.id = f.host_range JOIN site s ON s.id = r.site"
    " UNION ALL SELECT f.run, f.flow, s.name, s.category, 'device',"
    " COALESCE(d.start_ns, d.submit_ns), COALESCE(d.end_ns, d.submitted_ns)"
    " FROM flow f JOIN device_range d ON d.id = f.device_range"
    " JOIN site s ON s.id = d.site;"
    "CREATE VIEW request AS SELECT run, flow, MIN(start_ns) AS start_ns,"
    " MAX(end_ns) AS end_ns, MAX(end_ns) - MIN(start_ns) AS length_ns,"
    " COUNT(*) AS num_ranges FROM request_range GROUP BY run, flow;"
    "CREATE VIEW level AS SELECT c.run, s.name, s.category, COUNT(*) AS num,"
    " MIN(c.value) AS min_value, AVG(c.value) AS avg_value,"
    " MAX(c.value) AS max_value FROM counter c JOIN site s ON s.id = c.site"
    " GROUP BY c.run, s.name, s.category;"
    "CREATE VIEW thread AS SELECT l.run, l.id AS lane, l.tid, l.name,"
    " COUNT(*) AS num, SUM(r.end_ns - r.start_ns) AS marked_ns"
    " FROM lane l JOIN host_range r ON r.lane = l.id"
    " WHERE r.depth = 0 AND r.is_loose = 0 GROUP BY l.run, l.id, l.tid,"
    " l.name;"
    // Gaps between a thread's outermost ranges, window edges included. The
    // thread waited for the range of any process that ended last in the gap.
    "CREATE INDEX host_range_end ON host_range(run, end_ns)"
    " WHERE depth = 0 AND is_loose = 0;"
    "CREATE VIEW bubble AS WITH work AS (SELECT r.id, r.run, r.lane, r.site,"
    " LAG(r.end_ns, 1, c.start_ns) OVER (PARTITION BY r.lane, r.capture"
    " ORDER BY r.start_ns) AS from_ns, r.start_ns AS to_ns FROM host_range r"
    " JOIN capture c ON c.run = r.run AND c.number = r.capture"
    " WHERE r.depth = 0 AND r.is_loose = 0"
    " UNION ALL SELECT NULL, r.run, r.lane, NULL, MAX(r.end_ns), c.end_ns"
    " FROM host_range r JOIN capture c ON c.run = r.run"
    " AND c.number = r.capture WHERE r.depth = 0 AND r.is_loose = 0"
    " GROUP BY r.run, r.lane, r.capture),"
    " gap AS (SELECT w.*, (SELECT o.id FROM run me CROSS JOIN run other"
    " CROSS JOIN host_range o ON o.run = other.id AND o.depth = 0"
    " AND o.is_loose = 0 AND o.end_ns > w.from_ns + " LATER
    " AND o.end_ns <= w.to_ns + " LATER
    " WHERE me.id = w.run AND o.lane <> w.lane AND w.id IS NOT NULL"
    " ORDER BY o.end_ns - " LATER
    " DESC LIMIT 1) AS awaited"
    " FROM work w WHERE w.to_ns > w.from_ns)"
    " SELECT g.run, g.lane, l.name AS role, s.name AS next,"
    " p.name AS for_role, t.name AS for_name, g.from_ns AS start_ns,"
    " g.to_ns AS end_ns, g.to_ns - g.from_ns AS length_ns FROM gap g"
    " JOIN lane l ON l.id = g.lane LEFT JOIN site s ON s.id = g.site"
    " LEFT JOIN host_range o ON o.id = g.awaited"
    " LEFT JOIN lane p ON p.id = o.lane LEFT JOIN site t ON t.id = o.site;"
    "CREATE VIEW waiting AS SELECT run, lane, role, for_role, for_name,"
    " COUNT(*) AS num, SUM(length_ns) AS idle_ns, MAX(length_ns) AS max_ns"
    " FROM bubble GROUP BY run, lane, role, for_role, for_name;"
    // Compares by the time of day. A range that overlaps a request's range
    // begins before that one ends. Its begin is at most the lane's longest
    // range before that one starts.
    "CREATE VIEW meanwhile AS WITH longest AS (SELECT run, lane,"
    " MAX(end_ns - start_ns) AS ns FROM host_range"
    " WHERE depth = 0 AND is_loose = 0 GROUP BY run, lane),"
    " asked AS (SELECT run, flow, name, SUM(end_ns - start_ns) AS ns"
    " FROM request_range GROUP BY run, flow, name),"
    " met AS (SELECT q.run, q.flow, q.name, o.id AS other,"
    " o.run AS other_run, o.lane, o.site, CASE WHEN me.host <> ''"
    " AND other.host <> '' THEN me.host = other.host END AS same_host,"
    " MIN(q.end_ns + me.base_ns, o.end_ns + other.base_ns)"
    " - MAX(q.start_ns + me.base_ns, o.start_ns + other.base_ns) AS ns"
    " FROM request_range q JOIN run me ON me.id = q.run"
    " CROSS JOIN run other CROSS JOIN longest l CROSS JOIN host_range o"
    " WHERE other.id <> q.run AND l.run = other.id AND o.lane = l.lane"
    " AND o.depth = 0 AND o.is_loose = 0"
    " AND o.start_ns > q.start_ns + me.base_ns - other.base_ns - l.ns"
    " AND o.start_ns < q.end_ns + me.base_ns - other.base_ns"
    " AND o.end_ns > q.start_ns + me.base_ns - other.base_ns)"
    " SELECT m.run, m.flow, m.name, m.other_run, l.name AS role,"
    " s.name AS other_name, m.same_host, COUNT(DISTINCT m.other) AS calls,"
    " SUM(m.ns) AS ns, SUM(m.ns) * 1.0 / a.ns AS share FROM met m"
    " JOIN asked a ON a.run = m.run AND a.flow = m.flow AND a.name = m.name"
    " JOIN lane l ON l.id = m.lane JOIN site s ON s.id = m.site"
    " GROUP BY m.run, m.flow, m.name, m.other_run, m.lane, s.name;"
    // The stage of a wait is the range around it.
    "CREATE VIEW wait AS SELECT w.run, w.host_range, REPLACE(s.name,"
    " 'wait for ', '') AS object, w.address, w.kind, r.lane,"
    " l.name AS role, t.name AS stage, r.start_ns, r.end_ns,"
    " r.end_ns - r.start_ns AS length_ns, w.timed_out, w.tid AS by_tid,"
    " (SELECT MAX(b.name) FROM lane b WHERE b.run = w.run"
    " AND b.tid = w.tid) AS by_role, y.name AS by_stage FROM waker w"
    " JOIN host_range r ON r.id = w.host_range JOIN site s ON s.id = r.site"
    " JOIN lane l ON l.id = r.lane LEFT JOIN host_range p ON p.id = r.parent"
    " LEFT JOIN site t ON t.id = p.site LEFT JOIN site y ON y.id = w.site;"
    "CREATE VIEW lost AS SELECT run, name, value FROM total WHERE lane IS"
    " NULL AND value > 0 AND name IN ('lost', 'device_lost', 'flows_lost',"
    " 'late', 'no_device_time', 'names_overflowed', 'invalid');";

void ppi_sql_exec_temporary(ppi_db *db, const char *text, const char *create,
                            const char *temporary) {
  ppi_page page = {0};
  for (size_t len; *text; text += len) {
    len = strcspn(text, ";") + 1;
    if (strncmp(text, create, strlen(create)) != 0) continue;
    ppi_page_text(&page, temporary);
    ppi_page_bytes(&page, text + strlen(create), len - strlen(create));
  }
  if (!page.failed) ppi_db_exec(db, page.bytes);
  ppi_page_clear(&page);
}

// ---- files of others ----

static bool has_tables(ppi_db *db) {
  sqlite3_stmt *found =
      ppi_db_prepare(db,
                     "SELECT 1 FROM main.sqlite_master"
                     " WHERE type = 'table' AND name = 'host_range'");
  bool has_any = found && ppi_db_next(db, found);
  ppi_db_finalize(db, found);
  return has_any;
}

void ppi_sql_add_views(ppi_db *db) {
  if (has_tables(db))
    ppi_sql_exec_temporary(db, ppi_sql_views, "CREATE VIEW ",
                           "CREATE TEMP VIEW ");
}

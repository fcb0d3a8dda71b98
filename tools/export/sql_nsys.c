// SPDX-License-Identifier: Apache-2.0
//
// Writes a log in the schema of the SQLite files that Nsight Systems exports,
// by its documentation: ranges, marks, kernels, copies and their submissions.
// Times count from the start of the first run.
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "export/names.h"
#include "export/sql.h"

// Kinds of rows of NVTX_EVENTS.
enum { CATEGORY = 33, MARK = 34, PUSH_POP = 59, START_END = 60 };

static const char schema[] =
    "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY,"
    " value TEXT NOT NULL);"
    "CREATE TABLE NVTX_EVENTS(start INTEGER NOT NULL, \"end\" INTEGER,"
    " eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,"
    " color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER,"
    " textId INTEGER, domainId INTEGER, uint64Value INTEGER,"
    " int64Value INTEGER, doubleValue REAL, uint32Value INTEGER,"
    " int32Value INTEGER, floatValue REAL, jsonTextId INTEGER,"
    " jsonText TEXT, binaryData TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL,"
    " \"end\" INTEGER NOT NULL, eventClass INTEGER NOT NULL,"
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,"
    " returnValue INTEGER NOT NULL, callchainId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL,"
    " \"end\" INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
    " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER"
    " NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,"
    " gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,"
    " blockY INTEGER, blockZ INTEGER, registersPerThread INTEGER,"
    " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER NOT NULL,"
    " \"end\" INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
    " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,"
    " copyKind INTEGER NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER NOT NULL,"
    " \"end\" INTEGER NOT NULL, deviceId INTEGER NOT NULL,"
    " contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,"
    " correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL);"
    "CREATE TABLE TARGET_INFO_GPU(id INTEGER NOT NULL, name TEXT,"
    " cuDevice INTEGER);"
    "CREATE TABLE PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);"
    "CREATE TABLE ThreadNames(nameId INTEGER NOT NULL, priority INTEGER,"
    " globalTid INTEGER);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);"
    "CREATE TABLE ENUM_NSYS_EVENT_TYPE(id INTEGER NOT NULL PRIMARY KEY,"
    " name TEXT, label TEXT);"
    "INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES(33,'NvtxCategory',"
    "'NVTX category'),(34,'NvtxMark','NVTX mark'),(59,'NvtxPushPopRange',"
    "'NVTX push/pop range'),(60,'NvtxStartEndRange','NVTX start/end range');"
    "CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INTEGER NOT NULL PRIMARY KEY,"
    " name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES"
    "(0,'CUDA_MEMCPY_KIND_UNKNOWN','Unknown'),"
    "(1,'CUDA_MEMCPY_KIND_HTOD','Host-to-Device'),"
    "(2,'CUDA_MEMCPY_KIND_DTOH','Device-to-Host'),"
    "(8,'CUDA_MEMCPY_KIND_DTOD','Device-to-Device'),"
    "(10,'CUDA_MEMCPY_KIND_PTOP','Peer-to-Peer');";

#define STATEMENTS(X)                                                          \
  X(STRING, "INSERT INTO StringIds VALUES(?,?)")                               \
  X(NVTX,                                                                      \
    "INSERT INTO NVTX_EVENTS(start,\"end\",eventType,rangeId,category,color,"  \
    "text,globalTid,endGlobalTid,textId,domainId)"                             \
    " VALUES(?,?,?,?,?,?,?,?,?,?,0)")                                          \
  X(RUNTIME,                                                                   \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,0,?,?,?,0,NULL)")      \
  X(KERNEL,                                                                    \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,\"end\",deviceId,contextId," \
    "streamId,correlationId,globalPid,demangledName,shortName)"                \
    " VALUES(?,?,?,1,?,?,?,?7,?7)")                                            \
  X(MEMCPY,                                                                    \
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(?,?,?,1,?,?,?,?,?)")        \
  X(MEMSET,                                                                    \
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(?,?,?,1,?,?,?,0,?)")        \
  X(PROCESS, "INSERT INTO PROCESSES VALUES(?,?,?)")                            \
  X(THREAD, "INSERT INTO ThreadNames VALUES(?,0,?)")                           \
  X(GPU, "INSERT INTO TARGET_INFO_GPU VALUES(?,?,?)")

typedef enum statement {
#define STATEMENT_NAME(name, text) INTO_##name,
  STATEMENTS(STATEMENT_NAME) NUM_STATEMENTS
} statement;

// Ids of texts: of sites by row, then of lanes, then our own.
enum { FIRST_SITE = 1, FIRST_LANE = 1 << 24, LAUNCH = 1 << 25 };

// A thread number has 24 bits. Linux uses none from here on.
enum { FIRST_OWN_TID = 1 << 23 };

typedef struct nsys {
  ppi_export base;
  pprof_sink sink;
  ppi_db *db;
  ppi_export_names names;
  sqlite3_stmt *statements[NUM_STATEMENTS];
  uint64_t num_launches, num_loose;
  uint64_t process;  // globalPid of the run
  int64_t shift_ns;  // of the run, from the first one
} nsys;

// The site of an event.
typedef struct nsys_site {
  uint32_t row, category;
} nsys_site;

static nsys *nsys_of(pprof_sink *sink) {
  return (nsys *)((char *)sink - offsetof(nsys, sink));
}

static void put(nsys *out, statement into, int at, int64_t value) {
  if (ppi_db_failed(out->db)) return;
  if (out->db->api->bind_int64(out->statements[into], at, value) !=
      PPI_SQLITE_OK)
    ppi_db_fail(out->db);
}
static void put_ns(nsys *out, statement into, int at, uint64_t ns) {
  put(out, into, at, (int64_t)ns + out->shift_ns);
}
static void put_null(nsys *out, statement into, int at) {
  ppi_db_int_if(out->db, out->statements[into], at, false, 0);
}
static void end(nsys *out, statement into) {
  ppi_db_row(out->db, out->statements[into]);
}

static pprof_status site_of(nsys *out, const pprof_event *event,
                            nsys_site *site) {
  pprof_status status = ppi_export_names_row(&out->names, PPROF_DEFINITION_SITE,
                                             event->site, &site->row);
  if (status != PPROF_STATUS_OK) return status;
  const ppi_export_name *named =
      ppi_export_names_at(&out->names, PPROF_DEFINITION_SITE, site->row);
  site->category = PPROF_CATEGORY_USER_DEFINED;
  if (named->has_parent)
    site->category = ppi_export_names_at(&out->names, PPROF_DEFINITION_CATEGORY,
                                         named->parent)
                         ->id;
  return PPROF_STATUS_OK;
}

// The process in the upper 24 bits, the thread in the lower 24. A thread number
// that does not fit is replaced by the row.
static uint64_t thread_at(const nsys *out, uint32_t row) {
  uint64_t number =
      ppi_export_names_at(&out->names, PPROF_DEFINITION_LANE, row)->number;
  // The process's own lane is its main thread's number.
  if (!number) number = out->process >> 24 & 0xffffff;
  if (number >= FIRST_OWN_TID)
    number = FIRST_OWN_TID | (row & (FIRST_OWN_TID - 1));
  return out->process | number;
}

static uint64_t thread_of(nsys *out, uint32_t lane) {
  uint32_t row;
  pprof_status status =
      ppi_export_names_row(&out->names, PPROF_DEFINITION_LANE, lane, &row);
  return status == PPROF_STATUS_OK ? thread_at(out, row) : out->process;
}

static void put_nvtx(nsys *out, const pprof_event *event, nsys_site site,
                     int kind) {
  const statement into = INTO_NVTX;
  uint64_t thread = thread_of(out, event->lane);
  const ppi_export_name *named =
      ppi_export_names_at(&out->names, PPROF_DEFINITION_SITE, site.row);
  put_ns(out, into, 1, event->start_ns);
  put_null(out, into, 2);
  if (kind != MARK)
    put_ns(out, into, 2, PPI_MAX(event->start_ns, event->end_ns));
  put(out, into, 3, kind);
  put_null(out, into, 4);
  if (kind == START_END) put(out, into, 4, (int64_t)++out->num_loose);
  put(out, into, 5, site.category);
  ppi_db_int_if(out->db, out->statements[into], 6, named->color,
                named->color | 0xff000000);
  put_null(out, into, 7);
  put(out, into, 8, (int64_t)thread);
  put_null(out, into, 9);
  if (kind == START_END) put(out, into, 9, (int64_t)thread);
  put(out, into, 10, FIRST_SITE + (int64_t)site.row);
  if (site.category == PPROF_CATEGORY_PROFILE_STEP && kind != MARK) {
    char text[48];
    snprintf(text, sizeof text, "ProfileStep#%.0f", event->value);
    ppi_db_text(out->db, out->statements[into], 7, text);
    put_null(out, into, 10);
  }
  end(out, into);
}

static void put_runtime(nsys *out, const pprof_event *event, int64_t name,
                        uint64_t correlation) {
  const statement into = INTO_RUNTIME;
  put_ns(out, into, 1, event->start_ns);
  put_ns(out, into, 2, PPI_MAX(event->start_ns, event->end_ns));
  put(out, into, 3, (int64_t)thread_of(out, event->lane));
  put(out, into, 4, (int64_t)correlation);
  put(out, into, 5, name);
  end(out, into);
}

// Numbers of the stream and of its device.
static pprof_status stream_of(nsys *out, uint32_t id, int64_t *out_stream,
                              int64_t *out_device) {
  uint32_t row;
  pprof_status status =
      ppi_export_names_row(&out->names, PPROF_DEFINITION_STREAM, id, &row);
  if (status != PPROF_STATUS_OK) return status;
  const ppi_export_name *stream =
      ppi_export_names_at(&out->names, PPROF_DEFINITION_STREAM, row);
  *out_stream = (int64_t)stream->number;
  *out_device = 0;
  if (stream->has_parent)
    *out_device = (int64_t)ppi_export_names_at(
                      &out->names, PPROF_DEFINITION_DEVICE, stream->parent)
                      ->number;
  return PPROF_STATUS_OK;
}

static int copy_kind(const char *name) {
  static const struct {
    const char *part;
    int kind;
  } kinds[] = {{"HtoD", 1}, {"DtoH", 2}, {"DtoD", 8}, {"PtoP", 10}};
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
    if (strstr(name, kinds[i].part)) return kinds[i].kind;
  return 0;
}

static pprof_status add_device(nsys *out, const pprof_event *event,
                               nsys_site site) {
  bool is_copy = site.category == PPROF_CATEGORY_MEMCPY;
  bool is_kernel = site.category == PPROF_CATEGORY_KERNEL;
  if (!is_copy && !is_kernel && site.category != PPROF_CATEGORY_MEMSET) {
    out->base.left[PPI_PART_PLACE_STAGES]++;
    return PPROF_STATUS_OK;
  }
  if (!ppi_export_is_timed(event)) return PPROF_STATUS_OK;
  statement into = is_kernel ? INTO_KERNEL
                   : is_copy ? INTO_MEMCPY
                             : INTO_MEMSET;
  int64_t stream, device;
  pprof_status status = stream_of(out, event->stream, &stream, &device);
  if (status != PPROF_STATUS_OK) return status;
  uint64_t correlation = ++out->num_launches;
  const char *name =
      ppi_export_names_at(&out->names, PPROF_DEFINITION_SITE, site.row)->text;
  put_runtime(out, event, LAUNCH, correlation);
  put_ns(out, into, 1, event->device_start_ns);
  put_ns(out, into, 2, PPI_MAX(event->device_start_ns, event->device_end_ns));
  put(out, into, 3, device);
  put(out, into, 4, stream);
  put(out, into, 5, (int64_t)correlation);
  put(out, into, 6, (int64_t)out->process);
  if (is_kernel)
    put(out, into, 7, FIRST_SITE + (int64_t)site.row);
  else
    put(out, into, 7, event->work ? (int64_t)event->work->bytes : 0);
  if (is_copy) put(out, into, 8, copy_kind(name));
  end(out, into);
  return PPROF_STATUS_OK;
}

static pprof_status take(nsys *out, const pprof_event *event,
                         const pprof_batch *batch) {
  nsys_site site;
  pprof_status status = site_of(out, event, &site);
  if (status != PPROF_STATUS_OK) return status;
  if (event->kind == PPROF_KIND_DEVICE_RANGE)
    return add_device(out, event, site);
  if (event->kind == PPROF_KIND_MARK)
    put_nvtx(out, event, site, MARK);
  else if (event->kind != PPROF_KIND_RANGE)
    return PPROF_STATUS_OK;
  else if (site.category == PPROF_CATEGORY_RUNTIME)
    put_runtime(out, event, FIRST_SITE + (int64_t)site.row, 0);
  else
    put_nvtx(out, event, site,
             ppi_export_is_loose(event, batch) ? START_END : PUSH_POP);
  return PPROF_STATUS_OK;
}

static pprof_status take_events(pprof_sink *sink, const pprof_batch *batch) {
  nsys *out = nsys_of(sink);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < batch->num_events && status == PPROF_STATUS_OK; i++)
    status = take(out, pprof_batch_at(batch, i), batch);
  if (status == PPROF_STATUS_OK && ppi_db_failed(out->db))
    status = PPROF_STATUS_IO;
  return status;
}

static pprof_status take_begin(pprof_sink *sink, const pprof_run_info *info) {
  nsys *out = nsys_of(sink);
  pprof_status status = ppi_export_names_begin(&out->names, info);
  if (status != PPROF_STATUS_OK) return status;
  const ppi_export_run *runs = out->names.runs;
  const ppi_export_run *run = &runs[out->names.num_runs - 1];
  uint64_t pid = strtoull(run->pid, NULL, 10) & 0xffffff;
  // Each run is a machine of its own: runs on several hosts may share a process
  // number.
  uint64_t machine = (out->names.num_runs - 1) & 0x7fff;
  out->process = machine << 48 | pid << 24;
  out->shift_ns = run->base_ns && runs[0].base_ns
                      ? (int64_t)(run->base_ns - runs[0].base_ns)
                      : 0;
  put(out, INTO_PROCESS, 1, (int64_t)out->process);
  put(out, INTO_PROCESS, 2, (int64_t)pid);
  ppi_db_text(out->db, out->statements[INTO_PROCESS], 3, run->command);
  end(out, INTO_PROCESS);
  return ppi_db_failed(out->db) ? PPROF_STATUS_IO : PPROF_STATUS_OK;
}

static pprof_status take_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  uint32_t row;
  if (pprof_definition_get_kind(definition) > PPROF_DEFINITION_ATTRIBUTES)
    return PPROF_STATUS_OK;
  return ppi_export_names_set(&nsys_of(sink)->names, definition, &row);
}

// Writes thread names run by run, since their ids contain the run's process.
static pprof_status take_finish(pprof_sink *sink, const pprof_totals *totals) {
  nsys *out = nsys_of(sink);
  (void)totals;
  const struct ppi_export_rows *lanes =
      &out->names.kinds[PPROF_DEFINITION_LANE];
  for (size_t i = 0; i < lanes->num; i++) {
    const ppi_export_name *lane = &lanes->items[i];
    if (lane->run != out->names.num_runs || !lane->number) continue;
    put(out, INTO_THREAD, 1, FIRST_LANE + (int64_t)i);
    put(out, INTO_THREAD, 2, (int64_t)thread_at(out, (uint32_t)i));
    end(out, INTO_THREAD);
  }
  return ppi_db_failed(out->db) ? PPROF_STATUS_IO : PPROF_STATUS_OK;
}

static void put_string(nsys *out, int64_t id, const char *text) {
  put(out, INTO_STRING, 1, id);
  ppi_db_text(out->db, out->statements[INTO_STRING], 2, text ? text : "");
  end(out, INTO_STRING);
}

static void put_categories(nsys *out) {
  const struct ppi_export_rows *rows =
      &out->names.kinds[PPROF_DEFINITION_CATEGORY];
  for (size_t i = 0; i < rows->num; i++) {
    for (int at = 1; at <= 10; at++) put_null(out, INTO_NVTX, at);
    put(out, INTO_NVTX, 1, 0);
    put(out, INTO_NVTX, 3, CATEGORY);
    put(out, INTO_NVTX, 5, rows->items[i].id);
    ppi_db_text(out->db, out->statements[INTO_NVTX], 7, rows->items[i].text);
    end(out, INTO_NVTX);
  }
}

static void put_gpus(nsys *out) {
  const struct ppi_export_rows *rows =
      &out->names.kinds[PPROF_DEFINITION_DEVICE];
  for (size_t i = 0; i < rows->num; i++) {
    put(out, INTO_GPU, 1, (int64_t)rows->items[i].number);
    ppi_db_text(out->db, out->statements[INTO_GPU], 2, rows->items[i].text);
    put(out, INTO_GPU, 3, (int64_t)rows->items[i].number);
    end(out, INTO_GPU);
  }
}

static pprof_status close_nsys(ppi_export *export, pprof_error *error) {
  nsys *out = (nsys *)export;
  const struct ppi_export_rows *sites =
      &out->names.kinds[PPROF_DEFINITION_SITE];
  const struct ppi_export_rows *lanes =
      &out->names.kinds[PPROF_DEFINITION_LANE];
  for (size_t i = 0; i < sites->num; i++)
    put_string(out, FIRST_SITE + (int64_t)i, sites->items[i].text);
  for (size_t i = 0; i < lanes->num; i++)
    put_string(out, FIRST_LANE + (int64_t)i, lanes->items[i].text);
  put_string(out, LAUNCH, "launch");
  put_categories(out);
  put_gpus(out);
  char text[96];
  snprintf(text, sizeof text,
           "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(%llu); COMMIT",
           (unsigned long long)(out->names.num_runs ? out->names.runs[0].base_ns
                                                    : 0));
  ppi_db_exec(out->db, text);
  if (!ppi_db_failed(out->db)) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_IO, "cannot write: %s", out->db->failure);
}

static void destroy_nsys(ppi_export *export) {
  nsys *out = (nsys *)export;
  for (size_t i = 0; i < NUM_STATEMENTS; i++)
    ppi_db_finalize(out->db, out->statements[i]);
  ppi_export_names_clear(&out->names);
  free(out);
}

pprof_status ppi_sql_create_nsys(ppi_db *db, ppi_export **out,
                                 pprof_error *error) {
  static const char *const texts[] = {
#define STATEMENT_TEXT(name, text) text,
      STATEMENTS(STATEMENT_TEXT)};
  nsys *made = calloc(1, sizeof *made);
  if (!made) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  made->db = db;
  made->sink = (pprof_sink){.size = sizeof(pprof_sink),
                            .begin = take_begin,
                            .define = take_define,
                            .events = take_events,
                            .finish = take_finish};
  made->base = (ppi_export){
      .sink = &made->sink, .close = close_nsys, .destroy = destroy_nsys};
  ppi_db_exec(db, "BEGIN");
  ppi_db_exec(db, schema);
  for (size_t i = 0; i < NUM_STATEMENTS; i++)
    made->statements[i] = ppi_db_prepare(db, texts[i]);
  *out = &made->base;
  if (!ppi_db_failed(db)) return PPROF_STATUS_OK;
  destroy_nsys(&made->base);
  return ppi_fail(error, PPROF_STATUS_IO, "cannot write: %s", db->failure);
}

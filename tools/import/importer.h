// SPDX-License-Identifier: Apache-2.0
//
// The state of one import. Events become records of one size (convert.c), and
// an external sort orders them by time. A second sort joins device records to
// their launches (join.c). A sweep nests the ranges and emits them (sweep.c,
// emit.c).
#pragma once

#include "import/classify.h"
#include "import/import_options.h"
#include "import/place.h"
#include "import/sorter.h"
#include "names/shapes.h"

#define PPI_IMPORT_MAX_SITES 65536
#define PPI_IMPORT_MAX_NAME_BYTES (32u << 20)
#define PPI_IMPORT_MAX_CATEGORIES 1024
#define PPI_IMPORT_NAME_BITS 65536
#define PPI_IMPORT_MAX_ATTRIBUTES 65536
#define PPI_IMPORT_MAX_ATTRIBUTE_BYTES (64u << 20)

// Times in records are biased, so that they sort as unsigned numbers.
#define PPI_RECORD_BIAS ((uint64_t)PPI_IMPORT_MAX_NS)

// Ten years: no program runs that long, and clocks with different epochs differ
// by more.
#define PPI_CLOCK_GAP_NS (INT64_C(315569520) * 1000000000)
// An upper bound of the clocks: all times lie within 292 years.
#define PPI_MAX_CLOCKS 32

typedef enum ppi_timed {
  PPI_TIMED_FRAME,
  PPI_TIMED_HOST,
  PPI_TIMED_DEVICE
} ppi_timed;

// The range of one clock's times, and the number of its events.
typedef struct ppi_clock {
  int64_t min_ns, max_ns;
  uint64_t num[PPI_TIMED_DEVICE + 1];
} ppi_clock;

typedef struct ppi_clocks {
  ppi_clock items[PPI_MAX_CLOCKS];
  size_t num;
  ppi_clock zero;  // of events at 0 exactly
} ppi_clocks;

void ppi_clocks_add(ppi_clocks *clocks, int64_t start_ns, int64_t end_ns,
                    ppi_timed what);
// ppi_clocks_choose answers the clock of most host events, on a tie that of
// most device events; NULL: still a tie.
const ppi_clock *ppi_clocks_choose(ppi_clocks *clocks);

#define PPI_INTERN_CHUNK (256u << 10)

typedef struct ppi_intern_item {
  const char *text;  // zero-terminated; may hold zeroes
  uint32_t len, hash;
} ppi_intern_item;

typedef struct ppi_intern {
  uint32_t max_items;
  size_t max_bytes;
  ppi_intern_item *items;  // id 1 is the first
  size_t num_items, items_capacity;
  uint32_t *buckets;  // ids; 0: none
  size_t num_buckets;
  char **chunks;
  size_t num_chunks, chunks_capacity;
  char *chunk_at;
  size_t chunk_left, num_bytes;
} ppi_intern;

// ppi_intern_id answers the id of a text, and adds a new text (*out_is_new). 0:
// no room.
uint32_t ppi_intern_id(ppi_intern *intern, const char *text, size_t len,
                       bool *out_is_new);
// ppi_intern_find answers the id of a text; 0: none.
uint32_t ppi_intern_find(const ppi_intern *intern, const char *text,
                         size_t len);
const ppi_intern_item *ppi_intern_item_of(const ppi_intern *intern,
                                          uint32_t id);
void ppi_intern_clear(ppi_intern *intern);

// The bits above these separate keys of asynchronous ranges.
#define PPI_SWEEP_KEY_BITS 13

typedef enum ppi_record_kind {
  PPI_RECORD_BEGIN,
  PPI_RECORD_END,
  PPI_RECORD_RANGE,
  PPI_RECORD_UNENDED,  // no duration was given
  PPI_RECORD_ASYNC_BEGIN,
  PPI_RECORD_ASYNC_END,
  PPI_RECORD_MARK,
  PPI_RECORD_COUNTER,
  PPI_RECORD_FLOW,
  // Of our own traces: a window opens or closes; a checkpoint, with its time as
  // the end; a word of the range behind it, or of the mark or counter.
  PPI_RECORD_WINDOW,
  PPI_RECORD_CHECKPOINT,
  PPI_RECORD_WORD,
  PPI_RECORD_POINT_WORD
} ppi_record_kind;

enum {
  PPI_RECORD_HAS_AMOUNT = 1,
  PPI_RECORD_COMMUNICATION = 2,
  PPI_RECORD_HAS_FLOPS = 4,      // in `value`
  PPI_RECORD_RESERVED = 8,       // memory: emitted when the level changes
  PPI_RECORD_IS_COARSE = 16,     // its times may be off by a microsecond
  PPI_RECORD_HAS_SEQUENCE = 32,  // of autograd, in `amount`
  PPI_RECORD_UNTIMED = 64,       // of a device: its times are unknown
  PPI_RECORD_ON_STREAM = 128     // a device range of our own traces
};

typedef struct ppi_record {
  uint64_t time;
  // A range's end, an async range's key, a flow's id, or the stream of a
  // begin's work.
  uint64_t end;
  double value;  // of a word its bits
  // Bytes; of a counter the change; of a step items; of a range of our own the
  // bits of its end.
  double amount;
  // Of a window `attributes` is its index; of a word its place in
  // ppi_own_members.
  uint32_t row, site, attributes;
  // A hash, of begins and ends; 0: it has none. Of our own traces the depth, of
  // a window 1 if it opens.
  uint32_t name;
  uint32_t marks;  // PPROF_FLAG_..., as the trace states them
  uint16_t process;
  uint8_t kind, flags;
} ppi_record;

// A call that submits device work, with a correlation or external id.
typedef struct ppi_launch {
  uint64_t id;
  uint64_t time, end;  // end: `time` where it is not known
  uint32_t row;
  uint16_t process;
  bool has_work;  // its name is that of a call that always submits
} ppi_launch;

// The head of an arrow from a launch to its device range.
typedef struct ppi_arrow {
  uint64_t time;
  uint64_t id;
  uint32_t row;
  uint32_t reserved;
} ppi_arrow;

typedef struct ppi_device_record {
  uint64_t key;  // start or an id; once placed, its time in the sweep
  uint64_t start, end, submit, external, correlation;
  double amount, flops;
  uint32_t stream, site, attributes;
  uint32_t row;  // its row; once placed, its launch's row
  uint32_t process;
  uint32_t flags;
} ppi_device_record;

// Losses and changes of an import; a note reports each.
#define PPI_SKIP_LIST(X)                                                   \
  X(MALFORMED, 1, "events without what an event needs left out")           \
  X(BAD_TIME, 1, "events without a time, or with an absurd one, left out") \
  X(BAD_SPANS, 1, "spans have no usable time and are left out")            \
  X(UNKNOWN_KIND, 1, "events of kinds that have no counterpart left out")  \
  X(TOO_MANY_OPEN, 1, "ranges left out, too many were open at once")       \
  X(TOO_DEEP, 0, "ranges shown outside of the nesting, which is too deep") \
  X(NAMES_CUT, 0, "names cut at 4096 bytes")                               \
  X(ATTRIBUTES_CUT, 0, "events with attributes beyond 16384 bytes cut")    \
  X(ATTRIBUTES_DROPPED, 0,                                                 \
    "events without attributes, of which too many"                         \
    " are different")                                                      \
  X(ATTRIBUTES_OF_ENDS, 0,                                                 \
    "ends of ranges without their attributes, as the begins have others")  \
  X(ROWS_BEYOND, 0, "events of further threads in one lane '<other>'")     \
  X(PROCESSES_BEYOND, 0, "events of further processes in one process")     \
  X(DEVICES_BEYOND, 0,                                                     \
    "ranges of further devices or streams with the last one's")            \
  X(BEFORE_LAUNCH, 0,                                                      \
    "device ranges that begin before their launch, which cannot be: the"   \
    " clocks are off by at least")                                         \
  X(OVER_LATER, 0,                                                         \
    "device ranges that last over two or more later ones of their stream," \
    " which cannot be:")                                                   \
  X(DROPPED, 0,                                                            \
    "launches before the first work that was recorded have none: shown"    \
    " without a device time")                                              \
  X(DUPLICATE_IDS, 0,                                                      \
    "device ranges with a correlation id of several"                       \
    " launches; the last one before it was taken")                         \
  X(OTHER_CLOCK, 1,                                                        \
    "events at time 0, or of another clock, years from all others, left"   \
    " out")                                                                \
  X(UNTIMED, 0,                                                            \
    "device ranges at time 0, or of another clock, years from all others:" \
    " they have no device time")                                           \
  X(NO_LAUNCH, 0, "device ranges without their launch in the trace")       \
  X(OVERLAPPING, 0, "ranges that overlap others of their thread partly")   \
  X(FLOWS_UNBOUND, 0, "ends of arrows in no range left out")               \
  X(UNPAIRED, 1, "device ranges without a begin or an end left out")       \
  X(UNENDED, 0, "ranges without an end, cut at the end of the trace")      \
  X(NUMBERS_CUT, 1, "values of counters beyond 64 in one event left out")  \
  X(NOT_NUMBERS, 1, "values of counters that are no numbers left out")     \
  X(FTRACE_LINES, 1, "lines of ftrace's text left out")                    \
  X(TABLE_ROWS, 0, "rows of tables that are not read left out")            \
  X(LACKING_ROWS, 1, "rows of tables that lack a column left out")         \
  X(NOT_FINITE, 0, "numbers that are not finite taken for none")           \
  X(NO_PROCESS, 0, "Python functions of no process left out")              \
  X(RAW_CONTROLS, 0, "control characters in texts without their escapes")
typedef enum ppi_skip {
#define PPI_SKIP_ENUM_(name, is_lost, text) PPI_SKIP_##name,
  PPI_SKIP_LIST(PPI_SKIP_ENUM_)
#undef PPI_SKIP_ENUM_
      PPI_NUM_SKIPS
} ppi_skip;

// Facts beside the events.
typedef struct ppi_trace_header {
  int64_t base_ns;    // the time of day at time 0
  uint32_t dialects;  // bits of the dialects found
  bool has_base, is_unclosed;
  // Arrows of autograd, and arrows that may be a request's.
  bool has_links, has_requests;
  bool is_own;    // known before the first event
  bool is_older;  // of our own, without that mark
  bool is_damaged;
  uint64_t damaged_at;             // byte of the inflated text
  double system_cpu, process_cpu;  // utilizations; negative: unknown
  char rank[16];                   // "": unknown
  char models[512];                // of devices, lines; "": unknown
  char uuid[33];                   // of a run in a trace of our own
  const char *spans;               // the source of its text, NULL: a trace
  uint64_t num_spans;              // of such a text, left out or not
  // Of nsys: numbers of rows by table that are not read, or lack a column.
  char tables[160], lacking[160];
} ppi_trace_header;

// The known keys, with the text around them (quick.c).
typedef struct ppi_quick ppi_quick;

typedef struct ppi_importer {
  pprof_sink *sink;
  const ppi_import_options *options;  // NULL: none
  ppi_fields fields;
  ppi_quick *quick;  // NULL: none has come
  ppi_trace_header header;
  ppi_intern names;    // category text, zero, name
  ppi_class *classes;  // by id of a name
  size_t classes_capacity;
  ppi_shapes *shapes;  // of names that may fold; NULL: none has come
  uint32_t *folds;     // by id of a name: the one that it folds into
  size_t num_folds, folds_capacity;
  ppi_intern attributes;
  ppi_places places;
  ppi_spill spill;
  // Of ONNX Runtime, by operator: the number of its last node, from 1.
  ppi_map operators;
  uint64_t *nodes;
  size_t nodes_capacity;
  uint64_t num_nodes;
  ppi_sorter records, launches, owners, by_correlation, by_external, placed;
  // Device ranges without any id, and the arrows that may lead to them.
  ppi_sorter without_id, arrow_tails, arrow_heads, by_arrow;
  // Launches of work that is not in the trace.
  ppi_sorter idle_launches;
  uint64_t clock_error_ns;  // at least, between the host and its devices
  // The worst device range over later ones: how many it lasts over, and its
  // name.
  uint64_t most_over;
  uint32_t site_over;
  // Our own traces: categories, and the facts that the parser fills.
  ppi_intern own_categories;
  ppi_own_facts *facts;
  int64_t min_ns, max_ns;  // of all emitted events
  ppi_clocks clocks;       // of traces that are not our own
  bool has_times;
  uint64_t last_valid;     // the latest end of a valid range; biased
  int64_t paddle_base_ns;  // of start_time and end_time
  bool has_paddle_base;
  uint8_t begun_names[PPI_IMPORT_NAME_BITS / 8];  // bits, by their hashes
  uint64_t num_events, names_overflowed;
  uint64_t skips[PPI_NUM_SKIPS];
  uint64_t hash[2];
  // Of the parser: where in the trace it is.
  int depth, event_depth, top_key;
  bool is_in_event, has_events, is_array;
  bool is_in_line;      // of ftrace's text
  const char *foreign;  // the format if it has no events; NULL: unknown
  char info_key[PPI_JSON_MAX_KEY];
} ppi_importer;

void ppi_importer_init(ppi_importer *importer, const char *path);
void ppi_importer_clear(ppi_importer *importer);

void ppi_import_add(ppi_importer *importer, const ppi_record *record);
// ppi_import_begins notes the name of a begin. ppi_import_may_end: an end with
// the name `end` fits a begin with the name `begun`. An `end` of 0, or a name
// without a begin in the trace, fits any.
void ppi_import_begins(ppi_importer *importer, uint32_t name);
bool ppi_import_may_end(const ppi_importer *importer, uint32_t end,
                        uint32_t begun);
// ppi_import_end ends a begun range and adds the end's numbers and attributes.
void ppi_import_end(ppi_importer *importer, ppi_record *begun,
                    const ppi_record *end);
static inline bool ppi_import_is_function(const ppi_importer *importer,
                                          uint32_t site) {
  return site && importer->classes[site].is & PPI_IS_PYTHON_FUNCTION;
}
// ppi_import_span widens the time that the trace covers.
void ppi_import_span(ppi_importer *importer, uint64_t start, uint64_t end,
                     ppi_timed what);
// ppi_import_is_in_time: the range's times are of the chosen clock.
static inline bool ppi_import_is_in_time(const ppi_importer *importer,
                                         uint64_t start, uint64_t end) {
  uint64_t first = (uint64_t)importer->min_ns + PPI_RECORD_BIAS;
  uint64_t last = (uint64_t)importer->max_ns + PPI_RECORD_BIAS;
  return start >= first && start <= last &&
         (end < start || end - start <= PPI_CLOCK_GAP_NS);
}

// ppi_import_model lists a device's model once. "gpu:0" is a number, no model.
void ppi_import_model(ppi_importer *importer, const char *name,
                      size_t name_len);

// ppi_import_id makes a number of an integer or a text; 0: none.
uint64_t ppi_import_id(const ppi_scalar *scalar);
uint64_t ppi_import_id_arg(const ppi_importer *importer, ppi_arg first,
                           ppi_arg second);
// ppi_import_flops reads `flops`, else `Flops`.
bool ppi_import_flops(const ppi_importer *importer, double *out);
bool ppi_import_number(const ppi_importer *importer, ppi_arg arg, double *out);
uint32_t ppi_import_attributes(ppi_importer *importer);

// ppi_import_ns reads a time in microseconds. False: no time.
bool ppi_import_ns(const ppi_scalar *scalar, int64_t *out);

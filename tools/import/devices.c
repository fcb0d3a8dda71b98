// SPDX-License-Identifier: Apache-2.0
//
// Finds devices among processes by their names and labels, and the rows with
// their work. Each decision is reported.
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/base.h"
#include "cli/say.h"
#include "import/join.h"
#include "import/sites.h"
#include "import/sweeper.h"

// Several processes may show one device's work; the closest to the streams
// counts. In order: sums of the work, launches, all streams in one, streams.
typedef enum closeness { SUMS, LAUNCHES, ALL_STREAMS, STREAMS } closeness;

// Words for a device, before its number.
static const char *const makers[] = {
    "gpu", "cuda", "hip", "xpu",  "tpu", "npu",        "hpu",
    "mlu", "mtia", "ipu", "musa", "dcu", "privateuse1"};
enum { NUM_MAKERS = sizeof makers / sizeof *makers };

// ---- names ----

static bool digits(const char *text, uint64_t *out, const char **out_end) {
  char *end;
  if (!isdigit((unsigned char)*text)) return false;
  *out = strtoull(text, &end, 10);
  *out_end = end;
  return *out < 1000000;
}

static bool ends_word(const char *at) {
  return *at == '\0' || *at == '/' || strcmp(at, " Compute") == 0;
}

// Names by XLA and TensorFlow: "/device:GPU:0", "/job:x/device:TPU:1 Compute".
static bool has_path(const char *name, uint64_t *out) {
  static const char *const paths[] = {"/device:", "/gpu:", "/tpu:"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    const char *at = strstr(name, paths[i]), *end;
    if (!at) continue;
    at += strlen(paths[i]);
    if (i == 0) {
      if (strncasecmp(at, "CPU:", 4) == 0) return false;
      while (isalnum((unsigned char)*at)) at++;
      if (*at++ != ':') return false;
    }
    return digits(at, out, &end) && ends_word(end);
  }
  return false;
}

// Short names: "cuda:0", "gpu:0", rocprof's "1 GPU0".
static bool is_short(const char *name, uint64_t *out) {
  const char *at = name, *end;
  uint64_t number;
  if (digits(at, &number, &end) && *end == ' ') at = end + 1;
  for (size_t i = 0; i < NUM_MAKERS; i++) {
    size_t len = strlen(makers[i]);
    if (strncasecmp(at, makers[i], len) != 0) continue;
    const char *number_at = at + len + (at[len] == ':' || at[len] == ' ');
    return digits(number_at, out, &end) && ends_word(end);
  }
  return false;
}

static bool ends(const char *text, const char *with) {
  size_t len = text ? strlen(text) : 0, with_len = strlen(with);
  return len >= with_len && strcmp(text + len - with_len, with) == 0;
}

// A name that fits the user's pattern may have its number anywhere: the last
// one counts.
static uint64_t last_number(const ppi_process *process) {
  uint64_t number = process->number < 0 ? 0 : (uint64_t)process->number;
  const char *end;
  for (const char *at = process->name ? process->name : ""; *at;)
    at = digits(at, &number, &end) ? end : at + 1;
  return number;
}

// PyTorch's first profiler has a process "CUDA functions" with a row a device.
static bool is_functions(const char *name) {
  for (size_t i = 0; i < NUM_MAKERS; i++) {
    size_t len = strlen(makers[i]);
    if (strncasecmp(name, makers[i], len) == 0 &&
        strcmp(name + len, " functions") == 0)
      return true;
  }
  return false;
}

static closeness closeness_of(const ppi_process *process) {
  // Ascend's processes that repeat the work of its streams.
  static const char *const sums[] = {"Communication", "HCCL",
                                     "Overlap Analysis"};
  if (!process->name) return LAUNCHES;
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    if (strcmp(process->name, sums[i]) == 0) return SUMS;
  if (strstr(process->name, "/stream:all")) return ALL_STREAMS;
  return strstr(process->name, "/stream:") || strstr(process->name, "/memcpy")
             ? STREAMS
             : LAUNCHES;
}

// ---- which processes ----

static void say(ppi_importer *importer, const char *text) {
  const ppi_import_options *options = importer->options;
  if (options && options->say) options->say(options->context, text);
}

static bool is_reported(const ppi_importer *importer,
                        const ppi_process *process) {
  const ppi_import_options *options = importer->options;
  return options && options->device_process && process->name &&
         fnmatch(options->device_process, process->name, 0) == 0;
}

static bool is_maker(const char *word, size_t len) {
  for (size_t i = 0; i < NUM_MAKERS; i++)
    if (strlen(makers[i]) == len && strncasecmp(word, makers[i], len) == 0)
      return true;
  return false;
}

// The length of the label's first word if it names a kind of device; 0: none. A
// number may follow. PyTorch labels every host "CPU".
static size_t kind_of(const char *label, bool is_pytorch) {
  size_t len = 0, stem;
  while (isalnum((unsigned char)label[len])) len++;
  for (stem = len; stem > 0 && isdigit((unsigned char)label[stem - 1]);) stem--;
  if (is_maker(label, len)) return len;
  if (is_maker(label, stem)) return stem;
  bool is_any = is_pytorch && stem > 0 && stem <= PPI_MAX_DEVICE_KIND &&
                (!label[len] || label[len] == ' ');
  return is_any && strncasecmp(label, "CPU", PPI_MAX(stem, 3)) != 0 ? stem : 0;
}

static bool is_gpu(const char *label, size_t len) {
  return (len == 3 && strncasecmp(label, "GPU", len) == 0) ||
         (len == 4 && strncasecmp(label, "CUDA", len) == 0);
}

// A process id may equal the number of a device, and then has its label:
// PyTorch always labels 0 to 15.
static bool is_labelled(ppi_process *process, bool is_pytorch) {
  const char *label = process->labels ? process->labels : "", *end;
  size_t len = kind_of(label, is_pytorch);
  process->has_device_each_row = is_functions(label);
  if (process->has_device_each_row) return true;
  if (!len) return false;
  if (!digits(label + len + (label[len] == ' '), &process->device, &end)) {
    // An unknown word names a device only with a number.
    if (label[len] && !is_maker(label, len)) return false;
    bool is_small = (uint64_t)process->number < PPI_MAX_DEVICES;
    process->device = is_small ? (uint64_t)process->number : 0;
  }
  if (!is_gpu(label, len))
    snprintf(process->kind, sizeof process->kind, "%.*s", (int)len, label);
  return true;
}

static bool is_called_so(ppi_process *process) {
  if (!process->name) return false;
  if (has_path(process->name, &process->device) ||
      is_short(process->name, &process->device)) {
    process->is_named = true;
    return true;
  }
  if (is_functions(process->name)) {
    process->is_named = process->has_device_each_row = true;
    return true;
  }
  if (!ends(process->name, "(GPU)")) return false;
  process->device = process->number < 0 ? 0 : (uint64_t)process->number;
  return true;
}

// Events that only hosts have count more than a name.
static void decide(ppi_importer *importer, ppi_process *process) {
  char text[2 * PPI_MAX_PLACE_NAME + 256];
  if (is_reported(importer, process)) {
    process->is_device = process->is_named = true;
    if (!is_called_so(process)) process->device = last_number(process);
    return;
  }
  bool is_pytorch = importer->header.dialects & PPI_IS_PYTORCH;
  bool is_called = is_called_so(process);
  bool has_label = !is_called && is_labelled(process, is_pytorch);
  process->is_device = (is_called || has_label) && !process->is_host;
  process->is_named |= has_label;
  if (!is_called || process->is_device) return;
  snprintf(text, sizeof text,
           "'%s' has a device's name and a host's calls: it is a host; "
           "--device-process '%s' changes that",
           process->name, process->name);
  say(importer, text);
}

static void decide_all(ppi_importer *importer) {
  ppi_places *places = &importer->places;
  const ppi_import_options *options = importer->options;
  bool is_any_reported = false;
  for (size_t i = 0; i < places->num_processes; i++) {
    decide(importer, &places->processes[i]);
    is_any_reported |= is_reported(importer, &places->processes[i]);
  }
  if (!options || !options->device_process || is_any_reported) return;
  char text[512];
  snprintf(text, sizeof text,
           "--device-process '%.200s': no process of the trace is called so",
           options->device_process);
  say(importer, text);
}

// ---- what on them is work ----

// XLA derives these lines from the work of streams, or of the host.
static bool is_frame(const ppi_row *row) {
  static const char *const frames[] = {"Steps",
                                       "XLA Modules",
                                       "XLA Ops",
                                       "XLA TraceMe",
                                       "Framework Name Scope",
                                       "Framework Ops",
                                       "Launch Stats",
                                       "TensorFlow Name Scope",
                                       "TensorFlow Ops",
                                       "Source code",
                                       "Source Code"};
  for (size_t i = 0; row->name && i < sizeof frames / sizeof *frames; i++)
    if (strcmp(row->name, frames[i]) == 0) return true;
  return false;
}

// Lines of a device, ordered from the derived ones to its work.
typedef enum line { FRAME, UNKNOWN, OPERATIONS, STREAM } line;

static line line_of(const ppi_row *row) {
  if (!row->name || strncasecmp(row->name, "stream", 6) == 0) return STREAM;
  if (strcmp(row->name, "XLA Ops") == 0) return OPERATIONS;
  return is_frame(row) ? FRAME : UNKNOWN;
}

// Finds for each process the kind of line closest to its work. Without XLA's
// lines every line is work.
static void find_work(const ppi_places *places, line *work) {
  bool is_xla[PPI_MAX_PROCESSES] = {false};
  for (size_t i = 0; i < places->num_processes; i++) work[i] = UNKNOWN;
  for (size_t i = 0; i < places->num_rows; i++) {
    const ppi_row *row = &places->rows[i];
    if (row->num_ranges == 0) continue;
    is_xla[row->process] |= is_frame(row);
    work[row->process] = PPI_MAX(work[row->process], line_of(row));
  }
  for (size_t i = 0; i < places->num_processes; i++)
    if (!is_xla[i]) work[i] = FRAME;
}

// A row of pairs that are all of a device is a device's row. Its pairs do not
// count as host events of its process.
static bool find_device_rows(ppi_places *places) {
  bool is_any = false;
  for (size_t i = 0; i < places->num_rows; i++) {
    ppi_row *row = &places->rows[i];
    row->is_device = row->has_device_pairs && !row->has_host_pairs;
    is_any |= row->is_device;
    ppi_process *process = &places->processes[row->process];
    process->has_device_rows |= row->is_device;
    if (row->is_device && !process->is_device)
      process->num_host -= row->num_pairs;
  }
  return is_any;
}

static bool is_shown_closer(const ppi_places *places,
                            const ppi_process *process) {
  for (size_t i = 0; i < places->num_processes; i++) {
    const ppi_process *other = &places->processes[i];
    if (other->is_device && other->num_host > 0 &&
        other->device == process->device &&
        strcmp(other->kind, process->kind) == 0 &&
        closeness_of(other) > closeness_of(process))
      return true;
  }
  return false;
}

// A TPU has no streams: there the operations are the work.
static void find_projected(ppi_places *places) {
  line work[PPI_MAX_PROCESSES];
  find_work(places, work);
  for (size_t i = 0; i < places->num_rows; i++) {
    ppi_row *row = &places->rows[i];
    const ppi_process *process = &places->processes[row->process];
    if (!process->is_device || !process->is_named) continue;
    row->is_projected =
        is_shown_closer(places, process) || line_of(row) < work[row->process];
  }
}

// Processes known by name have no categories for their work: its name decides.
static uint32_t site_of(ppi_importer *importer, const ppi_record *record) {
  const ppi_row *row = &importer->places.rows[record->row];
  const char *name = ppi_import_site_name(importer, record->site);
  if (!importer->places.processes[row->process].is_named ||
      (!row->is_projected &&
       importer->classes[record->site].category != PPROF_CATEGORY_USER_DEFINED))
    return record->site;
  const char *cat = row->is_projected            ? "gpu_user_annotation"
                    : strcasestr(name, "memcpy") ? "gpu_memcpy"
                    : strcasestr(name, "memset") ? "gpu_memset"
                                                 : "kernel";
  ppi_label label = {cat, name, strlen(cat), strlen(name)};
  return ppi_import_site(importer, &label);
}

static void take(ppi_importer *importer, const ppi_record *record,
                 uint64_t end) {
  ppi_places *places = &importer->places;
  const ppi_row *row = &places->rows[record->row];
  const ppi_process *process = &places->processes[row->process];
  uint32_t stream = (uint32_t)record->end;
  if (process->is_device) {
    uint32_t device = ppi_place_device(
        places, process->kind,
        process->has_device_each_row ? row->key : process->device);
    stream = ppi_place_stream(places, device, row->is_text ? 0 : row->key,
                              record->row);
  }
  ppi_device_record made = {
      .start = record->time,
      .end = end,
      .submit = record->time,
      .amount = record->amount,
      .flops = record->flags & PPI_RECORD_HAS_FLOPS ? record->value : 0,
      .stream = stream,
      .site = site_of(importer, record),
      .attributes = record->attributes,
      .row = record->row,
      .process = PPI_NO_PLACE,
      .flags = record->flags};
  if (importer->classes[made.site].is & PPI_IS_COMMUNICATION)
    made.flags |= PPI_RECORD_COMMUNICATION;
  ppi_import_device(importer, &made);
}

// Begins that have no end yet.
typedef struct begun {
  ppi_record *items;
  size_t num, capacity;
} begun;

static void begin(ppi_importer *importer, begun *all,
                  const ppi_record *record) {
  enum { MOST = 4096 };
  if (all->num == MOST) {
    importer->skips[PPI_SKIP_TOO_MANY_OPEN]++;
    return;
  }
  PPI_MUST_PUSH(all->items, all->num, all->capacity, *record);
}

static bool is_pair(const ppi_importer *importer, const ppi_record *from,
                    const ppi_record *to) {
  return from->row == to->row &&
         ppi_import_may_end(importer, to->name, from->name);
}

// Ends the innermost begin of the row that this end fits.
static void end(ppi_importer *importer, begun *all, const ppi_record *record) {
  size_t at = all->num;
  while (at > 0 && !is_pair(importer, &all->items[at - 1], record)) at--;
  if (at == 0) {
    importer->skips[PPI_SKIP_UNPAIRED]++;
    return;
  }
  ppi_record found = all->items[at - 1];
  memmove(&all->items[at - 1], &all->items[at],
          (--all->num + 1 - at) * sizeof *all->items);
  uint64_t stream = found.end;
  ppi_import_end(importer, &found, record);
  found.end = stream;
  take(importer, &found, record->time);
}

static void take_record(ppi_importer *importer, begun *all,
                        const ppi_record *record) {
  if (!ppi_devices_has(importer, record)) return;
  if (record->kind == PPI_RECORD_RANGE)
    take(importer, record, record->end);
  else if (record->kind == PPI_RECORD_BEGIN)
    begin(importer, all, record);
  else if (record->kind == PPI_RECORD_END)
    end(importer, all, record);
  else if (record->kind == PPI_RECORD_UNENDED)
    importer->skips[PPI_SKIP_UNPAIRED]++;
}

bool ppi_devices_has(const ppi_importer *importer, const ppi_record *record) {
  const ppi_places *places = &importer->places;
  if (ppi_import_is_function(importer, record->site)) return false;
  bool is_pair =
      record->kind == PPI_RECORD_BEGIN || record->kind == PPI_RECORD_END;
  if (is_pair && places->rows[record->row].is_device) return true;
  return places->processes[record->process].is_device &&
         (is_pair || record->kind == PPI_RECORD_RANGE ||
          record->kind == PPI_RECORD_UNENDED ||
          record->kind == PPI_RECORD_FLOW);
}

static bool is_device_group(const void *context, uint32_t group) {
  const ppi_places *places = context;
  return places->processes[group].is_device ||
         places->processes[group].has_device_rows;
}

static void take_all(ppi_importer *importer) {
  ppi_sort_merge merge;
  begun all = {NULL, 0, 0};
  const ppi_record *record;
  ppi_sort_merge_open(&merge, &importer->records, is_device_group,
                      &importer->places);
  while ((record = ppi_sort_merge_next(&merge)) != NULL)
    take_record(importer, &all, record);
  importer->skips[PPI_SKIP_UNPAIRED] += all.num;
  ppi_free(all.items);
  ppi_sort_merge_close(&merge);
}

// ---- saying so ----

static size_t list_rows(const ppi_places *places, uint32_t process,
                        bool is_projected, char *text, size_t size) {
  enum { MOST = 8 };
  size_t num = 0, len = 0;
  text[0] = '\0';
  for (size_t i = 0; i < places->num_rows; i++) {
    const ppi_row *row = &places->rows[i];
    if (row->process != process || row->num_ranges == 0 ||
        row->is_projected != is_projected)
      continue;
    if (num++ >= MOST) continue;
    const char *comma = num > 1 ? ", " : "";
    int added =
        row->name ? snprintf(text + len, size - len, "%s'%s'", comma, row->name)
                  : snprintf(text + len, size - len, "%s%" PRId64, comma,
                             (int64_t)row->key);
    len += (size_t)added < size - len ? (size_t)added : size - len - 1;
  }
  if (num > MOST) snprintf(text + len, size - len, " and %zu more", num - MOST);
  return num;
}

static void say_all(ppi_importer *importer) {
  enum { SIZE = 10 * (PPI_MAX_PLACE_NAME + 4) };
  const ppi_places *places = &importer->places;
  char device[PPI_MAX_DEVICE_KIND + 32];
  char work[SIZE], frames[SIZE], text[2 * SIZE + PPI_MAX_PLACE_NAME + 128];
  for (uint32_t i = 0; i < places->num_processes; i++) {
    const ppi_process *process = &places->processes[i];
    if (!process->is_device || process->num_host == 0) continue;
    size_t num = list_rows(places, i, false, work, sizeof work);
    size_t num_frames = list_rows(places, i, true, frames, sizeof frames);
    if (num + num_frames == 0) continue;
    ppi_place_device_name(process->kind, process->device, device,
                          sizeof device);
    snprintf(text, sizeof text, "process '%s' is taken for device %s%s%s%s%s",
             process->name     ? process->name
             : process->labels ? process->labels
                               : "",
             device, num ? ": " : "", work,
             num_frames ? "; no work of their own: " : "", frames);
    say(importer, text);
  }
}

// A device with work by category takes its kind from its process's label.
static void find_kinds(ppi_places *places) {
  for (size_t i = 0; i < places->num_streams; i++) {
    const ppi_row *row = &places->rows[places->streams[i].row];
    ppi_device *device = &places->devices[places->streams[i].device];
    if (!*device->kind)
      strcpy(device->kind, places->processes[row->process].kind);
  }
}

void ppi_devices_take(ppi_importer *importer) {
  const ppi_places *places = &importer->places;
  bool is_any = false;
  decide_all(importer);
  find_kinds(&importer->places);
  for (size_t i = 0; i < places->num_processes; i++)
    is_any |= places->processes[i].is_device && places->processes[i].num_host;
  is_any |= find_device_rows(&importer->places);
  if (!is_any) return;
  find_projected(&importer->places);
  take_all(importer);
  say_all(importer);
}

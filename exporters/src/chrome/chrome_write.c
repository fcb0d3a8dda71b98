// SPDX-License-Identifier: Apache-2.0
//
// Writes events, names and totals as Chrome's JSON, one event a line.
#include "chrome/chrome_write.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "chrome/chrome_args.h"

static void begin_event(ppi_chrome_writer *writer) {
  if (writer->first_written) PPI_CHROME_PUT(&writer->out, ",\n");
  writer->first_written = true;
}

static void put_place(ppi_chrome_out *out, uint32_t pid, uint32_t tid) {
  ppi_chrome_put_field(out, ",\"pid\":", pid);
  ppi_chrome_put_field(out, ",\"tid\":", tid);
}

// A name that was never defined is shown by its number: its events stay.
static void put_name(ppi_chrome_writer *writer, pprof_definition_kind kind,
                     uint32_t id) {
  const ppi_chrome_name *name = ppi_chrome_names_get(&writer->names[kind], id);
  if (name && name->escaped) {
    ppi_chrome_put(&writer->out, name->escaped, name->escaped_len);
    return;
  }
  char text[32];
  snprintf(text, sizeof text, "%s %u",
           kind == PPROF_DEFINITION_SITE ? "site" : "category", id);
  ppi_chrome_put_string(&writer->out, text);
}

static void put_site(ppi_chrome_writer *writer, uint32_t site,
                     const pprof_numbers *numbers) {
  const ppi_chrome_name *name =
      ppi_chrome_names_get(&writer->names[PPROF_DEFINITION_SITE], site);
  PPI_CHROME_PUT(&writer->out, ",\"name\":");
  if (ppi_chrome_is_full(numbers) && name && name->escaped)
    ppi_chrome_put_full(&writer->out, name->escaped, numbers);
  else
    put_name(writer, PPROF_DEFINITION_SITE, site);
  PPI_CHROME_PUT(&writer->out, ",\"cat\":");
  put_name(writer, PPROF_DEFINITION_CATEGORY, name ? name->parent : 0);
}

// With a name in full, `labels` has the site's name, for the importer.
static void put_numbers(ppi_chrome_writer *writer, uint32_t site,
                        const pprof_numbers *numbers) {
  if (!numbers) return;
  ppi_chrome_put_numbers(&writer->out, numbers);
  if (!ppi_chrome_is_full(numbers)) return;
  PPI_CHROME_PUT(&writer->out, ",\"labels\":");
  put_name(writer, PPROF_DEFINITION_SITE, site);
}

// ---- slices ----

// Most events are slices, so the text of a site or of a row is made once.

#define MAX_HEAD 1024  // longer ones are made each time
// An upper bound of the fixed part of a slice beside its head.
#define FIXED_LEN 256

#define HEAD ",\n{\"ph\":\"X\",\"name\":"
#define CATEGORY ",\"cat\":"
#define TIME ",\"ts\":"

static bool make_head(ppi_chrome_name *site, const ppi_chrome_name *category) {
  size_t len = sizeof(HEAD CATEGORY TIME) - 1 + site->escaped_len +
               category->escaped_len;
  if (len > MAX_HEAD) return false;
  char *head = ppi_alloc(len + PPI_CHROME_COPY_STEP);
  if (!head) return false;
  char *at = PPI_CHROME_AT(head, HEAD);
  at = mempcpy(at, site->escaped, site->escaped_len);
  at = PPI_CHROME_AT(at, CATEGORY);
  at = mempcpy(at, category->escaped, category->escaped_len);
  memcpy(at, TIME, sizeof(TIME) - 1);
  ppi_free(site->head);
  site->head = head;
  site->head_len = len;
  return true;
}

// NULL: the site has no head.
static const ppi_chrome_name *head_of(ppi_chrome_writer *writer, uint32_t id) {
  ppi_chrome_names *sites = &writer->names[PPROF_DEFINITION_SITE];
  const ppi_chrome_names *categories =
      &writer->names[PPROF_DEFINITION_CATEGORY];
  if (id >= sites->num_items) return NULL;
  ppi_chrome_name *site = &sites->items[id];
  if (site->head && site->head_version == categories->version) return site;
  const ppi_chrome_name *category =
      ppi_chrome_names_get(categories, site->parent);
  if (!site->known || !category || !make_head(site, category)) return NULL;
  site->head_version = categories->version;
  return site;
}

static void make_place(ppi_chrome_track *track, uint32_t pid, uint32_t window) {
  char *at = PPI_CHROME_AT(track->place, ",\"pid\":");
  at = ppi_chrome_u64_at(at, pid);
  at = PPI_CHROME_AT(at, ",\"tid\":");
  at = ppi_chrome_u64_at(at, track->tid);
  at = PPI_CHROME_AT(at, ",\"args\":{\"window\":");
  at = ppi_chrome_u64_at(at, window);
  track->place_len = (uint32_t)(at - track->place);
  track->place_pid = pid;
  track->place_window = window;
}

// Answers the place of the slice's args.
static char *begin_slice(ppi_chrome_writer *writer,
                         const ppi_chrome_slice *slice, uint32_t pid,
                         ppi_chrome_track *track) {
  ppi_chrome_out *out = &writer->out;
  bool has_head = writer->first_written && !ppi_chrome_is_full(slice->numbers);
  const ppi_chrome_name *site = has_head ? head_of(writer, slice->site) : NULL;
  char *at;
  if (site) {
    at = ppi_chrome_room(out, MAX_HEAD + FIXED_LEN);
    at = ppi_chrome_padded_at(at, site->head, site->head_len);
  } else {
    begin_event(writer);
    PPI_CHROME_PUT(out, "{\"ph\":\"X\"");
    put_site(writer, slice->site, slice->numbers);
    PPI_CHROME_PUT(out, TIME);
    at = ppi_chrome_room(out, FIXED_LEN);
  }
  at = ppi_chrome_us_at(at, slice->start_ns + writer->shift_ns);
  at = PPI_CHROME_AT(at, ",\"dur\":");
  at = ppi_chrome_us_at(at, slice->end_ns - slice->start_ns);
  if (!track->place_len || track->place_pid != pid ||
      track->place_window != slice->window)
    make_place(track, pid, slice->window);
  memcpy(at, track->place, PPI_CHROME_PLACE_LEN);
  return at + track->place_len;
}

// The submission has the device side, too: the importer joins both sides into
// one event again.
static void put_device(ppi_chrome_writer *writer,
                       const ppi_chrome_slice *slice) {
  ppi_chrome_out *out = &writer->out;
  if (!slice->is_submission) return;
  ppi_chrome_put_field(out, ",\"on_stream\":", slice->stream);
  // In the order of these numbers the inner ones come first.
  if (slice->flags & PPROF_FLAG_PAIRED)
    ppi_chrome_put_field(out, ",\"seq\":", slice->seq);
  if (!slice->is_timed) return;
  ppi_chrome_put_field(
      out, ",\"device_start_ns\":", slice->device_start_ns + writer->shift_ns);
  ppi_chrome_put_field(
      out, ",\"device_end_ns\":", slice->device_end_ns + writer->shift_ns);
  ppi_chrome_put_field(out, ",\"device_off_ns\":", slice->device_error_ns);
}

static void put_args(ppi_chrome_writer *writer, const ppi_chrome_slice *slice) {
  ppi_chrome_out *out = &writer->out;
  if (slice->depth > 0) ppi_chrome_put_field(out, ",\"depth\":", slice->depth);
  if (slice->is_async) PPI_CHROME_PUT(out, ",\"async\":true");
  if (slice->reported_ns > 0)
    ppi_chrome_put_field(
        out, ",\"told_ns\":", slice->reported_ns + writer->shift_ns);
  if (slice->is_step) ppi_chrome_put_field(out, ",\"step\":", slice->step);
  ppi_chrome_put_flows(out, slice->flows, slice->num_flows);
  ppi_chrome_put_work(out, &slice->work);
  ppi_chrome_put_flags(out, slice->flags);
  put_device(writer, slice);
  ppi_chrome_put_cpu(out, slice->cpu);
  put_numbers(writer, slice->site, slice->numbers);
  if (slice->has_device_error)
    ppi_chrome_put_field(out, ",\"device_error_ns\":", slice->device_error_ns);
  if (slice->has_queue)
    ppi_chrome_put_field(out, ",\"queue_ns\":", slice->queue_ns);
  const ppi_chrome_name *launch = ppi_chrome_names_get(
      &writer->names[PPROF_DEFINITION_ATTRIBUTES], slice->attributes);
  if (launch) ppi_chrome_put_text(out, launch->text);
}

// Whether the slice has only the usual args, as most do.
static bool is_plain(const ppi_chrome_slice *slice) {
  bool is_marked = slice->is_step | slice->has_queue | slice->is_async |
                   slice->has_device_error | slice->is_submission;
  return !is_marked && !slice->flags && !slice->num_flows &&
         !slice->work.size && !slice->cpu && !slice->numbers &&
         !slice->reported_ns && !slice->attributes;
}

void ppi_chrome_write_slice(ppi_chrome_writer *writer,
                            const ppi_chrome_slice *slice, uint32_t pid,
                            ppi_chrome_track *track) {
  ppi_chrome_out *out = &writer->out;
  char *at = begin_slice(writer, slice, pid, track);
  if (!is_plain(slice)) {
    ppi_chrome_advance(out, at);
    put_args(writer, slice);
    PPI_CHROME_PUT(out, "}}");
    return;
  }
  if (slice->depth > 0) {
    at = PPI_CHROME_AT(at, ",\"depth\":");
    at = ppi_chrome_u64_at(at, slice->depth);
  }
  ppi_chrome_advance(out, PPI_CHROME_AT(at, "}}"));
}

typedef struct arrow {
  const char *what;  // ",\"name\":...,\"cat\":..."
  uint64_t from_ns, to_ns;
  uint32_t from_pid, from_tid, to_pid, to_tid;
} arrow;

static void write_arrow_end(ppi_chrome_writer *writer, const char *head,
                            const arrow *of, uint64_t id, bool is_start) {
  begin_event(writer);
  ppi_chrome_put_text(&writer->out, head);
  ppi_chrome_put_text(&writer->out, of->what);
  ppi_chrome_put_field(&writer->out, ",\"id\":", id);
  PPI_CHROME_PUT(&writer->out, TIME);
  ppi_chrome_put_us(&writer->out,
                    (is_start ? of->from_ns : of->to_ns) + writer->shift_ns);
  put_place(&writer->out, is_start ? of->from_pid : of->to_pid,
            is_start ? of->from_tid : of->to_tid);
  PPI_CHROME_PUT(&writer->out, "}");
}

static void write_arrow(ppi_chrome_writer *writer, const arrow *of) {
  uint64_t id = writer->flows.next_id++;
  write_arrow_end(writer, "{\"ph\":\"s\"", of, id, true);
  write_arrow_end(writer, "{\"ph\":\"f\",\"bp\":\"e\"", of, id, false);
}

void ppi_chrome_write_launch(ppi_chrome_writer *writer,
                             const ppi_chrome_slice *slice, uint32_t from_tid,
                             uint32_t pid, uint32_t tid) {
  write_arrow(writer,
              &(arrow){",\"name\":\"launch\",\"cat\":\"launch\"",
                       slice->start_ns - slice->queue_ns, slice->start_ns,
                       writer->pid, from_tid, pid, tid});
}

void ppi_chrome_write_wake(ppi_chrome_writer *writer,
                           const ppi_chrome_slice *slice, uint32_t pid,
                           uint32_t tid) {
  write_arrow(writer,
              &(arrow){",\"name\":\"wake\",\"cat\":\"wake\"", slice->end_ns,
                       slice->end_ns, pid, slice->woken_by, pid, tid});
}

void ppi_chrome_write_mark(ppi_chrome_writer *writer, const pprof_event *event,
                           uint32_t tid) {
  ppi_chrome_out *out = &writer->out;
  begin_event(writer);
  PPI_CHROME_PUT(out, "{\"ph\":\"i\",\"s\":\"t\"");
  put_site(writer, event->site, event->numbers);
  PPI_CHROME_PUT(out, ",\"ts\":");
  ppi_chrome_put_us(out, event->start_ns + writer->shift_ns);
  put_place(out, writer->pid, tid);
  ppi_chrome_put_field(out, ",\"args\":{\"window\":", event->window);
  if (event->depth > 0) ppi_chrome_put_field(out, ",\"depth\":", event->depth);
  ppi_chrome_put_flows(out, event->flows, event->num_flows);
  if (event->work) ppi_chrome_put_work(out, event->work);
  ppi_chrome_put_amount(out, ",\"value\":", event->value);
  ppi_chrome_put_flags(out, event->flags);
  put_numbers(writer, event->site, event->numbers);
  PPI_CHROME_PUT(out, "}}");
}

void ppi_chrome_write_counter(ppi_chrome_writer *writer,
                              const pprof_event *event, uint32_t tid) {
  ppi_chrome_out *out = &writer->out;
  begin_event(writer);
  PPI_CHROME_PUT(out, "{\"ph\":\"C\"");
  put_site(writer, event->site, NULL);
  PPI_CHROME_PUT(out, ",\"ts\":");
  ppi_chrome_put_us(out, event->start_ns + writer->shift_ns);
  put_place(out, writer->pid, tid);
  PPI_CHROME_PUT(out, ",\"args\":{\"value\":");
  ppi_chrome_put_double(out, event->value);
  PPI_CHROME_PUT(out, "}");
  // Not in args: viewers draw a line for each number there.
  if (event->work)
    ppi_chrome_put_amount(out, ",\"change\":", event->work->bytes);
  if (event->flags & PPROF_FLAG_RESERVED)
    PPI_CHROME_PUT(out, ",\"reserved\":true");
  PPI_CHROME_PUT(out, "}");
}

void ppi_chrome_write_window(ppi_chrome_writer *writer, uint32_t index,
                             bool opens, uint64_t time_ns) {
  ppi_chrome_out *out = &writer->out;
  begin_event(writer);
  PPI_CHROME_PUT(out, "{\"ph\":\"i\",\"s\":\"p\",\"name\":\"window ");
  ppi_chrome_put_u64(out, index);
  ppi_chrome_put_text(out, opens ? " opens" : " closes");
  PPI_CHROME_PUT(out, "\",\"cat\":\"window\",\"ts\":");
  ppi_chrome_put_us(out, time_ns + writer->shift_ns);
  put_place(out, writer->pid, writer->pid);
  PPI_CHROME_PUT(out, "}");
}

static const char *text_of(const ppi_chrome_writer *writer, const char *key) {
  for (size_t i = 0; i < writer->num_texts; i++)
    if (strcmp(writer->texts[i].key, key) == 0) return writer->texts[i].value;
  return NULL;
}

static const char *base_time(const ppi_chrome_writer *writer) {
  const char *text = text_of(writer, "time_base_realtime_ns");
  if (!text || !*text || text[strspn(text, "0123456789")]) return "0";
  return text;
}

void ppi_chrome_write_head(ppi_chrome_writer *writer) {
  ppi_chrome_out *out = &writer->out;
  // The writer's name precedes all events, so the importer need not guess.
  PPI_CHROME_PUT(out,
                 "{\"displayTimeUnit\":\"ns\",\"pprofTrace\":1,"
                 "\"baseTimeNanoseconds\":");
  const char *digits = base_time(writer);
  while (digits[0] == '0' && digits[1]) digits++;
  if (writer->num_runs > 1)
    ppi_chrome_put_u64(out, writer->base_ns);
  else
    ppi_chrome_put_text(out, digits);
  PPI_CHROME_PUT(out, ",\n\"traceEvents\":[\n");
}

static void begin_metadata(ppi_chrome_writer *writer, const char *what,
                           uint32_t pid, uint32_t tid) {
  begin_event(writer);
  PPI_CHROME_PUT(&writer->out, "{\"ph\":\"M\",\"name\":\"");
  ppi_chrome_put_text(&writer->out, what);
  PPI_CHROME_PUT(&writer->out, "\"");
  put_place(&writer->out, pid, tid);
  PPI_CHROME_PUT(&writer->out, ",\"args\":{");
}

static void write_sort_index(ppi_chrome_writer *writer, const char *what,
                             uint32_t pid, uint32_t tid, uint64_t index) {
  begin_metadata(writer, what, pid, tid);
  ppi_chrome_put_field(&writer->out, "\"sort_index\":", index);
  PPI_CHROME_PUT(&writer->out, "}}");
}

static void put_escaped_or_number(ppi_chrome_out *out, const char *text,
                                  const char *fallback, uint64_t number) {
  if (text && *text) {
    ppi_chrome_put_escaped(out, text);
    return;
  }
  ppi_chrome_put_text(out, fallback);
  ppi_chrome_put_u64(out, number);
}

static void write_process(ppi_chrome_writer *writer, uint32_t pid,
                          const char *name, const char *fallback,
                          uint64_t number) {
  begin_metadata(writer, "process_name", pid, 0);
  PPI_CHROME_PUT(&writer->out, "\"name\":\"");
  put_escaped_or_number(&writer->out, name, fallback, number);
  PPI_CHROME_PUT(&writer->out, "\"}}");
  uint64_t index =
      pid < PPI_CHROME_FIRST_DEVICE_PID ? 0 : pid - writer->device_pid + 1;
  write_sort_index(writer, "process_sort_index", pid, 0,
                   writer->process_order + index);
}

uint32_t ppi_chrome_pid_of(const ppi_chrome_writer *writer,
                           const ppi_chrome_group *group) {
  if (group->kind != PPI_CHROME_STREAM) return writer->pid;
  const ppi_chrome_name *stream =
      ppi_chrome_names_get(&writer->names[PPROF_DEFINITION_STREAM], group->id);
  return writer->device_pid + (stream ? stream->parent : 0);
}

static bool has_rows(const ppi_chrome_writer *writer, uint32_t pid) {
  const ppi_chrome_groups *streams = &writer->groups[PPI_CHROME_STREAM];
  for (size_t i = 0; i < streams->num_items; i++) {
    const ppi_chrome_group *group = streams->items[i];
    if (group && group->num_tracks > 0 &&
        ppi_chrome_pid_of(writer, group) == pid)
      return true;
  }
  return false;
}

// Devices without a range are left out, they would be empty rows. Id 0 holds
// streams of a device that was never defined.
static void write_processes(ppi_chrome_writer *writer) {
  write_process(writer, writer->pid, writer->program, "process ",
                writer->own_pid);
  if (writer->label) {
    begin_metadata(writer, "process_labels", writer->pid, 0);
    PPI_CHROME_PUT(&writer->out, "\"labels\":\"");
    ppi_chrome_put_text(&writer->out, writer->label);
    PPI_CHROME_PUT(&writer->out, "\"}}");
  }
  const ppi_chrome_names *devices = &writer->names[PPROF_DEFINITION_DEVICE];
  for (uint32_t i = 0; i < devices->num_items || i == 0; i++) {
    const ppi_chrome_name *device = ppi_chrome_names_get(devices, i);
    if (has_rows(writer, writer->device_pid + i))
      write_process(writer, writer->device_pid + i,
                    device ? device->text : NULL, "device ", i);
  }
}

// The lane of steps has no other ranges, so its row needs no further word.
static const char *suffix_of(const ppi_chrome_group *group) {
  if (group->kind == PPI_CHROME_SUBMIT) return " submit";
  if (group->kind == PPI_CHROME_ASYNC && group->id != 0) return " async";
  return "";
}

static void write_row(ppi_chrome_writer *writer, const ppi_chrome_group *group,
                      size_t at, uint32_t lane, uint64_t index) {
  bool is_stream = group->kind == PPI_CHROME_STREAM;
  const ppi_chrome_name *name = ppi_chrome_names_get(
      &writer
           ->names[is_stream ? PPROF_DEFINITION_STREAM : PPROF_DEFINITION_LANE],
      group->id);
  uint32_t pid = ppi_chrome_pid_of(writer, group);
  uint32_t tid = group->tracks[at].tid;
  begin_metadata(writer, "thread_name", pid, tid);
  PPI_CHROME_PUT(&writer->out, "\"name\":\"");
  put_escaped_or_number(&writer->out, name ? name->text : NULL,
                        is_stream ? "stream " : "thread ",
                        name ? name->number : group->id);
  ppi_chrome_put_text(&writer->out, suffix_of(group));
  if (at > 0) {
    ppi_chrome_put_field(&writer->out, " (", at + 1);
    PPI_CHROME_PUT(&writer->out, ")");
  }
  PPI_CHROME_PUT(&writer->out, "\"");
  if (!is_stream) ppi_chrome_put_field(&writer->out, ",\"lane\":", lane);
  PPI_CHROME_PUT(&writer->out, "}}");
  write_sort_index(writer, "thread_sort_index", pid, tid, index);
}

void ppi_chrome_write_left(ppi_chrome_writer *writer,
                           const ppi_chrome_group *group, uint32_t lane) {
  for (size_t at = 0; at < group->num_tracks; at++)
    write_row(writer, group, at, lane, writer->num_rows++);
}

// A lane's rows stand together: thread, submissions, cross-thread ranges.
static void write_rows(ppi_chrome_writer *writer) {
  size_t num_ids = 0;
  for (size_t kind = 0; kind < PPI_CHROME_NUM_KINDS; kind++)
    if (writer->groups[kind].num_items > num_ids)
      num_ids = writer->groups[kind].num_items;
  uint64_t index = writer->num_rows;
  for (size_t id = 0; id < num_ids; id++) {
    for (size_t kind = 0; kind < PPI_CHROME_NUM_KINDS; kind++) {
      const ppi_chrome_groups *groups = &writer->groups[kind];
      const ppi_chrome_group *group =
          id < groups->num_items ? groups->items[id] : NULL;
      for (size_t at = 0; group && at < group->num_tracks; at++)
        write_row(writer, group, at, (uint32_t)id, index++);
    }
  }
}

static void write_totals(ppi_chrome_writer *writer,
                         const pprof_totals *totals) {
  ppi_chrome_out *out = &writer->out;
  PPI_CHROME_PUT(out, "\"trust\":{");
  for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++) {
    ppi_chrome_put_text(out, key == 0 ? "\n" : ",\n");
    ppi_chrome_put_string(out, ppi_total_name((ppi_total_key)key));
    ppi_chrome_put_field(
        out, ":", ppi_totals_get(totals, PPROF_ALL_LANES, (ppi_total_key)key));
  }
  PPI_CHROME_PUT(out, "},\n\"notes\":[");
  for (size_t i = 0; i < totals->num_notes; i++) {
    ppi_chrome_put_text(out, i == 0 ? "\n\"" : ",\n\"");
    ppi_chrome_put_escaped(out, totals->notes[i].key);
    PPI_CHROME_PUT(out, ": ");
    ppi_chrome_put_escaped(out, totals->notes[i].value);
    PPI_CHROME_PUT(out, "\"");
  }
  PPI_CHROME_PUT(out, "]");
}

// Viewers ignore this event; the importer makes one row of the two names.
void ppi_chrome_write_fold(ppi_chrome_writer *writer, uint32_t site) {
  const ppi_chrome_names *sites = &writer->names[PPROF_DEFINITION_SITE];
  const ppi_chrome_name *name = ppi_chrome_names_get(sites, site);
  const ppi_chrome_name *fold =
      name && name->number && name->number < UINT32_MAX
          ? ppi_chrome_names_get(sites, (uint32_t)name->number)
          : NULL;
  if (!fold) return;
  begin_event(writer);
  PPI_CHROME_PUT(&writer->out, "{\"ph\":\"M\",\"name\":\"pprof_fold\"");
  put_place(&writer->out, writer->pid, 0);
  PPI_CHROME_PUT(&writer->out, ",\"cat\":");
  put_name(writer, PPROF_DEFINITION_CATEGORY, name->parent);
  PPI_CHROME_PUT(&writer->out, ",\"args\":{\"name\":");
  ppi_chrome_put(&writer->out, name->escaped, name->escaped_len);
  PPI_CHROME_PUT(&writer->out, ",\"labels\":");
  ppi_chrome_put(&writer->out, fold->escaped, fold->escaped_len);
  PPI_CHROME_PUT(&writer->out, "}}");
}

void ppi_chrome_write_names(ppi_chrome_writer *writer) {
  write_processes(writer);
  write_rows(writer);
  size_t num = writer->names[PPROF_DEFINITION_SITE].num_items;
  for (uint32_t id = 0; id < num; id++) ppi_chrome_write_fold(writer, id);
}

// Lists all definitions with their numbers; rows omit those without events.
static void write_definitions(ppi_chrome_writer *writer,
                              pprof_definition_kind kind, const char *head) {
  ppi_chrome_out *out = &writer->out;
  const ppi_chrome_names *names = &writer->names[kind];
  const char *separator = "\n";
  ppi_chrome_put_text(out, head);
  for (uint32_t id = 0; id < names->num_items; id++) {
    const ppi_chrome_name *name = ppi_chrome_names_get(names, id);
    if (!name) continue;
    ppi_chrome_put_text(out, separator);
    ppi_chrome_put_field(out, "{\"id\":", id);
    ppi_chrome_put_field(out, ",\"of\":", name->parent);
    ppi_chrome_put_field(out, ",\"number\":", name->number);
    PPI_CHROME_PUT(out, ",\"name\":");
    ppi_chrome_put_string(out, name->text);
    PPI_CHROME_PUT(out, "}");
    separator = ",\n";
  }
  PPI_CHROME_PUT(out, "]");
}

// A run that stopped states its end by its windows, if it had any.
static bool windows_notify_end(const ppi_chrome_writer *writer,
                               const pprof_totals *totals) {
  return writer->has_windows &&
         !ppi_totals_get(totals, PPROF_ALL_LANES, PPI_TOTAL_INCOMPLETE);
}

// The facts of the run, without the braces around them.
static void write_facts(ppi_chrome_writer *writer, const pprof_totals *totals) {
  ppi_chrome_out *out = &writer->out;
  PPI_CHROME_PUT(out, "\"baseTimeNanoseconds\":");
  ppi_chrome_put_string(out, base_time(writer));
  for (size_t i = 0; i < writer->num_texts; i++) {
    PPI_CHROME_PUT(out, ",\n");
    ppi_chrome_put_string(out, writer->texts[i].key);
    PPI_CHROME_PUT(out, ":");
    ppi_chrome_put_string(out, writer->texts[i].value);
  }
  ppi_chrome_put_field(out,
                       ",\n\"counters_not_finite\":", writer->num_not_finite);
  if (writer->num_too_much)
    ppi_chrome_put_field(out,
                         ",\n\"names_not_in_full\":", writer->num_too_much);
  ppi_chrome_put_field(out, ",\n\"shift_ns\":", writer->shift_ns);
  if (totals && writer->reported_until_ns > 0 &&
      !windows_notify_end(writer, totals))
    ppi_chrome_put_field(out,
                         ",\n\"told_until_ns\":", writer->reported_until_ns);
  write_definitions(writer, PPROF_DEFINITION_LANE, ",\n\"lanes\":[");
  write_definitions(writer, PPROF_DEFINITION_DEVICE, ",\n\"devices\":[");
  write_definitions(writer, PPROF_DEFINITION_STREAM, ",\n\"streams\":[");
  PPI_CHROME_PUT(out, ",\n");
  if (totals)
    write_totals(writer, totals);
  else
    PPI_CHROME_PUT(out, "\"notes\":[]");
}

void ppi_chrome_write_run(ppi_chrome_writer *writer,
                          const pprof_totals *totals) {
  begin_metadata(writer, "run", writer->pid, 0);
  write_facts(writer, totals);
  PPI_CHROME_PUT(&writer->out, "}}");
  // The next run's devices and processes come behind this one's.
  uint32_t num = (uint32_t)writer->names[PPROF_DEFINITION_DEVICE].num_items + 1;
  writer->device_pid += num;
  writer->process_order += num + 1;
}

void ppi_chrome_write_tail(ppi_chrome_writer *writer,
                           const pprof_totals *totals) {
  ppi_chrome_out *out = &writer->out;
  PPI_CHROME_PUT(out, "\n],\n\"otherData\":{\n");
  if (writer->num_runs > 1) {
    PPI_CHROME_PUT(out, "\"baseTimeNanoseconds\":\"");
    ppi_chrome_put_u64(out, writer->base_ns);
    ppi_chrome_put_field(out, "\",\n\"runs\":", writer->num_runs);
  } else {
    write_facts(writer, totals);
  }
  PPI_CHROME_PUT(out, "}}\n");
}

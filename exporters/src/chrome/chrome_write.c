// SPDX-License-Identifier: Apache-2.0
//
// Writes events, names and totals as Chrome's JSON, one event a line.
#include "chrome/chrome_write.h"

#include <errno.h>
#include <inttypes.h>

#include "base/mem.h"
#include "chrome/chrome_args.h"

static ppi_page *begin_event(ppi_chrome_writer *writer, const char *phase) {
  ppi_page *out = &writer->out.page;
  writer->first_written = true;
  ppi_put_line(out);
  ppi_put_object(out, NULL);
  ppi_put_text(out, "ph", phase);
  return out;
}

static void put_place(ppi_page *out, uint32_t pid, uint32_t tid) {
  ppi_put_u64(out, "pid", pid);
  ppi_put_u64(out, "tid", tid);
}

// A name that was never defined is shown by its number: its events stay.
static void put_name(ppi_chrome_writer *writer, const char *key,
                     pprof_definition_kind kind, uint32_t id) {
  const ppi_chrome_name *name = ppi_chrome_names_get(&writer->names[kind], id);
  ppi_page *out = &writer->out.page;
  ppi_put_key(out, key);
  if (name && name->escaped)
    ppi_page_bytes(out, name->escaped, name->escaped_len);
  else
    ppi_page_format(out, "\"%s %u\"",
                    kind == PPROF_DEFINITION_SITE ? "site" : "category", id);
}

static void put_time(ppi_chrome_writer *writer, uint64_t ns) {
  ppi_put_us(&writer->out.page, "ts", ns + writer->shift_ns);
}

static void put_site(ppi_chrome_writer *writer, uint32_t site,
                     const pprof_numbers *numbers) {
  const ppi_chrome_name *name =
      ppi_chrome_names_get(&writer->names[PPROF_DEFINITION_SITE], site);
  if (ppi_chrome_is_full(numbers) && name && name->escaped) {
    ppi_put_key(&writer->out.page, "name");
    ppi_chrome_put_full(&writer->out.page, name->escaped, numbers);
  } else {
    put_name(writer, "name", PPROF_DEFINITION_SITE, site);
  }
  put_name(writer, "cat", PPROF_DEFINITION_CATEGORY, name ? name->parent : 0);
}

// With a name in full, `labels` has the site's name, for the importer.
static void put_numbers(ppi_chrome_writer *writer, uint32_t site,
                        const pprof_numbers *numbers) {
  if (!numbers) return;
  ppi_chrome_put_numbers(&writer->out.page, numbers);
  if (ppi_chrome_is_full(numbers))
    put_name(writer, "labels", PPROF_DEFINITION_SITE, site);
}

// ---- slices ----

// Most events are slices, so the text of a site or of a row is made once.

#define MAX_HEAD 1024  // longer ones are made each time
// An upper bound of the fixed part of a slice beside its head.
#define FIXED_LEN 256

static bool make_head(ppi_chrome_name *site, const ppi_chrome_name *category) {
  ppi_page head = {.last = '}'};
  ppi_put_line(&head);
  ppi_put_object(&head, NULL);
  ppi_put_text(&head, "ph", "X");
  ppi_put_key(&head, "name");
  ppi_page_bytes(&head, site->escaped, site->escaped_len);
  ppi_put_key(&head, "cat");
  ppi_page_bytes(&head, category->escaped, category->escaped_len);
  ppi_put_key(&head, "ts");
  if (head.len > MAX_HEAD || !ppi_page_room(&head, PPI_CHROME_COPY_STEP)) {
    ppi_page_clear(&head);
    return false;
  }
  ppi_free(site->head);
  site->head = head.bytes;
  site->head_len = head.len;
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
  ppi_page place = {
      .bytes = track->place, .capacity = sizeof track->place, .last = '0'};
  put_place(&place, pid, track->tid);
  ppi_put_object(&place, "args");
  ppi_put_u64(&place, "window", window);
  track->place_len = (uint32_t)place.len;
  track->place_pid = pid;
  track->place_window = window;
}

// Answers the place of the slice's args.
static char *begin_slice(ppi_chrome_writer *writer,
                         const ppi_chrome_slice *slice, uint32_t pid,
                         ppi_chrome_track *track) {
  ppi_page *out = &writer->out.page;
  bool has_head = writer->first_written && !ppi_chrome_is_full(slice->numbers);
  const ppi_chrome_name *site = has_head ? head_of(writer, slice->site) : NULL;
  char *at;
  if (site) {
    at = ppi_page_room(out, MAX_HEAD + FIXED_LEN);
    at = ppi_chrome_padded_at(at, site->head, site->head_len);
  } else {
    begin_event(writer, "X");
    put_site(writer, slice->site, slice->numbers);
    ppi_put_key(out, "ts");
    at = ppi_page_room(out, FIXED_LEN);
  }
  at = ppi_digits_us(at, slice->start_ns + writer->shift_ns);
  at = PPI_CHROME_AT(at, ",\"dur\":");
  at = ppi_digits_us(at, slice->end_ns - slice->start_ns);
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
  ppi_page *out = &writer->out.page;
  if (!slice->is_submission) return;
  ppi_put_u64(out, "on_stream", slice->stream);
  if (!slice->is_timed) return;
  ppi_put_u64(out, "device_start_ns",
              slice->device_start_ns + writer->shift_ns);
  ppi_put_u64(out, "device_end_ns", slice->device_end_ns + writer->shift_ns);
  ppi_put_u64(out, "device_off_ns", slice->device_error_ns);
}

static void put_args(ppi_chrome_writer *writer, const ppi_chrome_slice *slice) {
  ppi_page *out = &writer->out.page;
  if (slice->depth > 0) ppi_put_u64(out, "depth", slice->depth);
  if (slice->is_async) ppi_put_bool(out, "async", true);
  if (slice->is_step) ppi_put_u64(out, "step", slice->step);
  ppi_chrome_put_flows(out, slice->flows, slice->num_flows);
  ppi_chrome_put_work(out, &slice->work);
  ppi_chrome_put_flags(out, slice->flags);
  put_device(writer, slice);
  ppi_chrome_put_cpu(out, slice->cpu);
  put_numbers(writer, slice->site, slice->numbers);
  if (slice->has_device_error)
    ppi_put_u64(out, "device_error_ns", slice->device_error_ns);
  if (slice->has_queue) ppi_put_u64(out, "queue_ns", slice->queue_ns);
  const ppi_chrome_name *launch = ppi_chrome_names_get(
      &writer->names[PPROF_DEFINITION_ATTRIBUTES], slice->attributes);
  if (launch) ppi_page_text(out, launch->text);
}

// Whether the slice has only the usual args, as most do.
static bool is_plain(const ppi_chrome_slice *slice) {
  bool is_marked = slice->is_step | slice->has_queue | slice->is_async |
                   slice->has_device_error | slice->is_submission;
  return !is_marked && !slice->flags && !slice->num_flows &&
         !slice->work.size && !slice->cpu && !slice->numbers &&
         !slice->attributes;
}

void ppi_chrome_write_slice(ppi_chrome_writer *writer,
                            const ppi_chrome_slice *slice, uint32_t pid,
                            ppi_chrome_track *track) {
  ppi_page *out = &writer->out.page;
  char *at = begin_slice(writer, slice, pid, track);
  if (!is_plain(slice)) {
    ppi_page_advance(out, at);
    put_args(writer, slice);
    ppi_page_text(out, "}}");
    return;
  }
  if (slice->depth > 0) {
    at = PPI_CHROME_AT(at, ",\"depth\":");
    at = ppi_digits_u64(at, slice->depth);
  }
  ppi_page_advance(out, PPI_CHROME_AT(at, "}}"));
}

typedef struct arrow {
  const char *what;  // name and category
  uint64_t from_ns, to_ns;
  uint32_t from_pid, from_tid, to_pid, to_tid;
} arrow;

static void write_arrow_end(ppi_chrome_writer *writer, const arrow *of,
                            uint64_t id, bool is_start) {
  ppi_page *out = begin_event(writer, is_start ? "s" : "f");
  if (!is_start) ppi_put_text(out, "bp", "e");
  ppi_put_text(out, "name", of->what);
  ppi_put_text(out, "cat", of->what);
  ppi_put_u64(out, "id", id);
  put_time(writer, is_start ? of->from_ns : of->to_ns);
  put_place(out, is_start ? of->from_pid : of->to_pid,
            is_start ? of->from_tid : of->to_tid);
  ppi_page_text(out, "}");
}

static void write_arrow(ppi_chrome_writer *writer, const arrow *of) {
  uint64_t id = writer->flows.next_id++;
  write_arrow_end(writer, of, id, true);
  write_arrow_end(writer, of, id, false);
}

void ppi_chrome_write_launch(ppi_chrome_writer *writer,
                             const ppi_chrome_slice *slice, uint32_t from_tid,
                             uint32_t pid, uint32_t tid) {
  write_arrow(writer,
              &(arrow){"launch", slice->start_ns - slice->queue_ns,
                       slice->start_ns, writer->pid, from_tid, pid, tid});
}

void ppi_chrome_write_wake(ppi_chrome_writer *writer,
                           const ppi_chrome_slice *slice, uint32_t pid,
                           uint32_t tid) {
  write_arrow(writer, &(arrow){"wake", slice->end_ns, slice->end_ns, pid,
                               slice->woken_by, pid, tid});
}

void ppi_chrome_write_mark(ppi_chrome_writer *writer, const pprof_event *event,
                           uint32_t tid) {
  ppi_page *out = begin_event(writer, "i");
  ppi_put_text(out, "s", "t");
  put_site(writer, event->site, event->numbers);
  put_time(writer, event->start_ns);
  put_place(out, writer->pid, tid);
  ppi_put_object(out, "args");
  ppi_put_u64(out, "window", event->window);
  if (event->depth > 0) ppi_put_u64(out, "depth", event->depth);
  ppi_chrome_put_flows(out, event->flows, event->num_flows);
  if (event->work) ppi_chrome_put_work(out, event->work);
  ppi_chrome_put_amount(out, "value", event->value);
  ppi_chrome_put_flags(out, event->flags);
  put_numbers(writer, event->site, event->numbers);
  ppi_page_text(out, "}}");
}

void ppi_chrome_write_counter(ppi_chrome_writer *writer,
                              const pprof_event *event, uint32_t tid) {
  ppi_page *out = begin_event(writer, "C");
  put_site(writer, event->site, NULL);
  put_time(writer, event->start_ns);
  put_place(out, writer->pid, tid);
  ppi_put_object(out, "args");
  ppi_put_key(out, "value");
  ppi_page_exact(out, event->value);
  ppi_page_text(out, "}");
  // Not in args: viewers draw a line for each number there.
  if (event->work) ppi_chrome_put_amount(out, "change", event->work->bytes);
  if (event->flags & PPROF_FLAG_RESERVED) ppi_put_bool(out, "reserved", true);
  ppi_page_text(out, "}");
}

void ppi_chrome_write_window(ppi_chrome_writer *writer, uint32_t index,
                             bool opens, uint64_t time_ns) {
  ppi_page *out = begin_event(writer, "i");
  ppi_put_text(out, "s", "p");
  ppi_put_key(out, "name");
  ppi_page_format(out, "\"window %u %s\"", index, opens ? "opens" : "closes");
  ppi_put_text(out, "cat", "window");
  put_time(writer, time_ns);
  put_place(out, writer->pid, writer->pid);
  ppi_page_text(out, "}");
}

static const char *base_time(const ppi_chrome_writer *writer) {
  const char *text = "";
  for (size_t i = 0; i < writer->texts.num; i++)
    if (strcmp(writer->texts.items[i].key, "time_base_realtime_ns") == 0)
      text = writer->texts.items[i].value;
  return *text && !text[strspn(text, "0123456789")] ? text : "0";
}

void ppi_chrome_write_head(ppi_chrome_writer *writer) {
  ppi_page *out = &writer->out.page;
  // The writer's name precedes all events, so the importer need not guess.
  ppi_put_object(out, NULL);
  ppi_put_text(out, "displayTimeUnit", "ns");
  ppi_put_u64(out, "pprofTrace", 1);
  ppi_put_key(out, "baseTimeNanoseconds");
  const char *digits = base_time(writer);
  while (digits[0] == '0' && digits[1]) digits++;
  if (writer->num_runs > 1)
    ppi_page_u64(out, writer->base_ns);
  else
    ppi_page_text(out, digits);
  ppi_put_line(out);
  ppi_put_array(out, "traceEvents");
  ppi_put_line(out);
}

static ppi_page *begin_metadata(ppi_chrome_writer *writer, const char *what,
                                uint32_t pid, uint32_t tid) {
  ppi_page *out = begin_event(writer, "M");
  ppi_put_text(out, "name", what);
  put_place(out, pid, tid);
  ppi_put_object(out, "args");
  return out;
}

void ppi_chrome_write_checkpoint(ppi_chrome_writer *writer) {
  ppi_page *out = begin_metadata(writer, "checkpoint", writer->pid, 0);
  ppi_put_u64(out, "time_ns", writer->reported_until_ns + writer->shift_ns);
  ppi_page_text(out, "}}");
}

static void write_sort_index(ppi_chrome_writer *writer, const char *what,
                             uint32_t pid, uint32_t tid, uint64_t index) {
  ppi_page *out = begin_metadata(writer, what, pid, tid);
  ppi_put_u64(out, "sort_index", index);
  ppi_page_text(out, "}}");
}

static void put_name_or_number(ppi_page *text, const char *name,
                               const char *fallback, uint64_t number) {
  if (name && *name)
    ppi_page_text(text, name);
  else
    ppi_page_format(text, "%s %" PRIu64, fallback, number);
}

// Puts `text` under "name", and clears it.
static void put_made(ppi_chrome_writer *writer, ppi_page *text) {
  if (text->failed) ppi_chrome_out_fail(&writer->out, ENOMEM);
  ppi_put_text(&writer->out.page, "name", text->failed ? "" : text->bytes);
  ppi_page_clear(text);
}

static void write_process(ppi_chrome_writer *writer, uint32_t pid,
                          const char *name, const char *fallback,
                          uint64_t number) {
  ppi_page text = {0};
  ppi_page *out = begin_metadata(writer, "process_name", pid, 0);
  put_name_or_number(&text, name, fallback, number);
  put_made(writer, &text);
  ppi_page_text(out, "}}");
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
    if (!group || !group->num_tracks) continue;
    if (ppi_chrome_pid_of(writer, group) == pid) return true;
  }
  return false;
}

// Devices without a range are left out, they would be empty rows. Id 0 holds
// streams of a device that was never defined.
static void write_processes(ppi_chrome_writer *writer) {
  write_process(writer, writer->pid, writer->program, "process",
                writer->own_pid);
  if (writer->label) {
    ppi_page *out = begin_metadata(writer, "process_labels", writer->pid, 0);
    ppi_put_text(out, "labels", writer->label);
    ppi_page_text(out, "}}");
  }
  const ppi_chrome_names *devices = &writer->names[PPROF_DEFINITION_DEVICE];
  for (uint32_t i = 0; i < devices->num_items || i == 0; i++) {
    const ppi_chrome_name *device = ppi_chrome_names_get(devices, i);
    if (has_rows(writer, writer->device_pid + i))
      write_process(writer, writer->device_pid + i,
                    device ? device->text : NULL, "device", i);
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
  const ppi_chrome_names *names =
      &writer
           ->names[is_stream ? PPROF_DEFINITION_STREAM : PPROF_DEFINITION_LANE];
  const ppi_chrome_name *name = ppi_chrome_names_get(names, group->id);
  uint32_t pid = ppi_chrome_pid_of(writer, group);
  uint32_t tid = group->tracks[at].tid;
  ppi_page text = {0};
  ppi_page *out = begin_metadata(writer, "thread_name", pid, tid);
  put_name_or_number(&text, name ? name->text : NULL,
                     is_stream ? "stream" : "thread",
                     name ? name->number : group->id);
  ppi_page_text(&text, suffix_of(group));
  if (at > 0) ppi_page_format(&text, " (%zu)", at + 1);
  put_made(writer, &text);
  if (!is_stream) ppi_put_u64(out, "lane", lane);
  ppi_page_text(out, "}}");
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
    num_ids = PPI_MAX(num_ids, writer->groups[kind].num_items);
  uint64_t index = writer->num_rows;
  for (size_t id = 0; id < num_ids; id++)
    for (size_t kind = 0; kind < PPI_CHROME_NUM_KINDS; kind++) {
      const ppi_chrome_groups *groups = &writer->groups[kind];
      const ppi_chrome_group *group =
          id < groups->num_items ? groups->items[id] : NULL;
      for (size_t at = 0; group && at < group->num_tracks; at++)
        write_row(writer, group, at, (uint32_t)id, index++);
    }
}

static void put_fact(ppi_page *out, const char *key, uint64_t value) {
  ppi_put_line(out);
  ppi_put_u64(out, key, value);
}

static void write_totals(ppi_chrome_writer *writer,
                         const pprof_totals *totals) {
  ppi_page *out = &writer->out.page;
  ppi_put_line(out);
  ppi_put_object(out, "trust");
  for (ppi_total_key key = 0; key < PPI_NUM_TOTALS; key++)
    put_fact(out, ppi_total_name(key),
             ppi_totals_get(totals, PPROF_ALL_LANES, key));
  ppi_page_text(out, "}");
}

static void write_notes(ppi_chrome_writer *writer, const pprof_totals *totals) {
  ppi_page *out = &writer->out.page;
  ppi_put_line(out);
  ppi_put_array(out, "notes");
  for (size_t i = 0; totals && i < totals->num_notes; i++) {
    ppi_page text = {0};
    ppi_page_format(&text, "%s: %s", totals->notes[i].key,
                    totals->notes[i].value);
    ppi_put_line(out);
    if (text.failed) ppi_chrome_out_fail(&writer->out, ENOMEM);
    ppi_put_text(out, NULL, text.bytes);
    ppi_page_clear(&text);
  }
  ppi_page_text(out, "]");
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
  ppi_page *out = begin_event(writer, "M");
  ppi_put_text(out, "name", "pprof_fold");
  put_place(out, writer->pid, 0);
  put_name(writer, "cat", PPROF_DEFINITION_CATEGORY, name->parent);
  ppi_put_object(out, "args");
  put_name(writer, "name", PPROF_DEFINITION_SITE, site);
  put_name(writer, "labels", PPROF_DEFINITION_SITE, (uint32_t)name->number);
  ppi_page_text(out, "}}");
}

void ppi_chrome_write_names(ppi_chrome_writer *writer) {
  write_processes(writer);
  write_rows(writer);
  size_t num = writer->names[PPROF_DEFINITION_SITE].num_items;
  for (uint32_t id = 0; id < num; id++) ppi_chrome_write_fold(writer, id);
}

// Lists all definitions with their numbers; rows omit those without events.
static void write_definitions(ppi_chrome_writer *writer,
                              pprof_definition_kind kind, const char *key) {
  ppi_page *out = &writer->out.page;
  const ppi_chrome_names *names = &writer->names[kind];
  ppi_put_line(out);
  ppi_put_array(out, key);
  for (uint32_t id = 0; id < names->num_items; id++) {
    const ppi_chrome_name *name = ppi_chrome_names_get(names, id);
    if (!name) continue;
    ppi_put_line(out);
    ppi_put_object(out, NULL);
    ppi_put_u64(out, "id", id);
    ppi_put_u64(out, "of", name->parent);
    ppi_put_u64(out, "number", name->number);
    ppi_put_text(out, "name", name->text);
    ppi_page_text(out, "}");
  }
  ppi_page_text(out, "]");
}

// A run that stopped states its end by its windows, if it had any.
static bool windows_notify_end(const ppi_chrome_writer *writer,
                               const pprof_totals *totals) {
  return writer->has_windows &&
         !ppi_totals_get(totals, PPROF_ALL_LANES, PPI_TOTAL_INCOMPLETE);
}

// The facts of the run, without the braces around them.
static void write_facts(ppi_chrome_writer *writer, const pprof_totals *totals) {
  ppi_page *out = &writer->out.page;
  ppi_put_text(out, "baseTimeNanoseconds", base_time(writer));
  for (size_t i = 0; i < writer->texts.num; i++) {
    ppi_put_line(out);
    ppi_put_text(out, NULL, writer->texts.items[i].key);
    ppi_page_text(out, ":");
    ppi_page_json(out, writer->texts.items[i].value);
  }
  put_fact(out, "counters_not_finite", writer->num_not_finite);
  if (writer->num_too_much)
    put_fact(out, "names_not_in_full", writer->num_too_much);
  put_fact(out, "shift_ns", writer->shift_ns);
  if (totals && writer->reported_until_ns > 0 &&
      !windows_notify_end(writer, totals))
    put_fact(out, "told_until_ns", writer->reported_until_ns);
  write_definitions(writer, PPROF_DEFINITION_LANE, "lanes");
  write_definitions(writer, PPROF_DEFINITION_DEVICE, "devices");
  write_definitions(writer, PPROF_DEFINITION_STREAM, "streams");
  if (totals) write_totals(writer, totals);
  write_notes(writer, totals);
}

void ppi_chrome_write_run(ppi_chrome_writer *writer,
                          const pprof_totals *totals) {
  begin_metadata(writer, "run", writer->pid, 0);
  write_facts(writer, totals);
  ppi_page_text(&writer->out.page, "}}");
  // The next run's devices and processes come behind this one's.
  uint32_t num = (uint32_t)writer->names[PPROF_DEFINITION_DEVICE].num_items + 1;
  writer->device_pid += num;
  writer->process_order += num + 1;
}

void ppi_chrome_write_tail(ppi_chrome_writer *writer,
                           const pprof_totals *totals) {
  ppi_page *out = &writer->out.page;
  ppi_page_text(out, "\n],\n");
  ppi_put_object(out, "otherData");
  ppi_put_line(out);
  if (writer->num_runs > 1) {
    ppi_put_key(out, "baseTimeNanoseconds");
    ppi_page_format(out, "\"%" PRIu64 "\"", writer->base_ns);
    put_fact(out, "runs", writer->num_runs);
  } else {
    write_facts(writer, totals);
  }
  ppi_page_text(out, "}}\n");
}

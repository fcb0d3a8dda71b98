// SPDX-License-Identifier: Apache-2.0
//
// Sorts calls to the session's sinks by window on the collector's thread, and
// repeats earlier definitions for a window's sinks.
#include "window/window_sinks.h"

#include "base/base.h"
#include "base/map.h"
#include "base/mem.h"
#include "window/window_queue.h"

// The most checkpoints in a row for the rest of a closed window: whole ones,
// and all. Missing ranges then wait for the next regular checkpoint.
#define TRIES 8u
#define LOOKS 200u

struct ppi_window_sinks {
  pprof_sink base;
  ppi_window_source source;
  ppi_window_maker makers[PPI_MAX_WINDOW_MAKERS];
  size_t num_makers;
  ppi_texts info;
  ppi_map definition_ids;
  pprof_definition *definitions;  // in the order in which they first came
  size_t num_definitions, definitions_capacity;
  ppi_window_feed *feeds;  // oldest first; not in the queue yet
  size_t num_feeds;
  pprof_event *picked;
  size_t picked_capacity;
  ppi_counts at_edge;  // when the last window closed
  uint64_t edge_ns, checkpoint_ns;
  uint32_t tries, looks;
  bool has_skipped, is_buffered;
  uint64_t num_missed;  // of windows in the queue and behind it
  ppi_window_queue queue;
};

static ppi_window_sinks *windows_of(pprof_sink *sink) {
  return (ppi_window_sinks *)(void *)sink;
}

// ---- what late-comers get ----

static pprof_status begin(pprof_sink *sink, const pprof_run_info *info) {
  ppi_window_sinks *windows = windows_of(sink);
  if (!ppi_texts_join(&windows->info, info->texts, info->num_texts))
    return PPROF_STATUS_NO_MEMORY;
  return ppi_window_queue_start(&windows->queue, windows->makers,
                                windows->num_makers);
}

static pprof_status remember(ppi_window_sinks *windows,
                             const pprof_definition *definition) {
  ppi_map_key key = {definition->kind, definition->id};
  size_t at = ppi_map_number(&windows->definition_ids, key);
  if (at == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
  if (!PPI_REACH(windows->definitions, windows->num_definitions,
                 windows->definitions_capacity, (size_t)at + 1))
    return PPROF_STATUS_NO_MEMORY;
  return ppi_definition_keep(&windows->definitions[at], definition)
             ? PPROF_STATUS_OK
             : PPROF_STATUS_NO_MEMORY;
}

static pprof_status define(pprof_sink *sink,
                           const pprof_definition *definition) {
  ppi_window_sinks *windows = windows_of(sink);
  pprof_status status = remember(windows, definition);
  for (ppi_window_feed *f = windows->feeds; f; f = f->next)
    f->tee.base.define(&f->tee.base, definition);
  return status;
}

static void catch_up(ppi_window_sinks *windows, ppi_window_feed *feed) {
  pprof_sink *sink = &feed->tee.base;
  // The ring in the spool is for the session's own log.
  pprof_run_info info = {windows->info.items, windows->info.num, NULL};
  sink->begin(sink, &info);
  // A site's id may be another's by now, in a category that came later.
  for (int sites = 0; sites < 2; sites++)
    for (size_t i = 0; i < windows->num_definitions; i++) {
      const pprof_definition *known = &windows->definitions[i];
      if ((known->kind == PPROF_DEFINITION_SITE) == sites)
        sink->define(sink, known);
    }
  sink->ready(sink);
}

// ---- windows ----

static pprof_status count(ppi_window_sinks *windows, ppi_counts *out) {
  *out = (ppi_counts){0};
  if (!windows->source.count) return PPROF_STATUS_OK;
  return windows->source.count(windows->source.user, out);
}

// Nothing counted lies between adjacent windows. Figures of a window without
// sinks are not needed.
static pprof_status count_at_opening(ppi_window_sinks *windows,
                                     uint64_t time_ns, ppi_window_feed *feed) {
  ppi_counts *out = &feed->before;
  if (feed->tee.num_sinks == 0) return PPROF_STATUS_OK;
  if (windows->edge_ns != time_ns || time_ns == 0) return count(windows, out);
  *out = windows->at_edge;
  windows->at_edge = (ppi_counts){0};
  windows->edge_ns = 0;
  return PPROF_STATUS_OK;
}

static void ask_makers(ppi_window_sinks *windows, ppi_window_feed *feed) {
  for (size_t i = 0; i < windows->num_makers; i++) {
    const ppi_window_maker *maker = &windows->makers[i];
    pprof_sink *sink = maker->open(maker->user, feed->index);
    if (!sink) continue;
    pprof_status status = ppi_tee_add(&feed->tee, sink);
    if (status == PPROF_STATUS_OK)
      feed->places[i] = feed->tee.num_sinks;
    else
      ppi_window_queue_fail(&windows->queue, status);
  }
}

static void append_feed(ppi_window_sinks *windows, ppi_window_feed *feed) {
  ppi_window_feed **end = &windows->feeds;
  while (*end) end = &(*end)->next;
  *end = feed;
  windows->num_feeds++;
}

static void skip_window(ppi_window_sinks *windows, uint32_t index) {
  bool is_first = !windows->has_skipped;
  windows->has_skipped = true;
  if (is_first && windows->source.skipped)
    windows->source.skipped(windows->source.user);
  for (size_t i = 0; i < windows->num_makers; i++)
    if (windows->makers[i].skipped)
      windows->makers[i].skipped(windows->makers[i].user, index);
}

static pprof_status open_window(ppi_window_sinks *windows, uint32_t index,
                                uint64_t time_ns) {
  if (windows->num_feeds + ppi_window_queue_len(&windows->queue) >=
      PPI_MAX_WINDOWS_WAITING) {
    skip_window(windows, index);
    return PPROF_STATUS_OK;
  }
  ppi_window_feed *feed = ppi_alloc(sizeof *feed);
  if (!feed) return PPROF_STATUS_NO_MEMORY;
  ppi_tee_init(&feed->tee);
  feed->index = index;
  ask_makers(windows, feed);
  feed->status = count_at_opening(windows, time_ns, feed);
  append_feed(windows, feed);
  catch_up(windows, feed);
  return feed->tee.base.window(&feed->tee.base, index, true, time_ns);
}

static void note_failure(ppi_window_feed *feed, pprof_status status) {
  if (feed->status == PPROF_STATUS_OK) feed->status = status;
}

static void count_at_closing(ppi_window_sinks *windows, uint64_t time_ns,
                             ppi_window_feed *feed) {
  ppi_counts_clear(&windows->at_edge);
  windows->edge_ns = 0;
  if (feed->tee.num_sinks == 0) return;
  note_failure(feed, count(windows, &windows->at_edge));
  note_failure(feed, ppi_window_feed_count(feed, &windows->at_edge));
  windows->edge_ns = time_ns;
}

static pprof_status close_window(ppi_window_sinks *windows,
                                 ppi_window_feed *feed, uint64_t time_ns) {
  count_at_closing(windows, time_ns, feed);
  feed->close_ns = time_ns;
  feed->is_closed = true;
  windows->tries = TRIES;
  windows->looks = LOOKS;
  return feed->tee.base.window(&feed->tee.base, feed->index, false, time_ns);
}

static pprof_status window(pprof_sink *sink, uint32_t index, bool opens,
                           uint64_t time_ns) {
  ppi_window_sinks *windows = windows_of(sink);
  if (opens) return open_window(windows, index, time_ns);
  for (ppi_window_feed *f = windows->feeds; f; f = f->next)
    if (f->index == index && !f->is_closed)
      return close_window(windows, f, time_ns);
  return PPROF_STATUS_OK;
}

// ---- events ----

static pprof_status note_given(ppi_window_feed *feed,
                               const pprof_batch *batch) {
  if (!PPI_REACH(feed->given, feed->num_given, feed->given_capacity,
                 (size_t)batch->lane + 1))
    return PPROF_STATUS_NO_MEMORY;
  feed->given[batch->lane] = batch->end_seq;
  return PPROF_STATUS_OK;
}

static void give(ppi_window_feed *feed, const pprof_batch *batch) {
  note_failure(feed, ppi_tally_batch(&feed->tally, batch));
  note_failure(feed, note_given(feed, batch));
  for (size_t i = 0; i < batch->num_events; i++)
    feed->clock_error_ns = PPI_MAX(feed->clock_error_ns,
                                   pprof_batch_at(batch, i)->device_error_ns);
  feed->tee.base.events(&feed->tee.base, batch);
}

static pprof_status give_part(ppi_window_sinks *windows, ppi_window_feed *feed,
                              const pprof_batch *batch) {
  if (!PPI_ROOM(windows->picked, windows->picked_capacity, batch->num_events))
    return PPROF_STATUS_NO_MEMORY;
  pprof_batch part = *batch;
  part.events = windows->picked;
  part.stride = sizeof *windows->picked;
  part.num_events = 0;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->window == feed->index)
      windows->picked[part.num_events++] = *event;
  }
  if (part.num_events > 0) give(feed, &part);
  return PPROF_STATUS_OK;
}

static bool has_sinks(const ppi_window_sinks *windows) {
  for (const ppi_window_feed *f = windows->feeds; f; f = f->next)
    if (f->tee.num_sinks > 0) return true;
  return false;
}

// Nearly every batch is of one window.
static pprof_status events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_window_sinks *windows = windows_of(sink);
  if (!has_sinks(windows)) return PPROF_STATUS_OK;
  uint32_t least = UINT32_MAX, most = 0;
  for (size_t i = 0; i < batch->num_events; i++) {
    uint32_t index = pprof_batch_at(batch, i)->window;
    least = PPI_MIN(least, index);
    most = PPI_MAX(most, index);
  }
  for (ppi_window_feed *f = windows->feeds; f; f = f->next) {
    bool wants = f->tee.num_sinks > 0;
    if (!wants || f->index < least || f->index > most) continue;
    if (least == most)
      give(f, batch);
    else
      note_failure(f, give_part(windows, f, batch));
  }
  return PPROF_STATUS_OK;
}

// ---- completion ----

static void note_missed(ppi_window_sinks *windows, ppi_window_feed *feed) {
  char text[512];
  ppi_tee_settle(&feed->tee);
  windows->num_missed += ppi_tee_num_missed(&feed->tee);
  for (size_t i = 0; i < feed->tee.num_sinks; i++)
    if (ppi_tee_describe_missed(&feed->tee, i, text, sizeof text) &&
        !ppi_texts_add(&feed->notes, "missed", text))
      note_failure(feed, PPROF_STATUS_NO_MEMORY);
}

static void hand_over(ppi_window_sinks *windows, const ppi_counts *now,
                      const ppi_text *notes, size_t num_notes) {
  ppi_window_feed *feed = windows->feeds;
  windows->feeds = feed->next;
  windows->num_feeds--;
  note_failure(feed, ppi_window_feed_total(feed, now));
  if (!ppi_texts_join(&feed->notes, notes, num_notes))
    note_failure(feed, PPROF_STATUS_NO_MEMORY);
  note_missed(windows, feed);
  ppi_window_queue_put(&windows->queue, feed);
}

static void hand_over_done(ppi_window_sinks *windows) {
  if (!windows->feeds || !windows->feeds->is_done) return;
  const ppi_window_source *source = &windows->source;
  ppi_counts now;
  pprof_status status = count(windows, &now);
  ppi_texts notes = {0};
  if (source->note && !source->note(source->user, &notes))
    status = PPROF_STATUS_NO_MEMORY;
  while (windows->feeds && windows->feeds->is_done) {
    note_failure(windows->feeds, status);
    hand_over(windows, &now, notes.items, notes.num);
  }
  ppi_counts_clear(&now);
  ppi_texts_clear(&notes);
}

static pprof_status notify_checkpoint(ppi_window_sinks *windows,
                                      ppi_window_feed *feed,
                                      const pprof_checkpoint *checkpoint,
                                      size_t *out_num_open) {
  if (!PPI_ROOM(windows->picked, windows->picked_capacity,
                checkpoint->num_open + 1))
    return PPROF_STATUS_NO_MEMORY;
  size_t num = 0;
  for (size_t i = 0; i < checkpoint->num_open; i++)
    if (checkpoint->open[i].window == feed->index)
      windows->picked[num++] = checkpoint->open[i];
  pprof_checkpoint part = {checkpoint->time_ns, windows->picked, num};
  *out_num_open = num;
  return feed->tee.base.checkpoint(&feed->tee.base, &part);
}

static void spend_look(ppi_window_sinks *windows, bool is_awaited,
                       bool is_whole) {
  if (windows->looks) windows->looks--;
  if (windows->tries && is_whole) windows->tries--;
  if (!is_awaited || !windows->looks) windows->tries = 0;
}

// A checkpoint that does not advance may be incomplete, and promises nothing.
static pprof_status take_checkpoint(pprof_sink *sink,
                                    const pprof_checkpoint *checkpoint) {
  ppi_window_sinks *windows = windows_of(sink);
  bool advances = checkpoint->time_ns > windows->checkpoint_ns;
  bool is_awaited = false;
  for (ppi_window_feed *f = windows->feeds; f; f = f->next) {
    size_t num_open = 0;
    PPI_TRY(notify_checkpoint(windows, f, checkpoint, &num_open));
    if (advances && f->is_closed && f->close_ns <= checkpoint->time_ns &&
        num_open == 0)
      f->is_done = true;
    is_awaited |= f->is_closed && !f->is_done;
  }
  windows->checkpoint_ns = PPI_MAX(windows->checkpoint_ns, checkpoint->time_ns);
  spend_look(windows, is_awaited, advances);
  hand_over_done(windows);
  return PPROF_STATUS_OK;
}

static pprof_status finish(pprof_sink *sink, const pprof_totals *totals) {
  ppi_window_sinks *windows = windows_of(sink);
  ppi_counts now;
  pprof_status status = count(windows, &now);
  while (windows->feeds) {
    ppi_window_feed *feed = windows->feeds;
    note_failure(feed, status);
    if (!feed->is_closed) note_failure(feed, ppi_window_feed_count(feed, &now));
    hand_over(windows, &now, totals->notes, totals->num_notes);
  }
  ppi_counts_clear(&now);
  return ppi_window_queue_end(&windows->queue);
}

// ---- the rest of the sink ----

// Only input of a window's sinks waits for them; windows on the completion
// thread wait for nothing.
static bool kept(pprof_sink *sink, uint32_t lane, uint64_t *out_seq) {
  const ppi_window_sinks *windows = windows_of(sink);
  *out_seq = UINT64_MAX;
  for (ppi_window_feed *f = windows->feeds; f; f = f->next) {
    uint64_t seq = 0;
    if (lane >= f->num_given || !f->given[lane]) continue;
    if (f->tee.base.kept(&f->tee.base, lane, &seq) && seq < f->given[lane])
      *out_seq = PPI_MIN(*out_seq, seq);
  }
  return true;
}

// Sinks of one window without room delay no other window's.
static bool ready(pprof_sink *sink) {
  ppi_window_sinks *windows = windows_of(sink);
  windows->is_buffered = false;
  for (ppi_window_feed *f = windows->feeds; f; f = f->next)
    if (!f->tee.base.ready(&f->tee.base)) windows->is_buffered = true;
  return true;
}

bool ppi_window_sinks_have_room(const ppi_window_sinks *windows) {
  return !windows->is_buffered;
}

uint64_t ppi_window_sinks_num_missed(const ppi_window_sinks *windows) {
  uint64_t sum = windows->num_missed;
  for (const ppi_window_feed *f = windows->feeds; f; f = f->next)
    sum += ppi_tee_num_missed(&f->tee);
  return sum;
}

static void destroy_feeds(ppi_window_sinks *windows) {
  while (windows->feeds) {
    ppi_window_feed *next = windows->feeds->next;
    ppi_window_feed_destroy(windows->feeds);
    windows->feeds = next;
  }
}

static void destroy(pprof_sink *sink) {
  ppi_window_sinks *windows = windows_of(sink);
  ppi_window_queue_end(&windows->queue);
  destroy_feeds(windows);
  for (size_t i = 0; i < windows->num_makers; i++)
    if (windows->makers[i].destroy)
      windows->makers[i].destroy(windows->makers[i].user);
  ppi_texts_clear(&windows->info);
  ppi_map_clear(&windows->definition_ids);
  for (size_t i = 0; i < windows->num_definitions; i++)
    ppi_free((char *)windows->definitions[i].name);
  ppi_free(windows->definitions);
  ppi_free(windows->picked);
  ppi_counts_clear(&windows->at_edge);
  ppi_window_queue_destroy(&windows->queue);
  ppi_free(windows);
}

pprof_status ppi_window_sinks_create(const ppi_window_source *source,
                                     ppi_window_sinks **out) {
  ppi_window_sinks *windows = ppi_alloc(sizeof *windows);
  if (!windows) return PPROF_STATUS_NO_MEMORY;
  windows->base = (pprof_sink){.size = sizeof windows->base,
                               .begin = begin,
                               .define = define,
                               .events = events,
                               .checkpoint = take_checkpoint,
                               .window = window,
                               .finish = finish,
                               .kept = kept,
                               .destroy = destroy,
                               .ready = ready};
  if (source) windows->source = *source;
  ppi_window_queue_init(&windows->queue);
  *out = windows;
  return PPROF_STATUS_OK;
}

pprof_sink *ppi_window_sinks_sink(ppi_window_sinks *windows) {
  return &windows->base;
}

ppi_window_sinks *ppi_window_sinks_of(pprof_sink *sink) {
  return sink->begin == begin ? windows_of(sink) : NULL;
}

pprof_status ppi_window_sinks_add(ppi_window_sinks *windows,
                                  const ppi_window_maker *maker) {
  if (windows->num_makers == PPI_MAX_WINDOW_MAKERS) return PPROF_STATUS_BUSY;
  windows->makers[windows->num_makers++] = *maker;
  return PPROF_STATUS_OK;
}

void *ppi_window_sinks_user(const ppi_window_sinks *windows,
                            void (*complete)(void *, uint32_t, pprof_sink *,
                                             pprof_status)) {
  for (size_t i = 0; i < windows->num_makers; i++)
    if (windows->makers[i].complete == complete) return windows->makers[i].user;
  return NULL;
}

void ppi_window_sinks_fail(ppi_window_sinks *windows, pprof_status status) {
  ppi_window_queue_fail(&windows->queue, status);
}

bool ppi_window_sinks_awaits(const ppi_window_sinks *windows) {
  return windows->tries > 0;
}

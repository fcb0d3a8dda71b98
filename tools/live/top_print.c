// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows of `top`, one for each stage of each process, and prints them.
// Lines are no longer than the screen is wide: a terminal would break longer
// ones.
#include "live/top_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/say.h"
#include "file/json_put.h"
#include "view/grid.h"

// ---- rows ----

typedef struct top_row {
  const struct ppi_live_process *process;
  const ppi_live_row *row;
  ppi_live_change change;      // in the window
  double rate, busy;           // a second; of one core, or of the stream
  uint64_t num_open, open_ns;  // since the oldest began
  const ppi_live_open *oldest;
  bool is_stuck;  // open for a second and ten times its longest call
} top_row;

const char *const ppi_top_sort_names[PPI_TOP_NUM_SORTS] = {
    "time", "rate", "p50", "p99", "name"};

static enum ppi_top_sort sorted_by;

static int compare_numbers(double a, double b) {
  return a > b ? -1 : a < b;
}

static int compare(const void *a, const void *b) {
  const top_row *x = a, *y = b;
  int order = 0;
  if (x->is_stuck != y->is_stuck) return x->is_stuck ? -1 : 1;
  if (x->is_stuck && x->open_ns != y->open_ns)
    return x->open_ns > y->open_ns ? -1 : 1;
  if (sorted_by == PPI_TOP_BY_TIME) order = compare_numbers(x->busy, y->busy);
  if (sorted_by == PPI_TOP_BY_RATE) order = compare_numbers(x->rate, y->rate);
  if (sorted_by == PPI_TOP_BY_P50)
    order = compare_numbers((double)x->change.p50_ns, (double)y->change.p50_ns);
  if (sorted_by == PPI_TOP_BY_P99)
    order = compare_numbers((double)x->change.p99_ns, (double)y->change.p99_ns);
  if (!order) order = strcmp(x->row->name, y->row->name);
  if (!order) order = (int)x->row->is_device - (int)y->row->is_device;
  return order ? order
               : (x->process->pid > y->process->pid) -
                     (x->process->pid < y->process->pid);
}

static void take_open(const ppi_live_view *view, size_t place,
                      uint64_t realtime_ns, top_row *out) {
  const ppi_live_header *header = &view->header;
  const uint64_t now_ns = realtime_ns > header->start_realtime_ns
                              ? realtime_ns - header->start_realtime_ns
                              : 0;
  for (uint32_t i = 0; i < header->num_open; i++) {
    const ppi_live_open *one = &header->open[i];
    if (!one->is_used || one->row != place + 1) continue;
    if (!out->oldest) out->oldest = one;
    out->num_open++;
  }
  if (!out->oldest) return;
  if (now_ns > out->oldest->start_ns)
    out->open_ns = now_ns - out->oldest->start_ns;
  const uint64_t longest = out->row->max_ns;
  out->is_stuck =
      longest && out->open_ns > 1000000000u && out->open_ns / 10 > longest;
}

static bool is_wanted(const top_row *row, const char *filter) {
  return (row->change.num || row->num_open) &&
         (!filter[0] || strstr(row->row->name, filter));
}

// Rows of stages with activity in the window or open ranges, stuck ones first;
// the caller frees them. NULL: none.
static top_row *make_rows(const struct ppi_live_processes *all,
                          const struct ppi_top_choice *choice,
                          size_t *out_num) {
  top_row *rows = NULL;
  size_t capacity = 0;
  *out_num = 0;
  for (size_t i = 0; i < all->num; i++) {
    double seconds;
    const ppi_live_view *now = ppi_live_last(all->items[i]);
    const ppi_live_view *before =
        ppi_live_before(all->items[i], choice->window_ns, &seconds);
    for (size_t place = 0; now && place < now->num_rows; place++) {
      top_row row = {.process = all->items[i], .row = &now->rows[place]};
      ppi_live_changed(before ? before : now, now, place, &row.change);
      if (seconds > 0) {
        row.rate = (double)row.change.num / seconds;
        row.busy = (double)row.change.sum_ns / 1e9 / seconds;
      }
      take_open(now, place, choice->realtime_ns, &row);
      if (!is_wanted(&row, choice->filter)) continue;
      PPI_MUST_ROOM(rows, capacity, *out_num + 1);
      rows[(*out_num)++] = row;
    }
  }
  sorted_by = choice->sort;
  if (*out_num) qsort(rows, *out_num, sizeof *rows, compare);
  return rows;
}

static void put_number(ppi_page *page, double value, int decimals,
                       const char *unit) {
  if (isfinite(value))
    ppi_page_fixed(page, value, decimals);
  else
    ppi_page_text(page, "-");
  ppi_page_text(page, unit);
}

static void put_time(ppi_page *page, uint64_t ns) {
  const double value = (double)ns;
  if (ns == 0)
    put_number(page, NAN, 0, "");
  else if (value < 1e3)
    put_number(page, value, 0, " ns");
  else if (value < 1e6)
    put_number(page, value / 1e3, 1, " us");
  else if (value < 1e10)
    put_number(page, value / 1e6, value < 1e8 ? 2 : 0, " ms");
  else
    put_number(page, value / 1e9, 1, " s");
}

// ---- a process ----

// Its last copy, and the one before the window, or the last one again.
typedef struct copies {
  const ppi_live_view *now;  // NULL: none
  const ppi_live_header *is, *was;
  double seconds;  // between them
} copies;

static copies copies_of(const struct ppi_live_process *process,
                        const struct ppi_top_choice *choice) {
  copies of = {.now = ppi_live_last(process)};
  const ppi_live_view *before =
      ppi_live_before(process, choice->window_ns, &of.seconds);
  if (of.now) of.is = &of.now->header;
  of.was = before ? &before->header : of.is;
  return of;
}

static double per_second(uint64_t now, uint64_t before, double seconds) {
  return seconds > 0 && now >= before ? (double)(now - before) / seconds : 0;
}

// The growth of a member a second.
#define RATE(of, member) \
  per_second((of)->is->member, (of)->was->member, (of)->seconds)

// NAN: no time has passed.
static double busy_of(const copies *of, uint32_t device) {
  const ppi_live_device *is = &of->is->devices[device];
  const ppi_live_device *was = &of->was->devices[device];
  double passed = (double)is->until_ns - (double)was->until_ns;
  return passed > 0 ? (double)(is->busy_ns - was->busy_ns) / passed : NAN;
}

// Cuts the line that begins at `from` to the width of the screen.
static void end_line(ppi_page *page, size_t from,
                     const struct ppi_top_screen *screen) {
  if (screen->width && page->bytes) {
    size_t len = page->len - from;
    while (ppi_page_width(page->bytes + from, len) > screen->width) len--;
    page->len = from + len;
  }
  ppi_page_text(page, "\n");
}

static void put_rates(const copies *of, const struct ppi_top_screen *screen,
                      ppi_page *page) {
  const ppi_live_header *now = of->is;
  const size_t from = page->len;
  const double events = RATE(of, num_events);
  ppi_page_format(
      page,
      "  steps %.1f/s  items %.1f/s  events %.0f/s  lost %" PRIu64
      "  late %" PRIu64 "  markers %.2f %%  collector %.2f %% of a core",
      RATE(of, num_steps), RATE(of, num_items), events, now->lost + now->missed,
      now->late, events * (double)now->marker_cost_ns_x1000 / 1e10,
      RATE(of, collector_cpu_ns) / 1e7);
  end_line(page, from, screen);
}

static void put_devices(const copies *of, const struct ppi_top_screen *screen,
                        ppi_page *page) {
  for (uint32_t i = 0; i < of->is->num_devices; i++) {
    const size_t from = page->len;
    ppi_tool_put(page, "  device %s  busy ", of->is->devices[i].name);
    put_number(page, 100.0 * busy_of(of, i), 1, " %");
    ppi_page_format(page, "  submitted and not finished %" PRIu64,
                    of->is->devices[i].num_pending);
    end_line(page, from, screen);
  }
}

// "threads  embed 98.2 %,  fetch 11.0 %", of the window; the sum of a pool.
static void put_threads(const copies *of, const struct ppi_top_screen *screen,
                        ppi_page *page) {
  const size_t from = page->len;
  if (!of->is->num_threads) return;
  ppi_page_text(page, "  threads");
  for (uint32_t i = 0; i < of->is->num_threads; i++)
    ppi_tool_put(page, "%s%s %.1f %%", i ? ",  " : "  ",
                 of->is->threads[i].name, RATE(of, threads[i].busy_ns) / 1e7);
  end_line(page, from, screen);
}

static void put_counters(const copies *of, const struct ppi_top_screen *screen,
                         ppi_page *page) {
  const size_t from = page->len;
  if (!of->is->num_counters) return;
  ppi_page_text(page, "  counters");
  for (uint32_t i = 0; i < of->is->num_counters; i++) {
    ppi_tool_put(page, "%s%s ", i ? ",  " : "  ", of->is->counters[i].name);
    put_number(page, of->is->counters[i].value, 1, "");
  }
  end_line(page, from, screen);
}

static const char *state_of(const struct ppi_live_process *process,
                            const ppi_live_view *view) {
  return process->socket < 0         ? "ended"
         : view->header.is_recording ? "recording"
                                     : "no window is open";
}

static void put_process(const struct ppi_live_process *process,
                        const struct ppi_top_choice *choice,
                        const struct ppi_top_screen *screen, ppi_page *page) {
  const copies of = copies_of(process, choice);
  const size_t from = page->len;
  if (!of.now) return;
  ppi_tool_put(page, "%ld  %s  %s", (long)process->pid,
               state_of(process, of.now), process->command);
  end_line(page, from, screen);
  put_rates(&of, screen, page);
  put_devices(&of, screen, page);
  put_threads(&of, screen, page);
  put_counters(&of, screen, page);
}

// ---- stages ----

// The least widths keep columns where they are from screen to screen.
static const ppi_grid_column COLUMNS[] = {
    {.heading = "PID", .least = 7, .is_left = true},
    {.heading = "STAGE", .floor = 12, .is_left = true},
    {.heading = "TIMED", .least = 6, .rank = 7, .is_left = true},
    {.heading = "RATE/S", .least = 8, .rank = 5},
    {.heading = "BUSY%"},
    {.heading = "P50", .least = 8, .rank = 4},
    {.heading = "P99", .least = 8, .rank = 2},
    {.heading = "MAX", .least = 8, .rank = 8},
    {.heading = "OPEN", .rank = 3},
    {.heading = "SINCE", .least = 9, .rank = 1},
    {.heading = "THREAD", .rank = 6, .is_left = true}};
enum { NUM_COLUMNS = sizeof COLUMNS / sizeof *COLUMNS };

static void add_open(const top_row *row, ppi_grid *grid) {
  ppi_page *page = &grid->text;
  if (row->num_open) ppi_page_format(page, "%" PRIu64, row->num_open);
  ppi_grid_end_cell(grid);
  if (row->num_open) put_time(page, row->open_ns);
  if (row->is_stuck) ppi_page_text(page, "!");
  ppi_grid_end_cell(grid);
  if (row->num_open) ppi_page_visible(page, row->oldest->thread);
  ppi_grid_end_cell(grid);
}

static void add_row(const top_row *row, bool has_pid, ppi_grid *grid) {
  const uint64_t times_ns[] = {row->change.p50_ns, row->change.p99_ns,
                               row->row->max_ns};
  ppi_page *page = &grid->text;
  if (has_pid) {
    ppi_page_format(page, "%ld", (long)row->process->pid);
    ppi_grid_end_cell(grid);
  }
  ppi_page_visible(page, row->row->name);
  ppi_grid_end_cell(grid);
  ppi_page_text(page, row->row->is_device ? "device" : "host");
  ppi_grid_end_cell(grid);
  put_number(page, row->rate, 1, "");
  ppi_grid_end_cell(grid);
  put_number(page, 100 * row->busy, 1, "");
  ppi_grid_end_cell(grid);
  for (size_t i = 0; i < 3; i++) {
    put_time(page, times_ns[i]);
    ppi_grid_end_cell(grid);
  }
  add_open(row, grid);
}

static size_t num_lines(const ppi_page *page) {
  size_t num = 0;
  for (size_t i = 0; i < page->len; i++) num += page->bytes[i] == '\n';
  return num;
}

static void put_stages(const struct ppi_live_processes *all,
                       const struct ppi_top_choice *choice,
                       const struct ppi_top_screen *screen, ppi_page *page) {
  size_t num, width = screen->width ? screen->width : PPI_PAGE_WIDTH;
  top_row *rows = make_rows(all, choice, &num);
  ppi_grid_column columns[NUM_COLUMNS];
  const bool has_pid = all->num > 1;
  ppi_grid grid = {.columns = columns, .num_columns = NUM_COLUMNS - !has_pid};
  memcpy(columns, COLUMNS + !has_pid, grid.num_columns * sizeof *columns);
  for (size_t i = 0; i < num; i++) add_row(&rows[i], has_pid, &grid);
  ppi_grid_fit(&grid, width);
  if (screen->has_colour) ppi_page_text(page, "\033[7m");
  ppi_grid_put_headings(page, &grid);
  if (screen->has_colour) ppi_page_text(page, "\033[m");
  for (size_t i = 0; i < num; i++) {
    if (screen->height && num_lines(page) + 1 >= screen->height) break;
    ppi_grid_put_row(page, &grid, i);
  }
  ppi_grid_clear(&grid);
  ppi_free(rows);
}

static void put_status(const struct ppi_top_choice *choice,
                       const struct ppi_top_screen *screen, ppi_page *page) {
  const size_t from = page->len;
  if (screen->prompt) {
    ppi_tool_put(page, "names that hold: %s_", screen->prompt);
  } else {
    ppi_page_format(page, "pprof-report top  last %.0f s  by %s",
                    (double)choice->window_ns / 1e9,
                    ppi_top_sort_names[choice->sort]);
    if (choice->filter[0])
      ppi_tool_put(page, "  names with '%s'", choice->filter);
    if (screen->height)
      ppi_page_text(page, screen->is_paused
                              ? "  PAUSED"
                              : "  s sort, / filter, + - seconds, p pause, q "
                                "quit");
  }
  end_line(page, from, screen);
}

static void put_waits(const struct ppi_top_screen *screen, ppi_page *page) {
  const ppi_page *waits = screen->waits;
  for (size_t from = 0, to; waits && from < waits->len; from = to + 1) {
    const size_t begin = page->len;
    for (to = from; waits->bytes[to] != '\n';) to++;
    if (screen->height && num_lines(page) + 6 >= screen->height) return;
    ppi_page_text(page, "  ");
    ppi_page_bytes(page, waits->bytes + from, to - from);
    end_line(page, begin, screen);
  }
}

void ppi_top_print(const struct ppi_live_processes *all,
                   const struct ppi_top_choice *choice,
                   const struct ppi_top_screen *screen, ppi_page *page) {
  put_status(choice, screen, page);
  for (size_t i = 0; i < all->num; i++)
    if (!screen->height || num_lines(page) + 6 < screen->height)
      put_process(all->items[i], choice, screen, page);
  put_waits(screen, page);
  put_stages(all, choice, screen, page);
}

// ---- JSON ----

static void put_json_row(const top_row *row, ppi_page *page) {
  ppi_put_object(page, NULL);
  ppi_put_text(page, "name", row->row->name);
  ppi_put_text(page, "category", row->row->category);
  ppi_put_text(page, "timed", row->row->is_device ? "device" : "host");
  ppi_put_u64(page, "calls", row->change.num);
  ppi_put_real(page, "rate", row->rate);
  ppi_put_real(page, "busy", row->busy);
  ppi_put_u64(page, "p50_ns", row->change.p50_ns);
  ppi_put_u64(page, "p99_ns", row->change.p99_ns);
  ppi_put_u64(page, "max_ns", row->row->max_ns);
  ppi_put_u64(page, "open", row->num_open);
  ppi_put_u64(page, "open_ns", row->open_ns);
  ppi_put_bool(page, "stuck", row->is_stuck);
  if (row->oldest) ppi_put_text(page, "thread", row->oldest->thread);
  ppi_page_text(page, "}");
}

static void put_json_devices(const copies *of, ppi_page *page) {
  const ppi_live_header *is = of->is;
  ppi_put_array(page, "devices");
  for (uint32_t i = 0; i < is->num_devices; i++) {
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", is->devices[i].name);
    ppi_put_real(page, "busy", busy_of(of, i));
    ppi_put_u64(page, "pending", is->devices[i].num_pending);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
  ppi_put_array(page, "threads");
  for (uint32_t i = 0; i < is->num_threads; i++) {
    ppi_put_object(page, NULL);
    ppi_put_text(page, "name", is->threads[i].name);
    ppi_put_real(page, "busy", RATE(of, threads[i].busy_ns) / 1e9);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
  ppi_put_object(page, "counters");
  for (uint32_t i = 0; i < is->num_counters; i++) {
    ppi_put_text(page, NULL, is->counters[i].name);
    ppi_page_text(page, ":");
    ppi_put_real(page, NULL, is->counters[i].value);
  }
  ppi_page_text(page, "}");
}

static void put_json_process(const struct ppi_live_process *process,
                             const struct ppi_top_choice *choice,
                             ppi_page *page) {
  const copies of = copies_of(process, choice);
  ppi_put_object(page, NULL);
  ppi_put_text(page, "schema", "pprof.top/1");
  ppi_put_u64(page, "pid", (uint64_t)process->pid);
  ppi_put_text(page, "command", process->command);
  ppi_put_u64(page, "realtime_ns", choice->realtime_ns);
  ppi_put_bool(page, "recording", of.is->is_recording);
  ppi_put_real(page, "seconds", of.seconds);
  ppi_put_real(page, "steps", RATE(&of, num_steps));
  ppi_put_real(page, "items", RATE(&of, num_items));
  ppi_put_real(page, "events", RATE(&of, num_events));
  ppi_put_real(page, "collector_cpu", RATE(&of, collector_cpu_ns) / 1e9);
  ppi_put_u64(page, "lost", of.is->lost + of.is->missed);
  ppi_put_u64(page, "late", of.is->late);
  put_json_devices(&of, page);
  ppi_put_array(page, "stages");
}

void ppi_top_print_json(const struct ppi_live_processes *all,
                        const struct ppi_top_choice *choice, ppi_page *page) {
  size_t num;
  top_row *rows = make_rows(all, choice, &num);
  for (size_t i = 0; i < all->num; i++) {
    if (!ppi_live_last(all->items[i])) continue;
    put_json_process(all->items[i], choice, page);
    for (size_t j = 0; j < num; j++)
      if (rows[j].process == all->items[i]) put_json_row(&rows[j], page);
    ppi_page_text(page, "]}\n");
  }
  ppi_free(rows);
}

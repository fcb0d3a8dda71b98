// SPDX-License-Identifier: Apache-2.0
//
// Finds deadlocks and long waits in a process. A wait is the innermost open
// range of its thread. A chain of waits is followed to its end, or round a
// circle: a deadlock.
#include "verb/stuck_waits.h"

#include "cli/say.h"
#include "event/recorded_wait.h"
#include "input/spool_operand.h"
#include "recover/forensics_names.h"

static const char *name_of(const ppi_forensics *found, uint32_t kind,
                           uint32_t id) {
  const char *name = ppi_spool_name(found, kind, id);
  return name ? name : "";
}

static bool is_wait(const ppi_forensics *found, const ppi_open_item *item) {
  if (item->kind != PPI_OPEN_RANGE || !item->waits_for) return false;
  const ppi_definition_record *site =
      ppi_forensics_find(found, PPROF_DEFINITION_SITE, item->site);
  return site && strcmp(name_of(found, PPROF_DEFINITION_CATEGORY, site->parent),
                        "Wait") == 0;
}

// The innermost open range of an OS thread; NULL: it has none.
static const ppi_open_item *innermost(const ppi_forensics *found,
                                      uint32_t tid) {
  const ppi_open_item *inner = NULL;
  for (size_t i = 0; i < found->num_items; i++) {
    const ppi_open_item *item = &found->items[i];
    if (item->kind == PPI_OPEN_RANGE && item->tid == tid &&
        (!inner || item->depth > inner->depth))
      inner = item;
  }
  return inner;
}

// The wait of the thread that `wait` waits for; NULL: that thread does not
// wait.
static const ppi_open_item *next_wait(const ppi_forensics *found,
                                      const ppi_open_item *wait) {
  const ppi_open_item *inner = innermost(found, wait->waits_for);
  return inner && is_wait(found, inner) ? inner : NULL;
}

// The number of waits on the circle through `wait`; 0: no circle.
static size_t circle_of(const ppi_forensics *found, const ppi_open_item *wait) {
  const ppi_open_item *at = wait;
  for (size_t num = 1; num <= found->num_items; num++) {
    at = next_wait(found, at);
    if (!at) return 0;
    if (at == wait) return num;
  }
  return 0;
}

static bool is_first(const ppi_forensics *found, const ppi_open_item *wait) {
  for (const ppi_open_item *at = next_wait(found, wait); at && at != wait;
       at = next_wait(found, at))
    if (at < wait) return false;
  return true;
}

uint32_t ppi_stuck_holder(const ppi_forensics *found,
                          const ppi_open_item *item) {
  if (!is_wait(found, item)) return 0;
  for (size_t i = 0; i < found->num_items; i++)
    if (found->items[i].tid == item->waits_for && found->items[i].lane)
      return found->items[i].lane;
  return 0;
}

// ---- words ----

static bool is_join(const ppi_open_item *wait) {
  return PPI_WAIT_KIND(wait->waits_how) == PPI_WAIT_JOIN;
}

static void put_thread(const ppi_forensics *found, uint32_t tid,
                       ppi_page *page) {
  const ppi_open_item *inner = innermost(found, tid);
  if (inner)
    ppi_tool_put(page, "thread '%s'",
                 name_of(found, PPROF_DEFINITION_LANE, inner->lane));
  else
    ppi_page_format(page, "thread %u", tid);
}

void ppi_stuck_put_time(ppi_page *page, uint64_t ns) {
  static const struct {
    double unit;
    const char *name;
  } units[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}};
  size_t i = 0;
  while (i < 3 && (double)ns < units[i].unit) i++;
  ppi_page_fixed(page, (double)ns / units[i].unit, i < 3);
  ppi_page_text(page, units[i].name);
}

static void put_wait(const ppi_forensics *found, const ppi_open_item *wait,
                     ppi_page *page) {
  put_thread(found, wait->tid, page);
  if (is_join(wait))
    ppi_page_text(page, " waits for the end of ");
  else
    ppi_tool_put(
        page, " waits for '%s', held by ",
        ppi_wait_object(name_of(found, PPROF_DEFINITION_SITE, wait->site)));
  put_thread(found, wait->waits_for, page);
}

size_t ppi_stuck_deadlocks(const ppi_forensics *found, ppi_page *page) {
  size_t num = 0;
  for (size_t i = 0; i < found->num_items; i++) {
    const ppi_open_item *first = &found->items[i];
    if (!is_wait(found, first) || innermost(found, first->tid) != first ||
        !circle_of(found, first) || !is_first(found, first))
      continue;
    num++;
    ppi_page_text(page, "Deadlock: ");
    const ppi_open_item *at = first;
    bool has_join = false;
    do {
      if (at != first) ppi_page_text(page, "; ");
      put_wait(found, at, page);
      has_join |= is_join(at);
      at = next_wait(found, at);
    } while (at && at != first);
    const char *next =
        has_join ? "Wait for a thread's end without the locks that it needs"
        : next_wait(found, first) == first
            ? "A thread that has this lock cannot take it again"
            : "Take these locks in one order everywhere";
    ppi_page_format(page, ". %s\n", next);
  }
  return num;
}

void ppi_stuck_put_waits(const ppi_forensics *found, uint64_t least_ns,
                         ppi_page *page) {
  for (size_t i = 0; i < found->num_items; i++) {
    const ppi_open_item *wait = &found->items[i];
    if (!is_wait(found, wait) || found->until_ns < wait->start_ns + least_ns ||
        circle_of(found, wait))
      continue;
    const ppi_open_item *holder = innermost(found, wait->waits_for);
    put_wait(found, wait, page);
    if (holder)
      ppi_tool_put(
          page, " in '%s'",
          ppi_wait_object(name_of(found, PPROF_DEFINITION_SITE, holder->site)));
    ppi_page_text(page, " for ");
    ppi_stuck_put_time(page, found->until_ns - wait->start_ns);
    ppi_page_text(page, "\n");
  }
}

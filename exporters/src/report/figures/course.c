// SPDX-License-Identifier: Apache-2.0
//
// Adds a device's busy and idle time to bins over the run.
#include "report/figures/course.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"

static const size_t all_bytes =
    sizeof(uint64_t[PPI_COURSE_KINDS][PPI_COURSE_BINS]);

static void widen(ppi_course *course) {
  for (int kind = 0; kind < PPI_COURSE_KINDS; kind++) {
    uint64_t *ns = course->ns[kind];
    for (size_t i = 0; i < PPI_COURSE_BINS / 2; i++)
      ns[i] = ns[2 * i] + ns[2 * i + 1];
    memset(ns + PPI_COURSE_BINS / 2, 0, PPI_COURSE_BINS / 2 * sizeof *ns);
  }
  course->bin_ns *= 2;
}

bool ppi_course_add(ppi_course *course, int kind, uint64_t start_ns,
                    uint64_t end_ns) {
  if (!course->ns) {
    course->ns = ppi_alloc(all_bytes);
    if (!course->ns) return false;
    course->start_ns = start_ns;
    course->bin_ns = 1;
  }
  start_ns = PPI_MAX(start_ns, course->start_ns);
  if (start_ns >= end_ns) return true;
  uint64_t from_ns = start_ns - course->start_ns;
  uint64_t to_ns = end_ns - course->start_ns;
  while ((to_ns - 1) / course->bin_ns >= PPI_COURSE_BINS) widen(course);
  while (from_ns < to_ns) {
    uint64_t at = from_ns / course->bin_ns;
    uint64_t left_ns = course->bin_ns - from_ns % course->bin_ns;
    uint64_t part_ns = PPI_MIN(left_ns, to_ns - from_ns);
    course->ns[kind][at] += part_ns;
    from_ns += part_ns;
  }
  return true;
}

void ppi_course_clear(ppi_course *course) {
  ppi_free(course->ns);
  *course = (ppi_course){0};
}

static void clear(ppi_report_course *item) {
  PPI_FREE_ALL(item->uuid, item->device, item->course.ns);
}

bool ppi_courses_add(ppi_report_courses *courses,
                     const ppi_report_course *from) {
  if (!from->course.ns || courses->num == PPI_MOST_COURSES) return true;
  if (!PPI_ROOM(courses->items, courses->capacity, courses->num + 1))
    return false;
  ppi_report_course *item = &courses->items[courses->num++];
  *item = (ppi_report_course){.uuid = ppi_strdup(from->uuid),
                              .device = ppi_strdup(from->device),
                              .course = from->course};
  item->course.ns = ppi_alloc(all_bytes);
  if (item->uuid && item->device && item->course.ns) {
    memcpy(item->course.ns, from->course.ns, all_bytes);
    return true;
  }
  clear(item);
  courses->num--;
  return false;
}

void ppi_courses_clear(ppi_report_courses *courses) {
  for (size_t i = 0; i < courses->num; i++) clear(&courses->items[i]);
  ppi_free(courses->items);
  *courses = (ppi_report_courses){0};
}

void ppi_courses_carry(ppi_carry *carry, ppi_report_courses *courses) {
  ppi_carry_room(carry, &courses->items, &courses->num, sizeof *courses->items);
  for (size_t i = 0; i < courses->num; i++) {
    ppi_report_course *item = &courses->items[i];
    ppi_carry_text(carry, &item->uuid);
    ppi_carry_text(carry, &item->device);
    PPI_CARRY_FROM(carry, &item->course, start_ns, bin_ns);
    ppi_carry_maybe(carry, &item->course.ns, all_bytes);
  }
}

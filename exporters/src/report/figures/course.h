// SPDX-License-Identifier: Apache-2.0
//
// A device's busy and idle time over the run, idle time by reason. Long runs
// have wider bins, not more memory. One thread at a time.
#pragma once

#include "report/figures/carry.h"

PPROF_BEGIN_C_

// Why a device was idle.
typedef enum ppi_idle {
  PPI_IDLE_NOT_SUBMITTED = 0,  // the next range was submitted in the gap
  PPI_IDLE_QUEUED,             // the next range was submitted before the gap
  PPI_IDLE_NO_MORE_WORK,       // no next range in the window
  PPI_IDLE_UNRESOLVED,         // shorter than the errors of its two borders
  PPI_NUM_IDLE
} ppi_idle;

enum {
  PPI_COURSE_BUSY = PPI_NUM_IDLE,  // follows the reasons
  PPI_COURSE_KINDS,
  PPI_COURSE_BINS = 4096  // a long run fills half of them, or more
};

// All zero is the empty one. The first bin begins with the first stretch.
typedef struct ppi_course {
  uint64_t start_ns, bin_ns;
  uint64_t (*ns)[PPI_COURSE_BINS];  // for each kind
} ppi_course;

// ppi_course_add: stretches come in order.
bool ppi_course_add(ppi_course *course, int kind, uint64_t start_ns,
                    uint64_t end_ns);
void ppi_course_clear(ppi_course *course);

// The course of one device in one run.
typedef struct ppi_report_course {
  char *uuid, *device;
  ppi_course course;
} ppi_report_course;

// Later courses are left out.
enum { PPI_MOST_COURSES = 64 };
typedef struct ppi_report_courses {
  ppi_report_course *items;
  size_t num, capacity;
} ppi_report_courses;

// ppi_courses_add adds a copy of `from`.
bool ppi_courses_add(ppi_report_courses *courses,
                     const ppi_report_course *from);
void ppi_courses_clear(ppi_report_courses *courses);
void ppi_courses_carry(ppi_carry *carry, ppi_report_courses *courses);

PPROF_END_C_

// SPDX-License-Identifier: Apache-2.0
//
// Jobs that several threads do, in any order. One thread, the owner, puts jobs
// and waits for them; while it waits, it does jobs, too.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_jobs ppi_jobs;

// The first member of a job. `run` gets the number of its worker, below
// ppi_jobs_num: no other job runs under that number meanwhile.
typedef struct ppi_job {
  void (*run)(struct ppi_job *job, unsigned worker);
  // Of a line: frees the job, on the owner's thread, and answers
  // whether it was done.
  bool (*retire)(struct ppi_job *job);
  size_t size;  // of a line: bytes
  struct ppi_job *next, *behind;
  bool is_done;
} ppi_job;

// ppi_jobs_create answers NULL without memory, where no thread can be made, or
// for fewer than two threads, the owner included.
ppi_jobs *ppi_jobs_create(unsigned num_threads);
unsigned ppi_jobs_num(const ppi_jobs *jobs);
// ppi_jobs_put borrows the job until it is done. Urgent jobs come before the
// others.
void ppi_jobs_put(ppi_jobs *jobs, ppi_job *job, bool is_urgent);
void ppi_jobs_wait(ppi_jobs *jobs, ppi_job *job);
// ppi_jobs_destroy comes when all jobs are done.
void ppi_jobs_destroy(ppi_jobs *jobs);

// Jobs that are retired in the order in which they were put. All zero but
// `jobs` is the empty one.
typedef struct ppi_job_line {
  ppi_jobs *jobs;
  ppi_job *first, **last;
  size_t size;  // of all jobs in it
} ppi_job_line;

// ppi_line_put takes the job. It waits while the line holds more than 8 MiB.
// False: a retired job was not done.
bool ppi_line_put(ppi_job_line *line, ppi_job *job);
// ppi_line_end waits for all jobs and retires them.
bool ppi_line_end(ppi_job_line *line);

PPROF_END_C_

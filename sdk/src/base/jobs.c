// SPDX-License-Identifier: Apache-2.0
//
// Does jobs on several threads. One lock protects both queues.
#include "base/jobs.h"

#include "base/mem.h"
#include "base/start_thread.h"

#define MOST_OF_A_LINE ((size_t)8 << 20)

typedef struct job_queue {
  ppi_job *first, **last;
} job_queue;

typedef struct worker {
  ppi_jobs *jobs;
  unsigned number;
  pthread_t thread;
} worker;

struct ppi_jobs {
  pthread_mutex_t lock;
  pthread_cond_t put, done;
  job_queue queues[2];  // urgent jobs, then others
  bool stops;
  unsigned num_threads, num_workers;  // the owner is no worker
  worker workers[];
};

// Both are called with the lock.

static ppi_job *take(ppi_jobs *jobs) {
  job_queue *queue = &jobs->queues[jobs->queues[0].first ? 0 : 1];
  ppi_job *job = queue->first;
  if (!job) return NULL;
  queue->first = job->next;
  if (!queue->first) queue->last = &queue->first;
  return job;
}

static void do_job(ppi_jobs *jobs, ppi_job *job, unsigned number) {
  pthread_mutex_unlock(&jobs->lock);
  job->run(job, number);
  pthread_mutex_lock(&jobs->lock);
  job->is_done = true;
  pthread_cond_signal(&jobs->done);
}

static void *work(void *argument) {
  const worker *self = argument;
  ppi_jobs *jobs = self->jobs;
  pthread_mutex_lock(&jobs->lock);
  while (!jobs->stops) {
    ppi_job *job = take(jobs);
    if (job)
      do_job(jobs, job, self->number);
    else
      pthread_cond_wait(&jobs->put, &jobs->lock);
  }
  pthread_mutex_unlock(&jobs->lock);
  return NULL;
}

ppi_jobs *ppi_jobs_create(unsigned num_threads) {
  if (num_threads < 2) return NULL;
  ppi_jobs *jobs =
      ppi_alloc(sizeof *jobs + (num_threads - 1) * sizeof *jobs->workers);
  if (!jobs) return NULL;
  pthread_mutex_init(&jobs->lock, NULL);
  pthread_cond_init(&jobs->put, NULL);
  pthread_cond_init(&jobs->done, NULL);
  for (int i = 0; i < 2; i++) jobs->queues[i].last = &jobs->queues[i].first;
  jobs->num_threads = num_threads;
  while (jobs->num_workers + 1 < num_threads) {
    worker *next = &jobs->workers[jobs->num_workers];
    *next = (worker){.jobs = jobs, .number = jobs->num_workers + 1};
    if (ppi_start_thread(&next->thread, "pprof-job", work, next)) break;
    jobs->num_workers++;
  }
  if (jobs->num_workers) return jobs;
  ppi_jobs_destroy(jobs);
  return NULL;
}

unsigned ppi_jobs_num(const ppi_jobs *jobs) {
  return jobs->num_threads;
}

void ppi_jobs_put(ppi_jobs *jobs, ppi_job *job, bool is_urgent) {
  job_queue *queue = &jobs->queues[is_urgent ? 0 : 1];
  job->is_done = false;
  job->next = NULL;
  pthread_mutex_lock(&jobs->lock);
  *queue->last = job;
  queue->last = &job->next;
  pthread_cond_signal(&jobs->put);
  pthread_mutex_unlock(&jobs->lock);
}

void ppi_jobs_wait(ppi_jobs *jobs, ppi_job *job) {
  pthread_mutex_lock(&jobs->lock);
  while (!job->is_done) {
    ppi_job *other = take(jobs);
    if (other)
      do_job(jobs, other, 0);
    else
      pthread_cond_wait(&jobs->done, &jobs->lock);
  }
  pthread_mutex_unlock(&jobs->lock);
}

void ppi_jobs_destroy(ppi_jobs *jobs) {
  if (!jobs) return;
  pthread_mutex_lock(&jobs->lock);
  jobs->stops = true;
  pthread_cond_broadcast(&jobs->put);
  pthread_mutex_unlock(&jobs->lock);
  for (unsigned i = 0; i < jobs->num_workers; i++)
    pthread_join(jobs->workers[i].thread, NULL);
  pthread_cond_destroy(&jobs->put);
  pthread_cond_destroy(&jobs->done);
  pthread_mutex_destroy(&jobs->lock);
  ppi_free(jobs);
}

// ---- lines ----

static bool retire_first(ppi_job_line *line) {
  ppi_job *job = line->first;
  ppi_jobs_wait(line->jobs, job);
  line->first = job->behind;
  line->size -= job->size;
  return job->retire(job);
}

static bool is_done(const ppi_job_line *line) {
  pthread_mutex_lock(&line->jobs->lock);
  bool answer = line->first->is_done;
  pthread_mutex_unlock(&line->jobs->lock);
  return answer;
}

bool ppi_line_put(ppi_job_line *line, ppi_job *job) {
  bool done = true;
  while (line->first &&
         (is_done(line) || line->size + job->size > MOST_OF_A_LINE))
    done &= retire_first(line);
  if (!line->first) line->last = &line->first;
  job->behind = NULL;
  *line->last = job;
  line->last = &job->behind;
  line->size += job->size;
  ppi_jobs_put(line->jobs, job, false);
  return done;
}

bool ppi_line_end(ppi_job_line *line) {
  bool done = true;
  while (line->first) done &= retire_first(line);
  return done;
}

// SPDX-License-Identifier: Apache-2.0
//
// A small server of a language model with continuous batching, for
// docs/serving.md: each iteration decodes all running requests and prefills one
// waiting request. The model's time is scripted: the engine waits for it. It
// prints when each request arrived, was scheduled, had its first and last
// token, and ended, each as the times just before and after the marker.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "pprof/pprof.h"

enum { REQUESTS = 24, MOST_RUNNING = 4 };
enum { ARRIVED, SCHEDULED, FIRST, LAST, ENDED, MOMENTS };

struct request {
  uint32_t num_in, num_out, num_left;
  pprof_request handle;
  uint64_t before[MOMENTS], after[MOMENTS];  // of its markers
};

PPROF_SITE(chat_site, "chat", PPROF_CATEGORY_INFERENCE);
PPROF_SITE(summary_site, "summary", PPROF_CATEGORY_INFERENCE);

static struct request requests[REQUESTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int num_arrived;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void wait_until(uint64_t ns) {
  const struct timespec at = {(time_t)(ns / 1000000000u),
                              (long)(ns % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL)) {
  }
}

// A chat each 2 ms. Each sixth request is a summary with a long prompt: all
// running requests wait for its prefill.
static void arrive(int i) {
  struct request *request = &requests[i];
  int is_long = i % 6 == 5;
  request->num_in = is_long ? 2000 : 100;
  request->num_out = request->num_left = is_long ? 4 : 8;
  request->before[ARRIVED] = now_ns();
  request->handle = pprof_request_begin((uint64_t)i + 1,
                                        is_long ? &summary_site : &chat_site);
  request->after[ARRIVED] = now_ns();
  pprof_request_input(request->handle, request->num_in);
}

static void *send_all(void *context) {
  const uint64_t start_ns = *(const uint64_t *)context;
  pprof_thread_name("clients");
  for (int i = 0; i < REQUESTS; i++) {
    wait_until(start_ns + (uint64_t)i * 2000000u);
    arrive(i);
    pthread_mutex_lock(&mutex);
    num_arrived++;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void give_token(struct request *request) {
  int is_first = request->num_left == request->num_out;
  int is_last = request->num_left == 1;
  uint64_t before = now_ns();
  pprof_token(request->handle, 1);
  uint64_t after = now_ns();
  if (is_first) request->before[FIRST] = before, request->after[FIRST] = after;
  if (is_last) request->before[LAST] = before, request->after[LAST] = after;
  if (--request->num_left) return;
  request->before[ENDED] = now_ns();
  pprof_request_end(request->handle);
  request->after[ENDED] = now_ns();
}

static void serve(struct request *request) {
  uint64_t before = now_ns();
  pprof_serve(&request->handle, 1);
  if (request->before[SCHEDULED]) return;
  request->before[SCHEDULED] = before;
  request->after[SCHEDULED] = now_ns();
}

// 1 ms, 0.1 ms for each request, 5 us for each token of a prompt.
static void iterate(struct request **running, int num, uint32_t num_prompt) {
  PPROF_SCOPE_CAT("iteration", PPROF_CATEGORY_INFERENCE);
  uint64_t end_ns =
      now_ns() + 1000000u + (uint64_t)num * 100000u + num_prompt * 5000u;
  for (int i = 0; i < num; i++) serve(running[i]);
  wait_until(end_ns);
  for (int i = 0; i < num; i++) give_token(running[i]);
}

static int take(int num_taken, int num_running) {
  pthread_mutex_lock(&mutex);
  while (num_running == 0 && num_arrived == num_taken)
    pthread_cond_wait(&arrived, &mutex);
  int has_one = num_arrived > num_taken && num_running < MOST_RUNNING;
  pthread_mutex_unlock(&mutex);
  return has_one;
}

static void run_engine(void) {
  struct request *running[MOST_RUNNING];
  int num = 0, num_taken = 0;
  while (num_taken < REQUESTS || num > 0) {
    uint32_t num_prompt = 0;
    if (num_taken < REQUESTS && take(num_taken, num)) {
      running[num] = &requests[num_taken++];
      num_prompt = running[num++]->num_in;
    }
    iterate(running, num, num_prompt);
    int left = 0;
    for (int i = 0; i < num; i++)
      if (running[i]->num_left) running[left++] = running[i];
    num = left;
  }
}

int main(void) {
  pthread_t clients;
  pprof_error error;
  if (pprof_start(NULL, &error) != PPROF_STATUS_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  uint64_t start_ns = now_ns() + 1000000u;
  if (pthread_create(&clients, NULL, send_all, &start_ns)) return 1;
  run_engine();
  pthread_join(clients, NULL);
  for (int i = 0; i < REQUESTS; i++) {
    printf("%s %u", requests[i].num_in > 1000 ? "summary" : "chat",
           requests[i].num_out);
    for (int k = 0; k < MOMENTS; k++)
      printf(" %llu %llu",
             (unsigned long long)(requests[i].before[k] - start_ns),
             (unsigned long long)(requests[i].after[k] - start_ns));
    printf("\n");
  }
  return pprof_stop(&error) == PPROF_STATUS_OK ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// A loop of reinforcement learning, for docs/serving.md: two engines roll out,
// one thread rewards what both have done, one trains on it and hands the new
// weights to the engines. The lengths of the work are scripted; the waits
// follow from them. It prints when each phase began and ended, and when
// recording did, as the times just before and after the marker.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "pprof/pprof.h"

enum { TURNS = 8, ENGINES = 2, MOST_PHASES = 2 * TURNS };

struct phase {
  const char *name;
  uint32_t result;
  uint64_t begin[2], end[2];  // before and after each marker
};

struct role {
  const char *name;
  int engine;
  struct phase phases[MOST_PHASES];
  int num_phases;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int rolled_out[ENGINES], rewarded, trained;  // turns done so far

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void work(struct role *role, pprof_site *site, unsigned ms) {
  struct phase *phase = &role->phases[role->num_phases++];
  uint32_t sum = 0;
  phase->name = site->name;
  phase->begin[0] = now_ns();
  pprof_push(site);
  phase->begin[1] = now_ns();
  while (now_ns() < phase->begin[1] + ms * 1000000u)
    for (uint32_t i = 0; i < 1000; i++) sum = sum * 69069 + i;
  phase->result = sum;
  phase->end[0] = now_ns();
  pprof_pop();
  phase->end[1] = now_ns();
}

static void wait_for(const int *done, int turns) {
  pthread_mutex_lock(&mutex);
  while (*done < turns) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void tell(int *done) {
  pthread_mutex_lock(&mutex);
  ++*done;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

// The answers of each third turn are long in the second engine.
static void *roll_out(void *context) {
  PPROF_SITE(rollout, "rollout", PPROF_CATEGORY_INFERENCE);
  struct role *role = context;
  pprof_thread_name(role->name);
  for (int turn = 0; turn < TURNS; turn++) {
    wait_for(&trained, turn);
    work(role, &rollout, role->engine && turn % 3 == 2 ? 12 : 6 - role->engine);
    tell(&rolled_out[role->engine]);
  }
  return NULL;
}

static void *reward(void *context) {
  PPROF_SITE(site, "reward", PPROF_CATEGORY_POSTPROCESS);
  struct role *role = context;
  pprof_thread_name(role->name);
  for (int turn = 0; turn < TURNS; turn++) {
    for (int i = 0; i < ENGINES; i++) wait_for(&rolled_out[i], turn + 1);
    work(role, &site, 2);
    tell(&rewarded);
  }
  return NULL;
}

static void *train(void *context) {
  PPROF_SITE(site, "train", PPROF_CATEGORY_BACKWARD);
  PPROF_SITE(weights, "weights", PPROF_CATEGORY_COMMUNICATION);
  struct role *role = context;
  pprof_thread_name(role->name);
  for (int turn = 0; turn < TURNS; turn++) {
    wait_for(&rewarded, turn + 1);
    work(role, &site, 5);
    work(role, &weights, 1);
    tell(&trained);
  }
  return NULL;
}

static void print_role(const struct role *role) {
  for (int i = 0; i < role->num_phases; i++) {
    const struct phase *phase = &role->phases[i];
    printf("%s, %s, %llu %llu %llu %llu\n", role->name, phase->name,
           (unsigned long long)phase->begin[0],
           (unsigned long long)phase->begin[1],
           (unsigned long long)phase->end[0],
           (unsigned long long)phase->end[1]);
  }
}

int main(void) {
  static struct role roles[] = {{.name = "engine 0", .engine = 0},
                                {.name = "engine 1", .engine = 1},
                                {.name = "reward"},
                                {.name = "trainer"}};
  static void *(*const runs[])(void *) = {roll_out, roll_out, reward, train};
  enum { ROLES = sizeof roles / sizeof *roles };
  pthread_t threads[ROLES];
  uint64_t begin[2], end[2];
  pprof_error error;
  begin[0] = now_ns();
  if (pprof_start(NULL, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  begin[1] = now_ns();
  for (int i = 0; i < ROLES; i++)
    if (pthread_create(&threads[i], NULL, runs[i], &roles[i])) return 1;
  for (int i = 0; i < ROLES; i++) pthread_join(threads[i], NULL);
  end[0] = now_ns();
  int status = pprof_stop(&error);
  end[1] = now_ns();
  for (int i = 0; i < ROLES; i++) print_role(&roles[i]);
  printf("recorded, all, %llu %llu %llu %llu\n", (unsigned long long)begin[0],
         (unsigned long long)begin[1], (unsigned long long)end[0],
         (unsigned long long)end[1]);
  return status;
}

// SPDX-License-Identifier: Apache-2.0
//
// A service with a queue: one thread parses requests, one ranks them, which
// takes longer, so that requests wait in line for it. Eight are in flight. For
// docs/cookbook.md and docs/live.md: service [REQUESTS [ROUNDS]].
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline_queue.h"
#include "pprof/pprof.h"

enum { REQUESTS = 200, IN_FLIGHT = 8, WORDS = 2000, ROUNDS = 3 };

static uint64_t num_requests = REQUESTS;
static uint32_t rounds = ROUNDS;

struct request {
  uint64_t id;  // 0: the end
  char text[8 * WORDS];
  uint32_t words[WORDS];
  uint32_t best;
};

static struct queue idle, parsed;

static void parse(struct request *request) {
  PPROF_SCOPE_CAT("parse", PPROF_CATEGORY_PREPROCESS);
  pprof_flow(request->id);
  char *at = request->text;
  for (uint32_t i = 0; i < WORDS; i++)
    at += sprintf(at, "%u ", (unsigned)((i * request->id) % 99991));
  at = request->text;
  for (uint32_t i = 0; i < WORDS; i++)
    request->words[i] = (uint32_t)strtoul(at, &at, 10);
}

// How many pairs of words are in order.
static void rank(struct request *request) {
  PPROF_SCOPE_CAT("rank", PPROF_CATEGORY_INFERENCE);
  pprof_flow(request->id);
  for (uint32_t round = 0; round < rounds; round++)
    for (uint32_t i = 0; i < WORDS; i++)
      for (uint32_t k = i + 1; k < WORDS; k++)
        request->best += (request->words[i] ^ round) < request->words[k];
}

static void *rank_all(void *context) {
  struct request *request;
  (void)context;
  pprof_thread_name("rank");
  while ((request = queue_take(&parsed))) {
    rank(request);
    queue_put(&idle, request);
  }
  return NULL;
}

static int serve(struct request *requests) {
  pthread_t ranker;
  for (int i = 0; i < IN_FLIGHT; i++) queue_put(&idle, &requests[i]);
  if (pthread_create(&ranker, NULL, rank_all, NULL)) return 0;
  for (uint64_t id = 1; id <= num_requests; id++) {
    struct request *request = queue_take(&idle);
    request->id = id;
    parse(request);
    queue_put(&parsed, request);
  }
  queue_close(&parsed);
  return pthread_join(ranker, NULL) == 0;
}

int main(int argc, char **argv) {
  PPROF_SITE(idle_depth, "idle", PPROF_CATEGORY_USER_DEFINED);
  PPROF_SITE(parsed_depth, "waiting for rank", PPROF_CATEGORY_USER_DEFINED);
  pprof_error error;
  if (argc > 1) num_requests = strtoull(argv[1], NULL, 10);
  if (argc > 2) rounds = (uint32_t)strtoul(argv[2], NULL, 10);
  struct request *requests = calloc(IN_FLIGHT, sizeof *requests);
  if (!requests) return 1;
  queue_init(&idle, &idle_depth);
  queue_init(&parsed, &parsed_depth);
  if (pprof_start(NULL, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  pprof_thread_name("parse");
  int good = serve(requests);
  good = pprof_stop(&error) == PPROF_STATUS_OK && good;
  printf("service: the first rank is %u\n", (unsigned)requests[0].best);
  queue_destroy(&parsed);
  queue_destroy(&idle);
  free(requests);
  return good ? 0 : 1;
}

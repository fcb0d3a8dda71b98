// SPDX-License-Identifier: Apache-2.0
//
// What the rules share: the model, where requests' time goes, and the verdict.
// A rule answers true where it holds; the first that does is the verdict.
#ifndef PPI_LIMIT_SEARCH_H_
#define PPI_LIMIT_SEARCH_H_

#include "report/figures/limit.h"
#include "report/limit/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_limit_search {
  ppi_limit_model *model;
  ppi_blame blame;
  ppi_limit *out;
  bool failed;            // out of memory
  bool is_closed;         // requests begin when others end
  uint64_t closed_ns;     // how soon after
  double under_way;       // the greatest number of requests at a time
  double full_part;       // of the time at which it is reached
  double congested_ns;    // of all requests: what calls lose to each other
  uint32_t congested;     // the stage that loses most
  double congested_part;  // of its calls
} ppi_limit_search;

typedef bool (*ppi_limit_rule)(ppi_limit_search *search);

static const double ppi_saturated = 0.9;

// ppi_limit_busiest answers the station that limits, if any is saturated.
uint32_t ppi_limit_busiest(const ppi_limit_model *model);
// What halving the greatest stage of `station` brings: 1 is twice the rate.
double ppi_limit_gain(const ppi_limit_model *model, uint32_t station,
                      uint32_t *out_next);
uint64_t ppi_limit_silence(ppi_limit_search *search);
void ppi_limit_find_arrivals(ppi_limit_search *search);
void ppi_limit_find_congestion(ppi_limit_search *search);
// The greatest of the stations' values; PPI_NONE: all are 0.
uint32_t ppi_limit_greatest(const double *values, size_t num);

// Rules in their order.
bool ppi_limit_processors(ppi_limit_search *search);
bool ppi_limit_interpreter(ppi_limit_search *search);
bool ppi_limit_long_pauses(ppi_limit_search *search);
bool ppi_limit_moves(ppi_limit_search *search);
bool ppi_limit_takes_turns(ppi_limit_search *search);
bool ppi_limit_balanced(ppi_limit_search *search);
bool ppi_limit_saturated(ppi_limit_search *search);
bool ppi_limit_congested(ppi_limit_search *search);
bool ppi_limit_closed_line(ppi_limit_search *search);
bool ppi_limit_too_few(ppi_limit_search *search);
bool ppi_limit_pauses(ppi_limit_search *search);
bool ppi_limit_replica(ppi_limit_search *search);
bool ppi_limit_idle(ppi_limit_search *search);
bool ppi_limit_in_line(ppi_limit_search *search);
bool ppi_limit_nearly(ppi_limit_search *search);
bool ppi_limit_slower(ppi_limit_search *search);
bool ppi_limit_keeps_up(ppi_limit_search *search);
bool ppi_limit_parts(ppi_limit_search *search);

// Saying it.
void ppi_limit_add_name(ppi_limit *out, const char *name);
// "its thread", "its 8 threads", "gpu:0".
const char *ppi_limit_servers(const ppi_limit_model *model, uint32_t station,
                              char *to, size_t size);
const char *ppi_limit_unit_name(const ppi_limit_model *model);
#define PPI_MORE(out, ...)                                               \
  do {                                                                   \
    if ((out)->num_more < PPI_LIMIT_MORE)                                \
      ppi_words_put((out)->more[(out)->num_more++], sizeof *(out)->more, \
                    __VA_ARGS__);                                        \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_SEARCH_H_

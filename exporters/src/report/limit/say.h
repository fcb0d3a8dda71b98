// SPDX-License-Identifier: Apache-2.0
//
// Words that several rules need.
#pragma once

#include "report/findings/words.h"
#include "report/limit/search.h"

// Adds a name that the verdict is about; stages come first.
void ppi_limit_add_name(ppi_limit *out, const char *name);
// Begins the verdict, about `name`; answers search->out.
ppi_limit *ppi_limit_begin(ppi_limit_search *search, ppi_limit_claim claim,
                           const char *verdict, double utilization,
                           const char *name);
// Adds a sentence beside the verdict if there is room.
#define PPI_LIMIT_SAY_MORE(out, ...)                                     \
  do {                                                                   \
    if ((out)->num_more < PPI_LIMIT_MORE)                                \
      ppi_words_put((out)->more[(out)->num_more++], sizeof *(out)->more, \
                    __VA_ARGS__);                                        \
  } while (0)
// Advises to make the stage `name` cheaper, or `else_do`; to do it less often
// if half of the steps or iterations lack it, as a checkpoint.
void ppi_limit_advise(ppi_limit_search *search, uint32_t name,
                      const char *else_do);
// "request", "step", ...; and "a request", "an iteration".
const char *ppi_limit_unit_name(const ppi_limit_model *model);
const char *ppi_limit_a_unit(const ppi_limit_model *model);

// SPDX-License-Identifier: Apache-2.0
//
// The pipeline itself: stage threads between queues, requests in flight, and
// the check of every output. pipeline_run is called by the main thread.
#ifndef EXAMPLES_PIPELINE_STAGES_H_
#define EXAMPLES_PIPELINE_STAGES_H_

#include <stdbool.h>
#include "pipeline_runner.h"

struct pipeline_result {
  int num_done, num_failed, num_boxes;
  double largest_error;  // relative to the largest value of that output
};

// False when out of memory; device errors and mismatches count as failed.
bool pipeline_run(struct runner *runner, struct model *models, int num_requests,
                  struct pipeline_result *out);

#endif  // EXAMPLES_PIPELINE_STAGES_H_

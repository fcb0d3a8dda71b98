// SPDX-License-Identifier: Apache-2.0
//
// Threads for reports that take them.
#pragma once

#include "base/jobs.h"

class Jobs {
 public:
  explicit Jobs(unsigned num) : jobs_(ppi_jobs_create(num)) {}
  ~Jobs() {
    ppi_jobs_destroy(jobs_);
  }
  Jobs(const Jobs &) = delete;
  Jobs &operator=(const Jobs &) = delete;
  ppi_jobs *get() {
    return jobs_;
  }

 private:
  ppi_jobs *jobs_;
};

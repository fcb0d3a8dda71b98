// SPDX-License-Identifier: Apache-2.0
//
// How much memory this process may have, as its cgroups say (v1, v2, both). A
// profiler takes a share of that, so that it never is why its host is ended.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_NO_LIMIT UINT64_MAX

// ppi_cgroup_limit answers the smallest limit of the process's own cgroups and
// of those above them that are visible; PPI_NO_LIMIT where there is none, or
// none can be read. `root` stands before each path, "" but in tests. Reads
// files each time: limits change.
uint64_t ppi_cgroup_limit(const char *root);

// ppi_cgroup_folder answers the folder of the process's cgroup: that of v1 with
// `controller`, or of v2 (NULL). False: none can be read.
bool ppi_cgroup_folder(const char *root, const char *controller, char *out,
                       size_t size);

// ppi_memory_share answers `most`, or a sixteenth of the cgroup's memory if
// that is less: the limit of any part of the library.
uint64_t ppi_memory_share(uint64_t most);

PPROF_END_C_

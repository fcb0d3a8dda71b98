// SPDX-License-Identifier: Apache-2.0
//
// What pprof_start acts on: defaults, the file, the environment.
#include "start/compose.h"
#include "start/environment.h"

pprof_status ppi_compose_load(const char *config_path, ppi_config *config,
                              pprof_error *error) {
  const char *path = config_path ? config_path : ppi_environment_config_path();
  pprof_status status = ppi_config_defaults(config);
  if (status == PPROF_STATUS_OK && path)
    status = ppi_config_read(config, path, error);
  if (status == PPROF_STATUS_OK) status = ppi_environment_apply(config, error);
  if (status == PPROF_STATUS_OK) status = ppi_config_check(config, error);
  return status;
}

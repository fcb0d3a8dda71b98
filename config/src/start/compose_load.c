// SPDX-License-Identifier: Apache-2.0
//
// Loads the input of pprof_start: defaults, the file, the program's options in
// code, the environment.
#include "start/compose.h"

#include "base/base.h"
#include "start/environment.h"

pprof_status ppi_compose_load_with(const char *config_path,
                                   const ppi_in_code *code, ppi_config *config,
                                   pprof_error *error) {
  const char *text = code->config_text;
  const char *path = config_path ? config_path : ppi_environment_config_path();
  pprof_status status = ppi_config_defaults(config);
  if (status == PPROF_STATUS_OK && text)
    status = ppi_config_read_text(config, "config", text, error);
  else if (status == PPROF_STATUS_OK && path)
    status = ppi_config_read(config, path, error);
  if (status != PPROF_STATUS_OK) return status;
  ppi_in_code_set_schedule(code, config);
  status = ppi_environment_apply(config, error);
  PPI_THEN(status, ppi_in_code_set_outputs(code, config, error));
  if (status == PPROF_STATUS_OK) status = ppi_config_check(config, error);
  return status;
}

pprof_status ppi_compose_load(const char *config_path, ppi_config *config,
                              pprof_error *error) {
  static const ppi_in_code nothing;
  return ppi_compose_load_with(config_path, &nothing, config, error);
}

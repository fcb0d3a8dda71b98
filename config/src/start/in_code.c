// SPDX-License-Identifier: Apache-2.0
//
// Adds options in code to a configuration. A schedule in code replaces the
// file's `capture`; a log for each window is one more export.
#include "start/in_code.h"

#include <string.h>

#include "base/base.h"

#define WHERE "pprof_start_with"

static void set_window(const pprof_schedule *from, ppi_config_window *out) {
  memset(out, 0, sizeof *out);
  *out = (ppi_config_window){.kind = PPI_WINDOW_CYCLE,
                             .skip_first = from->skip_first,
                             .skip_first_wait = from->skip_first_wait != 0,
                             .wait = from->wait,
                             .warmup = from->warmup,
                             .active = from->active,
                             .repeat = from->repeat};
}

static pprof_status take_schedule(ppi_in_code *code,
                                  const pprof_schedule *schedule,
                                  pprof_error *error) {
  pprof_schedule *own = &code->schedule;
  if (!ppi_copy_options(own, sizeof *own, schedule))
    return ppi_fail(error, PPROF_STATUS_INVALID,
                    "pprof_schedule.size is %zu: set it to"
                    " sizeof(pprof_schedule)",
                    schedule->size);
  code->has_schedule = true;
  ppi_capture capture = {.num_rules = 1};
  capture.rules[0].kind = PPI_CAPTURE_STEPS;
  capture.rules[0].steps =
      (ppi_schedule_rule){own->skip_first, own->wait,   own->warmup,
                          own->active,     own->repeat, own->skip_first_wait};
  return ppi_capture_check(&capture, error);
}

static pprof_status take_log(ppi_in_code *code, const char *path,
                             pprof_error *error) {
  ppi_config_text *own = &code->window_log;
  if (!*path || strlen(path) >= sizeof own->text)
    return ppi_fail(error, PPROF_STATUS_CONFIG,
                    WHERE ": 'window_log' is empty or too long");
  const char *wrong = ppi_check_template(path, true);
  if (!wrong && !ppi_check_template(path, false))
    wrong = "needs a %w, the number of the window";
  if (wrong)
    return ppi_fail(error, PPROF_STATUS_CONFIG, WHERE ": 'window_log': %s",
                    wrong);
  strcpy(own->text, path);
  strcpy(own->where, WHERE);
  return PPROF_STATUS_OK;
}

pprof_status ppi_in_code_take(ppi_in_code *code,
                              const pprof_start_options *options,
                              pprof_error *error) {
  pprof_start_options known;
  memset(code, 0, sizeof *code);
  if (!options || !ppi_copy_options(&known, sizeof known, options))
    return ppi_fail(error, PPROF_STATUS_INVALID,
                    "pprof_start_options.size is %zu: set it to"
                    " sizeof(pprof_start_options), and bytes this version does"
                    " not know to zero",
                    options ? options->size : 0);
  code->on_window = known.on_window;
  code->is_heard = known.on_window != NULL;
  code->user = known.user;
  pprof_status status = PPROF_STATUS_OK;
  if (known.schedule) status = take_schedule(code, known.schedule, error);
  if (status == PPROF_STATUS_OK && known.window_log)
    status = take_log(code, known.window_log, error);
  return status;
}

void ppi_in_code_set_schedule(const ppi_in_code *code, ppi_config *config) {
  if (!code->has_schedule) return;
  set_window(&code->schedule, &config->windows[0]);
  config->num_windows = 1;
  ppi_config_set_origin(config, "capture", WHERE);
}

pprof_status ppi_in_code_set_outputs(const ppi_in_code *code,
                                     ppi_config *config, pprof_error *error) {
  config->is_heard = code->is_heard;
  if (!code->window_log.text[0]) return PPROF_STATUS_OK;
  if (config->num_exports == PPI_CONFIG_MAX_EXPORTS)
    return ppi_fail(error, PPROF_STATUS_CONFIG,
                    WHERE ": 'window_log' is one more than %d exports",
                    PPI_CONFIG_MAX_EXPORTS);
  ppi_config_export *item = &config->exports[config->num_exports++];
  memset(item, 0, sizeof *item);
  item->format = PPI_EXPORT_LOG;
  item->path = code->window_log;
  item->per_window = 1;
  return PPROF_STATUS_OK;
}

// SPDX-License-Identifier: Apache-2.0
//
// From a configuration to a running session: pprof_start and pprof_stop.
#ifndef PPI_COMPOSE_H_
#define PPI_COMPOSE_H_

#include "pprof/pprof.h"
#include "schema.h"
#include "session_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_compose_load reads what pprof_start would act on: defaults, the file
// (NULL: PPROF_CONFIG, if set), the environment.
pprof_status ppi_compose_load(const char *config_path, ppi_config *config,
                              pprof_error *error);

// What pprof_start and pprof_stop call. Tests put others in their place to see
// what is asked of them and to let each fail; NULL restores the real ones.
typedef struct ppi_compose_calls {
  pprof_session *(*session_current)(void);
  pprof_status (*session_create)(const pprof_options *options,
                                 pprof_session **out, pprof_error *error);
  pprof_status (*session_set_schedule)(pprof_session *session,
                                       const ppi_schedule *schedule);
  pprof_status (*session_set_device_mode)(pprof_session *session,
                                          ppi_device_mode mode);
  pprof_status (*session_set_graph_nodes)(pprof_session *session,
                                          bool external);
  void (*set_nvtx)(const ppi_nvtx_options *options);
  pprof_status (*session_set_info)(pprof_session *session, const char *key,
                                   const char *value);
  pprof_status (*session_add_sink)(pprof_session *session, pprof_sink *sink);
  pprof_status (*session_start)(pprof_session *session);
  pprof_status (*session_stop)(pprof_session *session, pprof_error *error);
  void (*session_destroy)(pprof_session *session);
  pprof_status (*log_writer_create)(const char *path, pprof_sink **out,
                                    pprof_error *error);
  const char *(*log_writer_path)(const pprof_sink *sink);
  pprof_status (*chrome_writer_create)(const char *path, pprof_sink **out,
                                       pprof_error *error);
  pprof_status (*report_create)(pprof_report **out);
  pprof_sink *(*report_sink)(pprof_report *report);
  void (*report_destroy)(pprof_report *report);
  // By ppi_export_format; that of chrome is NULL.
  pprof_status (*report_write[4])(const pprof_report *report, const char *views,
                                  FILE *out);
  void (*open_backends)(uint64_t backends);
} ppi_compose_calls;
void ppi_compose_set_calls(const ppi_compose_calls *calls);

#ifdef __cplusplus
}
#endif

#endif  // PPI_COMPOSE_H_

// SPDX-License-Identifier: Apache-2.0
//
// Who makes room for whom.
#ifndef PPI_SESSION_H_
#define PPI_SESSION_H_

#ifdef __cplusplus
extern "C" {
#endif

// ppi_session_set_yield: a session of injection's makes room for one that the
// program starts: `yield` is called, without locks, when one wants to start
// while another runs.
void ppi_session_set_yield(void (*yield)(void));

#ifdef __cplusplus
}
#endif

#endif  // PPI_SESSION_H_

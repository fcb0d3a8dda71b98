// SPDX-License-Identifier: Apache-2.0
//
// Serves one page by libmicrohttpd, if that is found. Main thread only; the
// page is made on the server's thread, one request at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ppi_http_page {
  // Makes the page for `accept`, a header or NULL. The server frees it; NULL:
  // no memory.
  char *(*make)(void *user, const char *accept, size_t *out_len,
                const char **out_type);
  void *user;
};

typedef struct ppi_http ppi_http;

// Listens at `address` ("127.0.0.1:9464", "[::1]:0"; port 0: any) and answers
// GET of /metrics. NULL after a message.
ppi_http *ppi_http_start(const char *address, const struct ppi_http_page *page);
// The address in use, such as "127.0.0.1:9464".
const char *ppi_http_address(const ppi_http *http);
void ppi_http_stop(ppi_http *http);

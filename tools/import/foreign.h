// SPDX-License-Identifier: Apache-2.0
//
// Recognizes files of other tools that are no trace. Each answer names the
// file's format and the way to import its data; NULL: unknown.
#pragma once

#include "pprof/base.h"

// ppi_foreign_head looks at a file's first bytes, inflated or not.
const char *ppi_foreign_head(const void *bytes, size_t len);

// ppi_foreign_name looks at the end of a path, for files without known first
// bytes.
const char *ppi_foreign_name(const char *path);

// ppi_foreign_key looks at a member of an object that has no traceEvents.
const char *ppi_foreign_key(const char *key, size_t len);

// ppi_foreign_list looks at the first part of a JSON list without events.
const char *ppi_foreign_list(const char *head, size_t len);

// ppi_foreign_bare looks in the first part of JSON for values that are not
// JSON.
const char *ppi_foreign_bare(const char *head, size_t len);

// ppi_foreign_table looks at one table of a database.
const char *ppi_foreign_table(const char *name);

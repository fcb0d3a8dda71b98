// SPDX-License-Identifier: Apache-2.0
//
// Files of other tools that are no trace of ours to read, by what they look
// like. Each answer says what the file is and which way there is; NULL: it is
// none that is known here.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// ppi_foreign_head looks at a file's first bytes, inflated or not.
const char *ppi_foreign_head(const void *bytes, size_t len);

// ppi_foreign_name looks at the end of a path, for files whose first bytes say
// nothing.
const char *ppi_foreign_name(const char *path);

// ppi_foreign_key looks at a member of an object that has no traceEvents.
const char *ppi_foreign_key(const char *key, size_t len);

// ppi_foreign_list looks at the first part of JSON whose list has no events.
const char *ppi_foreign_list(const char *head, size_t len);

// ppi_foreign_bare looks for values at the begin of JSON that are no JSON.
const char *ppi_foreign_bare(const char *head, size_t len);

// ppi_foreign_table looks at one table of a database.
const char *ppi_foreign_table(const char *name);

PPROF_END_C_

// SPDX-License-Identifier: Apache-2.0
//
// Defines the table of keys: their names, types, defaults, bounds and help are
// only here. Used by everything in schema.h.
#include "schema/schema_keys.h"

#include <stddef.h>

#include "base/defaults.h"

#define MIB (1ull << 20)
#define TIB (1ull << 40)
#define MOST_STEPS 1000000000ull         // sums of them stay far from overflow
#define SECOND 1000000ull                // in microseconds
#define MOST_WAIT (720 * 3600 * SECOND)  // 30 days
#define HOUR (3600 * SECOND)

#define TEXT_OF(number) #number
#define IN(number, unit) TEXT_OF(number) unit  // the unit of the number

static const char *const device_modes[] = {"events", "off", NULL};
#define NAME(name, ...) #name,
static const char *const backends[] = {PPI_BACKENDS(NAME) NULL};
static const char *const machine_sources[] = {PPI_MACHINE_SOURCES(NAME) NULL};
#undef NAME
static const char *const graph_nodes[] = {"skip", "external", NULL};
static const char *const graph_kernels[] = {"launch", "capture", NULL};
static const char *const payloads[] = {"counter", "flow",   "bytes",
                                       "items",   "ignore", NULL};
static const char *const nvtx_devices[] = {"off", "default", NULL};
static const char *const domain_streams[] = {"own", "default", NULL};
static const char *const forks[] = {"follow", "off", NULL};
static const char *const modes[] = {"full", "timer_only", NULL};
static const char *const ends[] = {"stop", "repeat", NULL};
static const char *const folds[] = {"nvtx", "all", "off", NULL};
static const char *const name_modes[] = {"keep", "hash", NULL};
static const char *const reports[] = {"none", "stderr", NULL};
static const char *const signals[] = {"none", "USR1", "USR2", NULL};
static const char *const periods[] = {"run", "window", NULL};
#define NAME(value, name) name,
static const char *const formats[] = {"chrome", "log", "html",
                                      PPI_REPORT_FORMATS(NAME) NULL};
#undef NAME
#define NAME(name, ...) #name,
static const char *const views[] = {PPI_VIEWS(NAME) NULL};
#undef NAME

#define AT(field) offsetof(ppi_config, field)
#define IN_WINDOW(field) offsetof(ppi_config_window, field)
#define IN_FLIGHT(field) AT(flight.field)
#define IN_EXPORT(field) offsetof(ppi_config_export, field)

#define FIXED false
#define RELOADS true

#define KEY(path, type, fallback, minimum, maximum, choices, field, ...) \
  {path,    PPI_KEY_##type, fallback,  minimum,                          \
   maximum, choices,        AT(field), __VA_ARGS__},
#define ROW(path, type, ...) {path, PPI_KEY_##type, __VA_ARGS__},
const ppi_key ppi_keys[] = {
#include "schema/schema_rows.h"
};
const size_t ppi_num_keys = sizeof ppi_keys / sizeof *ppi_keys;
_Static_assert(sizeof ppi_keys / sizeof *ppi_keys <= PPI_CONFIG_MAX_KEYS,
               "each key needs room for its origin");

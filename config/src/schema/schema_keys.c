// SPDX-License-Identifier: Apache-2.0
//
// The table of keys: the one place that knows their names, types, defaults,
// bounds and help. Read by everything in schema.h.
#include "schema/schema_keys.h"

#include <stddef.h>

#include "base/defaults.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)
#define TIB (1ull << 40)
#define MOST_STEPS 1000000000ull         // sums of them stay far from overflow
#define SECOND 1000000ull                // in microseconds
#define MOST_WAIT (720 * 3600 * SECOND)  // 30 days
#define HOUR (3600 * SECOND)

#define TEXT_OF(number) #number
#define IN(number, unit) TEXT_OF(number) unit  // what the number is of

static const char *const device_modes[] = {"events", "off", NULL};
#define NAME(backend) #backend,
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
#define NAME(name) #name,
static const char *const views[] = {PPI_VIEWS(NAME) NULL};
#undef NAME

#define AT(field) offsetof(ppi_config, field)
#define IN_WINDOW(field) offsetof(ppi_config_window, field)
#define IN_FLIGHT(field) AT(flight.field)
#define IN_EXPORT(field) offsetof(ppi_config_export, field)

#define FIXED false
#define RELOADS true

// clang-format off
const ppi_key ppi_keys[] = {
    {"version", PPI_KEY_COUNT, "1", 1, 1, NULL, AT(version),
     "Version of this format.", FIXED},
    {"mode", PPI_KEY_CHOICE, "full", 0, 0, modes, AT(timer_only),
     "timer_only: record only steps and ranges of category DataLoader, for"
     " the Perf Summary at the end. Excludes `capture`, `include` and"
     " `exclude`.", FIXED},
    {"output", PPI_KEY_PATH, "pprof.%h.%p.pplog", 0, 0, NULL, AT(output),
     "The log. While the program runs its name ends in .part. A name that is"
     " taken gets a number.", FIXED},
    {"log", PPI_KEY_BOOL, "true", 0, 0, NULL, AT(log),
     "false: write no log, only what `exports` lists.", FIXED},
    {"report", PPI_KEY_CHOICE, "none", 0, 0, reports, AT(report),
     "stderr: print at the end what `pprof-report LOG` would print. Forked"
     " children do not.", FIXED},
    {"memory_limit", PPI_KEY_SIZE, IN(PPI_DEFAULT_MEMORY_MIB, "MiB"), MIB, TIB,
     NULL,
     AT(memory_limit_bytes),
     "The most memory for records that wait; at most a sixteenth of the"
     " cgroup's. Records without room are counted as lost.", FIXED},
    {"spool", PPI_KEY_TEXT, "memory", 0, 0, NULL, AT(spool),
     "Folder where records survive a crash; `memory` takes one in memory."
     " All spools take at most a quarter of its room. On a disk markers can"
     " stall.", FIXED},
    {"reclaim", PPI_KEY_BOOL, "true", 0, 0, NULL, AT(reclaim),
     "Whether a start recovers what dead processes of this user left in the"
     " folder of `spool`. Above `memory_limit`, or an eighth of the file"
     " system, the oldest are removed.", FIXED},
    {"drain_interval", PPI_KEY_DURATION, IN(PPI_DEFAULT_DRAIN_MS, "ms"), 100,
     1000000, NULL,
     AT(drain_interval_us), "How often records are collected.", FIXED},
    {"stop_wait", PPI_KEY_DURATION, IN(PPI_DEFAULT_STOP_WAIT_S, "s"), 1000,
     60000000, NULL,
     AT(stop_wait_us),
     "How long a stop waits for markers in progress and for devices.", FIXED},
    {"exit_wait", PPI_KEY_DURATION, "5s", 0, 60000000, NULL, AT(exit_wait_us),
     "How long `exit`, and a return from `main`, wait until all files are"
     " finished. 0us: leave them for `recover`.", FIXED},
    {"fork", PPI_KEY_CHOICE, "follow", 0, 0, forks, AT(fork),
     "follow: a forked child has files of its own from its first marker,"
     " with its process id in their names. off: it records nothing, and its"
     " `pprof_stop` reports that. For NVTX see `nvtx.fork`.", FIXED},
    {"capture", PPI_KEY_WINDOWS, "everything", 0, 0, NULL, 0,
     "When to record: one window, or a list of at most 16. All keys of a"
     " window are of one kind.", RELOADS},
    {"capture[].skip_first", PPI_KEY_COUNT, "0", 0, MOST_STEPS, NULL,
     IN_WINDOW(skip_first), "Cycles: steps before the first one.", FIXED},
    {"capture[].skip_first_wait", PPI_KEY_COUNT, "0", 0, 1, NULL,
     IN_WINDOW(skip_first_wait),
     "Cycles: 1 skips the `wait` of the first one.", FIXED},
    {"capture[].wait", PPI_KEY_COUNT, "0", 0, MOST_STEPS, NULL,
     IN_WINDOW(wait), "Cycles: steps in which nothing is recorded.", FIXED},
    {"capture[].warmup", PPI_KEY_COUNT, "0", 0, MOST_STEPS, NULL,
     IN_WINDOW(warmup),
     "Cycles: steps recorded and discarded.", FIXED},
    {"capture[].active", PPI_KEY_COUNT, NULL, 1, MOST_STEPS, NULL,
     IN_WINDOW(active),
     "Cycles: recorded steps. Makes a window of cycles.", FIXED},
    {"capture[].repeat", PPI_KEY_COUNT, "0", 0, MOST_STEPS, NULL,
     IN_WINDOW(repeat),
     "How many cycles, or windows in time; 0 goes on for ever.", FIXED},
    {"capture[].steps", PPI_KEY_STEPS, NULL, 0, MOST_STEPS, NULL,
     IN_WINDOW(steps),
     "[a, b] records steps a to b - 1, with one step of warm-up. No other"
     " key beside it.", FIXED},
    {"capture[].delay", PPI_KEY_DURATION, "0us", 0, MOST_WAIT, NULL,
     IN_WINDOW(delay_us),
     "Time: from the start of the session, or from `at`, to the window.",
     FIXED},
    {"capture[].duration", PPI_KEY_DURATION, NULL, 1000, MOST_WAIT, NULL,
     IN_WINDOW(duration_us),
     "Time: how long the window is. Makes a window in time.", FIXED},
    {"capture[].every", PPI_KEY_DURATION, NULL, 1000, MOST_WAIT, NULL,
     IN_WINDOW(every_us),
     "Time: from the begin of one window to the begin of the next. Without it"
     " there is one.", FIXED},
    {"capture[].at", PPI_KEY_TIME, NULL, 0, 0, NULL,
     IN_WINDOW(at_realtime_ns),
     "Time: a moment in UTC, `2026-11-22T10:00:00Z`, so that many processes"
     " record at once.", FIXED},
    {"capture[].marker", PPI_KEY_TEXT, NULL, 0, 0, NULL, IN_WINDOW(marker),
     "Marker: the exact name of a range or mark. Makes a window by"
     " occurrences.", FIXED},
    {"capture[].from", PPI_KEY_COUNT, "1", 1, MOST_STEPS, NULL,
     IN_WINDOW(from),
     "Marker: the occurrence that opens the window with its begin, counted"
     " from 1 in this process.", FIXED},
    {"capture[].to", PPI_KEY_COUNT, NULL, 1, MOST_STEPS, NULL, IN_WINDOW(to),
     "Marker: the occurrence that closes it with its end. Without it that of"
     " `from`.", FIXED},
    {"capture[].then", PPI_KEY_CHOICE, "stop", 0, 0, ends,
     IN_WINDOW(then_repeats),
     "Marker: repeat counts from 1 again after each window.", FIXED},
    {"capture[].on_demand", PPI_KEY_BOOL, NULL, 0, 0, NULL,
     IN_WINDOW(on_demand),
     "true: this window opens when `pprof-report trigger` asks. No other key"
     " beside it.", FIXED},
    {"include", PPI_KEY_GLOBS, "all", 0, 0, NULL, AT(include),
     "Names that are recorded: a list in which `*` stands for any text and"
     " `?` for one character. At most 64.", RELOADS},
    {"exclude", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(exclude),
     "Names that are not recorded; wins over `include`. Steps are always"
     " recorded. At most 64.", RELOADS},
    {"cpu", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(cpu),
     "Names of ranges with user and system time, context switches, page"
     " faults and time in the run queue. Costs eight system calls a range. At"
     " most 64.", RELOADS},
    {"waits", PPI_KEY_MAP, NULL, 1, 0, NULL, AT(waits),
     "on: waits of threads for each other are ranges, see forensics.md; or a"
     " mapping. The program links or preloads libpprof_waits.so:"
     " `pprof-report run --waits`.", FIXED},
    {"waits.io", PPI_KEY_BOOL, "false", 0, 0, NULL, AT(idle_waits),
     "Whether waits for outside events are recorded, too, with category"
     " Idle: `poll`, `epoll_wait`, `select`, `accept`, `read` of pipes and"
     " sockets.", FIXED},
    {"names", PPI_KEY_MAP, NULL, 0, 0, NULL, 0,
     "More than 32 names that differ only in numbers become one row: `decode"
     " step 481` is `decode step {}`.", FIXED},
    {"names.fold", PPI_KEY_CHOICE, "nvtx", 0, 0, folds, AT(fold),
     "Which names fold: NVTX's; all names given at run time, from a shape's"
     " second name; or none.", FIXED},
    {"names.keep", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(keep),
     "Names that never fold, such as `layer*`. At most 64.", FIXED},
    {"names.shapes", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(shapes),
     "Shapes that fold from their first name, from any source: `decode step"
     " {n}`, where `{n}` is a number. At most 64.", FIXED},
    {"names.categories", PPI_KEY_RULES, "none", 0, 0, NULL, AT(categorised),
     "Categories of names given at run time, NVTX's too: `{\"decode *\":"
     " inference}`. The first that fits wins over other sources. At most 64.",
     FIXED},
    {"names.idle", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(idle),
     "Names of waiting for work, `[\"wait for *\"]`: their category is Idle,"
     " whatever `categories` says. They are never work and never a slow first"
     " call. At most 64.", FIXED},
    {"names.full", PPI_KEY_BOOL, "false", 0, 0, NULL, AT(full_names),
     "Traces show the full name of a folded one, if its shape and up to four"
     " whole numbers give it.", FIXED},
    {"steps", PPI_KEY_MAP, NULL, 0, 0, NULL, 0,
     "Steps of a run that marks none.", FIXED},
    {"steps.begin", PPI_KEY_TEXT, "", 0, 0, NULL, AT(iteration),
     "As `--iteration`: the range that begins an iteration, outermost on its"
     " thread. Without it, repetition finds iterations.", FIXED},
    {"requests", PPI_KEY_MAP, NULL, 0, 0, NULL, 0,
     "Which requests are recorded, by the flow of `pprof_flow`.", FIXED},
    {"requests.every", PPI_KEY_COUNT, "1", 1, MOST_STEPS, NULL,
     AT(requests_every),
     "Record about one request in so many, whole, and everything outside"
     " requests. The log shrinks; markers cost the same.", FIXED},
    {"privacy", PPI_KEY_MAP, NULL, 0, 0, NULL, 0,
     "What names in files reveal.", FIXED},
    {"privacy.names", PPI_KEY_CHOICE, "keep", 0, 0, name_modes,
     AT(hash_names),
     "hash: a name becomes `#` and 12 hexadecimal digits.", FIXED},
    {"privacy.allow", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(allow),
     "Names that stay as they are with `names: hash`. At most 64.", FIXED},
    {"rotate", PPI_KEY_MAP, NULL, 0, 0, NULL, 0,
     "The log as segments, `x.0001.pplog`, `x.0002.pplog`, ...", FIXED},
    {"rotate.size", PPI_KEY_SIZE, "none", 64 * 1024, TIB, NULL,
     AT(rotate_bytes),
     "The approximate size of a segment. A long beginning, or many new names"
     " in a few hundred records, makes it larger.", FIXED},
    {"rotate.keep", PPI_KEY_COUNT, "0", 0, 1000000, NULL, AT(rotate_keep),
     "How many segments of the run to keep, the last ones; 0 is all.", FIXED},
    {"disk_limit", PPI_KEY_SIZE, "none", MIB, 1024 * TIB, NULL,
     AT(disk_limit_bytes),
     "The most that all files of the session take together. First a trace in"
     " progress goes, then old segments, never the newest whole one. Records"
     " without room are counted as lost. With `rotate.size` at least twice"
     " that and 512KiB.", FIXED},
    {"flight_recorder", PPI_KEY_MAP, NULL, 0, 0, NULL, IN_FLIGHT(given),
     "Keeps the last records in memory and writes them when a rule is true,"
     " `pprof-report trigger` asks, or the program crashes. Without this key"
     " there is none.", FIXED},
    {"flight_recorder.memory", PPI_KEY_SIZE, "16MiB", MIB, TIB, NULL,
     IN_FLIGHT(memory_bytes),
     "Its memory: a part of `memory_limit`, at most half.", FIXED},
    {"flight_recorder.before", PPI_KEY_DURATION, "10s", 0, HOUR, NULL,
     IN_FLIGHT(before_us),
     "How long before the moment a dump begins.", FIXED},
    {"flight_recorder.after", PPI_KEY_DURATION, "2s", 0, HOUR, NULL,
     IN_FLIGHT(after_us),
     "How long after the moment it ends.", FIXED},
    {"flight_recorder.output", PPI_KEY_PATH, "pprof.%h.%p.flight.pplog", 0, 0,
     NULL, IN_FLIGHT(output),
     "The first dump; later ones have a number before `.pplog`.", FIXED},
    {"flight_recorder.rules", PPI_KEY_CONDITIONS, "none", 0, 0, NULL, 0,
     "The rules that write a dump: a list of at most 16, see capture.md.",
     RELOADS},
    {"flight_recorder.every", PPI_KEY_DURATION, "60s", 0, MOST_WAIT, NULL,
     IN_FLIGHT(every_us),
     "The least time between two dumps by rules; earlier ones are counted.",
     RELOADS},
    {"flight_recorder.limit", PPI_KEY_COUNT, "10", 1, 1000000, NULL,
     IN_FLIGHT(limit),
     "The most dumps of a run; further ones are counted.", RELOADS},
    {"control", PPI_KEY_MAP, NULL, 0, 0, NULL, 0,
     "How to reach a running program, see capture.md.", FIXED},
    {"control.socket", PPI_KEY_BOOL, "true", 0, 0, NULL, AT(control.socket),
     "Whether `pprof-report trigger` can reach it.", FIXED},
    {"control.file", PPI_KEY_PATH, "", 0, 0, NULL, AT(control.file),
     "A file; each touch of it is a trigger.", FIXED},
    {"control.signal", PPI_KEY_CHOICE, "none", 0, 0, signals,
     AT(control.signal),
     "A signal that is a trigger. The program's own handler is called, too.",
     FIXED},
    {"control.reload", PPI_KEY_BOOL, "true", 0, 0, NULL, AT(control.reload),
     "Whether a change of this file takes effect while the program runs.",
     FIXED},
    {"metrics", PPI_KEY_MAP, NULL, 0, 0, NULL, 0,
     "Figures of the running process for Prometheus, see live.md.", FIXED},
    {"metrics.file", PPI_KEY_PATH, "", 0, 0, NULL, AT(metrics.file),
     "The file for node_exporter's textfile collector, replaced as a whole"
     " each time.", FIXED},
    {"metrics.every", PPI_KEY_DURATION, "15s", 100000, 3600000000ull, NULL,
     AT(metrics.every_us),
     "How often the file is written.", FIXED},
    {"metrics.buckets", PPI_KEY_TEXT, "usual", 0, 0, NULL, AT(metrics.buckets),
     "Buckets of stage histograms, also for `pprof-report metrics`. usual:"
     " 100 us to 10 s. genai: OpenTelemetry's advice for serving models. Or"
     " rising times, at most 24, such as \"1ms 10ms 1s\".", FIXED},
    {"cost", PPI_KEY_MAP, NULL, 0, 0, NULL, AT(cost.given),
     "What stages compute, for reports that `pprof-report` makes of the log,"
     " see cost.md. Options win over these keys. Reports made by the program"
     " itself ignore them.", FIXED},
    {"cost.models", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(cost.models),
     "As `--cost`: ONNX files with the stages that run them,"
     " `[detector.onnx:detect, encoder.onnx]`, at most 16. `pprof-report`"
     " reads them where it runs.", FIXED},
    {"cost.dims", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(cost.dims),
     "As `--dim`: sizes that the files leave open, `[batch=8]`.", FIXED},
    {"cost.peaks", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(cost.peaks),
     "As `--peak`: peak rates of the devices, `[bf16=989T, bytes=3.35T]`, at"
     " most 16.", FIXED},
    {"run", PPI_KEY_MAP, NULL, 0, 0, NULL, AT(run.given),
     "How `pprof-report run` runs a command, see serving.md. A line on"
     " stderr says when nothing with a category was marked.", FIXED},
    {"run.environment", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(run.environment),
     "Variables to set unless they are set: `[SWITCH=1]`. At most 64.", FIXED},
    {"run.packages", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(run.packages),
     "Python packages that the program needs with `run.environment`; `run`"
     " checks them first. At most 64.", FIXED},
    {"run.hints", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(run.hints),
     "Further reasons for an empty run: `NAME=value: text` if a process has"
     " that variable, `text` if no other fits. At most 64.", FIXED},
    {"run.hooks", PPI_KEY_GLOBS, "none", 0, 0, NULL, AT(run.hooks),
     "As `--hooks`: functions of Python packages to mark from outside, see"
     " python.md: `[torch, own.hooks]`. At most 64.", FIXED},
    {"devices", PPI_KEY_MAP, NULL, 0, 0, NULL, 0, "Timing of device work.",
     FIXED},
    {"devices.mode", PPI_KEY_CHOICE, "events", 0, 0, device_modes,
     AT(device_mode),
     "events: time device ranges. off: record their host side only.", FIXED},
    {"devices.backends", PPI_KEY_CHOICES, "none", 0, 0, backends, AT(backends),
     "Backends to open at the start, so that a missing first device is"
     " reported. Others open when the program uses them.", FIXED},
    {"devices.graphs", PPI_KEY_CHOICE, "skip", 0, 0, graph_nodes,
     AT(graph_nodes),
     "Ranges submitted into a graph capture. skip: list them without times"
     " and leave the graph as it is. external: event nodes time them at each"
     " launch and change the graph's topology.", FIXED},
    {"devices.kernels", PPI_KEY_BOOL, "false", 0, 0, NULL, AT(kernels),
     "Whether each kernel and copy is an event under the ranges that"
     " launched it, from CUPTI or OpenCL's events. No other tool can use"
     " CUPTI meanwhile.", FIXED},
    {"devices.graph_kernels", PPI_KEY_CHOICE, "launch", 0, 0, graph_kernels,
     AT(graph_kernels),
     "Kernels of a CUDA graph. launch: they belong to the ranges around its"
     " launch. capture: also to the ranges of their capture, inside those.",
     FIXED},
    {"devices.calls", PPI_KEY_BOOL, "false", 0, 0, NULL, AT(calls),
     "With `kernels`, whether all calls of CUDA are ranges of category"
     " CudaRuntime. Calls that wait for the device always are, inside other"
     " ranges.", FIXED},
    {"machine", PPI_KEY_BOOL, "false", 0, 0, NULL, AT(machine),
     "Whether the machine is sampled as counters: clocks and power of"
     " devices, quotas, use by other processes, see production.md."
     " `pprof-report run` turns it on.", FIXED},
    {"machine_without", PPI_KEY_CHOICES, "none", 0, 0, machine_sources,
     AT(machine_without),
     "Sources that `machine` does not sample.", FIXED},
    {"nvtx", PPI_KEY_MAP, NULL, 0, 0, NULL, 0,
     "How NVTX calls are recorded; with `emit`, how markers are sent to"
     " NVTX.", FIXED},
    {"nvtx.device", PPI_KEY_CHOICE, "off", 0, 0, nvtx_devices,
     AT(nvtx.device),
     "default: also time pushed ranges on the default stream of the thread's"
     " CUDA context and on named streams. off: host times only.", FIXED},
    {"nvtx.streams", PPI_KEY_RULES, "none", 0, 0, domain_streams,
     AT(nvtx.streams),
     "Where a domain's ranges work, for `device`: `{my_comm: own}`. own: on"
     " its own streams, so host times only, the default for NCCL, NVSHMEM,"
     " UCX, UCC, MPI, HorovodOps and DALI. default: on timed streams. At most"
     " 64.", FIXED},
    {"nvtx.domains", PPI_KEY_RULES, "none", 0, 0, NULL, AT(nvtx.domains),
     "Categories by the domain's name: `{NCCL: communication}`. At most 64.",
     FIXED},
    {"nvtx.categories", PPI_KEY_RULES, "none", 0, 0, NULL,
     AT(nvtx.categories),
     "Categories by the NVTX category's name; they win over `domains`. At"
     " most 64.", FIXED},
    {"nvtx.payload", PPI_KEY_CHOICE, "counter", 0, 0, payloads,
     AT(nvtx.payload),
     "Meaning of an event's number: a counter `EVENT.payload`, the request,"
     " bytes or items of the range, or nothing.", FIXED},
    {"nvtx.fields", PPI_KEY_BOOL, "true", 0, 0, NULL, AT(nvtx.fields),
     "Whether fields of payload schemas are recorded: sizes in bytes as work"
     " of the range, other numbers as counters `EVENT.field`.", FIXED},
    {"nvtx.cut_names", PPI_KEY_BOOL, "true", 0, 0, NULL, AT(nvtx.cut_names),
     "Whether names lose the part that differs at each call, such as"
     " PyTorch's `, seq = 12`.", FIXED},
    {"nvtx.fork", PPI_KEY_CHOICE, "follow", 0, 0, forks, AT(nvtx.fork),
     "follow: a forked child has a log of its own from its first range. off:"
     " it records nothing.", FIXED},
    {"nvtx.emit", PPI_KEY_BOOL, "false", 0, 0, NULL, AT(nvtx.emit),
     "true: send the program's markers also to the NVTX tool of"
     " NVTX_INJECTION64_PATH, such as Nsight Systems.", FIXED},
    {"exports", PPI_KEY_EXPORTS, "none", 0, 0, NULL, 0,
     "Further files, at most 16.", FIXED},
    {"exports[].format", PPI_KEY_CHOICE, NULL, 0, 0, formats,
     IN_EXPORT(format),
     "chrome and log are written while the program runs, the others at its"
     " stop or when their window is complete. log needs `per: window`. html:"
     " a page of the whole run, made from its log.", FIXED},
    {"exports[].path", PPI_KEY_PATH, NULL, 1, 1, NULL, IN_EXPORT(path),
     "The file. It replaces the file of an earlier run; a log takes a number"
     " instead. A Chrome trace is compressed if its name ends in .gz.", FIXED},
    {"exports[].views", PPI_KEY_VIEWS, "all", 0, 0, views, IN_EXPORT(views),
     "Which tables, by their names in docs/tables.md. Not for chrome, log and"
     " html.", FIXED},
    {"exports[].per", PPI_KEY_CHOICE, "run", 0, 0, periods,
     IN_EXPORT(per_window),
     "window: a file for each window; %w in its path is its number.", FIXED},
};
// clang-format on
const size_t ppi_num_keys = sizeof ppi_keys / sizeof *ppi_keys;
_Static_assert(sizeof ppi_keys / sizeof *ppi_keys <= PPI_CONFIG_MAX_KEYS,
               "each key needs room for its origin");

// SPDX-License-Identifier: Apache-2.0
//
// The rows of the table of keys. KEY(path, type, default, minimum, maximum,
// choices, field, help, reloads) names a field of ppi_config; ROW has the place
// of the value instead. schema_keys.h makes the fields from these rows, and
// schema_keys.c the table, so there is no include guard.
// clang-format off
KEY("version", COUNT, "1", 1, 1, NULL, version,
    "Version of this format.", FIXED)
KEY("mode", CHOICE, "full", 0, 0, modes, timer_only,
    "timer_only: record only steps and ranges of category DataLoader, for"
    " the Perf Summary at the end. Excludes `capture`, `include` and"
    " `exclude`.", FIXED)
KEY("output", PATH, "pprof.%h.%p.pplog", 0, 0, NULL, output,
    "The log. While the program runs its name ends in .part. A name that is"
    " taken gets a number.", FIXED)
KEY("log", BOOL, "true", 0, 0, NULL, log,
    "false: write no log, only what `exports` lists.", FIXED)
KEY("report", CHOICE, "none", 0, 0, reports, report,
    "stderr: print at the end what `pprof-report LOG` would print. Forked"
    " children do not.", FIXED)
KEY("memory_limit", SIZE, IN(PPI_DEFAULT_MEMORY_MIB, "MiB"), MIB, TIB, NULL,
    memory_limit_bytes,
    "The most memory for records that wait; at most a sixteenth of the"
    " cgroup's. Records without room are counted as lost.", FIXED)
KEY("spool", TEXT, "memory", 0, 0, NULL, spool,
    "Folder where records survive a crash; `memory` takes one in memory."
    " All spools take at most a quarter of its room. On a disk markers can"
    " stall.", FIXED)
KEY("reclaim", BOOL, "true", 0, 0, NULL, reclaim,
    "Whether a start recovers what dead processes of this user left in the"
    " folder of `spool`. Above `memory_limit`, or an eighth of the file"
    " system, the oldest are removed.", FIXED)
KEY("drain_interval", DURATION, IN(PPI_DEFAULT_DRAIN_MS, "ms"), 100, 1000000,
    NULL, drain_interval_us,
    "How often records are collected.", FIXED)
KEY("stop_wait", DURATION, IN(PPI_DEFAULT_STOP_WAIT_S, "s"), 1000, 60000000,
    NULL, stop_wait_us,
    "How long a stop waits for markers in progress and for devices.", FIXED)
KEY("exit_wait", DURATION, "5s", 0, 60000000, NULL, exit_wait_us,
    "How long `exit`, and a return from `main`, wait until all files are"
    " finished. 0us: leave them for `recover`.", FIXED)
KEY("fork", CHOICE, "follow", 0, 0, forks, fork,
    "follow: a forked child has files of its own from its first marker,"
    " with its process id in their names. off: it records nothing, and its"
    " `pprof_stop` reports that. For NVTX see `nvtx.fork`.", FIXED)
ROW("capture", WINDOWS, "everything", 0, 0, NULL, 0,
    "When to record: one window, or a list of at most 16. All keys of a"
    " window are of one kind.", RELOADS)
ROW("capture[].skip_first", COUNT, "0", 0, MOST_STEPS, NULL,
    IN_WINDOW(skip_first),
    "Cycles: steps before the first one.", FIXED)
ROW("capture[].skip_first_wait", COUNT, "0", 0, 1, NULL,
    IN_WINDOW(skip_first_wait),
    "Cycles: 1 skips the `wait` of the first one.", FIXED)
ROW("capture[].wait", COUNT, "0", 0, MOST_STEPS, NULL, IN_WINDOW(wait),
    "Cycles: steps in which nothing is recorded.", FIXED)
ROW("capture[].warmup", COUNT, "0", 0, MOST_STEPS, NULL, IN_WINDOW(warmup),
    "Cycles: steps recorded and discarded.", FIXED)
ROW("capture[].active", COUNT, NULL, 1, MOST_STEPS, NULL, IN_WINDOW(active),
    "Cycles: recorded steps. Makes a window of cycles.", FIXED)
ROW("capture[].repeat", COUNT, "0", 0, MOST_STEPS, NULL, IN_WINDOW(repeat),
    "How many cycles, or windows in time; 0 goes on for ever.", FIXED)
ROW("capture[].steps", STEPS, NULL, 0, MOST_STEPS, NULL, IN_WINDOW(steps),
    "[a, b] records steps a to b - 1, with one step of warm-up. No other"
    " key beside it.", FIXED)
ROW("capture[].delay", DURATION, "0us", 0, MOST_WAIT, NULL,
    IN_WINDOW(delay_us),
    "Time: from the start of the session, or from `at`, to the window.",
    FIXED)
ROW("capture[].duration", DURATION, NULL, 1000, MOST_WAIT, NULL,
    IN_WINDOW(duration_us),
    "Time: how long the window is. Makes a window in time.", FIXED)
ROW("capture[].every", DURATION, NULL, 1000, MOST_WAIT, NULL,
    IN_WINDOW(every_us),
    "Time: from the begin of one window to the begin of the next. Without it"
    " there is one.", FIXED)
ROW("capture[].at", TIME, NULL, 0, 0, NULL, IN_WINDOW(at_realtime_ns),
    "Time: a moment in UTC, `2026-11-22T10:00:00Z`, so that many processes"
    " record at once.", FIXED)
ROW("capture[].marker", TEXT, NULL, 0, 0, NULL, IN_WINDOW(marker),
    "Marker: the exact name of a range or mark. Makes a window by"
    " occurrences.", FIXED)
ROW("capture[].from", COUNT, "1", 1, MOST_STEPS, NULL, IN_WINDOW(from),
    "Marker: the occurrence that opens the window with its begin, counted"
    " from 1 in this process.", FIXED)
ROW("capture[].to", COUNT, NULL, 1, MOST_STEPS, NULL, IN_WINDOW(to),
    "Marker: the occurrence that closes it with its end. Without it that of"
    " `from`.", FIXED)
ROW("capture[].then", CHOICE, "stop", 0, 0, ends, IN_WINDOW(then_repeats),
    "Marker: repeat counts from 1 again after each window.", FIXED)
ROW("capture[].on_demand", BOOL, NULL, 0, 0, NULL, IN_WINDOW(on_demand),
    "true: this window opens when `pprof-report trigger` asks. No other key"
    " beside it.", FIXED)
KEY("include", GLOBS, "all", 0, 0, NULL, include,
    "Names that are recorded: a list in which `*` stands for any text and"
    " `?` for one character. At most 64.", RELOADS)
KEY("exclude", GLOBS, "none", 0, 0, NULL, exclude,
    "Names that are not recorded; wins over `include`. Steps are always"
    " recorded. At most 64.", RELOADS)
KEY("cpu", GLOBS, "none", 0, 0, NULL, cpu,
    "Names of ranges with user and system time, context switches, page"
    " faults and time in the run queue. Costs eight system calls a range. At"
    " most 64.", RELOADS)
ROW("waits", MAP, NULL, 1, 0, NULL, AT(waits),
    "on: waits of threads for each other are ranges, see forensics.md; or a"
    " mapping. The program links or preloads libpprof_waits.so:"
    " `pprof-report run --waits`.", RELOADS)
KEY("waits.io", BOOL, "false", 0, 0, NULL, idle_waits,
    "Whether waits for outside events are recorded, too, with category"
    " Idle: `poll`, `epoll_wait`, `select`, `accept`, input of pipes and"
    " sockets.", RELOADS)
ROW("names", MAP, NULL, 0, 0, NULL, 0,
    "More than 32 names that differ only in numbers become one row: `decode"
    " step 481` is `decode step {}`.", FIXED)
KEY("names.fold", CHOICE, "nvtx", 0, 0, folds, fold,
    "Which names fold: NVTX's; all names given at run time, from a shape's"
    " second name; or none.", FIXED)
KEY("names.keep", GLOBS, "none", 0, 0, NULL, keep,
    "Names that never fold, such as `layer*`. At most 64.", FIXED)
KEY("names.shapes", GLOBS, "none", 0, 0, NULL, shapes,
    "Shapes that fold from their first name, from any source: `decode step"
    " {n}`, where `{n}` is a number. At most 64.", FIXED)
ROW("names.categories", RULES, "none", 0, 0, NULL, AT(categorised),
    "Categories of names given at run time, NVTX's too: `{\"decode *\":"
    " inference}`. The first that fits wins over other sources. At most 64.",
    FIXED)
KEY("names.idle", GLOBS, "none", 0, 0, NULL, idle,
    "Names of waiting for work, `[\"wait for *\"]`: their category is Idle,"
    " whatever `categories` says. They are never work and never a slow first"
    " call. At most 64.", FIXED)
KEY("names.full", BOOL, "false", 0, 0, NULL, full_names,
    "Traces show the full name of a folded one, if its shape and up to four"
    " whole numbers give it.", FIXED)
ROW("steps", MAP, NULL, 0, 0, NULL, 0,
    "Steps of a run that marks none.", FIXED)
KEY("steps.begin", TEXT, "", 0, 0, NULL, iteration,
    "As `--iteration`: the range that begins an iteration, outermost on its"
    " thread. Without it, repetition finds iterations.", FIXED)
ROW("requests", MAP, NULL, 0, 0, NULL, 0,
    "Which requests are recorded, by the flow of `pprof_flow`.", FIXED)
KEY("requests.every", COUNT, "1", 1, MOST_STEPS, NULL, requests_every,
    "Record about one request in so many, whole, and everything outside"
    " requests. The log shrinks; markers cost the same.", FIXED)
ROW("privacy", MAP, NULL, 0, 0, NULL, 0,
    "What names in files reveal.", FIXED)
KEY("privacy.names", CHOICE, "keep", 0, 0, name_modes, hash_names,
    "hash: a name becomes `#` and 12 hexadecimal digits.", FIXED)
KEY("privacy.allow", GLOBS, "none", 0, 0, NULL, allow,
    "Names that stay as they are with `names: hash`. At most 64.", FIXED)
ROW("rotate", MAP, NULL, 0, 0, NULL, 0,
    "The log as segments, `x.0001.pplog`, `x.0002.pplog`, ...", FIXED)
KEY("rotate.size", SIZE, "none", 64 * 1024, TIB, NULL, rotate_bytes,
    "The approximate size of a segment. A long beginning, or many new names"
    " in a few hundred records, makes it larger.", FIXED)
KEY("rotate.keep", COUNT, "0", 0, 1000000, NULL, rotate_keep,
    "How many segments of the run to keep, the last ones; 0 is all.", FIXED)
KEY("disk_limit", SIZE, "none", MIB, 1024 * TIB, NULL, disk_limit_bytes,
    "The most that all files of the session take together. First a trace in"
    " progress goes, then old segments, never the newest whole one. Records"
    " without room are counted as lost. With `rotate.size` at least twice"
    " that and 512KiB.", FIXED)
ROW("flight_recorder", MAP, NULL, 0, 0, NULL, IN_FLIGHT(given),
    "Keeps the last records in memory and writes them when a rule is true,"
    " `pprof-report trigger` asks, or the program crashes. Without this key"
    " there is none.", FIXED)
ROW("flight_recorder.memory", SIZE, "16MiB", MIB, TIB, NULL,
    IN_FLIGHT(memory_bytes),
    "Its memory: a part of `memory_limit`, at most half.", FIXED)
ROW("flight_recorder.before", DURATION, "10s", 0, HOUR, NULL,
    IN_FLIGHT(before_us),
    "How long before the moment a dump begins.", FIXED)
ROW("flight_recorder.after", DURATION, "2s", 0, HOUR, NULL,
    IN_FLIGHT(after_us),
    "How long after the moment it ends.", FIXED)
ROW("flight_recorder.output", PATH, "pprof.%h.%p.flight.pplog", 0, 0, NULL,
    IN_FLIGHT(output),
    "The first dump; later ones have a number before `.pplog`.", FIXED)
ROW("flight_recorder.rules", CONDITIONS, "none", 0, 0, NULL, 0,
    "The rules that write a dump: a list of at most 16, see capture.md.",
    RELOADS)
ROW("flight_recorder.every", DURATION, "60s", 0, MOST_WAIT, NULL,
    IN_FLIGHT(every_us),
    "The least time between two dumps by rules; earlier ones are counted.",
    RELOADS)
ROW("flight_recorder.limit", COUNT, "10", 1, 1000000, NULL, IN_FLIGHT(limit),
    "The most dumps of a run; further ones are counted.", RELOADS)
ROW("control", MAP, NULL, 0, 0, NULL, 0,
    "How to reach a running program, see capture.md.", FIXED)
ROW("control.socket", BOOL, "true", 0, 0, NULL, AT(control.socket),
    "Whether `pprof-report trigger` can reach it.", FIXED)
ROW("control.file", PATH, "", 0, 0, NULL, AT(control.file),
    "A file; each touch of it is a trigger.", FIXED)
ROW("control.signal", CHOICE, "none", 0, 0, signals, AT(control.signal),
    "A signal that is a trigger. The program's own handler is called, too.",
    FIXED)
ROW("control.reload", BOOL, "true", 0, 0, NULL, AT(control.reload),
    "Whether a change of this file takes effect while the program runs.",
    FIXED)
ROW("metrics", MAP, NULL, 0, 0, NULL, 0,
    "Figures of the running process for Prometheus, see live.md.", FIXED)
ROW("metrics.file", PATH, "", 0, 0, NULL, AT(metrics.file),
    "The file for node_exporter's textfile collector, replaced as a whole"
    " each time.", FIXED)
ROW("metrics.every", DURATION, "15s", 100000, 3600000000ull, NULL,
    AT(metrics.every_us),
    "How often the file is written.", FIXED)
ROW("metrics.buckets", TEXT, "usual", 0, 0, NULL, AT(metrics.buckets),
    "Buckets of stage histograms, also for `pprof-report metrics`. usual:"
    " 100 us to 10 s. genai: OpenTelemetry's advice for serving models. Or"
    " rising times, at most 24, such as \"1ms 10ms 1s\".", FIXED)
ROW("cost", MAP, NULL, 0, 0, NULL, AT(cost.given),
    "What stages compute, for reports that `pprof-report` makes of the log,"
    " see cost.md. Options win over these keys. Reports made by the program"
    " itself ignore them.", FIXED)
ROW("cost.models", GLOBS, "none", 0, 0, NULL, AT(cost.models),
    "As `--cost`: ONNX files with the stages that run them,"
    " `[detector.onnx:detect, encoder.onnx]`, at most 16. `pprof-report`"
    " reads them where it runs.", FIXED)
ROW("cost.dims", GLOBS, "none", 0, 0, NULL, AT(cost.dims),
    "As `--dim`: sizes that the files leave open, `[batch=8]`.", FIXED)
ROW("cost.peaks", GLOBS, "none", 0, 0, NULL, AT(cost.peaks),
    "As `--peak`: peak rates of the devices, `[bf16=989T, bytes=3.35T]`, at"
    " most 16.", FIXED)
ROW("run", MAP, NULL, 0, 0, NULL, AT(run.given),
    "How `pprof-report run` runs a command, see serving.md. A line on"
    " stderr says when nothing with a category was marked.", FIXED)
ROW("run.environment", GLOBS, "none", 0, 0, NULL, AT(run.environment),
    "Variables to set unless they are set: `[SWITCH=1]`. At most 64.", FIXED)
ROW("run.packages", GLOBS, "none", 0, 0, NULL, AT(run.packages),
    "Python packages that the program needs with `run.environment`; `run`"
    " checks them first. At most 64.", FIXED)
ROW("run.hints", GLOBS, "none", 0, 0, NULL, AT(run.hints),
    "Further reasons for an empty run: `NAME=value: text` if a process has"
    " that variable, `text` if no other fits. At most 64.", FIXED)
ROW("run.hooks", GLOBS, "none", 0, 0, NULL, AT(run.hooks),
    "As `--hooks`: functions of Python packages to mark from outside, see"
    " python.md: `[torch, own.hooks]`. At most 64.", FIXED)
ROW("devices", MAP, NULL, 0, 0, NULL, 0,
    "Timing of device work.", FIXED)
KEY("devices.mode", CHOICE, "events", 0, 0, device_modes, device_mode,
    "events: time device ranges. off: record their host side only.", FIXED)
KEY("devices.backends", CHOICES, "none", 0, 0, backends, backends,
    "Backends to open at the start, so that a missing first device is"
    " reported. Others open when the program uses them.", FIXED)
KEY("devices.graphs", CHOICE, "skip", 0, 0, graph_nodes, graph_nodes,
    "Ranges submitted into a graph capture. skip: list them without times"
    " and leave the graph as it is. external: event nodes time them at each"
    " launch and change the graph's topology.", FIXED)
KEY("devices.kernels", BOOL, "false", 0, 0, NULL, kernels,
    "Whether each kernel and copy is an event under the ranges that"
    " launched it, from CUPTI or OpenCL's events. No other tool can use"
    " CUPTI meanwhile.", FIXED)
KEY("devices.graph_kernels", CHOICE, "launch", 0, 0, graph_kernels,
    graph_kernels,
    "Kernels of a CUDA graph. launch: they belong to the ranges around its"
    " launch. capture: also to the ranges of their capture, inside those.",
    FIXED)
KEY("devices.calls", BOOL, "false", 0, 0, NULL, calls,
    "With `kernels`, whether all calls of CUDA are ranges of category"
    " CudaRuntime. Calls that wait for the device or take its memory always"
    " are, inside other ranges.", FIXED)
KEY("machine", BOOL, "false", 0, 0, NULL, machine,
    "Whether the machine is sampled as counters: clocks and power of"
    " devices, quotas, use by other processes, see production.md."
    " `pprof-report run` turns it on.", FIXED)
KEY("machine_without", CHOICES, "none", 0, 0, machine_sources,
    machine_without,
    "Sources that `machine` does not sample.", FIXED)
ROW("nvtx", MAP, NULL, 0, 0, NULL, 0,
    "How NVTX calls are recorded; with `emit`, how markers are sent to"
    " NVTX.", FIXED)
ROW("nvtx.device", CHOICE, "off", 0, 0, nvtx_devices, AT(nvtx.device),
    "default: also time pushed ranges on the default stream of the thread's"
    " CUDA context and on named streams. off: host times only.", FIXED)
ROW("nvtx.streams", RULES, "none", 0, 0, domain_streams, AT(nvtx.streams),
    "Where a domain's ranges work, for `device`: `{my_comm: own}`. own: on its "
    "own streams, so host times only, the default for NCCL, NVSHMEM, UCX, UCC, "
    "MPI, HorovodOps and DALI. default: on timed streams. At most 64.", FIXED)
ROW("nvtx.domains", RULES, "none", 0, 0, NULL, AT(nvtx.domains),
    "Categories by the domain's name: `{NCCL: communication}`. At most 64.",
    FIXED)
ROW("nvtx.categories", RULES, "none", 0, 0, NULL, AT(nvtx.categories),
    "Categories by the NVTX category's name; they win over `domains`. At"
    " most 64.", FIXED)
ROW("nvtx.payload", CHOICE, "counter", 0, 0, payloads, AT(nvtx.payload),
    "Meaning of an event's number: a counter `EVENT.payload`, the request,"
    " bytes or items of the range, or nothing.", FIXED)
ROW("nvtx.fields", BOOL, "true", 0, 0, NULL, AT(nvtx.fields),
    "Whether fields of payload schemas are recorded: sizes in bytes as work"
    " of the range, other numbers as counters `EVENT.field`.", FIXED)
ROW("nvtx.cut_names", BOOL, "true", 0, 0, NULL, AT(nvtx.cut_names),
    "Whether names lose the part that differs at each call, such as"
    " PyTorch's `, seq = 12`.", FIXED)
ROW("nvtx.fork", CHOICE, "follow", 0, 0, forks, AT(nvtx.fork),
    "follow: a forked child has a log of its own from its first range. off:"
    " it records nothing.", FIXED)
ROW("nvtx.emit", BOOL, "false", 0, 0, NULL, AT(nvtx.emit),
    "true: send the program's markers also to the NVTX tool of"
    " NVTX_INJECTION64_PATH, such as Nsight Systems.", FIXED)
ROW("exports", EXPORTS, "none", 0, 0, NULL, 0,
    "Further files, at most 16.", FIXED)
ROW("exports[].format", CHOICE, NULL, 0, 0, formats, IN_EXPORT(format),
    "chrome and log are written while the program runs, the others at its"
    " stop or when their window is complete. log needs `per: window`. html:"
    " a page of the whole run, made from its log.", FIXED)
ROW("exports[].path", PATH, NULL, 1, 1, NULL, IN_EXPORT(path),
    "The file. It replaces the file of an earlier run; a log takes a number"
    " instead. A Chrome trace is compressed if its name ends in .gz.", FIXED)
ROW("exports[].views", VIEWS, "all", 0, 0, views, IN_EXPORT(views),
    "Which tables, by their names in docs/tables.md. Not for chrome, log and"
    " html.", FIXED)
ROW("exports[].per", CHOICE, "run", 0, 0, periods, IN_EXPORT(per_window),
    "window: a file for each window; %w in its path is its number.", FIXED)

// SPDX-License-Identifier: Apache-2.0
//
// Recognizes files of other tools that have no trace to import.
#include "import/foreign.h"

#include <string.h>
#include <strings.h>

static const char of_perf[] =
    "samples of perf, which have no ranges; speedscope opens what perf script"
    " prints";
static const char of_ftrace[] = "ftrace's text, which ui.perfetto.dev opens";
static const char of_nsys[] =
    "a report of Nsight Systems; nsys export --type sqlite writes a file that"
    " is read";
static const char of_nsys_json[] =
    "lines of nsys export --type json; its --type sqlite is read";
static const char of_nsys_columns[] =
    "columns, as nsys export --type parquetdir, arrow or hdf writes them; its"
    " --type sqlite is read";
static const char of_perfetto[] =
    "a trace of Perfetto; traceconv json IN OUT makes a Chrome trace of it";
static const char of_xplane[] =
    "a profile of XLA; the .trace.json.gz beside it is read";
static const char of_pickle[] =
    "a pickle of Python; pytorch.org/memory_viz opens PyTorch's memory"
    " snapshots, torchfrtrace its flight recorder; a trace is what"
    " torch.profiler's export_chrome_trace writes";
static const char of_snapshot[] =
    "a memory snapshot of PyTorch, which pytorch.org/memory_viz opens";
static const char of_cprofile[] =
    "sums of cProfile without times; python -m pstats FILE prints them";
static const char of_zip[] = "a zip archive; unzip it, traces in it are read";
static const char of_packed[] =
    "compressed; decompress it first, only gzip is read as it is";
static const char of_page[] =
    "a page; give the log or the trace that it was made from";
static const char of_ncu[] =
    "a report of Nsight Compute, which has no timeline; ncu --import FILE"
    " prints it";
static const char of_trtexec[] =
    "a table of trtexec has no timeline; use nsys profile trtexec ..., then "
    "nsys export --type sqlite";
static const char of_rpd[] =
    "a file of rocmProfileData; its rpd2tracing.py makes a Chrome trace";
#define WAY_OF_SPANS                                               \
  "; OpenTelemetry's JSON (OTLP) is read, which the file exporter" \
  " of its collector writes"

// A head may have zeroes.
#define HEAD(text) text, sizeof(text) - 1

const char *ppi_foreign_head(const void *bytes, size_t len) {
  static const struct {
    const char *head;
    size_t len;
    const char *what;
  } files[] = {
      {HEAD("PERFILE2"), of_perf},
      {HEAD("# tracer: "), of_ftrace},
      {HEAD("\x17\x08\x44tracing"),
       "a trace of trace-cmd; trace-cmd report prints it"},
      {HEAD("\x80\x02"), of_pickle},
      {HEAD("\x80\x03"), of_pickle},
      {HEAD("\x80\x04"), of_pickle},
      {HEAD("\x80\x05"), of_pickle},
      {HEAD("\xfb)"), of_cprofile},
      {HEAD("\xfb\xa9"), of_cprofile},
      {HEAD("PK\x03\x04"), of_zip},
      {HEAD("\x28\xb5\x2f\xfd"), of_packed},
      {HEAD("\xfd\x37zXZ\0"), of_packed},
      {HEAD("\x04\x22\x4d\x18"), of_packed},
      {HEAD("BZh"), of_packed},
      {HEAD("PAR1"), of_nsys_columns},
      {HEAD("ARROW1"), of_nsys_columns},
      {HEAD("\x89HDF"), of_nsys_columns},
      {HEAD("NVR\0"), of_ncu},
      {HEAD("memray\0"), "allocations of memray; memray flamegraph opens it"},
      {HEAD("<!DOCTYPE"), of_page},
      {HEAD("<!doctype"), of_page},
      {HEAD("<html"), of_page},
      {HEAD("<?xml"), of_page},
      {HEAD("<svg"), of_page},
      {HEAD("\x7f"
            "ELF"),
       "a program; pprof-report run -- PROGRAM records it"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (len >= files[i].len && memcmp(bytes, files[i].head, files[i].len) == 0)
      return files[i].what;
  return NULL;
}

static bool ends_in(const char *text, size_t len, const char *with) {
  size_t with_len = strlen(with);
  return len >= with_len &&
         strncasecmp(text + len - with_len, with, with_len) == 0;
}

const char *ppi_foreign_name(const char *path) {
  static const struct {
    const char *end, *what;
  } files[] = {
      {".pftrace", of_perfetto},
      {".perfetto-trace", of_perfetto},
      {".perfetto", of_perfetto},
      {".proto", of_perfetto},
      {".nsys-rep", of_nsys},
      {".qdrep", of_nsys},
      {".qdstrm", of_nsys},
      {".ncu-rep", of_ncu},
      {".xplane.pb", of_xplane},
      {".pb", "a profile of Google's pprof; go tool pprof opens it"},
      {".pickle", of_pickle},
      {".pkl", of_pickle},
      {".tracy", "a trace of Tracy; tracy-csvexport prints it"},
      {".otf2", "a trace in OTF2, which Vampir opens"},
  };
  size_t len = strlen(path);
  if (ends_in(path, len, ".gz")) len -= 3;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (ends_in(path, len, files[i].end)) return files[i].what;
  return NULL;
}

const char *ppi_foreign_key(const char *key, size_t len) {
  static const struct {
    const char *key, *what;
  } files[] = {
      {"profiles",
       "a profile of speedscope; what it was made from may be a Chrome trace,"
       " as py-spy record -f chrometrace writes"},
      {"libs",
       "a profile of the Firefox profiler, which has samples;"
       " profiler.firefox.com opens it"},
      {"linux-perf-json-version", of_perf},
      {"systemTraceEvents", of_ftrace},
      {"rocprofiler-sdk-tool",
       "rocprofv3's own JSON; rocprof --hip-trace writes a Chrome trace"},
      {"NvtxEvent", of_nsys_json},
      {"CudaEvent", of_nsys_json},
      {"TraceProcessEvent", of_nsys_json},
      {"device_traces", of_snapshot},
      {"segments", of_snapshot},
      {"Layers",
       "layers of trtexec without times; nsys profile trtexec ..., then nsys"
       " export --type sqlite writes a file that is read"},
      {"root_frame",
       "samples of pyinstrument; pyinstrument --load FILE prints them"},
      {"alloc_samples", "samples of scalene; scalene view opens them"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (strlen(files[i].key) == len && memcmp(files[i].key, key, len) == 0)
      return files[i].what;
  return NULL;
}

static bool has(const char *head, size_t len, const char *key) {
  return memmem(head, len, key, strlen(key)) != NULL;
}

// Both keys must be in the file's head.
const char *ppi_foreign_list(const char *head, size_t len) {
  static const struct {
    const char *keys[2], *what;
  } files[] = {
      {{"\"timestamps\"", "\"ns\""},
       "a trace of Triton Inference Server; its --trace-config"
       " mode=opentelemetry sends spans, and OpenTelemetry's JSON is read"},
      {{"\"timeMs\"", "\"percentage\""}, of_trtexec},
      {{"\"timeMs\"", "\"averageMs\""}, of_trtexec},
      {{"\"latencyMs\"", "\"computeMs\""}, of_trtexec},
      {{"\"nodes\"", "\"timeDeltas\""},
       "a CPU profile of V8, which has samples; speedscope opens it"},
      {{"\"nodes\"", "\"schema\""},
       "a graph of nodes, as PyTorch's ExecutionTraceObserver writes; the"
       " trace of torch.profiler is read"},
      {{"\"traceID\"", "\"spans\""}, "spans of Jaeger" WAY_OF_SPANS},
      {{"\"traceId\"", "\"duration\""}, "spans of Zipkin" WAY_OF_SPANS},
      {{"\"traceId\"", "\"timestamp\""}, "spans of Zipkin" WAY_OF_SPANS},
      {{"\"traceId\"", "\"annotations\""}, "spans of Zipkin" WAY_OF_SPANS},
      {{"\"trace_id\"", "\"span_id\""}, "spans" WAY_OF_SPANS},
  };
  if (has(head, len, "\"ph\"")) return NULL;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (has(head, len, files[i].keys[0]) && has(head, len, files[i].keys[1]))
      return files[i].what;
  return NULL;
}

// Looks for a key's quote, a colon and blanks before a value that is not JSON.
// Inside a string the quote would be escaped.
const char *ppi_foreign_bare(const char *head, size_t len) {
  static const char *const values[] = {"0x", "nccl", "(nil)"};
  const char *end = head + len;
  for (const char *at = head;
       (at = memmem(at, (size_t)(end - at), "\":", 2));) {
    bool is_escaped = at > head && at[-1] == '\\';
    for (at += 2; at < end && *at == ' ';) at++;
    for (size_t i = 0; i < sizeof values / sizeof *values && !is_escaped; i++)
      if ((size_t)(end - at) >= strlen(values[i]) &&
          memcmp(at, values[i], strlen(values[i])) == 0)
        return "bare words and hexadecimal numbers of NCCL's profiler plugin "
               "are no JSON; quote them: sed -E 's/\": "
               "*(0x[0-9a-f]+|nccl[A-Za-z0-9]+|\\(nil\\))/\": \"\\1\"/g' IN "
               ">OUT";
  }
  return NULL;
}

const char *ppi_foreign_table(const char *name) {
  static const struct {
    const char *begin, *what;
  } files[] = {
      {"rocpd_api", of_rpd},
      {"rocpd_op", of_rpd},
      {"rocpd_",
       "a file of rocprofv3 (rocpd): use rocpd convert -i FILE -f pftrace, "
       "then traceconv json IN OUT"},
      {"StringTable",
       "a file of nvprof; nsys records what it did, and nsys export --type"
       " sqlite writes a file that is read"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (strncmp(name, files[i].begin, strlen(files[i].begin)) == 0)
      return files[i].what;
  return NULL;
}

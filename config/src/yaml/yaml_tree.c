// SPDX-License-Identifier: Apache-2.0
//
// Turns libyaml's events into a tree, and refuses all YAML that a configuration
// does not need.
#include "yaml/yaml_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "base/base.h"
#include "base/descriptor.h"
#include "base/mem.h"
#include "file/utf8.h"

#define LONGEST_SOURCE 120
#define LONGEST_QUOTE 40

pprof_status ppi_yaml_fail(const char *source, ppi_yaml_mark mark,
                           pprof_error *error, const char *format, ...) {
  if (!error) return PPROF_STATUS_CONFIG;
  size_t len = strlen(source);
  const char *cut = len > LONGEST_SOURCE ? "..." : "";
  int used = snprintf(error->text, sizeof error->text, "%s%s:%u:%u: ", cut,
                      source + (*cut ? len - LONGEST_SOURCE : 0), mark.line,
                      mark.column);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text + used, sizeof error->text - (size_t)used, format,
            arguments);
  va_end(arguments);
  return PPROF_STATUS_CONFIG;
}

ppi_quote ppi_quote_of(const char *text) {
  ppi_quote quote = {""};
  size_t len = 0;
  const unsigned char *at = (const unsigned char *)text;
  const unsigned char *end = at + strlen(text);
  while (at < end && len < LONGEST_QUOTE) {
    size_t length = ppi_utf8_length(at, end);
    bool shown = length && !ppi_utf8_is_invisible(ppi_utf8_code(at, length));
    memcpy(quote.text + len, shown ? (const char *)at : "?",
           shown ? length : 1);
    len += shown ? length : 1;
    at += length ? length : 1;
  }
  if (at < end) memcpy(quote.text + len, "...", 4);
  return quote;
}

void ppi_yaml_init(ppi_yaml *yaml, const char *source) {
  *yaml = (ppi_yaml){.source = source};
}

void ppi_yaml_clear(ppi_yaml *yaml) {
  while (yaml->all) {
    ppi_yaml_node *node = yaml->all;
    yaml->all = node->all;
    PPI_FREE_ALL(node->key, node->text, node);
  }
  yaml->root = NULL;
  yaml->num_nodes = 0;
}

ppi_yaml_node *ppi_yaml_add(ppi_yaml *yaml, ppi_yaml_kind kind,
                            ppi_yaml_mark mark) {
  ppi_yaml_node *node = ppi_alloc(sizeof *node);
  if (!node) return NULL;
  node->kind = kind;
  node->line = mark.line;
  node->column = mark.column;
  node->key_line = mark.line;
  node->key_column = mark.column;
  node->all = yaml->all;
  yaml->all = node;
  yaml->num_nodes++;
  return node;
}

ppi_yaml_node *ppi_yaml_find(const ppi_yaml_node *map, const char *key) {
  for (ppi_yaml_node *at = map->children; at; at = at->next)
    if (at->key && strcmp(at->key, key) == 0) return at;
  return NULL;
}

static void append(ppi_yaml_node *parent, ppi_yaml_node *child) {
  ppi_yaml_node **end = &parent->children;
  while (*end) end = &(*end)->next;
  *end = child;
  parent->num_children++;
}

pprof_status ppi_yaml_attach(ppi_yaml *yaml, ppi_yaml_node *map,
                             ppi_yaml_node *child, const char *key,
                             pprof_error *error) {
  const ppi_yaml_node *first = ppi_yaml_find(map, key);
  if (first) {
    ppi_yaml_mark mark = {child->key_line, child->key_column};
    return ppi_yaml_fail(yaml->source, mark, error,
                         "key '%s' stands here twice (first in line %u)",
                         ppi_quote_of(key).text, first->key_line);
  }
  child->key = ppi_strdup(key);
  if (!child->key)
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  append(map, child);
  return PPROF_STATUS_OK;
}

// One document on its way from events to a tree.
typedef struct builder {
  ppi_yaml *yaml;
  ppi_yaml_mark origin;
  ppi_yaml_node *open[PPI_YAML_MAX_DEPTH];
  size_t depth;
  char *key;  // of the value to come, in a map
  ppi_yaml_mark key_mark;
  ppi_yaml_node *root;
  pprof_error *error;
} builder;

static ppi_yaml_mark mark_of(const builder *build, const yaml_mark_t *mark) {
  ppi_yaml_mark at = {(uint32_t)mark->line + build->origin.line,
                      (uint32_t)mark->column + 1};
  if (mark->line == 0) at.column += build->origin.column - 1;
  return at;
}

static pprof_status refuse(builder *build, const yaml_mark_t *mark,
                           const char *why) {
  return ppi_yaml_fail(build->yaml->source, mark_of(build, mark), build->error,
                       "%s", why);
}

static pprof_status no_memory(builder *build) {
  return ppi_fail(build->error, PPROF_STATUS_NO_MEMORY, "out of memory");
}

static bool wants_key(const builder *build) {
  return build->depth > 0 && !build->key &&
         build->open[build->depth - 1]->kind == PPI_YAML_MAP;
}

static pprof_status add_node(builder *build, const yaml_event_t *event,
                             ppi_yaml_kind kind, ppi_yaml_node **out) {
  if (build->yaml->num_nodes >= PPI_YAML_MAX_NODES)
    return refuse(build, &event->start_mark, "more than 4096 values");
  if (wants_key(build))
    return refuse(build, &event->start_mark, "a key must be plain text");
  ppi_yaml_node *node =
      ppi_yaml_add(build->yaml, kind, mark_of(build, &event->start_mark));
  if (!node) return no_memory(build);
  *out = node;
  if (build->depth == 0) {
    build->root = node;
    return PPROF_STATUS_OK;
  }
  ppi_yaml_node *parent = build->open[build->depth - 1];
  if (parent->kind == PPI_YAML_LIST) {
    append(parent, node);
    return PPROF_STATUS_OK;
  }
  node->key_line = build->key_mark.line;
  node->key_column = build->key_mark.column;
  pprof_status status =
      ppi_yaml_attach(build->yaml, parent, node, build->key, build->error);
  ppi_free(build->key);
  build->key = NULL;
  return status;
}

static pprof_status on_scalar(builder *build, const yaml_event_t *event) {
  const char *text = (const char *)event->data.scalar.value;
  if (event->data.scalar.anchor)
    return refuse(build, &event->start_mark, "anchors are not accepted");
  if (event->data.scalar.tag)
    return refuse(build, &event->start_mark, "tags are not accepted");
  if (strlen(text) != event->data.scalar.length)
    return refuse(build, &event->start_mark, "a NUL character in text");
  if (wants_key(build)) {
    build->key = ppi_strdup(text);
    build->key_mark = mark_of(build, &event->start_mark);
    return build->key ? PPROF_STATUS_OK : no_memory(build);
  }
  ppi_yaml_node *node;
  PPI_TRY(add_node(build, event, PPI_YAML_SCALAR, &node));
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  node->text = ppi_strdup(text);
  return node->text ? PPROF_STATUS_OK : no_memory(build);
}

static pprof_status on_begin(builder *build, const yaml_event_t *event,
                             ppi_yaml_kind kind) {
  bool is_map = kind == PPI_YAML_MAP;
  if (is_map ? event->data.mapping_start.anchor
             : event->data.sequence_start.anchor)
    return refuse(build, &event->start_mark, "anchors are not accepted");
  if (is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag)
    return refuse(build, &event->start_mark, "tags are not accepted");
  if (build->depth == PPI_YAML_MAX_DEPTH)
    return refuse(build, &event->start_mark, "nested deeper than 16 levels");
  ppi_yaml_node *node;
  pprof_status status = add_node(build, event, kind, &node);
  if (status == PPROF_STATUS_OK) build->open[build->depth++] = node;
  return status;
}

static pprof_status on_event(builder *build, const yaml_event_t *event,
                             unsigned *documents) {
  switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
      if (++*documents > 1)
        return refuse(build, &event->start_mark, "a second document");
      if (event->data.document_start.tag_directives.start !=
          event->data.document_start.tag_directives.end)
        return refuse(build, &event->start_mark, "tags are not accepted");
      return PPROF_STATUS_OK;
    case YAML_ALIAS_EVENT:
      return refuse(build, &event->start_mark, "aliases are not accepted");
    case YAML_SCALAR_EVENT:
      return on_scalar(build, event);
    case YAML_MAPPING_START_EVENT:
      return on_begin(build, event, PPI_YAML_MAP);
    case YAML_SEQUENCE_START_EVENT:
      return on_begin(build, event, PPI_YAML_LIST);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      build->depth--;
      return PPROF_STATUS_OK;
    default:
      return PPROF_STATUS_OK;
  }
}

static pprof_status syntax_error(builder *build, const yaml_parser_t *parser) {
  if (parser->error == YAML_MEMORY_ERROR) return no_memory(build);
  const char *problem = parser->problem ? parser->problem : "not valid YAML";
  const char *context = parser->context ? parser->context : "";
  // Other tools write steps 10 to 19 like this.
  const char *hint = strstr(problem, "']'")
                         ? "; a list ends with ']': [10, 20) is [10, 20] here"
                         : "";
  return ppi_yaml_fail(build->yaml->source,
                       mark_of(build, &parser->problem_mark), build->error,
                       "%s%s%s%s", problem, *context ? " " : "", context, hint);
}

static pprof_status run_parser(builder *build, yaml_parser_t *parser) {
  unsigned documents = 0;
  for (bool last = false; !last;) {
    yaml_event_t event;
    if (!yaml_parser_parse(parser, &event)) return syntax_error(build, parser);
    last = event.type == YAML_STREAM_END_EVENT;
    pprof_status status = on_event(build, &event, &documents);
    yaml_event_delete(&event);
    if (status != PPROF_STATUS_OK) return status;
  }
  return PPROF_STATUS_OK;
}

// libyaml ends at NUL and reports invalid bytes without line and column, so
// bytes are checked first.
static pprof_status check_bytes(const ppi_yaml *yaml, const char *bytes,
                                size_t len, ppi_yaml_mark mark,
                                pprof_error *error) {
  if (len > PPI_YAML_MAX_BYTES)
    return ppi_yaml_fail(yaml->source, mark, error, "larger than 1 MiB");
  const unsigned char *at = (const unsigned char *)bytes, *end = at + len;
  while (at < end) {
    size_t length = ppi_utf8_length(at, end);
    if (length == 0)
      return ppi_yaml_fail(yaml->source, mark, error,
                           "byte 0x%02x is not valid UTF-8", *at);
    if (length == 1 && (*at < 0x20 || *at == 0x7f) && !strchr("\t\n\r", *at))
      return ppi_yaml_fail(yaml->source, mark, error,
                           "control character 0x%02x", *at);
    if (*at == 0)
      return ppi_yaml_fail(yaml->source, mark, error, "control character 0x00");
    if (*at == '\n') mark.line++;
    mark.column = *at == '\n' ? 1 : mark.column + 1;
    at += length;
  }
  return PPROF_STATUS_OK;
}

pprof_status ppi_yaml_parse(ppi_yaml *yaml, const char *bytes, size_t len,
                            ppi_yaml_mark mark, ppi_yaml_node **out,
                            pprof_error *error) {
  pprof_status status = check_bytes(yaml, bytes, len, mark, error);
  if (status != PPROF_STATUS_OK) return status;
  builder build = {.yaml = yaml, .origin = mark, .error = error};
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) return no_memory(&build);
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, len);
  status = run_parser(&build, &parser);
  yaml_parser_delete(&parser);
  ppi_free(build.key);
  if (status == PPROF_STATUS_OK) *out = build.root;
  return status;
}

static pprof_status read_bytes(int fd, char *bytes, size_t *out_len) {
  int times = 0;
  while (*out_len <= PPI_YAML_MAX_BYTES) {
    ssize_t got = read(fd, bytes + *out_len, PPI_YAML_MAX_BYTES + 1 - *out_len);
    if (got < 0 && ppi_fd_interrupted(&times)) continue;
    if (got < 0) return PPROF_STATUS_IO;
    if (got == 0) break;
    *out_len += (size_t)got;
  }
  return PPROF_STATUS_OK;
}

// Opened without waiting: a pipe may never have a writer.
static int open_file(const ppi_yaml *yaml, pprof_error *error) {
  int fd = ppi_fd_open(yaml->source, O_RDONLY | O_NONBLOCK, 0);
  struct stat found;
  if (fd < 0 || fstat(fd, &found) != 0) {
    ppi_fail(error, PPROF_STATUS_IO, "%s: %s", yaml->source, strerror(errno));
  } else if (S_ISFIFO(found.st_mode)) {
    ppi_fail(error, PPROF_STATUS_IO, "%s: is a pipe, not a file", yaml->source);
  } else {
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

// Some editors put a byte order mark at the begin of a file.
static size_t mark_len(const char *bytes, size_t len) {
  return len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

pprof_status ppi_yaml_read_text(ppi_yaml *yaml, const char *bytes, size_t len,
                                pprof_error *error) {
  size_t skip = mark_len(bytes, len);
  return ppi_yaml_parse(yaml, bytes + skip, len - skip, (ppi_yaml_mark){1, 1},
                        &yaml->root, error);
}

pprof_status ppi_yaml_read(ppi_yaml *yaml, pprof_error *error) {
  int fd = open_file(yaml, error);
  if (fd < 0) return PPROF_STATUS_IO;
  char *bytes = ppi_alloc(PPI_YAML_MAX_BYTES + 1);
  size_t len = 0;
  pprof_status status =
      bytes ? read_bytes(fd, bytes, &len)
            : ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  if (status == PPROF_STATUS_IO)
    ppi_fail(error, status, "%s: %s", yaml->source, strerror(errno));
  close(fd);
  PPI_THEN(status, ppi_yaml_read_text(yaml, bytes, len, error));
  ppi_free(bytes);
  return status;
}

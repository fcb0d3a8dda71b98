// SPDX-License-Identifier: Apache-2.0
//
// Boost.JSON's incremental parser behind json.h. Its implementation is compiled
// into this file alone.
#include "json.h"

#include <cstdio>
#include <cstring>
#include <new>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>

namespace {

using boost::json::error_code;
using boost::json::string_view;

// Turns the parser's calls into tokens. Text that was cut between two calls of
// write is put together again for keys and numbers.
class Handler {
 public:
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);

  Handler(ppi_json_take take, void *context) : take_(take), context_(context) {}

  bool on_document_begin(error_code &) {
    return true;
  }
  bool on_document_end(error_code &) {
    return true;
  }
  bool on_object_begin(error_code &error) {
    return Tell(PPI_JSON_OBJECT, error);
  }
  bool on_object_end(std::size_t, error_code &error) {
    return Tell(PPI_JSON_OBJECT_END, error);
  }
  bool on_array_begin(error_code &error) {
    return Tell(PPI_JSON_ARRAY, error);
  }
  bool on_array_end(std::size_t, error_code &error) {
    return Tell(PPI_JSON_ARRAY_END, error);
  }
  bool on_key_part(string_view text, std::size_t, error_code &) {
    Keep(text);
    return true;
  }
  bool on_key(string_view text, std::size_t, error_code &error) {
    text = Joined(text);
    return Tell({PPI_JSON_KEY, text.data(), Cut(text.size()), 0}, error);
  }
  bool on_string_part(string_view text, std::size_t, error_code &error) {
    return Tell({PPI_JSON_STRING_PART, text.data(), text.size(), 0}, error);
  }
  bool on_string(string_view text, std::size_t, error_code &error) {
    return Tell({PPI_JSON_STRING, text.data(), text.size(), 0}, error);
  }
  bool on_number_part(string_view text, error_code &) {
    Keep(text);
    return true;
  }
  bool on_int64(std::int64_t value, string_view text, error_code &error) {
    return Number(static_cast<double>(value), text, error);
  }
  bool on_uint64(std::uint64_t value, string_view text, error_code &error) {
    return Number(static_cast<double>(value), text, error);
  }
  bool on_double(double value, string_view text, error_code &error) {
    return Number(value, text, error);
  }
  bool on_bool(bool value, error_code &error) {
    return Tell(value ? PPI_JSON_TRUE : PPI_JSON_FALSE, error);
  }
  bool on_null(error_code &error) {
    return Tell(PPI_JSON_NULL, error);
  }
  bool on_comment_part(string_view, error_code &) {
    return true;
  }
  bool on_comment(string_view, error_code &) {
    return true;
  }

  bool stopped() const {
    return stopped_;
  }

 private:
  static std::size_t Cut(std::size_t len) {
    return len < PPI_JSON_MAX_KEY ? len : PPI_JSON_MAX_KEY;
  }

  bool Tell(const ppi_json_token &token, error_code &error) {
    kept_len_ = 0;
    if (take_(context_, &token)) return true;
    stopped_ = true;
    error = boost::json::error::incomplete;
    return false;
  }
  bool Tell(ppi_json_kind kind, error_code &error) {
    return Tell({kind, "", 0, 0}, error);
  }
  bool Number(double value, string_view text, error_code &error) {
    text = Joined(text);
    return Tell({PPI_JSON_NUMBER, text.data(), Cut(text.size()), value}, error);
  }

  void Keep(string_view text) {
    std::size_t room = sizeof kept_ - kept_len_;
    std::size_t len = text.size() < room ? text.size() : room;
    std::memcpy(kept_ + kept_len_, text.data(), len);
    kept_len_ += len;
  }
  string_view Joined(string_view text) {
    if (kept_len_ == 0) return text;
    Keep(text);
    return string_view(kept_, kept_len_);
  }

  ppi_json_take take_;
  void *context_;
  bool stopped_ = false;
  std::size_t kept_len_ = 0;
  char kept_[PPI_JSON_MAX_KEY];
};

boost::json::parse_options Options() {
  boost::json::parse_options options;
  options.max_depth = PPI_JSON_MAX_DEPTH;
  // Chrome's own traces may end their list in a comma, and names are whatever
  // bytes a program had.
  options.allow_trailing_commas = true;
  options.allow_invalid_utf8 = true;
  return options;
}

}  // namespace

struct ppi_json {
  ppi_json(ppi_json_take take, void *context)
      : parser(Options(), take, context) {}

  boost::json::basic_parser<Handler> parser;
  char error[128] = "";
};

static ppi_json_state Fail(ppi_json *json, const error_code &error) {
  if (json->parser.handler().stopped()) return PPI_JSON_STOPPED;
  if (error == boost::json::error::too_deep)
    std::snprintf(json->error, sizeof json->error, "nested deeper than %d",
                  PPI_JSON_MAX_DEPTH);
  else if (error == boost::json::error::incomplete)
    std::snprintf(json->error, sizeof json->error, "it ends too early");
  else
    std::snprintf(json->error, sizeof json->error, "not JSON: %s",
                  error.message().c_str());
  return PPI_JSON_BAD;
}

// Nothing here throws but for lack of memory.
extern "C" ppi_json *ppi_json_create(ppi_json_take take, void *context) {
  try {
    return new ppi_json(take, context);
  } catch (...) {
    return nullptr;
  }
}

extern "C" void ppi_json_destroy(ppi_json *json) {
  delete json;
}

extern "C" ppi_json_state ppi_json_write(ppi_json *json, const char *bytes,
                                         size_t len, size_t *out_used) {
  try {
    error_code error;
    *out_used = json->parser.write_some(len > 0, bytes, len, error);
    if (error) return Fail(json, error);
    return json->parser.done() ? PPI_JSON_DONE : PPI_JSON_MORE;
  } catch (...) {
    *out_used = 0;
    std::snprintf(json->error, sizeof json->error, "out of memory");
    return PPI_JSON_BAD;
  }
}

extern "C" const char *ppi_json_error(const ppi_json *json) {
  return json->error;
}

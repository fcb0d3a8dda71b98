// SPDX-License-Identifier: Apache-2.0
//
// Parses JSON with Boost.JSON's incremental parser. Only this file compiles the
// library's implementation.
#include "json/json.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <new>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>

namespace {

using boost::json::error_code;
using boost::json::string_view;

// Turns the parser's calls into tokens. Keys and numbers that two calls of
// write cut are joined again.
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
    return is_muted || Tell(PPI_JSON_NULL, error);
  }
  bool on_comment_part(string_view, error_code &) {
    return true;
  }
  bool on_comment(string_view, error_code &) {
    return true;
  }

  bool is_muted = false;

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
  // Chrome's traces may end their list in a comma. Names may have any bytes.
  options.allow_trailing_commas = true;
  options.allow_invalid_utf8 = true;
  return options;
}

}  // namespace

struct ppi_json {
  ppi_json(ppi_json_take take, void *user)
      : context(user), parser(Options(), take, user) {}

  void *context;
  ppi_json_take_whole whole = nullptr;
  boost::json::basic_parser<Handler> parser;
  char error[128] = "";
  std::uint64_t num_not_finite = 0, num_raw_controls = 0;
  bool in_string = false, is_escaped = false;  // after the last byte fed
  char last = '\0';                            // white space aside
  char buffered[sizeof "-Infinity"];           // a word so far
  std::size_t num_buffered = 0;
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

extern "C" void ppi_json_set_whole(ppi_json *json, ppi_json_take_whole whole) {
  json->whole = whole;
}

static bool KeepNumber(void *number, const ppi_json_token *token) {
  if (token->kind == PPI_JSON_NUMBER)
    *static_cast<double *>(number) = token->number;
  return true;
}

extern "C" double ppi_json_number(const char *text, size_t len) {
  double number = 0;
  error_code error;
  boost::json::basic_parser<Handler> parser(Options(), KeepNumber, &number);
  parser.write_some(false, text, len, error);
  return number;
}

// ---- what JSON lacks ----

// The next byte outside a string begins a value.
static bool IsValue(const ppi_json *json) {
  return json->last == ':' || json->last == '[' || json->last == ',';
}

static void KeepLast(ppi_json *json, string_view bytes) {
  std::size_t at = bytes.find_last_not_of(" \t\r\n");
  if (at != string_view::npos) json->last = bytes[at];
}

static bool Ends(const ppi_json *json, const error_code &error) {
  return error || json->parser.done();
}

static bool IsControl(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

// Whether one of these eight bytes is below `least` or one of `chars`; a byte
// beyond ASCII may count as one, too.
static bool HasAny(const char *bytes, string_view chars, unsigned char least) {
  constexpr std::uint64_t ones = 0x0101010101010101, highs = ones << 7;
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  std::uint64_t found = least ? word - ones * least : 0;
  for (char c : chars)
    found |= (word ^ ones * static_cast<unsigned char>(c)) - ones;
  return found & highs;
}

// Whether NaN, Infinity or -Infinity may begin here, outside of a string.
static bool BeginsWord(string_view bytes) {
  return bytes[0] == 'N' || bytes[0] == 'I' ||
         (bytes[0] == '-' && (bytes.size() == 1 || bytes[1] == 'I'));
}

// The place of the first word, or raw control character in a string, or else
// the end of `bytes`. JSON wants such characters escaped; some writers do not.
static std::size_t FindSpecial(ppi_json *json, string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const bool in_string = json->in_string;
    const string_view chars = in_string ? "\"\\" : "\"NI-";
    while (at + 8 <= bytes.size() && !json->is_escaped &&
           !HasAny(bytes.data() + at, chars, in_string ? 0x20 : 0))
      at += 8;
    std::size_t end = std::min(at + 8, bytes.size());
    for (; at < end && json->in_string == in_string; at++) {
      if (in_string ? !json->is_escaped && IsControl(bytes[at])
                    : BeginsWord(bytes.substr(at)))
        return at;
      bool is_quote = bytes[at] == '"' && !json->is_escaped;
      json->is_escaped = in_string && bytes[at] == '\\' && !json->is_escaped;
      json->in_string = in_string != is_quote;
    }
  }
  return bytes.size();
}

static std::size_t Write(ppi_json *json, string_view bytes, error_code &error) {
  if (bytes.empty()) return 0;
  std::size_t used =
      json->parser.write_some(true, bytes.data(), bytes.size(), error);
  KeepLast(json, bytes.substr(0, used));
  return used;
}

// A word for a number that is not finite becomes null.
static void EndWord(ppi_json *json, error_code &error) {
  string_view word(json->buffered, json->num_buffered);
  bool is_known = word == "NaN" || word == "Infinity" || word == "-Infinity";
  json->num_buffered = 0;
  if (is_known && IsValue(json)) {
    json->num_not_finite++;
    word = "null";
  }
  Write(json, word, error);
}

// Takes a word, or as much of it as is here.
static std::size_t TakeWord(ppi_json *json, string_view bytes,
                            error_code &error) {
  std::size_t len = 0;
  while (len < bytes.size() && json->num_buffered < sizeof json->buffered &&
         (std::isalpha(static_cast<unsigned char>(bytes[len])) ||
          (bytes[len] == '-' && json->num_buffered == 0)))
    json->buffered[json->num_buffered++] = bytes[len++];
  if (len < bytes.size()) EndWord(json, error);
  return len;
}

static void EscapeControl(ppi_json *json, char c, error_code &error) {
  char escaped[8];
  std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
  Write(json, string_view(escaped, 6), error);
  if (!error) json->num_raw_controls++;
}

static std::size_t Feed(ppi_json *json, string_view bytes, error_code &error) {
  std::size_t used = 0;
  if (json->num_buffered > 0) used = TakeWord(json, bytes, error);
  while (used < bytes.size() && !Ends(json, error)) {
    std::size_t len = FindSpecial(json, bytes.substr(used));
    std::size_t written = Write(json, bytes.substr(used, len), error);
    used += written;
    if (written < len || used == bytes.size() || Ends(json, error)) break;
    if (json->in_string)
      EscapeControl(json, bytes[used++], error);
    else
      used += TakeWord(json, bytes.substr(used), error);
  }
  return used;
}

// The parser gets one null for all values that `whole` took.
static std::size_t TakeWhole(ppi_json *json, string_view bytes,
                             error_code &error) {
  if (!json->whole || json->num_buffered > 0 || json->in_string ||
      !IsValue(json) || json->last == ':')
    return 0;
  std::size_t used = json->whole(json->context, bytes.data());
  if (used == 0) return 0;
  json->parser.handler().is_muted = true;
  Write(json, "null", error);
  json->parser.handler().is_muted = false;
  return used;
}

// The bytes up to the next element that `whole` may take.
static string_view PieceOf(const ppi_json *json, string_view bytes) {
  std::size_t end = json->whole ? bytes.find('}') : string_view::npos;
  if (end == string_view::npos) return bytes;
  end = bytes.find_first_not_of(" \t\r\n", end + 1);
  if (end == string_view::npos) return bytes;
  return bytes.substr(0, end + (bytes[end] == ','));
}

static std::size_t FeedAll(ppi_json *json, string_view bytes,
                           error_code &error) {
  std::size_t used = 0;
  do {
    used += TakeWhole(json, bytes.substr(used), error);
    if (used == bytes.size()) break;
    used += Feed(json, PieceOf(json, bytes.substr(used)), error);
  } while (used < bytes.size() && !Ends(json, error));
  return used;
}

extern "C" ppi_json_state ppi_json_write(ppi_json *json, const char *bytes,
                                         size_t len, size_t *out_used) {
  try {
    error_code error;
    if (len > 0) {
      *out_used = FeedAll(json, string_view(bytes, len), error);
    } else {
      *out_used = 0;
      if (json->num_buffered > 0) EndWord(json, error);
      if (!error) json->parser.write_some(false, bytes, 0, error);
    }
    if (error) return Fail(json, error);
    return json->parser.done() ? PPI_JSON_DONE : PPI_JSON_MORE;
  } catch (...) {
    *out_used = 0;
    std::snprintf(json->error, sizeof json->error, "out of memory");
    return PPI_JSON_BAD;
  }
}

extern "C" uint64_t ppi_json_num_not_finite(const ppi_json *json) {
  return json->num_not_finite;
}

extern "C" uint64_t ppi_json_num_raw_controls(const ppi_json *json) {
  return json->num_raw_controls;
}

extern "C" const char *ppi_json_error(const ppi_json *json) {
  return json->error;
}

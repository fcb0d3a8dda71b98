// SPDX-License-Identifier: Apache-2.0
//
// Parses JSON with Boost.JSON's incremental parser. Only this file compiles the
// library's implementation.
#include "json/json.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
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
    in_text_ = true;
    Keep(text);
    return true;
  }
  bool on_key(string_view text, std::size_t, error_code &error) {
    in_text_ = false;
    text = Joined(text);
    return Tell({PPI_JSON_KEY, text.data(), Cut(text.size()), 0}, error);
  }
  bool on_string_part(string_view text, std::size_t, error_code &error) {
    in_text_ = true;
    return Tell({PPI_JSON_STRING_PART, text.data(), text.size(), 0}, error);
  }
  bool on_string(string_view text, std::size_t, error_code &error) {
    in_text_ = false;
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
  // A string is open. The parser does not report an open string without bytes.
  bool in_text() const {
    return in_text_;
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
  bool stopped_ = false, in_text_ = false;
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
  // The end of a piece, if it may begin one of the words.
  char buffered[sizeof "-Infinity"];
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

// ---- numbers that are not finite ----

static const string_view words[] = {"NaN", "Infinity", "-Infinity"};
enum { PIECE = 8192 };

// Finds the next word. The next place of each word is kept, so each byte is
// searched once for each word.
class Finder {
 public:
  explicit Finder(string_view bytes) : bytes_(bytes) {
    for (std::size_t i = 0; i < std::size(words); i++)
      next_[i] = bytes.find(words[i]);
  }

  // The next word at or behind `from`, or the beginning of one at the end of
  // the bytes; else the end. `from` never decreases.
  std::size_t Next(std::size_t from) {
    std::size_t first = string_view::npos;
    for (std::size_t i = 0; i < std::size(words); i++) {
      if (next_[i] < from) next_[i] = bytes_.find(words[i], from);
      first = std::min(first, next_[i]);
    }
    if (first != string_view::npos) return first;
    std::size_t tail = std::min<std::size_t>(bytes_.size() - from, 8);
    for (std::size_t at = bytes_.size() - tail; at < bytes_.size(); at++)
      for (string_view word : words)
        if (word.starts_with(bytes_.substr(at))) return at;
    return bytes_.size();
  }

 private:
  string_view bytes_;
  std::size_t next_[std::size(words)];
};

// The next byte begins a value.
static bool IsValue(const ppi_json *json) {
  return !json->parser.handler().in_text() &&
         (json->last == ':' || json->last == '[' || json->last == ',');
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

// Whether one of these eight bytes is a quote, a backslash or a control
// character; a byte beyond ASCII may count as one, too.
static bool HasSpecial(const char *bytes) {
  constexpr std::uint64_t ones = 0x0101010101010101, highs = ones << 7;
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  std::uint64_t quotes = word ^ ones * '"', escapes = word ^ ones * '\\';
  return ((quotes - ones) | (escapes - ones) | (word - ones * 0x20)) & highs;
}

// The place of the first raw control character in a string, or the end of
// `bytes`. JSON wants such characters escaped; some writers do not.
static std::size_t FindRawControl(ppi_json *json, string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (!json->in_string) {
      at = bytes.find('"', at);
      if (at == string_view::npos) return bytes.size();
      json->in_string = true;
      at++;
      continue;
    }
    if (json->is_escaped) {
      json->is_escaped = false;
      at++;
      continue;
    }
    while (at + 8 <= bytes.size() && !HasSpecial(bytes.data() + at)) at += 8;
    std::size_t end = std::min(at + 8, bytes.size());
    for (; at < end && json->in_string && !json->is_escaped; at++) {
      if (IsControl(bytes[at])) return at;
      json->is_escaped = bytes[at] == '\\';
      json->in_string = bytes[at] != '"';
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

static std::size_t Feed(ppi_json *json, string_view bytes, error_code &error) {
  std::size_t used = 0;
  while (used < bytes.size()) {
    std::size_t len = FindRawControl(json, bytes.substr(used));
    std::size_t written = Write(json, bytes.substr(used, len), error);
    used += written;
    if (written < len || used == bytes.size() || Ends(json, error)) break;
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", bytes[used]);
    Write(json, string_view(escaped, 6), error);
    if (error) break;
    json->num_raw_controls++;
    used++;
  }
  return used;
}

// Completes the buffered word with bytes from `bytes`; answers how many.
static std::size_t FeedHeld(ppi_json *json, string_view bytes,
                            error_code &error) {
  string_view buffered(json->buffered, json->num_buffered);
  for (string_view word : words) {
    string_view rest =
        word.starts_with(buffered) ? word.substr(buffered.size()) : "";
    if (rest.empty() ||
        rest.substr(0, bytes.size()) != bytes.substr(0, rest.size()))
      continue;
    std::size_t len = rest.size() < bytes.size() ? rest.size() : bytes.size();
    std::memcpy(json->buffered + json->num_buffered, bytes.data(), len);
    json->num_buffered += len;
    if (len < rest.size()) return len;
    json->num_buffered = 0;
    if (IsValue(json)) {
      json->num_not_finite++;
      Feed(json, "null", error);
    } else {
      Feed(json, word, error);
    }
    return len;
  }
  json->num_buffered = 0;
  char copy[sizeof json->buffered];
  std::memcpy(copy, buffered.data(), buffered.size());
  Feed(json, string_view(copy, buffered.size()), error);
  return 0;
}

static std::size_t FeedPiece(ppi_json *json, string_view bytes,
                             error_code &error) {
  Finder finder(bytes);
  std::size_t used = 0;
  while (used < bytes.size()) {
    if (json->num_buffered > 0) {
      used += FeedHeld(json, bytes.substr(used), error);
      if (Ends(json, error)) break;
      continue;
    }
    std::size_t at = finder.Next(used);
    used += Feed(json, bytes.substr(used, at - used), error);
    if (Ends(json, error) || at == bytes.size()) break;
    json->buffered[0] = bytes[at];
    json->num_buffered = 1;
    used++;
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
  bytes = bytes.substr(0, PIECE);
  std::size_t end = json->whole ? bytes.find('}') : string_view::npos;
  if (end == string_view::npos) return bytes;
  end = bytes.find_first_not_of(" \t\r\n", end + 1);
  if (end == string_view::npos) return bytes;
  return bytes.substr(0, end + (bytes[end] == ','));
}

// Pieces bound the search for words: behind a short value at most one piece is
// searched in vain.
static std::size_t FeedAll(ppi_json *json, string_view bytes,
                           error_code &error) {
  std::size_t used = 0;
  do {
    used += TakeWhole(json, bytes.substr(used), error);
    if (used == bytes.size()) break;
    used += FeedPiece(json, PieceOf(json, bytes.substr(used)), error);
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
      if (json->num_buffered > 0) FeedHeld(json, string_view("", 1), error);
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

#include "reply.h"

#include <cstdio>

namespace voxridge {

namespace {

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

void append_number(int64_t number, std::string& out) {
  char digits[20];
  char* at = digits + sizeof digits;
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  out.append(at, static_cast<size_t>(digits + sizeof digits - at));
}

void append_field(std::string_view name, std::string_view value, std::string& out) {
  out.append(name).append(": ").append(value).append("\r\n");
}
void append_field(std::string_view name, int64_t value, std::string& out) {
  out.append(name).append(": ");
  append_number(value, out);
  out.append("\r\n");
}

// Words and messages need no escapes in JSON.
void begin_error(const char* word, const char* message, std::string& body) {
  body = "{\"error\":{\"code\":\"";
  body.append(word).append("\",\"message\":\"").append(message).append("\"");
}

}  // namespace

void write_reply(const Reply& reply, std::string_view date, std::string& out) {
  out += "HTTP/1.1 ";
  append_number(reply.status, out);
  out.append(" ").append(reason_of(reply.status)).append("\r\n");
  append_field("Date", date, out);
  append_field("Content-Type", reply.type, out);
  append_field("Content-Length", static_cast<int64_t>(reply.body.size()), out);
  out += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  if (!reply.model_version.empty()) append_field("X-Model-Version", reply.model_version, out);
  if (reply.rows > 0) append_field("X-Rows", reply.rows, out);
  if (reply.targets > 0) append_field("X-Targets", reply.targets, out);
  if (reply.allow != nullptr) append_field("Allow", reply.allow, out);
  if (reply.status == 401) out += "WWW-Authenticate: Bearer\r\n";
  if (reply.status == 503) out += "Retry-After: 1\r\n";
  if (reply.afterwards == Afterwards::close) out += "Connection: close\r\n";
  if (reply.afterwards == Afterwards::keep_http10) out += "Connection: keep-alive\r\n";
  out += "\r\n";
  if (!reply.head_only) out += reply.body;
}

void write_error(Refusal refusal, std::string& body) {
  begin_error(text_of(refusal).word, text_of(refusal).message, body);
  body += "}}";
}

void write_error(const BodyFault& fault, std::string& body) {
  char message[kFaultMessageBytes];
  write_fault_message(fault, message);
  begin_error(fault_word(fault.code), message, body);
  if (fault.row > 0) {
    body += ",\"row\":";
    append_number(fault.row, body);
  }
  if (fault.column > 0) {
    body += ",\"column\":";
    append_number(fault.column, body);
  }
  body += "}}";
}

std::string http_date(int64_t seconds_since_1970) {
  static const char* const kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static const char* const kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  // The civil calendar by 400-year eras of 146097 days that begin in March.
  const int64_t days = seconds_since_1970 / 86400 + 719468, rest = seconds_since_1970 % 86400;
  const int64_t era = days / 146097, day = days % 146097;
  const int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  const int64_t in_year = day - (365 * year + year / 4 - year / 100);
  const int64_t shifted = (5 * in_year + 2) / 153, month = shifted < 10 ? shifted + 2 : shifted - 10;
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[(days + 3) % 7],
                static_cast<int>(in_year - (153 * shifted + 2) / 5 + 1), kMonths[month],
                static_cast<int>(year + 400 * era + (month < 2 ? 1 : 0)), static_cast<int>(rest / 3600),
                static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  return text;
}

}  // namespace voxridge

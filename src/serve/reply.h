// Replies as HTTP/1.1 messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../core/body_fault.h"
#include "refusal.h"

namespace voxridge {

enum class Afterwards { keep, keep_http10, close };  // what the reply says about its connection

struct Reply {
  int status = 200;
  const char* type = "application/json";
  std::string_view body;
  bool head_only = false;  // for HEAD: as for GET, without the body
  Afterwards afterwards = Afterwards::keep;
  std::string_view model_version;  // "": none is named
  int64_t rows = 0, targets = 0;   // of a binary reply, 0: not named
  const char* allow = nullptr;     // methods, for 405
};

// Appends the message. `date`: the value of the field Date.
void write_reply(const Reply& reply, std::string_view date, std::string& out);

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// The bodies of errors.
void write_error(Refusal refusal, std::string& body);
void write_error(const BodyFault& fault, std::string& body);

std::string http_date(int64_t seconds_since_1970);  // IMF-fixdate, in English whatever the locale

}  // namespace voxridge

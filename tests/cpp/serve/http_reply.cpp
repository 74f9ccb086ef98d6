#include "http_reply.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

namespace voxridge_test {

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw BadReply(what);
}

class JsonReader {
 public:
  explicit JsonReader(const std::string& text) : text_(text) {}

  Json read() {
    const Json out = value(0);
    require(k_ == text_.size(), "JSON goes on after its end: " + text_.substr(0, 200));
    return out;
  }

 private:
  char next() const { return k_ < text_.size() ? text_[k_] : '\0'; }
  void take(char c) {
    require(next() == c, "JSON is wrong at byte " + std::to_string(k_ + 1) + ": " + text_.substr(0, 200));
    ++k_;
  }
  void take_word(const char* word) {
    for (; *word != '\0'; ++word) take(*word);
  }

  // The server writes no blanks.
  Json value(int depth) {
    require(depth < 20, "JSON is too deep");
    Json out;
    switch (next()) {
      case '{':
      case '[':
        return container(depth);
      case '"':
        out.kind = Json::text;
        out.letters = string();
        return out;
      case 't':
      case 'f':
        out.kind = Json::truth;
        out.is_true = next() == 't';
        take_word(out.is_true ? "true" : "false");
        return out;
      case 'n':
        take_word("null");
        return out;
      default:
        out.kind = Json::number;
        out.value = number();
        return out;
    }
  }

  Json container(int depth) {
    Json out;
    const bool object = next() == '{';
    out.kind = object ? Json::object : Json::array;
    take(object ? '{' : '[');
    while (next() != (object ? '}' : ']')) {
      if (!out.items.empty()) take(',');
      if (object) {
        const std::string key = string();
        require(out.find(key) == nullptr, "JSON has a key twice: " + key);
        out.keys.push_back(key);
        take(':');
      }
      out.items.push_back(value(depth + 1));
    }
    take(object ? '}' : ']');
    return out;
  }

  std::string string() {
    std::string out;
    take('"');
    while (next() != '"') {
      require(static_cast<unsigned char>(next()) >= 32, "a control character in JSON");
      if (next() != '\\') {
        out += text_[k_++];
        continue;
      }
      ++k_;
      const char* const signs = "\"\\/bfnrt";
      const char* const meant = "\"\\/\b\f\n\r\t";
      if (const char* sign = std::strchr(signs, next() == '\0' ? 'u' : next())) {
        out += meant[sign - signs];
        ++k_;
        continue;
      }
      take('u');
      const std::string hex = text_.substr(k_, 4);
      require(hex.size() == 4 && hex.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos, "JSON escape");
      const unsigned long letter = std::strtoul(hex.c_str(), nullptr, 16);
      require(letter < 128, "the server escapes ASCII alone");
      out += static_cast<char>(letter);
      k_ += 4;
    }
    take('"');
    return out;
  }

  void digits() {
    require(std::isdigit(static_cast<unsigned char>(next())) != 0, "a number without digits in JSON");
    while (std::isdigit(static_cast<unsigned char>(next())) != 0) ++k_;
  }

  double number() {
    const size_t first = k_;
    if (next() == '-') ++k_;
    if (next() == '0')
      ++k_;
    else
      digits();
    if (next() == '.') {
      ++k_;
      digits();
    }
    if (next() == 'e' || next() == 'E') {
      ++k_;
      if (next() == '+' || next() == '-') ++k_;
      digits();
    }
    return std::strtod(text_.substr(first, k_ - first).c_str(), nullptr);
  }

  const std::string& text_;
  size_t k_ = 0;
};

// Name and value of one line of the head.
std::pair<std::string, std::string> split_field(const std::string& line) {
  const size_t colon = line.find(": ");
  require(colon != std::string::npos && colon > 0 && colon + 2 < line.size(), "field of a reply: " + line);
  std::string name = line.substr(0, colon);
  for (char& c : name) {
    require(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-', "name of a field: " + line);
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const std::string value = line.substr(colon + 2);
  for (const char c : value) require(c >= 32 && c < 127, "value of a field: " + line);
  require(value.front() != ' ' && value.back() != ' ', "blanks around the value of a field: " + line);
  return {name, value};
}

void check_fields(const Reply& reply) {
  for (const auto& one : reply.fields) {
    int same = 0;
    for (const auto& other : reply.fields) same += one.first == other.first;
    require(same == 1, "a reply repeats " + one.first);
  }
  if (reply.status == 100) {
    require(reply.fields.empty(), "100 Continue with fields");
    return;
  }
  require(reply.status >= 200 && reply.status < 600, "status of a reply");
  require(reply.field("cache-control") == "no-store", "a reply may be stored");
  require(reply.field("x-content-type-options") == "nosniff", "a reply may be sniffed");
  require(!reply.has("server") && !reply.has("transfer-encoding"), "a field that should not be there");
  for (const auto& one : reply.fields) require(one.first.compare(0, 15, "access-control-") != 0, "a CORS field");
  require(!reply.has("connection") || reply.says_close() || reply.field("connection") == "keep-alive", "Connection");
}

}  // namespace

const Json* Json::find(const std::string& key) const {
  for (size_t k = 0; k < keys.size() && k < items.size(); ++k) {
    if (keys[k] == key) return &items[k];
  }
  return nullptr;
}

const Json& Json::operator[](const std::string& key) const {
  const Json* const found = find(key);
  require(found != nullptr, "JSON has no key " + key);
  return *found;
}

std::vector<double> Json::numbers() const {
  std::vector<double> out;
  if (kind == number) out.push_back(value);
  for (const Json& item : items) {
    const std::vector<double> more = item.numbers();
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::vector<std::string> Json::texts() const {
  std::vector<std::string> out;
  if (kind == text) out.push_back(letters);
  for (const Json& item : items) {
    const std::vector<std::string> more = item.texts();
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

Json parse_json(const std::string& text) {
  return JsonReader(text).read();
}

bool Reply::has(const std::string& name) const {
  for (const auto& one : fields) {
    if (one.first == name) return true;
  }
  return false;
}

std::string Reply::field(const std::string& name) const {
  for (const auto& one : fields) {
    if (one.first == name) return one.second;
  }
  return "";
}

std::string Reply::word() const {
  return status < 400 || body.empty() || body[0] != '{' ? "" : json()["error"]["code"].letters;
}

int64_t Reply::row() const {
  const Json all = json();
  const Json* const found = all["error"].find("row");
  return found == nullptr ? 0 : static_cast<int64_t>(found->value);
}

int64_t Reply::column() const {
  const Json all = json();
  const Json* const found = all["error"].find("column");
  return found == nullptr ? 0 : static_cast<int64_t>(found->value);
}

bool take_reply(std::string& bytes, bool head, Reply& reply) {
  const size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) {
    require(bytes.size() < 65536, "a head without an end");
    return false;
  }
  Reply out;
  size_t first = bytes.find("\r\n");
  const std::string line = bytes.substr(0, first);
  const bool right = line.compare(0, 9, "HTTP/1.1 ") == 0 && line.size() > 13 && line[12] == ' ';
  require(right && line.find_first_not_of("0123456789", 9) == 12, "status line: " + line.substr(0, 200));
  out.status = std::atoi(line.c_str() + 9);
  while (first < end) {
    const size_t last = bytes.find("\r\n", first + 2);
    out.fields.push_back(split_field(bytes.substr(first + 2, last - first - 2)));
    first = last;
  }
  check_fields(out);
  size_t length = 0;
  if (out.status != 100) {
    const std::string text = out.field("content-length");
    require(!text.empty() && text.find_first_not_of("0123456789") == std::string::npos, "length of a reply: " + text);
    length = head ? 0 : std::strtoul(text.c_str(), nullptr, 10);
  }
  if (bytes.size() < end + 4 + length) return false;
  out.body = bytes.substr(end + 4, length);
  out.bytes = bytes.substr(0, end + 4 + length);
  bytes.erase(0, end + 4 + length);
  reply = out;
  return true;
}

}  // namespace voxridge_test

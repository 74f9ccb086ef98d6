// The values of a few HTTP fields (RFC 9110).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace voxridge {

bool same_token(std::string_view a, std::string_view b);  // whatever the case of ASCII letters

bool read_length(std::string_view value, uint64_t& length);  // digits alone

// host [":" port] to the host, without brackets around it removed. False where it is neither a name nor an address.
bool read_host(std::string_view value, std::string_view& host);

// "http://host:80/path?query" to "host:80", leaving "/path?query". False, and nothing changed, for other targets.
bool split_absolute(std::string_view& target, std::string_view& authority);

// Whether it is this media type, with no charset or utf-8; other parameters do not matter.
bool is_media_type(std::string_view value, std::string_view type);

// "Bearer token", compared in a time that does not depend on where they differ.
bool is_bearer(std::string_view value, const std::string& token);
bool same_secret(std::string_view a, std::string_view b);

}  // namespace voxridge

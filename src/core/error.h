// The one exception type of the core. Bindings turn the code into the class of an R condition.
#pragma once

#include <stdexcept>
#include <string>

namespace voxridge {

enum class ErrorCode {
  invalid_argument,    // a caller's mistake that only the core can see
  too_large,           // beyond the 32-bit workspaces of LAPACK
  memory,              // an allocation failed, or would pass the budget
  numerical,           // a factorisation did not converge, a quantity is undefined
  file,                // a file that cannot be read or written as asked
  store_truncated,     // a store of targets that is shorter than its description says
  store_corrupt,       // a store of targets whose values are not those that were written
  interrupted,         // the stop flag was set
  device_unavailable,  // there is no GPU that can be used
  gpu_out_of_memory,   // an allocation on the GPU failed
  device_failed,       // the GPU failed, and this process cannot use it any more
  port_in_use,         // another process listens there
  network,             // an address or a socket that cannot be had
  internal,            // a defect of this library
  alphas               // penalties that cannot be served
};

class Error : public std::runtime_error {
 public:
  // `where` and `found`, for errors of files: the field of the file and its value.
  Error(ErrorCode code, const std::string& text, const std::string& where = "", const std::string& found = "")
      : std::runtime_error(text), code_(code), where_(where), found_(found) {}
  ErrorCode code() const { return code_; }
  const std::string& where() const { return where_; }
  const std::string& found() const { return found_; }

 private:
  ErrorCode code_;
  std::string where_, found_;
};

}  // namespace voxridge

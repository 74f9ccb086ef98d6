// The one exception type of the core. Bindings turn the code into the class of an R condition.
#pragma once

#include <stdexcept>
#include <string>

namespace voxridge {

enum class ErrorCode {
  invalid_argument,  // a caller's mistake that only the core can see
  too_large,         // beyond the 32-bit workspaces of LAPACK
  memory,            // an allocation failed, or would pass the budget
  numerical,         // a factorisation did not converge, a quantity is undefined
  interrupted,       // the stop flag was set
  internal           // a defect of this library
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace voxridge

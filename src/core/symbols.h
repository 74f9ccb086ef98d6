// Looks a function up in the process as it runs now: BLAS libraries can be swapped after the package was built.
#pragma once

#include <string>

namespace voxridge {

// Address of a symbol visible to the whole process, or nullptr.
void* find_symbol(const char* name);

// Path of the library that a symbol comes from, or "".
std::string library_of(const char* name);

template <class Function>
Function find_function(const char* name) {
  return reinterpret_cast<Function>(find_symbol(name));
}

}  // namespace voxridge

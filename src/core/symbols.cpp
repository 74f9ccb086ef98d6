#include "symbols.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace voxridge {

void* find_symbol(const char* name) {
#ifdef _WIN32
  for (const char* library : {"Rblas.dll", "libopenblas.dll"}) {
    if (HMODULE module = GetModuleHandleA(library)) {
      if (FARPROC address = GetProcAddress(module, name)) return reinterpret_cast<void*>(address);
    }
  }
  return nullptr;
#else
  return dlsym(RTLD_DEFAULT, name);
#endif
}

std::string library_of(const char* name) {
#ifdef _WIN32
  (void)name;
  return "";
#else
  Dl_info info;
  void* const address = find_symbol(name);
  return address != nullptr && dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
#endif
}

}  // namespace voxridge

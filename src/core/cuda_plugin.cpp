#include "cuda_plugin.h"

#ifndef _WIN32
#include <dlfcn.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include <link.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>

#include "error.h"

namespace voxridge {

namespace {

// The device and its driver belong to the process, and so does this.
struct Plugin {
  std::mutex lock;
  std::string path;
  const voxridge_cuda_table* table = nullptr;
  long process = 0;     // that opened it
  std::string failure;  // of the device: it is not asked again
};

Plugin& plugin() {
  static Plugin the_plugin;
  return the_plugin;
}

#ifdef _WIN32

const voxridge_cuda_table* open_table(const std::string&, std::string* why_not) {
  *why_not = "There is no CUDA plugin for Windows.";
  return nullptr;
}
long process_id() { return 0; }

#else

long process_id() { return static_cast<long>(getpid()); }

// Whether a file ends before its own headers say so. Opening such a library can end the process (SIGBUS).
bool cut_off(std::ifstream& file) {
#ifdef __linux__
  file.seekg(0, std::ios::end);
  const uint64_t size = static_cast<uint64_t>(file.tellg());
  ElfW(Ehdr) header;
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&header), SELFMAG)) return true;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;  // something else: the loader will say so
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return true;
  uint64_t end = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    file.seekg(static_cast<std::streamoff>(header.e_phoff + static_cast<uint64_t>(i) * header.e_phentsize));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return true;
    end = std::max<uint64_t>(end, segment.p_offset + segment.p_filesz);
  }
  return end > size;
#else
  (void)file;
  return false;
#endif
}

const voxridge_cuda_table* open_table(const std::string& path, std::string* why_not) {
  const std::string what = "The CUDA plugin " + path;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    *why_not = what + " is not there or cannot be read.";
    return nullptr;
  }
  if (cut_off(file)) {
    *why_not = what + " is damaged: it ends too early. Install voxridge again.";
    return nullptr;
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: CUDA cannot be unloaded
  if (library == nullptr) {
    const char* const text = dlerror();
    *why_not = what + " cannot be opened: " + (text != nullptr ? text : "no reason given") + ".";
    return nullptr;
  }
  const auto entry = reinterpret_cast<voxridge_cuda_entry>(dlsym(library, VOXRIDGE_CUDA_ENTRY));
  const voxridge_cuda_table* const table = entry != nullptr ? entry() : nullptr;
  if (table == nullptr) {
    *why_not = what + " is not a plugin of voxridge.";
    return nullptr;
  }
  const std::string advice = ". Install voxridge again.";
  if (table->abi != VOXRIDGE_CUDA_ABI) {
    *why_not = what + " is of another voxridge: its interface has number " + std::to_string(table->abi) + ", not " +
               std::to_string(VOXRIDGE_CUDA_ABI) + advice;
    return nullptr;
  }
  if (table->table_size != static_cast<int>(sizeof(voxridge_cuda_table))) {
    *why_not = what + " is of another voxridge: its table has " + std::to_string(table->table_size) + " bytes, not " +
               std::to_string(sizeof(voxridge_cuda_table)) + advice;
    return nullptr;
  }
  return table;
}

#endif

// Text of an info is the plugin's: it must end within its field.
template <size_t size>
void end_text(char (&field)[size]) {
  field[size - 1] = '\0';
}

void remember_failure(const std::string& text) {
  const std::lock_guard<std::mutex> guard(plugin().lock);
  plugin().failure = text.empty() ? "no reason given" : text;
}

}  // namespace

void set_cuda_plugin(const std::string& path) {
  const std::lock_guard<std::mutex> guard(plugin().lock);
  plugin().path = path;
}

const voxridge_cuda_table* cuda_table(std::string* why_not) {
  Plugin& here = plugin();
  const std::lock_guard<std::mutex> guard(here.lock);
  if (here.table == nullptr) {
    here.table = open_table(here.path, why_not);
    here.process = process_id();
    return here.table;
  }
  if (here.process != process_id()) {
    *why_not = "This R process was forked from one that had opened the CUDA plugin, and CUDA does not survive a fork.";
    return nullptr;
  }
  if (!here.failure.empty()) {
    *why_not = "The GPU failed earlier in this R process (" + here.failure + "). Restart R to use it again.";
    return nullptr;
  }
  return here.table;
}

voxridge_cuda_info cuda_info() {
  voxridge_cuda_info info;
  std::memset(&info, 0, sizeof info);
  std::string why_not;
  const voxridge_cuda_table* const table = cuda_table(&why_not);
  if (table != nullptr) {
    const int code = table->info(&info);
    end_text(info.name);
    end_text(info.architectures);
    end_text(info.libraries);
    end_text(info.reason);
    if (code != VOXRIDGE_OK) info.available = 0;
    if (code == VOXRIDGE_FAILED) remember_failure(info.reason);
    if (!info.available && info.reason[0] == '\0') {
      why_not = "The CUDA plugin gives no reason (code " + std::to_string(code) + ").";
    }
  }
  if (!why_not.empty()) why_not.copy(info.reason, sizeof info.reason - 1);
  return info;
}

std::string cuda_solver() {
  std::string why_not;
  const voxridge_cuda_table* const table = cuda_table(&why_not);
  if (table == nullptr) return why_not;
  char text[512] = "";
  table->solver(text, sizeof text);
  return text;
}

void check_cuda(int code, const std::string& text) {
  switch (code) {
    case VOXRIDGE_OK:
      return;
    case VOXRIDGE_NO_MEMORY:
      throw Error(ErrorCode::gpu_out_of_memory, text);
    case VOXRIDGE_UNAVAILABLE:
      throw Error(ErrorCode::device_unavailable, text);
    case VOXRIDGE_NO_SOLUTION:
      throw Error(ErrorCode::numerical, text);
    case VOXRIDGE_FAILED:
      remember_failure(text);
      throw Error(ErrorCode::device_failed,
                  "The GPU failed (" + text + "). Restart R to use it again; the CPU can still be used.");
    default:  // arguments are checked before they reach the plugin
      throw Error(ErrorCode::internal, text);
  }
}

}  // namespace voxridge

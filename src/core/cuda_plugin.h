// The CUDA plugin, a shared object of its own (cuda/abi.h): opened when it is first asked for, kept until the process
// ends. Where it cannot be used, the answer is a sentence that says why.
#pragma once

#include <string>

#include "../cuda/abi.h"

namespace voxridge {

// Where the plugin lies. Once one has been opened, it stays: a process has one plugin.
void set_cuda_plugin(const std::string& path);

// The plugin's functions; nullptr, with the reason in *why_not, where there is no plugin that fits this package, in a
// process forked from one that has opened it (CUDA does not survive a fork), and after the device has failed.
const voxridge_cuda_table* cuda_table(std::string* why_not);

// What the plugin says of driver and device; `available` 0 and the reason where there is no table.
voxridge_cuda_info cuda_info();

// Where cuSOLVER comes from, or why there is none. Loads it, which takes a moment.
std::string cuda_solver();

// Does nothing for VOXRIDGE_OK; turns any other code of the plugin, with its text, into an Error. After VOXRIDGE_FAILED
// there is no table any more in this process.
void check_cuda(int code, const std::string& text);

}  // namespace voxridge

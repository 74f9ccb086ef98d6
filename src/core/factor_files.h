// Factors in files, so that processes which share a folder make each of them once. A file has a head, the parts of the
// factor one after the other, each with its size, and a CRC-32 (as in zlib) of all of it. Numbers are those of the host:
// the files live as long as a run.
#pragma once

#include <string>

#include "factor.h"

namespace voxridge {

// Whole or not at all (part_file.h). The factor of all rows is written without the parts of a fold.
void write_factor(const std::string& path, const FoldFactor& factor);
void write_factor(const std::string& path, const Factor& factor);

FoldFactor read_factor(const std::string& path);

}  // namespace voxridge

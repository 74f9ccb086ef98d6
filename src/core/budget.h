// How the memory budget, Control::memory_bytes, is shared out.
#pragma once

namespace voxridge {

constexpr double kCopyShare = 0.25;      // a changed copy of X
constexpr double kFactorShare = 0.4;     // factors of the folds; beyond that they are made when needed
constexpr double kBandGramShare = 0.15;  // Gram matrices per band; without them every candidate reads X
constexpr double kKeptShare = 0.15;  // factors of candidates that wait for the refit; else made again for the winners
constexpr double kOperatorShare = 0.3;  // operators of one pass over the targets
constexpr double kWaitingShare = 0.2;   // running means between passes

}  // namespace voxridge

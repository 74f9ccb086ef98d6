// What GET /v1/metadata tells about the model and the limits, as JSON.
#pragma once

#include <string>

#include "limits.h"
#include "served_model.h"

namespace voxridge {

std::string metadata_json(const ServedModel& model, const Limits& limits);

}  // namespace voxridge

// Small models and servers for the tests, requests for them, and what the replies must say.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "http_client.h"
#include "serve/server.h"

namespace voxridge_test {

using namespace voxridge;

struct ModelSpec {
  int64_t p = 2;
  int64_t t = 1;
  uint64_t seed = 1;
  ModelKind kind = ModelKind::logistic;
  bool has_names = true;
  std::string version = "";
  double threshold = 0.5;
  std::vector<double> prior, shifts;
  std::vector<double> coefs;  // p x t, or none: random ones
};
std::shared_ptr<const ServedModel> make_model(const ModelSpec& spec = {});

// n rows of standard normal numbers, one row after another.
std::vector<double> random_rows(int64_t n, int64_t p, uint64_t seed);

// What a plain loop over Predictor::score() gives, one row after another.
std::vector<double> expected_logits(const ServedModel& model, const std::vector<double>& rows);
std::vector<double> expected_forecasts(const ServedModel& model, const std::vector<double>& rows);
std::vector<double> expected_decisions(const ServedModel& model, const std::vector<double>& rows);

std::string json_rows(const std::vector<double>& rows, int64_t p);  // the body, numbers by %.17g
std::string binary_rows(const std::vector<double>& numbers);        // little-endian
std::vector<double> read_binary(const std::string& bytes);

// A request. `fields`: more lines of the head, each with its CR LF.
std::string get(const std::string& target, const std::string& fields = "", const std::string& method = "GET");
std::string post(const std::string& target, const std::string& type, const std::string& body,
                 const std::string& fields = "");
std::string predict(const std::string& body, const std::string& fields = "");         // POST /v1/predict
std::string predict_binary(const std::string& body, const std::string& fields = "");  // POST /v1/predict_binary
std::string chunked(const std::string& body, size_t piece, const std::string& trailers = "");

bool same_bits(const std::vector<double>& a, const std::vector<double>& b);

// "" or what is wrong with a reply of status 200 to a JSON or binary request with these rows.
std::string json_difference(const ServedModel& model, const std::vector<double>& rows, const Reply& reply,
                            bool logits = false);
std::string binary_difference(const ServedModel& model, const std::vector<double>& rows, const Reply& reply,
                              bool logits = false);

int64_t count_descriptors();  // of this process
int64_t count_threads();

// Waits until `holds` is true.
template <class Condition>
bool wait_until(Condition holds, double seconds) {
  const double deadline = now_s() + seconds;
  while (!holds()) {
    if (now_s() > deadline) return false;
    sleep_s(0.002);
  }
  return true;
}

// Stops and waits for the end.
bool stop_now(Server& server, double seconds = 10);

}  // namespace voxridge_test

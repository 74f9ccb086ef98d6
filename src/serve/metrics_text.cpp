#include <cmath>

#include "../core/number_text.h"
#include "metrics.h"

namespace voxridge {

namespace {

class Text {
 public:
  void metric(const char* name, const char* type, const char* help) {
    name_ = std::string("voxridge_") + name;
    text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
  }
  void sample(double value, const std::string& labels = "", const char* suffix = "") {
    text_ += name_ + suffix;
    if (!labels.empty()) text_ += "{" + labels + "}";
    text_ += " " + number(value) + "\n";
  }
  void one(const char* name, const char* type, const char* help, double value) {
    metric(name, type, help);
    sample(value);
  }
  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    char digits[kNumberBytes];
    return std::string(digits, write_number(value, digits));
  }
  static std::string label(const char* name, const std::string& value) {
    return std::string(name) + "=\"" + value + "\"";
  }
  // Cumulative counts, as the format asks for. `count` gives the one of a bin, `bound` its upper end.
  template <class Count, class Bound>
  void histogram(const std::string& labels, int n_bins, Count count, Bound bound, double sum) {
    int64_t below = 0;
    for (int i = 0; i < n_bins; ++i) {
      below += count(static_cast<size_t>(i));
      sample(static_cast<double>(below), labels + "," + label("le", bound(i)), "_bucket");
    }
    sample(sum, labels, "_sum");
    sample(static_cast<double>(below), labels, "_count");
  }
  const std::string& str() const { return text_; }

 private:
  std::string text_, name_;
};

void write_requests(Text& text, const Totals& totals) {
  text.metric("requests_total", "counter", "Requests answered, by endpoint and status code.");
  for (int i = 0; i < kEndpoints; ++i) {
    const Endpoint endpoint = static_cast<Endpoint>(i);
    for (const int status : kStatuses) {
      const int64_t count = totals.requests(endpoint, status);
      if (count == 0 && !(is_scoring(endpoint) && status == 200)) continue;
      text.sample(static_cast<double>(count),
                  Text::label("endpoint", name_of(endpoint)) + "," + Text::label("code", std::to_string(status)));
    }
  }
  text.metric("rejects_total", "counter", "Requests refused, by the word of their error.");
  for (const auto& reject : totals.rejects()) {
    text.sample(static_cast<double>(reject.second), Text::label("reason", reject.first));
  }
}

void write_latency(Text& text, const Totals& totals) {
  text.metric("request_seconds", "histogram",
              "From the last byte of a request read to the last byte of its reply sent.");
  for (int i = 0; i < kEndpoints; ++i) {
    const Endpoint endpoint = static_cast<Endpoint>(i);
    const size_t place = static_cast<size_t>(i);
    const auto bin = [&](size_t at) {
      return totals([&](const Metrics& slot) -> const Counter& { return slot.latency[place].bins[at]; });
    };
    const auto bound = [](int at) {
      return at + 1 < kLatencyBins ? Text::number(kLatencyBounds[static_cast<size_t>(at)]) : std::string("+Inf");
    };
    const int64_t spent =
        totals([&](const Metrics& slot) -> const Counter& { return slot.latency[place].nanoseconds; });
    text.histogram(Text::label("endpoint", name_of(endpoint)), kLatencyBins, bin, bound,
                   1e-9 * static_cast<double>(spent));
  }
}

void write_scores(Text& text, const Totals& totals, const Gauges& gauges) {
  if (!gauges.logistic || gauges.n_targets > kScoreTargets) return;
  text.metric("score", "histogram", "Probabilities given out, by target.");
  for (int64_t j = 0; j < gauges.n_targets; ++j) {
    const size_t target = static_cast<size_t>(j);
    const auto bin = [&](size_t at) {
      if (at == kScoreBins) return int64_t{0};
      return totals([&](const Metrics& slot) -> const Counter& { return slot.scores[target][at]; });
    };
    const auto bound = [](int at) {
      return at < kScoreBins ? Text::number((at + 1.0) / kScoreBins) : std::string("+Inf");
    };
    const int64_t sum = totals([&](const Metrics& slot) -> const Counter& { return slot.score_millionths[target]; });
    text.histogram(Text::label("target", std::to_string(j + 1)), kScoreBins + 1, bin, bound,
                   1e-6 * static_cast<double>(sum));
  }
}

}  // namespace

std::string metrics_text(const Totals& totals, const Gauges& gauges) {
  Text text;
  const auto total = [&](Counter Metrics::*counter) {
    return static_cast<double>(totals([&](const Metrics& slot) -> const Counter& { return slot.*counter; }));
  };
  write_requests(text, totals);
  text.one("rows_total", "counter", "Rows scored.", total(&Metrics::rows));
  text.one("received_bytes_total", "counter", "Bytes received.", total(&Metrics::received_bytes));
  text.one("sent_bytes_total", "counter", "Bytes sent.", total(&Metrics::sent_bytes));
  text.one("connections_total", "counter", "Connections accepted.", total(&Metrics::connections));
  text.one("model_swaps_total", "counter", "Changes of the model, its threshold or its prior.",
           static_cast<double>(gauges.model_swaps));
  text.one("aborted_total", "counter", "Requests cut off before their reply was sent.", total(&Metrics::aborted));
  text.one("cpu_seconds_total", "counter", "CPU time of the threads of the server.", gauges.cpu_seconds);
  text.one("connections", "gauge", "Connections now.", static_cast<double>(gauges.connections));
  text.one("inflight_requests", "gauge", "Requests begun and not answered.",
           total(&Metrics::begun) - total(&Metrics::ended));
  text.one("inflight_bytes", "gauge", "Bytes held for requests and replies that are not complete.",
           static_cast<double>(gauges.inflight_bytes));
  text.one("ready", "gauge", "1 while new work is welcome, 0 while the server ends.", gauges.ready ? 1 : 0);
  text.one("uptime_seconds", "gauge", "Time since the start.", gauges.uptime_s);
  text.one("resident_bytes", "gauge", "Resident memory of the process.", gauges.resident_bytes);
  text.metric("model_info", "gauge", "The model that scores now.");
  text.sample(1, Text::label("name", gauges.name) + "," + Text::label("version", gauges.version) + "," +
                     Text::label("sha256", gauges.sha256));
  write_latency(text, totals);
  write_scores(text, totals, gauges);
  return text.str();
}

}  // namespace voxridge

// Runs all tests, or those whose names contain one of the arguments, in the order of their names. The last line is
// "N passed, N failed".
#include "harness.h"

#include <algorithm>
#include <cstring>

int main(int argc, char** argv) {
  using namespace plugin_test;
  int passed = 0, failed = 0;
  std::sort(cases().begin(), cases().end(),
            [](const Case& a, const Case& b) { return std::strcmp(a.name, b.name) < 0; });
  for (const Case& one : cases()) {
    const auto asked_for = [&one](const char* part) { return std::strstr(one.name, part) != nullptr; };
    if (argc > 1 && !std::any_of(argv + 1, argv + argc, asked_for)) continue;
    failures = 0;
    context.clear();
    std::printf("%s\n", one.name);
    std::fflush(stdout);
    one.run();
    if (failures == 0) {
      ++passed;
    } else {
      ++failed;
      std::printf("FAIL %s: %d failures\n", one.name, failures);
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

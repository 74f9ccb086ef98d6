// Runs all tests, or those whose names contain the argument. The last line is "N passed, N failed".
#include "harness.h"

#include <cstring>

int main(int argc, char** argv) {
  using namespace plugin_test;
  int passed = 0, failed = 0;
  for (const Case& one : cases()) {
    if (argc > 1 && std::strstr(one.name, argv[1]) == nullptr) continue;
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

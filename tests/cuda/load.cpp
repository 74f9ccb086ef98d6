// Loads a plugin as the package does and asks it what it is. Where no device can be used it must say why; where one
// can, a session must open and do a little work.
//
//   load PATH      prints what it found; ends with 0 where all is as it should be
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "cuda/abi.h"

static int wrong(const char* what, const char* more) {
  std::printf("%s: %s\n", what, more);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return wrong("not loaded", dlerror());
  const auto entry = reinterpret_cast<voxridge_cuda_entry>(dlsym(library, VOXRIDGE_CUDA_ENTRY));
  if (entry == nullptr) return wrong("no entry", dlerror());
  const voxridge_cuda_table* table = entry();
  if (table->abi != VOXRIDGE_CUDA_ABI) return wrong("another ABI", "");
  if (table->table_size != static_cast<int>(sizeof(voxridge_cuda_table))) return wrong("another table", "");
  voxridge_cuda_info about;
  if (table->info(&about) != VOXRIDGE_OK) return wrong("no info", "");
  voxridge_cuda_session* session = nullptr;
  char text[512] = "", solver[512] = "";
  const int solver_code = table->solver(solver, sizeof solver);
  if (solver[0] == '\0' || (solver_code != VOXRIDGE_OK && solver_code != VOXRIDGE_UNAVAILABLE)) {
    return wrong("no word about the solver", solver);
  }
  const int code = table->open(&session, text, sizeof text);
  if (about.available == 0) {
    if (about.reason[0] == '\0') return wrong("not available", "and no reason given");
    if (code != VOXRIDGE_UNAVAILABLE || session != nullptr) return wrong("a session without a device", text);
    if (std::strcmp(text, about.reason) != 0) return wrong("two reasons", text);
    std::printf("built for %s; not available: %s; cuSOLVER: %s\n", about.architectures, about.reason, solver);
    return 0;
  }
  if (code != VOXRIDGE_OK) return wrong("no session", text);
  const double a[] = {1, 2, 3, 4, 5, 6};
  double c[4] = {0, 0, 0, 0}, sums[2] = {0, 0};
  void *dev = nullptr, *product = nullptr;
  const int f64 = VOXRIDGE_F64;
  const bool right = table->allocate(session, sizeof a, &dev) == VOXRIDGE_OK &&
                     table->allocate(session, sizeof c, &product) == VOXRIDGE_OK &&
                     table->to_device(session, f64, a, 3, 3, 2, dev, 3, 0) == VOXRIDGE_OK &&
                     table->gemm(session, f64, 1, 0, 2, 2, 3, 1, dev, 3, dev, 3, 0, product, 2) == VOXRIDGE_OK &&
                     table->to_host(session, f64, product, 2, 2, 2, c, 2, 0) == VOXRIDGE_OK &&
                     table->squares(session, f64, dev, 3, 3, 2, nullptr, sums) == VOXRIDGE_OK;
  if (!right || c[0] != 14 || c[1] != 32 || c[3] != 77 || sums[0] != 14 || sums[1] != 77) {
    return wrong("wrong results", table->text(session));
  }
  // [14 .; 32 77]: where there is a solver, its trace and determinant.
  double values[2] = {0, 0};
  if (solver_code == VOXRIDGE_OK &&
      (table->syrk(session, 1, 2, 3, 1, dev, 3, 0, product, 2) != VOXRIDGE_OK ||
       table->syevd(session, 2, product, 2, values) != VOXRIDGE_OK || std::fabs(values[0] + values[1] - 91) > 1e-12 ||
       std::fabs(values[0] * values[1] - 54) > 1e-10)) {
    return wrong("wrong eigenvalues", table->text(session));
  }
  table->close(session);
  std::printf("built for %s; works on %s, cuBLAS from %s, cuSOLVER from %s\n", about.architectures, about.name,
              about.libraries, solver);
  return 0;
}

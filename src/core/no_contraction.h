// Included after all other headers of a file whose sums and products must be rounded one by one: keeps the compiler
// from fusing them, where the machine could.
#pragma once

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

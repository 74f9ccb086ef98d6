// Compiled once and put before every file of the tests (Makefile). No file relies on it: each includes what it uses.
#include <gtest/gtest.h>

#include "core/arma.h"

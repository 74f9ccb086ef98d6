// Alpha nodes: how a long grid of penalties is scored at the price of a few.
//
// As a function of alpha every held-out sum of squares is a combination of 1, 1 / (lambda_i + alpha) and
// 1 / ((lambda_i + alpha)(lambda_j + alpha)). The last is a divided difference of the second, so all of them lie in the
// span of {1, 1 / (lambda + alpha)} and its closure. Over a grid of alphas and the eigenvalues at hand that space has
// numerical rank 10 .. 40 (60 over 15 decades) whatever the length of the grid. So a few penalties of the grid itself,
// the nodes, are scored exactly and the sums of squares of all others are fixed linear combinations of theirs: a
// skeleton (interpolative) decomposition of the matrix of these functions, rows = eigenvalues, columns = alphas (Cheng,
// Gimbutas, Martinsson, Rokhlin 2005, doi:10.1137/030602678).
#pragma once

#include <vector>

#include "arma.h"

namespace voxridge {

struct AlphaNodes {
  std::vector<int64_t> nodes;  // places in the grid, in increasing order
  arma::mat weights;           // grid x nodes; unit rows at the nodes
  double anchor = 0;           // a typical eigenvalue: correlation sums are combined after scaling by (alpha + anchor)
  bool all() const { return weights.n_rows == weights.n_cols; }
};

// Nodes for eigenvalues between `smallest` and `largest` (0 and infinity: any). `tolerance` bounds the error of every
// function of one eigenvalue relative to its value at the smallest alpha (products of two reach about ten times that).
// With `relative` it is relative to the function at the same alpha, as ratios of sums need it (the correlation), and
// sums are to be combined after scaling by (alpha + anchor). All alphas are nodes where fewer would not do. An alpha of
// 0 is always one.
AlphaNodes choose_nodes(const std::vector<double>& alphas, double smallest, double largest, double tolerance,
                        bool relative = false);

AlphaNodes all_nodes(const std::vector<double>& alphas);

}  // namespace voxridge

#include <algorithm>
#include <cmath>

#include "nifti_header.h"

namespace voxridge {

namespace {

// Three columns of a 3 x 4 matrix.
double determinant(const Affine& m) {
  return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
}

double column_length(const Affine& m, int j) {
  return std::hypot(m[j], m[4 + j], m[8 + j]);
}

bool usable(const Affine& m) {
  if (!std::all_of(m.begin(), m.end(), [](double value) { return std::isfinite(value); })) return false;
  const double product = column_length(m, 0) * column_length(m, 1) * column_length(m, 2);
  return product > 0 && std::isfinite(product) && std::abs(determinant(m)) > 1e-9 * product;
}

// The size of a voxel along axis j; the absolute value of a negative one, 1 for one that is 0 or not finite.
double voxel_size(const NiftiHeader& header, int j, bool* repaired) {
  const double size = header.pixdim[j + 1];
  if (size > 0 && std::isfinite(size)) return size;
  *repaired = true;
  return size == 0 || !std::isfinite(size) ? 1 : -size;
}

// nifti1.h, METHOD 2: a rotation from the quaternion (a, b, c, d), a >= 0, of length 1.
Affine from_quaternion(const NiftiHeader& header, bool* repaired) {
  double b = header.quaternion[0], c = header.quaternion[1], d = header.quaternion[2];
  const double squares = b * b + c * c + d * d;
  double a = 0;
  if (squares > 1) {  // rounding of a rotation by 180 degrees
    const double length = std::sqrt(squares);
    b /= length, c /= length, d /= length;
  } else {
    a = std::sqrt(1 - squares);
  }
  const double flip = header.pixdim[0] < 0 ? -1 : 1;
  const double x = voxel_size(header, 0, repaired), y = voxel_size(header, 1, repaired),
               z = flip * voxel_size(header, 2, repaired);
  return {x * (a * a + b * b - c * c - d * d),
          y * 2 * (b * c - a * d),
          z * 2 * (b * d + a * c),
          header.quaternion[3],
          x * 2 * (b * c + a * d),
          y * (a * a + c * c - b * b - d * d),
          z * 2 * (c * d - a * b),
          header.quaternion[4],
          x * 2 * (b * d - a * c),
          y * 2 * (c * d + a * b),
          z * (a * a + d * d - b * b - c * c),
          header.quaternion[5]};
}

// The quaternion (a, b, c, d) of a rotation, a >= 0, from the largest of its squares.
std::array<double, 4> to_quaternion(const double r[3][3]) {
  const double squares[4] = {1 + r[0][0] + r[1][1] + r[2][2], 1 + r[0][0] - r[1][1] - r[2][2],
                             1 - r[0][0] + r[1][1] - r[2][2], 1 - r[0][0] - r[1][1] + r[2][2]};
  const int largest = static_cast<int>(std::max_element(squares, squares + 4) - squares);
  const double twice = std::sqrt(squares[largest]), s = 0.5 / twice;
  const double yz = r[2][1] - r[1][2], zx = r[0][2] - r[2][0], xy = r[1][0] - r[0][1];
  const double bc = r[0][1] + r[1][0], bd = r[0][2] + r[2][0], cd = r[1][2] + r[2][1];
  std::array<double, 4> q{};
  switch (largest) {
    case 0:
      q = {0.5 * twice, s * yz, s * zx, s * xy};
      break;
    case 1:
      q = {s * yz, 0.5 * twice, s * bc, s * bd};
      break;
    case 2:
      q = {s * zx, s * bc, 0.5 * twice, s * cd};
      break;
    default:
      q = {s * xy, s * bd, s * cd, 0.5 * twice};
  }
  if (q[0] < 0) {
    for (double& value : q) value = -value;
  }
  return q;
}

}  // namespace

double corner_distance(const Affine& a, const Affine& b, const std::array<int64_t, 4>& dim) {
  double largest = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double squares = 0;
    for (int row = 0; row < 3; ++row) {
      double step = a[4 * row + 3] - b[4 * row + 3];
      for (int j = 0; j < 3; ++j) {
        if (corner >> j & 1) step += (a[4 * row + j] - b[4 * row + j]) * static_cast<double>(dim[j] - 1);
      }
      squares += step * step;
    }
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

NiftiAffine affine_of(const NiftiHeader& header) {
  bool repaired = false;
  const Affine sform = header.srow, qform = from_quaternion(header, &repaired);
  const bool use_sform = header.sform_code > 0 && usable(sform), use_qform = header.qform_code > 0 && usable(qform);
  NiftiAffine out;
  if (use_sform) {
    out.matrix = sform;
    out.source = "sform";
    if (use_qform && !repaired) out.disagreement = corner_distance(sform, qform, header.dim);
    return out;
  }
  out.repaired = repaired;
  if (use_qform) {
    out.matrix = qform;
    out.source = "qform";
    return out;
  }
  for (int j = 0; j < 3; ++j) out.matrix[5 * j] = voxel_size(header, j, &out.repaired);
  out.source = "pixdim";
  return out;
}

void set_affine(NiftiHeader& header, const Affine& matrix, int code) {
  header.srow = matrix;
  header.sform_code = code;
  header.qform_code = 0;
  header.pixdim[0] = 1;
  double r[3][3];
  const double flip = determinant(matrix) < 0 ? -1 : 1;
  for (int j = 0; j < 3; ++j) {
    const double length = column_length(matrix, j);
    header.pixdim[j + 1] = length;
    for (int row = 0; row < 3; ++row) r[row][j] = matrix[4 * row + j] / length * (j == 2 ? flip : 1);
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const double dot = r[0][i] * r[0][j] + r[1][i] * r[1][j] + r[2][i] * r[2][j];
      if (std::abs(dot - (i == j ? 1 : 0)) > 1e-4) return;
    }
  }
  const std::array<double, 4> q = to_quaternion(r);
  header.quaternion = {q[1], q[2], q[3], matrix[3], matrix[7], matrix[11]};
  header.pixdim[0] = flip;
  header.qform_code = code;
}

}  // namespace voxridge

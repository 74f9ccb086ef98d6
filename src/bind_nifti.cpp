// Images in NIfTI files as R vectors and matrices, and back.
#include <Rcpp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/nifti_reader.h"
#include "core/nifti_writer.h"
#include "r_session.h"

namespace {

using voxridge::NiftiType;

// 3 x 4, row by row, as a 4 x 4 matrix, and back.
Rcpp::NumericMatrix affine_matrix(const voxridge::Affine& affine) {
  Rcpp::NumericMatrix out(4, 4);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) out(i, j) = affine[4 * i + j];
  }
  out(3, 3) = 1;
  return out;
}

voxridge::Affine affine_from(const Rcpp::NumericMatrix& matrix) {
  voxridge::Affine out{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) out[4 * i + j] = matrix(i, j);
  }
  return out;
}

template <class Container>
Rcpp::NumericVector numbers(const Container& from) {
  return Rcpp::NumericVector(from.begin(), from.end());
}

Rcpp::List affine_list(const voxridge::NiftiHeader& header) {
  const voxridge::NiftiAffine affine = voxridge::affine_of(header);
  return Rcpp::List::create(Rcpp::Named("affine") = affine_matrix(affine.matrix), Rcpp::Named("source") = affine.source,
                            Rcpp::Named("repaired") = affine.repaired,
                            Rcpp::Named("disagreement") = affine.disagreement);
}

// R's numbers from 1 as numbers from 0.
std::vector<int64_t> places(const Rcpp::NumericVector& from) {
  std::vector<int64_t> out(from.begin(), from.end());
  for (int64_t& place : out) --place;
  return out;
}

// All values of the wanted volumes, one volume after the other.
template <int type, class T>
SEXP read_all(voxridge::NiftiReader& reader, const std::vector<int64_t>& volumes, voxridge_r::Session& session) {
  const int64_t voxels = reader.header().voxels();
  const Rcpp::Shield<SEXP> out(Rf_allocVector(type, static_cast<R_xlen_t>(voxels) * volumes.size()));
  T* data;
  if constexpr (type == REALSXP) {
    data = REAL(out);
  } else {
    data = INTEGER(out);
  }
  session.run([&](const voxridge::Control& control) {
    control.expect(static_cast<int64_t>(volumes.size()));
    reader.read(volumes, {}, data, voxels, 1, control);
  });
  return out;
}

bool fits_integer(const voxridge::NiftiHeader& header) {
  if (header.scaled()) return false;
  switch (header.type) {
    case NiftiType::uint8:
    case NiftiType::int8:
    case NiftiType::int16:
    case NiftiType::uint16:
    case NiftiType::int32:
      return true;
    default:
      return false;
  }
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List core_nifti_header(const std::string& path) {
  std::unique_ptr<voxridge::NiftiReader> reader;
  voxridge_r::with_conditions([&] { reader = std::make_unique<voxridge::NiftiReader>(path); });
  const voxridge::NiftiHeader& header = reader->header();
  Rcpp::NumericVector codes, sizes;
  for (const voxridge::NiftiExtension& extension : header.extensions) {
    codes.push_back(static_cast<double>(extension.code));
    sizes.push_back(static_cast<double>(extension.size));
  }
  return Rcpp::List::create(
      Rcpp::Named("version") = header.version, Rcpp::Named("dim") = numbers(header.dim),
      Rcpp::Named("n_dims") = header.n_dims, Rcpp::Named("pixdim") = numbers(header.pixdim),
      Rcpp::Named("datatype") = voxridge::name_of(header.type), Rcpp::Named("code") = static_cast<int>(header.type),
      Rcpp::Named("bitpix") = 8 * voxridge::bytes_of(header.type), Rcpp::Named("big_endian") = header.big_endian,
      Rcpp::Named("scale") = Rcpp::NumericVector::create(header.slope, header.intercept),
      Rcpp::Named("is_integer") = fits_integer(header), Rcpp::Named("offset") = static_cast<double>(header.offset),
      Rcpp::Named("codes") = Rcpp::IntegerVector::create(header.qform_code, header.sform_code),
      Rcpp::Named("units") = header.units, Rcpp::Named("intent_code") = header.intent_code,
      Rcpp::Named("description") = header.description, Rcpp::Named("affine") = affine_list(header),
      Rcpp::Named("extension_codes") = codes, Rcpp::Named("extension_sizes") = sizes);
}

// The affine that these fields of a header stand for. `pixdim`: 8 values; `quaternion`: b, c, d and the offsets.
// [[Rcpp::export]]
Rcpp::List core_nifti_affine(int sform_code, const Rcpp::NumericMatrix& srow, int qform_code,
                             const Rcpp::NumericVector& quaternion, const Rcpp::NumericVector& pixdim) {
  voxridge::NiftiHeader header;
  header.sform_code = sform_code;
  header.qform_code = qform_code;
  header.srow = affine_from(srow);
  std::copy_n(quaternion.begin(), 6, header.quaternion.begin());
  std::copy_n(pixdim.begin(), 8, header.pixdim.begin());
  return affine_list(header);
}

// Largest distance in mm between the corners of two grids of the same dimensions.
// [[Rcpp::export]]
double core_corner_distance(const Rcpp::NumericMatrix& a, const Rcpp::NumericMatrix& b,
                            const Rcpp::NumericVector& dim) {
  std::array<int64_t, 4> size{1, 1, 1, 1};
  std::copy_n(dim.begin(), 3, size.begin());
  return voxridge::corner_distance(affine_from(a), affine_from(b), size);
}

// Values of the wanted volumes (from 1): integers where the stored numbers are unscaled integers that R can hold.
// [[Rcpp::export]]
SEXP core_nifti_values(const std::string& path, const Rcpp::NumericVector& volumes, const Rcpp::List& control) {
  std::unique_ptr<voxridge::NiftiReader> reader;
  voxridge_r::with_conditions([&] { reader = std::make_unique<voxridge::NiftiReader>(path); });
  voxridge_r::Session session(control);
  const std::vector<int64_t> wanted = places(volumes);
  if (!fits_integer(reader->header())) return read_all<REALSXP, double>(*reader, wanted, session);
  const Rcpp::Shield<SEXP> out(read_all<INTSXP, int32_t>(*reader, wanted, session));
  // the one 32-bit number that means NA in R
  const int* const data = INTEGER(out);
  const R_xlen_t n = Rf_xlength(out);
  if (std::find(data, data + n, std::numeric_limits<int>::min()) == data + n) return out;
  const Rcpp::Shield<SEXP> wide(Rf_allocVector(REALSXP, n));
  std::copy(data, data + n, REAL(wide));
  return wide;
}

// Rows are volumes (from 1, a vector per file), one file after the other; columns are the voxels `index` (from 1). An
// error of one of several files begins with its number.
// [[Rcpp::export]]
Rcpp::NumericMatrix core_nifti_rows(const std::vector<std::string>& paths, const Rcpp::List& volumes,
                                    const Rcpp::NumericVector& index, const Rcpp::List& control) {
  std::vector<std::vector<int64_t>> wanted;
  int64_t n = 0;
  for (R_xlen_t file = 0; file < volumes.size(); ++file) {
    wanted.push_back(places(volumes[file]));
    n += static_cast<int64_t>(wanted.back().size());
  }
  const std::vector<int64_t> voxels = places(index);
  Rcpp::NumericMatrix out(Rcpp::no_init(static_cast<int>(n), static_cast<int>(voxels.size())));
  double* row = REAL(out);
  voxridge_r::Session(control).run([&](const voxridge::Control& control) {
    control.expect(n);
    for (size_t file = 0; file < paths.size(); ++file) {
      try {
        voxridge::NiftiReader(paths[file]).read(wanted[file], voxels, row, 1, n, control);
      } catch (const voxridge::Error& error) {
        if (paths.size() == 1 || error.code() != voxridge::ErrorCode::file) throw;
        throw voxridge::Error(error.code(), std::to_string(file + 1) + ": " + error.what(), error.where(),
                              error.found());
      }
      row += wanted[file].size();
    }
  });
  return out;
}

// `x`: double, integer or logical, in the order of the file. `header`: see R/write_nifti.R.
// [[Rcpp::export]]
void core_nifti_write(SEXP x, const std::string& path, const Rcpp::List& header, int level, const Rcpp::List& control) {
  voxridge::NiftiHeader out;
  const Rcpp::NumericVector dim = header["dim"];
  out.version = Rcpp::as<int>(header["version"]);
  out.n_dims = static_cast<int>(dim.size());
  std::copy(dim.begin(), dim.end(), out.dim.begin());
  out.type = voxridge::nifti_type(Rcpp::as<std::string>(header["datatype"]));
  out.pixdim.fill(1);
  voxridge::set_affine(out, affine_from(header["affine"]), Rcpp::as<int>(header["code"]));
  out.pixdim[4] = Rcpp::as<double>(header["tr"]);
  out.units = Rcpp::as<int>(header["units"]);
  out.intent_code = Rcpp::as<int>(header["intent_code"]);
  out.description = Rcpp::as<std::string>(header["description"]);
  const int64_t n = Rf_xlength(x);
  const double* const reals = TYPEOF(x) == REALSXP ? REAL(x) : nullptr;
  const int* const integers = TYPEOF(x) == INTSXP ? INTEGER(x) : TYPEOF(x) == LGLSXP ? LOGICAL(x) : nullptr;
  voxridge_r::Session(control).run([&](const voxridge::Control& control) {
    voxridge::NiftiWriter writer(path, out, level);
    if (reals != nullptr) {
      writer.append(reals, n, control);
    } else {
      writer.append(integers, n, control);
    }
    writer.commit();
  });
}

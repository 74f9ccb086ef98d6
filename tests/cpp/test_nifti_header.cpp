#include <cmath>

#include "core/bytes.h"
#include "core/error.h"
#include "core/philox.h"
#include "nifti_files.h"

namespace voxridge_test {

namespace {

// A rotation about a random axis, by Rodrigues' formula.
Affine random_affine(uint64_t seed, bool flip) {
  const Philox generator(seed, 1);
  const auto a = generator.normal_pair(0), b = generator.normal_pair(1), sizes = generator.uniform_pair(2);
  const double length = std::hypot(a[0], a[1], b[0]), x = a[0] / length, y = a[1] / length, z = b[0] / length;
  const double c = std::cos(b[1]), s = std::sin(b[1]), d = 1 - c;
  const double r[3][3] = {{c + x * x * d, x * y * d - z * s, x * z * d + y * s},
                          {y * x * d + z * s, c + y * y * d, y * z * d - x * s},
                          {z * x * d - y * s, z * y * d + x * s, c + z * z * d}};
  const double scale[3] = {1 + sizes[0], 1 + sizes[1], flip ? -2.0 : 2.0};
  Affine out{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out[4 * i + j] = r[i][j] * scale[j];
    out[4 * i + 3] = 10 * (i + 1);
  }
  return out;
}

double difference(const Affine& a, const Affine& b) {
  double largest = 0;
  for (int i = 0; i < 12; ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST(NiftiHeader, WhatIsWrittenIsReadBack) {
  for (const int version : {1, 2}) {
    NiftiHeader header = make_header({5, 6, 7, 8}, NiftiType::uint32, version);
    header.description = "made by a test";
    header.units = 10;
    header.intent_code = 3;
    const NiftiHeader back = parse_nifti(format_nifti(header).data(), "x.nii");
    EXPECT_EQ(back.version, version);
    EXPECT_FALSE(back.pair);
    EXPECT_EQ(back.dim, header.dim);
    EXPECT_EQ(back.n_dims, 4);
    EXPECT_EQ(back.type, header.type);
    EXPECT_EQ(back.offset, version == 1 ? 352 : 544);
    EXPECT_EQ(back.description, header.description);
    EXPECT_EQ(back.units, 10);
    EXPECT_EQ(back.intent_code, 3);
    EXPECT_EQ(back.sform_code, 1);
    EXPECT_EQ(back.qform_code, 1);
    EXPECT_EQ(affine_of(back).matrix, header.srow);
  }
}

// Whatever one byte says, the header is refused or describes an image whose size is a number.
TEST(NiftiHeader, AnyByteMayBeAnything) {
  for (const int version : {1, 2}) {
    const Bytes good = format_nifti(make_header({3, 4, 5, 6}, NiftiType::float32, version));
    int refused = 0, read = 0;
    for (int64_t at = 0; at < (version == 1 ? kNifti1Size : kNifti2Size); ++at) {
      for (int value = 0; value < 256; ++value) {
        Bytes bytes = good;
        bytes[at] = static_cast<unsigned char>(value);
        if (nifti_header_size(bytes.data(), static_cast<int64_t>(bytes.size())) == 0) continue;
        try {
          const NiftiHeader header = parse_nifti(bytes.data(), "x.nii");
          for (const int64_t size : header.dim) ASSERT_GE(size, 1);
          ASSERT_GE(header.offset, 352);
          ASSERT_GT(header.volume_bytes() * header.volumes(), 0);
          const NiftiAffine affine = affine_of(header);
          for (const double number : affine.matrix) ASSERT_TRUE(std::isfinite(number));
          ++read;
        } catch (const Error& error) {
          ASSERT_EQ(error.code(), ErrorCode::file) << error.what();
          ASSERT_FALSE(error.where().empty());
          ++refused;
        }
      }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(read, 10000);
  }
}

TEST(NiftiHeader, RefusalsNameTheFieldAndItsValue) {
  const auto refusal = [](auto change) {
    NiftiHeader header = make_header({3, 4, 5, 6});
    Bytes bytes = format_nifti(header);
    change(bytes);
    try {
      parse_nifti(bytes.data(), "x.nii");
    } catch (const Error& error) {
      return error.where() + "=" + error.found();
    }
    return std::string("accepted");
  };
  const auto put16 = [](int at, int16_t value) { return [=](Bytes& bytes) { store<int16_t>(&bytes[at], value); }; };
  const auto put32 = [](int at, float value) { return [=](Bytes& bytes) { store<float>(&bytes[at], value); }; };
  EXPECT_EQ(refusal(put16(40, 0)), "dim[0]=0");
  EXPECT_EQ(refusal(put16(40, 8)), "dim[0]=8");
  EXPECT_EQ(refusal(put16(44, -4)), "dim[2]=-4");
  EXPECT_EQ(refusal([](Bytes& bytes) {
              store<int16_t>(&bytes[40], 5);
              store<int16_t>(&bytes[50], 3);
            }),
            "dim[5]=3");
  EXPECT_EQ(refusal(put16(70, 128)), "datatype=128");
  EXPECT_EQ(refusal(put16(70, 32)), "datatype=32");
  EXPECT_EQ(refusal(put16(72, 8)), "bitpix=8");
  EXPECT_EQ(refusal(put32(108, 348)), "vox_offset=348");
  EXPECT_EQ(refusal(put32(108, 352.5F)), "vox_offset=352.5");
  EXPECT_EQ(refusal(put32(108, std::nanf(""))), "vox_offset=nan");
  EXPECT_EQ(refusal([](Bytes& bytes) {
              store<float>(&bytes[112], 2);
              store<float>(&bytes[116], std::nanf(""));
            }),
            "scl_inter=nan");
  EXPECT_EQ(refusal([](Bytes& bytes) {
              store<float>(&bytes[112], 0);
              store<float>(&bytes[116], std::nanf(""));
            }),
            "accepted");
  EXPECT_EQ(refusal([](Bytes& bytes) { bytes[344] = 0; }), "magic=");
}

TEST(NiftiHeader, DimensionsThatOverflow) {
  NiftiHeader header = make_header({3, 4, 5, 6}, NiftiType::float64, 2);
  for (const int64_t size : {int64_t{1} << 31, int64_t{1} << 61, INT64_MAX}) {
    header.dim = {size, size, 2, 1};
    EXPECT_THROW(parse_nifti(format_nifti(header).data(), "x.nii"), Error);
  }
  header.dim = {INT64_MAX / 8, 1, 1, 1};  // the voxels fit, not with the offset
  EXPECT_THROW(parse_nifti(format_nifti(header).data(), "x.nii"), Error);
}

TEST(NiftiAffine, QuaternionsOfRotations) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    NiftiHeader header = make_header({9, 9, 9, 1}, NiftiType::int16, 2);
    const Affine wanted = random_affine(seed, seed % 2 == 1);
    set_affine(header, wanted, 3);
    EXPECT_EQ(header.qform_code, 3);
    header.sform_code = 0;
    const NiftiAffine got = affine_of(header);
    EXPECT_EQ(got.source, "qform");
    EXPECT_LT(difference(got.matrix, wanted), 1e-12) << "seed " << seed;
  }
  // by 180 degrees about each axis: a = 0
  for (int axis = 0; axis < 3; ++axis) {
    NiftiHeader header = make_header({9, 9, 9, 1}, NiftiType::int16, 1);
    Affine wanted{-2, 0, 0, 5, 0, -2, 0, 6, 0, 0, -2, 7};
    wanted[5 * axis] = 2;
    set_affine(header, wanted, 1);
    NiftiHeader back = parse_nifti(format_nifti(header).data(), "x.nii");
    back.sform_code = 0;
    EXPECT_LT(difference(affine_of(back).matrix, wanted), 1e-6);
  }
}

TEST(NiftiAffine, WhatCannotBeUsedIsPassedOver) {
  NiftiHeader header = make_header({9, 9, 9, 1});
  header.srow = {};
  EXPECT_EQ(affine_of(header).source, "qform");
  header.quaternion[0] = std::nan("");
  EXPECT_EQ(affine_of(header).source, "pixdim");
  EXPECT_EQ(affine_of(header).matrix, (Affine{2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0}));
  EXPECT_FALSE(affine_of(header).repaired);
  header.pixdim[1] = 0;
  header.pixdim[2] = -3;
  EXPECT_EQ(affine_of(header).matrix, (Affine{1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0}));
  EXPECT_TRUE(affine_of(header).repaired);
}

TEST(NiftiAffine, ShearHasNoQform) {
  NiftiHeader header = make_header({9, 9, 9, 1});
  set_affine(header, {2, 0.5, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0}, 2);
  EXPECT_EQ(header.qform_code, 0);
  EXPECT_EQ(header.sform_code, 2);
}

TEST(NiftiAffine, DisagreementIsTheLargestDistanceOfCorners) {
  NiftiHeader header = make_header({11, 9, 9, 1});
  header.srow[0] += 0.1;  // 10 steps along x
  EXPECT_NEAR(affine_of(header).disagreement, 1, 1e-12);
}

}  // namespace voxridge_test

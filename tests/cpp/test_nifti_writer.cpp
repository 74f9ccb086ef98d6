#include "core/nifti_writer.h"

#include <sys/resource.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <limits>

#include "core/error.h"
#include "core/nifti_reader.h"
#include "nifti_files.h"

namespace voxridge_test {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
bool writes(const std::string& path, NiftiType type, T value) {
  try {
    NiftiWriter writer(path, make_header({1, 1, 1}, type), 0);
    writer.append(&value, 1, Control());
    writer.commit();
    double back = -1;
    NiftiReader(path).read({0}, {}, &back, 1, 1, Control());
    EXPECT_TRUE(back == static_cast<double>(value) || type == NiftiType::float32 || std::isnan(back));
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "datatype");
    return false;
  }
}

}  // namespace

TEST(NiftiWriter, EveryTypeComesBack) {
  const TemporaryFolder folder;
  for (const NiftiType type :
       {NiftiType::uint8, NiftiType::int16, NiftiType::int32, NiftiType::float32, NiftiType::float64, NiftiType::int8,
        NiftiType::uint16, NiftiType::uint32, NiftiType::int64, NiftiType::uint64}) {
    for (const int level : {0, 1, 9}) {
      for (const int version : {1, 2}) {
        const NiftiHeader header = make_header({40, 41, 43, 2}, type, version);  // more than a chunk
        const int64_t n = header.voxels() * 2;
        std::vector<double> values(n), back(n);
        for (int64_t k = 0; k < n; ++k) values[k] = stored_value(type, k);
        const std::string path = folder.path("x.nii");
        NiftiWriter writer(path, header, level);
        writer.append(values.data(), 1000, Control());
        writer.append(values.data() + 1000, n - 1000, Control());
        writer.commit();
        NiftiReader(path).read({0, 1}, {}, back.data(), n / 2, 1, Control());
        ASSERT_EQ(back, values) << name_of(type);
      }
    }
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"x.nii"});
}

TEST(NiftiWriter, BytesAreThoseOfAnIndependentWriter) {
  const TemporaryFolder folder;
  const NiftiHeader header = make_header({3, 4, 5, 2});
  std::vector<double> values(120);
  for (int64_t k = 0; k < 120; ++k) values[k] = stored_value(header.type, k);
  for (const int level : {0, 6}) {
    NiftiWriter writer(folder.path("x"), header, level);
    writer.append(values.data(), 120, Control());
    writer.commit();
    const Bytes want = make_image(header);
    EXPECT_EQ(read_file(folder.path("x")), level == 0 ? want : gzipped(want));
  }
}

TEST(NiftiWriter, LimitsOfTypes) {
  const TemporaryFolder folder;
  const std::string path = folder.path("x.nii");
  struct Case {
    NiftiType type;
    double low, high;
  };
  for (const Case& one :
       {Case{NiftiType::uint8, 0, 255}, Case{NiftiType::int8, -128, 127}, Case{NiftiType::int16, -32768, 32767},
        Case{NiftiType::uint16, 0, 65535}, Case{NiftiType::int32, -2147483648.0, 2147483647},
        Case{NiftiType::uint32, 0, 4294967295.0}}) {
    EXPECT_TRUE(writes(path, one.type, one.low));
    EXPECT_TRUE(writes(path, one.type, one.high));
    EXPECT_FALSE(writes(path, one.type, one.low - 1));
    EXPECT_FALSE(writes(path, one.type, one.high + 1));
    EXPECT_FALSE(writes(path, one.type, 0.5));
    EXPECT_FALSE(writes(path, one.type, std::nan("")));
    EXPECT_FALSE(writes(path, one.type, kInfinity));
    EXPECT_FALSE(writes(path, one.type, std::numeric_limits<int32_t>::min()));
    EXPECT_TRUE(writes<int32_t>(path, one.type, 17));
  }
  EXPECT_FALSE(writes<int32_t>(path, NiftiType::uint8, 256));
  EXPECT_FALSE(writes<int32_t>(path, NiftiType::uint64, -1));
  EXPECT_FALSE(writes(path, NiftiType::int64, 9223372036854775808.0));
  EXPECT_FALSE(writes(path, NiftiType::float32, 1e39));
  EXPECT_TRUE(writes(path, NiftiType::float32, static_cast<double>(std::numeric_limits<float>::max())));
  EXPECT_TRUE(writes(path, NiftiType::float32, std::nan("")));
  EXPECT_TRUE(writes(path, NiftiType::float32, -kInfinity));
  EXPECT_FALSE(writes<int32_t>(path, NiftiType::float32, 16777217));
  EXPECT_TRUE(writes<int32_t>(path, NiftiType::float64, 16777217));
}

TEST(NiftiWriter, WhatIsNotCommittedLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path("x.nii.gz");
  const Bytes old{1, 2, 3};
  write_file(path, old);
  const NiftiHeader header = make_header({3, 4, 5});
  const std::vector<double> values(60, 1.0);
  {
    NiftiWriter writer(path, header, 6);
    writer.append(values.data(), 60, Control());
    EXPECT_EQ(folder.names().size(), 2U);
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"x.nii.gz"});
  EXPECT_EQ(read_file(path), old);
  {
    NiftiWriter writer(path, header, 6);
    writer.append(values.data(), 59, Control());
    EXPECT_THROW(writer.commit(), Error);
  }
  std::atomic<bool> stop{true};
  Control control;
  control.stop = &stop;
  {
    NiftiWriter writer(path, header, 6);
    EXPECT_THROW(writer.append(values.data(), 60, control), Error);
  }
  EXPECT_EQ(read_file(path), old);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"x.nii.gz"});
}

TEST(NiftiWriter, TwoWritersOfOneFileDoNotMeet) {
  const TemporaryFolder folder;
  const std::string path = folder.path("x.nii");
  const NiftiHeader header = make_header({3, 4, 5});
  const std::vector<double> ones(60, 1.0), twos(60, 2.0);
  NiftiWriter a(path, header, 0), b(path, header, 0);
  a.append(ones.data(), 60, Control());
  b.append(twos.data(), 60, Control());
  b.commit();
  a.commit();
  double back = 0;
  NiftiReader(path).read({0}, {59}, &back, 1, 1, Control());
  EXPECT_EQ(back, 1);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"x.nii"});
}

TEST(NiftiWriter, PlacesThatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THROW(NiftiWriter(folder.path("none/x.nii"), make_header({1}), 0), Error);
  EXPECT_THROW(NiftiWriter(folder.path(std::string(300, 'x')), make_header({1}), 0), Error);
}

// As on a full disk: what was written so far is taken away.
TEST(NiftiWriter, NoRoomLeft) {
  const TemporaryFolder folder;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &small);
  const std::vector<double> values(60000, 1.0);
  {
    NiftiWriter writer(folder.path("x.nii"), make_header({300, 200}, NiftiType::float64), 0);
    EXPECT_THROW(writer.append(values.data(), 60000, Control()), Error);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace voxridge_test

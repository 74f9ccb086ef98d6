#include "core/nifti_reader.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "core/bytes.h"
#include "core/error.h"
#include "nifti_files.h"

namespace voxridge_test {

namespace {

constexpr NiftiType kAll[] = {NiftiType::uint8,   NiftiType::int16, NiftiType::int32,  NiftiType::float32,
                              NiftiType::float64, NiftiType::int8,  NiftiType::uint16, NiftiType::uint32,
                              NiftiType::int64,   NiftiType::uint64};

std::vector<int64_t> up_to(int64_t n) {
  std::vector<int64_t> out(n);
  std::iota(out.begin(), out.end(), int64_t{0});
  return out;
}

// Volumes x voxels as a matrix with volumes next to each other.
template <class T>
std::vector<T> rows_of(const std::string& path, const std::vector<int64_t>& volumes,
                       const std::vector<int64_t>& index) {
  NiftiReader reader(path);
  const size_t n = index.empty() ? reader.header().voxels() : index.size();
  std::vector<T> out(volumes.size() * n, T(-77));
  reader.read(volumes, index, out.data(), 1, static_cast<int64_t>(volumes.size()), Control());
  return out;
}

std::string refusal(const std::string& path) {
  try {
    NiftiReader reader(path);
    std::vector<double> out(reader.header().voxels() * reader.header().volumes());
    reader.read(up_to(reader.header().volumes()), {}, out.data(), reader.header().voxels(), 1, Control());
  } catch (const Error& error) {
    return error.code() == ErrorCode::file ? error.where() : "another error";
  }
  return "read";
}

}  // namespace

TEST(NiftiReader, EveryTypeOrderVersionAndPacking) {
  const TemporaryFolder folder;
  const std::vector<int64_t> index{1, 2, 17, 58, 59}, volumes{2, 0, 2, 1};
  for (const NiftiType type : kAll) {
    for (const int version : {1, 2}) {
      for (const bool big : {false, true}) {
        for (const bool gz : {false, true}) {
          const NiftiHeader header = make_header({3, 4, 5, 3}, type, version);
          const Bytes bytes = make_image(header, big);
          const std::string path = folder.path(gz ? "x.nii.gz" : "x.nii");
          write_file(path, gz ? gzipped(bytes) : bytes);
          const auto doubles = rows_of<double>(path, volumes, index);
          const auto floats = rows_of<float>(path, volumes, index);
          for (size_t v = 0; v < volumes.size(); ++v) {
            for (size_t k = 0; k < index.size(); ++k) {
              const double want = stored_value(type, volumes[v] * 60 + index[k]);
              ASSERT_EQ(doubles[v + k * volumes.size()], want) << name_of(type);
              ASSERT_EQ(floats[v + k * volumes.size()], static_cast<float>(want));
            }
          }
          NiftiReader reader(path);
          EXPECT_EQ(reader.header().big_endian, big);
          std::vector<double> all(180);
          reader.read(up_to(3), {}, all.data(), 60, 1, Control());
          for (int64_t k = 0; k < 180; ++k) ASSERT_EQ(all[k], stored_value(type, k));
        }
      }
    }
  }
}

TEST(NiftiReader, ValuesAreScaledInDouble) {
  const TemporaryFolder folder;
  NiftiHeader header = make_header({3, 4, 5, 1});
  Bytes bytes = make_image(header);
  store<float>(&bytes[112], 0.1F);
  store<float>(&bytes[116], 1e6F);
  write_file(folder.path("x.nii"), bytes);
  const auto got = rows_of<double>(folder.path("x.nii"), {0}, {});
  for (int64_t k = 0; k < 60; ++k) {
    const double want = static_cast<double>(0.1F) * stored_value(NiftiType::int16, k) + 1e6;
    ASSERT_EQ(got[k], want);
  }
  for (const float slope : {0.0F, std::nanf(""), INFINITY}) {
    store<float>(&bytes[112], slope);
    write_file(folder.path("x.nii"), bytes);
    EXPECT_EQ(rows_of<double>(folder.path("x.nii"), {0}, {7})[0], stored_value(NiftiType::int16, 7));
  }
}

// More voxels than a chunk holds and more volumes than rows that wait: all pieces meet.
TEST(NiftiReader, ImagesLargerThanTheBuffers) {
  const TemporaryFolder folder;
  const NiftiHeader header = make_header({101, 97, 31, 3}, NiftiType::int32);
  const Bytes bytes = make_image(header);
  const int64_t n = header.voxels();
  std::vector<int64_t> sparse;
  for (int64_t k = 5; k < n; k += 1 + k % 700) sparse.push_back(k);
  for (const bool gz : {false, true}) {
    const std::string path = folder.path(gz ? "x.nii.gz" : "x.nii");
    write_file(path, gz ? gzipped(bytes) : bytes);
    const std::vector<int64_t> volumes{1, 2, 2, 0, 1};
    const auto some = rows_of<double>(path, volumes, sparse), all = rows_of<double>(path, volumes, {});
    for (size_t v = 0; v < volumes.size(); ++v) {
      for (int64_t k = 0; k < n; ++k) {
        ASSERT_EQ(all[v + k * volumes.size()], stored_value(header.type, volumes[v] * n + k));
      }
      for (size_t k = 0; k < sparse.size(); ++k) {
        ASSERT_EQ(some[v + k * volumes.size()], stored_value(header.type, volumes[v] * n + sparse[k]));
      }
    }
  }
}

TEST(NiftiReader, Pairs) {
  const TemporaryFolder folder;
  for (const int version : {1, 2}) {
    Bytes bytes = make_image(make_header({3, 4, 5, 1}, NiftiType::int16, version));
    const int64_t offset = version == 1 ? 352 : 544;
    bytes[version == 1 ? 345 : 5] = 'i';
    if (version == 1) {
      store<float>(&bytes[108], 0);
    } else {
      store<int64_t>(&bytes[168], 0);
    }
    const Bytes header(bytes.begin(), bytes.begin() + offset), data(bytes.begin() + offset, bytes.end());
    for (const bool gz : {false, true}) {
      const std::string tail = gz ? ".gz" : "";
      const std::string a = folder.path("pair.hdr" + tail), b = folder.path("pair.img" + tail);
      write_file(a, gz ? gzipped(header) : header);
      EXPECT_EQ(refusal(a), "pair");
      write_file(b, gz ? gzipped(data) : data);
      for (const std::string& path : {a, b}) {
        EXPECT_EQ(rows_of<double>(path, {0}, {9})[0], stored_value(NiftiType::int16, 9)) << path;
      }
      unlink(a.c_str());
      EXPECT_EQ(refusal(b), "pair");
      unlink(b.c_str());
    }
  }
}

TEST(NiftiReader, FilesCutAnywhere) {
  const TemporaryFolder folder;
  const Bytes plain = make_image(make_header({3, 4, 5, 2}));
  const Bytes packed = gzipped(plain);
  for (size_t length = 0; length < plain.size(); ++length) {
    write_file(folder.path("x.nii"), Bytes(plain.begin(), plain.begin() + length));
    EXPECT_NE(refusal(folder.path("x.nii")), "read") << length;
  }
  for (size_t length = 0; length < packed.size(); ++length) {
    write_file(folder.path("x.nii.gz"), Bytes(packed.begin(), packed.begin() + length));
    EXPECT_NE(refusal(folder.path("x.nii.gz")), "read") << length;
  }
}

// A gzip file has no byte that may change unseen, but those of its header that say nothing of the data.
TEST(NiftiReader, GzipFilesChangedAnywhere) {
  const TemporaryFolder folder;
  const Bytes good = gzipped(make_image(make_header({3, 4, 5, 2})));
  for (size_t at = 10; at < good.size(); ++at) {
    Bytes bytes = good;
    bytes[at] ^= 0x10;
    write_file(folder.path("x.nii.gz"), bytes);
    EXPECT_NE(refusal(folder.path("x.nii.gz")), "read") << at;
  }
}

TEST(NiftiReader, GzipMembersAreOneStream) {
  const TemporaryFolder folder;
  const Bytes bytes = make_image(make_header({3, 4, 5, 2}));
  for (const size_t cut : {size_t{1}, size_t{100}, size_t{352}, size_t{400}, bytes.size() - 1}) {
    Bytes two = gzipped(Bytes(bytes.begin(), bytes.begin() + cut));
    const Bytes second = gzipped(Bytes(bytes.begin() + cut, bytes.end()));
    two.insert(two.end(), second.begin(), second.end());
    write_file(folder.path("x.nii.gz"), two);
    EXPECT_EQ(rows_of<double>(folder.path("x.nii.gz"), {1}, {59})[0], stored_value(NiftiType::int16, 119));
    two.insert(two.end(), 20, 0);  // what follows is not ours
    write_file(folder.path("x.nii.gz"), two);
    EXPECT_EQ(refusal(folder.path("x.nii.gz")), "read");
  }
  // the first member ends where a block of input ends: its header is split over two
  for (size_t noise = 65536 - 30; noise < 65536 + 30; ++noise) {
    Bytes random(noise);
    uint32_t state = 1;
    for (unsigned char& byte : random) byte = static_cast<unsigned char>((state = state * 1664525 + 1013904223) >> 24);
    NiftiHeader header = make_header({static_cast<int64_t>(noise), 1, 1, 1}, NiftiType::uint8, 2);
    Bytes start = format_nifti(header);
    start.insert(start.end(), random.begin(), random.begin() + static_cast<int64_t>(noise) - 700);
    Bytes whole = gzipped(start);
    const Bytes rest = gzipped(Bytes(random.end() - 700, random.end()));
    whole.insert(whole.end(), rest.begin(), rest.end());
    write_file(folder.path("y.nii.gz"), whole);
    ASSERT_EQ(rows_of<double>(folder.path("y.nii.gz"), {0}, {})[noise - 1], random[noise - 1]);
  }
}

TEST(NiftiReader, FileThatShrinksWhileItIsRead) {
  const TemporaryFolder folder;
  const std::string path = folder.path("x.nii");
  write_file(path, make_image(make_header({3, 4, 5, 2})));
  NiftiReader reader(path);
  ASSERT_EQ(truncate(path.c_str(), 400), 0);
  std::vector<double> out(120);
  EXPECT_THROW(reader.read({0, 1}, {}, out.data(), 60, 1, Control()), Error);
}

TEST(NiftiReader, WhatIsNotThereIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.path("x.nii");
  write_file(path, make_image(make_header({3, 4, 5, 2})));
  double out[4];
  for (const std::vector<int64_t>& volumes : {std::vector<int64_t>{2}, std::vector<int64_t>{-1}}) {
    EXPECT_THROW(NiftiReader(path).read(volumes, {0}, out, 1, 1, Control()), Error);
  }
  for (const std::vector<int64_t>& index : {std::vector<int64_t>{60}, std::vector<int64_t>{-1, 2},
                                            std::vector<int64_t>{2, 2}, std::vector<int64_t>{3, 2}}) {
    EXPECT_THROW(NiftiReader(path).read({0}, index, out, 1, 1, Control()), Error);
  }
}

TEST(NiftiReader, WholeNumbersBeyondDoublesAreRefused) {
  const TemporaryFolder folder;
  for (const NiftiType type : {NiftiType::int64, NiftiType::uint64}) {
    NiftiHeader header = make_header({2, 1, 1, 1}, type);
    Bytes bytes = make_image(header);
    const std::string path = folder.path("x.nii");
    store<int64_t>(&bytes[360], int64_t{1} << 53);
    write_file(path, bytes);
    EXPECT_EQ(rows_of<double>(path, {0}, {1})[0], 9007199254740992.0);
    store<int64_t>(&bytes[360], (int64_t{1} << 53) + 1);
    write_file(path, bytes);
    EXPECT_EQ(refusal(path), "datatype");
    store<int64_t>(&bytes[360], INT64_MIN);
    write_file(path, bytes);
    EXPECT_EQ(refusal(path), "datatype");
  }
}

TEST(NiftiReader, Extensions) {
  const TemporaryFolder folder;
  const std::string path = folder.path("x.nii");
  Bytes bytes = make_image(make_header({3, 4, 5, 1}));
  Bytes extension(48, 0);
  store<int32_t>(&extension[0], 16);
  store<int32_t>(&extension[4], 6);
  store<int32_t>(&extension[16], 32);
  store<int32_t>(&extension[20], 4);
  bytes.insert(bytes.begin() + 352, extension.begin(), extension.end());
  bytes[348] = 1;
  store<float>(&bytes[108], 400);
  write_file(path, bytes);
  const NiftiReader reader(path);
  ASSERT_EQ(reader.header().extensions.size(), 2U);
  EXPECT_EQ(reader.header().extensions[1].code, 4);
  EXPECT_EQ(reader.header().extensions[1].size, 32);
  EXPECT_EQ(rows_of<double>(path, {0}, {3})[0], stored_value(NiftiType::int16, 3));
  store<int32_t>(&bytes[352], INT32_MAX - 15);  // one that lies about its size is not followed
  write_file(path, bytes);
  EXPECT_EQ(NiftiReader(path).header().extensions.size(), 0U);
  EXPECT_EQ(rows_of<double>(path, {0}, {3})[0], stored_value(NiftiType::int16, 3));
}

TEST(NiftiReader, StopsWhenAsked) {
  const TemporaryFolder folder;
  const std::string path = folder.path("x.nii.gz");
  write_file(path, gzipped(make_image(make_header({3, 4, 5, 2}))));
  std::atomic<bool> stop{true};
  Control control;
  control.stop = &stop;
  double out[2];
  try {
    NiftiReader(path).read({1}, {0}, out, 1, 1, control);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::interrupted);
  }
}

}  // namespace voxridge_test

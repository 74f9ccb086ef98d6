#include "core/sha256.h"

#include <gtest/gtest.h>

#include <memory>

namespace voxridge_test {

using voxridge::Sha256;

namespace {

std::string sha256(const std::string& text) {
  Sha256 hash;
  hash.update(text.data(), text.size());
  return hash.hex();
}

}  // namespace

// The examples of FIPS 180-2, appendix B, and the empty message.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnop"
             "qrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Every length up to some blocks, held against another implementation (Python's hashlib) by the hash of all hashes.
TEST(Sha256, EveryLengthInAnyPieces) {
  Sha256 of_all;
  for (size_t size = 0; size < 200; ++size) {
    const std::string text(size, 'x');
    const std::string whole = sha256(text);
    of_all.update(whole.data(), whole.size());
    for (const size_t piece : {1, 3, 63, 64, 65}) {
      Sha256 hash;
      for (size_t k = 0; k < size; k += piece) {
        const std::unique_ptr<char[]> exact(new char[piece]);
        const size_t n = text.copy(exact.get(), piece, k);
        hash.update(exact.get(), n);
      }
      ASSERT_EQ(hash.hex(), whole);
    }
  }
  EXPECT_EQ(of_all.hex(), "f61ffcc417e1f0e59eba2da7fa32fbe05b64e478b68c6bacf990455f00248b98");
}

}  // namespace voxridge_test

// Beside the loops, which bring sockets with them: the fuzzer of connections does without.
#include <boost/asio/ip/address.hpp>

#include "server.h"

namespace voxridge {

bool is_loopback(const std::string& host) {
  boost::system::error_code error;
  const boost::asio::ip::address address = boost::asio::ip::make_address(host, error);
  if (error) return false;
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.is_loopback();
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()).is_loopback();
}

}  // namespace voxridge

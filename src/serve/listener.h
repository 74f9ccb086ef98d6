// A listening socket, for TCP or a path of the file system. Part of event_loop.cpp.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>

#include "../core/error.h"
#include "descriptors.h"
#include "server.h"

#ifndef _WIN32
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cerrno>
#endif

namespace voxridge {

namespace asio = boost::asio;
using Socket = asio::generic::stream_protocol::socket;
using SystemError = boost::system::error_code;

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void wait(std::function<void(const SystemError&)> handler) = 0;
  virtual Socket accept(asio::io_context& context, SystemError& error) = 0;  // without waiting
  virtual int port() const { return 0; }
  virtual void close() = 0;
};

template <class Protocol>
class ListenerOf : public Listener {
 public:
  // `otherwise`: the error where the place is not one that is taken.
  ListenerOf(asio::io_context& context, const typename Protocol::endpoint& endpoint, const std::string& place,
             ErrorCode otherwise)
      : acceptor_(context), protocol_(endpoint.protocol()) {
    SystemError error;
    const auto check = [&](const char* what) {
      if (!error) return;
      close();
      const bool taken = error == asio::error::address_in_use;
      throw Error(taken ? ErrorCode::port_in_use : otherwise,
                  std::string(what) + " " + place + ": " + error.message() + ".", "", place);
    };
    acceptor_.open(endpoint.protocol(), error);
    check("Cannot make a socket for");
    if (!keep_descriptor(static_cast<int>(acceptor_.native_handle()))) {
      error = asio::error::no_descriptors;
      check("Cannot keep a socket for");
    }
    own_address();
    acceptor_.bind(endpoint, error);
    check("Cannot listen at");
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    check("Cannot listen at");
    acceptor_.non_blocking(true, error);
    check("Cannot listen at");
  }
  ~ListenerOf() override { close(); }

  void wait(std::function<void(const SystemError&)> handler) override {
    acceptor_.async_wait(asio::socket_base::wait_read, std::move(handler));
  }
  Socket accept(asio::io_context& context, SystemError& error) override {
#ifdef __linux__
    // In one step: no program that another thread starts meanwhile gets a copy.
    Socket socket(context);
    const int descriptor = accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) {
      error.assign(errno, boost::system::system_category());
      return socket;
    }
    socket.assign(protocol_, descriptor, error);
    return socket;
#else
    typename Protocol::socket socket(context);
    acceptor_.accept(socket, error);
    if (error) return Socket(context);
    return Socket(std::move(socket));
#endif
  }
  void close() override {
    if (!acceptor_.is_open()) return;
    const int descriptor = static_cast<int>(acceptor_.native_handle());
#ifndef _WIN32
    shutdown(descriptor, SHUT_RDWR);  // copies in children listen no more
#endif
    forget_descriptor(descriptor);
    SystemError ignored;
    acceptor_.close(ignored);
  }

 protected:
  typename Protocol::acceptor acceptor_;

 private:
  const asio::generic::stream_protocol protocol_;

  // A port that was closed a moment ago can be had again, but not one that another process listens on.
  void own_address() {
    SystemError ignored;
#ifdef _WIN32
    using Exclusive = asio::detail::socket_option::boolean<SOL_SOCKET, SO_EXCLUSIVEADDRUSE>;
    acceptor_.set_option(Exclusive(true), ignored);
#else
    acceptor_.set_option(asio::socket_base::reuse_address(true), ignored);
#endif
  }
};

class TcpListener : public ListenerOf<asio::ip::tcp> {
 public:
  TcpListener(asio::io_context& context, const asio::ip::tcp::endpoint& endpoint, const std::string& place)
      : ListenerOf(context, endpoint, place, ErrorCode::network) {}
  int port() const override {
    SystemError error;
    return acceptor_.local_endpoint(error).port();
  }
};

#ifdef BOOST_ASIO_HAS_LOCAL_SOCKETS
// Takes its path with it. The path of a server that ended without that is free again; that of one that answers is not.
class PathListener : public ListenerOf<asio::local::stream_protocol> {
 public:
  PathListener(asio::io_context& context, const std::string& path)
      : ListenerOf(context, free_path(context, path), path, ErrorCode::file), path_(path), process_(getpid()) {
    chmod(path.c_str(), S_IRUSR | S_IWUSR);
    if (lstat(path.c_str(), &own_) != 0) own_ = {};
  }
  ~PathListener() override { close(); }

  // By now the path may be another server's.
  void close() override {
    struct stat found;
    const bool own = acceptor_.is_open() && getpid() == process_ && lstat(path_.c_str(), &found) == 0 &&
                     found.st_dev == own_.st_dev && found.st_ino == own_.st_ino;
    if (own) unlink(path_.c_str());
    ListenerOf::close();
  }

 private:
  static asio::local::stream_protocol::endpoint free_path(asio::io_context& context, const std::string& path) {
    constexpr size_t longest = sizeof(sockaddr_un::sun_path) - 1;
    if (path.size() > longest) {
      throw Error(ErrorCode::file, "The path of a socket has at most " + std::to_string(longest) + " bytes.", "", path);
    }
    const asio::local::stream_protocol::endpoint endpoint(path);
    struct stat found;
    if (lstat(path.c_str(), &found) != 0) return endpoint;
    if (!S_ISSOCK(found.st_mode)) {
      throw Error(ErrorCode::file, "There is a file at " + path + " that is not a socket.", "", path);
    }
    asio::local::stream_protocol::socket probe(context);
    SystemError error;
    probe.connect(endpoint, error);
    if (!error) throw Error(ErrorCode::port_in_use, "Another server listens at " + path + ".", "", path);
    unlink(path.c_str());
    return endpoint;
  }

  std::string path_;
  pid_t process_;
  struct stat own_ = {};
};
#endif

inline std::unique_ptr<Listener> open_listener(asio::io_context& context, const ServerOptions& options) {
  if (!options.socket_path.empty()) {
#ifdef BOOST_ASIO_HAS_LOCAL_SOCKETS
    return std::make_unique<PathListener>(context, options.socket_path);
#else
    throw Error(ErrorCode::network, "This system has no sockets with a path.");
#endif
  }
  SystemError error;
  const asio::ip::address address = asio::ip::make_address(options.host, error);
  if (error) throw Error(ErrorCode::network, options.host + " is no address.", "", options.host);
  const asio::ip::tcp::endpoint endpoint(address, static_cast<unsigned short>(options.port));
  return std::make_unique<TcpListener>(context, endpoint, options.host + ":" + std::to_string(options.port));
}

}  // namespace voxridge

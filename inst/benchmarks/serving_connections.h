// Connections to a server on this machine, for serving_client.cpp.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// Seconds of the steady clock, which is CLOCK_MONOTONIC on Linux.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// One connection, at most one request under way. Sending blocks: requests are small, or the server is waited for
// anyway.
class Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    if (fd_ < 0 || connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  int status() const { return std::atoi(reply_.c_str() + std::min<size_t>(9, reply_.size())); }
  std::string body() const { return reply_.substr(head_); }

  void send_bytes(const std::string& bytes) {
    reply_.clear();
    head_ = 0;
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) throw std::runtime_error("cannot send");
      sent += static_cast<size_t>(n);
    }
  }

  // Takes what has come; true once the reply is complete.
  bool receive() {
    char buffer[65536];
    const ssize_t n = recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (n <= 0) throw std::runtime_error("the server closed a connection");
    reply_.append(buffer, static_cast<size_t>(n));
    if (head_ == 0) {
      const size_t end = reply_.find("\r\n\r\n");
      if (end == std::string::npos) return false;
      head_ = end + 4;
      length_ = content_length();
    }
    return reply_.size() >= head_ + length_;
  }

 private:
  size_t content_length() const {
    std::string head = reply_.substr(0, head_);
    for (char& c : head) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const size_t at = head.find("\r\ncontent-length:");
    if (at == std::string::npos) throw std::runtime_error("a reply without Content-Length");
    return static_cast<size_t>(std::atoll(head.c_str() + at + 17));
  }

  int fd_;
  std::string reply_;
  size_t head_ = 0, length_ = 0;
};

// `n` connections and one timer, watched together.
class Watched {
 public:
  Watched(int port, int n) : epoll_(epoll_create1(0)), timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)) {
    for (int i = 0; i < n; ++i) {
      connections_.push_back(std::make_unique<Connection>(port));
      watch(connections_.back()->fd(), i);
    }
    watch(timer_, -1);
  }
  ~Watched() {
    close(timer_);
    close(epoll_);
  }
  Connection& operator[](int i) { return *connections_[static_cast<size_t>(i)]; }

  // An exact time, without the slack of ordinary timeouts.
  void wake_at(double time) {
    itimerspec spec{};
    spec.it_value.tv_sec = static_cast<time_t>(time);
    spec.it_value.tv_nsec = static_cast<long>((time - std::floor(time)) * 1e9);
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &spec, nullptr);
  }

  // Waits for replies or the timer, at most five seconds, and calls on_reply(i) for each complete reply.
  template <class F>
  void wait(F on_reply) {
    epoll_event events[64];
    const int n = epoll_wait(epoll_, events, 64, 5000);
    if (n == 0) throw std::runtime_error("no answer for five seconds");
    for (int k = 0; k < n; ++k) {
      const int i = events[k].data.fd;
      if (i < 0) {
        uint64_t expired;
        if (read(timer_, &expired, sizeof expired) < 0) continue;
      } else if ((*this)[i].receive()) {
        on_reply(i);
      }
    }
  }

 private:
  void watch(int fd, int id) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = id;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  int epoll_, timer_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

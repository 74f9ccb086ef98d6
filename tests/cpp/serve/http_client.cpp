#include "http_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace voxridge_test {

namespace {

// Whether the socket can be read (or written) before the deadline.
bool is_ready(int fd, short event, double deadline) {
  for (;;) {
    const double left = deadline - now_s();
    pollfd one = {fd, event, 0};
    const int found = poll(&one, 1, left > 0 ? static_cast<int>(left * 1000) + 1 : 0);
    if (found > 0) return true;
    if (found == 0 && left <= 0) return false;
    if (found < 0 && errno != EINTR) return false;
  }
}

bool connect_until(int fd, const sockaddr* address, socklen_t size, double deadline) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  if (connect(fd, address, size) == 0) return true;
  if (errno != EINPROGRESS || !is_ready(fd, POLLOUT, deadline)) return false;
  int error = 0;
  socklen_t length = sizeof(error);
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

sockaddr_in loopback(int port) {
  sockaddr_in out;
  std::memset(&out, 0, sizeof(out));
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<uint16_t>(port));
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

}  // namespace

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

Client::Client(int port, double timeout_s, int receive_bytes) : timeout_s_(timeout_s) {
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  if (receive_bytes > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
  const sockaddr_in address = loopback(port);
  if (connect_until(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address), now_s() + timeout_s)) return;
  close(fd_);
  throw NoReply("no connection to port " + std::to_string(port));
}

Client::Client(const std::string& socket_path, double timeout_s) : timeout_s_(timeout_s) {
  fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address;
  std::memset(&address, 0, sizeof(address));
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  if (connect_until(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address), now_s() + timeout_s)) return;
  close(fd_);
  throw NoReply("no connection to " + socket_path);
}

Client::~Client() {
  close(fd_);
}

bool Client::is_accepted(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool out = connect_until(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address), now_s() + 5);
  close(fd);
  return out;
}

bool Client::send(const std::string& bytes) {
  const double deadline = now_s() + timeout_s_;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!is_ready(fd_, POLLOUT, deadline)) throw NoReply("the server takes no bytes");
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void Client::finish_sending() {
  shutdown(fd_, SHUT_WR);
}

Client::Got Client::receive(double deadline) {
  char some[65536];
  for (;;) {
    const ssize_t n = recv(fd_, some, sizeof(some), 0);
    if (n > 0) {
      buffer_.append(some, static_cast<size_t>(n));
      return Got::bytes;
    }
    if (n == 0 || errno == ECONNRESET || errno == EPIPE) return Got::end;
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) throw NoReply(std::strerror(errno));
    if (errno != EINTR && !is_ready(fd_, POLLIN, deadline)) return Got::nothing;
  }
}

Reply Client::read(bool head) {
  const double deadline = now_s() + timeout_s_;
  Reply out;
  while (!take_reply(buffer_, head, out)) {
    const Got got = receive(deadline);
    const std::string had = buffer_.empty() ? "" : ", after: " + buffer_.substr(0, 200);
    if (got == Got::end) throw NoReply("the server closed without a whole reply" + had);
    if (got == Got::nothing) throw NoReply("no whole reply in time" + had);
  }
  return out;
}

Reply Client::ask(const std::string& request, bool head) {
  send(request);
  return read(head);
}

bool Client::closes(double seconds) {
  const double deadline = now_s() + (seconds < 0 ? timeout_s_ : seconds);
  return buffer_.empty() && receive(deadline) == Got::end;
}

std::string Client::read_to_end() {
  const double deadline = now_s() + timeout_s_;
  for (;;) {
    const Got got = receive(deadline);
    if (got == Got::nothing) throw NoReply("the server does not close");
    if (got == Got::end) break;
  }
  std::string out;
  out.swap(buffer_);
  return out;
}

bool Client::is_quiet(double seconds) {
  return buffer_.empty() && receive(now_s() + seconds) == Got::nothing;
}

}  // namespace voxridge_test

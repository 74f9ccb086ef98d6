// A client of plain blocking sockets that waits no longer than it is told.
#pragma once

#include <string>

#include "http_reply.h"

namespace voxridge_test {

// Something did not happen in time, or the server closed too early.
struct NoReply : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double now_s();  // of a clock that only moves on
void sleep_s(double seconds);

class Client {
 public:
  explicit Client(int port, double timeout_s = 20, int receive_bytes = 0);  // 127.0.0.1. Throws NoReply
  explicit Client(const std::string& socket_path, double timeout_s = 20);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Connects if it can: false where the port is refused.
  static bool is_accepted(int port);

  // False: the server does not take any more. Throws NoReply after the timeout.
  bool send(const std::string& bytes);
  void finish_sending();  // half-close

  Reply read(bool head = false);                             // the next reply. Throws NoReply, BadReply
  Reply ask(const std::string& request, bool head = false);  // send and read
  bool closes(double seconds = -1);  // nothing more comes, and the server closes. -1: within the timeout
  std::string read_to_end();         // all bytes until the server closes
  bool is_quiet(double seconds);     // nothing comes for so long, and the connection stays open
  int descriptor() const { return fd_; }

 private:
  enum class Got { bytes, end, nothing };
  Got receive(double deadline);

  int fd_ = -1;
  double timeout_s_;
  std::string buffer_;
};

}  // namespace voxridge_test

// One connection with its socket, within the thread of one loop. Part of event_loop.cpp.
//
// A session waits until there is something to read, reads what has come into the buffer of its thread, and sends what
// the connection answers at once; only what the system does not take is kept, and nothing is read meanwhile. So an idle
// session holds no buffer.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "connection.h"
#include "listener.h"

namespace voxridge {

class Session;
using Sessions = std::list<std::shared_ptr<Session>>;

// What the sessions of a loop have in common.
struct SessionHome {
  explicit SessionHome(Service& service) : thread(service), read_buffer(size_t{1} << 16) {}

  ThreadState thread;
  std::vector<char> read_buffer;
  Sessions sessions;
  std::atomic<int64_t> n_sessions{0};  // with those on their way here
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(SessionHome& home, Socket socket, int64_t now)
      : home_(home), socket_(std::move(socket)), connection_(home.thread, now) {}
  ~Session() { close(); }

  void start(Sessions::iterator place) {
    place_ = place;
    in_list_ = true;
    wait_to_read();
  }

  // Ends what has waited too long.
  void check_deadline(int64_t now) {
    if (lingers_) {
      if (now >= lingers_until_) close();
    } else if (!unsent_.empty()) {
      if (now >= unsent_since_ + to_ns(limits().write_timeout_s)) close();
    } else if (now >= connection_.deadline()) {
      connection_.expire(now);
      send(now);
    }
  }

  // While the server closes: who has just had a reply may be sending the next request, which gets a moment to come, and
  // a reply that says it was the last.
  void close_if_idle(int64_t now) {
    if (now >= connection_.since() + to_ns(0.2)) end_idle(now);
  }

  // Ends a connection that waits for a request, if a last look finds none. Says whether it has ended.
  bool end_idle(int64_t now) {
    if (!is_idle(now)) return false;
    read(now);
    if (is_idle(now)) close();
    return !socket_.is_open();
  }

  // Between requests. Who has just connected is about to send one.
  bool is_idle(int64_t now) const {
    return connection_.is_idle() && unsent_.empty() && !lingers_ && (!connection_.is_fresh() || is_old(now));
  }
  // Nobody waits for a reply here, or has been slow to ask for one.
  bool may_be_cut(int64_t now) const {
    const bool waits = connection_.owes_a_body() || (connection_.in_head() && is_old(now));
    return waits && unsent_.empty() && !lingers_;
  }
  int64_t since() const { return connection_.since(); }

  void close() {
    if (!socket_.is_open()) return;
    Service& service = home_.thread.service;
    SystemError ignored;
    socket_.shutdown(Socket::shutdown_both, ignored);
    forget_descriptor(static_cast<int>(socket_.native_handle()));
    socket_.close(ignored);
    hold_unsent({});
    --service.connections;
    --home_.n_sessions;
    if (!in_list_) return;
    in_list_ = false;
    home_.sessions.erase(place_);  // maybe the last that holds this object, but for the caller's
  }

 private:
  const Limits& limits() const { return home_.thread.service.options.limits; }

  bool is_old(int64_t now) const { return now >= connection_.since() + to_ns(1); }

  void wait_to_read() {
    if (waits_to_read_) return;
    waits_to_read_ = true;
    socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const SystemError& error) {
      self->waits_to_read_ = false;
      if (!error && self->socket_.is_open()) self->read(now_ns());
    });
  }

  void read(int64_t now) {
    const std::shared_ptr<Session> self = shared_from_this();
    if (!unsent_.empty() || connection_.has_work()) return;  // goes on when that is sent
    SystemError error;
    const size_t size = socket_.read_some(asio::buffer(home_.read_buffer), error);
    if (error == asio::error::would_block || error == asio::error::try_again) return wait_to_read();
    if (lingers_) {
      lingered_ += size;
      return error || lingered_ > home_.read_buffer.size() ? close() : wait_to_read();
    }
    if (error) return close();  // also where the client has sent all it will: its requests are answered by then
    connection_.receive(home_.read_buffer.data(), size, now);
    send(now);
  }

  void send(int64_t now) {
    std::string& out = home_.thread.out;
    size_t sent = 0;
    if (!out.empty() && unsent_.empty() && !write(out.data(), out.size(), sent)) return;
    if (sent < out.size()) {
      hold_unsent(unsent_ + out.substr(sent));
      unsent_since_ = now;
    }
    out.clear();
    if (out.capacity() > kKeptOutput) std::string().swap(out);
    go_on(now);
  }

  // What the connection waits for next.
  void go_on(int64_t now) {
    if (!unsent_.empty()) {
      socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const SystemError& error) {
        if (!error && self->socket_.is_open()) self->send_rest(now_ns());
      });
      return;
    }
    connection_.sent(now_ns());
    if (connection_.has_work()) {
      asio::post(socket_.get_executor(), [self = shared_from_this()] {
        if (!self->socket_.is_open()) return;
        const int64_t later = now_ns();
        self->connection_.resume(later);
        self->send(later);
      });
    } else if (connection_.closes()) {
      linger(now);
    } else {
      wait_to_read();
    }
  }

  void send_rest(int64_t now) {
    size_t sent = 0;
    if (!write(unsent_.data(), unsent_.size(), sent)) return;
    if (sent > 0) {
      hold_unsent(unsent_.substr(sent));
      unsent_since_ = now;
    }
    go_on(now);
  }

  // As much as the system takes. False: the connection is gone.
  bool write(const char* bytes, size_t size, size_t& sent) {
    while (sent < size) {
      SystemError error;
      const size_t n = socket_.write_some(asio::buffer(bytes + sent, size - sent), error);
      if (error == asio::error::would_block || error == asio::error::try_again) break;
      if (error) {
        home_.thread.out.clear();
        close();
        return false;
      }
      sent += n;
      home_.thread.metrics.sent_bytes.add(static_cast<int64_t>(n));
    }
    return true;
  }

  void hold_unsent(std::string rest) {
    home_.thread.service.inflight_bytes += static_cast<int64_t>(rest.size()) - static_cast<int64_t>(unsent_.size());
    unsent_ = std::move(rest);
    if (unsent_.empty()) std::string().swap(unsent_);
  }

  // Sends no more, and reads a little longer: closed at once, the system would throw away a reply on its way.
  void linger(int64_t now) {
    SystemError error;
    socket_.shutdown(Socket::shutdown_send, error);
    if (error) return close();
    lingers_ = true;
    lingers_until_ = now + to_ns(1);
    wait_to_read();
  }

  static constexpr size_t kKeptOutput = size_t{1} << 18;

  SessionHome& home_;
  Socket socket_;
  Connection connection_;
  Sessions::iterator place_;
  bool in_list_ = false, waits_to_read_ = false, lingers_ = false;
  int64_t lingers_until_ = 0, unsent_since_ = 0;
  size_t lingered_ = 0;
  std::string unsent_;
};

}  // namespace voxridge

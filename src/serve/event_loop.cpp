#define BOOST_DISABLE_ASSERTS  // nothing here ends the process
#include "event_loop.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>

#include "listener.h"
#include "own_thread.h"
#include "socket_session.h"

namespace voxridge {

namespace {

constexpr auto kSweep = std::chrono::milliseconds(1000);          // deadlines are late by that at most
constexpr auto kSweepAtEnd = std::chrono::milliseconds(20);       // while the server ends
constexpr auto kPauseForRoom = std::chrono::milliseconds(1);      // of accepting, where there are too many connections
constexpr auto kPauseForSystem = std::chrono::milliseconds(100);  // where the system has no more descriptors
constexpr int kAcceptAtOnce = 64;

// What the loops know of each other.
struct Shared {
  explicit Shared(Service& all) : service(all) {}
  Service& service;
  std::atomic<bool> listens{true};
};

class Loop {
 public:
  explicit Loop(Shared& shared)
      : shared_(shared), home_(shared.service), timer_(context_), work_(context_.get_executor()) {}
  ~Loop() { home_.sessions.clear(); }

  asio::io_context& context() { return context_; }
  const Metrics& metrics() const { return home_.thread.metrics; }
  int64_t n_sessions() const { return home_.n_sessions; }
  void before_look(std::function<void()> step) { before_look_ = std::move(step); }
  OwnThread& thread() { return thread_; }
  const OwnThread& thread() const { return thread_; }

  void run() {
    for (;;) {
      try {
        look();
        context_.run();
        return;
      } catch (...) {
        // One connection failed in a way that nothing foresaw; the others go on.
      }
    }
  }

  // Called by the loop that accepts: the connection belongs to this one from now on.
  void give(Socket socket) {
    ++home_.n_sessions;
    auto shared_socket = std::make_shared<Socket>(std::move(socket));
    asio::post(context_, [this, shared_socket] { take(std::move(*shared_socket)); });
  }

  // Closes the connection that has waited longest without a request, or else without the rest of its head.
  void evict() {
    Session* oldest = nullptr;
    const int64_t now = now_ns();
    for (const bool slow : {false, true}) {
      for (const auto& session : home_.sessions) {
        if (!(slow ? session->is_slow_head(now) : session->may_be_evicted())) continue;
        if (oldest == nullptr || session->since() < oldest->since()) oldest = session.get();
      }
      if (oldest != nullptr) return oldest->close();
    }
  }

  // Deadlines, and the end of the server.
  void look() {
    home_.thread.tell_time();
    const int64_t now = now_ns();
    Service& service = shared_.service;
    if (now >= service.closing_at_ns) service.phase = Phase::closing;
    if (before_look_) before_look_();
    const bool closing = service.closing(), aborting = now >= service.abort_at_ns;
    for (auto at = home_.sessions.begin(); at != home_.sessions.end();) {
      const std::shared_ptr<Session> session = *at++;
      if (aborting) {
        session->close();
      } else {
        if (closing) session->close_if_idle(now);
        session->check_deadline(now);
      }
    }
    if (closing && !shared_.listens && n_sessions() == 0) {
      timer_.cancel();
      work_.reset();
      return;
    }
    timer_.expires_after(service.ready() ? kSweep : kSweepAtEnd);
    timer_.async_wait([this](const SystemError& error) {
      if (!error) look();
    });
  }

 private:
  void take(Socket socket) {
    const int descriptor = static_cast<int>(socket.native_handle());
    std::shared_ptr<Session> session;
    try {
      session = std::make_shared<Session>(home_, std::move(socket), now_ns());
    } catch (...) {
      forget_descriptor(descriptor);
      --shared_.service.connections;
      --home_.n_sessions;
      throw;
    }
    home_.thread.metrics.connections.add();
    session->start(home_.sessions.insert(home_.sessions.end(), session));
  }

  Shared& shared_;
  SessionHome home_;
  asio::io_context context_{1};
  asio::steady_timer timer_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::function<void()> before_look_;
  OwnThread thread_;
};

}  // namespace

struct EventLoops::Impl {
  explicit Impl(Service& service) : shared(service) {
    close_descriptors_in_children();
    for (int i = 0; i < service.options.n_threads; ++i) loops.push_back(std::make_unique<Loop>(shared));
    for (const auto& loop : loops) service.slots.push_back(&loop->metrics());
    const int64_t room = free_descriptors() - 32;  // for R and its packages
    service.max_connections = std::max<int64_t>(1, std::min<int64_t>(service.max_connections, room));
    listener = open_listener(loops[0]->context(), service.options);
    pause = std::make_unique<asio::steady_timer>(loops[0]->context());
    loops[0]->before_look([this] { stop_listening(); });
  }

  void wait_for_clients() {
    listener->wait([this](const SystemError& error) {
      if (!error && shared.listens) accept_clients();
    });
  }

  void accept_later(std::chrono::milliseconds delay) {
    pause->expires_after(delay);
    pause->async_wait([this](const SystemError& error) {
      if (!error && shared.listens) accept_clients();
    });
  }

  void accept_clients() {
    Service& service = shared.service;
    for (int i = 0; i < kAcceptAtOnce; ++i) {
      if (service.connections >= service.max_connections) {
        Loop& fullest = **std::max_element(loops.begin(), loops.end(), fewer);
        asio::post(fullest.context(), [&fullest] { fullest.evict(); });
        return accept_later(kPauseForRoom);
      }
      Loop& target = **std::min_element(loops.begin(), loops.end(), fewer);
      SystemError error;
      Socket socket = listener->accept(target.context(), error);
      if (error == asio::error::would_block || error == asio::error::try_again) return wait_for_clients();
      if (error == asio::error::connection_aborted) continue;
      if (error) return accept_later(kPauseForSystem);
      if (set_up(socket)) {
        ++service.connections;
        target.give(std::move(socket));
      }
    }
    accept_later(std::chrono::milliseconds(0));
  }

  static bool fewer(const std::unique_ptr<Loop>& a, const std::unique_ptr<Loop>& b) {
    return a->n_sessions() < b->n_sessions();
  }

  static bool set_up(Socket& socket) {
    if (!keep_descriptor(static_cast<int>(socket.native_handle()))) return false;
    SystemError error;
    socket.non_blocking(true, error);
    SystemError ignored;  // sockets with a path have no such option
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    return !error;
  }

  // Once the server closes: those who have connected already are let in, and nobody after them.
  void stop_listening() {
    if (!shared.listens || !shared.service.closing()) return;
    Service& service = shared.service;
    for (SystemError error; !error && service.connections < service.max_connections;) {
      Loop& target = **std::min_element(loops.begin(), loops.end(), fewer);
      Socket socket = listener->accept(target.context(), error);
      if (error || !set_up(socket)) continue;
      ++service.connections;
      target.give(std::move(socket));
    }
    pause->cancel();
    listener->close();
    shared.listens = false;
  }

  Shared shared;
  std::vector<std::unique_ptr<Loop>> loops;
  std::unique_ptr<asio::steady_timer> pause;
  std::unique_ptr<Listener> listener;
};

EventLoops::EventLoops(Service& service) {
  try {
    impl_ = std::make_unique<Impl>(service);
  } catch (const boost::system::system_error& error) {
    throw Error(ErrorCode::network, std::string("The system gives no means for a server: ") + error.what() + ".");
  }
}

EventLoops::~EventLoops() = default;

int EventLoops::port() const {
  return impl_->listener->port();
}

void EventLoops::start() {
  Impl* const impl = impl_.get();
  asio::post(impl->loops[0]->context(), [impl] { impl->wait_for_clients(); });
  for (const auto& loop : impl->loops) {
    loop->thread().start([&loop] { loop->run(); });
  }
}

void EventLoops::look() {
  for (const auto& loop : impl_->loops) {
    asio::post(loop->context(), [&loop] { loop->look(); });
  }
}

bool EventLoops::have_ended() const {
  return std::all_of(impl_->loops.begin(), impl_->loops.end(),
                     [](const auto& loop) { return loop->thread().has_ended(); });
}

void EventLoops::join() {
  for (const auto& loop : impl_->loops) loop->thread().join();
}

double EventLoops::cpu_seconds() const {
  double sum = 0;
  for (const auto& loop : impl_->loops) sum += loop->thread().cpu_seconds();
  return sum;
}

}  // namespace voxridge

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
constexpr int kMostQueued = 65536;  // at the end

// What the loops know of each other.
struct Shared {
  explicit Shared(Service& all) : service(all) {}
  Service& service;
  std::atomic<bool> listens{true};
};

class Loop {
 public:
  explicit Loop(Shared& shared) : shared_(shared), home_(shared.service), system_(std::make_unique<System>()) {}
  ~Loop() { release(); }

  // After the thread has ended: gives back what the system lends to a loop.
  void release() {
    home_.sessions.clear();
    system_.reset();
  }

  asio::io_context& context() { return system_->context; }
  const Metrics& metrics() const { return home_.thread.metrics; }
  int64_t n_sessions() const { return home_.n_sessions; }
  void before_look(std::function<void()> step) { before_look_ = std::move(step); }
  OwnThread& thread() { return thread_; }
  const OwnThread& thread() const { return thread_; }

  void run() {
    for (;;) {
      try {
        look();
        context().run();
        return;
      } catch (...) {
        // One connection failed in a way that nothing foresaw; the others go on.
      }
    }
  }

  // Called by the loop that accepts: the connection belongs to this one from now on.
  void give(Socket socket) {
    auto shared_socket = std::make_shared<Socket>(std::move(socket));
    ++shared_.service.connections;
    ++home_.n_sessions;
    asio::post(context(), [this, shared_socket] { take(std::move(*shared_socket)); });
  }

  // Ends the connection that has waited longest for a request, or else for the rest of its head, or of a body that does
  // not matter. False: there is none.
  bool evict() {
    const int64_t now = now_ns();
    for (const bool slow : {false, true}) {
      std::shared_ptr<Session> oldest;
      for (const auto& session : home_.sessions) {
        if (!(slow ? session->may_be_cut(now) : session->is_idle(now))) continue;
        if (oldest == nullptr || session->since() < oldest->since()) oldest = session;
      }
      if (oldest == nullptr) continue;
      if (slow) oldest->close();
      if (slow || oldest->end_idle(now)) return true;
    }
    return false;
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
      system_->timer.cancel();
      system_->work.reset();
      return;
    }
    system_->timer.expires_after(service.ready() ? kSweep : kSweepAtEnd);
    system_->timer.async_wait([this](const SystemError& error) {
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

  struct System {
    asio::io_context context{1};
    asio::steady_timer timer{context};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  };

  Shared& shared_;
  SessionHome home_;
  std::unique_ptr<System> system_;
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

  void pause_accepting(std::chrono::milliseconds delay) {
    pause->expires_after(delay);
    pause->async_wait([this](const SystemError& error) {
      if (!error && shared.listens) wait_for_clients();
    });
  }

  // Called when somebody waits to be let in.
  void accept_clients() {
    Service& service = shared.service;
    if (service.connections >= service.max_connections) {
      make_room(0);
      return pause_accepting(kPauseForRoom);
    }
    for (int i = 0; i < kAcceptAtOnce && service.connections < service.max_connections; ++i) {
      SystemError error;
      Loop& target = emptiest();
      Socket socket = listener->accept(target.context(), error);
      if (error == asio::error::would_block || error == asio::error::try_again) break;
      if (error == asio::error::connection_aborted) continue;
      if (error) return pause_accepting(kPauseForSystem);
      if (set_up(socket)) target.give(std::move(socket));
    }
    wait_for_clients();
  }

  // One loop after the other, until one has a connection to end.
  void make_room(size_t i) {
    Loop& loop = *loops[i];
    asio::post(loop.context(), [this, i, &loop] {
      if (!loop.evict() && i + 1 < loops.size()) make_room(i + 1);
    });
  }

  Loop& emptiest() {
    return **std::min_element(loops.begin(), loops.end(),
                              [](const auto& a, const auto& b) { return a->n_sessions() < b->n_sessions(); });
  }

  static bool set_up(Socket& socket) {
    const int descriptor = static_cast<int>(socket.native_handle());
    SystemError error;
    socket.non_blocking(true, error);
    if (error || !keep_descriptor(descriptor)) {
      forget_descriptor(descriptor);
      return false;
    }
    SystemError ignored;  // sockets with a path have no such option
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    return true;
  }

  // Once the server closes: those who have connected already are let in, however many, and nobody after them.
  void stop_listening() {
    if (!shared.listens || !shared.service.closing()) return;
    SystemError error;
    for (int i = 0; !error && i < kMostQueued; ++i) {
      Loop& target = emptiest();
      Socket socket = listener->accept(target.context(), error);
      if (!error && set_up(socket)) target.give(std::move(socket));
    }
    pause->cancel();
    listener->close();
    shared.listens = false;
  }

  Shared shared;
  std::vector<std::unique_ptr<Loop>> loops;
  std::mutex mutex;  // of what follows, between the end of the threads and who still wants something of them
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
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  if (impl_->listener == nullptr) return;
  for (const auto& loop : impl_->loops) {
    asio::post(loop->context(), [&loop] { loop->look(); });
  }
}

bool EventLoops::have_ended() const {
  return std::all_of(impl_->loops.begin(), impl_->loops.end(),
                     [](const auto& loop) { return loop->thread().has_ended(); });
}

void EventLoops::join() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  for (const auto& loop : impl_->loops) loop->thread().join();
  impl_->pause.reset();
  impl_->listener.reset();
  for (const auto& loop : impl_->loops) loop->release();
}

double EventLoops::cpu_seconds() const {
  double sum = 0;
  for (const auto& loop : impl_->loops) sum += loop->thread().cpu_seconds();
  return sum;
}

}  // namespace voxridge

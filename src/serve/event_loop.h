// The threads of a server: an event loop each, which owns its connections for life. The first also accepts, and gives
// each connection to the loop with the fewest.
//
// Where sockets end is counted in one place: shut down first, since a child of a fork may hold a copy for a moment,
// then out of the table of descriptors, then closed.
#pragma once

#include <memory>

#include "service.h"

namespace voxridge {

class EventLoops {
 public:
  explicit EventLoops(Service& service);  // opens the listening socket; throws Error
  ~EventLoops();                          // after the threads have ended
  EventLoops(const EventLoops&) = delete;
  EventLoops& operator=(const EventLoops&) = delete;

  int port() const;
  void start();
  void look();  // the phase, or the time of the next one, has changed
  bool have_ended() const;
  void join();  // and gives back everything but what was counted
  double cpu_seconds() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxridge

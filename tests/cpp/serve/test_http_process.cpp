// What a server does to its process: forks, children, descriptors, signals, threads.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "refused.h"

namespace voxridge_test {

namespace {

const std::string kBody = "{\"features\":[[0.5,-1.2]]}";

class HttpProcess : public RefusalTest {};

std::set<std::string> entries_of(const std::string& folder) {
  std::set<std::string> out;
  DIR* const entries = opendir(folder.c_str());
  while (const dirent* entry = readdir(entries)) {
    if (entry->d_name[0] != '.') out.insert(entry->d_name);
  }
  closedir(entries);
  return out;
}

std::string link_of(const std::string& path) {
  char text[500];
  const ssize_t n = readlink(path.c_str(), text, sizeof(text));
  return n < 0 ? "" : std::string(text, static_cast<size_t>(n));
}

// A child that waits for the end of a pipe. What it finds before is its exit status.
template <class Look>
class Child {
 public:
  explicit Child(Look look) {
    if (pipe(pipe_) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ != 0) return;
    alarm(60);
    close(pipe_[1]);
    const int status = look();
    char any;
    while (read(pipe_[0], &any, 1) > 0) {
    }
    _exit(status);
  }
  ~Child() { end(); }
  int end() {
    if (pid_ == 0) return status_;
    close(pipe_[1]);
    close(pipe_[0]);
    waitpid(pid_, &status_, 0);
    pid_ = 0;
    return status_;
  }

 private:
  int pipe_[2];
  pid_t pid_ = 0;
  int status_ = -1;
};

template <class Look>
std::unique_ptr<Child<Look>> make_child(Look look) {
  return std::unique_ptr<Child<Look>>(new Child<Look>(look));
}

// Handlers of the process and the mask of this thread.
std::vector<std::pair<bool, void (*)(int)>> dispositions() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  std::vector<std::pair<bool, void (*)(int)>> out;
  for (int signal = 1; signal < 32; ++signal) {
    struct sigaction action;
    sigaction(signal, nullptr, &action);
    out.push_back({sigismember(&mask, signal) != 0, action.sa_handler});
  }
  return out;
}

int count_sockets() {
  int out = 0;
  for (const std::string& fd : entries_of("/proc/self/fd")) {
    const std::string link = link_of("/proc/self/fd/" + fd);
    out += link.compare(0, 7, "socket:") == 0 || link.compare(0, 11, "anon_inode:") == 0;
  }
  return out;
}

}  // namespace

TEST_F(HttpProcess, StopIsSeenAlthoughAChildLives) {
  const int before = count_sockets();
  start();
  const int port = server->port();
  Client idle(port);
  EXPECT_EQ(idle.ask(get("/livez")).status, 200);
  // The child holds nothing of the server but the client's end, which is ours.
  const auto child = make_child([&] {
    if (server->is_of_this_process()) return 1;
    const int more = count_sockets() - before - 1;
    return more == 0 ? 0 : 10 + more;
  });
  EXPECT_TRUE(server->is_of_this_process());
  EXPECT_EQ(idle.ask(predict(kBody)).status, 200) << "the parent goes on";
  EXPECT_TRUE(stop_now(*server));
  EXPECT_FALSE(Client::is_accepted(port));
  EXPECT_TRUE(idle.closes(2));
  EXPECT_EQ(child->end(), 0);
}

TEST_F(HttpProcess, ObjectOfTheParentDoesNothingInAChild) {
  start();
  Client idle(server->port());
  EXPECT_EQ(idle.ask(get("/livez")).status, 200);
  const auto child = make_child([&] {
    server.reset();
    return 0;
  });
  EXPECT_EQ(child->end(), 0);
  EXPECT_EQ(idle.ask(predict(kBody)).status, 200);
  EXPECT_EQ(Client(server->port()).ask(predict(kBody)).status, 200);
}

TEST_F(HttpProcess, AChildOfTwoServersOneStopped) {
  start();
  std::unique_ptr<Server> first = std::move(server);
  start();
  EXPECT_TRUE(stop_now(*first));
  const int file = open("/dev/null", O_RDONLY);  // takes the number of a closed descriptor
  const auto child = make_child([&] { return fcntl(file, F_GETFD) >= 0 ? 0 : 3; });
  EXPECT_EQ(child->end(), 0) << "a descriptor of somebody else was closed";
  close(file);
  EXPECT_EQ(Client(server->port()).ask(predict(kBody)).status, 200);
}

TEST_F(HttpProcess, ProgramsInheritNothing) {
  const std::set<std::string> before = entries_of("/proc/self/fd");
  ServerOptions options;
  options.n_threads = 2;
  start(options);
  Client one(server->port()), two(server->port());
  EXPECT_EQ(one.ask(get("/livez")).status, 200);
  EXPECT_EQ(two.ask(get("/livez")).status, 200);
  int checked = 0;
  for (const std::string& fd : entries_of("/proc/self/fd")) {
    const int flags = fcntl(std::stoi(fd), F_GETFD);
    if (flags < 0 || before.count(fd) != 0) continue;  // that of the listing itself
    EXPECT_NE(flags & FD_CLOEXEC, 0) << fd << " " << link_of("/proc/self/fd/" + fd);
    ++checked;
  }
  EXPECT_GE(checked, 5) << "a listener, two accepted sockets, two of the clients";
  FILE* const list = popen("ls -l /proc/self/fd", "r");  // no fork: the hook of forks does not hide anything
  std::string text;
  for (int c; (c = std::fgetc(list)) != EOF;) text += static_cast<char>(c);
  pclose(list);
  EXPECT_EQ(text.find("socket:"), std::string::npos) << text;
  EXPECT_EQ(text.find("eventpoll"), std::string::npos) << text;
}

TEST_F(HttpProcess, ThreadsTakeNoSignals) {
  const auto disposed = dispositions();
  const std::set<std::string> before = entries_of("/proc/self/task");
  ServerOptions options;
  options.n_threads = 2;
  start(options);
  int threads = 0;
  for (const std::string& task : entries_of("/proc/self/task")) {
    if (before.count(task) != 0) continue;
    ++threads;
    std::ifstream status("/proc/self/task/" + task + "/status");
    std::string word;
    uint64_t blocked = 0;
    while (status >> word) {
      if (word == "SigBlk:") status >> std::hex >> blocked;
    }
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGTSTP,
                             SIGWINCH, SIGPROF, SIGVTALRM, SIGIO})
      EXPECT_NE(blocked >> (signal - 1) & 1, 0u) << "signal " << signal;
  }
  EXPECT_GE(threads, 2);
  EXPECT_TRUE(dispositions() == disposed) << "a server changes nothing for the process";
}

// A client that leaves before its reply must not kill the process by SIGPIPE.
TEST_F(HttpProcess, ClientsThatDoNotWaitForTheirReplies) {
  start();
  std::string many;
  for (int k = 0; k < 200; ++k) many += get("/v1/metadata");
  for (int k = 0; k < 50; ++k) {
    Client client(server->port());
    client.send(many);
    const linger hard = {1, 0};
    if (k % 2 == 0) setsockopt(client.descriptor(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  }
  EXPECT_EQ(Client(server->port()).ask(predict(kBody)).status, 200);
  EXPECT_TRUE(wait_until([&] { return server->status().connections <= 1; }, 5));
}

}  // namespace voxridge_test

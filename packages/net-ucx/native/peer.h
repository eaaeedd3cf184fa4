// What an engine knows of another engine, and operations that UCX has under way.
#ifndef DRYSTONE_UCX_PEER_H_
#define DRYSTONE_UCX_PEER_H_

#include <ucp/api/ucp.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drystone/status.h"
#include "matching.h"
#include "sockets.h"

namespace drystone::ucx {

class Engine;
using Clock = std::chrono::steady_clock;

enum class Kind : std::uint64_t { kMessage, kHello, kCredit };

// Goes before each message.
struct Header {
  std::uint64_t key;     // that the receiver gave to this connection alone
  std::uint64_t kind;    // a Kind
  std::uint64_t number;  // counts all that is sent on the connection: UCX may bring it in another order
  std::uint64_t high, low, size;
};

// What UCX sends or fetches; deletes itself when that is over.
struct Operation {
  Engine* engine;
  std::uint64_t peer;
  bool sends;
  bool tells = false;  // an event follows
  std::uint64_t token = 0;
  Header header{};
  std::vector<unsigned char> bytes;   // of a short message
  std::vector<ucp_dt_iov_t> pieces;   // of a long one
  Receive receive;                    // of a message that is fetched
  Message message;
};

enum class State {
  kGreeting,  // it has not said yet how UCX reaches it
  kOpening,   // it has, and connected here: UCX has brought nothing of it yet
  kOpen,
  kEnding,    // UCX is ending what is under way
};

struct Peer {
  Peer(std::uint64_t number, Descriptor connection, bool connects)
      : id(number), socket(std::move(connection)), is_ours(connects) {}

  const std::uint64_t id;
  Descriptor socket;
  const bool is_ours;  // this engine has connected
  State state = State::kGreeting;
  std::uint64_t own_key = 0, its_key = 0;
  ucp_ep_h endpoint = nullptr;
  std::vector<unsigned char> said;  // over the socket, and not looked at yet
  std::deque<Operation*> waiting;   // to be sent when it is open
  std::uint64_t sent = 0, came = 0;
  std::map<std::uint64_t, Message> early;  // by number, of those before which others are missing
  std::uint64_t credit = 0;   // bytes of short messages that it has room for
  std::uint64_t window = 0;   // that it is given here
  std::uint64_t used = 0;     // of them given to receives, which it has not been told
  int under_way = 0;          // operations of UCX
  int telling = 0;            // those of which an event follows
  std::optional<std::uint64_t> last;  // how many it said that it sent, when it left
  bool is_told = false;       // LOST follows
  TF_Code code = TF_OK;       // of the end
  std::string why;
  void* ending = nullptr;     // UCX's request
  std::optional<Clock::time_point> until;  // when it is not waited for any more
};

}  // namespace drystone::ucx

#endif  // DRYSTONE_UCX_PEER_H_

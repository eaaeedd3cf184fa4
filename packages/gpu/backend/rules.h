// Which ops are taken, and what each becomes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/sdk/node.hpp"
#include "program.h"

namespace drystone::gpu {

// Types that an attribute of a node may name.
enum : unsigned { kFloats = 1, kWhole = 2, kBool = 4, kByte = 8 };
constexpr unsigned kNumbers = kFloats | kWhole, kAny = kFloats | kWhole | kBool | kByte;

// A node while its region is built: its inputs are values, its outputs are to become some.
class Building {
 public:
  Building(Graph& graph, const sdk::NodeView& node, std::vector<int> in, std::size_t outputs)
      : graph(graph), in(std::move(in)), out(outputs, -1), node_(node) {}

  Graph& graph;
  std::vector<int> in, out;

  std::string_view op() const { return node_.op(); }
  const Value& value(std::size_t k) const { return graph.at(in.at(k)); }
  const Dims& dims(std::size_t k) const { return value(k).dims; }
  Type type(std::size_t k) const { return value(k).type; }

  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    return node_.attr(name).integer().value_or(otherwise);
  }
  bool flag(std::string_view name, bool otherwise = false) const {
    return node_.attr(name).boolean().value_or(otherwise);
  }
  float real(std::string_view name, float otherwise) const {
    return node_.attr(name).real().value_or(otherwise);
  }
  std::string_view text(std::string_view name, std::string_view otherwise) const {
    return node_.attr(name).string().value_or(otherwise);
  }
  std::vector<std::int64_t> integers(std::string_view name) const {
    return node_.attr(name).integers();
  }
  // Whether the session lets results be close instead of nearly equal.
  bool is_approximate() const { return text("_numeric", "") == "approximate"; }
  Type named_type(std::string_view name, Type otherwise) const {
    const auto dtype = node_.attr(name).type();
    return dtype.has_value() ? type_of(*dtype) : otherwise;
  }

  // A number that an input without dimensions is.
  std::int64_t one_number(std::size_t k) const {
    if (!dims(k).empty()) throw Refused("a scalar is needed");
    return graph.scalar(in.at(k));
  }
  // The numbers of a vector.
  std::vector<std::int64_t> numbers(std::size_t k) const {
    if (dims(k).size() != 1) throw Refused("a vector is needed");
    return graph.whole(in.at(k));
  }

  // A constant of one number, in that type.
  int number(Type type, double value);
  // An element-wise operation of one instruction, with the broadcast shape.
  int compute(Code code, std::vector<int> operands, Type type, float number = 0.0f);

 private:
  const sdk::NodeView& node_;
};

using Lower = void (*)(Building& building);
using Check = std::string (*)(const sdk::NodeView& node);

constexpr unsigned kLast = 1u << 31;

struct Rule {
  const char* op;
  Lower lower;
  unsigned types;         // what type attributes may name
  unsigned fixed = 0;     // inputs, by bits, whose values must be known; kLast: the last one
  Check check = nullptr;  // why a node is not taken, else ""
  bool heavy = false;     // worth a region
};

// The rule for a node's op, or null; `why` says what stands against the node.
const Rule* rule_of(const sdk::NodeView& node, std::string* why);
std::vector<Rule> every_rule();

// By family.
std::vector<Rule> elementwise_rules();
std::vector<Rule> shape_rules();
std::vector<Rule> moving_rules();
std::vector<Rule> joining_rules();
std::vector<Rule> layer_rules();
std::vector<Rule> product_rules();
std::vector<Rule> window_gradient_rules();
std::vector<Rule> gradient_rules();
std::vector<Rule> normalization_rules();

// Rules of more than one op: rows that indices name, and rows added by their numbers, of which one
// below 0 is left out, or wrong where `all` must be there.
void gather_rows(Building& building);
int sum_of_segments(Building& building, int data, int places, std::int64_t count, bool all);

}  // namespace drystone::gpu

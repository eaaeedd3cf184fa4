// Writes JSON: the answers of the DS_List and DS_Describe functions.
#ifndef DRYSTONE_HOST_CORE_JSON_H_
#define DRYSTONE_HOST_CORE_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace drystone::host {

// Json j; j.object(); j.key("op"); j.text("Add"); j.close(); j.str() == {"op":"Add"}
class Json {
 public:
  void object() { open('{', '}'); }
  void array() { open('[', ']'); }
  void close();
  void key(std::string_view name);
  void text(std::string_view value);  // bytes that are no UTF-8 become U+FFFD
  void integer(std::int64_t value);
  void number(double value);
  void boolean(bool value);
  void null();
  // A key with its value.
  void text(std::string_view name, std::string_view value) { key(name); text(value); }
  void integer(std::string_view name, std::int64_t value) { key(name); integer(value); }
  void boolean(std::string_view name, bool value) { key(name); boolean(value); }
  template <class Texts>
  void texts(std::string_view name, const Texts& values) {
    key(name);
    array();
    for (const auto& value : values) text(value);
    close();
  }
  const std::string& str() const { return out_; }

 private:
  void open(char left, char right);
  void separate();

  std::string out_;
  std::string ends_;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_JSON_H_

// Families of kernels, which register themselves where they stand, at the end of their file:
//
//   const Family registered([] { add<Softplus>("Softplus", {{"T", {TF_FLOAT, TF_DOUBLE}}}); });
//
// CMakeLists.txt compiles every file of kernels/plain and kernels/fast, so that nothing else names a
// family. Each library has a list of its own; when the host asks the plugin for its kernels, it calls
// the functions of that list, in no order that is promised: two kernels of one op differ in their
// dtypes or in their priority.
#ifndef DRYSTONE_CPU_CORE_FAMILY_H_
#define DRYSTONE_CPU_CORE_FAMILY_H_

namespace drystone::cpu {

class Family {
 public:
  explicit Family(void (*add)());
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  // Registers the kernels of all families of this library.
  static void add_all();

 private:
  void (*add_)();
  const Family* next_;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_FAMILY_H_

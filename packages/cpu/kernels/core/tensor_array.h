// Tensor arrays: elements that are written once, and the arrays that collect their gradients.
#ifndef DRYSTONE_CPU_CORE_TENSOR_ARRAY_H_
#define DRYSTONE_CPU_CORE_TENSOR_ARRAY_H_

#include <map>
#include <mutex>

#include "core/containers.h"

namespace drystone::cpu {

// Every function but for construction is called with the mutex held.
class TensorArray {
 public:
  struct Element {
    Held value;
    Shape shape;           // as measured: gradients of it can be zeros
    bool written = false;  // also: read and cleared
    bool read = false;
  };

  TensorArray(std::string name, TF_DataType dtype, std::int64_t size, Shape shape);

  std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
  // Fails unless it is open and has this dtype.
  void check(TF_DataType wanted) const;
  void check_open() const;

  // Writes an element, or adds to it in an array of gradients. Grows where it may.
  void write(std::int64_t index, Held value);
  // An element; zeros where it was not written but its shape is known. It may be cleared.
  Held read(std::int64_t index);
  // Zeros of a shape that must be known; fails with `code`.
  Held zeros(const Shape& shape, TF_Code code = TF_INVALID_ARGUMENT) const;
  void close();

  // The array that collects the gradients for `source`: of elements with the dims of `lead` first.
  std::shared_ptr<TensorArray> gradient(const std::string& source, const Dims& lead);

  std::mutex mutex;
  const std::string name;
  const TF_DataType dtype;
  Shape shape;
  bool dynamic = false;
  bool clear_after_read = true;
  bool identical = false;

 private:
  Element& element(std::int64_t index, bool grow);
  Held sum(const TF_Tensor* a, const TF_Tensor* b) const;

  bool aggregate_ = false;
  bool closed_ = false;
  std::vector<Element> elements_;
  std::map<std::string, std::shared_ptr<TensorArray>> gradients_;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_TENSOR_ARRAY_H_

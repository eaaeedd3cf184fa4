// Files of the host's that are open while a plugin runs: without them nothing could be put back, so no plugin closes them.
#ifndef DRYSTONE_HOST_LIBRARY_KEPT_FILE_H_
#define DRYSTONE_HOST_LIBRARY_KEPT_FILE_H_

namespace drystone::host {

// Whether a number is that of one of them.
bool is_kept_file(int number) noexcept;

// One, which is closed at the end; below 0 it is none.
class KeptFile {
 public:
  explicit KeptFile(int number = -1) noexcept;
  ~KeptFile();
  KeptFile(KeptFile&& other) noexcept;
  KeptFile& operator=(KeptFile&& other) noexcept;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

  int number() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_KEPT_FILE_H_

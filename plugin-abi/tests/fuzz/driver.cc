// A small coverage-guided fuzzer for targets that define LLVMFuzzerTestOneInput.
//
// Compile the target with `-fsanitize-coverage=trace-pc` (GCC and Clang know it) and this file without.
// The same targets work with libFuzzer. What reaches new code, or code more often by a power of two, is
// kept and mutated further; with a corpus folder it is read first and new finds are written to it.
//
//   target [-runs=N] [-seconds=N] [-seed=N] [-max_len=N] [CORPUS_FOLDER | FILE ...]
//
// Files are run once each, for repeating a finding. A crash leaves its input in ./crash-SEED.
#include <csignal>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Bytes = std::vector<std::uint8_t>;
namespace fs = std::filesystem;

constexpr std::size_t kPlaces = 1 << 14;
std::uint8_t hits[kPlaces];     // of the input that runs, by place in the code
std::uint8_t reached[kPlaces];  // highest power of two seen so far, by place
const Bytes* running = nullptr;
unsigned long seed = 1;

void save_crash() {
  if (running == nullptr) return;
  const std::string name = "crash-" + std::to_string(seed);
  std::ofstream(name, std::ios::binary)
      .write(reinterpret_cast<const char*>(running->data()),
             static_cast<std::streamsize>(running->size()));
  std::fprintf(stderr, "the input is in %s (%zu bytes)\n", name.c_str(), running->size());
}

void on_signal(int number) {
  save_crash();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Whether the last run reached something new; remembers it.
bool found_new() {
  bool any = false;
  for (std::size_t k = 0; k < kPlaces; ++k) {
    if (hits[k] == 0) continue;
    const auto level = static_cast<std::uint8_t>(32 - __builtin_clz(hits[k]));
    if (level > reached[k]) {
      reached[k] = level;
      any = true;
    }
  }
  return any;
}

bool run(const Bytes& input) {
  std::memset(hits, 0, sizeof hits);
  running = &input;
  const Bytes exact(input);  // so that a read past the end is seen
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  running = nullptr;
  return found_new();
}

class Mutator {
 public:
  Mutator(unsigned long start, std::size_t longest) : random_(start), longest_(longest) {}

  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void mutate(Bytes* bytes, const Bytes& other) {
    for (std::size_t k = 1 + below(4); k > 0; --k) once(bytes, other);
    if (bytes->size() > longest_) bytes->resize(longest_);
  }

 private:
  static constexpr std::uint64_t kInteresting[] = {
      0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
      0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 40, 56, 88, 92, 264, 288};

  void once(Bytes* b, const Bytes& other) {
    const std::size_t at = below(b->size() + 1);
    switch (below(8)) {
      case 0:
        if (at < b->size()) (*b)[at] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        if (at < b->size()) (*b)[at] = static_cast<std::uint8_t>(below(256));
        break;
      case 2:
        b->insert(b->begin() + static_cast<std::ptrdiff_t>(at),
                  static_cast<std::uint8_t>(below(256)));
        break;
      case 3:
        erase(b, at, 1 + below(16));
        break;
      case 4:
        overwrite(b, at, kInteresting[below(std::size(kInteresting))], std::size_t{1} << below(4));
        break;
      case 5:
        splice(b, at, other);
        break;
      case 6:
        splice(b, at, *b);
        break;
      default:
        if (at < b->size()) (*b)[at] = static_cast<std::uint8_t>((*b)[at] + below(9) - 4);
    }
  }

  static void erase(Bytes* b, std::size_t at, std::size_t count) {
    const auto from = b->begin() + static_cast<std::ptrdiff_t>(at);
    const auto left = static_cast<std::size_t>(b->end() - from);
    b->erase(from, from + static_cast<std::ptrdiff_t>(count < left ? count : left));
  }

  static void overwrite(Bytes* b, std::size_t at, std::uint64_t value, std::size_t size) {
    if (b->size() < at + size) b->resize(at + size);
    std::memcpy(b->data() + at, &value, size);
  }

  void splice(Bytes* b, std::size_t at, const Bytes& other) {
    const std::size_t from = below(other.size());
    const std::size_t count = below(other.size() - from + 1);
    const Bytes piece(other.begin() + static_cast<std::ptrdiff_t>(from),
                      other.begin() + static_cast<std::ptrdiff_t>(from + count));
    b->insert(b->begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
  }

  std::mt19937_64 random_;
  std::size_t longest_;
};

Bytes read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(stream), {});
}

void write_find(const fs::path& folder, const Bytes& input) {
  if (folder.empty()) return;
  std::uint64_t hash = 14695981039346656037u;
  for (const std::uint8_t byte : input) hash = (hash ^ byte) * 1099511628211u;
  char name[32];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash));
  std::ofstream(folder / name, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
}

struct Options {
  std::uint64_t runs = 100000;
  double seconds = 0;  // 0: no limit
  std::size_t longest = 4096;
  fs::path folder;
  std::vector<fs::path> files;
};

Options parse(int count, char** arguments) {
  Options options;
  for (int k = 1; k < count; ++k) {
    const std::string text = arguments[k];
    const auto number = [&](std::size_t skip) {
      return std::strtoull(text.c_str() + skip, nullptr, 10);
    };
    if (text.rfind("-runs=", 0) == 0) options.runs = number(6);
    else if (text.rfind("-seconds=", 0) == 0) options.seconds = static_cast<double>(number(9));
    else if (text.rfind("-seed=", 0) == 0) seed = static_cast<unsigned long>(number(6));
    else if (text.rfind("-max_len=", 0) == 0) options.longest = number(9);
    else if (fs::is_directory(text)) options.folder = text;
    else options.files.emplace_back(text);
  }
  return options;
}

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<Bytes> read_corpus(const Options& options) {
  std::vector<Bytes> corpus;
  if (!options.folder.empty()) {
    for (const auto& entry : fs::directory_iterator(options.folder)) {
      Bytes input = read_file(entry.path());
      if (run(input)) corpus.push_back(std::move(input));
    }
  }
  if (corpus.empty()) corpus.emplace_back();
  return corpus;
}

void fuzz(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Bytes> corpus = read_corpus(options);
  Mutator mutator(seed, options.longest);
  std::uint64_t done = 0;
  for (; done < options.runs; ++done) {
    if (options.seconds > 0 && done % 256 == 0 && since(start) > options.seconds) break;
    Bytes input = corpus[mutator.below(corpus.size())];
    mutator.mutate(&input, corpus[mutator.below(corpus.size())]);
    if (!run(input)) continue;
    write_find(options.folder, input);
    corpus.push_back(std::move(input));
  }
  std::printf("%llu runs in %.1f s, %zu inputs in the corpus, no finding\n",
              static_cast<unsigned long long>(done), since(start), corpus.size());
}

}  // namespace

extern "C" void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  std::uint8_t& count = hits[(place ^ (place >> 14)) % kPlaces];
  if (count != 255) ++count;
}

int main(int count, char** arguments) {
  const Options options = parse(count, arguments);
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) std::signal(number, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(save_crash);
  for (const auto& file : options.files) run(read_file(file));
  if (options.files.empty()) fuzz(options);
  return 0;
}

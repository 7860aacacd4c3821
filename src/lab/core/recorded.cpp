// CUDA graphs by way of libtorch_cuda, which is opened while the process runs, if at all: what is used of it is found there by name. Nothing
// here throws; why a call failed is said by viva_recording_why.

#include <dlfcn.h>

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace {
thread_local std::string why;

template <class Function>
Function* found(const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) throw std::runtime_error(std::string("this libtorch has no ") + name);
  return function;
}

template <class Work>
bool well(Work work) {
  try {
    work();
    return true;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "an exception of another kind";
  }
  return false;
}

// What the thread that records may not do; others work on.
constexpr int THREAD_LOCAL = 1;

// An at::cuda::CUDAGraph (ATen/cuda/CUDAGraph.h), whose members nothing here looks at.
struct Graph {
  Graph() { found<void(void*, bool)>("_ZN2at4cuda9CUDAGraphC1Eb")(held, false); }
  Graph(const Graph&) = delete;
  ~Graph() {
    if (auto* end = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "_ZN2at4cuda9CUDAGraphD1Ev"))) end(held);
  }

  void begin() {
    using Pool = std::pair<unsigned long long, unsigned long long>;
    found<void(void*, Pool, int)>("_ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode")(held, Pool{0, 0}, THREAD_LOCAL);
  }

  void end() { found<void(void*)>("_ZN2at4cuda9CUDAGraph11capture_endEv")(held); }

  void replay() { found<void(void*)>("_ZN2at4cuda9CUDAGraph6replayEv")(held); }

  // Several times as much as it needs.
  alignas(64) unsigned char held[4096];
};

// A stream beside the usual one of a device, on which work is recorded, and the recording. Whoever changes from one to the other has it wait.
struct Recording {
  explicit Recording(int8_t device)
      : guard(c10::DeviceType::CUDA),
        usual(guard.getStream({c10::DeviceType::CUDA, device})),
        beside(guard.getStreamFromGlobalPool({c10::DeviceType::CUDA, device})) {}

  void turn(const c10::Stream& from, const c10::Stream& to) {
    c10::Event reached(c10::DeviceType::CUDA);
    reached.record(from);
    reached.block(to);
    guard.exchangeStream(to);
  }

  // The graph's own functions go by the device that is the thread's.
  void ask(void (Graph::*function)()) {
    const c10::DeviceGuard device(usual.device());
    (graph.*function)();
  }

  c10::impl::VirtualGuardImpl guard;
  c10::Stream usual, beside;
  Graph graph;
};

Recording& of(void* recording) { return *static_cast<Recording*>(recording); }
} // namespace

extern "C" {
const char* viva_recording_why() { return why.c_str(); }

// None where this libtorch has no CUDA graphs.
void* viva_recording_new(int8_t device) {
  void* made = nullptr;
  well([&] { made = new Recording(device); });
  return made;
}

void viva_recording_free(void* recording) {
  well([&] { delete static_cast<Recording*>(recording); });
}

bool viva_recording_go_beside(void* recording) {
  return well([&] { of(recording).turn(of(recording).usual, of(recording).beside); });
}

bool viva_recording_come_back(void* recording) {
  return well([&] { of(recording).turn(of(recording).beside, of(recording).usual); });
}

bool viva_recording_begin(void* recording) {
  return well([&] { of(recording).ask(&Graph::begin); });
}

bool viva_recording_end(void* recording) {
  return well([&] { of(recording).ask(&Graph::end); });
}

bool viva_recording_replay(void* recording) {
  return well([&] { of(recording).ask(&Graph::replay); });
}
}

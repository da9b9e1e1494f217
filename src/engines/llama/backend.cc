#include "engines/llama/backend.h"

#include <dlfcn.h>
#include <llama.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace tidegate::engines::llama {
namespace {

using SharedCallback = std::shared_ptr<const LogCallback>;

struct Routes {
  std::mutex mutex;
  std::vector<SharedCallback> living;  // newest last
};

Routes& routes() {
  static Routes instance;
  return instance;
}

SharedCallback newest_route() {
  Routes& r = routes();
  const std::lock_guard lock(r.mutex);
  return r.living.empty() ? nullptr : r.living.back();
}

void forward(ggml_log_level level, const char* text, void* /*unused*/) {
  if (level != GGML_LOG_LEVEL_WARN && level != GGML_LOG_LEVEL_ERROR) return;
  const SharedCallback route = newest_route();
  if (!route || !*route) return;
  std::string_view line(text);
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  if (line.empty()) return;
  (*route)(level == GGML_LOG_LEVEL_WARN ? LogLevel::kWarning : LogLevel::kError, line);
}

std::string library_folder(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* named = std::getenv("TIDEGATE_LLAMA_LIBRARIES");
  if (named != nullptr && *named != '\0') return named;
  return TIDEGATE_LLAMA_LIBRARIES;
}

struct Loaded {
  std::string folder;  // where it looked
  bool has_cpu = false;
};

Loaded load_once(const std::string& libraries) {
  llama_log_set(forward, nullptr);
  const std::string folder = library_folder(libraries);
  if (!folder.empty()) ggml_backend_load_all_from_path(folder.c_str());
  if (ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) == nullptr) ggml_backend_load_all();
  llama_backend_init();
  return {folder, ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != nullptr};
}

const Loaded& loaded_from(const std::string& libraries) {
  static const Loaded loaded = load_once(libraries);
  return loaded;
}

// Why the CUDA backend has no device. llama.cpp is silent about a backend that it cannot load, so
// the loader is asked once more: it names the library that is missing.
std::string why_no_gpu() {
  const std::string path = loaded_from("").folder + "/libggml-cuda.so";
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  dlclose(library);
  return "NVIDIA's driver offers no device";
}

}  // namespace

units::Result<void> load_backends(const std::string& libraries) {
  const Loaded& loaded = loaded_from(libraries);
  if (loaded.has_cpu) return {};
  return units::error(loaded.folder,
                      "holds no CPU backend of llama.cpp; set TIDEGATE_LLAMA_LIBRARIES to the "
                      "folder with libggml-cpu-*.so");
}

std::string device_note(std::int32_t gpu_layers) {
  constexpr bool kCudaBuild = TIDEGATE_LLAMA_CUDA != 0;
  if (gpu_layers == 0 || (gpu_layers < 0 && !kCudaBuild)) return {};
  if (auto* const gpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU); gpu != nullptr) {
    return std::string("computes on ") + ggml_backend_dev_description(gpu);
  }
  if (kCudaBuild) return "runs on the CPU: no GPU is used: " + why_no_gpu();
  return "runs on the CPU: gpu_layers is set, but this program was built without TIDEGATE_CUDA";
}

LogRoute::LogRoute(LogCallback callback)
    : callback_(std::make_shared<const LogCallback>(std::move(callback))) {
  Routes& r = routes();
  const std::lock_guard lock(r.mutex);
  r.living.push_back(callback_);
}

LogRoute::~LogRoute() {
  Routes& r = routes();
  const std::lock_guard lock(r.mutex);
  std::erase(r.living, callback_);
}

void LogRoute::log(LogLevel level, std::string_view line) const {
  if (*callback_) (*callback_)(level, line);
}

std::string_view version() {
  return llama_version();
}

}  // namespace tidegate::engines::llama

#include "model_files.h"

#include <filesystem>
#include <vector>

namespace tidegate::app {

units::Result<std::string> bundled_model() {
  namespace fs = std::filesystem;
  const fs::path file = fs::path("tidegate-tiny") / "tidegate-tiny-q8_0.gguf";
  std::vector<fs::path> folders;
  std::error_code failure;
  const fs::path executable = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) {
    folders.push_back(executable.parent_path().parent_path() / "share/tidegate/models");
    for (fs::path folder = executable.parent_path(); folder != folder.root_path();
         folder = folder.parent_path()) {
      folders.push_back(folder / "models");
    }
  }
  folders.emplace_back(TIDEGATE_SOURCE_MODELS);
  for (const fs::path& folder : folders) {
    if (fs::is_regular_file(folder / file, failure)) return (folder / file).string();
  }
  return units::error(
      "", "the bundled model " + file.string() + " is not there; name one with --model FILE.gguf");
}

}  // namespace tidegate::app

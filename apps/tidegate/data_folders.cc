#include "data_folders.h"

#include <cstdlib>

namespace tidegate::app {

config::DataFolders data_folders() {
  config::DataFolders folders;
  const char* own = std::getenv("TIDEGATE_DATA");
  if (own != nullptr && *own != '\0') folders.emplace_back(own);
  folders.emplace_back("../shared/data");
  return folders;
}

}  // namespace tidegate::app

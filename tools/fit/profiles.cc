#include "profiles.h"

#include <array>
#include <cmath>
#include <optional>

#include "tables/csv.h"

namespace tidegate::fit {
namespace {

using tables::Csv;
using units::Result;

constexpr std::int64_t kMost = std::int64_t{1} << 32;
constexpr double kNanosPerMilli = 1e6;
constexpr double kLongestMs = 1e9;

struct Columns {
  std::size_t gpu, model, dtype, tp, prefill, prior, decodes, context, time_ms;
  std::optional<std::size_t> moe_ms;
};

Result<Columns> find_columns(const Csv& csv) {
  Columns c{};
  const std::array<std::pair<const char*, std::size_t*>, 9> wanted{
      {{"gpu", &c.gpu},
       {"model", &c.model},
       {"dtype", &c.dtype},
       {"tp", &c.tp},
       {"prefill_tokens", &c.prefill},
       {"prefill_prior_context", &c.prior},
       {"decode_seqs", &c.decodes},
       {"decode_context", &c.context},
       {"time_ms", &c.time_ms}}};
  for (const auto& [name, place] : wanted) {
    auto found = csv.require(name);
    if (!found) return tl::unexpected(found.error());
    *place = *found;
  }
  c.moe_ms = csv.column("moe_ms");
  return c;
}

Result<fitting::Sample> read_sample(const Csv& csv, const Columns& c) {
  std::array<std::int64_t, 4> counts{};
  const std::array<std::size_t, 4> from{c.prefill, c.prior, c.decodes, c.context};
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto count = csv.integer(from[i], 0, kMost);
    if (!count) return tl::unexpected(count.error());
    counts[i] = *count;
  }
  auto time_ms = csv.number(c.time_ms, 1e-6, kLongestMs);
  if (!time_ms) return tl::unexpected(time_ms.error());
  fitting::Sample sample;
  sample.time = units::Nanos(std::llround(*time_ms * kNanosPerMilli));
  if (counts[0] > 0) sample.shape.add_chunk(units::Tokens(counts[1]), units::Tokens(counts[0]));
  sample.shape.decodes = counts[2];
  sample.shape.kv_tokens = counts[2] * counts[3];
  return sample;
}

}  // namespace

Result<Profiles> read_profiles(const std::string& path) {
  auto csv = Csv::open(path);
  if (!csv) return tl::unexpected(csv.error());
  auto columns = find_columns(*csv);
  if (!columns) return tl::unexpected(columns.error());
  Profiles profiles;
  for (;;) {
    auto more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return profiles;
    auto tp = csv->integer(columns->tp, 1, 1024);
    if (!tp) return tl::unexpected(tp.error());
    auto sample = read_sample(*csv, *columns);
    if (!sample) return tl::unexpected(sample.error());
    Profile& profile = profiles[Subject{std::string(csv->text(columns->gpu)),
                                        std::string(csv->text(columns->model)),
                                        std::string(csv->text(columns->dtype)), *tp}];
    profile.samples.push_back(*sample);
    if (columns->moe_ms) profile.mixture_of_experts |= csv->text(*columns->moe_ms) != "0";
  }
}

}  // namespace tidegate::fit

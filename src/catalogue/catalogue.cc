#include "catalogue/catalogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "catalogue/files.h"
#include "catalogue/roofline.h"
#include "tables/csv.h"
#include "units/check.h"

namespace tidegate::catalogue {
namespace {

using tables::Csv;
using units::Result;

constexpr std::int64_t kMost = std::int64_t{1} << 50;

// Reads fields of the current row by column name and keeps the first error.
class Row {
 public:
  explicit Row(const Csv& csv) : csv_(csv) {}

  std::string text(const char* name) {
    const auto column = require(name);
    return column ? std::string(csv_.text(*column)) : std::string();
  }
  std::int64_t integer(const char* name) {
    const auto column = require(name);
    return column ? keep(csv_.integer(*column, 0, kMost)) : 0;
  }
  double number(const char* name) {
    const auto column = require(name);
    return column ? keep(csv_.number(*column, 0, 1e15)) : 0;
  }
  std::optional<double> maybe(const char* name) {
    const auto column = require(name);
    if (!column || csv_.text(*column).empty()) return std::nullopt;
    return keep(csv_.number(*column, 0, 1e15));
  }
  const std::optional<units::Error>& error() const { return error_; }

 private:
  std::optional<std::size_t> require(const char* name) {
    auto column = csv_.require(name);
    if (column) return *column;
    if (!error_) error_ = column.error();
    return std::nullopt;
  }
  template <class T>
  T keep(const Result<T>& value) {
    if (value) return *value;
    if (!error_) error_ = value.error();
    return T{};
  }

  const Csv& csv_;
  std::optional<units::Error> error_;
};

Gpu read_gpu(Row& row) {
  return {row.text("gpu"), row.number("mem_gb"), row.number("mem_bw_gbps"),
          row.number("peak_bf16_tflops_dense"), row.maybe("peak_fp8_tflops_dense")};
}

ModelFacts read_model(Row& row) {
  ModelFacts model;
  model.name = row.text("model");
  model.mixture_of_experts = row.integer("experts") > 0;
  model.layers = row.integer("layers");
  model.heads = row.integer("heads");
  model.kv_heads = row.integer("kv_heads");
  model.head_dim = row.integer("head_dim");
  model.max_context = units::Tokens(row.integer("max_context"));
  model.parameters_b = row.number("params_b");
  model.active_parameters_b = row.number("active_params_b");
  model.kv_per_token = units::Bytes(std::llround(row.number("kv_bytes_per_token_bf16")));
  model.weights_gb = row.number("weights_gb_bf16");
  return model;
}

domain::StepCoefficients read_law(Row& row) {
  domain::StepCoefficients law;
  law.base_fs = row.integer("base_fs");
  law.knees = {units::Tokens(row.integer("knee_1")), units::Tokens(row.integer("knee_2"))};
  law.per_token_fs = {row.integer("per_token_1_fs"), row.integer("per_token_2_fs"),
                      row.integer("per_token_3_fs")};
  law.prefill_fs = row.integer("prefill_fs");
  law.per_decode_fs = row.integer("per_decode_fs");
  law.per_kv_token_fs = row.integer("per_kv_token_fs");
  law.per_attention_fs = row.integer("per_attention_fs");
  return law;
}

// Calls `take` for each row of the text; the first error ends it.
template <class Take>
std::optional<units::Error> for_each_row(const char* name, std::string_view text, Take take) {
  auto csv = Csv::from_text(name, text);
  if (!csv) return csv.error();
  for (;;) {
    auto more = csv->next();
    if (!more) return more.error();
    if (!*more) return std::nullopt;
    Row row(*csv);
    take(row);
    if (row.error()) return row.error();
  }
}

template <class Entries>
auto find_by_name(const Entries& entries, std::string_view name) -> decltype(entries.data()) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

template <class Entries>
std::vector<std::string> names_in(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace

Result<Catalogue> Catalogue::parse(std::string_view gpus, std::string_view models,
                                   std::string_view laws) {
  Catalogue catalogue;
  auto error =
      for_each_row("gpus.csv", gpus, [&](Row& row) { catalogue.gpus_.push_back(read_gpu(row)); });
  if (!error) {
    error = for_each_row("models.csv", models,
                         [&](Row& row) { catalogue.models_.push_back(read_model(row)); });
  }
  if (!error) {
    error = for_each_row("step_laws.csv", laws, [&](Row& row) {
      const Dtype dtype = row.text("dtype") == "fp8" ? Dtype::kFp8 : Dtype::kBfloat16;
      catalogue.laws_.push_back(
          {row.text("gpu"), row.text("model"), dtype, row.integer("tp"), read_law(row)});
    });
  }
  if (error) return tl::unexpected(*error);
  return catalogue;
}

const Catalogue& Catalogue::bundled() {
  static const Catalogue catalogue = [] {
    auto parsed = parse(kGpus, kModels, kStepLaws);
    TIDEGATE_CHECK(parsed.has_value());
    return std::move(*parsed);
  }();
  return catalogue;
}

const Gpu* Catalogue::gpu(std::string_view name) const {
  return find_by_name(gpus_, name);
}

const ModelFacts* Catalogue::model(std::string_view name) const {
  return find_by_name(models_, name);
}

std::vector<std::string> Catalogue::gpu_names() const {
  return names_in(gpus_);
}

std::vector<std::string> Catalogue::model_names() const {
  return names_in(models_);
}

Law Catalogue::law(const Placement& placement) const {
  for (const Fitted& fitted : laws_) {
    if (fitted.gpu == placement.gpu->name && fitted.model == placement.model->name &&
        fitted.dtype == placement.dtype && fitted.tensor_parallel == placement.tensor_parallel) {
      return {fitted.law, true};
    }
  }
  return {roofline(placement), false};
}

}  // namespace tidegate::catalogue

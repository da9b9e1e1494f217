#include "engines/llama/llama_engine.h"

#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "engines/inbox.h"
#include "engines/llama/backend.h"
#include "engines/llama/embedder.h"
#include "engines/llama/life.h"
#include "engines/llama/llama_tokenizer.h"
#include "engines/llama/model.h"
#include "units/check.h"

namespace tidegate::engines::llama {
namespace {

using std::chrono::nanoseconds;

constexpr units::Nanos kReportInterval = units::milliseconds(50);
// How long an idle engine sleeps when nobody wakes it.
constexpr nanoseconds kIdlePatience = std::chrono::seconds(1);
// How soon it looks again when tries wait but none can run.
constexpr nanoseconds kBlockedPatience = std::chrono::milliseconds(1);

struct Submit {
  domain::Assign assign;
  std::shared_ptr<const Generation> generation;
};
struct Embed {
  std::vector<Token> tokens;
  EmbedCallback done;
};
struct Drain {};
struct Stop {};
using Command = std::variant<Submit, domain::Abort, Embed, Drain, Stop>;

// What a processor of some years ago does with a model of this size; only until the law is
// measured. Weights are read at 8 GB/s, a parameter costs 2 operations at 20 GFLOP/s.
domain::StepCoefficients guessed_law(const ModelInfo& model) {
  domain::StepCoefficients law;
  law.base_fs = model.weights.value() * 125'000;
  law.per_token_fs[2] = model.parameters * 100'000;
  return law;
}

domain::EngineSpec first_spec(const LlamaOptions& options, const Sizes& sizes,
                              const ModelInfo& model) {
  domain::EngineSpec spec;
  spec.id = options.engine;
  spec.model = options.model;
  spec.own_batching = options.own_batching;
  spec.limits = {.kv_blocks = units::Blocks(sizes.held_tokens() / sizes.block_tokens),
                 .max_sequences = sizes.max_sequences,
                 .max_step_tokens = units::Tokens(sizes.max_step_tokens),
                 .max_context = units::Tokens(sizes.max_context)};
  spec.kv = {.block_tokens = units::Tokens(sizes.block_tokens), .per_sequence = units::Blocks(0)};
  spec.law = guessed_law(model);
  return spec;
}

class LlamaEngine final : public Engine {
 public:
  LlamaEngine(LlamaOptions options, LoadedModel model, const Sizes& sizes)
      : options_(std::move(options)),
        route_(options_.log),
        model_(std::move(model)),
        tokenizer_(model_.handle.get()),
        sizes_(sizes),
        embedder_(model_.handle.get(), sizes.threads, model_.info.generates),
        spec_(first_spec(options_, sizes, model_.info)) {}
  ~LlamaEngine() override { halt(); }

  // The first life; none for a model that only embeds. Error: as Life::make().
  units::Result<void> begin_life() {
    if (!model_.info.generates) return {};
    units::Result<std::unique_ptr<Life>> made =
        Life::make({model_, tokenizer_, sizes_, options_.now, options_.step_policy});
    if (!made) return tl::unexpected(made.error());
    life_ = std::move(*made);
    return {};
  }

  domain::EngineSpec spec() const override {
    const std::lock_guard lock(spec_mutex_);
    return spec_;
  }
  const ModelInfo& model() const override { return model_.info; }
  const Tokenizer& tokenizer() const override { return tokenizer_; }

  void start(Sink& sink) override {
    TIDEGATE_CHECK(!thread_.joinable());
    sink_ = &sink;
    thread_ = std::thread([this] { run(); });
  }
  void submit(domain::Assign assign, std::shared_ptr<const Generation> generation) override {
    inbox_.post(Submit{std::move(assign), std::move(generation)});
  }
  void abort(domain::Abort abort) override { inbox_.post(abort); }
  void embed(std::vector<Token> tokens, EmbedCallback done) override {
    inbox_.post(Embed{std::move(tokens), std::move(done)});
  }
  void drain() override { inbox_.post(Drain{}); }
  void stop() override { halt(); }

 private:
  void halt() {
    const std::lock_guard lock(stop_mutex_);
    if (!thread_.joinable()) return;
    inbox_.post(Stop{});
    thread_.join();
  }

  void run();
  void calibrate();
  void take_commands(nanoseconds patience);
  nanoseconds patience() const;
  void handle(const Submit& command);
  void handle(const domain::Abort& command);
  void handle(Embed& command) { embeds_.push_back(std::move(command)); }
  void handle(const Drain& command);
  void handle(const Stop& /*command*/) { stopping_ = true; }
  void serve_one_embed();
  void step();
  void report();
  void lose();
  void finish();
  void log(LogLevel level, std::string_view text) const {
    route_.log(level, fmt::format("engine {}: {}", options_.engine.value(), text));
  }

  LlamaOptions options_;
  LogRoute route_;
  LoadedModel model_;
  LlamaTokenizer tokenizer_;
  Sizes sizes_;

  mutable std::mutex spec_mutex_;
  std::mutex stop_mutex_;
  Inbox<Command> inbox_;
  std::thread thread_;

  // Below: the engine's thread only, but for spec_, which spec_mutex_ guards.
  Embedder embedder_;
  domain::EngineSpec spec_;
  RowFill fill_;
  std::unique_ptr<Life> life_;
  Sink* sink_ = nullptr;
  std::vector<Command> taken_;
  std::deque<Embed> embeds_;
  bool draining_ = false;
  bool stopping_ = false;
  bool blocked_ = false;  // tries wait, but the last plan was idle
  bool reported_idle_ = true;
  units::Instant reported_at_;
};

void LlamaEngine::run() {
  calibrate();
  if (life_) life_->serve(spec(), fill_, *sink_);
  sink_->on_event(domain::EngineJoined{spec()});
  while (true) {
    take_commands(patience());
    if (stopping_) break;
    serve_one_embed();
    if (life_) step();
  }
  finish();
}

void LlamaEngine::calibrate() {
  if (!life_ || options_.calibration <= units::Nanos(0)) return;
  log(LogLevel::kInfo, "measuring the step law");
  const units::Result<Calibration> measured = life_->calibrate(options_.calibration);
  if (!measured) {
    log(LogLevel::kWarning, "the step law was not measured: " + measured.error().message);
    return;
  }
  fill_ = measured->fill;
  const fitting::StepLawFit& fit = measured->fit;
  {
    const std::lock_guard lock(spec_mutex_);
    spec_.law = fit.law;
    spec_.calibrated = true;
  }
  cost::StepShape decode;
  decode.add_decode(units::Tokens(256));
  cost::StepShape chunk;
  chunk.add_chunk(units::Tokens(0), units::Tokens(256));
  const auto micros = [&](const cost::StepShape& s) {
    return cost::predict(fit.law, s).value() / 1000;
  };
  log(LogLevel::kInfo,
      fmt::format(
          "step law measured: a decode {} us, 256 prompt tokens {} us, median error {:.1f}%",
          micros(decode), micros(chunk), 100 * fit.error.median));
}

nanoseconds LlamaEngine::patience() const {
  if (!embeds_.empty()) return nanoseconds(0);
  if (!life_ || !life_->has_work()) return kIdlePatience;
  return blocked_ ? kBlockedPatience : nanoseconds(0);
}

void LlamaEngine::take_commands(nanoseconds patience) {
  inbox_.take(taken_, patience);
  for (Command& command : taken_) {
    std::visit([this](auto& c) { handle(c); }, command);
  }
}

void LlamaEngine::handle(const Submit& command) {
  const domain::AttemptRef ref = command.assign.ref;
  if (draining_) {
    sink_->on_event(domain::Failed{ref, domain::Reason::kDraining});
  } else if (!life_) {
    const auto reason =
        model_.info.generates ? domain::Reason::kEngineLost : domain::Reason::kEngineError;
    sink_->on_event(domain::Failed{ref, reason});
  } else {
    life_->submit(command.assign, command.generation);
  }
}

void LlamaEngine::handle(const domain::Abort& command) {
  if (life_) life_->abort(command.ref);
}

void LlamaEngine::handle(const Drain& /*command*/) {
  if (std::exchange(draining_, true)) return;
  const domain::EngineSpec now = spec();
  sink_->on_event(domain::EngineDraining{now.id, now.epoch});
}

void LlamaEngine::serve_one_embed() {
  if (embeds_.empty()) return;
  Embed next = std::move(embeds_.front());
  embeds_.pop_front();
  next.done(embedder_.embed(std::move(next.tokens)));
}

void LlamaEngine::step() {
  const StepOutcome outcome = life_->step();
  if (outcome == StepOutcome::kFatal) {
    lose();
    return;
  }
  blocked_ = outcome == StepOutcome::kIdle && life_->has_work();
  report();
}

// At most every kReportInterval while busy, and once when the work is done.
void LlamaEngine::report() {
  const bool idle = !life_->has_work();
  const units::Instant now = options_.now();
  const bool due = idle ? !reported_idle_ : now - reported_at_ >= kReportInterval;
  if (!due) return;
  reported_idle_ = idle;
  reported_at_ = now;
  sink_->on_event(life_->report());
}

// The context is broken. A life that computed something deserves another; one that never did would
// only break again.
void LlamaEngine::lose() {
  const bool worth_another = life_->ever_worked();
  life_->fail_all();
  life_.reset();
  const domain::EngineSpec before = spec();
  sink_->on_event(domain::EngineLost{before.id, before.epoch});
  if (worth_another) {
    if (const units::Result<void> again = begin_life(); !again) {
      log(LogLevel::kError, "no new context: " + again.error().message);
    }
  }
  if (!life_) {
    log(LogLevel::kError, "lost; it stays away until the process is restarted");
    return;
  }
  {
    const std::lock_guard lock(spec_mutex_);
    spec_.epoch = units::Epoch(before.epoch.value() + 1);
  }
  log(LogLevel::kWarning, "lost and begun anew");
  life_->serve(spec(), fill_, *sink_);
  sink_->on_event(domain::EngineJoined{spec()});
}

void LlamaEngine::finish() {
  draining_ = true;  // for what was posted behind the Stop
  take_commands(nanoseconds(0));
  if (life_) life_->abort_all(domain::Outcome::kShutdown);
  for (const Embed& waiting : embeds_) {
    waiting.done(units::error("engine", "stopped before the embedding was computed"));
  }
  embeds_.clear();
}

}  // namespace

units::Result<std::unique_ptr<Engine>> open_engine(const LlamaOptions& options) {
  TIDEGATE_CHECK(options.now != nullptr);
  const LogRoute route(options.log);  // until the engine has its own
  if (units::Result<void> ready = load_backends(options.libraries); !ready) {
    return tl::unexpected(ready.error());
  }
  if (const std::string note = device_note(options.gpu_layers);
      options.on_device && !note.empty()) {
    options.on_device(note);
  }
  units::Result<LoadedModel> model = load_model(options);
  if (!model) return tl::unexpected(model.error());
  const units::Result<Sizes> sizes = choose_sizes(options, needs_of(*model));
  if (!sizes) return tl::unexpected(sizes.error());
  auto engine = std::make_unique<LlamaEngine>(options, std::move(*model), *sizes);
  if (units::Result<void> begun = engine->begin_life(); !begun) {
    return tl::unexpected(begun.error());
  }
  return engine;
}

}  // namespace tidegate::engines::llama

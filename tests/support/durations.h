// SPDX-License-Identifier: Apache-2.0
//
// Makes durations like those of real calls. The fast part differs from call to
// call; the slow part lasts for a while and may drift.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace pprof_test {

enum class Fast { kNone, kNormal, kTwoLevels, kHeavy, kSpikes, kSwitch };
enum class Drift { kNone, kLine, kWave, kWalk };

// `spread` is the deviation of the fast part. `slow` is that of the lasting
// part; its correlation falls by `rho` a call. Both are of logarithms.
struct Noise {
  const char *name;
  Fast fast;
  double spread;
  double rho, slow;
  Drift drift;
  double drift_by;
};

class Durations {
 public:
  explicit Durations(uint64_t seed) : random_(seed) {}

  std::vector<double> Make(const Noise &noise, size_t n, double factor) {
    std::vector<double> values;
    double state = Normal(), walk = 0, phase = Uniform();
    is_high_ = Uniform() < 0.5;
    for (size_t i = 0; i < n; i++) {
      double at = static_cast<double>(i) / static_cast<double>(n);
      walk += Normal() / std::sqrt(static_cast<double>(n));
      double log = noise.slow * state + DriftOf(noise, at, phase, walk);
      values.push_back(
          std::round(2e6 * factor * std::exp(log) * FastOf(noise)));
      state =
          noise.rho * state + std::sqrt(1 - noise.rho * noise.rho) * Normal();
    }
    return values;
  }

  double Uniform() {
    return uniform_(random_);
  }
  double Normal() {
    return normal_(random_);
  }

 private:
  static double DriftOf(const Noise &noise, double at, double phase,
                        double walk) {
    switch (noise.drift) {
      case Drift::kLine:
        return noise.drift_by * at;
      case Drift::kWave:
        return noise.drift_by * std::sin(2 * M_PI * (at + phase));
      case Drift::kWalk:
        return noise.drift_by * walk;
      default:
        return 0;
    }
  }

  double FastOf(const Noise &noise) {
    double tail;
    switch (noise.fast) {
      case Fast::kNormal:
        return std::exp(noise.spread * Normal());
      case Fast::kTwoLevels:
        return (Uniform() < 0.6 ? 1 : 1.3) * std::exp(noise.spread * Normal());
      case Fast::kHeavy:  // Pareto's, without a variance
        tail = std::pow(1 - Uniform(), -1 / 1.5) - 1;
        return 1 + noise.spread * tail;
      case Fast::kSpikes:
        return (Uniform() < 0.02 ? 1 + 4 * Uniform() : 1) *
               std::exp(noise.spread * Normal());
      case Fast::kSwitch:  // from one level to the other every tenth call
        if (Uniform() < 0.1) is_high_ = !is_high_;
        return (is_high_ ? 1.3 : 1) * std::exp(noise.spread * Normal());
      default:
        return 1;
    }
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  bool is_high_ = false;
};

}  // namespace pprof_test

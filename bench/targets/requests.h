// Figures over the requests of a run: quantiles of what callers waited for, where one who got
// nothing waited without end, and shares of what became of them. Pure functions.
#pragma once

#include <functional>
#include <vector>

#include "situation.h"

namespace tidegate::bench {

using Choice = std::function<bool(const Ended& request)>;

Choice of_class(std::size_t service_class);
// Of the first so many tenants.
Choice of_tenants_before(std::size_t tenants);
Choice anybody();

// Seconds until each of the chosen had its first token.
std::vector<double> ttfts(const Runs& runs, const Choice& chosen);
// Seconds in which 99 in 100 of the chosen had their first token, and took for each further one.
double p99_ttft(const Runs& runs, const Choice& chosen);
double p99_tpot(const Runs& runs, const Choice& chosen);
// The longest that one of them waited for its first token, of those who got one.
double longest_ttft(const Runs& runs, const Choice& chosen);

double share_kept(const Runs& runs, const Choice& chosen);
double share_kept_of_admitted(const Runs& runs);
// Refused at arrival or while they waited.
double share_refused(const Runs& runs, const Choice& chosen);
// Of the refused, those who heard it within 50 ms or by the time that they were told to be the last
// at which waiting is worth while; 1 where nobody was refused.
double share_refused_in_time(const Runs& runs);
// Seconds in which 99 in 100 of the refused heard it.
double p99_refusal(const Runs& runs);

// The smallest value with a share `q` at or below it; 0 of nothing.
double quantile(std::vector<double> values, double q);

}  // namespace tidegate::bench

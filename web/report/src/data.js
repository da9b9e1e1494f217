// The report as the page uses it: read once from the JSON block that the writer put in.

export function readData(text) {
  const {report, policies, cdf_levels: levels} = JSON.parse(text);
  const unique = (values) => [...new Set(values)];
  const names = unique(policies.map((p) => p.policy));
  return {
    report,
    policies,
    levels,
    names,
    loads: unique(policies.map((p) => p.load)).sort((a, b) => a - b),
    classes: unique(policies.flatMap((p) => p.by_class.map((c) => c.name))),
    groups: unique(report.runs.flatMap((r) => (r.timeline?.by_gpu ?? []).map((g) => g.name))),
    promise: (name) => report.promises.find((p) => p.name === name),
    indexOf: (policy) => names.indexOf(policy),
  };
}

export function at(data, load) {
  return data.policies.filter((p) => p.load === load);
}

export function runsOf(data, policy, load) {
  return data.report.runs.filter((r) => r.policy === policy && r.load === load);
}

export function label(summary, data) {
  return data.loads.length > 1 ? `${summary.policy} at ${summary.load}×` : summary.policy;
}

// The totals of a class, or of everything for ''.
export function part(from, name) {
  return name === '' ? from.totals : from.by_class.find((c) => c.name === name);
}

// Mean and range over the runs of a number that some of them may lack; null when all do.
export function spread(runs, value) {
  const values = runs.map(value).filter((v) => v != null);
  if (values.length === 0) return null;
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return {mean, low: Math.min(...values), high: Math.max(...values)};
}

// Mean of a series of the timeline over the part of the run that counts.
export function meanOverTime(timeline, series) {
  const first = Math.ceil(timeline.counted_from_seconds / timeline.slice_seconds);
  const values = series.slice(first < series.length ? first : 0).filter((v) => v != null);
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
}

export function shedTotal(totals) {
  return Object.values(totals.rejected).reduce((a, b) => a + b, 0);
}

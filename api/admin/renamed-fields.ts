/** Accepts former names of device fields, which programs still send. */

const names = new Map([['expected_interval_s', 'expected_interval_seconds']])

/** With both names of a field, the former one is reported as unknown. */
export function withPresentNames(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const renamed = [...names].filter(([old, present]) => Object.hasOwn(body, old) && !Object.hasOwn(body, present))
  if (renamed.length === 0) return body
  const present = new Map(renamed)
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [present.get(name) ?? name, value]))
}

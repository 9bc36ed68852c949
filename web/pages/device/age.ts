/** Whether a value is current: an old one is never shown as if it were. */

/** Without an expected interval a device is taken to report every quarter of an hour, as the service does. */
const expectedSecondsUsual = 900

/** As `docs/statistics.md` has it for a fresh device. */
export function isOld(ageMs: number, expectedSeconds: number | null): boolean {
  const seconds = expectedSeconds ?? expectedSecondsUsual
  return ageMs > Math.max(2 * seconds, seconds + 60) * 1000
}

/** Limits of the number of metrics. */

/** Total. Each metric is in memory, and in a list of some kilobytes for the pages. */
export const metricsMax = 10_000
/** Created by readings of owned devices. Administrators and devices without an owner use the rest. */
export const metricsOfOwnersMax = 8_000
/** Per device. */
export const metricsPerDeviceMax = 64

/** How many metrics there may be. */

/** In all. Each is in memory, and a list of some kilobytes for the pages. */
export const metricsMax = 10_000
/** Of one device. */
export const metricsPerDeviceMax = 64

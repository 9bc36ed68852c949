/** How many metrics there may be. */

/** In all. Each is in memory, and a list of some kilobytes for the pages. */
export const metricsMax = 10_000
/** Made by readings of devices that have an owner; the rest is for administrators and for devices without one. */
export const metricsOfOwnersMax = 8_000
/** Of one device. */
export const metricsPerDeviceMax = 64

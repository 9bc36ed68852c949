/** The purpose of a device, which determines its additional figures. */

export const profiles = ['none', 'weather', 'indoor', 'cold_chain', 'greenhouse'] as const
export type Profile = (typeof profiles)[number]

/** A gauge in °C: the outdoor temperature of a device that is indoors. */
export const outdoorMetric = 'outdoor_temperature'

/** What a device is for: which further figures are computed of it. */

export const profiles = ['none', 'weather', 'indoor', 'cold_chain', 'greenhouse'] as const
export type Profile = (typeof profiles)[number]

/** A gauge in °C, of what the air outdoors has where the device is indoors. */
export const outdoorMetric = 'outdoor_temperature'

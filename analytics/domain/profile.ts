/** The purpose of a device, which determines its additional figures. */

export const profiles = ['none', 'weather', 'indoor', 'cold_chain', 'pharmacy', 'greenhouse'] as const
export type Profile = (typeof profiles)[number]

/** True for the profiles with the figures of a cold chain. */
export function isColdChain(profile: Profile): boolean {
  return profile === 'cold_chain' || profile === 'pharmacy'
}

/** A gauge in °C: the outdoor temperature of a device that is indoors. */
export const outdoorMetric = 'outdoor_temperature'

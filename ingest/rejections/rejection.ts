/** A reading, or a request with readings, that was not taken: by which way it came, from whom, and why. */

export const rejectionWays = [
  'put',
  'batch',
  'line_protocol',
  'mqtt',
  'import',
  'import_points',
  'air_quality',
] as const
export type RejectionWay = (typeof rejectionWays)[number]

export interface RejectedSender {
  /** The same for the same credential; nothing secret. */
  name: string
  /** False for one without a good credential, who can call itself anything. */
  isKnown: boolean
}

/** The name of a sender that is a device. */
export function deviceSender(device: string): string {
  return `device ${device}`
}

export interface RejectionSource {
  way: RejectionWay
  sender: RejectedSender
  /** The device, or the station of points, where it is known. */
  device?: string | undefined
}

/** A part of a reading that was left out while the rest is stored: a value out of range, or a field that is not a metric. A field whose unit is assumed is listed in the same way. */
export type RejectedPart = 'value' | 'field'

export interface Rejection extends RejectionSource {
  reason: string
  /** Undefined for a whole reading or request. */
  part?: RejectedPart | undefined
}

export interface RejectionEntry {
  /** Grows with the time of the latest one. */
  id: number
  way: RejectionWay
  sender: string
  device: string | undefined
  reason: string
  part?: RejectedPart
  /** How often, from the first to the latest time. */
  count: number
  firstMs: number
  latestMs: number
}

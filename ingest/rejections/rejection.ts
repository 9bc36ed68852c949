/** A rejected reading or request: its way in, its sender and the reason. */

import type { Fields } from '../field-names.ts'

export const rejectionWays = [
  'put',
  'batch',
  'line_protocol',
  'mqtt',
  'webhook',
  'import',
  'import_points',
  'air_quality',
] as const
export type RejectionWay = (typeof rejectionWays)[number]

export interface RejectedSender {
  /** Constant for a credential. Contains nothing secret. */
  name: string
  /** False without a valid credential: such a sender can choose any name. */
  isKnown: boolean
}

/** Name of a sender that is a device. */
export function deviceSender(device: string): string {
  return `device ${device}`
}

export interface RejectionSource {
  way: RejectionWay
  sender: RejectedSender
  /** The device, or the station of points, if known. */
  device?: string | undefined
}

/** Rejects of a body in a format of sensors: their devices that are not registered are listed. */
export interface BodySource extends RejectionSource {
  unregistered?: Omit<UnregisteredReading, 'fields'> | undefined
}

/**
 * A part of a reading that was left out while the rest is stored: a value out of range, or a field that is not a metric. A field
 * with an assumed unit is listed in the same way.
 */
export type RejectedPart = 'value' | 'field'

/** The reading of a device that is not registered, as its decoder read it. */
export interface UnregisteredReading {
  readonly family: string
  /** Account whose key sends, which may write to its own devices only. Null for a broker. */
  readonly owner: number | null
  readonly fields: Fields
}

export interface Rejection extends RejectionSource {
  reason: string
  /** The decoded reading of a device that is not registered. */
  unregistered?: UnregisteredReading | undefined
  /** Undefined for a whole reading or request. */
  part?: RejectedPart | undefined
}

export interface RejectionEntry {
  /** Increases with the time of the latest occurrence. */
  id: number
  way: RejectionWay
  sender: string
  device: string | undefined
  reason: string
  part?: RejectedPart
  /** Occurrences between the first and the latest time. */
  count: number
  firstMs: number
  latestMs: number
}

/** What a client of the events may ask for. */

import type { Devices } from '../../auth/devices/devices.ts'
import { unknownParameter } from '../http/unknown-parameters.ts'
import type { Subscription } from './event-client.ts'

export const eventDevicesMax = 500
const names = ['device', 'state']

/** A text says what is wrong. */
export function subscriptionIn(query: object, devices: Pick<Devices, 'get'>): Subscription | 'DEVICE_UNKNOWN' | string {
  const unknown = unknownParameter(query, names)
  if (unknown !== undefined) return unknown
  const { device, state } = query as Record<string, string | string[] | undefined>
  if (state !== undefined && state !== '0' && state !== '1') return 'state must be 1 for states only, or 0'
  const asked = device === undefined ? undefined : [device].flat()
  if (asked !== undefined && asked.length > eventDevicesMax) return `device may be given ${eventDevicesMax} times`
  const found = asked?.map(name => devices.get(name)?.number)
  if (found?.includes(undefined) === true) return 'DEVICE_UNKNOWN'
  return { devices: found && new Set(found as number[]), statesOnly: state === '1' }
}

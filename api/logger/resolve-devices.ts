/** The devices that bulk bodies name, as somebody who writes may write them. */

import type { Device } from '../../auth/devices/device.ts'
import { type WriteRefusal, type Writer, writeRefusals } from '../../auth/writers.ts'

/** Why the readings of a name are not taken. */
interface Unresolved {
  code: WriteRefusal
  reason: string
}

/**
 * Devices that are not there yet are made, where the API key may do that. `later` when it cannot be told at present: a
 * client drops for good what is rejected, and sends again what gets a 503.
 */
export async function resolveDevices(
  names: readonly string[],
  writer: Writer,
): Promise<(Device | Unresolved)[] | 'later'> {
  if (writer.mayCreateDevices) {
    const unknown = names.filter(name => writer.find(name) === 'DEVICE_UNKNOWN')
    if (unknown.length > 0 && (await writer.createDevices(unknown)) === 'later') return 'later'
  }
  const found = names.map(name => writer.find(name))
  if (found.includes('DEVICE_SUSPENDED')) return 'later'
  return found.map(each => (typeof each === 'string' ? { code: each, reason: writeRefusals[each] } : each))
}

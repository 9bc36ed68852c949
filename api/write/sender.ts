/** Who sends a body of readings. A body may take hours, so it is asked again before each part of it is stored who that is. */

import { setImmediate as turn } from 'node:timers/promises'
import type { Device } from '../../auth/devices/device.ts'
import { isPassing } from '../../auth/passing-errors.ts'
import type { CredentialWriter, NoWriter } from '../../auth/writers.ts'

export interface Sender {
  /** As of the last look. */
  writer(): CredentialWriter
  /**
   * Why readings of these devices are not stored; undefined when they may be. `later` when that cannot be told, or one of
   * the devices is another one than when it was resolved: the body sent again gets its rejects.
   */
  refusal(devices: readonly Device[]): Promise<NoWriter | 'later' | undefined>
}

const devicesPerTurn = 2000

export function createSender(first: CredentialWriter): Sender {
  let writer = first

  async function renew(): Promise<NoWriter | 'later' | undefined> {
    try {
      const renewed = await writer.renewed()
      if (typeof renewed === 'string') return renewed
      writer = renewed
      return undefined
    } catch (error) {
      if (isPassing(error)) return 'later'
      throw error
    }
  }

  async function refusal(devices: readonly Device[]): Promise<NoWriter | 'later' | undefined> {
    for (let at = 0; at < devices.length; at++) {
      const device = devices[at] as Device
      if (writer.check(device) !== device) return 'later'
      if ((at + 1) % devicesPerTurn === 0) await turn()
    }
    return undefined
  }

  return { writer: () => writer, refusal: async devices => (await renew()) ?? (await refusal(devices)) }
}

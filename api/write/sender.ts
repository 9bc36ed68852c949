/**
 * Checks the sender of a body of readings. A body may take hours, so the check is repeated before each part is stored.
 */

import { setImmediate as turn } from 'node:timers/promises'
import type { Device } from '../../auth/devices/device.ts'
import { isPassing } from '../../auth/passing-errors.ts'
import type { CredentialWriter, NoWriter } from '../../auth/writers.ts'

export interface Sender {
  /** Writer of the last check. */
  writer(): CredentialWriter
  /**
   * Reason why readings of these devices are refused; undefined if they are accepted. `later` while it is unknown, or
   * if a device was replaced since: the repeated body gets its rejects.
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

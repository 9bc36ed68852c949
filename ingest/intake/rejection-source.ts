/** The sender of a rejected reading: the device or key of a valid credential, else the address. */

import type { Writer } from '../../auth/writers.ts'
import { unknownSender } from '../../store/limits/networks.ts'
import {
  deviceSender,
  type RejectedSender,
  type Rejection,
  type RejectionSource,
  type RejectionWay,
  type UnregisteredReading,
} from '../rejections/rejection.ts'
import type { RejectionReason } from './reading-meter.ts'

export function sourceOf(
  way: RejectionWay,
  writer: Pick<Writer, 'id' | 'device'> | null | undefined,
  address: string,
): RejectionSource {
  if (writer === null || writer === undefined) return { way, sender: unknownSender(address) }
  return { way, sender: senderOf(writer), device: writer.device?.name }
}

export function senderOf({ id, device }: Pick<Writer, 'id' | 'device'>): RejectedSender {
  return { name: device === undefined ? id : deviceSender(device.name), isKnown: true }
}

const unregisteredReasons: ReadonlySet<RejectionReason> = new Set(['unknown_device', 'too_many_devices'])

/** Adds the decoded reading to the rejection of a device that is not registered. */
export function withReading(reason: RejectionReason, rejection: Rejection, reading: UnregisteredReading): Rejection {
  return unregisteredReasons.has(reason) ? { ...rejection, unregistered: reading } : rejection
}

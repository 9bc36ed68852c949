/** Devices that are to be added, as a request has them: one, or an array of them. */

import { setImmediate as turn } from 'node:timers/promises'
import { z } from 'zod'
import { DeviceRequest } from '../../auth/devices/device.ts'
import { withPresentNames } from './renamed-fields.ts'

type ReadAdditions = { success: true; data: DeviceRequest[] } | { success: false; error: z.ZodError }

const Additions = z.array(DeviceRequest).min(1, 'must hold at least one device')

/** They take a few milliseconds; others have their turn between. */
const devicesPerTurn = 500

export async function readAdditions(body: unknown): Promise<ReadAdditions> {
  // One is looked at by itself, so that the paths of its issues are those of the body.
  if (!Array.isArray(body)) return DeviceRequest.transform(device => [device]).safeParse(withPresentNames(body))
  const devices: DeviceRequest[] = []
  for (let from = 0; from === 0 || from < body.length; from += devicesPerTurn) {
    if (from > 0) await turn()
    const part = Additions.safeParse(body.slice(from, from + devicesPerTurn).map(withPresentNames))
    if (!part.success) return { success: false, error: new z.ZodError(part.error.issues.map(behind(from))) }
    devices.push(...part.data)
  }
  return { success: true, data: devices }
}

/** An issue of a part of the array, with its place in the whole. */
function behind(count: number) {
  return (issue: z.core.$ZodIssue): z.core.$ZodIssue => {
    const [at, ...rest] = issue.path
    return typeof at === 'number' ? { ...issue, path: [at + count, ...rest] } : issue
  }
}

/** Changes of registries that a test expects to be made. */

import { NewDevice } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'

/** Throws the code of a refusal. */
export function valueIn<Value>(changed: { ok: true; value: Value } | { ok: false; code: string }): Value {
  if (!changed.ok) throw new Error(changed.code)
  return changed.value
}

/** Makes a device, and returns its password. */
export async function addDeviceTo(devices: Pick<Devices, 'add'>, name: string, fields: object = {}): Promise<string> {
  const [issued] = valueIn(await devices.add([NewDevice.parse({ name, ...fields })], 'test'))
  return issued?.password ?? ''
}

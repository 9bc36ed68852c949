/** Names of devices as rows of line protocol. They are text of others, which as a quoted string cannot be anything else. */

import type { NamedDevice } from '../../auth/devices/device.ts'
import { bug } from '../../limits/bug.ts'
import { deviceNamesTable, usPerDeviceNumber } from '../../store/tables.ts'

export function nameRows(devices: readonly NamedDevice[]): string {
  return devices.map(rowOf).join('')
}

/** That of a removed device replaces the one with its name. */
function rowOf({ number, symbol, name, location_short, removed, sequence }: NamedDevice): string {
  if (!/^[a-z0-9-]+$/.test(symbol)) throw bug(`a symbol is ${symbol}`)
  const texts = removed ? [] : [`name=${quoted(name)}`, `location_short=${quoted(location_short)}`]
  const columns = [...texts, `seq=${sequence}i`].join(',')
  return `${deviceNamesTable},device=${symbol} ${columns} ${number * usPerDeviceNumber}t\n`
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"\n\r]/g, '\\$&')}"`
}

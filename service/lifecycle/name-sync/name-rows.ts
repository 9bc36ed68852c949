/** Names as rows of line protocol. Those of devices are text of others, which as a quoted string cannot be anything else. */

import type { NamedDevice } from '../../../auth/devices/device.ts'
import type { NamedSeries } from '../../../auth/metrics/metric-rows.ts'
import { bug } from '../../../store/limits/bug.ts'
import { deviceNamesTable, seriesNamesTable, usPerDeviceNumber, usPerSeriesNumber } from '../../../store/tables.ts'

/** That of a removed device replaces the one with its name. */
export function deviceNameRow({ number, symbol, name, location_short, removed, sequence }: NamedDevice): string {
  const texts = removed ? [] : [`name=${quoted(name)}`, `location_short=${quoted(location_short)}`]
  const columns = [...texts, `seq=${sequence}i`].join(',')
  return `${deviceNamesTable},device=${checkedSymbol(symbol)} ${columns} ${number * usPerDeviceNumber}t\n`
}

export function seriesNameRow({ number, symbol, metric }: NamedSeries): string {
  if (!/^[a-z0-9_]+$/.test(metric)) throw bug(`a metric is ${metric}`)
  const symbols = `device=${checkedSymbol(symbol)},metric=${metric}`
  return `${seriesNamesTable},${symbols} series=${number}i ${number * usPerSeriesNumber}t\n`
}

function checkedSymbol(symbol: string): string {
  if (!/^[a-z0-9-]+$/.test(symbol)) throw bug(`a symbol is ${symbol}`)
  return symbol
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"\n\r]/g, '\\$&')}"`
}

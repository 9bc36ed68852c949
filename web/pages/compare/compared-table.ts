/** The hours of both devices and their differences as a table. */

import type { TimeWindow } from '../../charts/range.ts'
import { type TwinTable, tableRows } from '../../charts/table-rows.ts'
import { directionText } from '../../text/compass.ts'
import { nameWithUnit } from '../../text/quantities.ts'
import type { Times } from '../../theme/times.ts'
import { type ComparedHours, type PanelNames, shownSeries } from './comparison-panels.ts'

export function comparedTable(
  { quantity, a, b }: PanelNames,
  metric: ComparedHours,
  { window, times }: { readonly window: TimeWindow; readonly times: Times },
): TwinTable {
  const series = shownSeries(metric, quantity)
  const isDirection = quantity.kind === 'direction'
  const { decimals } = quantity
  const cell = (value: number | null) => (value === null || !isDirection ? value : directionText(value, decimals))
  const ofDevices = isDirection ? { ...quantity, unit: '' } : quantity
  const columns = [
    nameWithUnit({ ...ofDevices, name: a }),
    nameWithUnit({ ...ofDevices, name: a === b ? `${b} again` : b }),
    nameWithUnit({ ...quantity, name: 'Difference' }),
  ]
  return {
    caption: `${quantity.name} by hour, the newest first`,
    headName: 'From',
    columns: columns.map(name => ({ name, decimals })),
    rows: tableRows([series.a, series.b, series.diff], window.fromMs, window.toMs).map(({ atMs, values }) => {
      const [ofA = null, ofB = null, difference = null] = values
      return { key: atMs, head: times.exact(atMs), cells: [cell(ofA), cell(ofB), difference] }
    }),
  }
}

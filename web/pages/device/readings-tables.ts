/** The readings of a range as tables: values by time, amounts by stretches of time, states one after the other. */

import type { TimeWindow } from '../../charts/range.ts'
import { type TableSeries, type TwinTable, tableRows } from '../../charts/table-rows.ts'
import { directionText, isSwitch, stateWord } from '../../text/kind-words.ts'
import { nameWithUnit, type Quantities, shownDifference, shownValue } from '../../text/quantities.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import {
  type AmountSeries,
  type DirectionSeries,
  type GaugeSeries,
  type RangeSeries,
  type StateBlock,
  type StateSeries,
  type Suspects,
  suspectMetrics,
} from './series.ts'
import { amountCell, blockDuration, statesIn, stretchText } from './series-texts.ts'

export interface TablesContext {
  readonly quantities: Quantities
  readonly window: TimeWindow
  readonly times: Times
}

export function readingsTables(data: RangeSeries, suspects: Suspects, context: TablesContext): TwinTable[] {
  const gauges = data.series.filter(series => series.kind === 'gauge')
  const directions = data.series.filter(series => series.kind === 'direction')
  const amounts = data.series.filter(series => 'bars' in series)
  const states = data.series.filter(series => series.kind === 'state')
  return [
    ...(gauges.length === 0 ? [] : [gaugesTable(gauges, data.stepMs, suspects, context)]),
    ...(directions.length === 0 ? [] : [directionsTable(directions, context)]),
    ...(amounts.length === 0 ? [] : [amountsTable(amounts, context)]),
    ...states.map(series => (series.isShares ? sharesTable(series, context) : statesTable(series, context))),
  ]
}

function gaugesTable(
  series: readonly GaugeSeries[],
  stepMs: number | undefined,
  suspects: Suspects,
  { quantities, window, times }: TablesContext,
): TwinTable {
  const metricsAt = suspectMetrics(suspects, stepMs)
  const namesAt = (atMs: number) => metricsAt.get(atMs)?.map(metric => quantities.of(metric).name) ?? null
  const columns = series.flatMap(({ metric, timesMs, values, extremes }) => {
    const quantity = quantities.of(metric)
    const column = (what: string, stored: readonly number[]) => ({
      name: nameWithUnit({ ...quantity, name: `${quantity.name}${what}` }),
      decimals: quantity.decimals,
      timesMs,
      values: stored.map(value => shownValue(value, quantity)),
    })
    return extremes === undefined
      ? [column('', values)]
      : [column(`: ${t('mean')}`, values), column(': min', extremes.lows), column(': max', extremes.highs)]
  })
  return {
    caption: stepMs === undefined ? t('Readings, the newest first') : t('Means, minima and maxima, the newest first'),
    headName: stepMs === undefined ? t('Time') : t('From'),
    columns: metricsAt.size === 0 ? columns : [...columns, { name: t('Suspect'), decimals: 0 }],
    rows: rowsOf(columns, window, times).map(({ values, ...row }) => ({
      ...row,
      cells: [...values, namesAt(row.key)?.join(', ') ?? null],
    })),
  }
}

/** Degrees, and the point of the compass beside them. */
function directionsTable(series: readonly DirectionSeries[], { quantities, window, times }: TablesContext): TwinTable {
  const decimalsOf = ({ metric }: DirectionSeries) => quantities.of(metric).decimals
  return {
    caption: series.every(({ stepMs }) => stepMs === undefined)
      ? t('Directions, the newest first')
      : t('Mean directions, the newest first'),
    headName: t('Time'),
    columns: series.map(({ metric }) => ({ name: quantities.of(metric).name, decimals: 0 })),
    rows: rowsOf(series, window, times).map(({ values, ...row }) => ({
      ...row,
      cells: values.map((value, place) =>
        value === null ? null : directionText(value, decimalsOf(series[place] as DirectionSeries)),
      ),
    })),
  }
}

function amountsTable(series: readonly AmountSeries[], { quantities, window, times }: TablesContext): TwinTable {
  const columns = series.map(({ metric, bars }) => {
    const quantity = quantities.of(metric)
    return {
      name: nameWithUnit(quantity),
      decimals: quantity.decimals,
      timesMs: bars.map(({ fromMs }) => fromMs),
      values: bars.map(({ value }) => shownDifference(value, quantity)),
    }
  })
  const cellsAt = series.map(({ metric, bars }) => {
    const quantity = quantities.of(metric)
    return new Map(bars.map(bar => [bar.fromMs, amountCell(bar, quantity)]))
  })
  const stretches = new Map(series.flatMap(({ bars }) => bars.map(bar => [bar.fromMs, bar])))
  const first = Math.min(window.fromMs, ...stretches.keys())
  return {
    caption: t('Increases and sums, the newest first'),
    headName: t('Time'),
    columns,
    rows: tableRows(columns, first, window.toMs).map(({ atMs }) => {
      const stretch = stretches.get(atMs)
      const text = stretch === undefined ? '' : stretchText(stretch, times)
      const date = times.date(atMs)
      const cells = cellsAt.map(cells => cells.get(atMs) ?? null)
      return { key: atMs, head: text.startsWith(date) ? text : `${date}, ${text}`, cells }
    }),
  }
}

function statesTable({ metric, blocks }: StateSeries, { quantities, times }: TablesContext): TwinTable {
  const quantity = quantities.of(metric)
  const ofSwitch = isSwitch(statesIn(blocks), quantity)
  return {
    caption: t('{name}: states, the newest first', { name: quantity.name }),
    headName: t('From'),
    columns: [t('To'), t('State'), t('For')].map(name => ({ name, decimals: 0 })),
    rows: blocks.toReversed().map(block => ({
      key: block.fromMs,
      head: times.exact(block.fromMs),
      cells: [times.exact(block.toMs), stateWord(block.state, ofSwitch), blockDuration(block)],
    })),
  }
}

function sharesTable({ metric, blocks }: StateSeries, { quantities, times }: TablesContext): TwinTable {
  const states = statesIn(blocks)
  const quantity = quantities.of(metric)
  const ofSwitch = isSwitch(states, quantity)
  const byStart = Map.groupBy(blocks, ({ fromMs }) => fromMs)
  return {
    caption: t('{name}: time in each state, the newest first', { name: quantity.name }),
    headName: t('From'),
    columns: states.map(state => ({ name: stateWord(state, ofSwitch), decimals: 0 })),
    rows: [...byStart].toReversed().map(([fromMs, there]) => ({
      key: fromMs,
      head: times.dateTime(fromMs),
      cells: states.map(state => textOf(there.find(block => block.state === state))),
    })),
  }
}

const textOf = (block: StateBlock | undefined) => (block === undefined ? null : blockDuration(block))

function rowsOf(columns: readonly TableSeries[], { fromMs, toMs }: TimeWindow, times: Times) {
  return tableRows(columns, fromMs, toMs).map(({ atMs, values }) => ({ key: atMs, head: times.exact(atMs), values }))
}

/** A compared metric as two charts: both devices, and their difference with its bias and the limits of agreement. */

import { breakAtGaps, joinColumns, usualGapMs } from '../../charts/line-data.ts'
import type { Block, ChartContent, Panel, Readout } from '../../charts/panel.ts'
import { extentOf } from '../../charts/paths.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { directionReadout } from '../../charts/readouts.ts'
import { type TwinTable, tableRows } from '../../charts/table-rows.ts'
import { directionText, withinTurn } from '../../text/kind-words.ts'
import { decimalText } from '../../text/numbers.ts'
import { measureDifference, nameWithUnit, type Quantity, shownDifference, shownValue } from '../../text/quantities.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import type { Agreement, ComparedDirection, ComparedHours, ComparedMetric, ComparePreset } from './answers.ts'

const hourMs = 3_600_000
const hoursOfPreset: Record<ComparePreset, number> = {
  '24h': 24,
  '3d': 72,
  '7d': 168,
  '30d': 720,
  '90d': 2160,
  '365d': 8760,
}

type Points = ComparedMetric['a']

/** Whole hours up to the last one that any of the series has; undefined when they have none. */
export function comparedWindow(
  metrics: readonly Pick<ComparedHours, 'a' | 'b'>[],
  preset: ComparePreset,
): TimeWindow | undefined {
  const lasts = metrics.flatMap(({ a, b }) => [a.at(-1)?.t, b.at(-1)?.t]).filter(lastMs => lastMs !== undefined)
  if (lasts.length === 0) return undefined
  const toMs = Math.max(...lasts) + hourMs
  return { fromMs: toMs - hoursOfPreset[preset] * hourMs, toMs }
}

interface PanelNames {
  readonly quantity: Quantity
  readonly a: string
  readonly b: string
}

interface Series {
  readonly timesMs: number[]
  /** Values are in the shown unit. */
  readonly values: number[]
}

interface ComparedSeries {
  readonly a: Series
  readonly b: Series
  readonly diff: Series
}

function shownSeries({ a, b, diff }: ComparedHours, quantity: Quantity): ComparedSeries {
  const series = (points: Points, shown: (stored: number, quantity: Quantity) => number): Series => ({
    timesMs: points.map(({ t }) => t),
    values: points.map(({ v }) => shown(v, quantity)),
  })
  const shown = quantity.kind === 'direction' ? withinTurn : shownValue
  return { a: series(a, shown), b: series(b, shown), diff: series(diff, shownDifference) }
}

export function metricPanels({ quantity, a: nameOfA, b: nameOfB }: PanelNames, metric: ComparedHours): Panel[] {
  const { a, b, diff } = shownSeries(metric, quantity)
  const gapMs = Math.max(...[a, b].map(({ timesMs }) => usualGapMs(timesMs, hourMs)))
  const means = levelsApart(quantity, a, b)
  const drawn = [a, b].map(({ timesMs, values }, place) => ({
    timesMs,
    values: values.map(value => value - (means?.[place] ?? 0)),
  }))
  const common = { unit: quantity.unit, decimals: quantity.decimals, reachMs: gapMs }
  return [
    {
      ...common,
      key: 'both',
      title:
        means === undefined
          ? quantity.name
          : t('{name} minus each one’s own mean ({list})', {
              name: quantity.name,
              list: means.map(mean => decimalText(mean, quantity.decimals)).join(t(' and ')),
            }),
      height: 170,
      content: {
        ...lookOf(quantity, { a, b }),
        columns: joinColumns(drawn.map(({ timesMs, values }) => breakAtGaps(timesMs, [values], gapMs))),
        decimals: quantity.decimals,
        right: 'labels',
      },
      readouts: [
        { label: nameOfA, colour: 'first', ...readoutOf(quantity, a, gapMs) },
        { label: nameOfB, colour: 'second', ...readoutOf(quantity, b, gapMs) },
      ],
    },
    {
      ...common,
      key: 'difference',
      title: `${nameOfA} − ${nameOfB}`,
      height: 130,
      content: {
        ...(quantity.kind === 'direction'
          ? { ...turns, lines: [pointsIn('--ink')] }
          : { lines: [{ colour: '--ink', width: 1.25 }] }),
        columns: breakAtGaps(diff.timesMs, [diff.values], gapMs),
        rules: rulesOf(quantity, metric.stats),
        decimals: quantity.decimals,
        right: 'labels',
      },
      readouts: [diff],
    },
  ]
}

/** The means of gauges so far apart that both lines would be flat; undefined for others. */
function levelsApart({ kind }: Quantity, ...both: readonly Series[]): readonly number[] | undefined {
  const extents = both.map(({ values }) => extentOf(values))
  if (kind !== 'gauge' || extents.includes(undefined)) return undefined
  const means = both.map(({ values }) => values.reduce((sum, value) => sum + value, 0) / values.length)
  const spread = extents.reduce((sum, extent) => sum + (extent === undefined ? 0 : extent[1] - extent[0]), 0)
  return Math.abs((means[0] ?? 0) - (means[1] ?? 0)) > 2 * spread && spread > 0 ? means : undefined
}

/** Directions are shown with points of the compass, other kinds as numbers. */
function readoutOf({ kind, decimals }: Quantity, series: Series, reachMs: number): Readout {
  return kind === 'direction' ? directionReadout(series, reachMs, decimals) : series
}

const coloursOfBoth = ['--accent', '--literal'] as const
const degreeTicks = (degrees: readonly number[]) =>
  degrees.map(value => ({ value, text: `${value}°`.replace('-', '−') }))
const compass = { range: [0, 360], ticks: degreeTicks([0, 90, 180, 270, 360]) } as const
const turns = { range: [-180, 180], ticks: degreeTicks([-180, -90, 0, 90, 180]) } as const
const pointsIn = (colour: string) => ({ colour, width: 0, points: 'all' }) as const

/** Angles are points, as a line would cross the chart at north; amounts are bars. */
function lookOf(
  quantity: Quantity,
  series: Pick<ComparedSeries, 'a' | 'b'>,
): Pick<ChartContent, 'lines' | 'blocks' | 'range' | 'ticks' | 'isFromZero'> {
  switch (quantity.kind) {
    case 'direction':
      return { ...compass, lines: coloursOfBoth.map(pointsIn) }
    case 'counter':
    case 'rate':
      return {
        lines: coloursOfBoth.map(colour => ({ colour, width: 0, points: 'none' }) as const),
        blocks: pairedBars(series),
        isFromZero: true,
      }
    default:
      return { lines: coloursOfBoth.map(colour => ({ colour, width: 1.75 })) }
  }
}

/** Two bars share each hour: the first half is a's, the second one b's. */
function pairedBars({ a, b }: Pick<ComparedSeries, 'a' | 'b'>): Block[] {
  const bars = [a, b].flatMap(({ timesMs, values }, place) =>
    timesMs.map((atMs, row) => ({
      fromMs: atMs + (place * hourMs) / 2,
      toMs: atMs + ((place + 1) * hourMs) / 2,
      low: 0,
      high: values[row] as number,
      colour: coloursOfBoth[place] as string,
    })),
  )
  return bars.sort((one, other) => one.fromMs - other.fromMs)
}

function rulesOf(quantity: Quantity, stats: Agreement | ComparedDirection['stats']): ChartContent['rules'] {
  const finer = { ...quantity, decimals: quantity.decimals + 1 }
  const rule = (difference: number, isBias: boolean) => ({
    value: shownDifference(difference, quantity),
    text: isBias
      ? t('bias {difference}', { difference: measureDifference(difference, finer) })
      : measureDifference(difference, finer),
    isDashed: !isBias,
  })
  const { bias } = stats
  const limits = 'limits_of_agreement' in stats ? (stats.limits_of_agreement ?? []) : []
  const mean = bias === null ? [] : [rule(bias, true)]
  return [...mean, ...limits.map(limit => rule(limit, false))]
}

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
    nameWithUnit({ ...ofDevices, name: a === b ? t('{b} again', { b }) : b }),
    nameWithUnit({ ...quantity, name: t('Difference') }),
  ]
  return {
    caption: t('{name} by hour, the newest first', { name: quantity.name }),
    headName: t('From'),
    columns: columns.map(name => ({ name, decimals })),
    rows: tableRows([series.a, series.b, series.diff], window.fromMs, window.toMs).map(({ atMs, values }) => {
      const [ofA = null, ofB = null, difference = null] = values
      return { key: atMs, head: times.exact(atMs), cells: [cell(ofA), cell(ofB), difference] }
    }),
  }
}

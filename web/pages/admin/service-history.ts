/** The service's own metrics over time, from `GET /api/admin/status/history`, as charts and as a table. */

import type { StatusHistory } from '../../../api/admin/answers.ts'
import { breakAtGaps } from '../../charts/line-data.ts'
import type { Panel } from '../../charts/panel.ts'
import type { Preset, TimeWindow } from '../../charts/range.ts'
import { type TwinTable, tableRows } from '../../charts/table-rows.ts'
import { inOneUnit } from '../../text/numbers.ts'
import { pageTimes } from '../../text/preferences.ts'
import { t } from '../../words/words.ts'

/** The longest preset is the time for which the service keeps the rows. */
export const historyPresets: readonly Preset[] = ['1h', '6h', '24h', '7d', '30d']
const hoursMax = 720
const hourMs = 3_600_000
/** Rows come every ten seconds and a little, so that a step of ten seconds has none now and then. */
const gapMsMin = 25_000
const panelHeight = 110

/** The hours from the window's beginning, because an answer always ends now. */
export function hoursOf({ fromMs }: TimeWindow, nowMs: number): number {
  return Math.min(hoursMax, Math.max(1, Math.ceil((nowMs - fromMs) / hourMs)))
}

/** The poll interval: no shorter than the distance of two points. */
export function historyEveryMs(hours: number): number {
  return hours < 6 ? 10_000 : 60_000
}

type ServiceMetricName = Exclude<keyof StatusHistory['points'][number], 'time'>

interface ServiceMetric {
  readonly name: ServiceMetricName
  /** A name where a chart has two lines. */
  readonly label?: string
}

interface Chart {
  readonly title: string
  readonly unit: string
  readonly decimals: number
  /** Converts from the unit of the answer. */
  readonly factor?: number
  readonly metrics: readonly ServiceMetric[]
}

const colours = ['--accent', '--literal']
const keys = ['first', 'second']

export function historyPanels(history: StatusHistory): Panel[] {
  const timesMs = history.points.map(({ time }) => Date.parse(time))
  const gapMs = Math.max(1.5 * history.step_s * 1000, gapMsMin)
  return chartsOf(history.step_s).map(({ title, unit, decimals, metrics, factor = 1 }) => {
    const lines = metrics.map(({ name }) => history.points.map(point => scaled(point[name], factor)))
    return {
      key: title,
      title,
      unit,
      decimals,
      height: panelHeight,
      reachMs: gapMs,
      content: {
        columns: breakAtGaps(timesMs, lines, gapMs),
        decimals,
        isFromZero: true,
        lines: metrics.map((_, place) => ({ colour: colours[place] ?? '--ink', width: 1.75 })),
      },
      readouts: metrics.map(({ label }, place) => ({
        ...(label === undefined ? {} : { label, colour: keys[place] ?? '' }),
        timesMs,
        values: lines[place] ?? [],
      })),
    }
  })
}

function chartsOf(stepSeconds: number): readonly Chart[] {
  return [
    {
      title: t('Acknowledgement'),
      unit: 'ms',
      decimals: 1,
      metrics: [
        { name: 'ack_p50_ms', label: 'p50' },
        { name: 'ack_p99_ms', label: 'p99' },
      ],
    },
    { title: t('Lag'), unit: 's', decimals: 1, metrics: [{ name: 'lag_seconds' }] },
    {
      title: t('Rejected'),
      unit: t('readings per {duration}', { duration: inOneUnit(stepSeconds, true) }),
      decimals: 0,
      metrics: [{ name: 'rejected' }],
    },
    { title: t('Memory'), unit: 'MB', decimals: 0, factor: 1e-6, metrics: [{ name: 'rss_bytes' }] },
  ]
}

function scaled(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor
}

export function historyTable(panels: readonly Panel[], { fromMs, toMs }: TimeWindow): TwinTable {
  const columns = panels.flatMap(({ title, unit, decimals, readouts }) =>
    readouts.map(readout => ({
      ...readout,
      name: `${[title, readout.label].filter(Boolean).join(' ')}, ${unit}`,
      decimals,
    })),
  )
  return {
    caption: t('Service metrics, the newest first'),
    headName: t('From'),
    columns,
    rows: tableRows(columns, fromMs, toMs).map(({ atMs, values }) => ({
      key: atMs,
      head: pageTimes().exact(atMs),
      cells: values,
    })),
  }
}

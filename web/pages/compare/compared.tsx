/** The comparison of a metric or a state of two devices: sentences, charts, tables and files. */

import { useMemo } from 'preact/hooks'
import { ChartStack } from '../../charts/chart-stack.tsx'
import type { TimeWindow } from '../../charts/range.ts'
import { TableTwin } from '../../charts/table-twin.tsx'
import { addressOf } from '../../client/address.ts'
import { FileNote } from '../../parts/notes.tsx'
import { isSwitch, stateWord } from '../../text/kind-words.ts'
import { duration, percent } from '../../text/phrases.ts'
import { nameWithin, type Quantity } from '../../text/quantities.ts'
import type { Zone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import { agreementSentences, directionSentences, stateSentences } from './agreement-sentences.ts'
import type { ComparedHours, ComparedState as State } from './answers.ts'
import { comparedTable, metricPanels } from './comparison-panels.ts'

interface ComparedMetricProps {
  readonly name: string
  readonly quantity: Quantity
  readonly metric: ComparedHours
  readonly a: string
  readonly b: string
  readonly window: TimeWindow
  readonly zone: Zone
  readonly times: Times
  readonly onWindow: (window: TimeWindow) => void
  readonly onReset: () => void
}

export function ComparedMetric({ name, quantity, metric, a, b, ...shown }: ComparedMetricProps) {
  const title = titleOf(quantity)
  const panels = useMemo(() => metricPanels({ quantity, a, b }, metric), [metric, a, b])
  const tables = () => [comparedTable({ quantity, a, b }, metric, shown)]
  return (
    <section class="card" aria-labelledby={`compare-${name}`}>
      <h2 id={`compare-${name}`}>{title}</h2>
      <p class="summary-text">{sentencesOf({ quantity, a, b }, metric).join(' ')}</p>
      <ChartStack
        label={t('{name} of {a} and {b}', { name: quantity.name, a, b })}
        panels={panels}
        nowMs={Number.MAX_SAFE_INTEGER}
        {...shown}
      />
      <TableTwin name={nameWithin(quantity)} tables={tables} />
    </section>
  )
}

/** The title has the figure of an hour, where it is not a mean. */
function titleOf({ name, kind }: Quantity): string {
  if (kind === 'counter') return t('{name}: increase by hour', { name })
  return kind === 'rate' ? t('{name}: sum by hour', { name }) : name
}

function sentencesOf(compared: Pick<ComparedMetricProps, 'quantity' | 'a' | 'b'>, metric: ComparedHours): string[] {
  return 'pearson' in metric.stats
    ? agreementSentences(compared, metric.stats)
    : directionSentences(compared, metric.stats)
}

interface ComparedStateProps {
  readonly name: string
  readonly quantity: Quantity
  readonly metric: State
  readonly a: string
  readonly b: string
}

export function ComparedState({ name, quantity, metric, a, b }: ComparedStateProps) {
  const states = [...new Set([...metric.a.states, ...metric.b.states].map(({ state }) => state))].sort((x, y) => x - y)
  const ofSwitch = isSwitch(states, quantity)
  return (
    <section class="card" aria-labelledby={`compare-${name}`}>
      <h2 id={`compare-${name}`}>{quantity.name}</h2>
      <p class="summary-text">{stateSentences(metric.stats).join(' ')}</p>
      {states.length === 0 ? null : (
        <table class="states">
          <caption class="unseen">{t('{name}: the time in each state', { name: quantity.name })}</caption>
          <thead>
            <tr>
              <th scope="col">{t('State')}</th>
              <th scope="col">{a}</th>
              <th scope="col">{a === b ? t('{b} again', { b }) : b}</th>
            </tr>
          </thead>
          <tbody>
            {states.map(state => (
              <tr key={state}>
                <th scope="row">{stateWord(state, ofSwitch)}</th>
                <Time state={state} of={metric.a} />
                <Time state={state} of={metric.b} />
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function Time({ state, of }: { state: number; of: State['a'] }) {
  const { seconds = 0, share = 0 } = of.states.find(one => one.state === state) ?? {}
  return (
    <td>
      {percent(share)}
      <span class="time">{duration(seconds)}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="whole" width="100" height="6" />
        <rect class="part" width={100 * share} height="6" />
      </svg>
    </td>
  )
}

interface HourFilesProps {
  readonly devices: readonly string[]
  readonly metrics: readonly string[]
  readonly window: TimeWindow
}

export function HourFiles({ devices, metrics, window: { fromMs, toMs } }: HourFilesProps) {
  const query = new URLSearchParams({
    start: String(fromMs),
    end: String(toMs),
    step: '3600',
    metrics: metrics.join(','),
    format: 'csv',
  })
  return (
    <p class="files">
      {devices.map(device => (
        <a
          key={device}
          class="button quiet"
          href={addressOf(`/api/readings/${encodeURIComponent(device)}?${query}`)}
          download={`${device}-hours.csv`}
        >
          {t('Download {device} by hour as CSV', { device })}
        </a>
      ))}
      <FileNote />
    </p>
  )
}

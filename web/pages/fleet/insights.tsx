/** What the last 30 days of the fleet tell: batteries that run out, and devices unlike the others. Nothing where there is nothing. */

import { useId, useState } from 'preact/hooks'
import type { Insights as InsightsAnswer } from '../../../query/shapes/insights.ts'
import { addressOf } from '../../client/address.ts'
import type { ResourceState } from '../../client/resource-state.ts'
import { devicePath } from '../../client/routes.ts'
import { useMedia } from '../../client/use-media.ts'
import { countText } from '../../text/numbers.ts'
import type { Times } from '../../text/times.ts'
import { batterySentence, outlierSentence } from './insight-sentences.ts'

const entriesShort = 3
/** Where the lists would stand between the reader and the devices: they begin closed. */
const narrow = '(max-width: 860px)'

interface Entry {
  key: string
  device: string
  sentence: string
}

export function Insights({ state, times }: { state: ResourceState<InsightsAnswer>; times: Times }) {
  if (state.kind === 'failed' && state.failure.kind === 'unavailable') {
    return <p class="no-insights">Battery estimates and comparisons are not available at the moment.</p>
  }
  if (state.kind !== 'ready' && state.kind !== 'stale') return null
  const { generated_at, batteries, batteries_total, outliers, outliers_total } = state.value
  if (batteries.length === 0 && outliers.length === 0) return null
  const ending = batteries.map(one => ({ key: one.device, device: one.device, sentence: batterySentence(one) }))
  const unlike = outliers.map(one => ({
    key: `${one.metric} ${one.device}`,
    device: one.device,
    sentence: outlierSentence(one),
  }))
  const asOf = times.dateTime(generated_at)
  return (
    <div class="insights">
      <List
        title="Batteries running out"
        note="Days until empty if the charge goes on falling as it does, with the 95 % interval."
        {...{ entries: ending, total: batteries_total, asOf }}
      />
      <List
        title="Unlike the others"
        note="Means of the last 24 hours that are far from the median of all devices."
        {...{ entries: unlike, total: outliers_total, asOf }}
      />
    </div>
  )
}

interface ListProps {
  title: string
  note: string
  entries: readonly Entry[]
  /** Of which the service sends the first ones. */
  total: number
  asOf: string
}

function List({ title, note, entries, total, asOf }: ListProps) {
  const id = useId()
  const isNarrow = useMedia(narrow)
  const [isWhole, setIsWhole] = useState(false)
  if (entries.length === 0) return null
  const shown = isWhole ? entries : entries.slice(0, entriesShort)
  const unsent = total - entries.length
  return (
    <section class="card" aria-labelledby={id}>
      <details open={!isNarrow}>
        <summary>
          <h2 id={id}>
            {title} <span class="total">{countText(total)}</span>
          </h2>
        </summary>
        <p>
          {note} As of {asOf}. <a href={addressOf('/docs/statistics#fleet')}>How it is computed</a>
        </p>
        <ul>
          {shown.map(({ key, device, sentence }) => (
            <li key={key}>
              <a href={addressOf(devicePath(device))}>{device}</a> <span>{sentence}</span>
            </li>
          ))}
        </ul>
        {isWhole && unsent > 0 ? <p>And {countText(unsent)} more.</p> : null}
        {entries.length > entriesShort ? (
          <button type="button" class="button" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
            {isWhole
              ? `Show the first ${entriesShort}`
              : `Show ${unsent > 0 ? 'the first' : 'all'} ${countText(entries.length)}`}
          </button>
        ) : null}
      </details>
    </section>
  )
}

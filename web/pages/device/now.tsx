/** The last value of each metric, large, with its age. */

import { serverNowMs } from '../../client/clock.ts'
import { DirectionArrow } from '../../parts/marks.tsx'
import { compassPoint, degreesText, isSwitch, stateWord } from '../../text/kind-words.ts'
import { numberText, type Quantities, type Quantity } from '../../text/quantities.ts'
import { ageText, spanText } from '../../text/times.ts'
import { t, tn } from '../../words/words.ts'
import type { LastValues } from './answers.ts'
import { dayAmountText } from './day-amounts.ts'
import { type NowNote, stateSpanMs, usualText } from './now-notes.ts'
import type { ShownMetric } from './shown-metrics.ts'

export interface NowProps {
  /** Values have the display order. */
  readonly values: LastValues
  /** The shown metrics. Others are on demand. */
  readonly metrics: readonly ShownMetric[]
  readonly notes: ReadonlyMap<string, NowNote>
  readonly quantities: Quantities
  /** Returns the age up to which a value of a metric is current. */
  readonly freshMs: (metric: string) => number
  /** Formats a time in the person's zone for a tooltip. */
  readonly exact: (ms: number) => string
}

export function Now(props: NowProps) {
  const all = Object.entries(props.values)
  if (all.length === 0)
    return <p class="now-none">{t('There is no reading yet. The first one appears here by itself.')}</p>
  const names = new Set(props.metrics.map(({ name }) => name))
  const others = all.filter(([metric]) => !names.has(metric))
  return (
    <>
      <Values {...props} entries={all.filter(([metric]) => names.has(metric))} />
      {others.length === 0 ? null : (
        <details class="more-values">
          <summary>{tn(others.length, '{count} more value', '{count} more values')}</summary>
          <Values {...props} entries={others} />
        </details>
      )}
    </>
  )
}

interface ValuesProps extends NowProps {
  entries: readonly (readonly [metric: string, value: { readonly v: number; readonly ts: number }])[]
}

function Values({ entries, notes, quantities, freshMs, exact }: ValuesProps) {
  return (
    <dl class={entries.length > compactFrom ? 'now compact' : 'now'}>
      {entries.map(([metric, { v, ts }]) => (
        <Value
          key={metric}
          quantity={quantities.of(metric)}
          note={notes.get(metric)}
          freshMs={freshMs(metric)}
          {...{ v, ts, exact }}
        />
      ))}
    </dl>
  )
}

/** More values are smaller, in columns. */
const compactFrom = 6
/** The precision of the last change. */
const minuteMs = 60_000

interface ValueProps extends Pick<NowProps, 'exact'> {
  quantity: Quantity
  note: NowNote | undefined
  v: number
  ts: number
  freshMs: number
}

function Value({ quantity, note, v, ts, freshMs, exact }: ValueProps) {
  const nowMs = serverNowMs.value
  const ageMs = nowMs - ts
  // A state that is only sent on change does not become old.
  const holdMs = note?.kind === 'state' ? (note.holdMs ?? Number.POSITIVE_INFINITY) : 0
  const isStale = ageMs > Math.max(freshMs, holdMs)
  const spanMs = stateSpanMs(note, ts, nowMs)
  const isAgeShown = spanMs === undefined || spanMs - ageMs > minuteMs
  return (
    <div class={isStale ? 'old' : ''}>
      <dt>{quantity.name}</dt>
      <dd>
        <span class="number">
          <Shown {...{ quantity, v }} />
        </span>
        <NoteText {...{ quantity, note, spanMs }} />
        {isAgeShown ? (
          <span class="age" title={exact(ts)}>
            {ageText(ageMs)}
          </span>
        ) : null}
      </dd>
    </div>
  )
}

function Shown({ quantity, v }: Pick<ValueProps, 'quantity' | 'v'>) {
  if (quantity.kind === 'state') return <>{stateWord(v, isSwitch([v], quantity))}</>
  if (quantity.kind === 'direction') {
    return (
      <>
        <DirectionArrow degrees={v} /> {compassPoint(v)} <span class="unit">{degreesText(v, quantity.decimals)}</span>
      </>
    )
  }
  return (
    <>
      {numberText(v, quantity)} <span class="unit">{quantity.unit}</span>
    </>
  )
}

interface NoteProps extends Pick<ValueProps, 'quantity' | 'note'> {
  spanMs: number | undefined
}

function NoteText({ quantity, note, spanMs }: NoteProps) {
  if (note?.kind === 'today') {
    return <span class="note">{dayAmountText(note, quantity, 'today', amount => t('{amount} today', { amount }))}</span>
  }
  if (note?.kind === 'usual') return <span class="note">{usualText(note)}</span>
  return spanMs === undefined ? null : <span class="note">{t('for {duration}', { duration: spanText(spanMs) })}</span>
}

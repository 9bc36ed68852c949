/** The values of the chosen lines over a range: the metrics of each device, then its means by steps. */

import { useRef } from 'preact/hooks'
import type { RangeReadings } from '../../../api/read/shapes.ts'
import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { type AnnotationsOf, useAnnotationsOf } from '../../charts/annotations.tsx'
import { stepOf, type TimeWindow } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue, type ResourceState, worstState } from '../../client/resource-state.ts'
import { useResources, useRested } from '../../client/use-resource.ts'
import { quantitiesOf, shownValue } from '../../text/quantities.ts'
import type { ChosenLine } from './chosen-lines.ts'
import { type DrawnLine, looksOf } from './line-panels.ts'

export interface UsedLines {
  readonly state: ResourceState<unknown>
  /** The state with the time of the oldest last value. */
  readonly current: ResourceState<unknown>
  /** The last answer of each device, by its name. */
  readonly latest: ReadonlyMap<string, LatestOfDevice>
  /** The lines whose answers have arrived. */
  readonly drawn: readonly DrawnLine[]
  /** Chosen, and not there: the device is unknown, or has no gauge of this name. */
  readonly missing: readonly ChosenLine[]
  readonly isLoading: boolean
  readonly stepMs: number
}

const everyMsUsual = 60_000
/** The limit is about the width of a chart in points. */
const pointsMax = 800

export function useLines(lines: readonly ChosenLine[], window: TimeWindow, everyMs = everyMsUsual): UsedLines {
  const devices = [...new Set(lines.map(({ device }) => device))]
  const latest = useResources<LatestOfDevice>(
    devices.map(device => addressOf(`/api/latest/${encodeURIComponent(device)}`)),
    { everyMs },
  )
  const known = new Map(devices.map((device, place) => [device, latest[place] as ResourceState<LatestOfDevice>]))
  const { there, missing } = presentLines(lines, known)
  const stepSeconds = stepOf(window, pointsMax)
  const stepMs = 1000 * stepSeconds
  // Full steps: a range that ends now moves on by the minute, and keeps its answer for as long as it can.
  const [start, end] = [Math.floor(window.fromMs / stepMs) * stepMs, Math.ceil(window.toMs / stepMs) * stepMs]
  const range = useRested(`start=${start}&end=${end}&step=${stepSeconds}&format=json`)
  const ofDevices = [...Map.groupBy(there, ({ device }) => device)]
  const urls = ofDevices.map(([device, own]) => {
    const metrics = own.map(({ metric }) => metric).join(',')
    return addressOf(`/api/readings/${encodeURIComponent(device)}?${range}&metrics=${metrics}`)
  })
  const answers = useResources<RangeReadings>(range === undefined ? [] : urls, { everyMs })
  const drawn = useDrawn(
    there,
    ofDevices.map(([device], place) => [device, answers[place]] as const),
    lines,
  )
  const isLoading = [...latest, ...answers].some(({ kind }) => kind === 'loading')
  const failed = [...latest.filter(state => !isMissing(state)), ...answers]
  const state = worstState(failed)
  const last = new Map(
    [...known].flatMap(([device, one]) =>
      lastValue(one) === undefined ? [] : [[device, lastValue(one) as LatestOfDevice] as const],
    ),
  )
  return { state, current: currentOf(state, latest), latest: last, drawn, missing, isLoading, stepMs }
}

/** The last chart stays after a failed read of another range, marked as stale. */
function currentOf(state: ResourceState<unknown>, latest: readonly ResourceState<unknown>[]): ResourceState<unknown> {
  const timesMs = latest.flatMap(one => (one.kind === 'ready' || one.kind === 'stale' ? [one.atMs] : []))
  if (timesMs.length === 0) return state
  const shown = { value: undefined, atMs: Math.min(...timesMs) }
  if (state.kind !== 'failed' && state.kind !== 'stale') return { kind: 'ready', ...shown }
  return { kind: 'stale', ...shown, failure: state.failure }
}

type PresentLine = Omit<DrawnLine, 'timesMs' | 'values'>

function presentLines(lines: readonly ChosenLine[], known: ReadonlyMap<string, ResourceState<LatestOfDevice>>) {
  const there: PresentLine[] = []
  const missing: ChosenLine[] = []
  const looks = looksOf(lines)
  for (const [place, line] of lines.entries()) {
    const state = known.get(line.device)
    const latest = state && lastValue(state)
    if (latest !== undefined) {
      const quantity = quantitiesOf(latest.metrics).of(line.metric)
      const isGauge = Object.hasOwn(latest.values, line.metric) && quantity.kind === 'gauge'
      if (isGauge) there.push({ ...line, quantity, place, look: looks[place] as DrawnLine['look'] })
      else missing.push(line)
    } else if (state !== undefined && isMissing(state)) missing.push(line)
  }
  return { there, missing }
}

function isMissing(state: ResourceState<unknown>): boolean {
  return state.kind === 'failed' && state.failure.kind === 'missing'
}

/** While another range loads, the lines of the last one stay. */
function useDrawn(
  there: readonly PresentLine[],
  answers: readonly (readonly [string, ResourceState<RangeReadings> | undefined])[],
  lines: readonly ChosenLine[],
): readonly DrawnLine[] {
  const rows = new Map(answers.map(([device, state]) => [device, state && lastValue(state)]))
  const last = useRef<ReadonlyMap<string, RangeReadings>>(new Map())
  const kept = new Map<string, RangeReadings>()
  for (const { device } of lines) {
    const own = rows.get(device) ?? last.current.get(device)
    if (own !== undefined) kept.set(device, own)
  }
  last.current = kept
  const drawn = there.flatMap(line => {
    const own = kept.get(line.device)
    return own === undefined ? [] : [{ line, own }]
  })
  // The lines are drawn again only after a change of a line or of its answer.
  const made = useRef<{ key: string; answers: readonly RangeReadings[]; lines: readonly DrawnLine[] }>()
  const key = JSON.stringify(drawn.map(({ line }) => line))
  const isSame = made.current?.key === key && drawn.every(({ own }, place) => made.current?.answers[place] === own)
  if (!isSame || made.current === undefined) {
    const shown = drawn.map(({ line, own }) => ({ ...line, ...meansOf(own, line) }))
    made.current = { key, answers: drawn.map(({ own }) => own), lines: shown }
  }
  return made.current.lines
}

function meansOf(rows: RangeReadings, { metric, quantity }: PresentLine): Pick<DrawnLine, 'timesMs' | 'values'> {
  const name = `${metric}_mean`
  const own = rows.filter(row => row[name] !== undefined)
  return { timesMs: own.map(({ ts }) => ts), values: own.map(row => shownValue(row[name] as number, quantity)) }
}

export interface LineAnnotations extends Pick<AnnotationsOf, 'shown' | 'total' | 'unread'> {
  /** True if the lines belong to several devices. */
  readonly hasNames: boolean
}

export function useLineAnnotations(drawn: readonly DrawnLine[], window: TimeWindow): LineAnnotations {
  const devices = [...new Set(drawn.map(({ device }) => device))]
  const { shown, total, unread } = useAnnotationsOf(devices, window)
  return { shown, total, hasNames: devices.length > 1, unread }
}

/** The range of the charts, kept in the address of the page: a link to it shows the same. */

import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { setArguments, urlArguments } from '../client/address.ts'
import { serverNowMs } from '../client/clock.ts'
import {
  isPreset,
  type Preset,
  type Range,
  rangeArguments,
  readRange,
  readWindow,
  type TimeWindow,
  windowOf,
} from './range.ts'

export interface ShownRange {
  readonly range: Range
  /** Ends at the last full minute where the range ends now. */
  readonly window: TimeWindow
  readonly nowMs: number
  choose(preset: Preset): void
  zoomTo(window: TimeWindow): void
}

const minuteMs = 60_000
/** A visible page moves on by the minute, so that its charts are not drawn each second. */
export const minute = computed(() => Math.floor(serverNowMs.value / minuteMs) * minuteMs)

/** `presets`: those that the page offers. */
export function useRange(presets: readonly Preset[]): ShownRange {
  const range = zoomedWindow.value ?? readRange(urlArguments.value, presets)
  const nowMs = minute.value
  const last = useRef<{ key: string; window: TimeWindow }>({ key: '', window: windowOf(range, nowMs) })
  const key = isPreset(range) ? `${range.preset} ${nowMs}` : `${range.fromMs} ${range.toMs}`
  if (last.current.key !== key) last.current = { key, window: windowOf(range, nowMs) }
  return { range, window: last.current.window, nowMs, choose, zoomTo }
}

function choose(preset: Preset): void {
  setArguments(rangeArguments({ preset }))
}

/** The pause that ends a series of changes. Browsers throttle or refuse address changes at each event. */
const restMs = 500

/** Ahead of the address while changes follow each other; another address, as by the back button, ends that. */
const moving = signal<{ readonly address: URLSearchParams; readonly window: TimeWindow }>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Undefined where the address has none. */
export const zoomedWindow: ReadonlySignal<TimeWindow | undefined> = computed(() => {
  const address = urlArguments.value
  return moving.value?.address === address ? moving.value.window : readWindow(address)
})

export function zoomTo(window: TimeWindow): void {
  const isFirst = moving.peek()?.address !== urlArguments.peek()
  if (isFirst) setArguments(rangeArguments(window))
  const address = urlArguments.peek()
  moving.value = { address, window }
  clearTimeout(timer)
  timer = setTimeout(() => {
    if (urlArguments.peek() === address) setArguments(rangeArguments(window), { replace: true })
    moving.value = undefined
  }, restMs)
}

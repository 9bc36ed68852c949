/** The range of the charts, kept in the address of the page: a link to it shows the same. */

import { computed } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { setArguments, urlArguments } from '../client/address.ts'
import { serverNowMs } from '../client/clock.ts'
import { isPreset, type Preset, type Range, readRange, type TimeWindow, windowOf, writeRange } from './range.ts'

export interface ShownRange {
  readonly range: Range
  /** Ends at the last full minute where the range ends now. */
  readonly window: TimeWindow
  readonly nowMs: number
  /** `isGesture`: one of many in a row, of which the history keeps none. */
  show(range: Range, isGesture?: boolean): void
}

const minuteMs = 60_000
/** A page that is looked at moves on by the minute: its charts are not drawn anew each second. */
const minute = computed(() => Math.floor(serverNowMs.value / minuteMs) * minuteMs)

/** `presets`: those that the page offers. */
export function useRange(presets: readonly Preset[]): ShownRange {
  const range = readRange(urlArguments.value.toString(), presets)
  const nowMs = minute.value
  const last = useRef<{ key: string; window: TimeWindow }>({ key: '', window: windowOf(range, nowMs) })
  const key = isPreset(range) ? `${range.preset} ${nowMs}` : writeRange(range)
  if (last.current.key !== key) last.current = { key, window: windowOf(range, nowMs) }
  return { range, window: last.current.window, nowMs, show }
}

function show(range: Range, isGesture = false): void {
  const fields = new URLSearchParams(writeRange(range))
  const changes = Object.fromEntries(['range', 'from', 'to'].map(name => [name, fields.get(name) ?? undefined]))
  setArguments(changes, { replace: isGesture })
}

/** Values of charts at a moment, and the moments where the cursor stops. */

import { directionText } from '../text/kind-words.ts'
import { decimalText } from '../text/numbers.ts'
import { withUnit } from '../text/quantities.ts'
import type { Times } from '../theme/times.ts'
import { t } from '../words/words.ts'
import { nearestPlace, valueAt } from './line-data.ts'
import type { Marks, Panel, Readout } from './panel.ts'
import { extentOf } from './paths.ts'
import type { TimeWindow } from './range.ts'

interface Shown {
  readonly panels: readonly Panel[]
  readonly window: TimeWindow
  /** The end of the forecast. */
  readonly untilMs?: number | undefined
  readonly times: Times
}

/**
 * Returns the moment around which a window is zoomed. The given moment may be behind the window. The default is its
 * middle.
 */
export function centreOf({ fromMs, toMs }: TimeWindow, atMs = (fromMs + toMs) / 2): number {
  return Math.min(atMs, toMs)
}

/** The window and the forecast behind it. */
export function drawnWindow({ window, untilMs = window.toMs }: Pick<Shown, 'window' | 'untilMs'>): TimeWindow {
  return untilMs > window.toMs ? { fromMs: window.fromMs, toMs: untilMs } : window
}

/** The cursor stops at the points of the line with the most points, then at the forecast's points. */
export function timesIn(panels: readonly Panel[], { fromMs, toMs }: TimeWindow, untilMs = toMs): number[] {
  const all = panels.flatMap(({ readouts }) => readouts.map(({ timesMs }) => timesMs))
  const longest = all.reduce<readonly number[]>((best, times) => (times.length > best.length ? times : best), [])
  const aheadMs = panels.find(({ ahead }) => ahead !== undefined)?.ahead?.timesMs ?? []
  return [
    ...longest.filter(atMs => atMs >= fromMs && atMs <= toMs),
    ...aheadMs.filter(atMs => atMs > toMs && atMs <= untilMs),
  ]
}

export function readoutsAt({ readouts, ahead }: Panel, atMs: number, { toMs }: TimeWindow): readonly Readout[] {
  return ahead !== undefined && atMs > toMs ? [ahead] : readouts
}

export function spokenAt({ panels, window, times }: Shown, atMs: number): string {
  const texts = panels.flatMap(panel =>
    readoutsAt(panel, atMs, window).map(
      readout => `${[panel.title, readout.label].filter(Boolean).join(' ')} ${readoutText(panel, readout, atMs)}`,
    ),
  )
  return `${times.dateTime(atMs)}: ${texts.join(', ')}`
}

/** `last 21.3, lowest 18.2, highest 24.0 °C` of the window; undefined without numbers. */
export function extremesText(panel: Panel, readout: Readout, { fromMs, toMs }: TimeWindow): string | undefined {
  const { timesMs, values, textAt, quantity } = readout
  if (textAt !== undefined && quantity === undefined) return undefined
  const shown = values.filter((_, row) => (timesMs[row] as number) >= fromMs && (timesMs[row] as number) <= toMs)
  const [last, extent] = [shown.findLast(value => value !== null), extentOf(shown)]
  if (last == null || extent === undefined) return undefined
  const { unit, decimals } = quantity ?? panel
  const [now = '', lowest = '', highest = ''] = [last, ...extent].map(value => decimalText(value, decimals))
  return t('last {now}, lowest {lowest}, highest {highest}', { now, lowest, highest: withUnit(highest, { unit }) })
}

export function readoutText({ decimals, unit, reachMs, marks }: Panel, readout: Readout, atMs: number): string {
  if (readout.textAt !== undefined) return readout.textAt(atMs) ?? t('no value')
  const value = valueAt(readout, atMs, reachMs)
  if (value === null) return t('no value')
  const text = withUnit(decimalText(value, decimals), { unit })
  return marks !== undefined && isMarked(marks, readout, atMs) ? `${text} (${marks.label})` : text
}

/** True if the value shown at a moment is marked. */
function isMarked(marks: Marks, { timesMs }: Readout, atMs: number): boolean {
  const nearestMs = timesMs[nearestPlace(timesMs, atMs) ?? -1]
  const place = nearestPlace(marks.timesMs, atMs)
  return place !== undefined && marks.timesMs[place] === nearestMs
}

/** Formats values in degrees. */
export function directionReadout(
  series: Pick<Readout, 'timesMs' | 'values'>,
  reachMs: number,
  decimals: number,
): Pick<Readout, 'timesMs' | 'values' | 'textAt'> {
  return {
    ...series,
    textAt: atMs => {
      const value = valueAt(series, atMs, reachMs)
      return value === null ? null : directionText(value, decimals)
    },
  }
}

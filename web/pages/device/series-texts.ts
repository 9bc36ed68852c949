/** Amounts, states and stretches of time in words, at the cursor of a chart and in its table. */

import type { Stretch } from '../../charts/panel.ts'
import { isSwitch, stateWord } from '../../text/kind-words.ts'
import { duration, percent } from '../../text/phrases.ts'
import { measureDifference, type Quantity, shownDifference } from '../../text/quantities.ts'
import { dayMs } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import type { Amount, StateBlock, StateSeries } from './series.ts'

/** `1.4 mm`, with the share that arrived during a gap. */
export function amountText({ value, ofGap }: Pick<Amount, 'value' | 'ofGap'>, quantity: Quantity): string {
  const text = measureDifference(value, quantity)
  return ofGap === 0
    ? text
    : t('{text}, including {amount} in a gap before', {
        text,
        amount: measureDifference(ofGap, quantity),
      })
}

/** A table cell: a number, or a text where a part came in a gap. */
export function amountCell(amount: Pick<Amount, 'value' | 'ofGap'>, quantity: Quantity): number | string {
  return amount.ofGap === 0 ? shownDifference(amount.value, quantity) : amountText(amount, quantity)
}

/** `14:00–15:00`, the date of a local day, or both moments of a stretch longer than half a day. */
export function stretchText({ fromMs, toMs }: Stretch, times: Times): string {
  const isDay = toMs - fromMs > 0.9 * dayMs && toMs - fromMs < 1.1 * dayMs
  // In a zone other than the service's, days do not match dates.
  const isOfClock = times.time(fromMs) === '00:00' && times.time(toMs) === '00:00'
  if (isDay && isOfClock) return times.date(fromMs)
  return toMs - fromMs <= dayMs / 2
    ? `${times.time(fromMs)}–${times.time(toMs)}`
    : `${times.dateTime(fromMs)} – ${times.dateTime(toMs)}`
}

export function statesIn(blocks: readonly StateBlock[]): number[] {
  return [...new Set(blocks.map(({ state }) => state))].sort((a, b) => a - b)
}

/** True if a block is a share of a day, not of an hour. */
export function isOfDays(blocks: readonly StateBlock[]): boolean {
  return blocks.some(({ fromMs, toMs }) => toMs - fromMs > dayMs / 2)
}

/** `on (08:20–12:10)`, `on 62 %, off 38 % (14:00–15:00)`; null where nothing is known. */
export function statesText(
  series: StateSeries,
  there: readonly StateBlock[],
  { quantity, times }: { readonly quantity: Quantity; readonly times: Times },
): string | null {
  const [first] = there
  if (first === undefined) return null
  const ofSwitch = isSwitch(statesIn(series.blocks), quantity)
  const texts = there.map(({ state, low, high }) => {
    const word = stateWord(state, ofSwitch)
    return series.isShares ? `${word} ${percent(high - low)}` : word
  })
  return `${texts.join(', ')} (${stretchText(first, times)})`
}

/** `12 minutes`, of a share of a stretch. */
export function blockDuration({ fromMs, toMs, low, high }: StateBlock): string {
  return duration(((toMs - fromMs) / 1000) * (high - low))
}

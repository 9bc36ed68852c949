/** Sentences beside a device's name about a battery that runs out or an outlier. */

import { decimalsApart } from '../../../analytics/findings/finding-text.ts'
import { countOf, countText } from '../../../analytics/findings/value-words.ts'
import type { BatteryInsight, OutlierInsight } from '../../../query/shapes/insights.ts'
import { isBuiltIn, measure, type Quantities } from '../../text/quantities.ts'

/** Beyond it the upper end says no more than that it is far away. */
const daysMax = 365

/** `about 12 days (9 to 17)`; of a battery beside the usual one with its name. */
export function batterySentence(battery: BatteryInsight, quantities: Quantities): string {
  const { metric } = battery
  const left = daysLeftText(battery)
  return isBuiltIn(metric) ? left : `${quantities.of(metric).name}: ${left}`
}

function daysLeftText({ days_left, low, high }: BatteryInsight): string {
  const [shortest, longest] = [Math.floor(low), Math.ceil(high)]
  const about = days_left < 1 ? 'less than a day' : `about ${countOf(Math.round(days_left), 'day')}`
  // A straight line has an interval without width, and so has an empty battery.
  if (high - low < 1) return about
  return `${about} (${countText(shortest)} to ${longest > daysMax ? `more than ${daysMax}` : countText(longest)})`
}

/** The title for outliers and the basis of their sentences: some, all or none have peers. */
export function outliersAbout(outliers: readonly Pick<OutlierInsight, 'peers'>[]): { title: string; note: string } {
  const alone = outliers.filter(({ peers }) => peers === 0).length
  const asOthers = 'Means of the last 24 hours, and expected means, had the device changed as devices like it did'
  const usual = 'usual values of the device, by the 14 days before'
  if (alone === 0) return { title: 'Unlike the others', note: `${asOthers}.` }
  if (alone < outliers.length) {
    return { title: 'Unlike the others', note: `${asOthers}, or, where no other is like it, ${usual}.` }
  }
  return { title: 'Unlike before', note: `Means of the last 24 hours, and ${usual}: no other is like it.` }
}

/** `Temperature 31.2 °C, expected 20.5 °C`: had it changed as the devices like it did. */
export function outlierSentence({ metric, value, median }: OutlierInsight, quantities: Quantities): string {
  const quantity = quantities.of(metric)
  const custom = decimalsApart(value, [median], (one, decimals) => measure(one, quantity, decimals))
  return `${quantity.name} ${measure(value, quantity, custom)}, expected ${measure(median, quantity, custom)}`
}

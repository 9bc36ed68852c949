/** How two quantities of a device go together, in a sentence. */

import type { Pair } from '../../../query/shapes/correlation.ts'
import { closeness } from '../../text/correlation-words.ts'
import { decimalText } from '../../text/numbers.ts'
import { duration } from '../../text/phrases.ts'
import { nameWithin, type Quantities } from '../../text/quantities.ts'

/** Those with a correlation, the strongest first. */
export function shownPairs(pairs: readonly Pair[]): Pair[] {
  const strength = ({ pearson }: Pair) => Math.abs(pearson ?? 0)
  return pairs.filter(({ pearson }) => pearson !== null).sort((a, b) => strength(b) - strength(a))
}

export function pairSentence(
  { a, b, pearson, significant, r_deseasonalised, lag_seconds }: Pair,
  quantities: Quantities,
): string {
  if (pearson === null) return ''
  const [nameOfA, withinOfA] = [quantities.of(a).name, nameWithin(quantities.of(a))]
  const nameOfB = nameWithin(quantities.of(b))
  if (significant === null) return `${nameOfA} and ${nameOfB}: no clear link (too few independent hours).`
  if (!significant) return `${nameOfA} and ${nameOfB} go together no more than chance would have it.`
  const way = pearson > 0 ? 'rises' : 'falls'
  const sentence = `As ${withinOfA} rises, ${nameOfB} ${way}${closenessText(pearson)}`
  return `${sentence}${dayText(pearson, r_deseasonalised)}${lagText(withinOfA, nameOfB, lag_seconds)}.`
}

const closenessText = (r: number) => (closeness(r) === 'hardly' ? ', a little' : `, ${closeness(r)}`)

/** Two things that only share the course of the day lose most of their correlation with it. */
function dayText(r: number, withoutDay: number | null): string {
  if (withoutDay === null) return ''
  const isOwing = Math.abs(withoutDay) < Math.abs(r) / 2
  return isOwing ? `; mostly because both follow the day (${decimalText(withoutDay, 2)} without it)` : ''
}

function lagText(nameOfA: string, nameOfB: string, lagSeconds: number | null): string {
  if (lagSeconds === null || lagSeconds === 0) return ''
  const [first, second] = lagSeconds > 0 ? [nameOfA, nameOfB] : [nameOfB, nameOfA]
  return `; ${second} follows ${first} by ${duration(Math.abs(lagSeconds))}`
}

/** Correlations of a device's metrics in sentences. */

import type { Pair } from '../../../query/shapes/stats.ts'
import { capitalised, closeness, duration, isSameWay, listed } from '../../text/phrases.ts'
import { nameWithin, type Quantities } from '../../text/quantities.ts'
import { t } from '../../words/words.ts'

/** More are not read. The table has all of them. */
const strongestMax = 5
/** Weaker correlations are not reported. */
const strengthMin = 0.3

/** Pairs with a correlation, strongest first. */
export function shownPairs(pairs: readonly Pair[]): Pair[] {
  return pairs.filter(({ pearson }) => pearson !== null).sort((a, b) => strengthOf(b) - strengthOf(a))
}

export interface RelatedPairs {
  /** The strongest that go together beyond the course of the day. */
  readonly strongest: readonly Pair[]
  /** The names of those that only share it. */
  readonly ofDay: readonly string[]
}

/** The clearly related pairs. Batteries are left out: they follow temperature and time. */
export function relatedPairs(pairs: readonly Pair[]): RelatedPairs {
  const clear = shownPairs(pairs).filter(
    ({ a, b, significant, ...pair }) =>
      significant === true &&
      strengthOf(pair) >= strengthMin &&
      !isBattery(a) &&
      !isBattery(b) &&
      !isDewPoint(a) &&
      !isDewPoint(b),
  )
  const strongest = clear.filter(pair => !isOwingToDay(pair)).slice(0, strongestMax)
  return { strongest, ofDay: [...new Set(clear.filter(isOwingToDay).flatMap(({ a, b }) => [a, b]))] }
}

const strengthOf = ({ pearson }: Pick<Pair, 'pearson'>) => Math.abs(pearson ?? 0)

/** It is computed from two of the others. */
const isDewPoint = (name: string) => name === 'dew_point'

const isBattery = (name: string) => name.startsWith('battery')

/** Two that only share the course of the day lose most of their correlation with it, or keep one of the other sign. */
function isOwingToDay({ pearson, r_deseasonalised }: Pair): boolean {
  if (pearson === null || r_deseasonalised === null) return false
  return r_deseasonalised * Math.sign(pearson) < Math.abs(pearson) / 2
}

export function pairSentence({ a, b, pearson, lag_seconds, lag_r }: Pair, quantities: Quantities): string {
  if (pearson === null) return ''
  const [nameOfA, nameOfB] = [nameWithin(quantities.of(a)), nameWithin(quantities.of(b))]
  const both = t('{first} and {second}', { first: capitalised(nameOfA), second: nameOfB })
  const how = closeness(pearson)
  if (!isSameWay(pearson, lag_r) || lag_seconds === null || lag_seconds === 0) {
    return pearson > 0
      ? t('{both} rise and fall together {how}.', { both, how })
      : t('{both} move against each other {how}.', { both, how })
  }
  const [later, lag] = [lag_seconds > 0 ? nameOfB : nameOfA, duration(Math.abs(lag_seconds))]
  return pearson > 0
    ? t('{both} rise and fall together {how}; {later} follows by {lag}.', { both, how, later, lag })
    : t('{both} move against each other {how}; {later} follows by {lag}.', { both, how, later, lag })
}

/** Undefined where nothing shares the day alone. */
export function dayPairsSentence(names: readonly string[], quantities: Quantities): string | undefined {
  if (names.length === 0) return undefined
  return t('{names} follow the same course of the day.', {
    names: capitalised(listed(names.map(name => nameWithin(quantities.of(name))))),
  })
}

/** The sentence where no pair is clearly related. */
export function noLinkSentence(pairs: readonly Pick<Pair, 'reason'>[]): string {
  const isUnknown = pairs.some(({ reason }) => reason === 'too_few_independent')
  return isUnknown ? t('No clear link (too few independent hours).') : t('No clear link.')
}

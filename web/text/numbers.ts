/** Numbers and spans in the page's language. */

import {
  unitsSeconds as allUnits,
  decimalText as decimalIn,
  durationText as durationIn,
  inOneUnit as oneUnitIn,
  pointsText as pointsIn,
} from '../../analytics/findings/value-words.ts'
import { words } from '../words/words.ts'

/** `−1.5` */
export function decimalText(value: number, decimals: number): string {
  return decimalIn(value, decimals, words)
}

/** `5 points` */
export function pointsText(number: string): string {
  return pointsIn(number, words)
}

/** `30 hours`, `12.4 hours` */
export function inOneUnit(seconds: number, isExact = false): string {
  return oneUnitIn(seconds, isExact, words)
}

/** A whole number of the largest possible unit. */
export function durationText(seconds: number): string {
  return durationIn(seconds, words)
}

/** Units of spans, with their texts for a number of them. */
export const unitsSeconds = allUnits.map(([length, text]) => [length, (count: number) => text(count, words)] as const)

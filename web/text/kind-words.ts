/** States and directions as people read them: a switch is on or off, other states have their numbers, directions are points of the compass. */

import type { FleetDevice } from '../../query/live/fleet-shape.ts'
import { t, tc } from '../words/words.ts'
import { decimalText } from './numbers.ts'
import { type Quantity, valueText } from './quantities.ts'

/** `states`: those that are shown. */
export function isSwitch(states: readonly number[], { isNumbered }: Pick<Quantity, 'isNumbered'>): boolean {
  return !isNumbered && !states.some(isNumberOfState)
}

/** One that is neither on nor off. */
export function isNumberOfState(state: number): boolean {
  return state !== 0 && state !== 1
}

export function stateWord(state: number, ofSwitch: boolean): string {
  if (!ofSwitch) return String(state)
  return state === 0 ? tc('switch', 'off') : tc('switch', 'on')
}

/** `on (1)`, `2`: within a sentence, with the number that is stored. */
export function stateInWords(state: number, ofSwitch: boolean): string {
  return ofSwitch ? `${stateWord(state, true)} (${state})` : t('state {state}', { state })
}

/** Custom properties of the palette. The first one is for state 0, which is mostly idle. */
const colours = ['--line', '--accent', '--literal', '--warn', '--link', '--good', '--soft', '--bad'] as const

/** More states than colours repeat them. The number stands beside each. */
export function stateColour(state: number): string {
  return colours[state % colours.length] ?? '--ink'
}

const points = t('N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW').split(' ')
const sectorDegrees = 360 / points.length

/** The points of the compass, clockwise from north. */
export const compassPoints: readonly string[] = points
/** North, east, south and west. */
export const quarterPoints: readonly string[] = points.filter((_, place) => place % 4 === 0)

/** The same direction from 0° to below 360°, as devices may send −90° or 540°. */
export function withinTurn(degrees: number): number {
  const rest = degrees % 360
  // A rest just below 0 rounds to a whole turn.
  return rest < 0 ? (rest + 360) % 360 : rest
}

/** `WSW`, of the nearest of sixteen points. */
export function compassPoint(degrees: number): string {
  return points[Math.round(withinTurn(degrees) / sectorDegrees) % points.length] as string
}

/** `243°`. Angles that round to a whole turn are 0°. */
export function degreesText(degrees: number, decimals = 0): string {
  const rounded = Number(withinTurn(degrees).toFixed(decimals)) % 360
  return `${decimalText(rounded, decimals)}°`
}

/** `WSW 243°` */
export function directionText(degrees: number, decimals = 0): string {
  return `${compassPoint(degrees)} ${degreesText(degrees, decimals)}`
}

/** `on` of a switch, `3` of another state, `NE 45°` of a direction, and everything else with its unit. */
export function kindText(value: number, quantity: Quantity): string {
  switch (quantity.kind) {
    case 'state':
      return stateWord(value, isSwitch([value], quantity))
    case 'direction':
      return directionText(value, quantity.decimals)
    default:
      return valueText(value, quantity)
  }
}

export type DeviceState = FleetDevice['state']

/** Names of states, as a badge shows them. */
export const stateNames: Readonly<Record<DeviceState, string>> = {
  silent: t('silent'),
  late: t('late'),
  never: t('never'),
  fresh: t('fresh'),
  off: t('off'),
}

export const deviceStates = ['silent', 'late', 'never', 'fresh', 'off'] as const satisfies readonly DeviceState[]

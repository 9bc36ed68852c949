/** States as people read them: a switch is on or off, other states have their numbers. */

import type { Quantity } from './quantities.ts'

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
  return state === 0 ? 'off' : 'on'
}

/** `on (1)`, `2`: within a sentence, with the number that is stored. */
export function stateInWords(state: number, ofSwitch: boolean): string {
  return ofSwitch ? `${stateWord(state, true)} (${state})` : `state ${state}`
}

/** Custom properties of the palette. The first one is for state 0, which is mostly idle. */
const colours = ['--line', '--accent', '--literal', '--warn', '--link', '--good', '--soft', '--bad'] as const

/** More states than colours repeat them. The number stands beside each. */
export function stateColour(state: number): string {
  return colours[state % colours.length] ?? '--ink'
}

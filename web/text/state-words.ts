/** States as people read them: a switch is on or off, other states have their numbers. */

/** `states`: all that are known of a metric. */
export function isSwitch(states: Iterable<number>): boolean {
  for (const state of states) if (state !== 0 && state !== 1) return false
  return true
}

export function stateWord(state: number, ofSwitch: boolean): string {
  if (!ofSwitch) return String(state)
  return state === 0 ? 'off' : 'on'
}

/** `on (1)`, `2`: within a sentence, with the number that is stored. */
export function stateInWords(state: number, ofSwitch: boolean): string {
  return ofSwitch ? `${stateWord(state, true)} (${state})` : `state ${state}`
}

/** Custom properties of the palette. The first is that of 0, which mostly is what does nothing. */
const colours = ['--line', '--accent', '--literal', '--warn', '--link', '--good', '--edge', '--bad'] as const

/** More states than colours repeat them; the number stands beside each. */
export function stateColour(state: number): string {
  return colours[state % colours.length] ?? '--ink'
}

/** Options of several commands about alerts. */

import type { AttemptAnswer } from '../alerts/core/delivery.ts'
import type { Selector } from '../auth/devices/selector.ts'
import { CommandError } from './command-error.ts'
import { jsonObjectIn } from './option-values.ts'

export interface SelectorOptions {
  device?: string[] | undefined
  tag?: string[] | undefined
  all?: boolean | undefined
}

/** Undefined without such an option. */
export function selectorOf({ device, tag, all }: SelectorOptions): Selector | undefined {
  if (device !== undefined) return { devices: device }
  if (tag !== undefined) return { tags: tag }
  return all === true ? { all: true } : undefined
}

export function jsonObjectOf(file: string, text: string): Record<string, unknown> {
  const value = jsonObjectIn(text)
  if (value === undefined) throw new CommandError(`${file} is not a JSON object`)
  return value
}

/** The failure of a notification that was sent by hand. */
export function attemptFailure(subject: string): (answer: AttemptAnswer) => string | undefined {
  return ({ outcome, answer }) => {
    if (outcome === 'written') return `${subject} was ${answer}`
    return outcome === 'delivered' ? undefined : `${subject} was not delivered`
  }
}

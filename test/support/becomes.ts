/** Asserts a page's eventual state, such as a title after a banner: it reads until the state is there. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'

/** Many times the need of a busy machine. A wrong expectation takes as long. */
const deadlineMs = 2 * 60_000
/** Each read takes processor time of the browser: those after the first ones come at growing distances. */
const [pollMsMin, pollMsMax] = [25, 250]

/** `wanted`: a pattern for a text, else the exact value. The last read value fails the test. */
export async function becomes<Value>(
  t: Test,
  read: () => Promise<Value>,
  wanted: Value | RegExp,
  message = String(wanted),
): Promise<void> {
  const overMs = performance.now() + deadlineMs
  let value = await read()
  for (let pollMs = pollMsMin; !fits(value, wanted) && performance.now() < overMs; pollMs *= 1.5) {
    await sleep(Math.min(pollMs, pollMsMax))
    value = await read()
  }
  if (wanted instanceof RegExp) t.match(value, wanted, message)
  else t.strictSame(value, wanted, message)
}

/** A pattern for a text with this one in it. */
export function within(text: string): RegExp {
  return new RegExp(RegExp.escape(text))
}

/** A pattern for a text without this one. */
export function without(text: string): RegExp {
  return new RegExp(`^(?!.*${RegExp.escape(text)})`, 's')
}

function fits(value: unknown, wanted: unknown): boolean {
  return wanted instanceof RegExp ? wanted.test(String(value)) : isDeepStrictEqual(value, wanted)
}

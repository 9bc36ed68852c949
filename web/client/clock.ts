/** The service's clock, ticking by the second. Ages use it because the browser's clock may be wrong. */

import { type ReadonlySignal, signal } from '@preact/signals'
import { whileVisible } from './screen.ts'

const tickMs = 1_000
const now = signal(Date.now())
/** Service time minus browser time. */
let aheadMs = 0

/** Epoch milliseconds, at most a second old while the page is seen. */
export const serverNowMs: ReadonlySignal<number> = now

/** `generated_at` of an answer that has just come. */
export function setServerTime(generatedAtMs: number): void {
  aheadMs = generatedAtMs - Date.now()
  now.value = generatedAtMs
}

/** Call it once. */
export function startClock(): void {
  let timer: ReturnType<typeof setInterval> | undefined
  const tick = () => {
    now.value = Date.now() + aheadMs
  }
  whileVisible(isVisible => {
    clearInterval(timer)
    if (!isVisible) return
    tick()
    timer = setInterval(tick, tickMs)
  })
}

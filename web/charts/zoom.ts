/**
 * The zoomed or moved window, kept in the page's address so that a link shows the same. Consecutive changes, such as
 * turns of a wheel, share one history entry.
 */

import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { setArguments, urlArguments } from '../client/address.ts'
import { rangeArguments, readWindow, type TimeWindow } from './range.ts'

/** The pause that ends a series of changes. Browsers throttle or refuse address changes at each event. */
const restMs = 500

/** Ahead of the address while changes follow each other; another address, as by the back button, ends that. */
const moving = signal<{ readonly address: URLSearchParams; readonly window: TimeWindow }>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Undefined where the address has none. */
export const zoomedWindow: ReadonlySignal<TimeWindow | undefined> = computed(() => {
  const address = urlArguments.value
  return moving.value?.address === address ? moving.value.window : readWindow(address)
})

export function zoomTo(window: TimeWindow): void {
  const isFirst = moving.peek()?.address !== urlArguments.peek()
  if (isFirst) setArguments(rangeArguments(window))
  const address = urlArguments.peek()
  moving.value = { address, window }
  clearTimeout(timer)
  timer = setTimeout(() => {
    if (urlArguments.peek() === address) setArguments(rangeArguments(window), { replace: true })
    moving.value = undefined
  }, restMs)
}

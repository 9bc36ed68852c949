/**
 * The window that somebody has zoomed or moved to, kept in the address of the page: a link to it shows the same. Changes
 * in a row, as of a wheel, are one entry of the history: the first one makes it, the last one replaces it.
 */

import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { setArguments, urlArguments } from '../client/address.ts'
import { rangeArguments, readWindow, type TimeWindow } from './range.ts'

/** After the last change of a row. Browsers ignore or refuse it when a page changes its address at each event. */
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

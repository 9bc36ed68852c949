/**
 * Server-sent events of the service. The browser's EventSource connects again by itself after a break, and says where
 * it was (`Last-Event-ID`). It gives up when it is refused, and then we try again. A hidden tab holds no connection.
 */

import type { ServiceEvent } from '../../query/live/events/event-shape.ts'
import { hasToken } from './request-token.ts'
import { whileVisible } from './screen.ts'

export interface EventsOptions {
  /** Keys are names of events. The data are JSON. */
  on: { [Event in ServiceEvent as Event['event']]?: (data: Event['data']) => void }
  /** True from the first answer to the next break. */
  onLive: (isLive: boolean) => void
  /** The connection was away for so long that something may be missing, as after the tab was hidden. */
  onGap: () => void
}

/** The pause after a refusal, such as for one connection too many. */
const refusedMs = 30_000

export function openEvents(url: string, { on, onLive, onGap }: EventsOptions): () => void {
  // EventSource sends no header. A page by a link reads again from time to time.
  if (hasToken()) return () => undefined
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasBeenAway = false

  function open(): void {
    source = new EventSource(url)
    source.addEventListener('open', () => {
      onLive(true)
      // A new EventSource does not know where the last one was.
      if (hasBeenAway) onGap()
      hasBeenAway = false
    })
    source.addEventListener('error', () => {
      onLive(false)
      if (source?.readyState !== EventSource.CLOSED) return
      close()
      timer = setTimeout(open, refusedMs)
    })
    source.addEventListener('reset', onGap)
    for (const [name, take] of Object.entries(on)) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => take(JSON.parse(data)))
    }
  }

  function close(): void {
    clearTimeout(timer)
    hasBeenAway ||= source !== undefined
    source?.close()
    source = undefined
  }

  const stopWatching = whileVisible(isVisible => {
    close()
    if (isVisible) open()
    else onLive(false)
  })
  return () => {
    stopWatching()
    close()
  }
}

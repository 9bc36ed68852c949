/** Calls back soon after alerts have changed, once for many. */

import { useEffect, useRef } from 'preact/hooks'
import { addressOf } from '../../client/address.ts'
import { openEvents } from '../../client/events.ts'
import { alertChanged } from '../../client/firing.ts'

const restMs = 500

export function useAlertEvents(onChange: () => void): void {
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const change = () => {
      alertChanged()
      clearTimeout(timer)
      timer = setTimeout(() => latest.current(), restMs)
    }
    const close = openEvents(addressOf('/api/events?state=1'), {
      on: { alert: change },
      onLive: () => undefined,
      onGap: change,
    })
    return () => {
      clearTimeout(timer)
      close()
    }
  }, [])
}

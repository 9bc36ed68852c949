/** A resource for as long as a component shows it. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { openResource, type Resource, type ResourceOptions } from './resource.ts'
import type { ResourceState } from './resource-state.ts'

/** An undefined `url` reads nothing. A new `url` begins with `loading`. */
export function useResource<T>(url: string | undefined, options: ResourceOptions<T> = {}): ResourceState<T> {
  return useRefreshed<T>(url, options).state
}

/** The same with a function that reads again, after a change. */
export function useRefreshed<T>(
  url: string | undefined,
  { everyMs, read }: ResourceOptions<T> = {},
): { state: ResourceState<T>; refresh: () => void } {
  const [state, setState] = useState<{ url: string | undefined; state: ResourceState<T> }>()
  const current = useRef<Resource<T> | undefined>(undefined)
  useEffect(() => {
    if (url === undefined) return undefined
    const resource = openResource<T>(url, {
      ...(everyMs === undefined ? {} : { everyMs }),
      ...(read === undefined ? {} : { read }),
    })
    current.current = resource
    const stop = resource.state.subscribe(value => setState({ url, state: value }))
    return () => {
      stop()
      current.current = undefined
      resource.close()
    }
  }, [url, everyMs, read])
  return {
    state: state !== undefined && state.url === url ? state.state : { kind: 'loading' },
    refresh: () => void current.current?.refresh(),
  }
}

/** A resource for as long as a component shows it. */

import { useEffect, useState } from 'preact/hooks'
import { openResource, type ResourceOptions } from './resource.ts'
import type { ResourceState } from './resource-state.ts'

/** `url` undefined: nothing is read. A new `url` begins anew, with `loading`. */
export function useResource<T>(url: string | undefined, options: ResourceOptions = {}): ResourceState<T> {
  const [state, setState] = useState<{ url: string | undefined; state: ResourceState<T> }>()
  const { everyMs, read } = options
  useEffect(() => {
    if (url === undefined) return undefined
    const resource = openResource<T>(url, {
      ...(everyMs === undefined ? {} : { everyMs }),
      ...(read === undefined ? {} : { read }),
    })
    const stop = resource.state.subscribe(value => setState({ url, state: value }))
    return () => {
      stop()
      resource.close()
    }
  }, [url, everyMs, read])
  return state !== undefined && state.url === url ? state.state : { kind: 'loading' }
}

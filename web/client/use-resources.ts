/** Several resources of one kind for as long as a component shows them. */

import { useEffect, useState } from 'preact/hooks'
import { openResource, type ResourceOptions } from './resource.ts'
import type { ResourceState } from './resource-state.ts'

/** One state for each address, in their order; one that stays is not read anew beyond `everyMs`. */
export function useResources<T>(urls: readonly string[], options: ResourceOptions<T> = {}): ResourceState<T>[] {
  const [states, setStates] = useState<ReadonlyMap<string, ResourceState<T>>>(new Map())
  useEffect(() => {
    const closes = urls.map(url => {
      const resource = openResource<T>(url, options)
      const stop = resource.state.subscribe(state =>
        setStates(before => new Map([...before].filter(([other]) => urls.includes(other))).set(url, state)),
      )
      return () => {
        stop()
        resource.close()
      }
    })
    return () => {
      for (const close of closes) close()
    }
  }, [urls.join('\n'), options.everyMs, options.read])
  return urls.map(url => states.get(url) ?? { kind: 'loading' })
}

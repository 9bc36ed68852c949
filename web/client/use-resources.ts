/** Several resources of one kind for as long as a component shows them. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { openResource, type Resource, type ResourceOptions } from './resource.ts'
import type { ResourceState } from './resource-state.ts'

/** One state for each address, in their order. An address that stays keeps its resource and its poll interval. */
export function useResources<T>(urls: readonly string[], options: ResourceOptions<T> = {}): ResourceState<T>[] {
  return useRefreshedResources(urls, options).states
}

interface Opened {
  readonly refresh: Resource<unknown>['refresh']
  readonly close: () => void
}

/** The same with a function that reads all again, after a change. */
export function useRefreshedResources<T>(
  urls: readonly string[],
  options: ResourceOptions<T> = {},
): { states: ResourceState<T>[]; refresh: () => void } {
  const { everyMs, read } = options
  const [states, setStates] = useState<ReadonlyMap<string, ResourceState<T>>>(new Map())
  const opened = useRef<ReadonlyMap<string, Opened>>(new Map())
  // The current addresses: a kept resource was opened with an earlier list.
  const wanted = useRef<ReadonlySet<string>>(new Set())
  useEffect(
    () => () => {
      for (const { close } of opened.current.values()) close()
      opened.current = new Map()
    },
    [everyMs, read],
  )
  useEffect(() => {
    const before = opened.current
    wanted.current = new Set(urls)
    for (const [url, { close }] of before) if (!wanted.current.has(url)) close()
    const set = (url: string, state: ResourceState<T>) =>
      setStates(known => new Map([...known].filter(([other]) => wanted.current.has(other))).set(url, state))
    opened.current = new Map([...wanted.current].map(url => [url, before.get(url) ?? openOne(url, options, set)]))
  }, [urls.join('\n'), everyMs, read])
  return {
    states: urls.map(url => states.get(url) ?? { kind: 'loading' }),
    refresh() {
      for (const { refresh } of opened.current.values()) void refresh()
    },
  }
}

function openOne<T>(
  url: string,
  options: ResourceOptions<T>,
  set: (url: string, state: ResourceState<T>) => void,
): Opened {
  const resource = openResource<T>(url, options)
  const stop = resource.state.subscribe(state => set(url, state))
  return {
    refresh: resource.refresh,
    close() {
      stop()
      resource.close()
    },
  }
}

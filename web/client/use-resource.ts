/** Resources for as long as a component shows them, with their last values and debounced addresses. */

import { useSignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { openResource, type Resource, type ResourceOptions } from './resource.ts'
import { lastValue, type ResourceState } from './resource-state.ts'

/** An undefined `url` reads nothing. A new `url` begins with `loading`. */
export function useResource<T>(url: string | undefined, options: ResourceOptions<T> = {}): ResourceState<T> {
  return useRefreshed<T>(url, options).state
}

/** The same with a function that reads again, after a change. */
export function useRefreshed<T>(
  url: string | undefined,
  { everyMs, read }: ResourceOptions<T> = {},
): { state: ResourceState<T>; refresh: () => void } {
  const opened = useSignal<{ url: string; resource: Resource<T> } | undefined>(undefined)
  useEffect(() => {
    if (url === undefined) return undefined
    const resource = openResource<T>(url, {
      ...(everyMs === undefined ? {} : { everyMs }),
      ...(read === undefined ? {} : { read }),
    })
    opened.value = { url, resource }
    return () => {
      opened.value = undefined
      resource.close()
    }
  }, [url, everyMs, read])
  const current = opened.value?.url === url ? opened.value?.resource : undefined
  return {
    state: current?.state.value ?? { kind: 'loading' },
    refresh: () => void opened.peek()?.resource.refresh(),
  }
}

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

/** The last value, also while another address loads; undefined after a change of `key`. */
export function useKept<Value>(state: ResourceState<Value>, key: string): Value | undefined {
  const kept = useRef<{ readonly key: string; readonly value: Value | undefined }>({ key, value: undefined })
  if (state.kind !== 'loading' || kept.current.key !== key) kept.current = { key, value: lastValue(state) }
  return kept.current.value
}

const restMsUsual = 250

/** The value once it has not changed for a moment; undefined at once. */
export function useRested<Value extends string | undefined>(value: Value, restMs = restMsUsual): Value | undefined {
  const [rested, setRested] = useState<Value | undefined>(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs)
    return () => clearTimeout(timer)
  }, [value, restMs])
  return value === undefined ? undefined : rested
}

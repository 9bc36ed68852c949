/** Keeps the last answer on the page while the next one loads. */

import { useRef } from 'preact/hooks'
import { lastValue, type ResourceState } from './resource-state.ts'

/** The last value, also while another address loads; undefined after a change of `key`. */
export function useKept<Value>(state: ResourceState<Value>, key: string): Value | undefined {
  const kept = useRef<{ readonly key: string; readonly value: Value | undefined }>({ key, value: undefined })
  if (state.kind !== 'loading' || kept.current.key !== key) kept.current = { key, value: lastValue(state) }
  return kept.current.value
}

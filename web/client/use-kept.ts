/** What a page shows while the answer to another question about the same thing is on its way. */

import { useRef } from 'preact/hooks'
import { lastValue, type ResourceState } from './resource-state.ts'

/** The last value, also while that of another address loads; of another `key`, none. */
export function useKept<Value>(state: ResourceState<Value>, key: string): Value | undefined {
  const kept = useRef<{ readonly key: string; readonly value: Value | undefined }>({ key, value: undefined })
  if (state.kind !== 'loading' || kept.current.key !== key) kept.current = { key, value: lastValue(state) }
  return kept.current.value
}

/** Debounces a value that typing or dragging changes many times in a row. */

import { useEffect, useState } from 'preact/hooks'

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

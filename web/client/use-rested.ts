/** What somebody types or drags changes many times in a row; a request follows only the last of them. */

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

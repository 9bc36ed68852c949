/** What somebody types or drags changes many times in a row; a request follows only the last of them. */

import { useEffect, useState } from 'preact/hooks'

const restMs = 250

/** The value once it has not changed for a moment; undefined at once. */
export function useRested<Value extends string | undefined>(value: Value): Value | undefined {
  const [rested, setRested] = useState<Value | undefined>(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs)
    return () => clearTimeout(timer)
  }, [value])
  return value === undefined ? undefined : rested
}

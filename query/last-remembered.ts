/** Remembers the last value that a function gave: neighbouring rows often have the same time. */

export function lastRemembered<Value>(compute: (number: number) => Value): (number: number) => Value {
  let lastNumber = Number.NaN
  let last: Value
  return number => {
    if (number !== lastNumber) last = compute(number)
    lastNumber = number
    return last
  }
}

/** Least-squares coefficients of a series, by the normal equations, for a few terms of similar size. */

/** `terms` has the values of each term. Values behind the series' end are ignored. Linearly dependent terms get 0. */
export function leastSquares(terms: readonly Float64Array[], values: Float64Array): Float64Array {
  const count = terms.length
  const matrix = terms.map(one => Float64Array.from(terms, other => product(one, other, values.length)))
  const right = Float64Array.from(terms, term => product(term, values, values.length))
  const tiny = 1e-10 * values.length
  for (let pivot = 0; pivot < count; pivot++) {
    const row = matrix[pivot] as Float64Array
    if (!((row[pivot] as number) > tiny)) continue
    // Symmetric and positive definite: pivoting is unnecessary.
    for (let below = pivot + 1; below < count; below++) {
      const other = matrix[below] as Float64Array
      const factor = (other[pivot] as number) / (row[pivot] as number)
      for (let column = pivot; column < count; column++) {
        other[column] = (other[column] as number) - factor * (row[column] as number)
      }
      right[below] = (right[below] as number) - factor * (right[pivot] as number)
    }
  }
  const coefficients = new Float64Array(count)
  for (let pivot = count - 1; pivot >= 0; pivot--) {
    const row = matrix[pivot] as Float64Array
    if (!((row[pivot] as number) > tiny)) continue
    let rest = right[pivot] as number
    for (let column = pivot + 1; column < count; column++) {
      rest -= (row[column] as number) * (coefficients[column] as number)
    }
    coefficients[pivot] = rest / (row[pivot] as number)
  }
  return coefficients
}

function product(one: Float64Array, other: Float64Array, length: number): number {
  let sum = 0
  for (let place = 0; place < length; place++) sum += (one[place] as number) * (other[place] as number)
  return sum
}

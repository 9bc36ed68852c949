/**
 * Sums that keep their digits: the rounding errors of additions are summed separately. A year of small quantities on a
 * large total, or terms that cancel, lose nothing that a double can show.
 *
 * Source: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen" (ZAMM 54, 1974).
 */

/** A running sum of finite numbers; NaN from where it passes the range of doubles. */
export class CompensatedSum {
  #sum = 0
  #lost = 0

  add(value: number): void {
    const sum = this.#sum + value
    this.#lost += Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - sum + value : value - sum + this.#sum
    this.#sum = sum
  }

  get total(): number {
    return this.#sum + this.#lost
  }
}

/** Sum of `values[from, to)`, which are finite. */
export function compensatedSum(values: Float64Array, from = 0, to = values.length): number {
  const sum = new CompensatedSum()
  for (let index = from; index < to; index++) sum.add(values[index] as number)
  return sum.total
}

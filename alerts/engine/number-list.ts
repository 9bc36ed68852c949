/** Some numbers in ascending order, four bytes each. */

export class NumberList {
  #numbers = new Int32Array(4)
  #count = 0

  get length(): number {
    return this.#count
  }

  has(number: number): boolean {
    const place = this.#placeOf(number)
    return place < this.#count && this.#numbers[place] === number
  }

  /** It is not there yet. */
  add(number: number): void {
    if (this.#count === this.#numbers.length) {
      const after = new Int32Array(2 * this.#count)
      after.set(this.#numbers)
      this.#numbers = after
    }
    const place = this.#placeOf(number)
    this.#numbers.copyWithin(place + 1, place, this.#count)
    this.#numbers[place] = number
    this.#count++
  }

  remove(number: number): void {
    if (!this.has(number)) return
    const place = this.#placeOf(number)
    this.#numbers.copyWithin(place, place + 1, this.#count)
    this.#count--
  }

  toArray(): number[] {
    return this.slice(0, this.#count)
  }

  /** By their places, the second excluded. */
  slice(from: number, to: number): number[] {
    return Array.from(this.#numbers.subarray(from, Math.min(to, this.#count)))
  }

  /** Of the first one that is not less. */
  #placeOf(number: number): number {
    let [from, to] = [0, this.#count]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#numbers[middle] as number) < number) from = middle + 1
      else to = middle
    }
    return from
  }
}

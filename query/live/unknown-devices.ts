/**
 * Devices that readings came of before the registry of this process had them: another process has made them, or they were
 * removed.
 */

/** As many as other processes may make within the moments until it is known here. */
const numbersMax = 100_000

export class UnknownDevices {
  /** The oldest first, which are those that were removed. */
  readonly #numbers = new Set<number>()

  add(number: number): void {
    if (this.#numbers.has(number)) return
    const [oldest] = this.#numbers
    if (oldest !== undefined && this.#numbers.size >= numbersMax) this.#numbers.delete(oldest)
    this.#numbers.add(number)
  }

  /** The device is known now; whether readings of it came before. */
  take(number: number): boolean {
    return this.#numbers.delete(number)
  }
}

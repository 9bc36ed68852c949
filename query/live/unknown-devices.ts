/**
 * Devices with readings that this process' registry does not have: another process has created them, or they were
 * removed.
 */

/** The most devices that other processes may create before this one reads them. */
const numbersMax = 100_000

export class UnknownDevices {
  /** Oldest first; the oldest are probably removed devices. */
  readonly #numbers = new Set<number>()

  add(number: number): void {
    if (this.#numbers.has(number)) return
    const [oldest] = this.#numbers
    if (oldest !== undefined && this.#numbers.size >= numbersMax) this.#numbers.delete(oldest)
    this.#numbers.add(number)
  }

  /** The device is registered now. Returns whether readings of it came before. */
  take(number: number): boolean {
    return this.#numbers.delete(number)
  }
}

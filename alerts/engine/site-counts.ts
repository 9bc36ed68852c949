/** How many devices of a rule on a whole site are silent. */

export const alive = 0
export const silent = 1
/** Not heard since we were away ourselves, and not yet overdue. */
export const unknown = 2

interface Counts {
  silent: number
  unknown: number
  devices: number
}

export class SiteCounts {
  readonly #counts = new Map<number, Counts>()
  /** By pair. */
  #flags = new Uint8Array(64)

  /** By the place of the rule. */
  of(rule: number): Readonly<Counts> {
    return this.#of(rule)
  }

  flagOf(pair: number): number {
    return this.#flags[pair] as number
  }

  add(rule: number, pair: number, flag: number): void {
    while (pair >= this.#flags.length) {
      const after = new Uint8Array(2 * this.#flags.length)
      after.set(this.#flags)
      this.#flags = after
    }
    this.#flags[pair] = alive
    this.#of(rule).devices++
    this.set(rule, pair, flag)
  }

  remove(rule: number, pair: number): void {
    this.set(rule, pair, alive)
    this.#of(rule).devices--
  }

  removeRule(rule: number): void {
    this.#counts.delete(rule)
  }

  set(rule: number, pair: number, flag: number): void {
    const counts = this.#of(rule)
    const before = this.flagOf(pair)
    if (before === silent) counts.silent--
    if (before === unknown) counts.unknown--
    if (flag === silent) counts.silent++
    if (flag === unknown) counts.unknown++
    this.#flags[pair] = flag
  }

  #of(rule: number): Counts {
    let counts = this.#counts.get(rule)
    if (counts === undefined) {
      counts = { silent: 0, unknown: 0, devices: 0 }
      this.#counts.set(rule, counts)
    }
    return counts
  }
}

/** Rules with the devices that they cover: pairs of both, which the rest of the evaluation knows by their numbers. */

import { customColumn, type EngineRule } from './engine-rule.ts'
import { PairTable } from './pair-table.ts'

/** Values of a reading, where they stand in it. */
export interface ReadingValues {
  /** Of a built-in metric by its column; NaN where missing. */
  value(column: number): number
  /** Of the device's own series; NaN where missing. */
  custom(series: number): number
}

export class CoveredPairs {
  readonly table = new PairTable()
  readonly #rules: (EngineRule | undefined)[] = []
  /** By the id of the rule. */
  readonly #places = new Map<number, number>()
  /** Of pairs with a custom metric. */
  readonly #series = new Map<number, number>()

  /** In place of the one of this id, whose pairs stay. */
  setRule(rule: EngineRule): void {
    const place = this.#places.get(rule.id) ?? this.#freePlace()
    this.#rules[place] = rule
    this.#places.set(rule.id, place)
  }

  #freePlace(): number {
    const free = this.#rules.indexOf(undefined)
    return free === -1 ? this.#rules.length : free
  }

  /** It covers nothing any more. */
  removeRule(id: number): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    this.#rules[place] = undefined
    this.#places.delete(id)
  }

  /** Undefined for a rule that is not there. */
  placeOf(id: number): number | undefined {
    return this.#places.get(id)
  }

  ruleOf(pair: number): EngineRule {
    return this.#rules[this.table.ruleOf(pair)] as EngineRule
  }

  /** Those that are there, by their places. */
  *rules(): Generator<readonly [place: number, rule: EngineRule]> {
    for (const [place, rule] of this.#rules.entries()) if (rule !== undefined) yield [place, rule]
  }

  /** -1 where the rule does not cover the device. */
  find(id: number, device: number): number {
    const place = this.#places.get(id)
    return place === undefined ? -1 : this.table.find(place, device)
  }

  eachOf(place: number, call: (pair: number) => void): void {
    for (let pair = 0; pair < this.table.end; pair++) if (this.table.ruleOf(pair) === place) call(pair)
  }

  remove(pair: number): void {
    this.#series.delete(pair)
    this.table.remove(pair)
  }

  /** The device's own of the rule's metric. */
  setSeries(pair: number, series: number): void {
    this.#series.set(pair, series)
  }

  valueOf(pair: number, column: number, reading: ReadingValues): number {
    return column === customColumn ? reading.custom(this.#series.get(pair) ?? -1) : reading.value(column)
  }
}

/** Selects the devices of each rule: they match its selector, log, and its owner may read them. All rules share a bound. */

import { createSelection } from '../../auth/devices/selector.ts'
import { bounds } from '../core/bounds.ts'
import type { AlertDevice, AlertDevices } from '../core/devices.ts'
import type { EndReason } from '../core/pair.ts'
import { isOfWhole, noDevice, type Rule } from '../core/rule.ts'

/** Devices that joined or left a rule. */
export interface CoverageChange {
  readonly added: readonly number[]
  readonly removed: readonly number[]
  readonly reason: EndReason
}

/** Inputs of a selection of devices. */
export type SelectingRule = Pick<Rule, 'owner' | 'selector' | 'condition'>

interface Covered {
  readonly rule: SelectingRule
  readonly selects: (device: AlertDevice) => boolean
  readonly devices: Set<number>
  isWhole: boolean
}

export interface PairLimits {
  /** Pairs of all rules. */
  readonly pairsMax: number
  /** Pairs of the rules of an ordinary account. */
  readonly pairsPerOwner: number
}

interface OwnedPairs {
  count: number
  isOrdinary: boolean
}

export interface Coverage {
  /** Number of selected devices, and of covered ones among them. */
  readonly covered: number
  readonly isWhole: boolean
}

export class RuleCoverage {
  readonly #rules = new Map<number, Covered>()
  readonly #devices: AlertDevices
  readonly #limits: PairLimits
  /** Number of rules that cover a device, by the device's number. */
  readonly #counts = new Map<number, number>()
  #pairCount = 0
  readonly #owners = new Map<number | null, OwnedPairs>()
  /** Pairs of ordinary accounts. */
  #ordinaryCount = 0

  constructor(devices: AlertDevices, limits: Partial<PairLimits> = {}) {
    const { pairsMax = bounds.pairsMax, pairsPerOwner = bounds.pairsPerOwner } = limits
    this.#devices = devices
    this.#limits = { pairsMax, pairsPerOwner }
  }

  get pairCount(): number {
    return this.#pairCount
  }

  /** Cheap enough for each reading. */
  covers(device: number): boolean {
    return this.#counts.has(device)
  }

  of(id: number): Coverage | undefined {
    const covered = this.#rules.get(id)
    return covered && { covered: covered.devices.size, isWhole: covered.isWhole }
  }

  devicesOf(id: number): readonly number[] {
    return [...(this.#rules.get(id)?.devices ?? [])]
  }

  /** A slice of a large rule's devices. */
  someOf(id: number, from: number, count: number): readonly number[] {
    return this.devicesOf(id).slice(from, from + count)
  }

  /** A new rule, a changed one, or one whose owner may read other devices than before. */
  setRule(rule: Rule): CoverageChange {
    const before = this.#rules.get(rule.id)
    this.#learn(rule.owner)
    const selects = this.#selectionOf(rule)
    const covered: Covered = { rule, selects, devices: before?.devices ?? new Set(), isWhole: true }
    this.#rules.set(rule.id, covered)
    const wanted = this.#wantedOf(covered)
    const removed = [...covered.devices].filter(number => !wanted.has(number))
    for (const number of removed) this.#remove(covered, number)
    const added = [...wanted].toSorted((a, b) => a - b).filter(number => this.#add(covered, number))
    return { added, removed, reason: 'not_selected' }
  }

  #selectionOf({ owner, selector }: SelectingRule): (device: AlertDevice) => boolean {
    if (selector === null) return () => false
    const selects = createSelection(selector)
    return device => device.log_switch && selects(device) && this.#devices.mayRead(owner, device)
  }

  #wantedOf({ rule, selects }: Pick<Covered, 'rule' | 'selects'>): Set<number> {
    const wanted = new Set<number>(isOfWhole(rule.condition) ? [noDevice] : [])
    if (rule.selector === null) return wanted
    for (const device of this.#devices.all()) if (selects(device)) wanted.add(device.number)
    return wanted
  }

  removeRule(id: number): void {
    const covered = this.#rules.get(id)
    if (covered === undefined) return
    for (const number of covered.devices) this.#remove(covered, number)
    this.#rules.delete(id)
  }

  /** Keys are the ids of rules that have got or lost the device. */
  deviceChanged(device: AlertDevice, isRemoved: boolean): Map<number, CoverageChange> {
    const { number } = device
    const changes = new Map<number, CoverageChange>()
    const reason = isRemoved ? 'device_removed' : device.log_switch ? 'not_selected' : 'device_off'
    for (const [id, covered] of this.#rules) {
      const isWanted = !isRemoved && covered.selects(device)
      if (isWanted === covered.devices.has(number)) continue
      if (!isWanted) {
        this.#remove(covered, number)
        changes.set(id, { added: [], removed: [number], reason })
      } else if (this.#add(covered, number)) changes.set(id, { added: [number], removed: [], reason })
    }
    return changes
  }

  /** Rules that cover fewer devices than they select. */
  partialRules(): number[] {
    return [...this.#rules].filter(([, { isWhole }]) => !isWhole).map(([id]) => id)
  }

  /**
   * Whether there is room for all pairs of a rule and for the names of its selector, in place of the one of this id. Names are in
   * memory whether or not there are such devices, so that there may be as many of them as of pairs.
   */
  hasRoomFor(rule: SelectingRule, before: number | undefined): boolean {
    return this.#hasRoomForNames(rule, before) && this.#hasRoomForPairs(rule, before)
  }

  #hasRoomForNames(rule: SelectingRule, before: number | undefined): boolean {
    const isOrdinary = !this.#devices.isAdministrator(rule.owner)
    let all = nameCount(rule)
    let ofOwner = all
    let ofOrdinary = all
    for (const [id, { rule: other }] of this.#rules) {
      if (id === before) continue
      const count = nameCount(other)
      all += count
      if (other.owner === rule.owner) ofOwner += count
      if (!this.#devices.isAdministrator(other.owner)) ofOrdinary += count
    }
    return all <= this.#limits.pairsMax && (!isOrdinary || this.#isWithin(ofOwner, ofOrdinary))
  }

  #hasRoomForPairs(rule: SelectingRule, before: number | undefined): boolean {
    const covered = before === undefined ? undefined : this.#rules.get(before)
    const freed = covered?.devices.size ?? 0
    const freedOfOwner = covered?.rule.owner === rule.owner ? freed : 0
    const count = this.#wantedOf({ rule, selects: this.#selectionOf(rule) }).size
    if (this.#pairCount - freed + count > this.#limits.pairsMax) return false
    const owned = this.#learn(rule.owner)
    const ofOrdinary =
      this.#ordinaryCount - (covered !== undefined && this.#learn(covered.rule.owner).isOrdinary ? freed : 0)
    return !owned.isOrdinary || this.#isWithin(owned.count - freedOfOwner + count, ofOrdinary + count)
  }

  /** True where this many pairs or names are within the bounds of the account and of all accounts. */
  #isWithin(ofOwner: number, ofOrdinary: number): boolean {
    const { pairsMax, pairsPerOwner } = this.#limits
    return ofOwner <= pairsPerOwner && ofOrdinary <= pairsMax * (1 - bounds.pairsReservedShare)
  }

  /** The role of its owner may have changed. */
  #learn(owner: number | null): OwnedPairs {
    const isOrdinary = !this.#devices.isAdministrator(owner)
    const owned = this.#owners.get(owner) ?? { count: 0, isOrdinary }
    if (owned.isOrdinary !== isOrdinary) {
      this.#ordinaryCount += isOrdinary ? owned.count : -owned.count
      owned.isOrdinary = isOrdinary
    }
    this.#owners.set(owner, owned)
    return owned
  }

  /** False where there are too many pairs already, and where it is there. */
  #add(covered: Covered, number: number): boolean {
    if (covered.devices.has(number)) return false
    const { owner } = covered.rule
    const owned = this.#owners.get(owner) ?? this.#learn(owner)
    const isWithin = !owned.isOrdinary || this.#isWithin(owned.count + 1, this.#ordinaryCount + 1)
    if (this.#pairCount >= this.#limits.pairsMax || !isWithin) {
      covered.isWhole = false
      return false
    }
    covered.devices.add(number)
    this.#count(owner, number, 1)
    return true
  }

  #remove({ rule, devices }: Covered, number: number): void {
    devices.delete(number)
    this.#count(rule.owner, number, -1)
  }

  #count(owner: number | null, number: number, by: 1 | -1): void {
    const owned = this.#owners.get(owner) ?? this.#learn(owner)
    owned.count += by
    if (owned.isOrdinary) this.#ordinaryCount += by
    const count = (this.#counts.get(number) ?? 0) + by
    if (count === 0) this.#counts.delete(number)
    else this.#counts.set(number, count)
    this.#pairCount += by
  }
}

function nameCount({ selector }: SelectingRule): number {
  return selector !== null && 'devices' in selector ? selector.devices.length : 0
}
